"""`block_bounds`: the work groups (thread blocks) that a kernel may be launched with, as its IR says it.

LLVM 22 rewrites what older ones wrote into `!nvvm.annotations`, so canonical text has attributes for CUDA. A promise of
so many blocks on a multiprocessor (the second number of ``__launch_bounds__``, ``minctasm``) makes a compiler spare
registers; it forbids no shape.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from mirenc.llvm.analysis.regions import Region
from mirenc.llvm.ir.functions import kernels_of
from mirenc.llvm.ir.lines import attribute_groups
from mirenc.llvm.ir.module import IRModule

_ATTRIBUTE = re.compile(r'"([-\w.]+)"="(\d+(?:,\s*\d+)*)"')
_ATTACHED = re.compile(r"!(\w+) !(\d+)")
_NODE = re.compile(r"^!(\d+) = (?:distinct )?!\{(.*)\}$", re.MULTILINE)
_NUMBER = re.compile(r"\bi\d+ (\d+)")
_LISTED = re.compile(r"^!(?:opencl\.kernels|spirv\.ExecutionMode) = !\{([^}]*)\}", re.MULTILINE)
_LOCAL_SIZE = 17  # SPIR-V's execution mode
# What requires one shape, and what bounds the items of a group, by the words of the language that is compiled.
_REQUIRED = {"reqd_work_group_size": "reqd_work_group_size", "nvvm.reqntid": "reqntid"}
_MOST = ("omp_target_thread_limit", "max_linear_work_group_size")
_RANGES = {"amdgpu-flat-work-group-size": "amdgpu_flat_work_group_size"}


@dataclass(frozen=True)
class BlockBounds:
    """What a kernel allows; sides are x, y and z, and what a shape lacks is 1."""

    required: tuple[int, ...] = ()  # the only shape, three sides; () where any will do
    least: int = 1  # items of a block
    most: float = math.inf
    widest: tuple[float, ...] = (math.inf,) * 3  # of each side
    blocks: int = 0  # that shall fit on a multiprocessor at once; 0 where nothing is said. It binds no shape
    words: tuple[str, ...] = ()  # what is said, as people write it

    def refusal(self, block: tuple[int, ...]) -> str:
        """Why the kernel cannot be launched with blocks of this shape; "" if it can."""
        sides = (*block, 1, 1)[:3]
        if self.required and sides != self.required:
            return f"{_named(sides)}, where {_named(self.required)} is required"
        over = [axis for axis, side, most in zip("xyz", sides, self.widest, strict=True) if side > most]
        return self.items_refusal(math.prod(block)) or (f"{_named(sides)} is too long in {over[0]}" if over else "")

    def items_refusal(self, items: float) -> str:
        """Why the kernel cannot be launched with blocks of so many items; "" if it can, in some shape."""
        least, most = self.least, min(self.most, math.prod(self.widest))
        if self.required:
            least, most = max(least, math.prod(self.required)), min(most, math.prod(self.required))
        if least > most:
            return f"{items:g} work-items, and what the kernel says of its blocks contradicts itself"
        return "" if least <= items <= most else f"{items:g} work-items, and {_range(least, most)} are allowed"

    @property
    def text(self) -> str:
        """What the kernel says of its blocks, in one line; "" where it says nothing."""
        return "; ".join(self.words)


def group_bounds(module: IRModule, region: Region | None) -> list[BlockBounds]:
    """`block_bounds` of a region's kernel, or of each kernel of the module."""
    return [block_bounds(module, name) for name in (kernels_of(module) if region is None else [region.symbol])]


