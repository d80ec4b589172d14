"""Figures as rows for people: the model card's and the command line's table."""

from __future__ import annotations

from typing import Any

import numpy as np

from mirenc.pretraining.evaluation.figures import Figures

__all__ = ["figure_rows"]

_STATEMENTS = {
    "distinct": "distinct statements",
    "occurring": "statements as they occur",
    "unseen": "distinct statements not in training",
}
_KINDS = {"grammar": "grammar", "name": "names and strings", "number": "numbers"}
Row = tuple[str, str, str]


def _percent(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{100 * value:.{digits}f} %"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def figure_rows(figures: Figures) -> list[Row]:
    """What was measured, the model's figure, the baselines' figures; a missing figure gives its reason.

    Parameters
    ----------
    figures : dict
        As `evaluate_model` returns.
    """
    missing: dict[str, str] = figures["missing"]
    rows: list[Row] = []
    for name, title in _STATEMENTS.items():
        rows += _mlm_rows(title, figures["mlm"][name], missing.get(f"mlm.{name}", ""))
    for flow, found in figures["gae"].items():
        rows += _gae_rows(flow, found, missing.get(f"gae.{flow}", ""))
    rows += _matching_rows(figures["matching"], missing.get("matching", ""))
    rows += _retrieval_rows(figures["retrieval"], missing.get("retrieval", ""))
    rows += _answers_rows(figures.get("answers"))
    data = figures["data"]
    rows.append(("Tokens that are [UNK]", _percent(data["unk_share"], 2), ""))
    rows.append(
        ("Statements that fill the longest length (cut, or just fitting)", _percent(data["truncated_share"], 2), "")
    )
    return rows


def _mlm_rows(title: str, found: Any, reason: str) -> list[Row]:
    if found is None:
        return [(f"MLM, {title}", "-", reason)]
    frequent = f"most frequent token {_percent(found['accuracy_most_frequent'])}; "
    rows = [_accuracy_row(title, found, frequent)]
    rows += [_accuracy_row(f"{title}: {_KINDS[kind]}", one) for kind, one in found["kinds"].items()]
    return [*rows, (f"MLM perplexity, {title}", _number(found["perplexity"], 2), "")]


def _accuracy_row(title: str, found: Any, baseline: str = "") -> Row:
    removed = found["errors_removed"]
    told = "" if removed is None else f" (the model removes {_percent(removed)} of its errors)"
    if removed is not None and removed < 0:
        told = f" (the model makes {_percent(-removed)} more errors)"
    return (
        f"MLM accuracy, {title} ({found['positions']:,} tokens)",
        _percent(found["accuracy"]),
        f"{baseline}most frequent between the true neighbours {_percent(found['accuracy_neighbours'])}{told}",
    )


def _gae_rows(flow: str, found: Any, reason: str) -> list[Row]:
    if found is None:
        return [(f"GAE, {flow} flow", "-", reason)]
    rows = []
    for key, name in (("auc", "ROC AUC"), ("average_precision", "average precision")):
        common, degree = (_number(found[f"{key}_{scorer}"]) for scorer in ("common_neighbours", "degree_product"))
        title = f"GAE {name}, {flow} flow ({found['modules']:,} modules)"
        rows.append((title, _number(found[key]), f"common neighbours {common}; degree product {degree}"))
    return rows


def _matching_rows(found: Any, reason: str) -> list[Row]:
    if found is None:
        return [("Matching", "-", reason)]
    return [
        (
            f"Matching accuracy, {title} ({found['modules']:,} modules)",
            _percent(found[f"accuracy_{name}"]),
            f"size difference {_percent(found[f'accuracy_{name}_size'])}",
        )
        for name, title in (("random", "random negatives"), ("near_size", "negatives of nearest size"))
    ]


def _answers_rows(found: Any) -> list[Row]:
    """Of a model that learned a compiler's answers."""
    rows = []
    parts = {"held_out": "held out", "choosing": "of training projects that were kept out"}
    for key, title in parts.items() if found else ():
        part = found[key]
        if part is None:
            continue
        model, counts = part["model"], part["counts"]
        pieces = f"{part['pieces']:,} pieces {title}"
        if "sizes" in model:
            one, other = (
                _number(np.mean([r2 for r2 in each["sizes"].values() if r2 is not None])) for each in (model, counts)
            )
            rows.append(
                (f"Compiler's sizes, mean R2 of {len(model['sizes'])} ({pieces})", one, f"counts alone {other}")
            )
        for kind, name in (
            ("fires", "Passes that change the code, mean ROC AUC"),
            ("lists", "Sizes under pass lists, R2"),
        ):
            if kind in model:
                rows.append((f"{name} ({pieces})", _number(model[kind]), f"counts alone {_number(counts[kind])}"))
    return rows


def _retrieval_rows(found: Any, reason: str) -> list[Row]:
    if found is None:
        return [("Function retrieval O0 -> O2", "-", reason)]

    def shown(one: Any) -> str:
        return f"{_percent(one['recall_at_1'])}, {_percent(one['recall_at_10'])}, {_number(one['mrr'])}"

    names = {"opcode_histogram": "opcode histogram", "bag_of_statements": "bag of statements"}
    baselines = "; ".join(f"{name} {shown(found[key])}" for key, name in names.items())
    return [
        (
            f"Function retrieval O0 -> O2 by {part}: recall at 1, at 10, MRR ({found['functions']:,} functions)",
            shown(found[part]),
            baselines if part == "text" else "",
        )
        for part in ("text", "graph", "both")
    ]
