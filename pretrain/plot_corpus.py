"""What is in a corpus, as a picture, such as debian.svg.

    python pretrain/plot_corpus.py STATS pretrain/debian.svg

STATS is what ``mirenc corpus stats CORPUS --json`` prints.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure


def plot_stats(stats: dict[str, Any], path: Path) -> None:
    """Bars of programs by language, level and project, and the modules' sizes. ValueError: no picture's suffix."""
    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, 2, width_ratios=[1, 2])
    for axis, group, many in ((axes[0, 0], "language", 12), (axes[1, 0], "opt_level", 8), (axes[0, 1], "project", 60)):
        names = list(stats[group])[:many]
        axis.bar(range(len(names)), [stats[group][name]["programs"] for name in names], color="#4477aa")
        axis.set_xticks(range(len(names)), names, rotation=90 if many > 20 else 45, fontsize=6 if many > 20 else 8)
        axis.set_ylabel("programs")
        axis.set_title(f"{group} ({len(stats[group])})", fontsize=9)
    size = axes[1, 1]
    for name, colour in (("instructions", "#4477aa"), ("nodes", "#cc6677")):
        shares = [float(q) for q in stats["quantiles"][name]]
        size.plot(shares, list(stats["quantiles"][name].values()), marker="o", label=name, color=colour)
    size.set(yscale="log", xlabel="share of the modules that have at most")
    size.set_title("size of a module", fontsize=9)
    size.legend()
    counts = ("programs", "modules", "projects", "distinct_statements")
    figure.suptitle(", ".join(f"{stats['total'][name]:,} {name.replace('_', ' ')}" for name in counts), fontsize=10)
    figure.savefig(path)


if __name__ == "__main__":
    plot_stats(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