def block_bounds(module: IRModule, kernel: str) -> BlockBounds:
    """What a module says of the blocks of one of its kernels, by attributes and metadata of any LLVM.

    Known are OpenCL's ``reqd_work_group_size`` (also as SPIR-V's execution mode, and in ``!opencl.kernels`` of LLVM
    before 4) and ``max_work_group_size``, CUDA's ``__launch_bounds__``, ``maxntid`` and ``reqntid``, and
    AMD's ``amdgpu-flat-work-group-size``. A ``work_group_size_hint`` binds nothing.
    """
    header = module.lines[module.function(kernel).header.line]
    nodes, groups, lists = _facts(module.text)
    said: dict[str, list[int]] = {}
    for group in re.findall(r"#\d+", re.sub(r'"[^"]*"', "", header)):
        said |= {
            name: [int(one) for one in text.split(",")] for name, text in _ATTRIBUTE.findall(groups.get(group, ""))
        }
    for name, number in _ATTACHED.findall(header):
        said[name] = [int(one) for one in _NUMBER.findall(nodes.get(number, ""))]
    for listed in lists:
        for number in re.findall(r"\d+", listed):
            said |= _listed(nodes, nodes.get(number, ""), kernel)
    return _bounds(said)


@lru_cache(maxsize=1)
def _facts(text: str) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Metadata nodes and attribute groups by number, and lists of kernels: once for all kernels of a module."""
    return dict(_NODE.findall(text)), attribute_groups(text), _LISTED.findall(text)


def _listed(nodes: Mapping[str, str], entry: str, kernel: str) -> dict[str, list[int]]:
    """What an entry of a module's list of kernels, or of their execution modes, says of one kernel."""
    if not re.match(rf'ptr @"?{re.escape(kernel)}"?(?:,|$)', entry):
        return {}
    mode = [int(one) for one in _NUMBER.findall(entry)]
    if mode[:1] == [_LOCAL_SIZE]:
        return {"reqd_work_group_size": mode[1:]}
    inner = (nodes.get(number, "") for number in re.findall(r"!(\d+)", entry))
    named = (re.match(r'!"(\w+)"', node) for node in inner)
    return {match[1]: [int(one) for one in _NUMBER.findall(match.string)] for match in named if match}


def _bounds(said: Mapping[str, list[int]]) -> BlockBounds:
    """Of the numbers that stand beside each attribute or kind of metadata."""
    found = BlockBounds()
    for name, word in _REQUIRED.items():
        if sides := said.get(name):
            required = (*sides, 1, 1)[:3]
            text = f"{word}({', '.join(map(str, required))}): no other shape can be launched"
            found = replace(found, required=required, words=(*found.words, text))
    if sides := said.get("nvvm.maxntid"):
        # NVIDIA's is of the product (PTX ISA, .maxntid).
        most = math.prod(sides)
        text = f"__launch_bounds__({most}): at most {most} threads a block"
        found = replace(found, most=min(found.most, most), words=(*found.words, text))
    if blocks := said.get("nvvm.minctasm"):
        text = f"{blocks[0]} blocks or more at once on a multiprocessor: fewer registers a thread, any shape"
        found = replace(found, blocks=blocks[0], words=(*found.words, text))
    if sides := said.get("max_work_group_size"):
        widest = (*map(float, sides), 1.0, 1.0)[:3]
        text = f"max_work_group_size({', '.join(map(str, sides))}): no side may be longer"
        found = replace(found, widest=widest, words=(*found.words, text))
    for name in _MOST:
        if limits := said.get(name):
            text = f"{name}={limits[0]}: at most {limits[0]} work-items a group"
            found = replace(found, most=min(found.most, limits[0]), words=(*found.words, text))
    for name, word in _RANGES.items():
        if len(limits := said.get(name, [])) == 2:
            least, most = limits
            text = f"{word}({least}, {most}): {_range(least, most)} work-items a group"
            found = replace(
                found, least=max(found.least, least), most=min(found.most, most), words=(*found.words, text)
            )
    return found


def _named(sides: tuple[int, ...]) -> str:
    return " x ".join(map(str, sides))


def _range(least: int, most: float) -> str:
    if least == most:
        return f"{least}"
    return f"at most {most:g}" if least <= 1 else f"{least} or more" if most == math.inf else f"{least} to {most:g}"
