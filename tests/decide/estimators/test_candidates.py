"""The candidates of every row, when they are searched, and the inner folds that the search looks at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mirenc.decide import (
    BoostedRegressor,
    CautiousEnsembleHead,
    CostHead,
    EnsembleHead,
    LabelHead,
    LabelsEnsembleHead,
    LandmarkLabels,
    LandmarkRegressor,
    NumberEnsembleHead,
    PairHead,
    RatioTreesHead,
    RidgeHead,
    RidgeLabels,
    RidgeRegressor,
    Settings,
    TreesHead,
    TreesLabels,
)
from mirenc.decide.estimators.candidates import INNER_FOLDS, DataShape, candidate_search, candidates, inner_folds
from mirenc.decide.estimators.head_state import kind_of_head

FEW = DataShape(context=2, code=300, samples=669, groups=234, settings=2)
SHAPES = {
    "few": FEW,
    "many samples": replace(FEW, samples=20_000),
    "many settings": replace(FEW, settings=40),
    "more settings than kernels": replace(FEW, settings=768),
    "settings of their own": replace(FEW, settings=40, shared=False),
    "a few of their own": replace(FEW, shared=False),
    "numbers": replace(FEW, settings=0),
    "many numbers": replace(FEW, settings=0, samples=20_000),
    "labels": replace(FEW, settings=0, labels=40),
}


LARGE = replace(FEW, settings=36, samples=6000, default=3)


def test_many_settings_of_many_kernels_get_a_cautious_search() -> None:
    head = candidate_search(LARGE, 5, "speedup")
    assert type(head) is CautiousEnsembleHead
    assert head.default == 3
    members = dict(head.members)
    assert {type(member) for member in members.values()} == {RatioTreesHead, RidgeHead}
    trees = [member for member in members.values() if isinstance(member, RatioTreesHead)]
    assert [(one.default, one.random_state, one.use_code) for one in trees] == [(3, 5, True)] * 2 + [(3, 5, False)]
    assert all(kind_of_head(member) for member in members.values())
    # Without code the same candidates, less the one that looks at code; likewise without context features.
    assert set(members) - set(dict(candidates(replace(LARGE, code=0), 0, "speedup"))) == {
        "ratio trees 16",
        "ratio trees 48",
    }
    assert set(members) - set(dict(candidates(replace(LARGE, context=0), 0, "speedup"))) == {"ratio trees, context"}


def test_settings_of_their_own_with_one_default_get_a_cautious_search_over_pairs() -> None:
    head = candidate_search(replace(LARGE, shared=False), 0, "speedup")
    assert type(head) is CautiousEnsembleHead
    assert head.default == 3
    assert {type(member) for _, member in head.members} == {PairHead}


@pytest.mark.parametrize("change", [{"settings": 12}, {"groups": 49}, {"default": None}])
def test_only_many_settings_of_many_kernels_do(change: dict[str, int]) -> None:
    shape = replace(LARGE, **change)  # type: ignore[arg-type]
    assert type(candidate_search(shape, 0, "speedup")) is EnsembleHead
    assert type(candidate_search(LARGE, 0, "accuracy")) is EnsembleHead


def test_all_rows_choose_from_the_same_heads() -> None:
    with_code = dict(candidates(FEW, 0, "accuracy"))
    without = dict(candidates(replace(FEW, code=0), 0, "accuracy"))
    assert set(with_code) - set(without) == {"trees"}
    assert set(without) <= set(with_code)
    assert set(dict(candidates(replace(FEW, context=0), 0, "accuracy"))) == set(with_code) - {"trees, context"}
    assert {type(member) for member in with_code.values()} == {CostHead, TreesHead, LabelHead}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("many samples", {RidgeHead, PairHead}),
        ("many settings", {RidgeHead, PairHead}),
        ("more settings than kernels", {RidgeHead, PairHead}),
        ("settings of their own", {PairHead}),
        ("a few of their own", {PairHead}),
        ("numbers", {RidgeRegressor, BoostedRegressor}),
        ("many numbers", {RidgeRegressor, BoostedRegressor, LandmarkRegressor}),
        ("labels", {RidgeLabels, LandmarkLabels, TreesLabels}),
    ],
)
def test_heads_that_the_data_are_too_large_for_are_not_candidates(name: str, kinds: set[type]) -> None:
    assert {type(member) for _, member in candidates(SHAPES[name], 0, "accuracy")} == kinds


@pytest.mark.parametrize("name", SHAPES)
def test_candidates_have_names_of_their_own_and_can_be_saved(name: str) -> None:
    members = candidates(SHAPES[name], 0, "accuracy")
    assert len({one for one, _ in members}) == len(members)
    assert all(kind_of_head(member) for _, member in members)


@pytest.mark.parametrize("name", SHAPES)
def test_every_candidate_learns_a_little(name: str) -> None:
    shape = SHAPES[name]
    rng = np.random.default_rng(0)
    features = rng.normal(size=(24, shape.context + 6))
    count = shape.settings
    settings = Settings(np.arange(max(count, 1))[:, None] * 1.0, np.tile(np.arange(count), (24, 1)))
    target = np.exp(rng.normal(size=(24, count))) if count else rng.normal(size=(24, shape.labels or 1))
    target = target[:, 0] if not count and not shape.labels else target
    for one, member in candidates(shape, 0, "accuracy"):
        member.set_params(**{key: 2 for key in ("trees", "regressor__trees") if key in member.get_params()})
        settings_of_head = (settings,) if getattr(member, "takes_settings", False) else ()
        fitted = member.fit(features, target, *settings_of_head)
        answers = fitted.predict_proba(features, *settings_of_head) if count else fitted.predict(features)
        assert answers.shape == target.shape, one
        assert np.isfinite(answers).all(), one


def test_a_seed_starts_the_heads_that_take_one() -> None:
    seeds = [
        member.get_params().get("random_state", member.get_params().get("classifier__random_state"))
        for _, member in candidates(FEW, 11, "accuracy")
    ]
    assert set(seeds) == {None, 11}
    assert seeds.count(11) == 3


@pytest.mark.parametrize(("groups", "searched"), [(16, False), (49, False), (50, True), (247, True)])
def test_only_many_groups_are_searched(groups: int, searched: bool) -> None:
    head = candidate_search(replace(FEW, groups=groups), 0, "accuracy")
    assert (len(head.members) > 1) == searched
    assert isinstance(head.members[0][1], CostHead)
    assert head.select == "accuracy"


@pytest.mark.parametrize("groups", [16, 247])
def test_one_member_alone_can_be_asked_for(groups: int) -> None:
    head = candidate_search(replace(FEW, groups=groups), 0, "speedup", "mlp")
    assert [name for name, _ in head.members] == ["mlp"]


def test_numbers_are_searched_by_an_ensemble_of_numbers() -> None:
    assert isinstance(candidate_search(FEW, 0, "accuracy"), EnsembleHead)
    ensemble = candidate_search(SHAPES["numbers"], 0, "accuracy")
    assert isinstance(ensemble, NumberEnsembleHead)
    assert isinstance(candidate_search(SHAPES["labels"], 0, "accuracy"), LabelsEnsembleHead)
    assert [name for name, _ in ensemble.members] == [name for name, _ in candidates(SHAPES["numbers"], 0, "accuracy")]


@pytest.mark.parametrize("groups", [2, 5, 8, 9, 30])
def test_inner_folds_keep_groups_together(groups: int) -> None:
    group = np.array([f"g{number % groups}" for number in range(90)])
    part = inner_folds(group, np.arange(90) % 2, 0)
    assert all(len(np.unique(part[group == one])) == 1 for one in group)
    assert len(np.unique(part)) == (groups if groups <= 8 else INNER_FOLDS)


def test_inner_folds_of_single_rows_are_by_label() -> None:
    labels = np.array([0] * 40 + [1] * 20)
    part = inner_folds(np.arange(60), labels, 0)
    assert [np.bincount(labels[part == fold]).tolist() for fold in range(INNER_FOLDS)] == [[10, 5]] * INNER_FOLDS


def test_one_group_alone_is_cut_by_rows() -> None:
    assert inner_folds(np.array(["a"] * 6), np.zeros(6, dtype=np.int64), 0).tolist() == [0, 1, 2, 3, 0, 1]
