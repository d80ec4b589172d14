"""Block size: the shape of an OpenCL work group or a CUDA thread block, measured on the machine at hand.

The question is asked for one kernel and one problem size. Kernels of one dimension choose among lines, those of two
among planes; a shape that cannot run counts as the default.
"""

import functools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mirenc.base.errors import TaskError
from mirenc.decide.context import Context, Feature
from mirenc.decide.prediction import Choice
from mirenc.decide.protocols import Protocol
from mirenc.decide.settings import Setting, Space
from mirenc.decide.tables.measured import MeasuredSample, MeasuredTask
from mirenc.encoder import Encoder
from mirenc.llvm import IRModule, Region, check_kernels
from mirenc.llvm.analysis.block_bounds import BlockBounds, block_bounds
from mirenc.llvm.inputs.dialect import WITHOUT_CUDA, names_toolkit

_SHAPES_TO_TRY = 5  # in the restriction for a tuner
ON_ANOTHER_GPU = (
    "on another GPU: measure there. In published tables a kernel's best block on one GPU has 76 % of the oracle's gain "
    "on another, and 78 % if it is tried beside the default (86 pairs)"
)
"""What an answer for one GPU is worth on another, of ``downstream/block_size_published/transfer.json``."""
CUDA_TRIES = {1: ((64, 1), (512, 1)), 2: ((64, 4), (8, 8))}
"""By number of dimensions: the two shapes that are best to measure beside the default on the H200
(``downstream/block_size/README.md``, "tried")."""
TRIES_WORTH = "of these and the default, the fastest has 87 % of the oracle's gain on unseen kernels"
_LEAST_GAIN = 1.03  # below it, a gain is no more than what two runs differ by
# Asking for the place in the second dimension, in OpenCL, SPIR-V's words, NVIDIA's or AMD's.
_SECOND_DIMENSION = re.compile(
    r"get_(?:global|local|group)_id\w*\(i32 [^()]*\b1\)|ptx\.sreg\.(?:tid|ctaid)\.y|amdgcn\.work(?:item|group)\.id\.y"
)
KNOBS = ("block_x", "block_y")
_LINES = {
    # A CPU runs a work group as a loop in one thread, so that both ends of the scale are worth a try.
    "cl": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
    # Whole warps.
    "cuda": (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024),
}
_PLANES = {
    "cl": (
        *((1, 1), (4, 4), (8, 8), (16, 4), (16, 16), (32, 8), (32, 32), (64, 1), (64, 4), (64, 16)),
        *((256, 1), (256, 4), (1024, 1), (1, 64), (4, 64), (8, 32)),
    ),
    "cuda": ((8, 8), (16, 8), (16, 16), (32, 4), (32, 8), (32, 16), (32, 32), (64, 4), (128, 2), (256, 1)),
}
CUDA_THREADS = 1024
"""Threads of a block at most, by any GPU of compute capability 2.0 or later (CUDA C++ Programming Guide)."""
_CUDA_DEVICE = BlockBounds(most=CUDA_THREADS, widest=(CUDA_THREADS, CUDA_THREADS, 64))
# What people write who have not measured.
_HABIT = {1: (256, 1), 2: (16, 16)}


@functools.cache
def block_space(language: str, dimensions: int) -> Space:
    """The shapes for a kernel in ``cl`` or ``cuda`` of 1 or 2 dimensions; one object for all that share it.

    A third dimension is left at 1, as people do. Raises TaskError: another language or number.
    """
    if language not in _LINES or dimensions not in _HABIT:
        problem = f"no block shapes for {language!r} in {dimensions} dimensions"
        raise TaskError(f"{problem}; available: languages cl and cuda, 1 or 2 dimensions")
    shapes = [(x, 1) for x in _LINES[language]] if dimensions == 1 else _PLANES[language]
    habit = _HABIT[dimensions]
    # The default stands first in every space, so that a head for all of them knows it. A shape that a kernel or a
    # device refuses leaves people with what they have.
    return Space(KNOBS, (habit, *(shape for shape in shapes if shape != habit)), 0, missing="default")


