"""`TaskData`: what is refused, by the sample's name, and the columns that follow from the samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.task_data import TaskData
from mirenc.llvm.analysis.regions import Region

NAN = float("nan")
SPACE = Space(("letter",), (("x",), ("y",), ("z",)), missing="below")
GOOD = Sample("a/1", "ir of a", "a", (1.0,), (2.0, 1.0, NAN))


def data(*samples: Sample, **change: Any) -> TaskData:
    return TaskData(samples, replace(SPACE, **change))


def test_no_samples_are_refused() -> None:
    with pytest.raises(TaskError, match="no samples"):
        data()


MEASURED = {"costs": (1.0, 1.0, 1.0)}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"costs": (1.0, 2.0)}, "has 2 costs; its space has 3 settings: x, y, z"),
        ({"costs": (1.0, -2.0, 3.0)}, "the cost of 'y' is -2.0"),
        ({"costs": (1.0, 2.0, 0.0)}, "the cost of 'z' is 0.0"),
        ({"costs": (float("inf"), 2.0, 3.0)}, "the cost of 'x' is inf"),
        ({"costs": (1.0, "2.0", 3.0)}, "the cost of 'y' is '2.0'"),
        ({"costs": (1.0, None, 3.0)}, "the cost of 'y' is None"),
        ({"costs": (NAN, 2.0, 3.0)}, "the default 'x' has no cost"),
        ({"costs": (NAN, NAN, NAN)}, "the default 'x' has no cost"),
        ({"costs": {0: 1.0, 3: 2.0}}, "has a cost of setting 3; the space has 0 to 2"),
        ({"costs": {0: 1.0, -1: 2.0}}, "has a cost of setting -1; the space has 0 to 2"),
        ({"costs": {0: 1.0, 1.0: 2.0}}, "has a cost of setting 1.0; the space has 0 to 2"),
        ({"costs": {0: 1.0, True: 2.0}}, "has a cost of setting True; the space has 0 to 2"),
        ({"costs": {0: 1.0, "y": 2.0}}, "has a cost of setting 'y'; the space has 0 to 2"),
        ({"costs": {0: 1.0, 2: 0.0}}, "the cost of 'z' is 0.0"),
        ({"costs": {1: 1.0, 2: 2.0}}, "the default 'x' has no cost"),
        ({"costs": {}}, "the default 'x' has no cost"),
        (
            {**MEASURED, "effective": (0, 1)},
            "effective is (0, 1); give the number of one setting, 0 to 2, for each of the 3",
        ),
        ({**MEASURED, "effective": (0, 1, 3)}, "give the number of one setting, 0 to 2"),
        ({**MEASURED, "effective": (0, -1, 2)}, "give the number of one setting, 0 to 2"),
        ({**MEASURED, "effective": (0, 1.0, 2)}, "give the number of one setting, 0 to 2"),
        ({**MEASURED, "effective": (False, True, True)}, "give the number of one setting, 0 to 2"),
        ({**MEASURED, "effective": (0, 2, 1)}, "`effective` maps others to setting 2, but setting 2 to 1"),
        ({"reported": (1.0, 2.0)}, "has 2 reported costs; its space has 3 settings"),
        ({"reported": (1.0, -2.0, NAN)}, "the reported cost of 'y' is -2.0"),
        ({"reported": {0: 1.0, 3: 2.0}}, "has a reported cost of setting 3"),
        ({"reported": (1.0, NAN, NAN)}, "setting 'y' has a cost but no reported cost"),
        ({"reported": (1.0, 2.0, 3.0)}, "setting 'z' has a reported cost but no cost"),
    ],
)
def test_costs_that_do_not_fit_are_refused_by_the_samples_name(change: dict[str, Any], word: str) -> None:
    with pytest.raises(TaskError, match=r"sample 1 \(b/7\)") as caught:
        data(GOOD, replace(GOOD, name="b/7", **change))
    assert word in str(caught.value)


def test_whole_numbers_and_numpys_are_costs() -> None:
    assert data(replace(GOOD, costs=(np.float32(2), 3, np.int64(4)))).costs.tolist() == [[2.0, 3.0, 4.0]]


def test_the_label_is_the_least_measured_cost() -> None:
    table = data(GOOD, replace(GOOD, costs=(1.0, NAN, NAN)), replace(GOOD, costs=(3.0, 4.0, 2.0)))
    assert table.labels.tolist() == [1, 0, 2]


def test_the_baseline_is_the_cost_of_the_default() -> None:
    table = data(GOOD, replace(GOOD, costs=(5.0, 7.0, 9.0)), default=1)
    assert (table.default.tolist(), table.baseline.tolist()) == ([1, 1], [1.0, 7.0])


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
def test_sparse_costs_are_those_of_a_full_row(kind: type) -> None:
    sparse, full = data(replace(GOOD, costs={kind(1): 1.0, kind(0): 2.0})), data(GOOD)
    np.testing.assert_array_equal(sparse.costs, full.costs)
    np.testing.assert_array_equal(sparse.known, full.known)


# -- what was not measured -----------------------------------------------------------------------------
def test_below_what_was_not_measured_runs_as_the_one_below() -> None:
    table = data(GOOD, replace(GOOD, costs=(1.0, NAN, 3.0)))
    assert table.resolve(np.array([2, 2])).tolist() == [1, 2]
    assert table.resolve(np.array([1, 1])).tolist() == [1, 0]
    assert table.known.tolist() == [[2.0, 1.0, 1.0], [1.0, 1.0, 3.0]]


def test_by_default_what_was_not_measured_runs_as_the_default() -> None:
    table = data(GOOD, replace(GOOD, costs=(NAN, 4.0, 3.0)), missing="default", default=1)
    assert table.resolve(np.array([2, 0])).tolist() == [1, 1]
    assert table.known.tolist() == [[2.0, 1.0, 1.0], [4.0, 4.0, 3.0]]


def test_never_tried_is_never_asked_for() -> None:
    table = data(GOOD, replace(GOOD, costs=(1.0, 2.0, 3.0)), missing="never")
    assert table.resolve(np.array([2, 2])).tolist() == [-1, 2]
    np.testing.assert_array_equal(table.known, [[2.0, 1.0, NAN], [1.0, 2.0, 3.0]])
    assert table.settings.row.tolist() == [[0, 1, -1], [0, 1, 2]]


# -- effective settings --------------------------------------------------------------------------------
def test_settings_that_the_compiler_made_one_share_its_cost() -> None:
    # z became y; its own number, if there is any, is not looked at.
    table = data(replace(GOOD, costs=(2.0, 1.0, 9.0), effective=(0, 1, 1)))
    assert table.costs.tolist() == table.known.tolist() == [[2.0, 1.0, 1.0]]
    assert table.resolve(np.array([2])).tolist() == [1]
    assert table.labels.tolist() == [1]


def test_the_default_may_be_effective_as_another() -> None:
    table = data(replace(GOOD, costs={1: 4.0, 2: 2.0}, effective=(1, 1, 2)))
    assert table.baseline.tolist() == [4.0]
    assert table.resolve(table.default).tolist() == [1]
    with pytest.raises(TaskError, match="the default 'x' has no cost"):
        data(replace(GOOD, costs={2: 2.0}, effective=(1, 1, 2)))


def test_a_cost_that_no_setting_has_is_not_lost() -> None:
    # z became y, and what was measured stands at z: y has no cost, and the best measurement would be gone.
    with pytest.raises(
        TaskError,
        match=r"setting 2 has a cost, but `effective` maps it to 1, which has none. Give the cost to setting 1",
    ):
        data(replace(GOOD, costs={0: 2.0, 2: 1.0}, effective=(0, 1, 1)))


def test_what_is_effective_and_not_measured_follows_the_rule() -> None:
    table = data(replace(GOOD, costs={0: 2.0}, effective=(0, 2, 2)), missing="default")
    assert table.known.tolist() == [[2.0, 2.0, 2.0]]
    assert table.resolve(np.array([1])).tolist() == [0]


# -- spaces of samples ---------------------------------------------------------------------------------
WIDE = Space(("letter",), tuple((letter,) for letter in "zyxw"), default=2)


def test_a_sample_may_bring_its_own_settings() -> None:
    table = data(GOOD, replace(GOOD, space=WIDE, costs=(1.0, 2.0, 3.0, 4.0)))
    assert table.width == 4
    assert table.default.tolist() == [0, 2]
    assert table.baseline.tolist() == [2.0, 3.0]
    assert table.setting_values == [("x",), ("y",), ("z",), ("w",)]
    # The same setting is the same row, wherever it stands; the space of three has no fourth.
    assert table.settings.row.tolist() == [[0, 1, 2, -1], [2, 1, 0, 3]]
    assert not table.shares_space
    assert table.labels.tolist() == [1, 0]
    np.testing.assert_array_equal(table.known, [[2.0, 1.0, 1.0, NAN], [1.0, 2.0, 3.0, 4.0]])
    assert table.resolve(np.array([3, 3])).tolist() == [-1, 3]


def test_costs_are_counted_by_the_samples_own_space() -> None:
    with pytest.raises(TaskError, match=r"sample 1 \(b/7\) has 3 costs; its space has 4 settings: z, y, x, w"):
        data(GOOD, replace(GOOD, name="b/7", space=WIDE))


def test_without_a_space_of_the_task_each_sample_brings_one() -> None:
    table = TaskData([replace(GOOD, space=SPACE), replace(GOOD, space=WIDE, costs={2: 1.0})])
    assert (table.target, table.width) == ("costs", 4)


def test_spaces_that_nest_or_turn_are_not_shared() -> None:
    # Column k is the same setting for both only where both have one, or in another order: no head may learn by column.
    nested = Space(("letter",), (("x",), ("y",)))
    turned = Space(("letter",), (("z",), ("y",), ("x",)))
    for space, costs in ((nested, (1.0, 2.0)), (turned, (1.0, 2.0, 3.0))):
        assert not data(GOOD, replace(GOOD, space=space, costs=costs)).shares_space
        assert not TaskData([replace(GOOD, space=space, costs=costs)]).shares_space


def test_one_space_is_shared_settings() -> None:
    table = data(GOOD, replace(GOOD, costs=(1.0, 2.0, 3.0)))
    assert table.shares_space
    assert table.settings.features.shape == (3, 3)  # a column a word


# -- numbers -------------------------------------------------------------------------------------------
def test_a_number_is_a_target() -> None:
    table = TaskData([replace(GOOD, costs=(), value=value) for value in (3, np.float64(0.5))])
    assert table.target == "number"
    assert table.value.tolist() == [3.0, 0.5]
    assert table.labels.tolist() == [0, 0]
    with pytest.raises(TaskError, match="a number: it has no settings to choose among"):
        _ = table.known


@pytest.mark.parametrize("value", [NAN, float("inf"), None, "3"])
def test_a_value_that_is_none_is_refused_by_the_samples_name(value: Any) -> None:
    with pytest.raises(TaskError, match=r"sample 1 \(b/7\): no space of settings, and the value to predict is"):
        TaskData([replace(GOOD, costs=(), value=1.0), replace(GOOD, name="b/7", costs=(), value=value)])


def test_costs_without_a_space_are_refused() -> None:
    with pytest.raises(TaskError, match=r"sample 0 \(a/1\): no space of settings"):
        TaskData([replace(GOOD, value=1.0)])


def test_settings_and_numbers_do_not_mix() -> None:
    with pytest.raises(TaskError, match="some samples have settings and others have a value"):
        TaskData([replace(GOOD, space=SPACE), replace(GOOD, costs=(), value=1.0)])


# -- labels --------------------------------------------------------------------------------------------
BARE = replace(GOOD, costs=())


def test_labels_are_a_target() -> None:
    table = TaskData([replace(BARE, labels=one) for one in ((1, 0), (0, 0))], label_names=("a", "b"))
    assert table.target == "labels"
    assert table.label_table.tolist() == [[True, False], [False, False]]
    assert table.labels.tolist() == [0, 0]
    assert table.subset([1]).label_table.tolist() == [[False, False]]


@pytest.mark.parametrize(
    ("sample", "names", "words"),
    [
        (replace(BARE, labels=(1,)), ("a", "b"), r"sample 0 \(a/1\) has 1 labels for 2 label names, 0 costs"),
        (replace(BARE, labels=(1, 0)), (), "2 labels for 0 label names"),
        (replace(GOOD, labels=(1, 0)), ("a", "b"), "2 labels for 2 label names, [1-9]"),
        (replace(BARE, labels=(1, 2)), ("a", "b"), "label 2; allowed: 0 and 1"),
        (replace(BARE, labels=(1, 0.5)), ("a", "b"), "label 0.5; allowed"),
    ],
    ids="few unnamed costs two half".split(),
)
def test_other_labels_are_refused_by_the_samples_name(sample: Any, names: tuple[str, ...], words: str) -> None:
    with pytest.raises(TaskError, match=words):
        TaskData([sample], label_names=names)


def test_a_kernel_is_its_group_unless_it_says_more() -> None:
    table = data(GOOD, replace(GOOD, kernel="f", held_out=True))
    assert table.kernel.tolist() == [GOOD.group, "f"]
    assert table.held_out.tolist() == [False, True]


# -- columns -------------------------------------------------------------------------------------------
def test_samples_share_what_is_the_same_ir() -> None:
    samples = [replace(GOOD, ir=ir) for ir in ("one", b"two", Path("three.ll"), "one", b"two", "four")]
    pieces, of = data(*samples).distinct_code
    assert pieces == [("one", None), (b"two", None), (Path("three.ll"), None), ("four", None)]
    assert of.tolist() == [0, 1, 2, 0, 1, 3]


def test_regions_of_one_module_are_different_code() -> None:
    first, second = (Region("function", name, name, "", 0, "", 0, name) for name in ("f", "g"))
    pieces, of = data(*(replace(GOOD, region=region) for region in (first, second, None, first))).distinct_code
    assert pieces == [("ir of a", first), ("ir of a", second), ("ir of a", None)]
    assert of.tolist() == [0, 1, 2, 0]


def test_columns_are_in_the_order_of_the_samples() -> None:
    table = data(GOOD, replace(GOOD, group="b", suite="s", part="p"))
    assert len(table) == 2
    assert (table.group.tolist(), table.suite.tolist(), table.part.tolist()) == (["a", "b"], ["", "s"], ["", "p"])


def test_a_subset_is_of_its_rows_and_says_so() -> None:
    complete = TaskData([replace(GOOD, name=name) for name in "abc"], SPACE, "7" * 64, machine="a laptop")
    part = complete.subset([2, 0])
    assert [sample.name for sample in part.samples] == ["c", "a"]
    assert part.machine == "a laptop"
    hashes = {complete.content_hash, part.content_hash, complete.subset([0, 2]).content_hash}
    assert len(hashes) == 3
    assert complete.subset(np.array([2, 0])).content_hash == part.content_hash


def test_reported_costs_are_paid_and_teach_nothing() -> None:
    again = replace(GOOD, reported=(3.0, 4.0, NAN))
    table = data(GOOD, again)
    assert table.labels.tolist() == [1, 1]
    np.testing.assert_array_equal(table.known, [[2.0, 1.0, 1.0]] * 2)
    # Nothing but the costs of the first sample is known, so those are paid; the second pays what was measured again.
    np.testing.assert_array_equal(table.paid, [[2.0, 1.0, 1.0], [3.0, 4.0, 4.0]])
    assert table.baseline.tolist() == [2.0, 2.0]
    assert table.paid_baseline.tolist() == [2.0, 3.0]


def test_reported_costs_stand_at_the_effective_setting_too() -> None:
    table = data(replace(GOOD, costs={0: 2.0, 1: 1.0}, reported={0: 3.0, 1: 5.0}, effective=(0, 1, 1)))
    assert table.paid.tolist() == [[3.0, 5.0, 5.0]]
