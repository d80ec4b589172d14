"""``mirenc evaluate`` and ``mirenc predict``: tables, records, heads, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run
from small_task import TASK_FILE, write_task

EXAMPLE = Path(__file__).parents[2] / "examples" / "saxpy.ll"
QUICK = ("--model", "mirenc-tiny", "--seeds", 2, "--row", "no_code", "--row", "both")


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_task(tmp_path_factory.mktemp("task"))


def test_a_table_has_every_row_and_says_what_it_is_made_of(run: Run, task: Path) -> None:
    found = run("evaluate", "--task-file", task, "--protocol", "kernel", *QUICK)
    assert found.code == 0
    for words in ("by kernel", "default", "best single choice", "majority label", "no code", "embedding, both"):
        assert words in found.out
    assert "24 samples, 12 groups, 2 seeds; model mirenc-tiny" in found.out


def test_json_has_figures_choices_and_hashes(run: Run, task: Path) -> None:
    records = json.loads(run("evaluate", "--task-file", task, "--json", *QUICK).out)
    assert [list(record["protocols"]) for record in records] == [["rows"], ["kernel"]]
    record = records[1]
    assert record["data_hash"] == "0" * 64
    assert len(record["model"]["digest"]) == 64
    both = record["figures"]["kernel"]["both"]
    assert both["accuracy"] > record["figures"]["kernel"]["majority"]["accuracy"]
    seed = record["protocols"]["kernel"]["seeds"]["1"]
    assert len(seed["rows"]["both"]["choices"]) == len(seed["fold"]) == 24
    assert len(seed["rows"]["both"]["heads"]) == 3


def test_records_pictures_and_a_head_are_written(run: Run, task: Path, tmp_path: Path) -> None:
    folders = ("-o", tmp_path, "--plot", tmp_path, "--save-head", tmp_path / "head")
    found = run("evaluate", "--task-file", task, "-p", "kernel", *QUICK, *folders)
    assert found.code == 0
    assert json.loads((tmp_path / "kernel.json").read_text())["task"] == "widths"
    assert (tmp_path / "kernel.svg").read_text().startswith("<?xml")
    answer = run(
        "predict", "--task-file", task, EXAMPLE, "--context", "length=64", "--head", tmp_path / "head", "--json"
    )
    line = json.loads(answer.out)
    assert line["choice"] in ("narrow", "wide")
    assert set(line["preference"]) == {"narrow", "wide"}
    assert line["far"]
    assert "unlike the kernels the head was trained on" in answer.err


def test_a_record_is_gone_on_from(run: Run, task: Path, tmp_path: Path) -> None:
    words = (
        "evaluate",
        "--task-file",
        task,
        "-p",
        "kernel",
        "--model",
        "mirenc-tiny",
        "--row",
        "no_code",
        "-o",
        tmp_path,
    )
    run(*words, "--seeds", 1)
    first = json.loads((tmp_path / "kernel.json").read_text())
    # A choice no head would make shows whether it was taken or made again.
    row = first["protocols"]["kernel"]["seeds"]["0"]["rows"]["no_code"]
    marked = "".join("10"[int(digit)] for digit in row["choices"])
    row["choices"] = marked
    (tmp_path / "kernel.part.json").write_text(json.dumps(first))
    found = run(*words, "--seeds", 2, "--resume")
    assert found.code == 0
    second = json.loads((tmp_path / "kernel.json").read_text())
    assert second["protocols"]["kernel"]["seeds"]["0"]["rows"]["no_code"]["choices"] == marked
    assert list(second["protocols"]["kernel"]["seeds"]) == ["0", "1"]
    assert [path.name for path in tmp_path.iterdir()] == ["kernel.json"]
    run(*words, "--seeds", 1)
    again = json.loads((tmp_path / "kernel.json").read_text())
    assert again["protocols"]["kernel"]["seeds"]["0"]["rows"]["no_code"]["choices"] != marked


def test_going_on_needs_a_folder_and_its_own_records(run: Run, task: Path, tmp_path: Path) -> None:
    found = run("evaluate", "--task-file", task, *QUICK, "--resume")
    assert found.code == 2
    assert "--output" in found.err
    (tmp_path / "rows.json").write_text("{")
    found = run("evaluate", "--task-file", task, *QUICK, "--resume", "-o", tmp_path)
    assert found.code == 1
    assert "rows.json cannot be read" in found.err


def test_one_bad_kernel_does_not_lose_the_others(run: Run, task: Path, tmp_path: Path) -> None:
    run("evaluate", "--task-file", task, "-p", "rows", *QUICK, "--save-head", tmp_path / "head")
    broken = tmp_path / "broken.ll"
    broken.write_text("define i32 @f( {\n")
    found = run("predict", "--task-file", task, broken, EXAMPLE, "--context", "length=64", "--head", tmp_path / "head")
    assert found.code == 1
    assert f"{EXAMPLE}: width" in found.out
    assert "broken.ll" in found.err
    assert "1 of 2 files failed" in found.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("evaluate", "device_maping"), "Did you mean 'device_mapping'"),
        (("evaluate", "--task-file", "nowhere.py"), "does not exist"),
        (("evaluate", "device_mapping", "--variant", "intel"), "available: nvidia, amd"),
        (("evaluate", "device_mapping", "-p", "papers"), "available: paper, kernel, suite"),
        (("predict", "thread_coarsening", EXAMPLE, "--context", "gpu=h100"), "unknown gpu 'h100'"),
        (("predict", "device_mapping", EXAMPLE), "also needs 'transfer', 'wgsize'"),
        (("predict", "device_mapping", EXAMPLE, "--context", "transfer=1,wgsize=-2"), "'wgsize' is -2"),
        (
            ("predict", "device_mapping", EXAMPLE, "--context", "transfer=1,wgsize=2", "--head", "nowhere"),
            "no head.json",
        ),
        (("predict", "device_mapping", EXAMPLE, "--context", "transfer=1,wgsize=2", "--variant", "x"), "available: "),
    ],
)
def test_wrong_words_are_one_line(run: Run, words: tuple[object, ...], complaint: str) -> None:
    found = run(*words)
    assert found.code == 1
    assert complaint in found.err
    assert found.err.count("\n") == 1


@pytest.mark.parametrize("words", [(), ("device_mapping", "--task-file", "widths.py")])
def test_a_task_is_named_once(run: Run, words: tuple[str, ...]) -> None:
    found = run("evaluate", *words)
    assert found.code == 2
    assert "--task-file FILE.py" in found.err


def test_a_name_executes_no_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n" + TASK_FILE)
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py", "./mine.py", path):
        for words in (("evaluate", name), ("predict", name, EXAMPLE)):
            run(*words).failed(f"unknown task {str(name)!r}; available: ", "--task-file FILE.py")
    assert not (tmp_path / "executed").exists()


def test_predict_wants_files(run: Run, task: Path) -> None:
    run("predict", "device_mapping").refused("give the files to answer for")
    run("predict", "--task-file", task).refused("give the files to answer for")
    run("predict").refused("give the name of a task, or --task-file FILE.py")


def test_a_malformed_aux_is_wrong_usage(run: Run) -> None:
    found = run("predict", "device_mapping", EXAMPLE, "--context", "transfer")
    assert found.code == 2
    assert "NAME=VALUE" in found.err


def test_bad_costs_name_the_sample(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(TASK_FILE.replace("(1.0, wide)", "(1.0, -wide)"))
    found = run("evaluate", "--task-file", path, *QUICK)
    assert found.code == 1
    assert "sample 0 (k0/8): the cost of 'wide' is -2.0" in found.err


def test_missing_data_say_where_to_get_them(run: Run, tmp_path: Path) -> None:
    found = run("evaluate", "device_mapping", "--data", tmp_path)
    assert found.code == 1
    assert "mirenc datasets fetch device_mapping" in found.err
