"""From one GPU to another: what a kernel's best block of one GPU is worth on each other GPU that ran the kernel.

    python downstream/block_size_published/transfer.py [DATA]        # transfer.json, in seconds; then: tables.py

A pair is a kernel and two GPUs, and the tables are those of `block_size_published.py`. The block is taken as it is; or
it is tried on the other GPU beside the default, and the faster one kept; or the best two are tried. Intervals draw
whole GPUs (the ones that blocks are brought to).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Bool, Int64
from mirenc.decide.metrics import decision_figures, group_interval
from mirenc.decide.registry import get_task
from mirenc.decide.task_data import TaskData

HERE = Path(__file__).parent
RECORD = HERE / "transfer.json"
WAYS = ("as it is", "tried beside the default", "the best two tried")


def pairs_of(data: TaskData) -> Int64:
    """Samples of one kernel on two GPUs: (P, 2), the first of the GPU that a block comes from."""
    samples = range(len(data))
    return np.array([(a, b) for a in samples for b in samples if a != b and data.part[a] == data.part[b]])


def choices(data: TaskData, pairs: Int64) -> dict[str, Int64]:
    """The block that each pair ends with, by how it is brought over: (P,) settings of the second sample.

    A block that cannot run on the other GPU is the default there.
    """
    ranked = np.argsort(data.known[pairs[:, 0]], axis=1)[:, :2]  # NaN is last
    costs, default = data.known[pairs[:, 1]], data.default[pairs[:, 1]]
    ranked = np.where(np.isfinite(np.take_along_axis(costs, ranked, axis=1)), ranked, default[:, None])
    chosen = {WAYS[0]: ranked[:, 0]}
    for count, rule in enumerate(WAYS[1:], 1):
        settings = np.column_stack([default, ranked[:, :count]])
        best = np.take_along_axis(costs, settings, axis=1).argmin(axis=1)
        chosen[rule] = settings[np.arange(len(settings)), best]
    return chosen


def kinds_of(data: TaskData, pairs: Int64, makers: list[str]) -> Iterator[tuple[str, Bool]]:
    """The rows of the table: a title, and which pairs are meant. ``makers`` (n,) are those of the samples' GPUs."""
    (source, target), maker = pairs.T, np.array(makers)
    same_maker, same_generation = maker[source] == maker[target], data.suite[source] == data.suite[target]
    yield "all", np.ones(len(pairs), dtype=np.bool_)
    yield "to a GPU of the same generation", same_generation
    yield "to another generation of the same maker", same_maker & ~same_generation
    yield "to another maker's", ~same_maker
    for kernel in dict.fromkeys(data.part.tolist()):
        yield kernel, data.part[source] == kernel


def rows_of(data: TaskData, makers: list[str]) -> list[dict[str, Any]]:
    """Figures of each row."""
    pairs, rows = pairs_of(data), []
    chosen = choices(data, pairs)
    for title, is_meant in kinds_of(data, pairs, makers):
        if not is_meant.any():
            continue
        target = pairs[is_meant, 1]
        costs, base = data.known[target], data.baseline[target]
        row: dict[str, Any] = {"title": title, "pairs": len(target), "ways": {}}
        for rule, choice in chosen.items():
            figures = decision_figures(costs, choice[is_meant], base)
            gain = np.log(base / costs[np.arange(len(target)), choice[is_meant]])
            interval = group_interval(gain, data.group[target], statistic=np.exp)
            keys = ("speedup_geometric", "oracle_geometric", "oracle_gain_share", "slowdowns_2")
            row["ways"][rule] = {key: figures[key] for key in keys} | {"interval": interval}
        rows.append(row)
    return rows


def lines_of(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The table."""
    header = ["the best block of one GPU", "pairs", "oracle", "speedup over default, as it is", "slower by 2 %, %"]
    lines = [header + [f"share of oracle's gain, %: {rule}" for rule in WAYS]]
    for row in rows:
        first = row["ways"][WAYS[0]]
        speedup = "{:.3f} [{:.3f}, {:.3f}]".format(first["speedup_geometric"], *first["interval"])
        shares = [f"{100 * figures['oracle_gain_share']:.0f}" for figures in row["ways"].values()]
        oracle, slower = f"{first['oracle_geometric']:.3f}", f"{100 * first['slowdowns_2']:.0f}"
        lines.append([row["title"], str(row["pairs"]), oracle, speedup, slower, *shares])
    return lines


def record_of(data_dir: str | None) -> dict[str, Any]:
    """All that is written."""
    task = get_task(HERE / "block_size_published.py")
    data = task.load(data_dir)
    makers = [task.machines[gpu].split()[0] for gpu in data.group.tolist()]
    rows = rows_of(data, makers)
    return {"data_hash": data.content_hash, "rows": rows, "lines": lines_of(rows)}


if __name__ == "__main__":
    record = record_of(sys.argv[1] if len(sys.argv) > 1 else None)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
