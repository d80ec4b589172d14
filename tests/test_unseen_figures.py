"""Figures on projects that no ancestor of the models saw: the documents show those of `pretrain/unseen.json`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mirenc.weights import find_model, load_files, read_provenance, seen_by

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("mirenc-fast", "mirenc-base")
Figures = dict[str, Any]


@pytest.fixture(scope="module")
def record() -> Figures:
    found: Figures = json.loads((ROOT / "pretrain/unseen.json").read_text(encoding="utf-8"))
    return found


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def flows(figures: Figures, key: str) -> str:
    return " / ".join(f"{figures['gae'][flow][key]:.3f}" for flow in ("control", "data", "call"))


def masked_row(title: str, each: list[Figures], key: str) -> str:
    cells = [f"{percent(one['mlm'][key]['accuracy'])} ({one['mlm'][key]['perplexity']:.1f})" for one in each]
    bigrams = " / ".join(percent(one["mlm"][key]["accuracy_neighbours"]) for one in each)
    return f"| {title} | {' | '.join(cells)} | bigram {bigrams} |"


def matching_row(title: str, each: list[Figures], key: str) -> str:
    cells = " | ".join(percent(one["matching"][f"accuracy_{key}"]) for one in each)
    sizes = " / ".join(percent(one["matching"][f"accuracy_{key}_size"]) for one in each)
    return f"| {title} | {cells} | size difference {sizes} |"


def rows(record: Figures) -> list[str]:
    """Lines of the table in pretrain/README.md."""
    each = [record["models"][name] for name in MODELS]
    # Modules, and so what needs no training, are the same for both models.
    degrees = flows(each[0], "auc_degree_product")
    assert degrees == flows(each[1], "auc_degree_product")
    retrieval = [one["retrieval"] for one in each]
    assert retrieval[0]["bag_of_statements"] == retrieval[1]["bag_of_statements"]
    found = " | ".join(percent(one["both"]["recall_at_1"]) for one in retrieval)
    baselines = [percent(retrieval[0][name]["recall_at_1"]) for name in ("opcode_histogram", "bag_of_statements")]
    return [
        masked_row(
            "Masked tokens of distinct statements that no training shard has, accuracy (perplexity)", each, "unseen"
        ),
        masked_row("Masked tokens of statements as they occur, accuracy (perplexity)", each, "occurring"),
        (
            f"| Hidden edges, ROC AUC, control / data / call | {flows(each[0], 'auc')} | {flows(each[1], 'auc')} "
            f"| degree product {degrees} |"
        ),
        matching_row("Text and graph of one IR?, accuracy, random negatives", each, "random"),
        matching_row("the same, negatives of nearest size", each, "near_size"),
        (
            f"| Function at -O0 to itself at -O2, {retrieval[0]['functions']:,} candidates, recall@1 | {found} "
            f"| opcode histogram {baselines[0]}; bag of statements {baselines[1]} |"
        ),
    ]


def test_the_table_is_the_records(record: Figures) -> None:
    text = (ROOT / "pretrain/README.md").read_text(encoding="utf-8")
    for row in rows(record):
        assert row in text
    projects = f"{len(record['versions'])} projects that no model before either saw, {record['modules']:,} modules"
    each = [record["models"][name]["retrieval"] for name in MODELS]
    alone = [
        f"{part} alone {percent(each[0][part]['recall_at_1'])[:-2]} against {percent(each[1][part]['recall_at_1'])}"
        for part in ("text", "graph")
    ]
    assert f"({', '.join(alone)})" in text
    assert f"| On {projects} | mirenc-fast | mirenc-base | Baselines |" in text


def test_the_card_is_the_records(record: Figures) -> None:
    pytest.importorskip("torch")
    from mirenc.pretraining.evaluation import figure_rows

    card = (find_model("mirenc-fast") / "MODEL_CARD.md").read_text(encoding="utf-8")
    for row in figure_rows(record["models"]["mirenc-fast"]):
        assert f"| {' | '.join(row)} |" in card
    base = record["models"]["mirenc-base"]
    auc = [f"({base['gae'][flow]['auc']:.3f})" for flow in ("control", "data", "call")]
    unseen, occurring = (percent(base["mlm"][key]["accuracy"]) for key in ("unseen", "occurring"))
    matching, found = base["matching"]["accuracy_random"], base["retrieval"]["both"]["recall_at_1"]
    assert (
        f"is ahead in masked tokens ({unseen} of statements not in training, {occurring} as they occur), control flow "
        f"{auc[0]} and matching ({percent(matching)}), level in data flow {auc[1]}, and behind in calls {auc[2]} and "
        f"in finding functions ({percent(found)})."
    ) in " ".join(card.split())
    assert f"that neither it nor an ancestor saw: {', '.join(record['versions'])}.\n" in card


def test_no_model_saw_a_project_of_the_record(record: Figures) -> None:
    projects = set(record["versions"])
    assert len(projects) >= 10
    for name in MODELS:
        sources = read_provenance(find_model(name))
        assert sources is not None
        assert not projects & seen_by(sources).keys()
        assert set(record["models"][name]["data"]["projects"]) == projects
        assert record["models"][name]["digest"] == load_files(name).digest


def test_no_model_saw_what_functions_and_pass_tables_are_judged_on() -> None:
    search = tomllib.loads((ROOT / "pretrain/debian-search.toml").read_text(encoding="utf-8"))["package"]
    table = json.loads((ROOT / "downstream/passes/table/machine.json").read_text(encoding="utf-8"))
    judged_on = {package["name"] for package in search} | set(table["held_out_projects"])
    assert len(judged_on) == 17
    for name in MODELS:
        sources = read_provenance(find_model(name))
        assert sources is not None
        assert not judged_on & seen_by(sources).keys()


def test_the_recipe_has_the_projects_of_the_record_and_no_other_recipe_has(record: Figures) -> None:
    def packages(path: Path) -> set[str]:
        return {table["name"] for table in tomllib.loads(path.read_text(encoding="utf-8")).get("package", [])}

    own = ROOT / "pretrain/debian-unseen.toml"
    assert packages(own) == set(record["versions"])
    for path in [*(ROOT / "pretrain").glob("*.toml"), ROOT / "downstream/passes/corpus.toml"]:
        if path != own:
            assert not packages(path) & packages(own), path.name
