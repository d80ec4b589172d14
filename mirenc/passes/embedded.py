"""`EmbeddedEngine`: the LLVM inside llvmlite, which is there wherever mirenc is.

It has no pass text, no -Oz, and no options for a pass, so it knows `PASSES` without options, in any adaptors that fit,
and the levels O0 to O3. On functions marked ``minsize`` or ``optsize`` its O2 is near -Oz, since those words decide
most of what differs.
"""

from __future__ import annotations

import re
from pathlib import Path

from mirenc.errors import PassError, ToolchainError
from mirenc.ir.child import llvmlite_folder
from mirenc.passes.engine import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT, Engine
from mirenc.passes.pipeline import Step, parse, steps

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


class EmbeddedEngine(Engine):
    """llvmlite's LLVM as an `Engine`; ToolchainError where llvmlite is not installed."""

    def __init__(self, *, timeout: float = DEFAULT_TIMEOUT, memory_limit: int = DEFAULT_MEMORY_LIMIT) -> None:
        folder = llvmlite_folder()
        if not folder:
            raise ToolchainError("llvmlite is not installed. Type: pip install llvmlite")
        super().__init__(
            Path(__file__).with_name("llvmlite_api.py"),
            [folder],
            kind="llvmlite",
            advice="Type: pip install --force-reinstall --no-deps llvmlite",
            timeout=timeout,
            memory_limit=memory_limit,
        )

    def _spelled(self, pipeline: str) -> str:
        """A list as `mirenc.passes.llvmlite_api` wants it."""
        level = _LEVEL.fullmatch(pipeline)
        if level:
            return f"level{level[1]}"
        return ",".join(_method(step) for step in steps(parse(pipeline))) if pipeline else ""


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
