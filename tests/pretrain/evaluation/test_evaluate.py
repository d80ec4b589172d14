"""All figures together: those that can be measured are numbers, the others say why they are not."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mirenc.model.config import ModelConfig
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.tokenizer import CLS, SEP, UNK
from mirenc.model.torch_runtime import TorchRuntime
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.evaluation import Baselines, evaluate_model, figure_rows
from mirenc.pretrain.evaluation.figures import finite


@pytest.fixture(scope="module")
def model(model_config: ModelConfig, model_weights: dict[str, np.ndarray]) -> MIREncoder:
    return TorchRuntime(model_config, model_weights).model


def measured(model: MIREncoder, corpus: Corpus) -> dict[str, Any]:
    train = np.array([module for module, name in enumerate(corpus.names) if name.startswith("clang-14")])
    held, known = np.setdiff1d(np.arange(len(corpus)), train), corpus.text_counts(train.tolist()) > 0
    return evaluate_model(model, corpus, held, baselines=Baselines.fit(corpus, train), known_texts=known)


@pytest.fixture(scope="module")
def figures(model: MIREncoder, levels_corpus: Corpus) -> dict[str, Any]:
    return measured(model, levels_corpus)


def test_every_figure_is_there(figures: dict[str, Any]) -> None:
    assert figures["data"]["projects"] == ["clang-19"]
    assert figures["data"]["modules"] == figures["data"]["graphs"] == 4
    assert figures["data"]["largest_graph"] > 10
    assert figures["baselines"] == "fitted on the training modules"
    for name in ("distinct", "occurring", "unseen"):
        assert figures["mlm"][name]["positions"] > 0
        assert figures["mlm"][name]["perplexity"] > 1
    assert figures["mlm"]["unseen"]["statements"] < figures["mlm"]["distinct"]["statements"]
    assert figures["mlm"]["distinct"]["statements"] == figures["data"]["distinct_statements"]
    assert figures["mlm"]["occurring"]["statements"] == figures["data"]["statements"]
    assert figures["gae"]["data"]["modules"] == 4
    assert figures["matching"]["modules"] == 4
    assert figures["missing"].keys() == {"retrieval"} | {
        f"gae.{flow}" for flow, flow_result in figures["gae"].items() if flow_result is None
    }


def test_figures_do_not_change(model: MIREncoder, levels_corpus: Corpus, figures: dict[str, Any]) -> None:
    assert measured(model, levels_corpus) == figures


def test_one_module_without_edges(model: MIREncoder, make_corpus: Callable[..., Corpus]) -> None:
    corpus = make_corpus([[CLS, SEP]], [("p/a.ll", {0: 1}, 0, [])], vocabulary=512)
    modules = np.array([0])
    figures = evaluate_model(model, corpus, modules, baselines=Baselines.fit(corpus, modules, source="this folder"))
    assert figures["mlm"] == {"distinct": None, "occurring": None, "unseen": None}
    assert figures["gae"] == {"control": None, "data": None, "call": None}
    assert figures["matching"] is figures["retrieval"] is None
    assert figures["baselines"] == "fitted on this folder"
    reasons = figures["missing"]
    assert reasons.keys() == {
        *("mlm.distinct", "mlm.occurring", "mlm.unseen"),
        *("gae.control", "gae.data", "gae.call"),
        *("matching", "retrieval"),
    }
    assert "not known" in reasons["mlm.unseen"]
    json.dumps(figures, allow_nan=False)
    # Each reason stands in the table.
    assert {row[2] for row in figure_rows(figures)} == set(reasons.values()) | {""}


def test_shares_of_unknown_tokens_and_long_statements(model: MIREncoder, make_corpus: Callable[..., Corpus]) -> None:
    long = [CLS, *[10] * 62, SEP]
    corpus = make_corpus([[CLS, UNK, 10, SEP], long, [CLS, 11, SEP]], [("p/a.ll", {0: 3, 1: 1}, 0, [])], 512)
    modules = np.array([0])
    data = evaluate_model(model, corpus, modules, baselines=Baselines.fit(corpus, modules))["data"]
    # Three [UNK] among 3 * 2 + 62 tokens; one of four statements fills all 64 places.
    assert data["unk_share"] == pytest.approx(3 / 68)
    assert data["truncated_share"] == 0.25
    assert (data["statements"], data["distinct_statements"]) == (4, 2)
    assert (data["graphs"], data["largest_graph"]) == (0, 0)


def test_numbers_that_are_not_finite_become_null() -> None:
    values = {"a": float("nan"), "b": [float("inf"), 1.5], "c": {"d": -float("inf"), "e": 2}}
    assert finite(values) == {"a": None, "b": [None, 1.5], "c": {"d": None, "e": 2}}


def test_rows_for_people(figures: dict[str, Any]) -> None:
    rows = figure_rows(figures)
    accuracy = figures["mlm"]["unseen"]["accuracy"]
    (shown,) = [row for row in rows if row[0].startswith("MLM accuracy, distinct statements not in training ")]
    assert shown[1] == f"{100 * accuracy:.1f} %"
    assert f"{100 * figures['mlm']['unseen']['accuracy_neighbours']:.1f} %" in shown[2]
    assert all(len(row) == 3 for row in rows)
