"""`TaskReport`: figures against sums by hand, and a record that gives the same ones when it is read again."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.evaluation.figures import area_figures
from mirenc.decide.evaluation.report import TaskReport, load_report, row_title
from mirenc.decide.features.feature_matrix import ROW_TITLES
from mirenc.decide.metrics import decision_figures
from mirenc.decide.protocols import Protocol
from mirenc.decide.registry import get_task
from mirenc.decide.sample import Sample
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData

NAN = float("nan")
# Two groups of two samples. Best: 1, 0, 0, 1.
COSTS = [(2.0, 1.0, NAN), (1.0, 4.0, NAN), (1.0, 2.0, 4.0), (2.0, 1.0, 4.0)]
SAID = {
    "default": [[0, 0, 0, 0]] * 2,
    "no_code": [[1, 1, 0, 0], [0, 0, 0, 0]],
    "both": [[1, 0, 0, 1], [2, 0, 0, 2]],  # 2 was not measured for the first sample: 1 runs
}


@pytest.fixture
def report(toy: Task, toy_data: TaskData) -> TaskReport:
    samples = [
        replace(toy_data.samples[0], name=f"s{row}", costs=costs, group="ab"[row // 2], part=["x", "y", "x", "y"][row])
        for row, costs in enumerate(COSTS)
    ]
    runs = {
        str(seed): {"fold": [0, 0, 1, 1], "rows": {name: {"said": rows[seed]} for name, rows in SAID.items()}}
        for seed in (0, 1)
    }
    record = {
        "format_version": 2,
        "task": "toy",
        "variant": "",
        "data_hash": "8" * 64,
        "samples": 4,
        "protocols": {"kernel": {"title": "by kernel", "seeds": runs}},
    }
    return TaskReport(record, toy, TaskData(samples, toy.space, "8" * 64))


def test_figures_are_means_over_the_seeds(report: TaskReport) -> None:
    means = report.figures("kernel", "both")
    data = report.data
    each = [decision_figures(data.known, data.resolve(np.array(run)), data.baseline) for run in SAID["both"]]
    for key in each[0]:
        values = [figures[key] for figures in each]
        assert means[key] == pytest.approx(np.mean(values)), key
        assert means[f"{key}_sd"] == pytest.approx(np.std(values, ddof=1)), key
    assert means["accuracy"] == pytest.approx((1 + 0.75) / 2)
    # Baselines 2, 1, 1, 2 over costs 1, 1, 1, 1 and 1, 1, 1, 4.
    assert means["speedup_geometric"] == pytest.approx((2**0.5 + 1) / 2)
    assert means["slowdowns"] == pytest.approx((0 + 0.25) / 2)


def test_the_gain_is_over_the_row_without_code(report: TaskReport) -> None:
    figures = report.figures("kernel", "both")
    assert figures["accuracy_gain"] == pytest.approx(0.875 - 0.5)
    # Mean logs of the speedups: both (2 ln 2)/4 and 0; no code (ln 2 - ln 4)/4 and 0.
    assert figures["speedup_gain"] == pytest.approx(np.exp((2 * np.log(2) + np.log(2)) / 8))
    without_code = report.figures("kernel", "no_code")
    assert (without_code["accuracy_gain"], without_code["speedup_gain"]) == (0.0, 1.0)
    assert without_code["accuracy_gain_interval"] == (0.0, 0.0)


def test_speedups_are_given_over_each_static_setting(report: TaskReport) -> None:
    over = report.figures("kernel", "both")["speedup_over"]["always unrolled"]
    # Costs unrolled 1, 4, 2, 1, over what ran; twice.
    ratios = np.array([[1, 4, 2, 1], [1, 4, 2, 0.25]])
    assert over["geometric"] == pytest.approx(np.exp(np.log(ratios).mean()))
    assert over["arithmetic"] == pytest.approx(ratios.mean())
    assert (over["oracle_geometric"], over["oracle_arithmetic"]) == pytest.approx((8**0.25, 2.0))


def test_intervals_hold_the_mean_and_resample_whole_groups(report: TaskReport) -> None:
    figures = report.figures("kernel", "both")
    # Two groups: the ends are a resample of one group alone, hits (1, 1) or (1, 0.5).
    assert figures["accuracy_interval"] == (0.75, 1.0)
    # Likewise the differences of hits (0.5, 0.5) or (0, 0.5), log speedups, and their differences.
    assert figures["accuracy_gain_interval"] == (0.25, 0.5)
    assert figures["speedup_interval"] == pytest.approx((1.0, 2**0.5))
    assert figures["speedup_gain_interval"] == pytest.approx((1.0, 2**0.75))
    for key in ("accuracy", "accuracy_gain", "speedup_gain"):
        low, high = figures[f"{key}_interval"]
        assert low <= figures[key] <= high


def test_a_part_has_figures_of_its_own(report: TaskReport) -> None:
    assert report.parts == ["x", "y"]
    assert report.figures("kernel", "both", "x")["accuracy"] == 1.0
    assert report.figures("kernel", "both", "y")["accuracy"] == 0.75
    assert report.figures("kernel", "both", "x")["oracle_geometric"] == pytest.approx(2**0.5)


def test_a_static_setting_that_nobody_may_ask_for_is_left_out(report: TaskReport, toy: Task) -> None:
    class Vector(type(toy)):  # type: ignore[misc]
        baselines = {"always vector": 2}  # noqa: RUF012 - a ClassVar by its base

    data = TaskData(report.data.samples, replace(toy.space, missing="never"), "8" * 64)
    runs = {"0": {"fold": [0] * 4, "rows": {"both": {"said": [0, 1, 2, 0]}}}}
    record = {**report.record, "protocols": {"kernel": {"title": "by kernel", "seeds": runs}}}
    figures = TaskReport(record, Vector(), data).figures("kernel", "both")
    # Over the two samples that have it: 4 / 4 and 4 / 2.
    assert figures["speedup_over"]["always vector"]["arithmetic"] == pytest.approx(1.5)
    short = TaskData([replace(one, costs=(2.0, 1.0, NAN)) for one in data.samples], data.space, "8" * 64)
    runs["0"]["rows"]["both"]["said"] = [0, 1, 1, 0]
    assert TaskReport(record, Vector(), short).figures("kernel", "both")["speedup_over"] == {}


def test_one_seed_has_no_spread(report: TaskReport) -> None:
    del report.record["protocols"]["kernel"]["seeds"]["1"]
    figures = report.figures("kernel", "both")
    assert (figures["accuracy"], figures["accuracy_sd"]) == (1.0, 0.0)


def test_without_the_row_without_code_there_is_no_gain(report: TaskReport) -> None:
    for run in report.record["protocols"]["kernel"]["seeds"].values():
        del run["rows"]["no_code"]
    assert not any(key.endswith(("_gain", "_gain_interval")) for key in report.figures("kernel", "both"))


# -- tables --------------------------------------------------------------------------------------------
def test_a_line_of_the_table(report: TaskReport) -> None:
    default, without, with_code = report.lines("kernel")
    assert with_code["row"] == "embedding, both"
    assert with_code["accuracy"] == "87.5 ± 17.7 % [75.0, 100.0]"
    assert with_code["slowdowns"] == "12.5 %"
    assert with_code["against no code"].startswith("+37.5 [")
    assert "speedup over always unrolled, geom. (arith.)" in with_code
    assert "against no code" not in default
    assert "against no code" not in without


def test_where_speed_counts_the_gain_is_a_factor(report: TaskReport, toy: Task) -> None:
    class Fast(type(toy)):  # type: ignore[misc]
        select = "speedup"

    *_, with_code = TaskReport(report.record, Fast(), report.data).lines("kernel")
    assert with_code["against no code"].startswith("x 1.297 [")


def test_too_few_groups_are_told_beside_the_figures(report: TaskReport) -> None:
    more = {"seeds": [0, 1], "groups": 2, "rows": {}, "model": {"name": "tiny"}}
    report = TaskReport({**report.record, **more}, report.task, report.data)
    assert report.warning("kernel").startswith("protocol 'kernel' tests 2 groups; 6 are needed")
    assert " ".join(str(report).split()).count(report.warning("kernel")) == 1
    assert f"Warning: {html.escape(report.warning('kernel'))}." in report._repr_html_()
    samples = [replace(report.data.samples[0], group=f"g{row}") for row in range(6)]
    for run in report.record["protocols"]["kernel"]["seeds"].values():
        run["fold"] = [*range(6)]
    assert TaskReport(report.record, report.task, TaskData(samples, report.data.space)).warning("kernel") == ""


def test_every_row_has_a_title() -> None:
    assert {row: row_title(row) for row in ROW_TITLES} == ROW_TITLES
    assert row_title("majority") == "majority label"
    assert row_title("mine") == "mine"


# -- records -------------------------------------------------------------------------------------------
def test_a_notebook_shows_a_table_a_protocol(toy_report: TaskReport) -> None:
    shown = toy_report._repr_html_()
    assert shown.count("<table>") == len(toy_report.protocols)
    for protocol in toy_report.protocols:
        lines = list(toy_report.lines(protocol))
        head = shown.split(toy_report.title(protocol))[1].split("</tr>")[0]
        assert head.count("<th>") == len({column for line in lines for column in line})
        assert "<th>row</th>" in head
        assert "<td>" not in head
        for line in lines:
            assert "<tr><td>" + "</td><td>".join(line.values()) in shown


def test_a_saved_record_gives_the_same_figures(toy_report: TaskReport, toy: Task, tmp_path: Path) -> None:
    path = toy_report.save(tmp_path / "records" / "toy.json")
    again = load_report(path, toy, toy_report.data)
    assert again.to_json() == toy_report.to_json()
    assert again.record == toy_report.record
    assert json.loads(path.read_text())["figures"]["kernel"]["histogram"]["accuracy"] == pytest.approx(
        toy_report.figures("kernel", "histogram")["accuracy"]
    )


def test_figures_are_recomputed_from_the_predictions(report: TaskReport, toy: Task, tmp_path: Path) -> None:
    path = report.save(tmp_path / "record.json")
    content = json.loads(path.read_text())
    content["figures"]["kernel"]["both"]["accuracy"] = 1.0
    path.write_text(json.dumps(content))
    assert load_report(path, toy, report.data).figures("kernel", "both")["accuracy"] == 0.875


def test_a_record_is_a_line_a_row_of_the_table(report: TaskReport, tmp_path: Path) -> None:
    lines = report.save(tmp_path / "record.json").read_text().splitlines()
    answer_lines = [line.strip().rstrip(",") for line in lines if '"said"' in line]
    assert answer_lines[:2] == ['"said": [0,0,0,0]', '"said": [1,1,0,0]']
    assert len(answer_lines) == 6


@pytest.mark.parametrize(
    "change", [{"data_hash": "9" * 64}, {"task": "device_mapping"}, {"samples": 5}], ids="hash task samples".split()
)
def test_a_record_of_other_data_is_refused(
    change: dict[str, Any], report: TaskReport, toy: Task, tmp_path: Path
) -> None:
    path = report.save(tmp_path / "record.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(TaskError, match=r"of other data. Evaluate again"):
        load_report(path, toy, report.data)


def test_a_record_of_another_variant_is_refused(report: TaskReport, toy: Task, tmp_path: Path) -> None:
    # Variants are read from the same files, so their hash is one; but what the oracle gains differs.
    other = TaskData([replace(sample, costs=(3.0, 1.0, NAN)) for sample in report.data.samples], toy.space, "8" * 64)
    with pytest.raises(TaskError, match=r"of other data. Evaluate again"):
        load_report(report.save(tmp_path / "record.json"), toy, other)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format_version": 2}', '{"format_version": 1}'])
def test_a_file_that_is_no_record_is_refused(text: str, report: TaskReport, toy: Task, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(text)
    with pytest.raises(TaskError, match=r"record\.json"):
        load_report(path, toy, report.data)
    with pytest.raises(TaskError, match="cannot be read"):
        load_report(tmp_path / "none.json", toy, report.data)


# -- numbers -------------------------------------------------------------------------------------------
class Lengths(Task):
    """A number to predict."""

    name = "lengths"
    title = "made-up lengths"
    source = "these tests"
    target = "number"
    unit = "cycles"
    protocols = (Protocol("kernel", "by kernel", lambda data: data.group, folds=2),)

    def load(self, data_dir: object = None, variant: str = "") -> TaskData:
        raise NotImplementedError


VALUES = (1.0, 2.0, 3.0, 6.0)
NUMBERS = {
    "mean": [[4.5, 4.5, 1.5, 1.5]] * 2,
    "no_code": [[2.0, 2.0, 2.0, 2.0]] * 2,
    "both": [[1.0, 2.0, 3.0, 5.0], [1.0, 4.0, 3.0, 5.0]],
}


@pytest.fixture
def numbers(report: TaskReport) -> TaskReport:
    samples = [
        Sample(f"s{row}", "ir", "ab"[row // 2], value=value, part="xy"[row % 2]) for row, value in enumerate(VALUES)
    ]
    runs = {
        str(seed): {"fold": [0, 0, 1, 1], "rows": {name: {"said": rows[seed]} for name, rows in NUMBERS.items()}}
        for seed in (0, 1)
    }
    record = {**report.record, "task": "lengths", "protocols": {"kernel": {"title": "by kernel", "seeds": runs}}}
    return TaskReport(record, Lengths(), TaskData(samples, None, "8" * 64))


def test_figures_of_numbers_are_means_over_the_seeds(numbers: TaskReport) -> None:
    figures = numbers.figures("kernel", "both")
    assert figures["mae"] == pytest.approx((1 / 4 + 3 / 4) / 2)
    assert figures["mae_sd"] == pytest.approx(np.std([1 / 4, 3 / 4], ddof=1))
    assert figures["r2"] == pytest.approx(((1 - 1 / 14) + (1 - 5 / 14)) / 2)
    # Errors of the samples, over the seeds: 0, 1, 0, 1; without code 1, 0, 1, 4.
    assert figures["mae_gain"] == pytest.approx(0.5 - 1.5)
    assert figures["mae_interval"] == (0.5, 0.5)
    assert figures["mae_gain_interval"] == (-2.0, 0.0)
    assert "speedup_over" not in figures
    assert numbers.figures("kernel", "both", "y")["mae"] == pytest.approx(1.0)


def test_a_line_of_numbers(numbers: TaskReport) -> None:
    mean, _, with_code = numbers.lines("kernel")
    assert with_code["mean absolute error, cycles"] == "0.5 [0.5, 0.5]"
    assert with_code["median error"] == "0.25"
    assert with_code["R2"] == "0.786"
    assert with_code["against no code"] == "-1 [-2, +0]"
    assert mean["row"] == "mean of the training samples"
    assert "against no code" not in mean
    assert numbers.judged_by == "mae"


def test_a_record_of_numbers_gives_the_same_figures(numbers: TaskReport, tmp_path: Path) -> None:
    again = load_report(numbers.save(tmp_path / "record.json"), numbers.task, numbers.data)
    assert again.record | {"rows": {}} == numbers.record | {"rows": {}}
    assert again.to_json() == numbers.to_json()


def test_a_record_of_other_numbers_is_refused(numbers: TaskReport, tmp_path: Path) -> None:
    # Variants are read from the same files, so their hash is one; but the numbers differ.
    other = TaskData([replace(sample, value=sample.value + 1) for sample in numbers.data.samples], None, "8" * 64)
    with pytest.raises(TaskError, match=r"of other data. Evaluate again"):
        load_report(numbers.save(tmp_path / "record.json"), numbers.task, other)


def test_a_caption_says_when_the_data_are_not_as_published(published_data: Any, toy_report: TaskReport) -> None:
    task, data = get_task("thread_coarsening"), published_data("thread_coarsening")
    record = {**toy_report.record, "data_hash": data.content_hash}
    assert "not as published" not in TaskReport(record, task, data).caption()
    record["data_hash"] = data.subset([0, 1]).content_hash
    assert "mirenc datasets verify thread_coarsening" in TaskReport(record, task, data).caption()


def test_a_label_alone_has_figures_of_its_own() -> None:
    truth, scores = np.array([[1], [0], [1], [0]], dtype=bool), np.array([[[0.9], [0.2], [0.1], [0.3]]])
    figures = area_figures(truth, scores, np.arange(4), names=("only",))
    assert figures["labels"] == {"only": {"auc": 0.5, "average_precision": 0.75, "rate": 0.5}}
