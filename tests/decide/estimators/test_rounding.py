"""`rounded`: what is large is coarser, what is small is not, and answers hardly move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mirenc.decide import BoostedRegressor, CostHead, EnsembleHead, RatioTreesHead, RidgeHead, load_head, save_head
from mirenc.decide.estimators.saved_heads import in_half, rounded


def table(rows: int = 300, columns: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, columns))
    lean = np.tanh(features @ rng.normal(size=(columns, 4)) / 4)
    return features, np.exp(lean + 0.05 * rng.normal(size=(rows, 4)))


@pytest.fixture(scope="module")
def fitted() -> EnsembleHead:
    members = [
        ("cost", CostHead(2, length_scale=1.0)),
        ("trees", RatioTreesHead(2, components=64, trees=60)),
        ("ridge", RidgeHead(0.1)),
    ]
    features, costs = table()
    head = EnsembleHead(members, picks=1).fit(features, costs)
    head.members_ = {name: member.fit(features, costs) for name, member in members}
    head.weights_ = dict.fromkeys(head.members_, 1 / 3)
    return head


def test_answers_hardly_move_and_files_shrink(fitted: EnsembleHead, tmp_path: Path) -> None:
    small = rounded(fitted)
    features, _ = table()
    before, after = fitted.predict_proba(-features), small.predict_proba(-features)
    assert 0 < np.abs(after - before).max() < 1e-3
    sizes = [
        (save_head(head, tmp_path / name) / "head.safetensors").stat().st_size
        for name, head in (("whole", fitted), ("small", small))
    ]
    assert sizes[1] < 0.6 * sizes[0]


def test_a_rounded_head_is_saved_without_loss(fitted: EnsembleHead, tmp_path: Path) -> None:
    small = rounded(fitted)
    read, _ = load_head(save_head(small, tmp_path))
    features, _ = table()
    np.testing.assert_array_equal(read.predict_proba(features), small.predict_proba(features))
    # Nor does rounding it again change anything.
    again = rounded(read).predict_proba(features)
    np.testing.assert_allclose(again, small.predict_proba(features), rtol=1e-12)


def test_what_is_small_is_left_as_it_is(fitted: EnsembleHead) -> None:
    small = rounded(fitted)
    np.testing.assert_array_equal(small.members_["ridge"].weights_, fitted.members_["ridge"].weights_)
    np.testing.assert_array_equal(small.members_["cost"].dual_, fitted.members_["cost"].dual_)
    assert not np.array_equal(small.members_["cost"].support_, fitted.members_["cost"].support_)
    leaves = [head.members_["trees"].forest_.value for head in (fitted, small)]
    assert max(len(np.unique(column)) for column in leaves[1].T) <= 256
    step = (leaves[0].max(axis=0) - leaves[0].min(axis=0)) / 255
    assert (np.abs(leaves[1] - leaves[0]) <= 0.5001 * step).all()


def test_leaves_that_are_added_up_are_in_half_precision() -> None:
    features, costs = table(1200, 6)
    head = BoostedRegressor(trees=300, leaves=31).fit(features, np.log(costs[:, 0]))
    assert head.forest_.value.size > 8192
    small = rounded(head)
    np.testing.assert_array_equal(small.forest_.value, head.forest_.value.astype(np.float16))
    np.testing.assert_allclose(small.predict(features), head.predict(features), rtol=0, atol=1e-3)


def test_numbers_beyond_half_precision_stay() -> None:
    matrix = np.array([[1e5, 0.1]])
    np.testing.assert_array_equal(in_half(matrix), matrix)
    assert in_half(np.array([[0.1]])).item() == float(np.float16(0.1))
