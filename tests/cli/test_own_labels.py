"""``mirenc fit LABELS.csv`` and ``mirenc predict HEAD INPUT``: what is printed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run
from small_labels import write_labels

import mirenc

EXAMPLE = Path(__file__).parents[2] / "examples" / "saxpy.ll"
MODEL = ("--model", "mirenc-tiny")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_labels(tmp_path_factory.mktemp("labels"))


def test_a_head_of_classes_is_fitted_and_asked(run: Run, tables: tuple[Path, Path], tmp_path: Path) -> None:
    fitted = run("fit", tables[0], "-o", tmp_path / "head", *MODEL)
    assert fitted.code == 0
    assert fitted.out.startswith("48 functions, 6 groups (column 'group'); model mirenc-tiny, form plain\nlabel: ")
    for words in ("most frequent class", "bag of words", "embedding", "answer mul", "It is better than guessing"):
        assert words in fitted.out
    assert fitted.err == (
        f"mirenc: embedding the code of {tables[0]}; then a head is trained on it, and tested on groups held out\n"
        "mirenc: warning: 40 of 48 rows have the same code as a row of another group, so they test what was trained "
        "on. Give equal code one group, or leave it out\n"
        f"mirenc: wrote {tmp_path / 'head'}. To use the head, type: mirenc predict {tmp_path / 'head'} INPUT\n"
    )
    file = tables[0].parent / "m3.ll"
    for head in (tmp_path / "head", tmp_path / "head" / "head.json"):
        predicted = run("predict", head, file, "--function", "f2")
        assert predicted.code == 0
        place, follow = predicted.out.splitlines()
        assert place.startswith(f"{file}: f2: label xor  (xor ")
        assert "follow it: " in follow
        assert "held-out answers about as sure as this one, " in follow
    line = json.loads(run("predict", tmp_path / "head", EXAMPLE, "--json").out)
    assert (line["region"]["name"], line["follow"], line["interval"]) == ("saxpy", False, None)
    assert set(line["probability"]) == {"add", "mul", "xor"}


def test_numbers_as_json_with_rows_that_are_left_out(run: Run, tables: tuple[Path, Path], tmp_path: Path) -> None:
    table = tables[1].parent / "more.csv"
    table.write_text(tables[1].read_text(encoding="utf-8") + "m0.ll,g,3.5,other\n", encoding="utf-8")
    fitted = run("fit", table, "--json", "--kind", "numbers", "--no-log", *MODEL)
    assert fitted.code == 0
    assert "no function 'g' with a body; it has f0, f1, f2, f3" in fitted.err
    assert "the head was not kept; -o FOLDER keeps it" in fitted.err
    report = json.loads(fitted.out)
    assert (report["samples"], report["groups"], report["kind"], report["logarithm"]) == (48, 6, "numbers", False)
    assert [*report["figures"]] == ["mean", "instruction count", "opcode histogram", "bag of words", "embedding"]
    assert len(report["left_out"]) == 1
    table = run("fit", tables[1], "--label", "label", "--group", "file", *MODEL)
    assert (
        "48 functions, 12 groups (column 'file'); model mirenc-tiny, form plain\nlabel: numbers from 10.5 to "
        in table.out
    )
    assert "mean absolute error" in table.out


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (("fit", "LABELS", "--row", "text"), "a table of labels is not a task; leave out --row", 2),
        (("fit", "openmp", "--label", "cycles", "-o", "x"), "it is for a table of labels; leave out --label", 2),
        (("fit", EXAMPLE), "saxpy.ll is neither a table (.csv, .tsv, .parquet) nor a task", 1),
        (("fit", "nowhere.csv"), "nowhere.csv: no such file. Give a table: .csv, .tsv, .parquet", 1),
        (("fit", "LABELS", "--label", "lable"), "no column 'lable'; did you mean 'label'", 1),
        (("fit", "LABELS", "-p", "nowhere.json"), "nowhere.json", 1),
        (("predict", "nowhere/head.json", EXAMPLE), "nowhere: no head.json", 1),
        (("predict", EXAMPLE.parent, EXAMPLE), "is a folder without a head. Name a task", 1),
        (("search", EXAMPLE, "LABELS"), "Make one: mirenc embed FOLDER -o vectors.csv", 1),
    ],
)
def test_what_does_not_go_together_is_refused(
    run: Run, tables: tuple[Path, Path], words: tuple[object, ...], message: str, code: int
) -> None:
    refused = run(*(tables[0] if word == "LABELS" else word for word in words), *MODEL)
    assert refused.code == code
    assert message in " ".join(refused.err.split())


def test_options_of_tasks_are_refused_for_a_head_of_labels(run: Run, tables: tuple[Path, Path], tmp_path: Path) -> None:
    run("fit", tables[1], "-o", tmp_path / "head", *MODEL)
    refused = run("predict", tmp_path / "head", EXAMPLE, "--context", "n=5")
    assert (refused.code, "it is for heads of tasks" in refused.err) == (2, True)
    assert "give the files to answer for" in run("predict", tmp_path / "head").err
    other = run("predict", tmp_path / "head", EXAMPLE, "--model", "mirenc-fast")
    assert "the head was trained on vectors of mirenc-tiny" in other.err
    task = run("predict", "device_mapping", EXAMPLE, "--head", tmp_path / "head", "--context", "transfer=1,wgsize=1")
    assert task.code == 1
    assert f"is a head of labels, not of a task. Type: mirenc predict {tmp_path / 'head'} INPUT" in task.err


def test_a_head_of_a_task_is_said_to_be_one_before_its_options(run: Run, tmp_path: Path) -> None:
    mirenc.TaskHead.load("device_mapping").save(tmp_path)
    result = run("predict", tmp_path, EXAMPLE, "--context", "transfer=1,wgsize=1")
    assert result.code == 1
    assert f"Type: mirenc predict device_mapping INPUT --head {tmp_path}" in " ".join(result.err.split())


def test_class_names_are_no_markup_and_control_no_terminal(run: Run, tables: tuple[Path, Path], tmp_path: Path) -> None:
    text = tables[0].read_text(encoding="utf-8").replace(",mul", ",[/mul]").replace(",xor", ",\x1b[2Jxor")
    table = tables[0].parent / "marked.csv"
    table.write_text(text, encoding="utf-8")
    fitted = run("fit", table, "-o", tmp_path / "head", *MODEL)
    assert "answer [/mul]" in fitted.out
    predicted = run("predict", tmp_path / "head", tables[0].parent / "m3.ll").ok()
    assert "\\x1b[2Jxor" in fitted.out
    assert "\x1b" not in fitted.out + predicted.out


def test_the_name_of_a_task_is_no_folder_of_a_head(
    run: Run, tables: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("fit", tables[0], "-o", tmp_path / "vectorization", *MODEL).code == 0
    monkeypatch.chdir(tmp_path)
    assert "label" not in run("predict", "vectorization", EXAMPLE).out
    assert "label" in run("predict", "./vectorization", EXAMPLE).out
