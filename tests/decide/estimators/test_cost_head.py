"""`CostHead`: its evidence and closed forms against slower ways to the same numbers, and what it learns from costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mirenc.decide import CostHead, LabelHead, MLPHead, TreesHead, load_head, save_head
from mirenc.decide.estimators.chooser import preferences, relative_log_costs
from mirenc.decide.estimators.cost_head import _JITTER, _PRIOR, _kernel, _negative_evidence

CONTEXT, CODE = 2, 3


def table(rows: int = 30, choices: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, 2 + 3), and costs (n, K) that hang on the first context feature and the first code feature."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, CONTEXT + CODE))
    effect = np.stack([features[:, 0], -features[:, 0], features[:, CONTEXT]], axis=1)[:, :choices]
    return features, np.exp(rng.normal(size=(rows, 1)) + 0.5 * effect)


# -- evidence ------------------------------------------------------------------------------------------
def evidence_problem() -> tuple[np.ndarray, tuple[object, ...]]:
    """A point away from the start, and the other arguments of `_negative_evidence`."""
    features, costs = table(20, 3)
    head = CostHead(CONTEXT).fit(features, costs)
    terms = head._terms()
    start = head._start(terms)
    residual = np.random.default_rng(1).normal(size=(20, 3))
    theta = start + np.random.default_rng(2).normal(scale=0.3, size=len(start))
    return theta, (terms, head._distances(head.support_, head.support_), residual, start)


def test_the_gradient_of_the_evidence_is_its_slope() -> None:
    theta, others = evidence_problem()
    assert len(theta) == 1 + CONTEXT + 1 + CONTEXT + 1 + 1 + 1 + CONTEXT + 1 + 1  # smooth, fine, code, joint, noise
    gradient = _negative_evidence(theta, *others)[1]
    slope = approx_fprime(theta, lambda point: _negative_evidence(point, *others)[0], 1e-6)
    np.testing.assert_allclose(gradient, slope, rtol=1e-3, atol=1e-3)


def test_the_evidence_is_the_density_of_the_costs_under_the_kernel() -> None:
    theta, others = evidence_problem()
    terms, distances, residual, start = others
    value = _negative_evidence(theta, *others)[0]
    cover = _kernel(theta, terms, distances) + (np.exp(theta[-1]) + _JITTER) * np.eye(20)
    density = multivariate_normal(np.zeros(20), cover).logpdf(residual.T).sum()
    prior = -0.5 * np.sum((theta - start) ** 2) / _PRIOR**2
    assert value == pytest.approx(-density - prior - 0.5 * residual.size * np.log(2 * np.pi))


def test_training_finds_better_scales_than_it_starts_with() -> None:
    features, costs = table()
    head = CostHead(CONTEXT).fit(features, costs)
    terms = head._terms()
    start = head._start(terms)
    targets = relative_log_costs(costs, head.clip) - head.mean_
    others = (terms, head._distances(head.support_, head.support_), targets / np.sqrt(np.mean(targets**2)), start)
    assert _negative_evidence(head.theta_, *others)[0] < _negative_evidence(start, *others)[0] - 1


# -- closed form ---------------------------------------------------------------------------------------
def test_with_a_length_scale_it_is_kernel_ridge_regression() -> None:
    features, costs = table()
    scale, noise = 1.3, 0.2
    head = CostHead(CONTEXT, length_scale=scale, noise=noise, clip=9.0).fit(features, costs)
    z = (features - features.mean(axis=0)) / features.std(axis=0)
    z[:, CONTEXT:] /= np.sqrt(CODE / 2)  # code features count as two context features, however many they are
    kernel = np.exp(-0.5 * ((z[:, None] - z[None]) ** 2).sum(axis=2) / scale**2)
    target = np.log(costs) - np.log(costs).mean(axis=1, keepdims=True)
    mean = target.mean(axis=0)
    expected = mean + kernel @ np.linalg.solve(kernel + (noise + _JITTER) * np.eye(30), target - mean)
    np.testing.assert_allclose(head.predict_log_costs(features), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(head.predict_proba(features), preferences(expected), rtol=1e-6)


# -- what it learns ------------------------------------------------------------------------------------


def test_it_learns_from_code_beside_a_context_feature() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 1 + 8))
    lean = np.sign(features[:, 1])  # one column of the code
    costs = np.exp(0.5 * np.stack([lean, -lean], axis=1))
    blind = CostHead(1).fit(features[:60, :1], costs[:60]).predict(features[60:, :1])
    seeing = CostHead(1).fit(features[:60], costs[:60]).predict(features[60:])
    truth = costs[60:].argmin(axis=1)
    assert np.mean(seeing == truth) >= 0.8 > 0.7 >= np.mean(blind == truth)


def test_a_rare_large_loss_outweighs_a_frequent_small_gain() -> None:
    # Everywhere three rows gain one per cent by choice 0, and two lose half of their speed by it.
    features = np.repeat(np.random.default_rng(0).normal(size=(6, 2)), 5, axis=0)
    costs = np.tile([[1.0, 1.01], [1.0, 1.01], [1.0, 1.01], [2.0, 1.0], [2.0, 1.0]], (6, 1))
    assert CostHead().fit(features, costs).predict(features).tolist() == [1] * 30
    assert CostHead(length_scale=1.0).fit(features, costs).predict(features).tolist() == [1] * 30
    assert TreesHead().fit(features, costs).predict(features).tolist() == [0] * 30
    mlp = LabelHead(MLPHead((4,), epochs=60, random_state=0))
    assert mlp.fit(features, costs).predict(features).tolist() == [0] * 30


def test_far_from_all_training_rows_it_says_the_mean() -> None:
    features, costs = table(30, 3)
    head = CostHead(CONTEXT).fit(features, costs)
    np.testing.assert_allclose(head.predict_log_costs(np.full((1, CONTEXT + CODE), 1e6)), head.mean_[None], atol=1e-12)


# -- invariants ----------------------------------------------------------------------------------------


def test_units_of_columns_and_rows_do_not_matter() -> None:
    features, costs = table()
    scale = np.array([1e3, 1e-3, 60.0, 7.0, 1e-6])
    unit = np.exp(np.random.default_rng(1).normal(size=(30, 1)))
    first = CostHead(CONTEXT, length_scale=1.0).fit(features, costs).predict_proba(features)
    other = (
        CostHead(CONTEXT, length_scale=1.0).fit(features * scale + 5, costs * unit).predict_proba(features * scale + 5)
    )
    np.testing.assert_allclose(other, first, rtol=1e-6)


def test_the_order_of_choices_only_orders_the_answer() -> None:
    features, costs = table(30, 3)
    order = [2, 0, 1]
    first = CostHead(CONTEXT, length_scale=1.0).fit(features, costs).predict_proba(features)
    other = CostHead(CONTEXT, length_scale=1.0).fit(features, costs[:, order]).predict_proba(features)
    np.testing.assert_allclose(other, first[:, order], rtol=1e-9)


def test_a_column_that_never_varied_has_no_say_later() -> None:
    features, costs = table()
    features[:, 1] = features[:, -1] = 4.0
    head = CostHead(CONTEXT).fit(features, costs)
    moved = features.copy()
    moved[:, [1, -1]] = [1e3, -1e3]
    np.testing.assert_array_equal(head.predict_proba(moved), head.predict_proba(features))


@pytest.mark.parametrize("columns", [CONTEXT, CONTEXT + CODE])
def test_all_columns_may_be_context_features_and_none(columns: int) -> None:
    features, costs = table()
    for context in (0, columns):
        head = CostHead(context).fit(features[:, :columns], costs)
        assert np.mean(head.predict(features[:, :columns]) == costs.argmin(axis=1)) > 0.8


# -- scikit-learn --------------------------------------------------------------------------------------
def test_it_is_searched_and_piped_like_any_estimator() -> None:
    features, costs = table(40)
    costs[3, 1] = np.nan
    pipe = make_pipeline(StandardScaler(), CostHead(CONTEXT, length_scale=1.0))
    search = GridSearchCV(pipe, {"costhead__length_scale": [1e-4, 1.0]}, cv=4).fit(features, costs)
    # The tiny scale remembers each row and knows nothing of the others.
    assert search.best_params_ == {"costhead__length_scale": 1.0}
    assert -0.2 < search.score(features, costs) <= 0


# -- saving --------------------------------------------------------------------------------------------
def test_code_that_was_measured_often_is_saved_once(tmp_path: Path) -> None:
    features, costs = table(40, 4)
    features[:, CONTEXT:] = np.repeat(features[:10, CONTEXT:], 4, axis=0)
    head = CostHead(CONTEXT, length_scale=1.0).fit(features, costs)
    assert head.code_.shape == (10, features.shape[1] - CONTEXT)
    again, _ = load_head(save_head(head, tmp_path))
    np.testing.assert_array_equal(again.support_, head.support_)
