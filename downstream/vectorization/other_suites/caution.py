"""What the shipped head gains on other suites with its caution and with less: ``python caution.py``.

Writes ``caution.json``, beside the records. The head is the one that looks ahead.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

import mirenc
from mirenc.base.arrays import Float64, Int64
from mirenc.decide.estimators.chooser import SHARPNESS, Settings
from mirenc.decide.features.feature_matrix import hide_context
from mirenc.decide.features.look_ahead_features import (
    TRIP_COUNTS,
    default_columns,
    look_ahead_settings,
    look_ahead_tables,
)
from mirenc.decide.task_data import TaskData
from mirenc.decide.task_head import TaskHead

HERE = Path(__file__).parent
MARGINS = (1.0, 0.5, 0.25, 0.0)


def main() -> None:
    """Ask, and write."""
    encoder = mirenc.load()
    head = TaskHead.load("vectorization.look_ahead", encoder=encoder)
    data = mirenc.get_task("vectorization").load(HERE)
    known = len(head.task.context.names)  # the head may be older than some
    data = replace(data, samples=[replace(one, context=one.context[:known]) for one in data.samples])
    tables = look_ahead_tables(head.task, data, encoder, None)
    lines = []
    for title, knows_trips in (("nothing", False), ("trip count", True)):
        preference = np.array([_asked(head, data, tables, row, knows_trips) for row in range(len(data))])
        preference = np.where(np.isfinite(data.known), np.maximum(preference, np.finfo(float).tiny), 0.0)
        for margin in MARGINS:
            raised = preference.copy()
            raised[:, data.space.default] *= np.exp(SHARPNESS * (margin - 1) * head.head.margin_)
            lines.append([title, f"{100 * margin:.0f}", *_figures(data, raised.argmax(axis=1))])
    header = ["told", "margin, %", "speedup", "share of oracle's gain, %", "changed loops", "slower by 2 %, loops"]
    (HERE.parent / "caution.json").write_text(
        f"{json.dumps({'lines': [header, *lines]}, indent=1)}\n", encoding="utf-8"
    )
    print(*lines, sep="\n")


def _asked(head: TaskHead, data: TaskData, tables: Float64, row: int, knows_trips: bool) -> Float64:
    """Preferences (K,) of one sample; without a trip count for each of those that may be, in the mean."""
    sample, default = data.samples[row], data.space.default
    encoded = head.task.context.encode(hide_context(head.task, sample.context, ("trip_count",)))
    settings = Settings(data.encoder(data.space.settings), np.arange(len(data.space))[None, :])
    counts = (float(sample.run["trip_count"]),) if knows_trips else TRIP_COUNTS
    one = (settings, tables[row][None], np.array([default]))
    views = [look_ahead_settings(*one, np.array([float(count)])) for count in counts]
    columns = np.concatenate([encoded, default_columns(tables[row], default)])[None, :]
    return head.head.predict_proba(columns, views)[0]


def _figures(data: TaskData, choice: Int64) -> list[str]:
    rows = np.arange(len(data))
    gain = np.log(data.paid_baseline / data.paid[rows, choice])
    most = np.log(data.paid_baseline / data.paid[rows, np.nanargmin(data.known, axis=1)])
    speedup, oracle = np.exp(gain.mean()), np.exp(most.mean())
    changed = data.resolve(choice) != data.resolve(data.default)
    slower = (gain < -np.log(1.02)).sum()
    return [
        f"{speedup:.3f}",
        f"{100 * (speedup - 1) / (oracle - 1):.0f}",
        f"{changed.sum()} of {len(data)}",
        str(slower),
    ]


if __name__ == "__main__":
    main()
