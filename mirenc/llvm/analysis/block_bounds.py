"""`block_bounds`: the shapes of work groups (thread blocks) that a kernel may be launched with, by its IR.

LLVM 22 turns the `!nvvm.annotations` of older versions into attributes. A minimum of blocks on a multiprocessor (second
number of ``__launch_bounds__``, ``minctasm``) makes a compiler use fewer registers; it forbids no shape.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from mirenc.llvm.analysis.regions import Region
from mirenc.llvm.ir.functions import kernels_of
from mirenc.llvm.ir.lines import attribute_groups
from mirenc.llvm.ir.metadata import metadata_nodes
from mirenc.llvm.ir.module import IRModule

_ATTRIBUTE = re.compile(r'"([-\w.]+)"="(\d+(?:,\s*\d+)*)"')
_ATTACHED = re.compile(r"!(\w+) !(\d+)")
_NUMBER = re.compile(r"\bi\d+ (\d+)")
_LISTED = re.compile(r"^!(?:opencl\.kernels|spirv\.ExecutionMode) = !\{([^}]*)\}", re.MULTILINE)
_LOCAL_SIZE = 17  # SPIR-V's execution mode


@dataclass(frozen=True)
class BlockBounds:
    """Bounds of a kernel; sides are x, y and z, 1 where a shape has fewer."""

    required: tuple[int, ...] = ()  # the only allowed shape, three sides; () for any
    least: int = 1  # items of a block
    most: float = math.inf
    widest: tuple[float, ...] = (math.inf,) * 3  # of each side
    blocks: int = 0  # minimum on a multiprocessor at once, which binds no shape; 0 if not stated
    words: tuple[str, ...] = ()  # the bounds in words

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
        """The bounds in one line; "" for none."""
        return "; ".join(self.words)


def group_bounds(module: IRModule, region: Region | None) -> list[BlockBounds]:
    """`block_bounds` of the kernel of a region, or of all kernels of the module."""
    return [block_bounds(module, name) for name in (kernels_of(module) if region is None else [region.symbol])]


def block_bounds(module: IRModule, kernel: str) -> BlockBounds:
    """Bounds of a kernel, by attributes and metadata of any LLVM version.

    These are OpenCL's ``reqd_work_group_size`` (also as SPIR-V's execution mode, and in ``!opencl.kernels`` of LLVM
    before 4) and ``max_work_group_size``, CUDA's ``__launch_bounds__``, ``maxntid`` and ``reqntid``, and
    AMD's ``amdgpu-flat-work-group-size``. A ``work_group_size_hint`` binds nothing.
    """
    header = module.lines[module.function(kernel).header.line]
    nodes, (groups, lists) = metadata_nodes(module.text), _facts(module.text)
    stated: dict[str, list[int]] = {}
    for group in re.findall(r"#\d+", re.sub(r'"[^"]*"', "", header)):
        stated |= {
            name: [int(number) for number in text.split(",")]
            for name, text in _ATTRIBUTE.findall(groups.get(group, ""))
        }
    for name, number in _ATTACHED.findall(header):
        stated[name] = _numbers(nodes.get(number, ""))
    for listed in lists:
        for number in re.findall(r"\d+", listed):
            stated |= _listed(nodes, nodes.get(number, ""), kernel)
    return _bounds(stated)


@lru_cache(maxsize=1)
def _facts(text: str) -> tuple[dict[str, str], list[str]]:
    """Attribute groups by number, and lists of kernels; cached, as a module has several kernels."""
    return attribute_groups(text), _LISTED.findall(text)


def _listed(nodes: Mapping[str, str], entry: str, kernel: str) -> dict[str, list[int]]:
    """Numbers by name in an entry of a list of kernels or execution modes; {} if it is of another kernel."""
    if not re.match(rf'!\{{ptr @"?{re.escape(kernel)}"?[,}}]', entry):
        return {}
    mode = _numbers(entry)
    if mode[:1] == [_LOCAL_SIZE]:
        return {"reqd_work_group_size": mode[1:]}
    inner = (nodes.get(number, "") for number in re.findall(r"!(\d+)", entry))
    named = (re.match(r'!\{!"(\w+)"', node) for node in inner)
    return {match[1]: _numbers(match.string) for match in named if match}


def _numbers(node: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(node)]


def _bounds(stated: Mapping[str, list[int]]) -> BlockBounds:
    """Bounds from the numbers of each attribute or kind of metadata."""
    words, limits = [], [math.inf]
    required: tuple[int, ...] = ()
    for name in ("reqd_work_group_size", "nvvm.reqntid"):
        if sides := stated.get(name):
            required = (*sides, 1, 1)[:3]
            shown = ", ".join(map(str, required))
            words.append(f"{name.removeprefix('nvvm.')}({shown}): no other shape can be launched")
    if sides := stated.get("nvvm.maxntid"):
        limits.append(math.prod(sides))  # a bound of the product (PTX ISA, .maxntid)
        words.append(f"__launch_bounds__({limits[-1]}): at most {limits[-1]} threads a block")
    (blocks,) = stated.get("nvvm.minctasm", [])[:1] or [0]
    if blocks:
        words.append(f"{blocks} blocks or more at once on a multiprocessor: fewer registers a thread, any shape")
    widest: tuple[float, ...] = (math.inf,) * 3
    if sides := stated.get("max_work_group_size"):
        widest = (*map(float, sides), 1.0, 1.0)[:3]
        words.append(f"max_work_group_size({', '.join(map(str, sides))}): no side may be longer")
    for name in ("omp_target_thread_limit", "max_linear_work_group_size"):
        if most := stated.get(name):
            limits.append(most[0])
            words.append(f"{name}={most[0]}: at most {most[0]} work-items a group")
    least = 1
    if len(bounds := stated.get("amdgpu-flat-work-group-size", [])) == 2:
        least, limits = max(1, bounds[0]), [*limits, bounds[1]]
        words.append(f"amdgpu_flat_work_group_size({bounds[0]}, {bounds[1]}): {_range(*bounds)} work-items a group")
    return BlockBounds(required, least, min(limits), widest, blocks, tuple(words))


def _named(sides: tuple[int, ...]) -> str:
    return " x ".join(map(str, sides))


def _range(least: int, most: float) -> str:
    if least == most:
        return f"{least}"
    return f"at most {most:g}" if least <= 1 else f"{least} or more" if most == math.inf else f"{least} to {most:g}"
