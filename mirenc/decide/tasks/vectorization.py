"""Loop vectorization: the vector width and interleave count that a loop pragma asks for, measured on this machine."""

from collections.abc import Mapping
from typing import Any

from mirenc.decide.loop_task import VECTOR_BITS, LoopTask
from mirenc.decide.protocols import Protocol
from mirenc.decide.settings import Space
from mirenc.decide.tables.measured import MeasuredSample, MeasuredTask

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
COUNTS = (1, 2, 4, 8, 16)


class Vectorization(LoopTask, MeasuredTask):
    """Vector width x interleave count of each innermost loop.

    (0, 0), the default, is LLVM's own choice. A setting that it does not follow is measured as what it made of it.
    """

    name = "vectorization"
    title = "loop vectorization"
    source = "mirenc measure vectorization"
    method = "mirenc.tools.measure.vectorization:VectorizationMethod"
    space = Space(
        ("vectorization_factor", "interleave_factor"),
        ((0, 0), *((width, count) for width in WIDTHS for count in COUNTS)),
        missing="never",
    )
    part_context = {part: {"vector_bits": bits} for part, bits in VECTOR_BITS.items()}
    protocols = (
        Protocol("structure", "5 folds of whole structures", lambda data: data.group, folds=5, over="rest"),
        Protocol("family", "leave one family of structures out", lambda data: data.suite, folds=None, over="rest"),
        Protocol(
            "another_suite",
            "trained on the generator's loops, another suite's",
            lambda data: data.group,
            over="held_out",
        ),
    )
    baselines = {"llvm": 0}
    select = "speedup"

    def sample_context(self, sample: MeasuredSample) -> Mapping[str, Any]:
        return dict(zip(self.context.compiler_names, sample.effective[self.space.default], strict=True))
