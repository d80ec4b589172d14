"""`with_profile`: branch weights and entry counts, written into a module's text as ``!prof``."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from mirenc.base.arrays import Float64, Int64
from mirenc.base.errors import IRFileError
from mirenc.llvm.analysis.profile import Flow
from mirenc.llvm.ir.module import IRModule

_SCALE = 1 << 10  # the sum of a predicted branch's weights; so few digits, since equal weights share a node
_LARGEST = (1 << 32) - 1  # of a weight
_REST = r"(?:[^;\"\r\n]|\"[^\"\n]*\")*"  # of a line, without a comment
FORK = re.compile(rf"^[ \t]+(?:br i1 |switch (?:[^\[\"]|\"[^\"]*\")*\[(?:[^\]\"]|\"[^\"]*\")*\]){_REST}", re.MULTILINE)
_DEFINED = re.compile(r"^define .*?^\}", re.MULTILINE | re.DOTALL)
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)

Weights = Mapping[int, Sequence[int]]
"""Block of a module -> weights of the ways that the branch or switch at its end has, in their order."""


def predicted_weights(block: Int64, first: Float64) -> Weights:
    """Weights of branches of two ways at the ends of blocks (n,), by the probability of the first way (n,).

    No weight is 0, since LLVM takes that for never.
    """
    shares = np.clip(np.rint(_SCALE * first).astype(np.int64), 1, _SCALE - 1).tolist()
    return {number: (share, _SCALE - share) for number, share in zip(block.tolist(), shares, strict=True)}


def counted_weights(module: IRModule, flow: Flow) -> Weights:
    """Weights of all branches and switches of which a flow says where they go."""
    starts = module.arrays.successor_start.tolist()
    weights_of = {}
    for block in forks(module, range(module.block_count)):
        counts = flow.edges[starts[block] : starts[block + 1]] * flow.known[block]
        weights = np.rint(counts / max(1.0, counts.max() / _LARGEST)).astype(np.int64)
        if weights.any():
            weights_of[block] = weights.tolist()
    return weights_of


def with_profile(
    text: str, module: IRModule, weights: Weights, entries: Mapping[int, int] | None = None
) -> tuple[str, int]:
    """Return the text with ``!prof`` at branches and switches, and how many got it; one with weights keeps them.

    ``text`` is what the module was read from; ``entries`` are how often functions were entered, by their number. Raises
    IRFileError: the text has other branches than the module.
    """
    nodes: dict[str, int] = {}
    count = end = 0
    first = 1 + max(map(int, _NODE.findall(text)), default=-1)
    functions = [number for number, header in enumerate(module.headers) if not header.is_declaration]
    bodies = list(_DEFINED.finditer(text))
    pieces: list[str] = []

    def attach(place: int, node: str) -> None:
        nonlocal end
        pieces.extend([text[end:place], f" !prof !{nodes.setdefault(node, first + len(nodes))}"])
        end = place

    for number, body in enumerate(bodies):
        branches = list(FORK.finditer(text, *body.span()))
        function = functions[number] if len(bodies) == len(functions) else -1
        header = module.headers[function]
        blocks = forks(module, range(header.first_block, header.last_block)) if function >= 0 else []
        if len(branches) != len(blocks):
            issue = f"function {number + 1} has {len(branches)} lines with branches, but LLVM finds {len(blocks)} in it"
            raise IRFileError(f"{module.name}: {issue}. Give the IR as LLVM prints it (llvm-dis, opt -S)")
        opening = text.index("\n", body.start())
        if function in (entries or {}) and "!prof" not in text[body.start() : opening]:
            if (brace := text.rfind(" {", body.start(), opening)) < 0:
                issue = f"the line on which function {number + 1} starts has no opening brace"
                raise IRFileError(f"{module.name}: {issue}. Give the IR as LLVM prints it (llvm-dis, opt -S)")
            attach(brace, f'"function_entry_count", i64 {(entries or {})[function]}')
        for line, block in zip(branches, blocks, strict=True):
            if block in weights and "!prof" not in line[0]:
                place = line.start() + len(line[0].rstrip())
                pieces.append(text[end:place] + ",")
                end = place
                attach(place, ", ".join(('"branch_weights"', *(f"i32 {weight}" for weight in weights[block]))))
                count += 1
    lines = (f"!{number} = !{{!{node}}}\n" for node, number in nodes.items())
    return "".join([*pieces, text[end:].rstrip("\n"), "\n", *lines]), count


def forks(module: IRModule, blocks: range) -> list[int]:
    """Those blocks that end with a branch of two ways or a switch."""
    arrays = module.arrays
    last = {block: module.forms[arrays.form[arrays.block_start[block + 1] - 1]].opcode for block in blocks}
    successors = {block: arrays.successor_start[block + 1] - arrays.successor_start[block] for block in blocks}
    return [block for block in blocks if last[block] == "switch" or (last[block] == "br" and successors[block] == 2)]
