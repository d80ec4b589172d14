"""What knowing how often branches are taken can be worth at most: ``python worth.py`` writes ``branch_worth.json``.

Of each loop that was measured at all rates: the best setting for each rate, one for all rates, one for both kinds of
data at 50 %. Chosen by one half of the rounds, reported from the other.
"""

import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from mirenc.decide.metrics import geometric_mean, group_interval
from mirenc.decide.registry import get_task

HERE = Path(__file__).parent
RATES = ("0%", "1%", "10%", "50%", "50% in a run", "90%", "100%")


def main() -> None:
    """Compute and write."""
    data = get_task("vectorization").load(HERE)
    loops: dict[str, dict[str, int]] = defaultdict(dict)
    for row, sample in enumerate(data.samples):
        match = re.fullmatch(r"(.*-\d+) (\d+%(?: in a run)?) \w+", sample.name)
        assert match is not None
        loops[match[1]][match[2]] = row
    complete = {name: rows for name, rows in loops.items() if len(rows) == len(RATES)}
    label, paid = (
        np.log(table / base[:, None]) for table, base in ((data.known, data.baseline), (data.paid, data.paid_baseline))
    )
    label = np.where(np.isfinite(label), label, np.inf)
    gains: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    group = []
    for rows in complete.values():
        group += [data.group[next(iter(rows.values()))]]
        every = label[[*rows.values()]].mean(axis=0).argmin()
        half = label[[rows["50%"], rows["50% in a run"]]].mean(axis=0).argmin()
        for rate in RATES:
            row = rows[rate]
            choices = {"each rate": label[row].argmin(), "all rates": every, "both kinds": half}
            for rule, choice in choices.items():
                gains[rule][rate].append(-paid[row, choice])
    lines = []
    for rule, title in (
        ("each rate", "the best setting for each rate"),
        ("all rates", "one setting for all rates of a loop"),
        ("both kinds", "one for both kinds of data at 50 %"),
    ):
        rates = RATES if rule != "both kinds" else ("50%", "50% in a run")
        mean = np.mean([gains[rule][rate] for rate in rates], axis=0)
        low, high = group_interval(mean, np.array(group), statistic=np.exp)
        cells = [f"{geometric_mean(np.exp(gains[rule][rate])):.3f}" if rate in rates else "" for rate in RATES]
        lines.append([title, f"{np.exp(mean.mean()):.3f} [{low:.3f}, {high:.3f}]", *cells])
    header = ["over LLVM's choice", f"mean of {len(complete)} loops", *RATES]
    (HERE.parent / "branch_worth.json").write_text(
        f"{json.dumps({'lines': [header, *lines]}, indent=1)}\n", encoding="utf-8"
    )
    print(*lines, sep="\n")


if __name__ == "__main__":
    main()
