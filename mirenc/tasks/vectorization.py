"""Loop vectorization: the vector width and interleave count that a loop pragma asks for, measured on this machine."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mirenc.arrays import Float64
from mirenc.ir import IRModule, Region
from mirenc.passes.hint import Hint
from mirenc.passes.look_ahead import LoopCode, look_ahead
from mirenc.passes.vectorizer import follows_hints, vectorizer_choices
from mirenc.tasks.innermost import InnermostTask
from mirenc.tasks.measured import MeasuredSample
from mirenc.tasks.space import Space, Value

WIDTHS = (1, 2, 4, 8, 16, 32, 64)
COUNTS = (1, 2, 4, 8, 16)
_MOST_ELEMENTS = 64
_PROBES = (None, Hint(2, 1), Hint(1, 2))


class Vectorization(InnermostTask):
    """Vector width x interleave count of an innermost loop: ``#pragma clang loop``.

    (0, 0), the default, is LLVM's own choice. A setting that it does not follow is measured as what it made of it.
    """

    name = "vectorization"
    title = "loop vectorization"
    source = "mirenc measure vectorization"
    method = "mirenc.measure.vectorization:VectorizationMethod"
    space = Space(
        ("vectorization_factor", "interleave_factor"),
        ((0, 0), *((width, count) for width in WIDTHS for count in COUNTS)),
        missing="never",
    )
    compiler_context = ("llvm_width", "llvm_count")
    context_names = (*InnermostTask.context_names, *compiler_context)
    context_help = {
        **InnermostTask.context_help,
        "llvm_width": "vector width of LLVM's own choice, 1 for a scalar loop, 0 for not known",
        "llvm_count": "interleave count of LLVM's own choice, 0 for not known",
    }
    context_allowed = {**InnermostTask.context_allowed, "llvm_width": 0, "llvm_count": 0}
    ir_context = (*InnermostTask.ir_context, *compiler_context)
    looks_ahead = True
    directive_note = (
        "with such a pragma LLVM may reorder floating-point sums; it was measured, and results stay the same, with "
        "-mllvm -hints-allow-reordering=false"
    )

    def encode_context(self, context: tuple[Any, ...]) -> Float64:
        """As all innermost loops; then whether LLVM's choice is known, logarithms of its width and count. (6,)."""
        width, count = map(float, context[2:])
        known = width > 0 and count > 0
        choice = (np.log2(width), np.log2(count)) if known else (0.0, 0.0)
        return np.array([*super().encode_context(context), float(known), *choice])

    def context_from_compiler(
        self, module: IRModule, region: Region | None, context: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """LLVM 22's choice for the loop. Tables have the choice of the LLVM that was measured."""
        choices = vectorizer_choices(module, int(float(context["vector_bits"])))
        width, count = choices.get((region.symbol, region.header), (0, 0)) if region else (0, 0)
        return {"llvm_width": width, "llvm_count": count}

    def look_ahead(
        self, module: IRModule, region: Region | None, context: tuple[Any, ...]
    ) -> Sequence[LoopCode | None]:
        """Of settings of at most `_MOST_ELEMENTS`: larger ones are hardly ever best, and most of the time.

        A loop that two settings leave as it is is one that the vectorizer may not touch: so do all (no exception in
        the 368 of 2,484 samples where they do).
        """
        assert region is not None
        hints = [Hint(*map(int, setting)) if any(setting) else None for setting in self.space.settings]
        wanted = [one for one in hints if one is None or one.width * one.count <= _MOST_ELEMENTS]
        bits = int(float(context[1]))
        first = look_ahead(module, region, _PROBES, bits)
        if len(set(map(repr, first))) == 1:
            made = dict.fromkeys(wanted, first[0])
        else:
            rest = [one for one in wanted if one not in _PROBES]
            made = dict(zip([*_PROBES, *rest], [*first, *look_ahead(module, region, rest, bits)], strict=True))
        return [made.get(one) for one in hints]

    def may_change(self, module: IRModule, region: Region | None, context: tuple[Any, ...]) -> bool:
        """Of all loops of a module by one compilation: of 2,045 in SQLite 84 may."""
        assert region is not None
        return (region.symbol, region.header) in follows_hints(module, int(float(context[1])))

    def sample_context(self, sample: MeasuredSample) -> Mapping[str, Any]:
        return dict(zip(self.compiler_context, sample.effective[self.space.default], strict=True))

    def directive(self, setting: tuple[Value, ...]) -> str:
        return Hint(*map(int, setting)).pragma() if any(setting) else ""
