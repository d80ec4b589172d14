"""`look_ahead`: the machine code that LLVM makes of one loop with each of several hints, by instruction classes.

The code that a pragma gives says more about its worth than the source does. Only the loop's function is compiled, with
nothing inlined into it; its other loops are neither vectorised nor unrolled.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mirenc.base.child_process import Answer, EndedError
from mirenc.llvm.analysis.loops import find_loops
from mirenc.llvm.analysis.regions import Region, find_loop
from mirenc.llvm.child.vectorizer_service import LOOP
from mirenc.llvm.ir.module import IRModule
from mirenc.llvm.passes.assembly import Loop, loops_of
from mirenc.llvm.passes.extract import extract_functions
from mirenc.llvm.passes.loop_hint import PLAIN, Hint
from mirenc.llvm.passes.vectorizer import ask_llvm, loop_node, marked, widest, with_hint

_PLAIN_NODES = (*PLAIN.nodes(), '!{!"llvm.loop.unroll.disable"}')
_REMAINDER = re.compile(rf"{re.escape(LOOP)}\S*\.(?:prol|epil)")


@dataclass(frozen=True)
class LoopCode:
    """The machine code of a loop; a part that it does not have is None."""

    hint: Hint  # vector width and interleave count of its vector body; (1, 1) where it has none
    unrolled: int  # iterations of the scalar loop that are one, 1 or more
    vector: Loop | None  # the vector body, or the body that is interleaved only
    epilogue: Loop | None  # a second, narrower vector body for what is left
    scalar: Loop | None  # the loop that is neither; with a vector body, for what is left
    around: Loop  # what runs each time that the loop is entered: the loop around it, or the function
    loops: int  # of the function
    instructions: int


def look_ahead(module: IRModule, loop: Region, hints: Sequence[Hint | None], vector_bits: int) -> list[LoopCode | None]:
    """What LLVM 22 makes of an innermost loop at -O3 with each hint; ``None`` among these: without one.

    ``module`` and ``vector_bits`` are as those of `mirenc.llvm.passes.vectorizer.vectorizer_choices`. None for a hint
    that LLVM does not come to an end with, and for all where the processor is not known.
    """
    text, loops = marked(module)
    place = loops.index((loop.symbol, loop.header))
    node, start = loop_node(place), loop_node(len(loops))
    text = with_hint(_functions(text)[loop.symbol], _PLAIN_NODES, start, excluded_node=node)
    loop_text = f"!{node} = distinct !{{!{node}, !{node + 1}}}\n"
    endings = [with_hint(loop_text, () if hint is None else hint.nodes(), start + len(_PLAIN_NODES)) for hint in hints]
    branches = (find_loops(module).innermost == find_loop(module, loop)).sum().item() > 1  # blocks
    return [
        answer and _loop_code(answer[0], loops_of(str(answer[1], "utf-8"), loop.symbol, branches=branches), place + 1)
        for answer in _answers(module, text, endings, vector_bits, loop)
    ]


@functools.lru_cache(maxsize=1)  # asked for each loop of a module in turn
def _functions(text: str) -> dict[str, str]:
    return dict(extract_functions(text))


def _answers(module: IRModule, text: str, endings: list[str], bits: int, loop: Region) -> list[Answer | None]:
    """What `ask_llvm` gives, and None in place of an ending that ends the child."""
    forest, row = find_loops(module), find_loop(module, loop)
    header = int(forest.header[row]) - module.headers[int(forest.function[row])].first_block
    answers: list[Answer | None] = []
    while len(answers) < len(endings):
        try:
            remaining = endings[len(answers) :]
            answers += ask_llvm(module, text, remaining, bits, function=loop.symbol, header=header)
        except EndedError as error:
            if error.status == "start":
                return [None] * len(endings)
            answers += [*error.answers, None]
    return answers


def _loop_code(remarks: dict[str, Any], loops: list[Loop], line: int) -> LoopCode:
    """The code of the loop on a source line, from LLVM's remarks and the loops of the function's assembly."""
    choices = [(width, count) for place, width, count in remarks["choices"] if place == line]
    unroll_factors = [factor for place, factor in remarks["unrolled"] if place == line]

    def innermost(name: str) -> Loop | None:
        """The version of a loop that is nested most deeply; None if there is none."""
        versions = [loop for loop in loops if loop.name.startswith(name) and not _REMAINDER.match(loop.name)]
        return max(versions, key=lambda loop: loop.depth, default=None)

    vector, epilogue, scalar = map(innermost, ("vector.body", "vec.epilog", LOOP))
    depth = max((loop.depth for loop in (vector, epilogue, scalar) if loop is not None), default=1)
    around = Loop("", depth - 1)
    for loop in loops:
        if loop.depth == depth - 1:
            around.counts += loop.counts
            around.instructions += loop.instructions
    count, instructions = sum(loop.depth > 0 for loop in loops), sum(loop.instructions for loop in loops)
    hint, factor = Hint(*max(choices, key=widest, default=(1, 1))), max(unroll_factors, default=1)
    return LoopCode(hint, factor, vector, epilogue, scalar, around, count, instructions)
