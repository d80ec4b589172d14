"""What is in a corpus: programs, modules and statements by language, level, compiler and project.

    python pretrain/corpus_stats.py CORPUS                              # a table
    python pretrain/corpus_stats.py CORPUS --json stats.json
    python pretrain/corpus_stats.py CORPUS --plot pretrain/debian.svg

CORPUS is a folder that ``mirenc corpus build`` wrote.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich import print as show
from rich.table import Column, Table

from mirenc.pretrain.corpus import Corpus, ModuleInfo

_GROUPS = ("language", "opt_level", "compiler", "project")
_COUNTS = ("programs", "modules", "instructions")
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
_PROJECTS_SHOWN = 25


def corpus_stats(corpus: Corpus) -> dict[str, Any]:
    """``total``, ``quantiles`` of the modules' sizes, and what there is of each language, level, compiler, project."""
    infos = corpus.infos
    counts = corpus.text_counts(range(len(corpus)))
    used_texts = np.flatnonzero(counts)
    lengths = corpus.text_length[used_texts]
    is_full_length = lengths >= corpus.tokenizer.config.max_length
    total = _count(infos) | {
        "projects": len({info.project for info in infos}),
        "functions": sum(info.functions for info in infos),
        "statements": int(counts.sum()),
        "distinct_statements": len(used_texts),
        "nodes": sum(info.nodes for info in infos),
        "edges": sum(info.edges for info in infos),
        "tokens_per_distinct_statement": float(lengths.mean()),
        "share_of_statements_of_full_length": float(counts[used_texts][is_full_length].sum() / counts.sum()),
        "vocabulary": corpus.tokenizer.vocab_size,
    }
    stats: dict[str, Any] = {"total": total, "quantiles": {}}
    for name in ("instructions", "nodes"):
        values = np.quantile([getattr(info, name) for info in infos], _QUANTILES)
        stats["quantiles"][name] = {f"{q:g}": int(value) for q, value in zip(_QUANTILES, values, strict=True)}
    for group in _GROUPS:
        members: dict[str, list[ModuleInfo]] = defaultdict(list)
        for info in infos:
            members[getattr(info, group) or "unknown"].append(info)
        counts_by_member = {name: _count(group_members) for name, group_members in members.items()}
        stats[group] = dict(sorted(counts_by_member.items(), key=lambda item: -item[1]["programs"]))
    return stats


def _count(infos: list[ModuleInfo]) -> dict[str, Any]:
    return {
        "programs": len({(info.project, info.file) for info in infos}),
        "modules": len(infos),
        "instructions": sum(info.instructions for info in infos),
    }


def stats_table(stats: dict[str, Any]) -> Table:
    """The numbers for a terminal; projects beyond the largest 25 are summed up."""
    table = Table("", *(Column(name, justify="right") for name in _COUNTS), title="Corpus")
    total = stats["total"]
    table.add_row("all", *(f"{total[name]:,}" for name in _COUNTS), end_section=True)
    for group in _GROUPS:
        rows = list(stats[group].items())
        shown_rows = _PROJECTS_SHOWN if group == "project" else len(rows)
        for name, counts in rows[:shown_rows]:
            table.add_row(f"{group} {name}", *(f"{counts[key]:,}" for key in _COUNTS))
        if other_rows := rows[shown_rows:]:
            sums = (sum(counts[key] for _, counts in other_rows) for key in _COUNTS)
            table.add_row(f"{len(other_rows)} more projects", *(f"{value:,}" for value in sums))
        table.add_section()
    for name in ("projects", "functions", "statements", "distinct_statements", "nodes", "edges", "vocabulary"):
        table.add_row(name.replace("_", " "), f"{total[name]:,}")
    table.add_row("tokens a distinct statement", f"{total['tokens_per_distinct_statement']:.1f}")
    table.add_row("statements as long as the limit", f"{total['share_of_statements_of_full_length']:.2%}")
    return table


def plot_stats(stats: dict[str, Any], path: Path) -> None:
    """Bars of programs by language, level and project, and the modules' sizes. ValueError: no picture's suffix."""
    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, 2, width_ratios=[1, 2])
    for axis, group, limit in ((axes[0, 0], "language", 12), (axes[1, 0], "opt_level", 8), (axes[0, 1], "project", 60)):
        names = list(stats[group])[:limit]
        axis.bar(range(len(names)), [stats[group][name]["programs"] for name in names], color="#4477aa")
        axis.set_xticks(range(len(names)), names, rotation=90 if limit > 20 else 45, fontsize=6 if limit > 20 else 8)
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


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    stats = corpus_stats(Corpus.load(arguments.corpus))
    show(stats_table(stats))
    if arguments.json:
        arguments.json.write_text(json.dumps(stats, indent=1) + "\n", encoding="utf-8")
    if arguments.plot:
        plot_stats(stats, arguments.plot)


if __name__ == "__main__":
    main()
