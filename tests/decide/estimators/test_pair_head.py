"""`PairHead`: what one setting teaches about another, and settings that are sparse or differ from sample to sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from mirenc.base.errors import HeadError
from mirenc.decide import BoostedRegressor, PairHead, RidgeRegressor, Settings, load_head, save_head
from mirenc.decide.estimators.chooser import preferences

NUMBERS = np.arange(8.0)[:, None]  # eight settings in a row, as numbers
RIDGE = PairHead(RidgeRegressor(1e-3), 1, products=True)
BOOSTED = PairHead(BoostedRegressor(components=4096, trees=60), 1)
HEADS = pytest.mark.parametrize("head", [RIDGE, BOOSTED], ids=["ridge", "boosted"])


def valley(rows: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (n, 1 + 3), costs (n, 8), best setting (n,): log costs are a valley around what the code says."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 4))
    best = rng.integers(0, 8, rows)
    features[:, 1] = best  # a code column
    unit = rng.normal(size=(rows, 1))
    return features, np.exp(unit + 0.05 * (NUMBERS[:, 0] - best[:, None]) ** 2), best


def shared(rows: int) -> Settings:
    return Settings(NUMBERS, np.tile(np.arange(8), (rows, 1)))


def test_without_code_only_the_context_counts_and_it_is_saved_so(tmp_path: Path) -> None:
    features, costs, _ = valley()
    blind = PairHead(RidgeRegressor(1e-3), 1, use_code=False, products=True).fit(features, costs, shared(120))
    other = features.copy()
    other[:, 1:] = 7.0
    log_costs = blind.predict_log_costs(other, shared(120))
    np.testing.assert_array_equal(log_costs, blind.predict_log_costs(features, shared(120)))
    # The same as a head that was given no code.
    alone = PairHead(RidgeRegressor(1e-3), 1, products=True).fit(features[:, :1], costs, shared(120))
    np.testing.assert_allclose(log_costs, alone.predict_log_costs(features[:, :1], shared(120)))
    save_head(blind, tmp_path)
    np.testing.assert_array_equal(load_head(tmp_path)[0].predict_log_costs(features, shared(120)), log_costs)


@HEADS
def test_a_setting_that_was_never_measured_is_predicted_from_its_neighbours(head: PairHead) -> None:
    features, costs, best = valley()
    missing = costs[:90].copy()
    missing[:, 3] = np.nan
    fitted = clone(head).fit(features[:90], missing, shared(90))
    log_costs = fitted.predict_log_costs(features[90:], shared(30))
    truth = np.log(costs[90:])
    # Relative to the sample: nearer to the truth than saying that it is no different from the others.
    ours, theirs = (one - one.mean(axis=1, keepdims=True) for one in (log_costs, truth))
    assert np.abs(ours[:, 3] - theirs[:, 3]).mean() < 0.7 * np.abs(theirs[:, 3]).mean()
    # It is preferred where it is best, and not where it is worst.
    share = preferences(log_costs)[:, 3]
    assert share[np.abs(best[90:] - 3) <= 1].min() > share[best[90:] == 7].max()


@HEADS
def test_a_few_measurements_a_sample_teach_the_whole_space(head: PairHead) -> None:
    features, costs, best = valley(300)
    sparse = np.full_like(costs[:260], np.nan)
    drawn = np.random.default_rng(1).permuted(np.tile(np.arange(8), (260, 1)), axis=1)[:, :3]
    np.put_along_axis(sparse, drawn, np.take_along_axis(costs[:260], drawn, axis=1), axis=1)
    fitted = clone(head).fit(features[:260], sparse, shared(260))
    chosen = fitted.predict_proba(features[260:], shared(40)).argmax(axis=1)
    assert np.abs(chosen - best[260:]).mean() < 0.8 < 1.8 < np.abs(3 - best[260:]).mean()


@HEADS
def test_samples_may_have_settings_of_their_own(head: PairHead) -> None:
    features, costs, _ = valley(200)
    # Half of the samples have settings 0 to 4, the others 7 down to 3; the fifth column is another setting for each.
    row = np.where(np.arange(200)[:, None] % 2, np.arange(7, 2, -1), np.arange(5))
    measured = np.take_along_axis(costs, row, axis=1)
    settings = Settings(NUMBERS, row)
    fitted = clone(head).fit(features[:160], measured[:160], settings.take(np.arange(160)))
    unseen = settings.take(np.arange(160, 200))
    chosen = np.take_along_axis(row[160:], fitted.predict_proba(features[160:], unseen).argmax(axis=1)[:, None], axis=1)
    least = np.take_along_axis(row[160:], measured[160:].argmin(axis=1)[:, None], axis=1)
    assert np.abs(chosen - least).mean() < 1.0
    # The order of a sample's settings only orders the answer.
    turned = Settings(NUMBERS, unseen.row[:, ::-1])
    np.testing.assert_allclose(
        fitted.predict_log_costs(features[160:], turned)[:, ::-1], fitted.predict_log_costs(features[160:], unseen)
    )
    # And a space of another width may be asked about.
    assert fitted.predict_proba(features[160:], shared(40)).shape == (40, 8)


@HEADS
def test_what_may_not_be_asked_for_is_never_chosen(head: PairHead) -> None:
    features, costs, _ = valley()
    row = np.tile(np.arange(8), (120, 1))
    row[np.arange(120), costs.argmin(axis=1)] = -1  # the best of each
    settings = Settings(NUMBERS, row)
    fitted = clone(head).fit(features, costs, settings)
    chances = fitted.predict_proba(features, settings)
    assert (chances[row < 0] == 0).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (row[np.arange(120), chances.argmax(axis=1)] >= 0).all()
    assert np.isinf(fitted.predict_log_costs(features, settings)[row < 0]).all()


def test_a_cost_without_a_setting_teaches_nothing() -> None:
    features, costs, _ = valley()
    row = np.tile(np.arange(8), (120, 1))
    row[:, 2] = -1
    other = costs.copy()
    other[:, 2] = 1e6
    first, second = (clone(RIDGE).fit(features, y, Settings(NUMBERS, row)) for y in (costs, other))
    np.testing.assert_array_equal(
        first.predict_log_costs(features, shared(120)), second.predict_log_costs(features, shared(120))
    )


def test_the_unit_of_a_samples_costs_does_not_matter() -> None:
    features, costs, _ = valley()
    costs[::3, 5] = np.nan
    unit = np.exp(np.random.default_rng(5).normal(scale=9, size=(120, 1)))
    first, second = (clone(RIDGE).fit(features, y, shared(120)) for y in (costs, costs * unit))
    np.testing.assert_allclose(
        second.predict_proba(features, shared(120)), first.predict_proba(features, shared(120)), rtol=1e-6
    )


def test_without_products_a_linear_head_orders_all_samples_alike() -> None:
    features, costs, _ = valley()
    plain, crossed = (
        clone(head).fit(features, costs, shared(120)).predict_proba(features, shared(120)).argmax(axis=1)
        for head in (PairHead(RidgeRegressor(1e-3), 1), RIDGE)
    )
    assert len(set(plain.tolist())) == 1
    assert len(set(crossed.tolist())) > 2


def test_the_regressor_sees_columns_settings_and_products() -> None:
    """By hand: one context column, one setting column z; C + (z, z^2) + products of the two."""
    features, costs = np.array([[-1.0], [1.0], [-1.0], [1.0]]), np.exp([[0.0, 1.0], [1.0, 0.0]] * 2)
    settings = Settings(np.array([[2.0], [6.0]]), np.tile([0, 1], (4, 1)))
    head = PairHead(LinearRegression(), 1, products=True).fit(features, costs, settings)
    assert head.regressor_.n_features_in_ == 1 + 2 + 2
    columns = head._setting_columns(settings.features)
    rows = head._pairs(features, columns, np.array([0]), np.array([1]))
    assert rows.tolist() == [[-1.0, 1.0, 1.0, -1.0, -1.0]]
    np.testing.assert_allclose(head.predict_log_costs(features, settings), [[-0.5, 0.5], [0.5, -0.5]] * 2, atol=1e-9)


def test_settings_of_which_nothing_is_known_are_a_column_each() -> None:
    features, costs, _ = valley()
    one_each = Settings(np.eye(8), np.tile(np.arange(8), (120, 1)))
    first, second = clone(BOOSTED).fit(features, costs), clone(BOOSTED).fit(features, costs, one_each)
    np.testing.assert_array_equal(first.predict_proba(features), second.predict_proba(features, one_each))
    assert first.predict(features).shape == (120,)


def test_what_does_not_fit_is_refused() -> None:
    features, costs, _ = valley()
    with pytest.raises(HeadError, match=r"for each sample, a row of .* and a row of .* are needed"):
        clone(RIDGE).fit(features, costs[1:], shared(120))
    with pytest.raises(HeadError, match=r"for each sample, a row of .* and a row of .* are needed"):
        clone(RIDGE).fit(features, costs[:, 1:], shared(120))
    with pytest.raises(HeadError, match="no finite cost is of a setting"):
        clone(RIDGE).fit(features, costs, Settings(NUMBERS, np.full((120, 8), -1)))
    fitted = clone(RIDGE).fit(features, costs, shared(120))
    with pytest.raises(HeadError, match="with 8 columns; settings need one row for each sample, and 1 columns"):
        fitted.predict_proba(features, Settings(np.eye(8), shared(120).row))
    with pytest.raises(HeadError, match="one row for each sample"):
        fitted.predict_proba(features, shared(119))
    with pytest.raises(ValueError, match="3 features"):
        fitted.predict_proba(features[:, :3], shared(120))
    with pytest.raises(NotFittedError):
        clone(RIDGE).predict_proba(features, shared(120))


class Remembering(LinearRegression):
    """A regressor that keeps what it is to learn."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Remembering:
        self.learned_ = y
        return super().fit(X, y)


