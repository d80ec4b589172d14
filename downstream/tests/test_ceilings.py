"""What is known of a kernel at other sizes, and what luck is: by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

import ceilings

from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.registry import get_task
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.task_data import TaskData
from mirenc.decide.tasks.block_size import CUDA_TRIES
from mirenc.decide.tasks.pass_tasks import covering_lists

RECORDS = json.loads(ceilings.RECORD.read_text(encoding="utf-8"))
SPACE = Space(("n",), ((1,), (2,), (3,)))


def sample(group: str, size: float, costs: tuple[float, ...], reported: tuple[float, ...] = ()) -> Sample:
    return Sample(f"{group}/{size}", None, group, (size,), costs, reported=reported)


def test_what_was_best_for_the_kernel_itself() -> None:
    rows = [
        sample("a", 1, (4.0, 1.0, 2.0)),
        sample("a", 10, (4.0, 3.0, 2.0)),
        sample("a", 1000, (4.0, 9.0, 1.0)),
        sample("b", 1, (4.0, 1.0, 1.0)),
    ]
    choices = ceilings.hindsight(TaskData(rows, SPACE))
    # Setting 2 has the least product of costs over all sizes of a. The one sample of b has no other size.
    assert choices["best of the kernel in hindsight"].tolist() == [2, 2, 2, 1]
    assert choices["best of the kernel at its other sizes"].tolist() == [2, 2, 1, 0]
    assert choices["best of the kernel at its nearest size"].tolist() == [2, 1, 2, 0]


def test_fixed_settings_are_tried_beside_the_default_of_each_space() -> None:
    other = Space(("n",), ((9,), (8,)))
    rows = [sample(f"k{row}", 1, (4.0, 5.0, 2.0 if row < 3 else 6.0)) for row in range(4)]
    rows += [
        Sample("x", None, "x", (1,), (2.0, 1.0), space=other),
        Sample("y", None, "y", (1,), (2.0, 1.0), space=other),
    ]
    choices = ceilings.fixed_choices(TaskData(rows, SPACE), [(np.array([0, 1, 4]), np.array([2, 3, 5]))])
    # Setting 2 helped in training: it is kept on row 2, and given up for the default on row 3.
    assert choices["the default and 1 fixed, the best kept"][[2, 3, 5]].tolist() == [2, 0, 1]


def test_the_fixed_blocks_of_the_readme_are_those_of_the_whole_table() -> None:
    _, _, _, data = ceilings.read("block_size.h200")
    covering = {}
    for space in dict.fromkeys(data.spaces):
        rows = [row for row, sample_space in enumerate(data.spaces) if sample_space is space]
        covering[len(rows)] = [space.settings[one] for one in covering_lists(data.known[rows], 3)]
    assert covering == {251: [(256, 1), (64, 1), (512, 1)], 87: [(16, 16), (64, 4), (8, 8)]}
    assert list(covering.values()) == [[(256, 1), *CUDA_TRIES[1]], [(16, 16), *CUDA_TRIES[2]]]
    text = " ".join((ceilings.HERE / "block_size" / "README.md").read_text(encoding="utf-8").split())
    assert "(64 and 512 in one dimension, 64x4 and 8x8 in two)" in text


def test_luck_is_what_the_other_half_of_the_rounds_does_not_pay() -> None:
    data = TaskData(
        [sample("a", 1, (2.0, 1.0, 2.0), (2.0, 2.0, 1.0)), sample("b", 1, (1.0, 2.0, 2.0), (1.0, 2.0, 2.0))], SPACE
    )
    luck = ceilings.luck(data)
    assert luck == pytest.approx({"same": 2**0.5, "other": 1.0})


def test_more_is_told_as_context() -> None:
    row = Features("both", np.array([[1.0, 7.0, 8.0]]), 1)
    extended = ceilings.with_facts(row, "more", np.array([[2.0, 3.0]]))
    assert (extended.row, extended.matrix.tolist(), extended.context_columns) == (
        "more",
        [[1.0, 2.0, 3.0, 7.0, 8.0]],
        3,
    )


@pytest.mark.parametrize(
    ("name", "columns"), [("openmp", [1, 1, 2, 3]), ("block_size", [2, 3]), ("block_size.h200", [2, 3])]
)
def test_what_is_told_is_of_each_sample(name: str, columns: list[int]) -> None:
    task, _, table, data = ceilings.read(name)
    facts = ceilings.facts_of(task, table, data)
    assert [one.shape for one in facts.values()] == [(len(data), width) for width in columns]
    np.testing.assert_allclose(2.0 ** list(facts.values())[-1][:, 0 if name == "openmp" else 2], data.baseline)


def test_the_readmes_have_the_record() -> None:
    for name, record in RECORDS.items():
        text = (Path(ceilings.HERE) / name.partition(".")[0] / "README.md").read_text(encoding="utf-8")
        assert f"<!-- table {ceilings.mark(name)} -->\n{ceilings.table(record)}\n<!-- end -->" in text, name


def test_the_record_has_the_figures_of_what_was_said() -> None:
    for name, record in RECORDS.items():
        task, _, _, data = ceilings.read(name)
        assert record["data_hash"] == data.content_hash
        assert record["families"] == pytest.approx(ceilings.families(data))
        rows = {row["title"]: row for row in record["rows"]}
        for title in ("no code", "code"):
            now = ceilings.figures(task, data, np.array(record["said"][title]))
            assert {key: rows[title][key] for key in ceilings.KEYS} == pytest.approx(
                {key: now[key] for key in ceilings.KEYS}
            )


def test_two_timings_are_worth_more_to_a_head_than_the_better_of_two_runs_and_three_are_not() -> None:
    """What the README of OpenMP says, of the record: on unseen kernels, by more than its interval."""
    task = get_task("openmp")
    data = task.load(ceilings.HERE / "openmp" / "table")
    folds = [list(task.protocol("kernel").split(data, seed)) for seed in range(ceilings.SEEDS)]
    tries = [ceilings.fixed_choices(data, one) for one in folds]
    for row, fixed, better in (
        ("its time and one thread's", 1, True),
        ("its time, one thread's, schedule(static, 1)'s", 2, False),
    ):
        predictions = np.array(RECORDS["openmp"]["said"][f"no code, {row}"])
        least = np.array([one[f"the default and {fixed} fixed, the best kept"] for one in tries])
        _, low, high = ceilings.figures(task, data, predictions, least)["gain"]
        assert (low > 1.005) if better else (low < 1 < high)
