"""Labels of one's own: figures are scikit-learn's on the same folds, heads survive the disk, bad rows are left out."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    mean_absolute_error,
    r2_score,
)
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_labels import HEADER, write_labels, write_module, write_table

from mirenc.base.errors import ConfigError, HeadError, IRFileError, MirencError, TaskError
from mirenc.decide.custom_head import CustomHead
from mirenc.decide.label_table import kind_of_labels
from mirenc.decide.own_labels import LabelReport, fit_labels
from mirenc.encoder import Encoder, load
from mirenc.llvm import Region

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def tiny() -> Encoder:
    return load("mirenc-tiny", cache=False)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_labels(tmp_path_factory.mktemp("labels"))


@pytest.fixture(scope="module")
def classes(tables: tuple[Path, Path], tiny: Encoder) -> LabelReport:
    return fit_labels(tables[0], tiny)


@pytest.fixture(scope="module")
def numbers(tables: tuple[Path, Path], tiny: Encoder) -> LabelReport:
    return fit_labels(tables[1], tiny, logarithm=False)


def rows_of(table: Path) -> list[dict[str, str]]:
    with open(table, newline="", encoding="utf-8") as stream:
        return [row | {"file": str(table.parent / row["file"])} for row in csv.DictReader(stream)]


def outer_folds(report: LabelReport) -> list[tuple[np.ndarray, np.ndarray]]:
    """Six groups are left out one at a time."""
    folds = list(LeaveOneGroupOut().split(report.code.vectors, groups=report.code.groups))
    for _, test in folds:  # what the report says of its folds
        assert len(set(report.fold[test].tolist())) == 1
    return folds


def by_scikit_learn(estimator, grid, scoring, features, labels, report):
    """Held-out answers, where each outer fold chooses among the grid on three folds of its own groups."""
    answers = np.empty_like(labels)
    for training, test in outer_folds(report):
        inner = GroupKFold(3, shuffle=True, random_state=0)
        _, groups = np.unique(report.code.groups[training], return_inverse=True)
        folds = list(inner.split(groups, groups=groups))
        search = GridSearchCV(estimator, grid, cv=folds, scoring=scoring).fit(features[training], labels[training])
        answers[test] = search.predict(features[test])
    return answers


def test_figures_of_classes_are_scikit_learns_on_the_same_folds(classes: LabelReport) -> None:
    labels, features = classes.code.labels, classes.code.vectors.astype(np.float64)
    estimator = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
    grid = {"logisticregression__C": (0.001, 0.01, 0.1, 1.0)}
    answers = by_scikit_learn(estimator, grid, "neg_log_loss", features, labels, classes)
    figures = classes.figures["embedding"]
    assert figures["accuracy"] == pytest.approx(accuracy_score(labels, answers), abs=1e-9)
    assert figures["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(labels, answers), abs=1e-9)
    assert figures["macro_f1"] == pytest.approx(f1_score(labels, answers, average="macro"), abs=1e-9)
    np.testing.assert_array_equal(classes.confusion, confusion_matrix(labels, answers))
    words = TfidfVectorizer(norm=None, sublinear_tf=True, lowercase=False, token_pattern=r"[@%]?[-\w.$]+")
    bag = make_pipeline(words, LogisticRegression(max_iter=5000))
    texts = np.array(classes.code.texts, dtype=object)
    answers = by_scikit_learn(bag, grid, "neg_log_loss", texts, labels, classes)
    np.testing.assert_array_equal(classes.answers["bag of words"], answers)
    prior = cross_val_predict(DummyClassifier(), features, labels, cv=outer_folds(classes))
    assert classes.figures["most frequent class"]["accuracy"] == accuracy_score(labels, prior)
    gain = figures["balanced_accuracy"] - balanced_accuracy_score(labels, prior)
    assert classes.figures["most frequent class"]["gain"][0] == pytest.approx(gain, abs=1e-9)


def test_figures_of_numbers_are_scikit_learns_on_the_same_folds(numbers: LabelReport) -> None:
    labels, features = numbers.code.labels, numbers.code.vectors.astype(np.float64)
    answers = np.empty_like(labels)
    for training, test in outer_folds(numbers):
        _, groups = np.unique(numbers.code.groups[training], return_inverse=True)
        folds = list(GroupKFold(3, shuffle=True, random_state=0).split(groups, groups=groups))
        scores = []
        for alpha in (0.01, 0.1, 1.0, 10.0):  # in units of a column's variance: scikit-learn's sums over the rows
            error = []
            for inside, outside in folds:
                ridge = make_pipeline(StandardScaler(), Ridge(alpha * len(inside)))
                ridge.fit(features[training][inside], labels[training][inside])
                error.append(np.mean((ridge.predict(features[training][outside]) - labels[training][outside]) ** 2))
            scores.append((np.mean(error), alpha))
        ridge = make_pipeline(StandardScaler(), Ridge(min(scores)[1] * len(training)))
        answers[test] = ridge.fit(features[training], labels[training]).predict(features[test])
    figures = numbers.figures["embedding"]
    assert figures["r2"] == pytest.approx(r2_score(labels, answers), abs=1e-9)
    assert figures["mae"] == pytest.approx(mean_absolute_error(labels, answers), abs=1e-9)
    saved = 1 - figures["mae"] / numbers.figures["mean"]["mae"]
    assert numbers.figures["mean"]["gain"][0] == pytest.approx(saved, abs=1e-9)
    assert figures["r2"] > 0.5  # the size says most


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_the_interval_of_a_gain_is_that_of_the_figure_in_resampled_groups(
    kind: str, classes: LabelReport, numbers: LabelReport
) -> None:
    report = classes if kind == "classes" else numbers
    labels, own = report.code.labels, report.answers["embedding"]
    other = report.answers["instruction count"]
    rows = [np.flatnonzero(report.code.groups == name) for name in np.unique(report.code.groups)]
    gains = []
    for drawn in np.random.default_rng(0).integers(0, len(rows), size=(2000, len(rows))):
        take = np.concatenate([rows[group] for group in drawn])
        if kind == "classes":
            recall = [np.mean((own == labels)[take][labels[take] == name]) for name in np.unique(labels[take])]
            rival = [np.mean((other == labels)[take][labels[take] == name]) for name in np.unique(labels[take])]
            gains.append(np.mean(recall) - np.mean(rival))
        else:
            gains.append(1 - np.abs(own - labels)[take].sum() / np.abs(other - labels)[take].sum())
    expected = np.percentile(gains, [2.5, 97.5])
    np.testing.assert_allclose(report.figures["instruction count"]["gain"][1:], expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["number", "class"])
def test_an_unknown_kind_of_labels_is_an_error(kind: str, tables: tuple[Path, Path], tiny: Encoder) -> None:
    with pytest.raises(ConfigError, match=f"unknown kind of labels '{kind}'; available: classes, numbers"):
        fit_labels(tables[1], tiny, kind=kind)  # type: ignore[arg-type]


def test_what_a_notebook_shows_is_short(classes: LabelReport) -> None:
    assert all(len(repr(part)) < 500 for part in (classes, classes.code, classes.head))


def test_code_of_two_groups_is_counted(tmp_path: Path, tiny: Encoder) -> None:
    for file in ("a", "b"):  # g is the same in both, f is not
        write_module(tmp_path / f"{file}.ll", {"f": ("add", 1 + (file == "b")), "g": ("mul", 3)})
    rows = [{"file": f"{tmp_path}/{file}.ll", "function": name, "label": name} for file in "ab" for name in "fg"]
    assert fit_labels(rows, tiny).code.shared == 2


def test_the_embedding_tells_operations_apart_that_their_number_does_not(classes: LabelReport) -> None:
    figures = {name: row["balanced_accuracy"] for name, row in classes.figures.items()}
    assert figures["embedding"] > 0.8 > 0.6 > figures["instruction count"]
    assert figures["most frequent class"] <= 0.5
    assert classes.head.facts.gain[1] > 0


def test_logarithms_are_fitted_where_numbers_are_of_several_magnitudes(
    tables: tuple[Path, Path], tiny: Encoder, numbers: LabelReport
) -> None:
    rows = [
        {"file": name.split(": ")[0], "function": name.split(": ")[1], "label": 2.0 ** (number / 10), "group": group}
        for name, number, group in zip(numbers.code.names, numbers.code.labels, numbers.code.groups, strict=True)
    ]
    report = fit_labels(rows, tiny)  # mappings in memory; files are relative to the working folder, or absolute
    assert report.head.facts.logarithm
    assert not fit_labels(rows, tiny, logarithm=False).head.facts.logarithm
    np.testing.assert_allclose(report.code.labels, 2.0 ** (numbers.code.labels / 10))
    (answer,) = report.head.predict(tables[0].parent / "m0.ll", function="f1")
    low, high = answer.interval
    # The same factor up and down, of 1 + number.
    assert (answer.value + 1) / (low + 1) == pytest.approx((high + 1) / (answer.value + 1))
    assert np.log((high + 1) / (answer.value + 1)) == pytest.approx(report.head.facts.error)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_head_answers_the_same_after_the_disk(
    kind: str, request: pytest.FixtureRequest, tables: tuple[Path, Path], tiny: Encoder, tmp_path: Path
) -> None:
    report = request.getfixturevalue(kind)
    again = CustomHead.load(report.head.save(tmp_path / "head"), encoder=tiny)
    assert again.facts == report.head.facts
    file = tables[0].parent / "m3.ll"
    answers = again.predict(file)
    assert answers == report.head.predict(file)
    assert [answer.region.name for answer in answers] == ["f0", "f1", "f2", "f3"]
    assert [again.predict(file, function="f2")] == [answers[2:3]]
    assert answers[0].distance == pytest.approx(0, abs=0.05)  # it was trained on
    assert answers[0].follow == (report.head.facts.gain[1] > 0)
    if kind == "classes":
        assert sum(answers[0].probability.values()) == pytest.approx(1)
        assert answers[0].value in {"add", "mul", "xor"}
    else:
        low, high = answers[0].interval
        assert (high - low) / 2 == pytest.approx(report.head.facts.error)


def test_an_answer_about_other_code_is_not_to_be_followed(classes: LabelReport) -> None:
    (answer,) = classes.head.predict(EXAMPLES / "saxpy.ll")
    assert answer.distance > 1
    assert not answer.follow
    assert "unlike the code that the head was trained on" in answer.why


def test_code_of_another_build_is_named_as_the_cause(classes: LabelReport) -> None:
    assert classes.head.facts.built == ("O0",)  # its functions have no attribute and nothing of an optimiser
    (answer,) = classes.head.predict(EXAMPLES / "saxpy.ll")
    assert answer.region.built == "O2"
    assert answer.why.endswith(
        "above 1 is far): that code was built before optimisation, this at -O2 or -O3. Give code of such a build"
    )


def test_a_function_larger_than_all_in_training_is_not_to_be_followed(numbers: LabelReport, tmp_path: Path) -> None:
    assert numbers.head.facts.instructions == (2, 18)  # 1 to 17 operations, and the return
    write_module(tmp_path / "large.ll", {"large": ("mul", 40)})
    (answer,) = numbers.head.predict(tmp_path / "large.ll")
    assert not answer.follow
    assert answer.why == "the code that the head was trained on has 2 to 18 instructions, and this 41"


def test_an_interval_beyond_all_labels_in_training_is_not_to_be_followed(numbers: LabelReport) -> None:
    facts = numbers.head.facts
    assert (facts.smallest_label, facts.largest_label) == (
        None,
        None,
    )  # 3 of 48 samples have the smallest label, and 3 the largest
    region = Region("function", "f", "f", "", 0, "", 0, built="O0")
    assert facts.beyond(region, 5, (1.0, 500.0), 0.5) == ""
    ended = facts.model_copy(update={"smallest_label": 32.0, "largest_label": 400.0})
    assert ended.beyond(region, 5, (32.0, 400.0), 0.5) == ""
    assert ended.beyond(region, 5, (31.9, 400.0), 0.5).startswith("the smallest label in training is 32, and")
    assert ended.beyond(region, 5, (32.0, 400.1), 0.5).startswith("the largest label in training is 400, and")


def test_labels_that_end_at_a_rare_number_end_there_for_the_head(tmp_path: Path, tiny: Encoder) -> None:
    rows = []
    for file in range(6):
        write_module(tmp_path / f"m{file}.ll", {f"f{place}": ("mul", 4 * file + place + 1) for place in range(4)})
        rows += [(f"m{file}.ll", f"f{place}", 32.5 + 10 * (4 * file + place), file) for place in range(4)]
    facts = fit_labels(write_table(tmp_path / "labels.csv", rows), tiny, logarithm=False).head.facts
    assert (facts.smallest_label, facts.largest_label) == (32.5, 262.5)  # each label once, 1 of 24


def test_heads_that_do_not_fit_are_refused(classes: LabelReport, tiny: Encoder, tmp_path: Path) -> None:
    folder = classes.head.save(tmp_path / "head")
    with pytest.raises(HeadError, match=r"trained on vectors of mirenc-tiny .*, not of mirenc-fast"):
        CustomHead.load(folder, encoder=load(cache=False)).predict(EXAMPLES / "saxpy.ll")
    with pytest.raises(TaskError, match="no function 'sapxy' with a body; did you mean 'saxpy'"):
        classes.head.predict(EXAMPLES / "saxpy.ll", function="sapxy")
    about = json.loads((folder / "head.json").read_text(encoding="utf-8"))
    about["extra"]["custom"]["form"] = "O7"
    (folder / "head.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(HeadError, match=r"head\.json is damaged \(form: "):
        CustomHead.load(folder)
    for task, asked in (("openmp", "openmp"), ("mine", "--task-file FILE.py")):
        about["extra"] = {"task": task}
        (folder / "head.json").write_text(json.dumps(about), encoding="utf-8")
        with pytest.raises(HeadError, match=rf"is a head of a task\. Type: mirenc predict {asked} INPUT --head"):
            CustomHead.load(folder)


# -- tables --------------------------------------------------------------------------------------------
def test_bad_rows_are_left_out_with_their_reasons(tables: tuple[Path, Path], tiny: Encoder, tmp_path: Path) -> None:
    folder = tables[0].parent
    rows = [(f"m{file}.ll", f"f{place}", ("no", "yes")[place % 2], file) for file in range(6) for place in range(2)]
    bad = {
        ("m0.ll", "f0", "no", 0): "the same code as bad.csv, row 1",
        ("m0.ll", "f1", "no", 0): "the same code as bad.csv, row 2, which has the label 'yes'",
        ("m1.ll", "g7", "no", 1): "no function 'g7' with a body; it has f0, f1, f2, f3",
        ("m2.ll", "", "no", 2): "no function",
        ("m2.ll", "f2", "", 2): "no label",
        ("m2.ll", "f3", "no", ""): "no group",
        ("", "f3", "no", 1): "no file",
        ("gone.ll", "f3", "no", 1): "no such file",
        ("m3.ll", "f3", "perhaps", 3): "class 'perhaps' has one sample",
    }
    table = write_table(folder / "bad.csv", [*rows, *bad])
    report = fit_labels(table, tiny)
    assert len(report.code.names) == 12
    assert len(report.code.left_out) == len(bad)
    for number, reason in enumerate(bad.values(), 13):
        (line,) = [line for line in report.code.left_out if line.startswith(f"{table}, row {number}:")]
        assert reason in line.replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("header", "rows", "options", "error", "message"),
    [
        (
            ["file", "function", "lable"],
            [("m0.ll", "f0", 1)],
            {},
            ConfigError,
            "no column 'label'; did you mean 'lable'",
        ),
        (["path", "label"], [("m0.ll", 1)], {}, ConfigError, "no column 'file'; found: path, label"),
        (
            HEADER,
            [("m0.ll", "f0", "a", "g")],
            {"group": "team"},
            ConfigError,
            "no column 'team'; found: file, function",
        ),
        (HEADER, [], {}, ConfigError, "no column 'file'; found: no rows"),
        (HEADER, [("m0.ll", "f0", "", "g")], {}, ConfigError, "no usable row: .*no label"),
        (HEADER, [(f"m{n}.ll", "f0", "ab"[n % 2], "g") for n in range(4)], {}, TaskError, "two groups are needed"),
        (HEADER, [(f"m{n}.ll", "f0", "a", n) for n in range(4)], {}, TaskError, "two labels are needed"),
        (
            HEADER,
            [(f"no{n}.ll", "f0", n, n) for n in range(4)],
            {},
            TaskError,
            "row 1: .*no0.ll: no such .* relative to the folder that it is in",
        ),
        (
            HEADER,
            [(f"m{n}.ll", "f0", "ab"[n // 2], n // 2) for n in range(4)],
            {},
            TaskError,
            "without group '[01]' all",
        ),
    ],
)
def test_tables_that_cannot_be_used_are_refused(
    header: list[str],
    rows: list[tuple[object, ...]],
    options: dict[str, str],
    error: type[MirencError],
    message: str,
    tables: tuple[Path, Path],
    tiny: Encoder,
) -> None:
    table = write_table(tables[0].parent / "refused.csv", rows, header)
    with pytest.raises(error, match=message):
        fit_labels(table, tiny, **options)


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t")])
def test_a_row_with_too_many_cells_is_refused(suffix: str, separator: str, tiny: Encoder, tmp_path: Path) -> None:
    table = write_table(tmp_path / f"t.{suffix}", [("a.ll", "f", 1, "g"), ("a.ll", "h", 2, "g", 5)], HEADER, separator)
    allowed = "allowed: 4, one for each column of the first line"
    with pytest.raises(ConfigError, match=rf"t\.{suffix}, line 3: 5 cells; {allowed}\. Put quotes around a cell"):
        fit_labels(table, tiny)


def test_a_table_that_is_not_there_is_an_error(tiny: Encoder) -> None:
    with pytest.raises(IRFileError, match=r"nowhere\.csv: no such file"):
        fit_labels("nowhere.csv", tiny)


def test_files_are_groups_where_no_column_says_so_and_rows_where_there_is_one_file(
    tables: tuple[Path, Path], tiny: Encoder, classes: LabelReport
) -> None:
    folder = tables[0].parent
    several = [(f"m{file}.ll", f"f{place}", "ab"[place % 2]) for file in range(3) for place in range(4)]
    report = fit_labels(write_table(folder / "files.tsv", several, HEADER[:3], "\t"), tiny)
    assert (report.code.group_by, len(set(report.fold.tolist()))) == ("file", 3)
    write_module(folder / "only.ll", {f"f{place}": (("add", "mul")[place % 2], 2 + place) for place in range(8)})
    single = [("only.ll", f"f{place}", ("add", "mul")[place % 2]) for place in range(8)]
    report = fit_labels(write_table(folder / "single.csv", single, HEADER[:3]), tiny)
    assert (report.code.group_by, len(set(report.code.groups.tolist()))) == ("", 8)
    assert classes.code.group_by == "column 'group'"


def test_labels_of_files_and_functions_by_line(tables: tuple[Path, Path], tiny: Encoder) -> None:
    folder = tables[0].parent
    files = [(f"m{file}.ll", "ab"[file % 2]) for file in range(6)]
    report = fit_labels(write_table(folder / "whole.csv", files, ["file", "label"]), tiny)
    np.testing.assert_array_equal(report.code.vectors[0], tiny.embed(folder / "m0.ll", purpose="features"))
    (answer,) = report.head.predict(folder / "m0.ll")
    assert answer.region.level == "module"
    with pytest.raises(TaskError, match="labels of files, not of functions"):
        report.head.predict(folder / "m0.ll", function="f0")
    lines = [(f"m{file}.ll", 3, "ab"[file % 2]) for file in range(6)]
    with pytest.raises(TaskError, match="no debug information, so no function has a line"):
        fit_labels(write_table(folder / "lines.csv", lines, ["file", "line", "label"]), tiny)


@pytest.mark.needs("C compiler")
def test_a_line_of_a_source_is_that_of_the_function_around_it(tiny: Encoder, tmp_path: Path, compiler: str) -> None:
    from mirenc.llvm import ReadOptions

    rows = []
    for number in range(4):
        source = f"int add(int x) {{\n  return x + {number};\n}}\n\nint mul(int x) {{\n  return x * {number + 3};\n}}\n"
        (tmp_path / f"s{number}.c").write_text(source, encoding="utf-8")
        rows += [(f"s{number}.c", 2, "sum"), (f"s{number}.c", 6, "product")]
    encoder = load("mirenc-tiny", cache=False, options=ReadOptions(cflags=("-g",)))
    report = fit_labels(write_table(tmp_path / "t.csv", rows, ["file", "line", "label"]), encoder)
    assert [name.rpartition(": ")[2] for name in report.code.names] == ["add", "mul"] * 4


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["a", "b"], "classes"),
        (["0", "1", "1.0"], "classes"),
        ([str(value) for value in range(11)], "numbers"),
        (["0.5", "1", "2"], "numbers"),
        ([*(f"{value}.5" for value in range(19)), "n"], "numbers"),  # one of 20 is a mistake
        (["1.5", "x"], "classes"),
    ],
)
def test_the_kind_of_labels(labels: list[str], kind: str) -> None:
    assert kind_of_labels(labels) == kind


def test_few_groups_are_no_evidence(tables: tuple[Path, Path], tiny: Encoder) -> None:
    """However well the head does on them."""
    rows = rows_of(tables[0])
    report = fit_labels([row for row in rows if row["group"] in sorted({row["group"] for row in rows})[:4]], tiny)
    assert report.head.facts.doubt.startswith("4 groups are too few to tell whether the head is of use")
    (answer,) = report.head.predict(tables[0].parent / "m3.ll", function="f2")
    assert not answer.follow
    assert answer.why == report.head.facts.doubt


def test_a_logarithm_of_small_numbers_is_refused(tables: tuple[Path, Path], tiny: Encoder) -> None:
    rows = [row | {"label": 1e-6 * (1 + number)} for number, row in enumerate(rows_of(tables[0]))]
    with pytest.raises(
        TaskError, match=r"the largest label is 4.8e-05, .* [(]microseconds, not seconds[)], or type: --no-log"
    ):
        fit_labels(rows, tiny, kind="numbers", logarithm=True)
    assert not fit_labels(rows, tiny, kind="numbers").head.facts.logarithm
    with pytest.raises(TaskError, match="the labels are classes, which have no logarithm"):
        fit_labels(rows_of(tables[0]), tiny, logarithm=True)
