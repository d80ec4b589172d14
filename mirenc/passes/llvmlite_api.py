"""The LLVM inside llvmlite: the child's side of `mirenc.passes.engines`.

llvmlite has single passes with fixed options and the levels O0 to O3, so the parent sends not LLVM's text but the names
of llvmlite's methods, joined by commas, or ``level`` and a digit.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from mirenc.ir.worker import decoded
from mirenc.passes.object_file import Section, named_section
from mirenc.passes.side import PassLibrary, RefusedError


class Library(PassLibrary):
    """llvmlite's LLVM; ``llvm`` is ``llvmlite.binding``."""

    def __init__(self, llvm: Any) -> None:
        super().__init__()
        self._llvm = llvm
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        llvm.initialize_native_asmparser()  # for inline assembly; llvmlite has no others
        self.version = ".".join(map(str, llvm.llvm_version_info))
        self._machines: dict[tuple[str, int], Any] = {}

    def read(self, ir: bytes) -> bytes:
        llvm = self._llvm
        context = llvm.create_context()
        module = None
        try:
            try:
                if ir.startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b")):
                    module = llvm.parse_bitcode(ir, context=context)
                else:
                    module = llvm.parse_assembly(decoded(ir), context=context)
                module.verify()
            except RuntimeError as error:
                raise ValueError(str(error)) from None
            return bytes(module.as_bitcode())
        finally:
            # Module before context, always: the other order crashes.
            if module is not None:
                module.close()
            context.close()

    @contextlib.contextmanager
    def run(self, bitcode: bytes, pipeline: str, codegen: int) -> Iterator[tuple[Any, Any]]:
        context = self._llvm.create_context()
        module = self._llvm.parse_bitcode(bitcode, context=context)
        try:
            machine = self._machine(module.triple, codegen)
            if pipeline:
                self._optimise(module, machine, pipeline)
                try:
                    module.verify()
                except RuntimeError as error:
                    raise RefusedError("broken", str(error)) from None
            yield module, machine
        finally:
            module.close()
            context.close()

    def finished(self, module: Any, machine: Any) -> bytes:
        # Debug information and names of the module's own functions go, too; an object file that is made keeps them.
        self._optimise(module, machine, "add_strip_symbols_pass")
        return bytes(module.as_bitcode())

    def instructions(self, module: Any) -> int:
        return sum(1 for function in module.functions for block in function.blocks for _ in block.instructions)

    def emitted(self, module: Any, machine: Any) -> bytes:
        try:
            return bytes(machine.emit_object(module))
        except RuntimeError as error:
            raise RefusedError("backend", str(error)) from None

    def sections(self, data: bytes) -> list[Section]:
        try:
            made = self._llvm.ObjectFileRef.from_data(data)
            return [named_section(one.name() or b"", one.size()) for one in made.sections()]
        except RuntimeError as error:
            raise RefusedError("backend", str(error)) from None

    def _optimise(self, module: Any, machine: Any, pipeline: str) -> None:
        llvm = self._llvm
        if pipeline.startswith("level"):
            options = llvm.create_pipeline_tuning_options(speed_level=int(pipeline.removeprefix("level")))
            # As LLVM reads `default<O2>`: both vectorisers from O2 on.
            options.loop_vectorization = options.slp_vectorization = options.speed_level >= 2
            builder = llvm.create_pass_builder(machine, options)
            manager = builder.getModulePassManager()
        else:
            builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
            manager = llvm.create_new_module_pass_manager()
            for name in pipeline.split(","):
                getattr(manager, name)()
        manager.run(module, builder)

    def _machine(self, triple: str, codegen: int) -> Any:
        """Target machine of a triple, of this host's where a module names none; made once."""
        triple = triple or self._llvm.get_default_triple()
        key = (triple, codegen)
        if key not in self._machines:
            try:
                target = self._llvm.Target.from_triple(triple)
            except RuntimeError as error:
                raise RefusedError("backend", str(error)) from None
            self._machines[key] = target.create_target_machine(opt=codegen, reloc="pic", codemodel="default")
        return self._machines[key]


def open_library(arguments: list[str]) -> Library:
    """The library; the argument is the folder in which llvmlite lies."""
    sys.path.insert(0, arguments[0])
    import llvmlite.binding as llvm

    return Library(llvm)