def test_gains_over_the_default_are_learned_where_these_are_what_columns_tell() -> None:
    """Of a sample without cheap settings, too: its mean says nothing about them. A loss is cut at log cost 0.5."""
    features, settings = np.zeros((2, 1)), Settings(np.arange(3.0)[:, None], np.array([[0, 1, 2], [0, 1, -1]]))
    costs = np.array([[2.0, 1.0, 4.0], [8.0, 8.8, np.nan]])
    head = PairHead(Remembering(), 1, default=0).fit(features, costs, settings)
    assert head.regressor_.learned_ == pytest.approx([0, np.log(0.5), 0.5, 0, np.log(1.1)])


def test_a_head_that_was_saved_before_a_parameter_came_is_read(tmp_path: Path) -> None:
    """The trees have the default of those that they lack, and what pairs no longer have is ignored."""
    features, costs, _ = valley()
    head = clone(BOOSTED).fit(features, costs, shared(120))
    path = save_head(head, tmp_path) / "head.json"
    text = path.read_text(encoding="utf-8")
    for new, old in (('"bags": 1,', ""), ('"share": 1.0,', ""), ('"default": null,', '"default": 0, "risk": 0.5,')):
        assert new in text
        text = text.replace(new, old)
    path.write_text(text, encoding="utf-8")
    again, _ = load_head(tmp_path)
    assert (again.regressor.bags, again.regressor.share, again.default) == (1, 1.0, 0)
    assert np.array_equal(again.predict(features, shared(120)), head.predict(features, shared(120)))
