"""`pass_fires`: which passes of -Oz or -O3 will change a function, told before any is run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mirenc.errors import TaskError
from mirenc.tasks.compiled import CompiledTable
from mirenc.tasks.compiled_task import CompiledTask
from mirenc.tasks.data import TaskData
from mirenc.tasks.prediction import Prediction
from mirenc.tasks.sample import Sample

__all__ = ["PassFires"]

# A pass that fires nearly always, or hardly ever, is no question; and a rate of so few cannot be learned.
_LEAST_SHARE = 0.005
_SHOWN = 8


class PassFires(CompiledTask):
    """A label a pass: whether it changes the code. Passes that always or never do so in training are left out."""

    name = "pass_fires"
    title = "which passes change it, at"
    target = "labels"
    variants = ("Oz", "O3")

    def ask(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        """Labels of the pieces of which they are known."""
        if variant not in table.fires:
            raise TaskError(
                f"{self.name} wants to know which passes of {variant} change a piece; the table says it of "
                f"{', '.join(table.fires) or 'no level'}. Measure anew where opt is on PATH"
            )
        fires = table.fires[variant]
        training = fires.known & ~np.array([sample.held_out for sample in samples], dtype=bool)
        changed = fires.changed[training]
        rarer = np.minimum(changed.sum(axis=0), (~changed).sum(axis=0))
        told = np.flatnonzero(rarer >= max(1.0, _LEAST_SHARE * len(changed)))
        if not len(told):
            raise TaskError(f"{self.name}: every pass changes all pieces for training, or none. Measure more sources")
        kept = [
            replace(sample, labels=tuple(row.astype(int).tolist()))
            for sample, row, known in zip(samples, fires.changed[:, told], fires.known.tolist(), strict=True)
            if known
        ]
        names = tuple(fires.passes[index] for index in told)
        return TaskData(kept, None, table.content_hash, table.title, names, table.llvm)

    def remarks(self, found: Prediction) -> list[str]:
        """The passes that are least likely to do anything."""
        idle = sorted(found.labels, key=lambda name: found.labels[name])[:_SHOWN]
        return [f"least likely to change anything: {', '.join(idle)}"]
