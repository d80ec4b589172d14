"""The scripts of `downstream/` run from end to end on a task in miniature, and do what their docstrings say.

They are no package: each is loaded by its path, and nothing of what they write is kept.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from kept_features import KeptFeatures, read_kept
from small_compiled import ir_of, write_small_table

import mirenc
from mirenc.decide import BoostedRegressor
from mirenc.decide.evaluation import evaluate_task as evaluation
from mirenc.decide.evaluation.evaluate_task import Evaluation
from mirenc.decide.evaluation.jobs import run_jobs
from mirenc.decide.evaluation.report import load_report
from mirenc.decide.features.feature_matrix import Features, context_matrix
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.target import target_of
from mirenc.decide.task_data import TaskData
from mirenc.decide.task_head import TaskHead
from mirenc.encoder import Encoder
from mirenc.llvm import parse_ir

pytest.importorskip("sklearn")
torch = pytest.importorskip("torch")

MODEL = "mirenc-tiny"
FOLDER = Path(__file__).resolve().parents[1] / "downstream"
# Twelve kernels on two inputs each; every other one multiplies, and runs best on the second device.
TASK = """
import numpy as np

from mirenc.decide import Context, Protocol, Sample, Space, Task, TaskData


def kernel(operation, count):
    body = "".join(f"  %v{step} = {operation} i32 %x, {step + 2}\\n" for step in range(count))
    return f"define i32 @f(i32 %x) {{\\n{body}  ret i32 %v{count - 1}\\n}}\\n"


class Miniature(Task):
    name, title, source = "miniature", "made-up mapping", "tests"
    space = Space(("device",), (("first",), ("second",)))
    context = Context("size")
    protocols = (Protocol("kernel", "by kernel", lambda data: data.group, folds=3),)

    def load(self, data_dir=None, variant=""):
        samples = [
            Sample(
                name=f"k{number}/{size}",
                ir=kernel(("add", "mul")[number % 2], 2 + number),
                group=f"k{number}",
                context=(size,),
                costs=(1.0 + number % 2, 2.0 - number % 2),
            )
            for number in range(12)
            for size in (1.0, 2.0)
        ]
        return TaskData(samples, self.space, "5" * 64)
"""


def script(name: str) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(f"downstream_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up their annotations
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def task_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("task") / "miniature.py"
    file.write_text(TASK, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def small() -> Encoder:
    return mirenc.load(MODEL, cache=False)


@pytest.fixture(scope="module")
def fine_tuning() -> ModuleType:
    return script("fine_tuning")


@pytest.fixture(scope="module")
def record(fine_tuning: ModuleType, task_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What one run of the script writes, and what it prints as a table."""
    output = tmp_path_factory.mktemp("records")
    threads = torch.get_num_threads()
    try:
        fine_tuning.main(
            ["--task-file", str(task_file), "--model", MODEL, "--folds", "2", "--epochs", "3", "--output", str(output)]
        )
    finally:
        torch.set_num_threads(threads)
    return json.loads((output / "fine_tuning.mirenc-tiny.json").read_text(encoding="utf-8"))


@pytest.fixture
def live(fine_tuning: ModuleType, task_file: Path) -> Any:
    """A live copy of the small model over the miniature's kernels."""
    encoder = mirenc.load(MODEL, backend="torch", cache=False)
    pieces, _ = mirenc.get_task(task_file).load().distinct_code
    return fine_tuning.LiveModel(encoder.runtime.model, fine_tuning.read_kernels(encoder, [ir for ir, _ in pieces]))


@pytest.fixture
def table(fine_tuning: ModuleType, task_file: Path, live: Any) -> Any:
    data = mirenc.get_task(task_file).load()
    _, kernel = data.distinct_code
    vectors = fine_tuning.embed(live, range(12))
    context = torch.tensor([sample.context for sample in data.samples], dtype=torch.float32)
    return fine_tuning.Table(context, kernel, data, torch.from_numpy(data.labels), vectors)


