"""`pass_list`: which pass list makes a function or module smallest, among a few lists that together do best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import TaskError
from mirenc.heads.portfolio import portfolio
from mirenc.tasks.compiled import CompiledTable
from mirenc.tasks.compiled_task import CompiledTask
from mirenc.tasks.data import TaskData
from mirenc.tasks.sample import Sample
from mirenc.tasks.space import Space

__all__ = ["KNOB", "LISTS", "PassListChoice", "covering_lists"]

KNOB = "passes"
LISTS = 50


class PassListChoice(CompiledTask):
    """A list for each piece, out of `LISTS` that were chosen among all measured ones; costs are bytes of code.

    The lists are those of which the best serves the pieces for training best (`covering_lists`); -Oz, list 0 of a
    table, is the first of them and the default. A list under which a piece does not compile runs as the default.
    """

    name = "pass_list"
    title = "pass list"
    portfolios = (2, 3, 4)
    select = "speedup"
    cost_unit = "bytes"

    def ask(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        """Bytes under each of the chosen lists."""
        sizes = np.where(np.isnan(table.sizes.code_bytes), np.nan, np.maximum(table.sizes.code_bytes, 1.0))
        measured = np.isfinite(sizes[:, 0])
        held_out = np.array([sample.held_out for sample in samples], dtype=bool)
        training = sizes[measured & ~held_out]
        if not len(training) or sizes.shape[1] < 2:
            raise TaskError(
                f"{self.name}: the table has {len(training)} pieces for training under {sizes.shape[1]} lists; one "
                "piece and two lists are needed. Measure anew: mirenc measure passes SOURCES --lists 100 -o FOLDER"
            )
        chosen = covering_lists(training, LISTS)
        texts = [table.lists[index].pipeline for index in chosen]
        space = Space((KNOB,), tuple((text,) for text in texts))
        kept = [
            replace(sample, costs=tuple(row))
            for sample, row, known in zip(samples, sizes[:, chosen].tolist(), measured.tolist(), strict=True)
            if known
        ]
        return TaskData(kept, space, table.content_hash, table.title, llvm=table.llvm)


def covering_lists(sizes: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """So many lists, of which the best for each piece saves most in the mean; greedily, the first list always.

    Parameters
    ----------
    sizes : (n, N) float64, bytes
        NaN where a list failed; the first list did not.
    count : int

    Returns
    -------
    (min(count, N),) int64
        The first list, then each that helps most beside those before it.
    """
    logs = np.log(sizes)
    logs = np.where(np.isnan(logs), logs[:, :1], logs)  # what fails runs as the first
    order = portfolio(np.minimum(logs, logs[:, :1])[:, 1:], count - 1) + 1
    return np.concatenate([[0], order]).astype(np.int64)
