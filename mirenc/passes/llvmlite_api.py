"""The LLVM inside llvmlite: the child's side of `mirenc.passes.installed`.

llvmlite has single passes with fixed options, and the levels O0 to O3: a list is read here, and made of its methods.
"""

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from mirenc.errors import PassError
from mirenc.ir.worker import decoded
from mirenc.passes.object_file import Section, named_section
from mirenc.passes.pipeline import Step, parse, steps
from mirenc.passes.side import PassLibrary, RefusedError

# LLVM's name of a pass, what it works on, and llvmlite's method without `add_` and `_pass`.
_TABLE = """
always-inline module always_inliner
constmerge module constant_merge
deadargelim module dead_arg_elimination
globaldce module global_dead_code_eliminate
globalopt module global_opt
ipsccp module ipsccp
mergefunc module merge_functions
partial-inliner module partial_inliner
rpo-function-attrs module rpo_function_attrs
strip-dead-prototypes module strip_dead_prototype
argpromotion cgscc argument_promotion
function-attrs cgscc post_order_function_attributes
adce function aggressive_dce
aggressive-instcombine function aggressive_instcombine
break-crit-edges function break_critical_edges
dce function dead_code_elimination
dse function dead_store_elimination
instcombine function instruction_combine
jump-threading function jump_threading
lcssa function lcssa
loop-simplify function loop_simplify
loop-unroll function loop_unroll
lower-switch function lower_switch
memcpyopt function mem_copy_opt
mergereturn function unify_function_exit_nodes
newgvn function new_gvn
reassociate function reassociate
reg2mem function register_to_memory
sccp function sccp
simplifycfg function simplify_cfg
sink function sinking
sroa function sroa
tailcallelim function tail_call_elimination
loop-deletion loop loop_deletion
loop-reduce loop loop_strength_reduce
loop-rotate loop loop_rotate
"""
_METHODS = {
    Step(kind, name): f"add_{method}_pass"
    for name, kind, method in (line.split() for line in _TABLE.split("\n") if line)
}
PASSES = tuple(_METHODS)
"""The passes that it has, and what each works on."""
_LEVEL = re.compile(r"default<O([0-3])>")


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
                try:
                    self._optimise(module, machine, pipeline)
                except PassError as error:
                    raise RefusedError("pipeline", str(error)) from None
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
        manager = self._llvm.create_new_module_pass_manager()
        manager.add_strip_symbols_pass()
        manager.run(module, self._llvm.create_pass_builder(machine, self._llvm.create_pipeline_tuning_options()))
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
        if level := _LEVEL.fullmatch(pipeline):
            options = llvm.create_pipeline_tuning_options(speed_level=int(level[1]))
            # As LLVM reads `default<O2>`: both vectorisers from O2 on.
            options.loop_vectorization = options.slp_vectorization = options.speed_level >= 2
            builder = llvm.create_pass_builder(machine, options)
            manager = builder.getModulePassManager()
        else:
            builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
            manager = llvm.create_new_module_pass_manager()
            for step in steps(parse(pipeline)):
                getattr(manager, _method(step))()
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


def _method(step: Step) -> str:
    # Outside of all adaptors LLVM takes a pass of any kind.
    kinds = [step.kind] if step.kind != "module" else ["module", "cgscc", "function", "loop"]
    for kind in kinds:
        if Step(kind, step.text) in _METHODS:
            return _METHODS[Step(kind, step.text)]
    if step.name in {known.name for known in PASSES} and step.name != step.text:
        raise PassError(f"llvmlite's {step.name} takes no options; found {step.text!r}")
    raise PassError(
        f"llvmlite has no pass {step.text!r} for a {step.kind}; it has default<O0> to default<O3> and PASSES"
    )


def open_library(arguments: list[str]) -> Library:
    """The library; the argument is the folder in which llvmlite lies."""
    sys.path.insert(0, arguments[0])
    import llvmlite.binding as llvm

    return Library(llvm)
