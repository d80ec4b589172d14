"""The figures that the documents show are those of the records: a record that changes takes its documents along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROWS = ("no_code", "histogram", "ir2vec", "both")


def load(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def device_line(variant: str, title: str) -> str:
    figures = load(f"downstream/device_mapping/{variant}.kernel.json")["figures"]["kernel"]
    cells = " | ".join(percent(figures[row]["accuracy"]) for row in ROWS)
    low, high = (100 * value for value in figures["both"]["accuracy_gain_interval"])
    gain = f"{100 * figures['both']['accuracy_gain']:+.1f} points [{low:+.1f}, {high:+.1f}]"
    return f"| Device mapping, {title}, accuracy | {cells} | {gain} |"


def speedup_line(record: str, title: str) -> str:
    """A record is ``task/protocol``."""
    figures = load(f"downstream/{record}.json")["figures"][record.rpartition("/")[2]]
    cells = " | ".join(f"{figures[row]['speedup_geometric']:.3f}" for row in ROWS)
    low, high = figures["both"]["speedup_gain_interval"]
    gain = f"x {figures['both']['speedup_gain']:.3f} [{low:.3f}, {high:.3f}]"
    return f"| {title} | {cells} | {gain} |"


@pytest.mark.parametrize("document", ["README.md", "docs/figures.md"])
def test_decisions(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for line in (device_line("nvidia", "NVIDIA"), device_line("amd", "AMD")):
        assert line in text
    for record, title in (
        ("thread_coarsening/kernel", "Thread coarsening, geometric mean speedup over never coarsening"),
        ("vectorization/structure", "Loop vectorization, measured, over LLVM's choice"),
        ("openmp/kernel", "OpenMP on two cores, measured, over all threads and static"),
    ):
        assert speedup_line(record, title) in text


def masked(figures: dict[str, Any]) -> tuple[str, str]:
    """Cells of the model and of its baselines."""
    bigram = (
        f"bigram {percent(figures['accuracy_neighbours'])}: {percent(figures['errors_removed'])} of its errors removed"
    )
    often = f"most frequent token {percent(figures['accuracy_most_frequent'])}"
    return f"{percent(figures['accuracy'])} ({figures['perplexity']:.1f})", f"{bigram}; {often}"


def three(figures: dict[str, Any], key: str) -> str:
    return " / ".join(f"{figures[flow][key]:.3f}" for flow in ("control", "data", "call"))


def found(figures: dict[str, Any]) -> str:
    return f"{percent(figures['recall_at_1'])} / {figures['mrr']:.3f}"


@pytest.mark.parametrize("document", ["docs/figures.md", "pretrain/README.md"])
def test_pre_training(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    figures = load("pretrain/mirenc-base.figures.json")
    mlm, gae, matching, retrieval = (figures[name] for name in ("mlm", "gae", "matching", "retrieval"))
    title = "Masked tokens of {}, accuracy (perplexity)"
    degrees, common = three(gae, "auc_degree_product"), three(gae, "auc_common_neighbours")
    histogram, bag = found(retrieval["opcode_histogram"]), found(retrieval["bag_of_statements"])
    rows = [
        (title.format("distinct statements that training never saw"), *masked(mlm["unseen"])),
        (title.format("distinct statements"), *masked(mlm["distinct"])),
        (title.format("statements as they occur"), *masked(mlm["occurring"])),
        (
            "Graph reconstruction, ROC AUC, control / data / call",
            three(gae, "auc"),
            f"degree product {degrees}, common neighbours {common}",
        ),
        (
            "Text and graph of one IR?, accuracy, random negatives",
            percent(matching["accuracy_random"]),
            f"size difference {percent(matching['accuracy_random_size'])}",
        ),
        (
            f"Function at -O0 to itself at -O2, {retrieval['functions']:,} candidates, recall@1 / MRR, both",
            found(retrieval["both"]),
            f"opcode histogram {histogram}; bag of statements (tf-idf) {bag}",
        ),
    ]
    for row in rows:
        assert f"| {' | '.join(row)} |" in text


def test_the_readmes_search_figures() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    models = ("mirenc-fast", "mirenc-base")
    figures = [load(f"pretrain/{model}.figures.json") for model in models]
    settings = load("pretrain/functions.json")["settings"]
    first = "clang-14 clang-16 written"
    count = f"{settings[first]['functions']:,}"
    titles = {
        first: f"Function at -O0 by clang-14 to itself at -O2 by clang-16, recall@1 of {count}",
        "clang-14 clang-19 written": "the same, clang-14 to clang-19",
        "clang-16 clang-19 written": "the same, clang-16 to clang-19",
        "clang-16 clang-19 hidden": "the same, all names hidden",
    }
    rows = []
    for key, title in titles.items():
        found = settings[key]["rows"]
        names = ("opcode histogram, log1p", "bag of statements (tf-idf)")
        histogram, bag, *both = (percent(found[name]["recall_at_1"]) for name in (*names, *models))
        rows.append((title, *both, f"opcode histogram {histogram}; bag of statements (tf-idf) {bag}"))
    unseen = [each["mlm"]["unseen"] for each in figures]
    masks = [f"{percent(each['accuracy'])} ({percent(each['accuracy_neighbours'])})" for each in unseen]
    rows.append(("Masked tokens of statements never seen, accuracy (bigram)", *masks, ""))
    edges = [three(each["gae"], "auc") for each in figures]
    degrees = three(figures[0]["gae"], "auc_degree_product")
    rows.append(("Hidden edges, ROC AUC, control / data / call", *edges, f"degree product {degrees}"))
    matched = [percent(each["matching"]["accuracy_random"]) for each in figures]
    size = percent(figures[0]["matching"]["accuracy_random_size"])
    rows.append(("Text and graph of one IR?, accuracy", *matched, f"size difference {size}"))
    for row in rows:
        assert f"| {' | '.join(row).strip()} |".replace("  ", " ") in text
