"""Metadata of a module's text: its numbered nodes, and which of them an instruction has attached."""

import functools
import re

from mirenc.llvm.ir.module import IRModule

_NODE = re.compile(r"^!(\d+) = (?:distinct )?(.*)$", re.MULTILINE)
# Only other attachments may follow, unlike the same words inside a string.
_NUMBER = re.compile(r"(\d+)(?:, ![-\w.$\\]+ !\d+)*$")


@functools.lru_cache(maxsize=1)
def annotated_lines(module: IRModule) -> list[str]:
    """Lines of ``annotated``, with the numbers that they have in ``lines``."""
    return module.annotated.split("\n")


@functools.lru_cache(maxsize=2)
def metadata_nodes(text: str) -> dict[str, str]:
    """Content of each numbered node, ``!{i32 2, !7}`` or ``!DILocation(...)``, by its number; LLVM prints them last."""
    return dict(_NODE.findall(text, text.rfind("\n}\n") + 1))


def attached_number(module: IRModule, instruction: int, kind: str) -> str:
    """Number of the node of one ``kind`` (``dbg``, ``prof``) that is attached to an instruction; "" for none."""
    if not module.annotated:
        return ""
    line = annotated_lines(module)[module.arrays.line[instruction]]
    mark = f", !{kind} !"
    start = line.rfind(mark)
    match = _NUMBER.match(line, start + len(mark)) if start >= 0 else None
    return match[1] if match else ""
