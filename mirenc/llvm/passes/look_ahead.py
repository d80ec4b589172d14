"""`look_ahead`: what LLVM makes of one loop under each of several hints: its assembly, read.

A pragma's worth follows from the code that it gives more than from the code that it stands before. Only the loop's
function is compiled, with nothing inlined into it; other loops of it are left as they are, for all hints alike.
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
from mirenc.llvm.passes.vectorizer import ask_llvm, loop_node, marked, with_hint

_STILL = (*PLAIN.nodes(), '!{!"llvm.loop.unroll.disable"}')
_REST = re.compile(rf"{re.escape(LOOP)}\S*\.(?:prol|epil)")


@dataclass(frozen=True)
class LoopCode:
    """What became of a loop; a part that there is none of is None."""

    hint: Hint  # vector width and interleave count of its vector body; (1, 1) where it has none
    unrolled: int  # iterations of the scalar loop that are one, 1 or more
    vector: Loop | None  # the vector body, or the body that is interleaved only
    epilogue: Loop | None  # a second, narrower vector body for what is left
    scalar: Loop | None  # the loop that is neither; with a vector body, for what is left
    around: Loop  # what runs each time that the loop is entered: the loop around it, or else the function
    loops: int  # of the function
    instructions: int


def look_ahead(module: IRModule, loop: Region, hints: Sequence[Hint | None], vector_bits: int) -> list[LoopCode | None]:
    """What LLVM 22 makes of an innermost loop at -O3 with each hint; ``None`` among these: without one.

    ``module`` and ``vector_bits`` are as those of `mirenc.llvm.passes.vectorizer.vectorizer_choices`. None for a hint
    that LLVM does not come to an end with, and for all where the processor is not known.
    """
    text, loops = marked(module)
    place = loops.index((loop.symbol, loop.header))
    free = loop_node(len(loops))
    text = with_hint(_functions(text)[loop.symbol], _STILL, free, but=loop_node(place))
    endings = [_ending(place, () if hint is None else hint.nodes(), free + len(_STILL)) for hint in hints]
    found: list[LoopCode | None] = []
    for answer in _answers(module, text, endings, vector_bits, loop):
        found.append(answer and _loop_code(answer[0], loops_of(str(answer[1], "utf-8"), loop.symbol), place + 1))
    return found


@functools.lru_cache(maxsize=1)  # asked for each loop of a module in turn
def _functions(text: str) -> dict[str, str]:
    return dict(extract_functions(text))


def _ending(place: int, hint: Sequence[str], free: int) -> str:
    """The node of the loop at a place, with a hint."""
    node = loop_node(place)
    return with_hint(f"!{node} = distinct !{{!{node}, !{node + 1}}}\n", hint, free)


def _answers(module: IRModule, text: str, endings: list[str], bits: int, loop: Region) -> list[Answer | None]:
    """What `ask_llvm` gives, and None in place of an ending that ends the child."""
    forest, row = find_loops(module), find_loop(module, loop)
    header = int(forest.header[row]) - module.headers[int(forest.function[row])].first_block
    answers: list[Answer | None] = []
    while len(answers) < len(endings):
        try:
            rest = endings[len(answers) :]
            answers += ask_llvm(module, text, rest, bits, function=loop.symbol, header=header)
        except EndedError as ended:
            if ended.status == "start":
                return [None] * len(endings)
            answers += [*ended.answers, None]
    return answers


def _loop_code(said: dict[str, Any], loops: list[Loop], line: int) -> LoopCode:
    widths = [(width, count) for place, width, count in said["choices"] if place == line]
    unrolled = [factor for place, factor in said["unrolled"] if place == line]

    def innermost(name: str) -> Loop | None:
        """Of several versions, one that is in most loops."""
        own = [one for one in loops if one.name.startswith(name) and not _REST.match(one.name)]
        return max(own, key=lambda one: one.depth, default=None)

    vector, epilogue, scalar = map(innermost, ("vector.body", "vec.epilog", LOOP))
    depth = max((one.depth for one in (vector, epilogue, scalar) if one is not None), default=1)
    around = Loop("", depth - 1)
    for one in loops:
        if one.depth == depth - 1:
            around.counts += one.counts
            around.instructions += one.instructions
    return LoopCode(
        Hint(*max(widths, key=lambda one: (one[0] * one[1], one[0]), default=(1, 1))),
        max(unrolled, default=1),
        vector,
        epilogue,
        scalar,
        around,
        sum(one.depth > 0 for one in loops),
        sum(one.instructions for one in loops),
    )
