"""What was said is kept of tested samples alone, and read again."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.evaluation.jobs import pack_predictions, unpack_predictions

FOLD = np.array([0, -1, 1, 0])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (np.array([3, 9, 0, 1]), [3, 0, 1]),
        (np.array([0.1234567891, 9.0, -2.0, 1e-9]), [0.1234568, -2.0, 1e-9]),
    ],
    ids=["choices", "numbers"],
)
def test_only_tested_samples_are_packed(said: np.ndarray, kept: list[float]) -> None:
    found = pack_predictions(said, FOLD)
    assert found == kept
    assert unpack_predictions(json.loads(json.dumps(found)), FOLD).tolist() == [kept[0], 0, *kept[1:]]


def test_labels_keep_their_order_and_about_four_digits() -> None:
    said = np.random.default_rng(0).uniform(0, 1, size=(4, 30)) ** 8
    again = unpack_predictions(json.loads(json.dumps(pack_predictions(said, FOLD))), FOLD)
    assert again.shape == said.shape
    assert not again[1].any()
    np.testing.assert_allclose(again[[0, 2, 3]], said[[0, 2, 3]], rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("kept", [[1, 2], {"labels": 2, "float16": "no"}, {"labels": 2}, "text"])
def test_damaged_predictions_are_refused(kept: object) -> None:
    with pytest.raises(TaskError, match=r"its answers for 3 samples cannot be read.*Evaluate again"):
        unpack_predictions(kept, FOLD)
