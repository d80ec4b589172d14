"""`Settings`: which settings samples have, what fits, and when all samples have the same."""

from __future__ import annotations

import numpy as np
import pytest

from mirenc.base.errors import HeadError
from mirenc.decide import Settings

FEATURES = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])


def test_rows_are_taken_in_order() -> None:
    settings = Settings(FEATURES, np.array([[0, 1], [1, -1], [2, 0]]))
    part = settings.take(np.array([2, 0]))
    assert part.row.tolist() == [[2, 0], [0, 1]]
    assert part.features is FEATURES  # the table is shared, and its rows mean what they meant
    assert (len(settings), len(part), len(settings.take(slice(0, 0)))) == (3, 2, 0)


@pytest.mark.parametrize(
    ("features", "row", "word"),
    [
        (FEATURES[0], [[0]], r"settings have features \(2,\)"),
        (FEATURES, [0, 1], r"rows \(2,\)"),
        (FEATURES * np.nan, [[0]], "allowed: finite"),
        (FEATURES + np.inf, [[0]], "allowed: finite"),
        (FEATURES, [[0, 3]], "settings name rows up to 3 of 3"),
        (FEATURES, [[0, -2]], "settings name rows up to 0 of 3"),
    ],
)
def test_settings_that_do_not_fit_are_refused(features: np.ndarray, row: list[int], word: str) -> None:
    with pytest.raises(HeadError, match=word):
        Settings(features, np.array(row))
