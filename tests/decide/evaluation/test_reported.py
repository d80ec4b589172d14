"""A report pays what was measured again, and tells what measuring the three preferred settings would bring."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.evaluation.evaluate_task import Evaluation
from mirenc.decide.evaluation.report import TaskReport, load_report
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder

SPACE = Space(("width",), ((1,), (2,), (4,), (8,)), missing="never")


class Widths(Task):
    """Kernels that multiply want 4; what was measured again is a tenth dearer everywhere but at the default."""

    name, title, source = "widths", "made-up widths", "this test"
    space = SPACE
    protocols = (Protocol("kernel", "by kernel", lambda data: data.group, folds=3),)
    baselines = {"always 4": 2}  # noqa: RUF012 - a ClassVar by its base
    select = "speedup"

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        samples = []
        for number in range(12):
            costs = (2.0, 1.5, 1.0, np.nan) if number % 2 else (2.0, 2.5, 3.0, np.nan)
            reported = (2.0, 1.65, 1.1, np.nan) if number % 2 else (2.0, 2.75, 3.3, np.nan)
            samples.append(Sample(f"k{number}", kernel(number), f"k{number}", costs=costs, reported=reported))
        return TaskData(samples, SPACE, "9" * 64)


def kernel(number: int) -> str:
    operation = "mul" if number % 2 else "add"
    body = "".join(f"  %v{step} = {operation} i32 %x, {number + step}\n" for step in range(6))
    return f"define i32 @f(i32 %x) {{\n{body}  ret i32 %v5\n}}\n"


@pytest.fixture(scope="module")
def report(tiny: Encoder) -> TaskReport:
    task = Widths()
    return Evaluation.prepare(task, task.load(), encoder=tiny, rows=["histogram"]).run(seeds=(0, 1))


def test_every_figure_is_paid_in_reported_costs(report: TaskReport) -> None:
    figures = report.figures("kernel", "histogram")
    assert figures["accuracy"] == 1.0
    gain = (2 / 1.1) ** 0.5
    assert figures["speedup_geometric"] == pytest.approx(gain)
    assert figures["oracle_geometric"] == pytest.approx(gain)
    assert figures["oracle_gain_share"] == pytest.approx(1.0)
    assert figures["speedup_interval"][1] <= 2 / 1.1 + 1e-9
    over = figures["speedup_over"]["always 4"]
    assert over["geometric"] == over["oracle_geometric"] == pytest.approx((3.3 / 2) ** 0.5)


def test_the_best_of_three_is_kept_and_told(report: TaskReport) -> None:
    # Three settings were measured, so the best of three is the oracle, whatever is preferred.
    runs = report.best_of_three("kernel", "histogram")
    assert runs is not None
    assert runs.tolist() == [report.data.labels.tolist()] * 2
    assert report.figures("kernel", "histogram")["best_of_three"]["oracle_gain_share"] == pytest.approx(1.0)
    assert "best_of_three" not in report.figures("kernel", "default")


def test_the_table_shows_what_a_task_about_time_is_judged_by(report: TaskReport) -> None:
    lines = {line["row"]: line for line in report.lines("kernel")}
    static, line = lines["default"], lines["opcode histogram"]
    assert line["slower by 2 %"] == "0.0 %"
    assert line["share of oracle's gain"] == "100.0 %"
    assert line["speedup with headroom (50 %)"] == "1.818"
    assert line["best of 3 measured"] == "1.348"
    assert "best of 3 measured" not in static


def test_a_record_with_the_best_of_three_is_gone_on_from(report: TaskReport, tiny: Encoder, tmp_path: Path) -> None:
    task = Widths()
    read = load_report(report.save(tmp_path / "kernel.json"), task, task.load())
    prepared = Evaluation.prepare(task, task.load(), encoder=tiny, rows=["histogram"])
    again = prepared.run(seeds=(0, 1), previous_reports=[read])
    assert again.record["protocols"] == report.record["protocols"]


def test_a_record_without_it_is_read(report: TaskReport, tmp_path: Path) -> None:
    task = Widths()
    path = report.save(tmp_path / "kernel.json")
    read = load_report(path, task, task.load())
    for run in read.record["protocols"]["kernel"]["seeds"].values():
        del run["rows"]["histogram"]["best_of_three"]
    assert read.best_of_three("kernel", "histogram") is None
    assert "best of 3 measured" not in list(read.lines("kernel"))[-1]


def test_a_record_of_other_reported_costs_is_refused(report: TaskReport, tmp_path: Path) -> None:
    task = Widths()
    path = report.save(tmp_path / "kernel.json")
    samples = [replace(sample, reported=()) for sample in task.load().samples]
    with pytest.raises(TaskError, match="of other data"):
        load_report(path, task, TaskData(samples, SPACE, "9" * 64))
