"""`LogisticHead` is scikit-learn's logistic regression on scaled columns, and survives the disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mirenc.base.errors import ConfigError
from mirenc.decide.estimators.logistic import LogisticHead
from mirenc.decide.estimators.saved_heads import load_head, save_head


@pytest.mark.parametrize("names", [["no", "yes"], ["add", "mul", "xor"]])
def test_probabilities_are_scikit_learns(names: list[str], tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    features = np.concatenate([draw.normal(size=(60, 5)), np.ones((60, 1))], axis=1)  # a column that never varies
    labels = np.array(names)[np.digitize(features[:, 0] + 0.3 * draw.normal(size=60), [0, 0.7][: len(names) - 1])]
    head = LogisticHead(C=0.1).fit(features, labels)
    expected = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=5000)).fit(features, labels)
    np.testing.assert_allclose(head.predict_proba(features), expected.predict_proba(features), atol=1e-9)
    np.testing.assert_array_equal(head.predict(features), expected.predict(features))
    again, _ = load_head(save_head(head, tmp_path))
    np.testing.assert_array_equal(again.predict_proba(features), head.predict_proba(features))
    assert again.classes_.tolist() == names


def test_a_penalty_below_zero_is_refused() -> None:
    with pytest.raises(ConfigError, match="C is -1; allowed: a number above 0"):
        LogisticHead(C=-1).fit([[0.0], [1.0]], ["a", "b"])
