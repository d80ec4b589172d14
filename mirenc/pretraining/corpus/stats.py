"""What is in a corpus: counts by language, level, compiler and project, as numbers and a table."""

from collections import defaultdict
from typing import Any

import numpy as np
from rich.table import Column, Table

from mirenc.pretraining.corpus.store import Corpus, ModuleInfo

_GROUPS = ("language", "opt_level", "compiler", "project")
_COUNTS = ("programs", "modules", "instructions")
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
_PROJECTS_SHOWN = 25


def corpus_stats(corpus: Corpus) -> dict[str, Any]:
    """``total``, ``quantiles`` of the modules' sizes, and what there is of each language, level, compiler, project."""
    infos = corpus.infos
    counts = corpus.text_counts(range(len(corpus)))
    spoken = np.flatnonzero(counts)
    lengths = corpus.text_length[spoken]
    full = lengths >= corpus.tokenizer.config.max_length
    total = _count(infos) | {
        "projects": len({info.project for info in infos}),
        "functions": sum(info.functions for info in infos),
        "statements": int(counts.sum()),
        "distinct_statements": len(spoken),
        "nodes": sum(info.nodes for info in infos),
        "edges": sum(info.edges for info in infos),
        "tokens_per_distinct_statement": float(lengths.mean()),
        "share_of_statements_of_full_length": float(counts[spoken][full].sum() / counts.sum()),
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
        counted = {name: _count(own) for name, own in members.items()}
        stats[group] = dict(sorted(counted.items(), key=lambda item: -item[1]["programs"]))
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
        most = _PROJECTS_SHOWN if group == "project" else len(rows)
        for name, counts in rows[:most]:
            table.add_row(f"{group} {name}", *(f"{counts[key]:,}" for key in _COUNTS))
        if rest := rows[most:]:
            sums = (sum(counts[key] for _, counts in rest) for key in _COUNTS)
            table.add_row(f"{len(rest)} more projects", *(f"{value:,}" for value in sums))
        table.add_section()
    for name in ("projects", "functions", "statements", "distinct_statements", "nodes", "edges", "vocabulary"):
        table.add_row(name.replace("_", " "), f"{total[name]:,}")
    table.add_row("tokens a distinct statement", f"{total['tokens_per_distinct_statement']:.1f}")
    table.add_row("statements as long as the limit", f"{total['share_of_statements_of_full_length']:.2%}")
    return table
