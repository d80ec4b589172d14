"""Tasks over a table of passes, on a made-up one of two dozen pieces whose numbers can be told by heart."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_compiled import LISTS, ir_of, small_table, write_small_table

from mirenc.base.errors import TaskError
from mirenc.decide.evaluation.evaluate_task import Evaluation, evaluate
from mirenc.decide.evaluation.report import load_report
from mirenc.decide.features.feature_matrix import default_rows
from mirenc.decide.fit import fit_head
from mirenc.decide.load_samples import load_data
from mirenc.decide.registry import get_task, list_tasks
from mirenc.decide.tables.compiled import CompiledTable, Fires, Sizes
from mirenc.decide.task import Task
from mirenc.decide.task_head import TaskHead
from mirenc.decide.tasks.pass_tasks import CompiledTask, covering_lists
from mirenc.encoder import Encoder
from mirenc.llvm import parse_ir
from mirenc.llvm.analysis.regions import regions_of
from mirenc.llvm.passes.extract import extract_functions

TASKS = [name for name in list_tasks() if isinstance(get_task(name), CompiledTask)]
# Variants that the small table has: only of -Oz is it known which passes fire.
VARIANTS = [
    (name, variant) for name in TASKS for variant in get_task(name).variants if (name, variant) != ("pass_fires", "O3")
]
QUICK = ["no_code", "histogram"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six projects of four pieces, the last project held out."""
    table_folder = tmp_path_factory.mktemp("table")
    write_small_table(table_folder)
    return table_folder


# -- what a sample is ----------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_a_sample_is_a_piece(name: str, variant: str, folder: Path) -> None:
    table, task = small_table(), get_task(name)
    data = load_data(task, folder, variant)
    pieces = {piece.name: piece for piece in table.pieces}
    assert len(data) == len(pieces) - (name == "pass_fires")  # of one, nobody knows what fires
    for sample in data.samples:
        piece = pieces[sample.name]
        assert (sample.group, sample.part, sample.kernel) == (piece.project, piece.level, piece.name)
        assert sample.held_out == piece.held_out
        assert sample.context == (piece.instructions, piece.level)
        assert (sample.region is None) == (piece.level == "module")
    assert data.machine == table.title
    assert len(data.content_hash) == 64
    assert default_rows(task, data)[:2] == ["no_code", "histogram"]


@pytest.mark.parametrize("name", TASKS)
def test_the_code_tells_what_the_table_says(name: str, folder: Path) -> None:
    task = get_task(name)
    for sample in load_data(task, folder).samples:
        assert isinstance(sample.ir, str)
        module = parse_ir(sample.ir)
        context = task.context.parse(
            {key: str(value) for key, value in task.context.from_ir(module, sample.region).items()}
        )
        assert context[0] == module.instruction_count
        assert context[1] == sample.context[1]
        if sample.region is not None:
            (region,) = regions_of(module, "function").regions
            assert (region.symbol, region.header) == (sample.region.symbol, sample.region.header)


def test_context_features_are_a_whole_number_and_a_level() -> None:
    context = get_task("size_after").context
    assert context.encode((100, "function")).tolist() == [np.log(100), 0]
    assert context.encode((100, "module")).tolist() == [np.log(100), 1]
    assert context.parse({"instructions": "14", "level": "module"}) == (14, "module")
    for count in ("0", "-3", "many", "3.5"):
        with pytest.raises(TaskError, match="whole number from 1 up"):
            context.parse({"instructions": count, "level": "module"})


# -- targets -------------------------------------------------------------------------------------------
def test_sizes_are_logarithms_of_bytes(folder: Path) -> None:
    # Piece i has 100 + 10 i bytes; level number j (O0, Oz, Oz_plain, O2, O3) takes 2 j + i less.
    for variant, less in (("Oz", 2), ("O3", 8), ("O0", 0)):
        value = load_data(get_task("size_after"), folder, variant).value
        np.testing.assert_allclose(np.exp(value), [100 + 9 * row - less for row in range(24)])


