"""Whether two variants computed the same: rounding may differ, nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from mirenc.measure.timing import same_outputs


def array(*values: float, kind: str = "f4") -> np.ndarray:
    return np.array(values, dtype=kind)


@pytest.mark.parametrize(
    ("kind", "near", "far"),
    [("f4", 100 * 0.9e-4, 100 * 1.1e-4), ("f8", 100 * 0.9e-9, 100 * 1.1e-9)],
)
def test_floats_agree_within_a_share_of_the_largest_value(kind: str, near: float, far: float) -> None:
    wanted = array(100.0, 0.0, kind=kind)
    assert same_outputs([array(100.0, near, kind=kind)], [wanted])
    assert not same_outputs([array(100.0, far, kind=kind)], [wanted])


def test_integers_agree_in_full() -> None:
    wanted = array(2**60, 1, kind="i8")
    assert same_outputs([wanted.copy()], [wanted])
    assert not same_outputs([wanted + 1], [wanted])


def test_what_is_no_number_must_stand_where_it_stood() -> None:
    wanted = array(np.nan, np.inf, -np.inf, 1.0)
    assert same_outputs([wanted.copy()], [wanted])
    for place, other in ((0, 1.0), (1, -np.inf), (2, np.nan), (3, np.nan)):
        changed = wanted.copy()
        changed[place] = other
        assert not same_outputs([changed], [wanted])


def test_all_zeros_are_only_zeros() -> None:
    assert same_outputs([array(0.0, -0.0)], [array(0.0, 0.0)])
    assert not same_outputs([array(0.0, 1e-30)], [array(0.0, 0.0)])


@pytest.mark.parametrize("other", [[], [array(1.0), array(2.0)], [array(1.0, 2.0)], [array(1.0, kind="f8")]])
def test_another_number_shape_or_type_of_outputs_differs(other: list[np.ndarray]) -> None:
    assert not same_outputs(other, [array(1.0)])
    assert same_outputs([], [])
