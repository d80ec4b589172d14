"""Lists of passes run by the LLVM inside llvmlite: single passes and levels, for `mirenc.llvm.passes.find_llvm`."""

import contextlib
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from mirenc.base.errors import PassError
from mirenc.llvm.child.parsing_service import llvmlite, parse_module, print_module, run_level, version_of
from mirenc.llvm.child.pass_service import PassService, RefusedError
from mirenc.llvm.passes.object_file import Section, named_section
from mirenc.llvm.passes.pass_lists import Step, parse, steps

# What passes work on, LLVM's names of them, and llvmlite's method without `add_` and `_pass` where it is another word.
_TABLE = {
    "module": "always-inline=always_inliner constmerge=constant_merge deadargelim=dead_arg_elimination "
    "globaldce=global_dead_code_eliminate globalopt=global_opt ipsccp mergefunc=merge_functions partial-inliner "
    "rpo-function-attrs strip-dead-prototypes=strip_dead_prototype",
    "cgscc": "argpromotion=argument_promotion function-attrs=post_order_function_attributes",
    "function": "adce=aggressive_dce aggressive-instcombine break-crit-edges=break_critical_edges "
    "dce=dead_code_elimination dse=dead_store_elimination instcombine=instruction_combine jump-threading lcssa "
    "loop-simplify loop-unroll lower-switch memcpyopt=mem_copy_opt mergereturn=unify_function_exit_nodes "
    "newgvn=new_gvn reassociate reg2mem=register_to_memory sccp simplifycfg=simplify_cfg sink=sinking sroa "
    "tailcallelim=tail_call_elimination",
    "loop": "loop-deletion loop-reduce=loop_strength_reduce loop-rotate",
}
_METHODS = {
    Step(kind, name): f"add_{method or name.replace('-', '_')}_pass"
    for kind, names in _TABLE.items()
    for name, _, method in (entry.partition("=") for entry in names.split())
}
PASSES = tuple(_METHODS)
"""The passes that it has, and what each works on."""
_LEVEL = re.compile(r"default<O([0-3])>")


class LlvmlitePassService(PassService):
    """llvmlite's LLVM; ``llvm`` is ``llvmlite.binding``."""

    def __init__(self, llvm: Any) -> None:
        super().__init__()
        self._llvm = llvm
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        llvm.initialize_native_asmparser()  # for inline assembly; llvmlite has no others
        self.version = version_of(llvm)
        self._machine = cache(self._new_machine)

    def read(self, ir: bytes, debug: bool) -> bytes:
        try:
            with parse_module(self._llvm, ir) as module:
                module.verify()
                return bytes(module.as_bitcode())
        except RuntimeError as error:
            raise ValueError(str(error)) from None

    @contextlib.contextmanager
    def run(self, bitcode: bytes, pipeline: str, codegen: int) -> Iterator[tuple[Any, Any]]:
        with parse_module(self._llvm, bitcode) as module:
            machine = self._machine(module.triple, codegen)
            if pipeline:
                try:
                    self._optimise(module, machine, pipeline)
                    module.verify()
                except PassError as error:
                    raise RefusedError("pipeline", str(error)) from None
                except RuntimeError as error:
                    raise RefusedError("broken", str(error)) from None
            yield module, machine

    def write_bitcode(self, module: Any, machine: Any) -> bytes:
        # Debug information and names of the module's own functions go, too; an object file that is made keeps them.
        manager = self._llvm.create_new_module_pass_manager()
        manager.add_strip_symbols_pass()
        manager.run(module, self._llvm.create_pass_builder(machine, self._llvm.create_pipeline_tuning_options()))
        return bytes(module.as_bitcode())

    def instructions(self, module: Any) -> int:
        return sum(1 for function in module.functions for block in function.blocks for _ in block.instructions)

    def emit_object(self, module: Any, machine: Any) -> bytes:
        try:
            return bytes(machine.emit_object(module))
        except RuntimeError as error:
            raise RefusedError("backend", str(error)) from None

    def print_text(self, module: Any) -> bytes:
        return print_module(module).encode()

    def sections(self, data: bytes) -> list[Section]:
        try:
            sections = self._llvm.ObjectFileRef.from_data(data).sections()
            return [named_section(section.name() or b"", section.size()) for section in sections]
        except RuntimeError as error:
            raise RefusedError("backend", str(error)) from None

    def _optimise(self, module: Any, machine: Any, pipeline: str) -> None:
        llvm = self._llvm
        if level := _LEVEL.fullmatch(pipeline):
            run_level(llvm, module, machine, int(level[1]))
            return
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        manager = llvm.create_new_module_pass_manager()
        for step in steps(parse(pipeline)):
            getattr(manager, _method(step))()
        manager.run(module, builder)

    def _new_machine(self, triple: str, codegen: int) -> Any:
        """Target machine of a triple, of this host's where a module names none."""
        try:
            target = self._llvm.Target.from_triple(triple or self._llvm.get_default_triple())
        except RuntimeError as error:
            raise RefusedError("backend", str(error)) from None
        return target.create_target_machine(opt=codegen, reloc="pic", codemodel="default")


def _method(step: Step) -> str:
    # Outside of all adaptors LLVM takes a pass of any kind.
    kinds = [step.kind] if step.kind != "module" else ["module", "cgscc", "function", "loop"]
    for kind in kinds:
        if Step(kind, step.text) in _METHODS:
            return _METHODS[Step(kind, step.text)]
    if step.name in {pass_step.name for pass_step in PASSES} and step.name != step.text:
        raise PassError(f"llvmlite's {step.name} takes no options; found {step.text!r}")
    names = ", ".join(candidate.text for candidate in PASSES if candidate.kind in kinds)
    raise PassError(f"llvmlite has no pass {step.text!r} for a {step.kind}; it has default<O0> to default<O3>, {names}")


def open_service(arguments: list[str]) -> LlvmlitePassService:
    """The service; the argument is the folder in which llvmlite lies."""
    return LlvmlitePassService(llvmlite(arguments[0]))
