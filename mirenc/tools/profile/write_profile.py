"""`with_weights`: branch probabilities as ``!prof``, which every LLVM reads, in the text of a module as given."""

import re

from mirenc.base.arrays import Float64, Int64
from mirenc.base.errors import IRFileError
from mirenc.llvm.ir.module import IRModule

_SCALE = 1 << 10  # the sum of a branch's weights; so few digits, since equal weights share a node
_BRANCH = re.compile(r"^[ \t]+br i1 (?:[^;\"\r\n]|\"[^\"\n]*\")*", re.MULTILINE)  # without a comment
_DEFINED = re.compile(r"^define .*?^\}", re.MULTILINE | re.DOTALL)
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)


def with_weights(text: str, module: IRModule, block: Int64, probability: Float64) -> tuple[str, int]:
    """The text with ``!prof`` at some of its branches, and at how many; one that has weights keeps them.

    ``text`` is what the module was read from. ``block`` (n,) are blocks of the module that end with a branch of two
    ways, ``probability`` (n,) is that of the first. No weight is 0, since LLVM takes that for never. Raises
    IRFileError: the text has other branches than the module.
    """
    chosen = dict(zip(block.tolist(), probability.tolist(), strict=True))
    nodes: dict[int, int] = {}
    written = end = 0
    first = 1 + max(map(int, _NODE.findall(text)), default=-1)
    functions = [head for head in module.headers if not head.is_declaration]
    bodies = list(_DEFINED.finditer(text))
    pieces: list[str] = []
    for number, body in enumerate(bodies):
        found = list(_BRANCH.finditer(text, *body.span()))
        head = functions[number] if len(bodies) == len(functions) else None
        ends = _conditional(module, range(head.first_block, head.last_block)) if head else []
        if len(found) != len(ends):
            raise IRFileError(
                f"{module.name}: {len(found)} lines are branches in function {number + 1}, and LLVM sees {len(ends)}. "
                "Give the IR as LLVM prints it (llvm-dis, opt -S)"
            )
        for line, at in zip(found, ends, strict=True):
            if at in chosen and "!prof" not in line[0]:
                share = min(max(round(_SCALE * chosen[at]), 1), _SCALE - 1)
                node = nodes.setdefault(share, first + len(nodes))
                after = line.start() + len(line[0].rstrip())
                pieces += [text[end:after], f", !prof !{node}"]
                end, written = after, written + 1
    return "".join([*pieces, text[end:].rstrip("\n"), "\n", *map(_node, nodes.items())]), written


def _conditional(module: IRModule, blocks: range) -> list[int]:
    """Those blocks that end with a branch of two ways."""
    arrays = module.arrays
    ways = {block: int(arrays.successor_start[block + 1] - arrays.successor_start[block]) for block in blocks}
    last = {block: module.forms[arrays.form[arrays.block_start[block + 1] - 1]].opcode for block in blocks}
    return [block for block in blocks if ways[block] == 2 and last[block] == "br"]


def _node(item: tuple[int, int]) -> str:
    share, number = item
    return f'!{number} = !{{!"branch_weights", i32 {share}, i32 {_SCALE - share}}}\n'
