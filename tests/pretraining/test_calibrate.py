"""The recipe `pretrain/calibrate.py`: a probability by hand, fifths by hand, a fit that finds what it was made of."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def calibrate(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "pretrain")
    return importlib.import_module("calibrate")


def test_a_probability_by_hand(calibrate: ModuleType) -> None:
    facts = np.array([[0.51, 0.998, 100, 20, 1, 0, 0]])
    coefficients = np.array([1, 2, 3, 4, 5, 6, 7.0])
    # -log(1.01 - 0.51), log(0.002 + 0.998) = 0, log 100, log 20, and C++.
    score = -12 + math.log(2) + 3 * math.log(100) + 4 * math.log(20) + 5
    found = calibrate.probability(facts, coefficients, -12.0)
    np.testing.assert_allclose(found, [1 / (1 + math.exp(-score))])
    np.testing.assert_allclose(calibrate.probability(facts, np.zeros(7), 0.0), [0.5])
    # Two that are equal, and two that differ by rounding.
    equal = np.array([[1.0000001, 0.0, 2, 10, 0, 0, 0], [1.0, -1e-7, 2, 10, 0, 0, 0]])
    np.testing.assert_allclose(*calibrate.transformed(equal))


def test_fifths_by_hand(calibrate: ModuleType) -> None:
    shown = np.array([0.9, 0.1, 0.5, 0.7, 0.3])
    right = np.array([True, False, True, False, True])
    assert calibrate.fifths(shown, right) == [[1, 0.1, 0], [1, 0.3, 1], [1, 0.5, 1], [1, 0.7, 0], [1, 0.9, 1]]


def test_a_fit_shows_what_is_right(calibrate: ModuleType) -> None:
    generator = np.random.default_rng(3)
    count = 20_000
    facts = np.column_stack(
        [generator.uniform(0.2, 1, count), generator.uniform(0, 0.5, count), generator.integers(2, 900, count)]
        + [generator.integers(10, 500, count), *generator.integers(0, 2, (3, count))]
    ).astype(float)
    true = calibrate.probability(facts, np.array([1, 0.5, -0.3, 0.2, -1, 0.5, -0.5]), 1.0)
    answers = {
        "facts": facts,
        "right": generator.random(count) < true,
        "project": np.full(count, "p"),
        "language": np.where(facts[:, 4] == 1, "C++", "C"),
    }
    every = np.ones(count, dtype=bool)
    shown = calibrate.probability(facts, *calibrate.fitted(answers, every))
    for rows in calibrate.tested(shown, answers, every).values():
        assert all(abs(seen - told) < 0.03 for _, told, seen in rows)
