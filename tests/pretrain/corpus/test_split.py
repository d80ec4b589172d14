"""Which projects are held out: none that an ancestor of the model saw."""

from collections.abc import Mapping, Sequence

import pytest

from mirenc.base.errors import ConfigError
from mirenc.pretrain.corpus.store import hold_out

PROJECTS = [f"p{number}" for number in range(10) for _ in range(10)]


def held(
    share: float = 0.2, *, seed: int = 0, seen: Mapping[str, str] | None = None, named: Sequence[str] = ()
) -> list[str]:
    return hold_out(PROJECTS, share, seed, seen=seen or {}, named=named)


@pytest.mark.parametrize("seed", range(20))
def test_projects_of_an_ancestor_are_not_held_out(seed: int) -> None:
    first = held(seed=seed)
    assert len(first) == 2
    assert not set(held(seed=seed, seen=dict.fromkeys(first, "old"))) & set(first)
    # A run that goes on from one on the same corpus holds out the same.
    trained = dict.fromkeys(sorted(set(PROJECTS) - set(first)), "old")
    assert held(seed=seed, seen=trained) == first


def test_where_all_are_larger_than_the_share_the_smallest_unseen_one_is_held_out() -> None:
    assert held(0.01, seen={f"p{number}": "old" for number in range(9)}) == ["p9"]
    assert hold_out(["a"] * 5 + ["b"] * 4 + ["c"] * 6, 0.01, 0, seen={}, named=()) == ["b"]


def test_named_projects_are_held_out_and_no_others() -> None:
    assert held(named=["p3", "p7", "p8"], seen={"p1": "old"}) == ["p3", "p7", "p8"]


@pytest.mark.parametrize(
    ("seen", "named", "complaint"),
    [
        ({"p7": "old-model"}, ["p3", "p7"], "held_out: p7 was in the training of old-model"),
        ({}, ["p77"], "no project 'p77' in the corpus"),
        (
            dict.fromkeys(PROJECTS, "old") | {"p4": "older"},
            [],
            r"no project is left .* p9\) were in the training of old and older",
        ),
        ({}, sorted(set(PROJECTS)), "one at least must be left to train on"),
    ],
)
def test_what_cannot_be_held_out_is_refused(seen: dict[str, str], named: list[str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        held(seen=seen, named=named)
    with pytest.raises(ConfigError, match=r"1 project\(s\)"):
        hold_out(["only"] * 5, 0.1, 0, seen={}, named=())
