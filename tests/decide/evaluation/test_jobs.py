"""What was said is kept of tested samples alone, and read again."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.evaluation.jobs import pack_predictions, unpack_predictions

FOLD = np.array([0, -1, 1, 0])


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        (np.array([3, 9, 0, 1]), [3, 0, 1]),
        (np.array([0.1234567891, 9.0, -2.0, 1e-9]), [0.1234568, -2.0, 1e-9]),
    ],
    ids=["choices", "numbers"],
)
def test_only_tested_samples_are_packed(predictions: np.ndarray, expected: list[float]) -> None:
    packed = pack_predictions(predictions, FOLD)
    assert packed == expected
    assert unpack_predictions(json.loads(json.dumps(packed)), FOLD).tolist() == [expected[0], 0, *expected[1:]]


def test_labels_keep_their_order_and_about_four_digits() -> None:
    predictions = np.random.default_rng(0).uniform(0, 1, size=(4, 30)) ** 8
    again = unpack_predictions(json.loads(json.dumps(pack_predictions(predictions, FOLD))), FOLD)
    assert again.shape == predictions.shape
    assert not again[1].any()
    np.testing.assert_allclose(again[[0, 2, 3]], predictions[[0, 2, 3]], rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("packed", [[1, 2], {"labels": 2, "float16": "no"}, {"labels": 2}, "text"])
def test_damaged_predictions_are_refused(packed: object) -> None:
    with pytest.raises(TaskError, match=r"its answers for 3 samples cannot be read.*Evaluate again"):
        unpack_predictions(packed, FOLD)
