"""`oz_benefit`: what a level does to the code's size beside another level, and whether that is worth anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mirenc.tasks.compiled import CompiledTable
from mirenc.tasks.compiled_task import CompiledTask
from mirenc.tasks.data import TaskData
from mirenc.tasks.prediction import Prediction
from mirenc.tasks.sample import Sample

__all__ = ["OzBenefit"]

# Variant -> the level of the numerator, and of the denominator.
_RATIOS = {"Oz_over_O0": ("O0", "Oz"), "O3_over_Oz": ("O3", "Oz")}


class OzBenefit(CompiledTask):
    """The logarithm of how many times as large the code is without -Oz.

    ``Oz_over_O0``: size at -O0 over size at -Oz, what -Oz saves. ``O3_over_Oz``: size at -O3 over size at -Oz, what -O3
    costs in size.
    """

    name = "oz_benefit"
    title = "benefit of -Oz"
    target = "number"
    unit = "log ratio"
    logarithm = True
    variants = tuple(_RATIOS)
    events: ClassVar[Mapping[str, tuple[str, float]]] = {
        "Oz_over_O0": ("-Oz halves it", math.log(2.0)),
        "O3_over_Oz": ("-O3 is a tenth larger", math.log(1.1)),
    }

    def ask(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        """Log ratios of the variant's two levels."""
        over, under = (self.sizes_after(table, level) for level in _RATIOS[variant])
        kept = [
            replace(sample, value=float(ratio))
            for sample, ratio in zip(samples, np.log(over / under).tolist(), strict=True)
            if math.isfinite(ratio)
        ]
        return TaskData(kept, None, table.content_hash, table.title, llvm=table.llvm)

    def number_words(self, found: Prediction) -> str:
        """The factor."""
        return f"{math.exp(found.value):.2f} times as large without -Oz"

    def details(self, found: Prediction) -> dict[str, Any]:
        """The factor."""
        return {"ratio": math.exp(found.value)}
