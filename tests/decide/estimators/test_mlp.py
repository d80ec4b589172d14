"""`MLPHead`: scikit-learn's contract, its numbers against scikit-learn's own network, and a life without pickle."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mirenc.base.errors import HeadError
from mirenc.decide.estimators.mlp import LabelHead, MLPHead
from mirenc.decide.estimators.saved_heads import ARRAY_FILE, load_head, save_head

COLUMNS = 6


def table_of(classes: int = 2, rows: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(rows, 6) float64 features of very different scales, (rows,) labels that depend on them."""
    generator = np.random.default_rng(seed)
    plain = generator.normal(size=(rows, COLUMNS))
    names = np.array(["CPU", "GPU", "NPU", "FPGA"])[:classes]
    edges = np.quantile(plain[:, 0] + plain[:, 1], np.linspace(0, 1, classes + 1)[1:-1])
    labels = names[np.digitize(plain[:, 0] + plain[:, 1], edges)]
    return plain * 10.0 ** np.arange(-3, 3) + 5, labels


def head(**parameters: object) -> MLPHead:
    return MLPHead(**{"hidden": (12, 8), "epochs": 60, "random_state": 0} | parameters)


# -- scikit-learn's contract ---------------------------------------------------------------------------
@parametrize_with_checks([MLPHead(hidden=(32, 16), epochs=100)])
def test_check_estimator(estimator: MLPHead, check: object) -> None:
    check(estimator)


def test_the_default_is_three_layers() -> None:
    fitted = MLPHead(epochs=2, random_state=0).fit(*table_of(3))
    assert [weights.shape for weights in fitted.coefs_] == [(COLUMNS, 128), (128, 64), (64, 3)]
    assert [bias.shape for bias in fitted.intercepts_] == [(128,), (64,), (3,)]


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_numbers_are_those_of_scikit_learns_network(classes: int) -> None:
    """The same rows, seed and settings through MLPClassifier; one network is trained there and one here."""
    features, labels = table_of(classes)
    network = MLPClassifier((12, 8), alpha=0.01, learning_rate_init=0.003, batch_size=16, max_iter=20, random_state=3)
    network.set_params(n_iter_no_change=20)
    scaler = StandardScaler().fit(features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network.fit(scaler.transform(features), labels)
    ours = MLPHead((12, 8), alpha=0.01, learning_rate=0.003, batch_size=16, epochs=20, random_state=3)
    ours.fit(features, labels)
    fresh, _ = table_of(classes, seed=9)
    np.testing.assert_allclose(ours.predict_proba(fresh), network.predict_proba(scaler.transform(fresh)), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(fresh), network.predict(scaler.transform(fresh)))
    np.testing.assert_array_equal(ours.classes_, network.classes_)


@pytest.mark.parametrize("labels", [["b", "a"], [1, 0], [True, False], [8.0, 2.0]])
def test_labels_keep_their_type(labels: list[object]) -> None:
    labels_given = np.array(labels * 10)
    out = head(epochs=5).fit(np.arange(20.0)[:, None], labels_given).predict(np.zeros((3, 1)))
    assert out.dtype == labels_given.dtype
    assert set(out.tolist()) <= set(labels)


def test_one_label_is_always_the_answer() -> None:
    fitted = head().fit(np.zeros((4, 3)), ["CPU"] * 4)
    assert fitted.predict(np.ones((2, 3))).tolist() == ["CPU", "CPU"]
    np.testing.assert_array_equal(fitted.predict_proba(np.ones((2, 3))), [[1.0], [1.0]])


def test_all_epochs_are_taken_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert head(epochs=3, batch_size=1000).fit(*table_of()).n_iter_ == 3
        # A loss that no longer falls is no reason to stop, either.
        assert head(epochs=40, learning_rate=1e-12).fit(*table_of()).n_iter_ == 40


def test_ctrl_c_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(MLPClassifier, "_backprop", interrupt)
    with pytest.raises(KeyboardInterrupt):
        head().fit(*table_of())


def test_a_saved_head_knows_the_names_of_its_columns(tmp_path: Path) -> None:
    features, labels = table_of()
    fitted = head(epochs=1).fit(features, labels)
    fitted.feature_names_in_ = np.array(list("abcdef"), dtype=object)  # as fitting on a table leaves them
    back, _ = load_head(save_head(fitted, tmp_path))
    assert back.feature_names_in_.tolist() == list("abcdef")


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        save_head(head(), tmp_path)
    random = head(epochs=1, random_state=np.random.RandomState(0)).fit(*table_of())
    with pytest.raises(HeadError, match="a RandomState cannot be saved"):
        save_head(random, tmp_path)
    save_head(random.set_params(random_state=0), tmp_path)
    assert (tmp_path / ARRAY_FILE).is_file()


# -- LabelHead: a classifier of the setting that costs least ---------------------------------------------
def cost_table(choices: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40, 4))
    return features, np.exp(np.stack([features[:, 0], -features[:, 0], features[:, 1]], axis=1)[:, :choices])


def test_probabilities_are_the_classifiers_on_the_winners() -> None:
    features, costs = cost_table()
    head = LabelHead(LogisticRegression()).fit(features, costs)
    expected = LogisticRegression().fit(features, costs.argmin(axis=1)).predict_proba(features)
    np.testing.assert_array_equal(head.predict_proba(features), expected)


def test_by_how_much_a_choice_won_does_not_matter() -> None:
    features, costs = cost_table()
    chances = LabelHead(head(epochs=20)).fit(features, costs).predict_proba(features)
    np.testing.assert_array_equal(LabelHead(head(epochs=20)).fit(features, costs**3).predict_proba(features), chances)


def test_a_choice_that_never_won_keeps_its_column() -> None:
    features, costs = cost_table()
    costs[:, 1] = 1e3
    chances = LabelHead(head(epochs=20)).fit(features, costs).predict_proba(features)
    assert chances[:, 1].tolist() == [0.0] * 40
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert set(LabelHead(head(epochs=20)).fit(features, costs).predict(features)) <= {0, 2}


def test_an_unmeasured_choice_never_wins() -> None:
    features, costs = cost_table()
    costs[:, 1] = np.nan
    assert 1 not in LabelHead(head(epochs=20)).fit(features, costs).classifier_.classes_