def test_a_benefit_is_a_ratio_of_two_sizes(folder: Path) -> None:
    task = get_task("oz_benefit")
    values = {variant: load_data(task, folder, variant).value for variant in task.variants}
    size = np.array([100.0 + 9 * row for row in range(24)])
    np.testing.assert_allclose(np.exp(values["Oz_over_O0"]), size / (size - 2))
    np.testing.assert_allclose(np.exp(values["O3_over_Oz"]), (size - 8) / (size - 2))


def test_labels_are_the_passes_that_fire(folder: Path) -> None:
    data = load_data(get_task("pass_fires"), folder, "Oz")
    rows = [row for row in range(24) if row != 1]
    assert data.label_names == ("instcombine", "sroa")
    assert data.label_table.tolist() == [[row % 2 == 0, row % 3 == 0] for row in rows]
    assert data.target == "labels"


def table_with(fires: np.ndarray) -> CompiledTable:
    table = small_table()
    names = tuple(f"pass{column}" for column in range(fires.shape[1]))
    return replace(table, fires={"Oz": Fires(names, fires, np.ones(len(fires), dtype=bool))})


def ask(name: str, table: CompiledTable, folder: Path, variant: str = "") -> object:
    table.write(folder)
    return load_data(get_task(name), folder, variant)


def test_passes_that_always_or_never_fire_in_training_are_left_out(tmp_path: Path) -> None:
    rows = np.arange(24)
    fires = np.stack([rows >= 0, rows < 0, rows >= 20, rows < 3], axis=1)  # the third in held-out pieces alone
    data = ask("pass_fires", table_with(fires), tmp_path)
    assert data.label_names == ("pass3",)  # type: ignore[attr-defined]
    with pytest.raises(TaskError, match=r"each pass changes either all training pieces or none"):
        ask("pass_fires", table_with(fires[:, :3]), tmp_path)


def test_costs_are_bytes_under_the_lists_that_cover_best(folder: Path) -> None:
    data = load_data(get_task("pass_list"), folder)
    assert data.space is not None
    assert data.space.knobs == ("passes",)
    # The second list wins on even pieces, the third never does.
    assert data.space.names == tuple(one.pipeline for one in LISTS)
    assert data.space.default == 0
    oz = [98.0 + 9 * row for row in range(24)]
    np.testing.assert_allclose(data.baseline, oz)
    np.testing.assert_allclose(data.costs[:, 1], [size + (5 if row % 2 else -3) for row, size in enumerate(oz)])
    # Where a list fails, the default runs.
    assert np.isnan(data.costs[-1, 2])
    assert data.known[-1, 2] == oz[-1]


def test_lists_are_covered_greedily_and_oz_is_first() -> None:
    sizes = np.array(
        [
            [100.0, 90, 99, 100, 120],
            [100.0, 95, 99, 100, 120],
            [100.0, 130, 99, np.nan, 80],
        ]
    )
    # The fifth saves log(100/80), 0.22, the second log(100/90) + log(100/95), 0.16; the third then helps nobody.
    assert covering_lists(sizes, 3).tolist() == [0, 4, 1]
    assert sorted(covering_lists(sizes, 50).tolist()) == [0, 1, 2, 3, 4]


def test_what_failed_is_left_out(tmp_path: Path) -> None:
    table = small_table()
    lost = table.levels["Oz"].code_bytes.copy()
    lost[3] = np.nan
    levels = {**table.levels, "Oz": Sizes(table.levels["Oz"].instructions, lost, (np.isnan(lost)).astype(np.int8))}
    data = ask("size_after", replace(table, levels=levels), tmp_path, "Oz")
    assert len(data) == 23  # type: ignore[arg-type]


# -- without code, or without what is asked for --------------------------------------------------------
def test_a_table_without_ir_still_makes_reports(folder: Path, tmp_path: Path, tiny: Encoder) -> None:
    task = get_task("size_after")
    complete = load_data(task, folder, "Oz")
    report = evaluate(task, complete, variant="Oz", encoder=tiny, rows=QUICK, protocols=["held_out"], seeds=(0,))
    path = report.save(tmp_path / "record.json")
    shutil.copytree(folder, tmp_path / "bare", ignore=shutil.ignore_patterns("ir.parquet"))
    bare = load_data(task, tmp_path / "bare", "Oz")
    assert not bare.has_code
    assert str(load_report(path, task, bare)) == str(report)
    assert default_rows(task, bare) == ["no_code"]
    with pytest.raises(TaskError, match="comes without code"):
        Evaluation.prepare(task, bare, variant="Oz", encoder=tiny, rows=["both"])


