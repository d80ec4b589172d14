"""`size_after`: how many bytes of code a function or module has after -Oz, -O3 or nothing, from its IR."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mirenc.tasks.compiled import CompiledTable
from mirenc.tasks.compiled_task import CompiledTask
from mirenc.tasks.data import TaskData
from mirenc.tasks.prediction import Prediction
from mirenc.tasks.sample import Sample

__all__ = ["SizeAfter"]


class SizeAfter(CompiledTask):
    """The logarithm of the bytes: what is missed by a factor counts alike for small and large."""

    name = "size_after"
    title = "code size after"
    target = "number"
    unit = "log bytes"
    logarithm = True
    variants = ("Oz", "O3", "O0")
    tabulated = True

    def ask(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        """Logarithms of the sizes after the variant's level."""
        sizes = self.sizes_after(table, variant)
        kept = [
            replace(sample, value=float(np.log(size)))
            for sample, size in zip(samples, sizes.tolist(), strict=True)
            if np.isfinite(size)
        ]
        return TaskData(kept, None, table.content_hash, table.title, llvm=table.llvm)

    def number_words(self, found: Prediction) -> str:
        """The bytes, and of what: callers may take a function in, and it those that it calls."""
        alone = "" if found.region is None else " by itself, before inlining"
        return f"{np.exp(found.value):,.0f} bytes{alone}"

    def details(self, found: Prediction) -> dict[str, Any]:
        """The bytes."""
        return {"bytes": float(np.exp(found.value))}