def test_shares_of_the_training_kernels_nest_and_keep_kernels_whole() -> None:
    take_groups = script("data_efficiency").take_groups
    group = np.repeat([f"k{number:02}" for number in range(30)], 3)
    training = np.flatnonzero(np.arange(90) % 7 != 0)
    rows = [take_groups(training, group, share, seed=4) for share in (0.05, 0.1, 0.5, 1.0)]
    for smaller, larger in pairwise(rows):
        assert set(smaller.tolist()) < set(larger.tolist())
    np.testing.assert_array_equal(rows[-1], training)
    # 5 % of 30 kernels is 1.5: two are the fewest that a head can learn from.
    assert [len(np.unique(group[chosen])) for chosen in rows] == [2, 3, 15, 30]
    for chosen in rows:
        np.testing.assert_array_equal(chosen, training[np.isin(group[training], group[chosen])])


def test_data_efficiency_has_every_share_of_every_row(
    task_file: Path, monkeypatch: pytest.MonkeyPatch, small: Encoder, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    efficiency = script("data_efficiency")
    monkeypatch.setattr(efficiency, "ROWS", ("no_code", "both"))
    monkeypatch.setattr(efficiency, "SHARES", (0.25, 0.5))
    monkeypatch.setattr(mirenc, "load", lambda: small)
    monkeypatch.setattr(
        sys, "argv", ["data_efficiency.py", "--task-file", str(task_file), "--seeds", "1", "--output", str(tmp_path)]
    )
    efficiency.main()
    record = json.loads((tmp_path / "efficiency.json").read_text(encoding="utf-8"))
    assert record["kernels"] == 12
    assert record["data_hash"] == "5" * 64
    for row in ("no_code", "both"):
        assert {"0.25", "0.5", "1.0"} == set(record["figures"][row])
        for figures in record["figures"][row].values():
            low, high = figures["accuracy_interval"]
            assert 0 <= low <= figures["accuracy"] <= high <= 1
    # Sizes do not tell the kernels apart; their code does.
    assert record["figures"]["both"]["1.0"]["accuracy"] > record["figures"]["no_code"]["1.0"]["accuracy"]
    assert "<svg" in (tmp_path / "efficiency.svg").read_text(encoding="utf-8")
    # Points of the same inputs are taken from the record: a mark stays, and goes where the inputs were others.
    for row, share in (("no_code", "0.5"), ("both", "0.25")):
        record["figures"][row][share]["accuracy"] = 0.123
    record["figures"]["both"]["0.25"]["inputs"] = "of another model"
    (tmp_path / "efficiency.json").write_text(json.dumps(record), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--resume"])
    efficiency.main()
    again = json.loads((tmp_path / "efficiency.json").read_text(encoding="utf-8"))["figures"]
    assert again["no_code"]["0.5"]["accuracy"] == 0.123
    assert again["both"]["0.25"]["accuracy"] != 0.123
    assert again["both"]["0.25"]["inputs"] != "of another model"


@pytest.mark.parametrize("name", ["size_after", "pass_fires", "pass_list"])
def test_data_efficiency_counts_samples_of_a_fixed_split(
    name: str, monkeypatch: pytest.MonkeyPatch, small: Encoder, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    efficiency = script("data_efficiency")
    monkeypatch.setattr(efficiency, "ROWS", ("no_code", "histogram"))
    monkeypatch.setattr(mirenc, "load", lambda: small)
    (tmp_path / "table").mkdir()
    write_small_table(tmp_path / "table")
    words = [name, "--data", str(tmp_path / "table"), "--seeds", "1", "--output", str(tmp_path)]
    counts = ["--protocol", "held_out", "--counts", "8", "14", "1000"]
    # Published figures of the task are no record to go on with.
    for file in (f"{name}.held_out.json", f"{name}.Oz.held_out.json"):
        (tmp_path / file).write_text(json.dumps({"task": name, "figures": {}}))
    monkeypatch.setattr(sys, "argv", ["data_efficiency.py", *words, *counts])
    efficiency.main()
    (path,) = tmp_path.glob("*efficiency.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    score = {"size_after": "r2", "pass_fires": "auc", "pass_list": "speedup_geometric"}[name]
    assert record["score"] == score
    all_samples = "19" if name == "pass_fires" else "20"  # 1000 are not there
    for row in ("no_code", "histogram"):
        assert set(record["figures"][row]) == {"8", "14", all_samples}
        for figures in record["figures"][row].values():
            low, high = figures[f"{score}_interval"]
            assert low <= high
            assert np.isfinite(figures[score])
    assert "<svg" in path.with_suffix(".svg").read_text(encoding="utf-8")


def test_few_samples_are_part_of_more() -> None:
    take_rows = script("data_efficiency").take_rows
    training = np.arange(0, 200, 2)
    rows = [take_rows(training, count, seed=4) for count in (5, 20, 100)]
    assert [len(one) for one in rows] == [5, 20, 100]
    for smaller, larger in pairwise(rows):
        assert set(smaller.tolist()) < set(larger.tolist())
    np.testing.assert_array_equal(rows[-1], training)


def test_live_vectors_are_those_of_the_encoder(live: Any, task_file: Path, small: Encoder) -> None:
    pieces, _ = mirenc.get_task(task_file).load().distinct_code
    chosen = [5, 0, 11]
    expected = small.embed([pieces[number][0] for number in chosen], form="plain")
    np.testing.assert_allclose(live(chosen).detach().numpy(), expected, rtol=1e-3, atol=1e-3)


def test_gradients_reach_both_encoders_and_leave_the_maps_alone(live: Any) -> None:
    live([0, 1, 2]).square().sum().backward()
    for part in ("text", "graph"):
        for name, parameter in getattr(live.model, part).named_parameters():
            if parameter.ndim > 1:
                assert parameter.grad is not None, f"{part}.{name}"
                assert parameter.grad.abs().sum() > 0, f"{part}.{name}"
    assert all(parameter.grad is None for parameter in live.model.matching.parameters())


def test_fine_tuning_moves_the_encoders_and_nothing_else(fine_tuning: ModuleType, table: Any, live: Any) -> None:
    before = copy.deepcopy(live.model.state_dict())
    fine_tuning.train(
        table, np.arange(24), live, epochs=2, seed=0, encoder_rate=1e-3, after_epoch=lambda head, loss: None
    )
    moved = {name for name, value in live.model.state_dict().items() if not torch.equal(value, before[name])}
    assert {"text.token.weight", "text.blocks.0.qkv.weight", "graph.conv1.lin.weight"} <= moved
    assert all(name.startswith(("text.", "graph.")) for name in moved)


def test_frozen_training_learns_and_leaves_the_model_untouched(fine_tuning: ModuleType, table: Any, live: Any) -> None:
    before = copy.deepcopy(live.model.state_dict())
    options = {"epochs": 12, "seed": 0, "encoder_rate": 1.0}
    result = fine_tuning.measure_arm("frozen", table, live, np.arange(20), np.arange(20, 24), **options)
    losses = result["loss_by_epoch"]
    assert losses[-1] < losses[0]
    assert all(torch.equal(value, before[name]) for name, value in live.model.state_dict().items())


def test_an_encoder_rate_of_zero_gives_the_frozen_run(fine_tuning: ModuleType, table: Any, live: Any) -> None:
    """Same first weights, batches and standardisation: where the encoders stand still, the arms are one."""
    options = {"epochs": 3, "seed": 5, "encoder_rate": 0.0}
    arms = [
        fine_tuning.measure_arm(arm, table, live, np.arange(18), np.arange(18, 24), **options)
        for arm in fine_tuning.ARMS
    ]
    np.testing.assert_allclose(arms[0]["loss_by_epoch"], arms[1]["loss_by_epoch"], atol=1e-3)
    assert arms[0]["choices"] == arms[1]["choices"]


def test_the_record_says_what_was_run(record: Any, fine_tuning: ModuleType) -> None:
    assert record["model"]["digest"] == mirenc.load(MODEL, cache=False).files.digest
    assert (record["data_hash"], record["epochs"], record["threads"]) == ("5" * 64, 3, 1)
    assert [fold["split_seed"] for fold in record["folds"]] == [0, 0]
    tested = [row for fold in record["folds"] for row in fold["test"]]
    assert len(tested) == len(set(tested)) == 16  # 4 of 12 kernels a fold, two rows each
    for fold in record["folds"]:
        for arm in fine_tuning.ARMS:
            assert len(fold[arm]["accuracy_by_epoch"]) == len(fold[arm]["loss_by_epoch"]) == 3
            assert len(fold[arm]["choices"]) == len(fold["test"])
    text = fine_tuning.table_text(record)
    for arm in fine_tuning.ARMS:
        assert f"| {arm} | {100 * record['figures'][arm]['accuracy']:.1f} ±" in text


def test_figures_by_hand(fine_tuning: ModuleType, task_file: Path) -> None:
    """Two folds of two rows: frozen gets 1 of 2 and 2 of 2, fine-tuned 2 of 2 and 2 of 2."""
    data = mirenc.get_task(task_file).load()

    def arm(choices: list[int], accuracy: float, seconds: float) -> dict[str, Any]:
        clocks = {f"{clock}_seconds": seconds for clock in ("training", "training_cpu", "inference", "inference_cpu")}
        return {"choices": choices, "loss_by_epoch": [0.5], "accuracy_by_epoch": [accuracy], **clocks}

    # Rows 0 and 4 want the first device, rows 2 and 6 the second.
    folds = [
        {"test": [0, 2], "frozen": arm([0, 0], 0.5, 1.0), "fine_tuned": arm([0, 1], 1.0, 30.0)},
        {"test": [4, 6], "frozen": arm([0, 1], 1.0, 3.0), "fine_tuned": arm([0, 1], 1.0, 50.0)},
    ]
    figures = fine_tuning.figures(data, folds, [6.0, 5.0])
    assert figures["frozen"]["accuracy"] == 0.75
    assert figures["gain"] == 0.25
    assert figures["pooled_gain"] == 0.25
    assert figures["pooled_gain_interval"][0] >= 0
    assert figures["training_ratio"] == 20  # 40 s over 2 s
    assert figures["training_ratio_with_embedding"] == 5  # 40 s over 2 s and 6 s
    assert figures["fine_tuned"]["pooled"]["accuracy"] == 1


def test_a_task_of_many_settings_gets_columns_of_time(small: Encoder, tmp_path: Path) -> None:
    """Six kernels, 20 settings of which every kernel wants another; all run twice as fast under the last."""
    from mirenc.decide.protocols import Protocol
    from mirenc.decide.sample import Sample
    from mirenc.decide.settings import Space
    from mirenc.decide.task import Task
    from mirenc.decide.task_data import TaskData

    class Many(Task):
        name, title, source = "many", "many settings", "these tests"
        protocols = (Protocol("kernel", "by kernel", lambda data: data.group, folds=None),)
        select = "speedup"

        def load(self, data_dir: Any = None, variant: str = "") -> TaskData:
            costs = np.full((6, 20), 4.0)
            costs[np.arange(6), np.arange(6) + 1] = 1.9
            costs[:, 19] = 2.0
            space = Space(("n",), tuple((n,) for n in range(20)))
            return TaskData([Sample(f"k{row}", None, f"k{row}", (), tuple(costs[row])) for row in range(6)], space)

    report = mirenc.evaluate(Many(), encoder=small, seeds=(0, 1))
    lines = script("tables").table(report.to_json(), "kernel").splitlines()
    assert lines[2].startswith("|  | speedup over default, geom. (arith.) | where > 1.05x is there |")
    best = next(line for line in lines if line.startswith("| best single setting"))
    # 4 / 2 over the default, 2 / 1.9 from the best, 1 of the oracle's 4 / 1.9 - 1, over 0.9 of it on all six.
    cells = best.split(" | ")
    assert cells[1:7] == ["2.000 [2.000, 2.000] (2.00)", "2.000 (100 %)", "5.3", "90", "6.0 of 6", "0.0 of 6"]
    assert lines[-1] == "6 samples, 6 groups, 2 seeds."


@pytest.mark.parametrize("old", ["", "\n", "\n\n", "\n| old |\n"])
def test_a_table_goes_between_its_marks_whatever_stands_there(old: str, tmp_path: Path) -> None:
    text = f"above\n<!-- table a -->{old}<!-- end -->\nbelow\n<!-- table ab -->\n<!-- end -->\n"
    document = script("tables").between(text, "a", "| new |", tmp_path)
    assert document == "above\n<!-- table a -->\n| new |\n<!-- end -->\nbelow\n<!-- table ab -->\n<!-- end -->\n"
    with pytest.raises(SystemExit, match="no marks for table b"):
        script("tables").between(text, "b", "| new |", tmp_path)


# -- lists that nobody tried ---------------------------------------------------------------------------
def test_lists_that_were_not_tried_are_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    untried = script("untried_lists")
    monkeypatch.setattr(untried, "BoostedRegressor", lambda **options: BoostedRegressor(**{**options, "trees": 3}))
    (tmp_path / "table").mkdir()
    write_small_table(tmp_path / "table")
    output, features = tmp_path / "record.json", tmp_path / "features"
    run = run_main(monkeypatch)
    run(script("pass_features"), tmp_path / "table", "-o", features, "--counted")
    words = ["--rows", "no_code", "--rows", "autophase", "--folds", "2", "--features", features]
    run(untried, tmp_path / "table", *words, "-o", output)
    record = json.loads(output.read_text())
    assert (record["pieces"], record["held_out"], record["lists"], record["folds"]) == (20, 4, 3, 2)
    assert list(record["figures"]) == ["random", "best", "no_code", "autophase"]
    # The second list takes 3 bytes less than -Oz from the even pieces; all of the others take more.
    oz = [98 + 9 * row for row in (20, 22)]
    best = -np.expm1(sum(np.log((size - 3) / size) for size in oz) / 4)
    for row, figures in record["figures"].items():
        assert figures["saved_3"] == pytest.approx(best), row  # by the third try all lists were tried
    assert record["figures"]["best"]["saved_1"] == pytest.approx(best)
    printed = capsys.readouterr().out
    assert "| AutoPhase's 56 counts |" in printed
    with pytest.raises(SystemExit, match="3 lists are too few"):
        untried.measure(tmp_path / "table", [], ["no_code"], 3, 100, 0)


# -- pass lists on unseen projects ---------------------------------------------------------------------
def test_gains_are_those_of_the_best_so_far_and_of_oz() -> None:
    figures = script("passes/suggest_figures")
    ratios = np.array([[1.0, 1.2, 0.9, 0.8], [1.0, 1.1, 1.3, 1.0]])
    gains = figures.gains(ratios, np.array([[1, 2, 3], [3, 2, 1]]))
    assert gains == pytest.approx(np.array([[0.0, -np.log(0.9), -np.log(0.8)], [0.0, 0.0, 0.0]]))
    assert figures.with_other_lists(np.array([[3, 1], [1, 3]]), np.array([1, 4, 3, 2])).tolist() == [
        [3, 1, 4, 2],
        [1, 3, 4, 2],
    ]
    share = figures.share_interval(np.array([1.0, 2.0]), np.array([2.0, 4.0]), np.array(["a", "b"]))
    assert share == pytest.approx((0.5, 0.5, 0.5))


def test_trials_are_of_held_out_answers() -> None:
    # A setting that halves the cost of every other group, and no feature that says which.
    figures = script("passes/suggest_figures")
    costs = [(1.0, 0.5 if row // 2 % 2 else 2.0) for row in range(48)]
    space = Space(("device",), (("cpu",), ("gpu",)))
    data = TaskData([Sample(f"s{row}", "ir", f"g{row // 2}", costs=one) for row, one in enumerate(costs)], space)
    features = Features("both", np.random.default_rng(0).normal(size=(48, 3)), 1)
    (one, other) = figures.trials_held_out(data, target_of(data, "speedup"), features, 0)[""]
    assert one.answers + other.answers == 48
    # Half of all answers gain a factor of two, whatever the head promised.
    assert (one.gains[0] ** one.answers) * (other.gains[0] ** other.answers) == pytest.approx(2**24, rel=1e-3)
    assert one.idle[0] * one.answers + other.idle[0] * other.answers == pytest.approx(24, rel=1e-3)


def test_suggestions_on_unseen_projects_from_a_table_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = script("passes/suggest_figures")
    (tmp_path / "table").mkdir()
    write_small_table(tmp_path / "table", projects=22, each=2)
    run, features = run_main(monkeypatch), tmp_path / "features"
    run(script("pass_features"), tmp_path / "table", "-o", features, "--counted", "--model", MODEL)
    words = ["-o", tmp_path / "out", "--seeds", 2, "--features", features, "--row", "autophase"]
    run(figures, tmp_path / "table", *words)
    record = json.loads((tmp_path / "out" / "suggest.json").read_text(encoding="utf-8"))
    figures_of_all = record["figures"]["all"]
    assert (figures_of_all["pieces"], figures_of_all["projects"]) == (2, 1)
    # List 1 takes 3 bytes less on even pieces and list 2 never saves: two lists reach all there is, whatever the order.
    assert figures_of_all["best_of_all"][0] > 0
    for row in ("both", "no_code", "autophase", "cover", "random"):
        assert figures_of_all[row]["saved"]["2"] == pytest.approx(figures_of_all["best_of_all"])
        assert figures_of_all[row]["share"]["2"][0] == pytest.approx(1.0)
    assert figures_of_all["both"]["saved"]["1"][0] == pytest.approx(figures_of_all["best_of_all"][0])
    assert figures_of_all["random"]["saved"]["1"][0] <= figures_of_all["best_of_all"][0]
    text = (tmp_path / "out" / "suggest.md").read_text(encoding="utf-8")
    assert "unseen projects" in text
    assert "Nothing to gain" in text


# -- all tasks over a table of passes ------------------------------------------------------------------
def test_all_tasks_over_a_table_have_the_records_that_evaluate_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compute, tasks = script("pass_features"), script("pass_tasks")
    table, features, code = tmp_path / "table", tmp_path / "features", tmp_path / "code.parquet"
    table.mkdir()
    write_small_table(table)
    run = run_main(monkeypatch)
    assert run(compute, table, "-o", features, "--counted", "--model", MODEL) == 0
    words = [table, "-o", tmp_path / "out", "--records", tmp_path / "records", "--features", features]
    run(tasks, *words, "--row", "no_code", "--row", "autophase", "--row", "both")
    assert "pass_fires O3: left out: " in capsys.readouterr().out
    variants = ("size_after.Oz", "size_after.O3", "size_after.O0", "oz_benefit.Oz_over_O0", "oz_benefit.O3_over_Oz")
    expected = {
        f"{one}.{rest}" for one in (*variants, "pass_fires.Oz", "pass_list") for rest in ("held_out", "project")
    }
    for folder in ("records", "out"):
        assert {path.name.removesuffix(".json") for path in (tmp_path / folder).glob("*.json")} == expected

    task = mirenc.get_task("pass_fires")
    data = task.load(table, "Oz")
    context = context_matrix(task, data)
    counts = [compute.counted_features(parse_ir(one.ir), one.region)["autophase"] for one in data.samples]
    columns = context.shape[1]
    rows = [Features("no_code", context, columns), Features("autophase", np.hstack([context, counts]), columns)]
    alone = Evaluation(task, data, "Oz", {}, rows).run(seeds=(0,))
    report = load_report(tmp_path / "records" / "pass_fires.Oz.project.json", task, data)
    for row in ("rates", "no_code", "autophase"):
        np.testing.assert_allclose(report.predictions("project", row), alone.predictions("project", row), atol=1e-2)
    figures = json.loads((tmp_path / "out" / "pass_fires.Oz.project.json").read_text())
    assert figures["figures"]["both"]["auc"] == pytest.approx(report.figures("project", "both")["auc"])
    gain, low, high = figures["beside"]["both"]["no_code"]
    assert gain == pytest.approx(report.figures("project", "both")["auc_gain"])
    assert low <= gain <= high

    # The README's tables say what the records say.
    readme = script("passes/readme_tables")
    monkeypatch.setattr(readme, "HERE", tmp_path / "out")
    assert readme.gain_text([np.log(2), 0.0, -np.log(2)], "speedup", 4) == "+50.00 [+0.00, -100.00]"
    assert readme.gain_text([0.125, 0.0, 0.25], "mae", 3) == "+0.125 [+0.000, +0.250]"
    names = ("labels", "asked", "held_out", "project")
    (tmp_path / "out" / "README.md").write_text("".join(f"<!-- passes {one} -->\n<!-- end -->\n" for one in names))
    run(readme, "--table", table)
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    labels, asked_for, held_out, project = text.split("<!-- end -->\n")[:4]
    assert "18 functions and 6 modules of 6 projects, 1 of them to be tested on only; 3 lists" in labels
    assert f"| embedding, both | {figures['figures']['both']['auc']:.3f} [" in project
    assert f"{gain:+.3f} [{low:+.3f}, {high:+.3f}] |" in project
    assert "4 pieces of 1 projects tested" in held_out
    assert asked_for.count("| embedding, both |") == len(expected) / 2
    run(readme, "--table", table)  # the marks are still there
    assert (tmp_path / "out" / "README.md").read_text(encoding="utf-8") == text
    # A model that was not taught a kind of answers is asked about that kind alone.
    for path in (tmp_path / "out").glob("*.held_out.json"):
        record = json.loads(path.read_text())
        for place in ("figures", "beside"):
            record[place]["both:without_fires-0"] = record[place]["both"]
        path.write_text(json.dumps(record))
    untaught = [line for line in readme.pretrained_wins().splitlines() if "without_fires-0 |" in line]
    assert [line.split()[1] for line in untaught] == ["pass_fires"]
    assert f"{readme.UNTAUGHT} beats every row" in readme.pretrained_wins()
    for key, other, complaint in (
        ("table", "0" * 64, "several tables: .*other.json"),
        ("model", {**figures["model"], "digest": "f" * 64}, f"several models: .*{MODEL} f"),
        ("model", {"name": "new", "digest": "e", "others": {MODEL: "f" * 64}}, "several models"),
    ):
        (tmp_path / "out" / "other.json").write_text(json.dumps({**figures, key: other}))
        with pytest.raises(SystemExit, match=complaint):
            readme.check_origin()
    (tmp_path / "out" / "other.json").unlink()

    # The second time nothing is read or embedded, and records of the same inputs are taken as they are.
    before = (tmp_path / "records" / "pass_fires.Oz.project.json").read_text()
    monkeypatch.setattr(compute, "parse_ir", None)
    assert run(compute, table, "-o", features, "--counted", "--model", MODEL) == 0
    run(tasks, *words, "--row", "no_code", "--row", "autophase", "--row", "both", "--task", "pass_fires")
    assert (tmp_path / "records" / "pass_fires.Oz.project.json").read_text() == before

    # Read here, embedded where there is no LLVM: the same numbers.
    monkeypatch.undo()
    run = run_main(monkeypatch)
    assert run(compute, table, "--code", code) == 0
    monkeypatch.setattr(compute, "parse_ir", None)
    assert run(compute, code, "-o", tmp_path / "again", "--counted", "--model", MODEL) == 0
    for name in ("counted", MODEL):
        features_of_first, other = (read_kept(place / f"{name}.npz") for place in (features, tmp_path / "again"))
        assert features_of_first.hashes.tolist() == other.hashes.tolist()
        for part, matrix in features_of_first.parts.items():
            np.testing.assert_array_equal(matrix, other.parts[part])


def test_pieces_that_a_source_lacks_are_left_out_of_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compute, tasks = script("pass_features"), script("pass_tasks")
    table = tmp_path / "table"
    table.mkdir()
    write_small_table(table)
    run = run_main(monkeypatch)
    run(compute, table, "-o", tmp_path / "features", "--counted")
    stored = read_kept(tmp_path / "features" / "counted.npz")
    part = {name: matrix[2:] for name, matrix in stored.parts.items()}
    replace(stored, hashes=stored.hashes[2:], parts=part).save(tmp_path / "features" / "counted.npz")
    words = [table, "-o", tmp_path, "--records", tmp_path / "records", "--features", tmp_path / "features"]
    run(tasks, *words, "--task", "size_after", "--variant", "Oz", "--protocol", "held_out", "--row", "histogram")
    assert "size_after Oz: 2 of 24 pieces have no features: left out" in capsys.readouterr().out
    assert json.loads((tmp_path / "size_after.Oz.held_out.json").read_text())["samples"] == 22


def test_a_taught_model_is_not_tested_on_answers_that_it_saw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, table = script("pass_tasks"), tmp_path / "table"
    table.mkdir()
    hashes = np.array([piece.ir_hash for piece in write_small_table(table).pieces])
    parts = {part: np.ones((len(hashes), 2)) for part in ("text", "graph")}
    KeptFeatures("plain", "1", hashes, parts).save(tmp_path / "plain.npz")
    KeptFeatures("fast", "2", hashes, {**parts, "taught": parts["text"]}).save(tmp_path / "fast.npz")
    words = ["--records", tmp_path / "records", "--features", tmp_path, "--first", "plain", "--task", "size_after"]
    words += ["--variant", "Oz", *(word for row in ("no_code", "both", "both:fast") for word in ("--row", row))]
    run_main(monkeypatch)(tasks, table, "-o", tmp_path / "out", *words)
    records = {
        protocol: json.loads((tmp_path / "out" / f"size_after.Oz.{protocol}.json").read_text())
        for protocol in ("held_out", "project")
    }
    assert list(records["held_out"]["figures"]) == ["mean", "no_code", "both", "both:fast"]
    assert list(records["project"]["figures"]) == ["mean", "no_code", "both"]
    assert records["held_out"]["model"] == {"name": "plain", "digest": "1", "others": {"fast": "2"}}


def test_a_piece_that_has_no_vectors_is_told_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compute, table = script("pass_features"), tmp_path / "table"
    table.mkdir()
    pieces = write_small_table(table, projects=2).pieces
    wrong = next(piece for piece in pieces if piece.symbol)
    read = compute.read_code(table)
    code = [one._replace(symbol="elsewhere") if one.hash == wrong.ir_hash else one for one in read]
    monkeypatch.setattr(compute, "read_code", lambda place: code)
    assert run_main(monkeypatch)(compute, table, "-o", tmp_path / "features", "--model", MODEL) == 1
    assert f"{wrong.ir_hash[:12]}: " in capsys.readouterr().err
    hashes = set(read_kept(tmp_path / "features" / f"{MODEL}.npz").hashes.tolist())
    assert hashes == {piece.ir_hash for piece in pieces} - {wrong.ir_hash}


def test_a_run_that_was_stopped_keeps_the_seeds_that_were_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, run, tasks = tmp_path / "table", run_main(monkeypatch), script("pass_tasks")
    table.mkdir()
    write_small_table(table)
    run(script("pass_features"), table, "-o", tmp_path / "features", "--counted")
    words = [table, "-o", tmp_path / "out", "--records", tmp_path / "records", "--features", tmp_path / "features"]
    words += ["--task", "size_after", "--variant", "Oz", "--protocol", "held_out", "--row", "no_code", "--seeds", 2]
    seeds_done: list[int] = []

    def stopped(work: Any, *arguments: Any) -> Any:
        for job, result in zip(work, run_jobs(work, *arguments), strict=True):
            if seeds_done:
                raise KeyboardInterrupt
            yield result
            seeds_done.append(job.seed)

    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "run_jobs", stopped)
        with pytest.raises(KeyboardInterrupt):
            run(tasks, *words)
    path = tmp_path / "records" / "size_after.Oz.held_out.json"
    assert json.loads(path.read_text())["seeds"] == [0]
    run(tasks, *words)
    assert json.loads(path.read_text())["seeds"] == [0, 1]


def run_main(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs a script's main with words behind its name, and gives its exit code."""

    def run(module: ModuleType, *words: object) -> int:
        monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, words)])
        try:
            module.main()
        except SystemExit as end:
            return int(end.code or 0)
        return 0

    return run


def test_ready_heads_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, features, heads = tmp_path / "table", tmp_path / "features", tmp_path / "heads"
    table.mkdir()
    write_small_table(table, projects=8, each=6)
    run = run_main(monkeypatch)
    run(script("pass_features"), table, "-o", features, "--model", MODEL)
    run(script("ready_heads"), "--passes", table, "--features", features, "--model", MODEL, "-o", heads)
    assert {path.name for path in heads.iterdir()} == {"size_after.Oz", "size_after.O0", "pass_list.all"}
    for folder in heads.iterdir():
        head = TaskHead.load(folder)
        assert (f"{head.task.name}.{head.variant or 'all'}", head.model) == (folder.name, MODEL)


@pytest.mark.needs("libLLVM 19")
@pytest.mark.needs("opt-19")  # llc-19 comes with it
def test_whole_projects_are_weighed_by_other_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("size") is None:
        pytest.skip("binutils are not here")
    for project, rows in (("one", (3, 6)), ("two", (4,))):
        (tmp_path / project).mkdir()
        for row in rows:
            text = ir_of(row).replace(") {", ") minsize optsize {")
            (tmp_path / project / f"f{row}.ll").write_text(text, encoding="utf-8")
    record = tmp_path / "projects.json"
    words = [f"one={tmp_path / 'one'}", f"two={tmp_path / 'two'}:1", "-k", 2, "-o", record]
    run_main(monkeypatch)(script("passes/project_figures"), *words)
    written = json.loads(record.read_text())
    assert {name: one["modules"] for name, one in written["projects"].items()} == {"one": 2, "two": 1}
    for one in written["projects"].values():
        assert not one["failed"]
        assert 0 < one["best"] <= one["oz"] < one["before"]
        assert one["exact"] == one["modules"] == sum(one["won_by"].values())
    assert "one: 2 modules, " in capsys.readouterr().out
    table_text = script("passes/readme_tables").whole_projects(written)
    assert f"| one | 2 | {written['projects']['one']['before']:,} |" in table_text
