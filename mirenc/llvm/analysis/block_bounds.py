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
_ATTACHMENT = re.compile(r"!(\w+) !(\d+)")
_NUMBER = re.compile(r"\bi\d+ (\d+)")
_KERNEL_LIST = re.compile(r"^!(?:opencl\.kernels|spirv\.ExecutionMode) = !\{([^}]*)\}", re.MULTILINE)
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
            return f"{_shape(sides)}, where {_shape(self.required)} is required"
        axes = [axis for axis, side, limit in zip("xyz", sides, self.widest, strict=True) if side > limit]
        return self.items_refusal(math.prod(block)) or (f"{_shape(sides)} is too long in {axes[0]}" if axes else "")

    def items_refusal(self, items: float) -> str:
        """Why the kernel cannot be launched with blocks of so many items; "" if it can, in some shape."""
        low, high = self.least, min(self.most, math.prod(self.widest))
        if self.required:
            low, high = max(low, math.prod(self.required)), min(high, math.prod(self.required))
        if low > high:
            return f"{items:g} work-items, and what the kernel says of its blocks contradicts itself"
        return "" if low <= items <= high else f"{items:g} work-items, and {_range(low, high)} are allowed"

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
    nodes, (groups, lists) = metadata_nodes(module.text), _groups_and_lists(module.text)
    values: dict[str, list[int]] = {}
    for group in re.findall(r"#\d+", re.sub(r'"[^"]*"', "", header)):
        values |= {
            name: [int(number) for number in text.split(",")]
            for name, text in _ATTRIBUTE.findall(groups.get(group, ""))
        }
    for name, number in _ATTACHMENT.findall(header):
        values[name] = _numbers(nodes.get(number, ""))
    for kernel_list in lists:
        for number in re.findall(r"\d+", kernel_list):
            values |= _values_of_entry(nodes, nodes.get(number, ""), kernel)
    return _bounds(values)


@lru_cache(maxsize=1)
def _groups_and_lists(text: str) -> tuple[dict[str, str], list[str]]:
    """Attribute groups by number, and lists of kernels; cached, as a module has several kernels."""
    return attribute_groups(text), _KERNEL_LIST.findall(text)


def _values_of_entry(nodes: Mapping[str, str], entry: str, kernel: str) -> dict[str, list[int]]:
    """Numbers by name in an entry of a list of kernels or execution modes; {} if it is of another kernel."""
    if not re.match(rf'!\{{ptr @"?{re.escape(kernel)}"?[,}}]', entry):
        return {}
    mode = _numbers(entry)
    if mode[:1] == [_LOCAL_SIZE]:
        return {"reqd_work_group_size": mode[1:]}
    inner_nodes = (nodes.get(number, "") for number in re.findall(r"!(\d+)", entry))
    matches = (re.match(r'!\{!"(\w+)"', node) for node in inner_nodes)
    return {match[1]: _numbers(match.string) for match in matches if match}


def _numbers(node: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(node)]


def _bounds(values: Mapping[str, list[int]]) -> BlockBounds:
    """Bounds from the numbers of each attribute or kind of metadata."""
    words, limits = [], [math.inf]
    required: tuple[int, ...] = ()
    for name in ("reqd_work_group_size", "nvvm.reqntid"):
        if sides := values.get(name):
            required = (*sides, 1, 1)[:3]
            shape = ", ".join(map(str, required))
            words.append(f"{name.removeprefix('nvvm.')}({shape}): no other shape can be launched")
    if sides := values.get("nvvm.maxntid"):
        limits.append(math.prod(sides))  # a bound of the product (PTX ISA, .maxntid)
        words.append(f"__launch_bounds__({limits[-1]}): at most {limits[-1]} threads a block")
    (blocks,) = values.get("nvvm.minctasm", [])[:1] or [0]
    if blocks:
        words.append(f"{blocks} blocks or more at once on a multiprocessor: fewer registers a thread, any shape")
    widest: tuple[float, ...] = (math.inf,) * 3
    if sides := values.get("max_work_group_size"):
        widest = (*map(float, sides), 1.0, 1.0)[:3]
        words.append(f"max_work_group_size({', '.join(map(str, sides))}): no side may be longer")
    for name in ("omp_target_thread_limit", "max_linear_work_group_size"):
        if numbers := values.get(name):
            limits.append(numbers[0])
            words.append(f"{name}={numbers[0]}: at most {numbers[0]} work-items a group")
    least = 1
    if len(bounds := values.get("amdgpu-flat-work-group-size", [])) == 2:
        least, limits = max(1, bounds[0]), [*limits, bounds[1]]
        words.append(f"amdgpu_flat_work_group_size({bounds[0]}, {bounds[1]}): {_range(*bounds)} work-items a group")
    return BlockBounds(required, least, min(limits), widest, blocks, tuple(words))


def _shape(sides: tuple[int, ...]) -> str:
    return " x ".join(map(str, sides))


def _range(low: int, high: float) -> str:
    if low == high:
        return f"{low}"
    return f"at most {high:g}" if low <= 1 else f"{low} or more" if high == math.inf else f"{low} to {high:g}"
