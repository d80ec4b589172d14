"""The candidates of every row, when they are searched, and the inner folds that the search looks at."""

from __future__ import annotations

import numpy as np
import pytest

from mirenc.heads import CostHead, LabelHead, TreesHead
from mirenc.tasks.menu import INNER_FOLDS, head_search, inner_parts, menu


def test_all_rows_choose_from_the_same_heads() -> None:
    with_code = dict(menu(2, 300, 0, "accuracy"))
    without = dict(menu(2, 0, 0, "accuracy"))
    assert set(with_code) - set(without) == {"trees"}
    assert set(without) <= set(with_code)
    assert set(menu_names(0)) == set(with_code) - {"trees, task features"}
    assert {type(member) for member in with_code.values()} == {CostHead, TreesHead, LabelHead}


def menu_names(context: int) -> list[str]:
    return [name for name, _ in menu(context, 300, 0, "accuracy")]


def test_each_candidate_knows_which_columns_are_task_features() -> None:
    for name, member in menu(2, 300, 0, "speedup"):
        if not isinstance(member, LabelHead):
            assert member.context_columns == 2, name


def test_a_seed_starts_the_heads_that_take_one() -> None:
    seeds = [
        member.get_params().get("random_state", member.get_params().get("classifier__random_state"))
        for _, member in menu(1, 3, 11, "accuracy")
    ]
    assert set(seeds) == {None, 11}
    assert seeds.count(11) == 3


def test_where_cost_counts_a_bad_choice_must_look_bad() -> None:
    clip = {select: dict(menu(1, 3, 0, select))["cost"].clip for select in ("accuracy", "speedup")}
    assert clip["speedup"] > clip["accuracy"]


@pytest.mark.parametrize(("groups", "searched"), [(16, False), (49, False), (50, True), (247, True)])
def test_only_many_groups_are_searched(groups: int, searched: bool) -> None:
    head = head_search(2, 300, groups, 0, "accuracy")
    assert (len(head.members) > 1) == searched
    assert isinstance(head.members[0][1], CostHead)
    assert head.select == "accuracy"


@pytest.mark.parametrize("groups", [16, 247])
def test_one_member_alone_can_be_asked_for(groups: int) -> None:
    head = head_search(2, 300, groups, 0, "speedup", "mlp")
    assert [name for name, _ in head.members] == ["mlp"]


@pytest.mark.parametrize("groups", [2, 5, 8, 9, 30])
def test_inner_folds_keep_groups_together(groups: int) -> None:
    group = np.array([f"g{number % groups}" for number in range(90)])
    part = inner_parts(group, np.arange(90) % 2, 0)
    assert all(len(np.unique(part[group == one])) == 1 for one in group)
    assert len(np.unique(part)) == (groups if groups <= 8 else INNER_FOLDS)


def test_inner_folds_of_single_rows_are_by_label() -> None:
    labels = np.array([0] * 40 + [1] * 20)
    part = inner_parts(np.arange(60), labels, 0)
    assert [np.bincount(labels[part == fold]).tolist() for fold in range(INNER_FOLDS)] == [[10, 5]] * INNER_FOLDS


def test_one_group_alone_is_cut_by_rows() -> None:
    assert inner_parts(np.array(["a"] * 6), np.zeros(6, dtype=np.int64), 0).tolist() == [0, 1, 2, 3, 0, 1]


def test_a_seed_says_which_inner_folds() -> None:
    group, labels = np.arange(90) % 30, np.arange(90) % 2
    np.testing.assert_array_equal(inner_parts(group, labels, 1), inner_parts(group, labels, 1))
    assert (inner_parts(group, labels, 1) != inner_parts(group, labels, 2)).any()
