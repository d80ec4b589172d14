"""Figures: plain dictionaries that go to JSON, what stands where one cannot be measured, and rows for people."""

import json
from collections.abc import Callable
from typing import Any

Figures = dict[str, Any]


class NoFigureError(Exception):
    """A figure cannot be measured on this data; the message is the reason the user is told."""


def finite(figures: Figures) -> Figures:
    """The figures with null for numbers that are not finite: JSON has no NaN."""
    return json.loads(json.dumps(figures), parse_constant=lambda name: None)


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
    """A row for each of `evaluate_model`'s figures: what was measured, the model's, the baselines', or why none is."""
    missing: dict[str, str] = figures["missing"]
    rows: list[Row] = []

    def add(name: str, title: str, figure: Any, make: Callable[..., list[Row]], *labels: str) -> None:
        rows.extend([(title, "-", missing.get(name, ""))] if figure is None else make(*labels, figure))

    for name, title in _STATEMENTS.items():
        add(f"mlm.{name}", f"MLM, {title}", figures["mlm"][name], _mlm_rows, title)
    for flow, figure in figures["gae"].items():
        add(f"gae.{flow}", f"GAE, {flow} flow", figure, _gae_rows, flow)
    add("matching", "Matching", figures["matching"], _matching_rows)
    add("retrieval", "Function retrieval O0 -> O2", figures["retrieval"], _retrieval_rows)
    unk_share, cut_share = (_percent(figures["data"][name], 2) for name in ("unk_share", "truncated_share"))
    rows.append(("Tokens that are [UNK]", unk_share, ""))
    rows.append(("Statements that fill the longest length (cut, or just fitting)", cut_share, ""))
    return rows


def _mlm_rows(title: str, figure: Any) -> list[Row]:
    rows = [_accuracy_row(title, figure, f"most frequent token {_percent(figure['accuracy_most_frequent'])}; ")]
    rows += [_accuracy_row(f"{title}: {_KINDS[kind]}", kind_figure) for kind, kind_figure in figure["kinds"].items()]
    return [*rows, (f"MLM perplexity, {title}", _number(figure["perplexity"], 2), "")]


def _accuracy_row(title: str, figure: Any, baseline: str = "") -> Row:
    removed = figure["errors_removed"]
    comparison = "" if removed is None else f" (the model removes {_percent(removed)} of its errors)"
    if removed is not None and removed < 0:
        comparison = f" (the model makes {_percent(-removed)} more errors)"
    name = f"MLM accuracy, {title} ({figure['positions']:,} tokens)"
    neighbours = f"most frequent between the true neighbours {_percent(figure['accuracy_neighbours'])}"
    return name, _percent(figure["accuracy"]), f"{baseline}{neighbours}{comparison}"


def _gae_rows(flow: str, figure: Any) -> list[Row]:
    rows = []
    for key, name in (("auc", "ROC AUC"), ("average_precision", "average precision")):
        common, degree = (_number(figure[f"{key}_{scorer}"]) for scorer in ("common_neighbours", "degree_product"))
        title = f"GAE {name}, {flow} flow ({figure['modules']:,} modules)"
        rows.append((title, _number(figure[key]), f"common neighbours {common}; degree product {degree}"))
    return rows


def _matching_rows(figure: Any) -> list[Row]:
    rows = []
    for name, title in (("random", "random negatives"), ("near_size", "negatives of nearest size")):
        share, size = _percent(figure[f"accuracy_{name}"]), _percent(figure[f"accuracy_{name}_size"])
        rows.append((f"Matching accuracy, {title} ({figure['modules']:,} modules)", share, f"size difference {size}"))
    return rows


def _retrieval_rows(figure: Any) -> list[Row]:
    def score_text(scores: Any) -> str:
        return f"{_percent(scores['recall_at_1'])}, {_percent(scores['recall_at_10'])}, {_number(scores['mrr'])}"

    names = {"opcode_histogram": "opcode histogram", "bag_of_statements": "bag of statements"}
    baselines = "; ".join(f"{name} {score_text(figure[key])}" for key, name in names.items())
    title = "Function retrieval O0 -> O2 by {}: recall at 1, at 10, MRR ({:,} functions)"
    return [
        (title.format(part, figure["functions"]), score_text(figure[part]), baselines if part == "text" else "")
        for part in ("text", "graph", "both")
    ]
