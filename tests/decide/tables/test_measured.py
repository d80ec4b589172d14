"""Measured tables: what is written is read, what does not belong is refused, and costs become a task's samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest
from small_measured import DROPPED, FIRST, KERNELS, MACHINE, NAN, REGION, SECOND, SPACE, measured_table

from mirenc.base.errors import TaskError
from mirenc.decide.context import Context, Feature
from mirenc.decide.settings import Space
from mirenc.decide.tables.measured import MeasuredSample, MeasuredTask, read_measured


class Made(MeasuredTask):
    name, title, source = "made", "made", "here"
    space, level, context = SPACE, "loop", Context("n", Feature("part", allowed=("avx2", "sse2")), "bits")
    part_context = {"avx2": {"bits": 256}, "sse2": {"bits": 128}}  # noqa: RUF012 - a ClassVar by its base


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = measured_table(FIRST, SECOND, DROPPED)
    written.write(tmp_path)
    table = read_measured(tmp_path, "made")
    assert table.kernels == KERNELS
    assert table.machine == MACHINE
    assert table.title == "a machine; a compiler"
    for one, other in zip(table.samples, written.samples, strict=True):
        for name in MeasuredSample.__dataclass_fields__:
            if name not in ("label", "report", "noise"):
                assert getattr(one, name) == getattr(other, name), name
        np.testing.assert_allclose(one.label, other.label, rtol=2e-6)
        np.testing.assert_allclose(one.report, other.report, rtol=2e-6)
        np.testing.assert_allclose(one.noise, other.noise)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "costs.parquet",
        "kernels.parquet",
        "machine.json",
        "samples.parquet",
    ]


def test_tables_from_before_tries_were_counted_are_read(tmp_path: Path) -> None:
    measured_table(FIRST).write(tmp_path)
    path = tmp_path / "samples.parquet"
    parquet.write_table(parquet.read_table(path).drop_columns(["tries"]), path)
    assert [sample.tries for sample in read_measured(tmp_path, "made").samples] == [1]


def test_the_hash_is_that_of_the_tables(tmp_path: Path) -> None:
    hashes = []
    for number, table in enumerate((measured_table(FIRST), measured_table(FIRST), measured_table(SECOND))):
        (tmp_path / str(number)).mkdir()
        table.write(tmp_path / str(number))
        hashes.append(read_measured(tmp_path / str(number), "made").content_hash)
    assert hashes[0] == hashes[1] != hashes[2]
    assert len(hashes[0]) == 64


def test_rows_become_samples(tmp_path: Path) -> None:
    measured_table(FIRST, SECOND, DROPPED).write(tmp_path)
    data = Made().load(tmp_path)
    assert [sample.name for sample in data.samples] == ["one avx2", "one sse2"]
    first, second = data.samples
    assert first.region == REGION
    assert (first.ir, first.group, first.suite, first.part) == ("ir one", "g-one", "sums", "avx2")
    assert first.context == (64.0, "avx2", 256)
    assert second.context == (64.0, "sse2", 128)
    assert first.effective == (0, 0, 2, 3)
    # The default (1, b) is the same code as (1, a), and costs what that cost.
    np.testing.assert_allclose(data.baseline, [1e-6, 2.0], rtol=2e-6)
    np.testing.assert_allclose(data.costs[0], [1e-6, 1e-6, NAN, 5e-7], rtol=2e-6)
    np.testing.assert_allclose(second.costs, [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(second.reported, [2.0, 3.0, 4.0, 5.0])
    assert data.labels.tolist() == [3, 0]
    assert data.machine == "a machine; a compiler"
    assert data.content_hash == read_measured(tmp_path, "made").content_hash
    assert data.space == SPACE


def test_samples_may_have_spaces_of_their_own() -> None:
    reordered = Space(SPACE.knobs, SPACE.settings[::-1], missing="never")

    class Each(Made):
        space, context = None, Context("n")

        def space_for(self, context: tuple[Any, ...]) -> Space:
            return reordered

    data = Each().samples_of(measured_table(SECOND))
    assert data.samples[0].space is reordered
    assert data.samples[0].costs == (4.0, 3.0, 2.0, 1.0)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"context": Context("n", "m")}, r"one avx2: the table has no context feature 'm'; it has n, part"),
        ({"level": "module"}, r"one avx2: the table does not say which module of this kernel was measured"),
        (
            {"space": Space(SPACE.knobs, SPACE.settings[:2])},
            r"one avx2: the table has setting \(4, 'a'\), and the task",
        ),
    ],
)
def test_what_does_not_fit_the_task_is_refused(changes: dict[str, Any], complaint: str) -> None:
    other = type("Other", (Made,), {"context": Context("n"), "part_context": {}, **changes})
    with pytest.raises(TaskError, match=complaint):
        other().samples_of(measured_table(FIRST))


def test_a_table_of_dropped_samples_is_none() -> None:
    with pytest.raises(TaskError, match=r"the table has 1 samples, and all were dropped\. Measure on a quiet machine"):
        Made().samples_of(measured_table(DROPPED))


def test_without_a_table_it_says_how_to_make_one(tmp_path: Path) -> None:
    command = r"mirenc measure made -o FOLDER, then give --data FOLDER"
    with pytest.raises(TaskError, match=rf"mirenc comes without costs for made\. .*{command}"):
        Made().load()


def test_a_space_is_the_tasks_or_the_kernels() -> None:
    class Nowhere(Made):
        space = None

    with pytest.raises(TaskError, match=r"has no settings of its own: its class must define space_for\(context\)"):
        Nowhere().samples_of(measured_table(FIRST))
