"""How likely a first answer is right: by hand, by language, and only where it was tested."""

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mirenc.search import Maker
from mirenc.search.confidence import _COEFFICIENTS, features_of, language_of, probability, rivals, shares_right


class Sized(SimpleNamespace):
    """Something with a length, for a table."""

    def __init__(self, size: int, **given: Any) -> None:
        super().__init__(size=size, **given)

    def __len__(self) -> int:
        return int(self.size)


RECORD = Path(__file__).parents[2] / "pretrain" / "calibration.json"


def test_features_and_probability_by_hand() -> None:
    features = features_of([[0.91, 0.611]], 100, [7])
    np.testing.assert_allclose(features, [[-math.log(0.1), math.log(0.301), math.log(100), math.log(7)]])
    weights = (1.0, 2.0, 0.5, -1.0, 0.25)
    score = features[0] @ weights[:4] + 0.25
    np.testing.assert_allclose(probability(features, weights), [1 / (1 + math.exp(-score))])


def test_a_nearer_answer_and_a_farther_second_are_surer() -> None:
    near = [[0.9, 0.5], [0.99, 0.5], [0.9, 0.8]]
    for weights in _COEFFICIENTS["mirenc-search"].values():
        first, nearer, contested = probability(features_of(near, 1000, [40] * 3), weights)
        assert first < nearer
        if weights[1] > 0:
            assert contested < first


def test_an_index_of_one_row_has_no_second() -> None:
    assert features_of([[0.5]], 1, [3]).shape == (1, 4)
    assert np.isfinite(features_of([[1.0, 1.0]], 2, [0])).all()


def test_a_copy_of_the_first_answer_is_no_rival() -> None:
    symbols = ["f", "f", "g", "f", "g", "h"]

    def second(rows: list[int], cosines: list[float], size: int = 6) -> float:
        table: Any = Sized(size, labels={"symbol": symbols})
        near = rivals(table, np.array([rows]), np.array([cosines], dtype=np.float32))
        assert near[0, 0] == np.float32(cosines[0])
        return round(float(near[0, 1]), 6)

    assert second([0, 1, 2, 5], [0.9, 0.9, 0.5, 0.4]) == 0.5
    assert second([0, 2, 1, 5], [0.9, 0.9, 0.9, 0.4]) == 0.9  # of another name
    assert second([0, 3, 2, 5], [0.9, 0.95, 0.5, 0.4]) == 0.95  # of another code, and put behind the first by its file
    assert second([0, 1, 3], [0.9, 0.9, 0.9]) == 0.9  # what comes after the copies is not known
    assert second([0, 1, 3], [0.9, 0.9, 0.9], 3) == second([0], [0.9], 1) == 0
    assert rivals(Sized(3, labels={"symbol": symbols}), np.zeros((0, 2), int), np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(
    ("symbol", "language"),
    [
        ("main", "C"),
        ("_Resize", "C"),
        ("?f@@YAHXZ", "MSVC"),
        ("_ZN3foo3barEv", "C++"),
        ("_ZN4core3fmt5write17h0123456789abcdefE", "Rust"),
        ("_RNvC5crate3foo", "Rust"),
        ("dgemm_", "Fortran"),
        ("_QMmoduleFsub", "Fortran"),
    ],
)
def test_language_of_a_symbol(symbol: str, language: str) -> None:
    assert language_of(symbol) == language


def test_shares_are_known_where_they_were_tested_alone() -> None:
    paired = SimpleNamespace(sure=lambda cosine: cosine)
    config = SimpleNamespace(paired=paired)
    encoder: Any = SimpleNamespace(name="mirenc-search", files=SimpleNamespace(config=config), whitening_map=None)
    symbols, near = ["main", "_Z1fv", "dgemm_"], [[0.9, 0.1]] * 3

    def shares(**changed: Any) -> list[float | None]:
        maker = Maker(**{"model": "m", "model_digest": "d", "level": "function", "form": "O2"} | changed)
        return shares_right(encoder, maker, near, 10, [9, 9, 9], symbols)

    c, cpp, fortran = shares()
    assert c is not None
    assert cpp is not None
    assert fortran is None
    assert shares(form="plain") == [0.9, 0.9, 0.9]  # by the cosine alone
    for other in ({"form": "Oz"}, {"level": "module"}, {"part": "text"}, {"whiten": False}, {"purpose": "features"}):
        assert shares(**other) == [None] * 3


def test_coefficients_are_those_of_the_record() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    assert {name: tuple(each) for name, each in record["coefficients"].items()} == _COEFFICIENTS["mirenc-search"]


def test_the_record_keeps_within_five_points_in_each_fifth_of_each_language() -> None:
    tested = json.loads(RECORD.read_text(encoding="utf-8"))["tested"]["fitted on the other half of the projects"]
    assert tested.keys() == {"C", "C++", "Rust"}
    assert all(abs(shown - right) < 0.05 for fifths in tested.values() for _, shown, right in fifths)