def test_what_a_table_does_not_have_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"size_after needs a table of passes\. Make one: mirenc label"):
        load_data(get_task("size_after"), None)
    with pytest.raises(TaskError, match="which passes of O3 change a piece; the table has those of Oz"):
        load_data(get_task("pass_fires"), folder, "O3")
    table = small_table()
    less = replace(table, levels={level: table.levels[level] for level in ("O0", "Oz")})
    with pytest.raises(TaskError, match="needs sizes after O3; the table has O0, Oz"):
        ask("size_after", less, tmp_path, "O3")


# -- from a table to an answer -------------------------------------------------------------------------
@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_its_table_and_its_head(name: str, folder: Path, tiny: Encoder, tmp_path: Path) -> None:
    task = get_task(name)
    data = load_data(task, folder)
    report = evaluate(task, data, encoder=tiny, rows=QUICK, seeds=(0, 1))
    tested = {"held_out": data.held_out, "project": ~data.held_out}
    for protocol, inside in tested.items():
        np.testing.assert_array_equal(report.tested(protocol), inside)
        predictions = report.predictions(protocol, "histogram")
        assert predictions.shape[:2] == (2, len(data))
        assert not predictions[:, ~inside].any()
        assert len(list(report.lines(protocol))) == len(report.rows(protocol))
    again = load_report(report.save(tmp_path / "record.json"), task, data)
    assert str(again) == str(report)
    runs = again.record["protocols"]
    digests = {
        (one, seed, "no_code"): runs[one]["seeds"][str(seed)]["rows"]["no_code"]["inputs"]
        for one in tested
        for seed in (0, 1)
    }
    assert set(again.known(digests)) == set(digests)

    head = TaskHead.load(fit_head(task, data, tiny).save(tmp_path / "head"), task, encoder=tiny)
    assert head.data_hash == data.content_hash
    assert head.llvm == "19.1.7"
    text = ir_of(3) + ir_of(5)
    functions = head.predict(text, {})
    assert [one.region.symbol for one in functions if one.region] == ["f3", "f5"]
    assert [one.context["instructions"] for one in functions] == [6, 8]
    (module,) = head.predict(text, {}, level="module")
    assert module.context == {"instructions": 14, "level": "module"}
    if task.target == "labels":
        assert list(module.labels) == list(data.label_names)
        assert all(0 <= one <= 1 for one in module.labels.values())
    elif task.target == "costs":
        assert module.choice in data.space.names  # type: ignore[union-attr]
    else:
        assert np.isfinite(module.value)
    with pytest.raises(TaskError, match="no answers about a loop; available: function, module"):
        head.predict(text, {}, level="loop")


def test_a_function_of_a_module_is_answered_as_the_module_of_its_own_that_samples_are(
    folder: Path, tiny: Encoder
) -> None:
    task = get_task("size_after")
    head = fit_head(task, task.load(folder, "Oz"), tiny, variant="Oz", row="graph")
    text = (
        "@seen = constant i32 7\n"
        "define internal i32 @helper(i32 %x) {\n  %v = load i32, ptr @seen\n  %y = mul i32 %x, %v\n  ret i32 %y\n}\n"
        "define i32 @asked(i32 %x) {\n  %y = call i32 @helper(i32 %x)\n  ret i32 %y\n}\n"
    )
    answers = head.predict(parse_ir(text), {})
    alone = dict(extract_functions(text))
    assert [one.region.symbol for one in answers if one.region is not None] == list(alone) == ["helper", "asked"]
    expected = [head.predict(parse_ir(one), {})[0] for one in alone.values()]
    assert [(one.value, one.distance) for one in answers] == [(one.value, one.distance) for one in expected]


def test_held_out_pieces_have_no_part_in_a_head(folder: Path, tiny: Encoder) -> None:
    task = get_task("size_after")
    data = load_data(task, folder)
    wrong = [replace(one, value=99.0) if one.held_out else one for one in data.samples]
    heads = [fit_head(task, replace(data, samples=samples), tiny) for samples in (data.samples, wrong)]
    answers = [head.predict(ir_of(4), {})[0] for head in heads]
    assert answers[0].value == answers[1].value
    assert answers[0].evidence == answers[1].evidence


