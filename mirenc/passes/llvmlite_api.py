"""The LLVM inside llvmlite: the child's side of `mirenc.passes.embedded`.

`mirenc.passes.worker` loads it by path. llvmlite has single passes with fixed options and the levels O0 to
O3, so the parent sends not LLVM's text but the names of llvmlite's methods, joined by commas, or ``level`` and a
digit.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from mirenc.passes.object_file import elf_sections, is_elf, named_section, sums

_SIZES_KEPT = 100_000
_NON_ASCII = re.compile(rb"[\x80-\xff]")


class RefusedError(Exception):
    """A list that gives no figures; ``status`` says at what step: ``broken`` or ``backend``."""

    def __init__(self, status: str, problem: str) -> None:
        super().__init__(problem)
        self.status = status


class Library:
    """llvmlite's LLVM.

    Parameters
    ----------
    llvm : module
        ``llvmlite.binding``.
    """

    RefusedError = RefusedError

    def __init__(self, llvm: Any) -> None:
        self._llvm = llvm
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        llvm.initialize_native_asmparser()  # for inline assembly; llvmlite has no others
        self.version = ".".join(map(str, llvm.llvm_version_info))
        self._machines: dict[tuple[str, int], Any] = {}
        self._sizes: dict[tuple[str, int], dict[str, int]] = {}

    def read(self, ir: bytes) -> bytes:
        """Bitcode of a module in text or bitcode.

        Raises
        ------
        ValueError
            The parser or the verifier refuses it.
        """
        llvm = self._llvm
        context = llvm.create_context()
        module = None
        try:
            try:
                if ir.startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b")):
                    module = llvm.parse_bitcode(ir, context=context)
                else:
                    module = llvm.parse_assembly(_decoded(ir), context=context)
                module.verify()
            except RuntimeError as error:
                raise ValueError(str(error)) from None
            return bytes(module.as_bitcode())
        finally:
            # Module before context, always: the other order crashes.
            if module is not None:
                module.close()
            context.close()

    def answer(self, bitcode: bytes, pipeline: str, codegen: int) -> tuple[dict[str, Any], bytes]:
        """Figures and bitcode of what a list of passes makes of a module.

        Raises
        ------
        RefusedError
        """
        with self._run(bitcode, pipeline, codegen) as (module, machine):
            # Names of local values and debug information; of the module's own functions, too, so an object keeps them.
            self._optimise(module, machine, "add_strip_symbols_pass")
            optimised = bytes(module.as_bitcode())
            digest = hashlib.sha256(optimised).hexdigest()
            key = (digest, codegen)
            if key not in self._sizes:
                if len(self._sizes) >= _SIZES_KEPT:
                    self._sizes.clear()
                instructions = sum(
                    1 for function in module.functions for block in function.blocks for _ in block.instructions
                )
                # Of the bitcode as it is written: reading it again may order uses anew, which the backend goes by.
                self._sizes[key] = {"instructions": instructions, **self._sums(self.compile(optimised, "", codegen))}
            return {**self._sizes[key], "digest": digest}, optimised

    def compile(self, bitcode: bytes, pipeline: str, codegen: int) -> bytes:
        """The object file of what a list of passes makes of a module.

        Raises
        ------
        RefusedError
        """
        with self._run(bitcode, pipeline, codegen) as (module, machine):
            return _object(module, machine)

    @contextlib.contextmanager
    def _run(self, bitcode: bytes, pipeline: str, codegen: int) -> Iterator[tuple[Any, Any]]:
        """A module after a list of passes, and its target machine."""
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

    def _sums(self, data: bytes) -> dict[str, int]:
        if is_elf(data):
            return sums(elf_sections(data))
        try:
            made = self._llvm.ObjectFileRef.from_data(data)
            return sums(named_section(one.name() or b"", one.size()) for one in made.sections())
        except RuntimeError as error:
            raise RefusedError("backend", str(error)) from None

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


def _object(module: Any, machine: Any) -> bytes:
    try:
        return bytes(machine.emit_object(module))
    except RuntimeError as error:
        raise RefusedError("backend", str(error)) from None


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        # Raw bytes are legal inside LLVM's quoted strings; the escaped spelling means the same.
        return _NON_ASCII.sub(lambda match: b"\\%02X" % match.group()[0], text).decode("ascii")


def open_library(arguments: list[str]) -> Library:
    """The library of the engine; the argument is the folder in which llvmlite lies."""
    sys.path.insert(0, arguments[0])
    import llvmlite.binding as llvm

    return Library(llvm)
