"""Rules of measuring: what a table reports must not be luck, and of two outputs only rounding may differ."""

from __future__ import annotations

import numpy as np
import pytest

from mirenc.tools.measure.runners import Cell
from mirenc.tools.measure.sample_process import BATCH, calls_for, costs_of, first_of_code, same_outputs


def quiet(rounds: int = 12) -> np.ndarray:
    """Times of a default (1 s), its copy, and a variant that takes half."""
    return np.tile([1.0, 1.0, 0.5], (rounds, 1))


def test_costs_are_lower_quartiles_of_alternate_rounds() -> None:
    times = quiet(8)
    times[0::2, 2] = [4.0, 1.0, 2.0, 3.0]
    times[1::2, 2] = [40.0, 30.0, 10.0, 20.0]
    label, report, _ = costs_of(times, 0, 1)
    assert label.tolist() == [1.0, 1.0, 1.75]
    assert report.tolist() == [1.0, 1.0, 17.5]


@pytest.mark.parametrize("half", [0, 1])
def test_noise_is_the_gap_to_the_copy_in_the_worse_half(half: int) -> None:
    times = quiet()
    times[half::2, 1] = 0.8
    assert costs_of(times, 0, 1)[2] == pytest.approx(0.25)
    times[half::2, 1] = 1.1
    assert costs_of(times, 0, 1)[2] == pytest.approx(0.1)


def test_choosing_among_equal_settings_gains_nothing() -> None:
    """36 settings that are the same: the label's half promises a gain, the reported half has none."""
    generator = np.random.default_rng(0)
    promised, reported = [], []
    for _ in range(300):
        label, report, _ = costs_of(1.0 + 0.1 * generator.random((12, 38)), 0, 1)
        best = int(label.argmin())
        promised.append(label[0] / label[best])
        reported.append(report[0] / report[best])
    assert np.mean(promised) > 1.02
    assert np.mean(reported) == pytest.approx(1.0, abs=0.003)


def test_a_batch_has_calls_for_its_length() -> None:
    assert calls_for(BATCH / 1000) == 1000
    assert calls_for(BATCH / 1000, most=300) == 300
    assert calls_for(10 * BATCH) == 1
    assert calls_for(0.0) > 1000  # below the clock


def test_settings_of_one_code_and_one_launch_are_one_measurement() -> None:
    cells = [
        Cell((0,), (0,), "a"),
        Cell((1,), (1,), "b"),
        Cell((2,), (0,), "a"),
        Cell((3,), (3,), "a", before={"threads": 2}),
        Cell((4,), (4,), "a", before={"threads": 2}),
        Cell((5,), (5,), "b", problem="compile: over 1 s"),
        Cell((6,), (6,), ""),
        Cell((7,), (7,), ""),
        Cell((8,), (1,), "b"),
    ]
    assert first_of_code(cells) == [0, 1, 0, 3, 3, 5, 6, 7, 1]


def array(*values: float, kind: str = "f4") -> np.ndarray:
    return np.array(values, dtype=kind)


@pytest.mark.parametrize(
    ("kind", "near", "far"),
    [("f4", 100 * 0.9e-4, 100 * 1.1e-4), ("f8", 100 * 0.9e-9, 100 * 1.1e-9)],
)
def test_floats_agree_within_a_share_of_the_largest_value(kind: str, near: float, far: float) -> None:
    expected = array(100.0, 0.0, kind=kind)
    assert same_outputs([array(100.0, near, kind=kind)], [expected])
    assert not same_outputs([array(100.0, far, kind=kind)], [expected])


def test_integers_agree_in_full() -> None:
    expected = array(2**60, 1, kind="i8")
    assert same_outputs([expected.copy()], [expected])
    assert not same_outputs([expected + 1], [expected])


def test_nan_and_infinity_must_be_at_the_same_places() -> None:
    expected = array(np.nan, np.inf, -np.inf, 1.0)
    assert same_outputs([expected.copy()], [expected])
    for place, other in ((0, 1.0), (1, -np.inf), (2, np.nan), (3, np.nan)):
        changed = expected.copy()
        changed[place] = other
        assert not same_outputs([changed], [expected])


def test_all_zeros_are_only_zeros() -> None:
    assert same_outputs([array(0.0, -0.0)], [array(0.0, 0.0)])
    assert not same_outputs([array(0.0, 1e-30)], [array(0.0, 0.0)])


@pytest.mark.parametrize("other", [[], [array(1.0), array(2.0)], [array(1.0, 2.0)], [array(1.0, kind="f8")]])
def test_another_number_shape_or_type_of_outputs_differs(other: list[np.ndarray]) -> None:
    assert not same_outputs(other, [array(1.0)])
    assert same_outputs([], [])