def test_a_taught_model_is_judged_by_held_out_pieces_alone(folder: Path, taught: Encoder) -> None:
    """Of projects for training it has seen the answers; of held-out ones a head still learns nothing."""
    task = get_task("size_after")
    data = load_data(task, folder)
    right = [replace(one, held_out=one.group in ("p4", "p5")) for one in data.samples]
    wrong = [replace(one, value=99.0) if one.held_out else one for one in right]
    heads = [fit_head(task, replace(data, samples=samples), taught) for samples in (right, wrong)]
    answers = [head.predict(ir_of(4), {})[0] for head in heads]
    assert answers[0].value == answers[1].value
    worth = [answer.evidence.worth for answer in answers]
    assert worth[0] is not None
    assert worth[1] is not None
    assert worth[0][0] > worth[1][0]
    assert answers[1].evidence.error > 90


def test_figures_are_of_what_a_protocol_tests(folder: Path, tiny: Encoder) -> None:
    task = get_task("size_after")
    data = load_data(task, folder)
    report = evaluate(task, data, encoder=tiny, rows=["no_code"], seeds=(0,))
    mean = data.value[~data.held_out].mean()
    error = np.abs(data.value[data.held_out] - mean)
    figures = report.figures("held_out", "mean")
    assert figures["mae"] == pytest.approx(error.mean(), rel=1e-6)
    assert figures["mape"] == pytest.approx(np.abs(np.expm1(mean - data.value[data.held_out])).mean(), rel=1e-6)
    assert report.figures("held_out", "no_code")["mae_gain"] == 0


class Halved(type(get_task("oz_benefit"))):  # type: ignore[misc]
    """As `oz_benefit`, with an event that some of the small pieces have."""

    events = {"Oz_over_O0": ("-Oz saves 1.2 %", float(np.log(1.012)))}  # noqa: RUF012 - a ClassVar by its base


def test_a_yes_or_no_is_told_beside_the_number(folder: Path, tiny: Encoder) -> None:
    task: Task = Halved()
    data = load_data(task, folder)
    report = evaluate(task, data, encoder=tiny, rows=["no_code"], protocols=["project"], seeds=(0,))
    figures = report.figures("project", "no_code")
    truth = data.value[~data.held_out] >= np.log(1.012)
    predictions = report.predictions("project", "no_code")[0][~data.held_out]
    pairs = [(a > b) + (a == b) / 2 for a in predictions[truth] for b in predictions[~truth]]
    assert figures["auc"] == pytest.approx(np.mean(pairs))
    assert figures["rate"] == truth.mean()
    assert figures["auc_interval"][0] <= figures["auc"] <= figures["auc_interval"][1]
    (line,) = [one for one in report.lines("project") if one["row"] == "no code"]
    assert any(title.startswith("AUC, -Oz saves 1.2 %") for title in line)


def test_labels_are_ranked_by_scores_and_told_as_probabilities(folder: Path, tiny: Encoder) -> None:
    task = get_task("pass_fires")
    data = load_data(task, folder, "Oz")
    report = evaluate(task, data, variant="Oz", encoder=tiny, rows=["text"], protocols=["project"], seeds=(0,))
    scores, truth = report.predictions("project", "text")[0][~data.held_out], data.label_table[~data.held_out]
    assert scores.min() < 0
    assert scores.max() > 1
    pairs = [
        np.mean([(a > b) + (a == b) / 2 for a in column[true_rows] for b in column[~true_rows]])
        for column, true_rows in zip(scores.T, truth.T, strict=True)
    ]
    figures = report.figures("project", "text")
    assert figures["auc"] == pytest.approx(np.mean(pairs))
    assert figures["brier"] == pytest.approx(np.mean((np.clip(scores, 0, 1) - truth) ** 2))
    head = fit_head(task, data, tiny, variant="Oz", row="text")
    likely = [value for row in range(40) for one in head.predict(ir_of(row), {}) for value in one.labels.values()]
    assert {0.0, 1.0} & set(likely)
    assert all(0 <= value <= 1 for value in likely)
