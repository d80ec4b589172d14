"""Figures on projects that no ancestor of the models saw: the model card shows those of `pretrain/unseen.json`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mirenc.encoder.weights import find_model, load_files, read_provenance, seen_by

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("mirenc-fast", "mirenc-base")
UNSEEN = ("debian-unseen", "debian-unseen-more", "debian-unseen-languages")  # recipes
Figures = dict[str, Any]


@pytest.fixture(scope="module")
def record() -> Figures:
    figures: Figures = json.loads((ROOT / "pretrain/unseen.json").read_text(encoding="utf-8"))
    return figures


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def test_the_card_is_the_records(record: Figures) -> None:
    pytest.importorskip("torch")
    from mirenc.pretrain.evaluation import figure_rows

    card = (find_model("mirenc-fast") / "MODEL_CARD.md").read_text(encoding="utf-8")
    for row in figure_rows(record["models"]["mirenc-fast"]):
        assert f"| {' | '.join(row)} |" in card
    base = record["models"]["mirenc-base"]
    auc = [f"({base['gae'][flow]['auc']:.3f})" for flow in ("control", "data", "call")]
    unseen, occurring = (percent(base["mlm"][key]["accuracy"]) for key in ("unseen", "occurring"))
    matching, recall = base["matching"]["accuracy_random"], base["retrieval"]["both"]["recall_at_1"]
    assert (
        f"is ahead in masked tokens ({unseen} of statements not in training, {occurring} as they occur), control flow "
        f"{auc[0]} and matching ({percent(matching)}), level in data flow {auc[1]}, and behind in calls {auc[2]} and "
        f"in finding functions ({percent(recall)})."
    ) in " ".join(card.split())
    assert f"that neither it nor an ancestor saw: {', '.join(record['versions'])}.\n" in card


@pytest.mark.needs("mirenc-base")
def test_the_card_of_mirenc_base_is_its_record() -> None:
    pytest.importorskip("torch")
    from mirenc.pretrain.evaluation import figure_rows

    figures = json.loads((ROOT / "pretrain/mirenc-base.figures.json").read_text(encoding="utf-8"))
    card = (find_model("mirenc-base") / "MODEL_CARD.md").read_text(encoding="utf-8")
    for row in figure_rows(figures):
        assert f"| {' | '.join(row)} |" in card


@pytest.mark.needs("mirenc-base")
def test_no_model_saw_a_project_of_the_record(record: Figures) -> None:
    projects = set(record["versions"])
    assert len(projects) >= 10
    for name in MODELS:
        sources = read_provenance(find_model(name))
        assert sources is not None
        assert not projects & seen_by(sources).keys()
        assert set(record["models"][name]["data"]["projects"]) == projects
        assert record["models"][name]["digest"] == load_files(name).digest


@pytest.mark.needs("mirenc-base")
def test_no_model_saw_what_functions_and_pass_tables_are_judged_on() -> None:
    search = tomllib.loads((ROOT / "pretrain/debian-search.toml").read_text(encoding="utf-8"))["package"]
    table = json.loads((ROOT / "downstream/passes/table/machine.json").read_text(encoding="utf-8"))
    judged_on = {package["name"] for package in search} | set(table["held_out_projects"])
    assert len(judged_on) == 17
    for name in MODELS:
        sources = read_provenance(find_model(name))
        assert sources is not None
        assert not judged_on & seen_by(sources).keys()


def packages(path: Path) -> set[str]:
    return {table["name"] for table in tomllib.loads(path.read_text(encoding="utf-8")).get("package", [])}


def test_the_recipe_has_the_projects_of_the_record(record: Figures) -> None:
    assert packages(ROOT / "pretrain/debian-unseen.toml") == set(record["versions"])


def test_no_other_recipe_has_an_unseen_project() -> None:
    recipes = [*(ROOT / "pretrain").glob("*.toml"), ROOT / "downstream/passes/corpus.toml"]
    assert {"debian.toml", *(f"{name}.toml" for name in UNSEEN)} <= {path.name for path in recipes}
    for name in UNSEEN:
        own_recipe = ROOT / "pretrain" / f"{name}.toml"
        for path in recipes:
            if path != own_recipe:
                assert not packages(path) & packages(own_recipe), (name, path.name)


@pytest.mark.needs("mirenc-base")
@pytest.mark.parametrize("model", [*MODELS, "mirenc-search", "mirenc-tiny"])
def test_no_model_saw_an_unseen_project(model: str) -> None:
    sources = read_provenance(find_model(model))
    assert sources is not None
    for name in UNSEEN:
        assert not packages(ROOT / "pretrain" / f"{name}.toml") & seen_by(sources).keys()