@functools.cache
def with_default(space: Space, default: tuple[int, int]) -> Space:
    """The same shapes with another default, which stands first; one object for all that share it."""
    return replace(space, settings=(default, *(shape for shape in space.settings if shape != default)), default=0)


def nearest_shape(shapes: Iterable[tuple[int, int]], habit: tuple[int, int]) -> tuple[int, int]:
    """The shape most like the habitual one: in its work-items, then in its ratio of width to height."""
    width, height = habit

    def distance(shape: tuple[int, int]) -> tuple[float, float]:
        x, y = shape
        return abs(math.log2(x * y / (width * height))), abs(math.log2(x / y * height / width))

    return min(shapes, key=distance)


def permitted_shapes(
    shapes: Sequence[tuple[int, int]], habit: tuple[int, int], kernel: str, bounds: BlockBounds, *, cuda: bool
) -> list[tuple[int, int]]:
    """The shapes that a kernel can be launched with, first the default: the one most like ``habit``.

    A shape that the kernel requires is the only one, whether it is among ``shapes`` or not. Raises TaskError: none.
    """
    cause = f"{kernel} has {bounds.text}"
    device = _CUDA_DEVICE if cuda else BlockBounds()
    if bounds.required:
        if refusal := device.refusal(bounds.required):
            raise TaskError(f"{cause}, and no GPU can launch it: {refusal}. Mend the kernel's attribute")
        x, y, z = bounds.required
        if z != 1:
            raise TaskError(f"{cause}, so there is nothing to predict. Launch the kernel with {x} x {y} x {z}")
        return [(x, y)]
    permitted = [shape for shape in shapes if not bounds.refusal(shape) and not device.refusal(shape)]
    if not permitted:
        listing = ", ".join(f"{x} x {y}" for x, y in sorted(shapes))
        advice = "Launch the kernel with a shape of your own that it allows"
        raise TaskError(f"{cause}, which allows none of the shapes that mirenc can predict: {listing}. {advice}")
    default = nearest_shape(permitted, habit)
    return [default, *(shape for shape in permitted if shape != default)]


def likely_shapes(expected: Mapping[str, float], count: int) -> list[tuple[int, int]]:
    """The ``count`` shapes of least expected cost, the best first; the keys are those of `Choice.expected`."""
    best = sorted(expected, key=lambda name: expected[name])[:count]
    sides = ([int(word.partition("=")[2]) for word in name.split()] for name in best)
    return [(x, y) for x, y in sides]


def tuner_restriction(shapes: Sequence[tuple[int, int]]) -> str:
    """A Python expression for the ``restrictions`` of Kernel Tuner that leaves these shapes.

    It names ``block_size_y`` only where a shape needs it, because tuners of one dimension do not define it.
    """
    if all(y == 1 for _, y in shapes):
        return f"block_size_x in {[x for x, _ in shapes]}"
    return f"(block_size_x, block_size_y) in {list(shapes)}"


def _is_cuda(module: IRModule) -> bool:
    return "llvm.nvvm." in module.text or bool(re.search(r'^target triple = "nvptx', module.text, re.MULTILINE))


def _dimensions_and_language(module: IRModule, region: Region | None) -> Mapping[str, int]:
    text = module.text
    if region is not None:
        header = module.function(region.symbol.strip('@"')).header
        text = "\n".join(module.lines[line] for line in module.arrays.line[header.first : header.last])
    # 2 where a kernel asks for its place in a second dimension.
    return {"dimensions": 2 if _SECOND_DIMENSION.search(text) else 1, "cuda": int(_is_cuda(module))}


