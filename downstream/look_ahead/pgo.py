"""LLVM's own choice where it is told how often a loop runs: ``python downstream/look_ahead/pgo.py``.

What profile-guided optimisation gives the vectorizer is branch weights at the loop's latch. Where LLVM 22 then chooses
another width or count than without, the measured setting of that name is taken; nothing is learned. A lower bound, as
a forced setting lacks the vectorised epilogue that LLVM's own may have. Written to ``pgo.json``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from mirenc.embed import load
from mirenc.ir.child import EndedError
from mirenc.metrics import decision_figures, group_interval
from mirenc.passes.vectorizer import asked, loop_node, marked
from mirenc.progress import progress
from mirenc.tasks import get_task
from mirenc.tasks.loading import load_data

HERE = Path(__file__).parent
_NODE = 9_000_000  # above all that a module has
_BRANCH = re.compile(r"  br i1 [^,]+, label (\S+), label (\S+),")


def main() -> None:
    """Ask about each sample, and write the figures."""
    task, encoder = get_task("vectorization"), load("mirenc-fast")
    data = load_data(task, HERE.parent / "vectorization/table")
    choice = data.default.copy()
    changed = 0
    with progress("loops", len(data)) as advance:
        for row, sample in enumerate(data.samples):
            module = task.read_sample(encoder, sample.ir)
            bits = int(float(dict(zip(task.context_names, sample.context, strict=True))["vector_bits"]))
            count = dict(sample.run).get("trip_count", sample.context[0])
            if not float(count):
                continue
            text, loops = marked(module)
            place = loops.index((sample.region.symbol, sample.region.header))
            try:
                before, after = (
                    _choice(module, one, bits, place) for one in (text, _weighed(text, place, sample, count))
                )
            except EndedError:
                continue
            if before != after and after in task.space.settings:
                column = task.space.settings.index(after)
                if np.isfinite(data.known[row, column]):
                    choice[row], changed = column, changed + 1
            advance()
    rows = np.arange(len(data))
    baseline = data.paid[rows, data.default]
    figures = decision_figures(data.known, choice, baseline, paid=data.paid)
    logs = np.log(baseline / data.paid[rows, choice])
    figures["interval"] = group_interval(logs, data.group, statistic=np.exp)
    kept = {name: figures[name] for name in ("speedup_geometric", "interval", "oracle_gain_share", "slowdowns_2")}
    (HERE / "pgo.json").write_text(json.dumps({"changed": changed, **kept}, indent=1) + "\n", encoding="utf-8")
    print(changed, kept)


def _choice(module: object, text: str, bits: int, place: int) -> tuple[int, int]:
    ((answer, _),) = asked(module, text, [""], bits)
    found = [(width, count) for line, width, count in answer["choices"] if line == place + 1]
    return max(found, key=lambda one: (one[0] * one[1], one[0]), default=(1, 1))


def _weighed(text: str, place: int, sample: object, count: float) -> str:
    """The text with weights at the loop's latches, and with the entry count that a profile has."""
    lines = text.split("\n")
    end = f"!llvm.loop !{loop_node(place)}"
    for number, line in enumerate(lines):
        if line.endswith(end) and (branch := _BRANCH.match(line)):
            again, out = max(round(1000 * (float(count) - 1)), 1), 1000
            first, second = (again, out) if branch[1] == sample.region.header else (out, again)
            lines[number] += f", !prof !{_NODE}"
            lines.append(f'!{_NODE} = !{{!"branch_weights", i32 {min(first, 2**31)}, i32 {min(second, 2**31)}}}')
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
