"""Functions paired without names: worked by hand, and the same whatever the order of the files."""

import numpy as np
import pytest

from mirenc.search.pairs import Side, _memberships, _relations, centred, cosines, paired

E = np.eye(6, dtype=np.float32)


def side(vectors: list[np.ndarray], files: list[int], *calls: tuple[int, int]) -> Side:
    return Side(np.stack(vectors), np.array(files), np.array(calls, dtype=np.int64).reshape(-1, 2))


def partners(old: Side, new: Side, *known: int) -> list[int]:
    first = np.full(len(old.file), -1)
    first[: len(known)] = known
    return paired(old, new, first).tolist()


def test_what_is_alike_is_paired_and_what_is_not_stays_alone() -> None:
    old = side([E[0], E[1], E[2]], [0, 1, 2])
    new = side([E[3], E[1], 0.9 * E[0] + 0.1 * E[4]], [0, 1, 2])
    assert partners(old, new) == [2, 1, -1]
    assert partners(old, side([-E[0]], [0])) == [-1] * 3


def test_a_pair_that_costs_another_more_than_it_gains_is_not_made() -> None:
    # The first is nearest to the second one's only partner.
    old = side([E[0] + 0.1 * E[1], E[0]], [0, 1])
    new = side([E[0] + 0.2 * E[1], E[0] + 1.5 * E[1]], [0, 1])
    assert cosines(old, new, np.array([0, 0]), np.array([0, 1])) == pytest.approx([0.995, 0.635], abs=0.001)
    assert partners(old, new) == [1, 0]


def test_calls_tell_twins_apart() -> None:
    # As far from the place that it had, and with other neighbours.
    for caller, callee in ((0, 1), (1, 0)):
        old = side([E[0], E[2], E[1]], [0, 0, 0], (caller, callee))
        for twin in (0, 3):
            call = (1, twin) if caller == 0 else (twin, 1)
            assert partners(old, side([E[2], E[0], E[1], E[2]], [0] * 4, call)) == [1, twin, 2]


def test_files_and_places_in_them_tell_twins_apart() -> None:
    old = side([E[0], E[2], E[1], E[2]], [0, 0, 1, 1])
    assert partners(old, side([E[1], E[2], E[0], E[2]], [0, 0, 1, 1])) == [2, 3, 0, 1]
    old = side([E[2], E[0], E[2]], [0, 0, 0])
    assert partners(old, old) == [0, 1, 2]
    assert partners(old, side([E[5], E[2], E[4], E[0], E[2]], [0] * 5)) == [1, 3, 4]


def test_known_pairs_stay_and_are_evidence() -> None:
    old = side([E[0], E[2], E[1]], [0, 0, 0], (0, 1))
    for twin in (0, 3):
        assert partners(old, side([E[2], E[5], E[1], E[2]], [0] * 4, (1, twin)), 1) == [1, twin, 2]
    assert partners(side([E[0]], [0]), side([E[0]], [0]), 0) == [0]


def test_the_order_of_files_does_not_matter() -> None:
    random = np.random.default_rng(0)
    vectors = random.normal(size=(60, 6)).astype(np.float32)
    old = side(list(vectors), [row // 3 for row in range(60)])
    noisy = vectors + random.normal(scale=0.3, size=vectors.shape).astype(np.float32)
    partner = np.array(partners(old, side(list(noisy), [row // 3 for row in range(60)])))
    order = np.concatenate([np.arange(3) + 3 * file for file in random.permutation(20)])
    moved = np.array(partners(old, side(list(noisy[order]), [row // 3 for row in range(60)])))
    np.testing.assert_array_equal(np.where(moved < 0, -1, order[moved]), partner)
    assert len(set(partner[partner >= 0])) == (partner >= 0).sum() > 50


def test_centred_by_hand() -> None:
    rows = np.array([[3, 4, 2, 0], [-3, -4, 0, 0]], dtype=np.float32)
    np.testing.assert_allclose(centred(rows, [2, 2])[0], [0.6, 0.8, 1, 0], atol=1e-6)
    # Its own mean is not all that one function is.
    np.testing.assert_allclose(centred(rows[:1], [2, 2])[0], [0.6, 0.8, 1, 0], atol=1e-6)
    many = np.tile(rows[:1], (2000, 1))
    many[0] = [7, 4, 2, 1]
    assert centred(many, [2, 2])[0] == pytest.approx([1, 0.01, 0.01, 1], abs=0.02)


def test_the_position_in_a_file_is_that_of_the_middle_of_a_function() -> None:
    membership, position = _memberships(side([E[0]] * 3, [0, 0, 1]))
    assert position.tolist() == [0.25, 0.75, 0.5]
    np.testing.assert_allclose(membership.toarray(), [[0.5**0.5, 0], [0.5**0.5, 0], [0, 1]])


def test_callees_and_callers_of_a_function_have_length_1() -> None:
    callees, callers, *_ = _relations(side([E[0]] * 3, [0, 1, 2], (0, 1), (0, 2)))
    np.testing.assert_allclose(callees.toarray(), [[0, 0.5**0.5, 0.5**0.5], [0] * 3, [0] * 3])
    np.testing.assert_allclose(callers.toarray(), [[0] * 3, [1, 0, 0], [1, 0, 0]])