class BlockSize(MeasuredTask):
    """A block shape for each kernel of a module."""

    name = "block_size"
    title = "block and work-group size"
    source = "mirenc measure block_size"
    method = "mirenc.tools.measure.block_size:BlockSizeMethod"
    variants = ("", "h200")  # tables: OpenCL on a CPU, CUDA on an NVIDIA H200
    variant_of_code: ClassVar = {"h200": _is_cuda}
    level = "function"
    context = Context(
        Feature("n", "problem size, 1 or more, as the kernel takes it: elements of a line, rows of a matrix", least=1),
        Feature("dimensions", "1 or 2, of the launch", allowed=(1, 2), known_from="ir"),
        Feature("cuda", "1 for CUDA, 0 for OpenCL", allowed=(0, 1), known_from="ir"),
        encode=lambda context: [np.log2(context[0]), *context[1:]],
        from_ir=_dimensions_and_language,
    )
    protocols = (
        Protocol("kernel", "ten folds of kernel structures", lambda data: data.group, folds=10),
        Protocol("family", "leave one family of kernels out", lambda data: data.suite, folds=None),
    )
    select = "speedup"

    def space_for(self, context: tuple[Any, ...]) -> Space:
        return block_space("cuda" if context[2] else "cl", int(context[1]))

    def measured_space(self, context: tuple[Any, ...], sample: MeasuredSample) -> Space:
        """The shapes; where the usual default did not run, the shape most like it that ran is the default."""
        space = self.space_for(context)
        costs = zip(sample.settings, sample.label, strict=True)
        ran = [(int(x), int(y)) for (x, y), cost in costs if math.isfinite(cost)]
        width, height = map(int, space.settings[space.default])
        return space if (width, height) in ran or not ran else with_default(space, nearest_shape(ran, (width, height)))

    def permitted(
        self, space: Space, module: IRModule, region: Region | None, context: tuple[Any, ...]
    ) -> tuple[tuple[Setting, ...], str]:
        if region is None:
            return space.default_first, ""
        bounds = block_bounds(module, region.symbol)
        shapes = [(int(x), int(y)) for x, y in space.default_first]
        permitted = permitted_shapes(shapes, _HABIT[int(context[1])], region.function, bounds, cuda=bool(context[2]))
        return tuple(permitted), bounds.text

    def read(self, encoder: Encoder, ir: Any) -> IRModule:
        """The module. CUDA is compiled without its headers, unless the flags say where they are."""
        return encoder.read(ir, dialect=None if names_toolkit(encoder.options.cflags) else WITHOUT_CUDA)

    def regions(self, module: IRModule) -> list[Region]:
        """Its kernels. Raises ForeignIRError: it has none."""
        kernels = set(check_kernels(module))
        return [region for region in super().regions(module) if region.symbol.strip('@"') in kernels]

    def remarks(self, answer: Choice) -> list[str]:
        """Whether a choice is worth it, and the shapes to try with a tuner."""
        details = self.details(answer)
        tuner = f"for Kernel Tuner: restrictions=[{details['restriction']!r}]"
        if answer.fixed:
            return [tuner]
        best = sorted(details["loss"].items(), key=lambda item: item[1])[:_SHAPES_TO_TRY]
        lines = [
            "expected loss against the best: " + ", ".join(f"{name} {100 * loss:.0f} %" for name, loss in best),
            tuner,
        ]
        if answer.context.get("cuda"):
            tries = [f"block_x={x} block_y={y}" for x, y in CUDA_TRIES[2 if answer.context["dimensions"] == 2 else 1]]
            if {answer.default, *tries} <= set(answer.expected):
                lines.insert(0, f"to be sure, measure {tries[0]} and {tries[1]}: {TRIES_WORTH}")
            lines.append(ON_ANOTHER_GPU)
        if not details["matters"]:
            lines.insert(0, f"the default is good enough here: {answer.default} is expected within 3 % of the best")
        return lines

    def details(self, answer: Choice) -> dict[str, Any]:
        # Not `cost_ratio`: there the default has a head start, which is caution and no expectation.
        expected = answer.expected
        least_cost = min(expected.values())
        return {
            "matters": expected[answer.default] >= _LEAST_GAIN * least_cost,
            "loss": {name: ratio / least_cost - 1 for name, ratio in expected.items()},
            "restriction": tuner_restriction(likely_shapes(expected, _SHAPES_TO_TRY)),
        }
