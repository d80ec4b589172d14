"""``mirenc label``: from C to a table, and errors where there is nothing to label."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run

from mirenc.base.writing import only_one
from mirenc.decide.tables.compiled import read_compiled, read_piece_ir

SOURCE = """
int sum(const int *x, int n) { int s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
int sign(int x) { if (x > 0) return 1; if (x < 0) return -1; return 0; }
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "mine" / "small.c"
    path.parent.mkdir()
    path.write_text(SOURCE)
    return path


@pytest.mark.needs("libLLVM 19")
@pytest.mark.needs("clang-19")
def test_from_source_to_table(run: Run, source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "table"
    command = ("label", source, "-o", folder, "--lists", "4", "--jobs", "1")
    result = run(*command, "--functions", "1")
    assert result.code == 0, result.err
    assert result.out == ""
    for phrase in (
        "mirenc: 1 functions and 1 modules of 1 projects (0 of them only for testing); 0 dropped; 0 still to be done",
        "mirenc: runs of pass lists: 8 ok",
        f"mirenc: wrote {folder}",
    ):
        assert phrase in result.err
    more = run(*command)
    assert more.code == 0
    assert "mirenc: 2 of 3 functions and modules are there already" in more.err
    assert "weak baseline" not in more.err
    table = read_compiled(folder)
    assert [piece.name for piece in table.pieces] == ["mine/small.c", "mine/small.c:sign", "mine/small.c:sum"]
    assert len(read_piece_ir(folder, table.pieces)) == 3
    run(*command, "--seed", "1").failed("seed 0, not 1", "Name another folder")


@pytest.mark.needs("libLLVM 19")
@pytest.mark.needs("clang-19")
def test_without_time_the_error_counts_the_pieces(run: Run, source: Path, tmp_path: Path) -> None:
    late = run("label", source, "-o", tmp_path / "table", "--lists", "2", "--budget", "0")
    assert late.code == 1
    assert "--budget was used up before any of 3 functions and modules was done. Give more minutes" in late.err


@pytest.mark.parametrize("verb", [["label"], ["measure", "vectorization"]], ids=" ".join)
@pytest.mark.needs("libLLVM 19")
@pytest.mark.needs("clang-19")
def test_a_second_run_in_a_folder_is_refused_at_once(run: Run, source: Path, tmp_path: Path, verb: list[str]) -> None:
    with only_one(tmp_path / "table"):
        run(*verb, source, "-o", tmp_path / "table").failed(
            f"{tmp_path / 'table'}: another run is at work there. Wait until that one is done, or name another folder"
        )


@pytest.mark.needs("libLLVM 19")
def test_ir_without_minsize_is_called_the_weak_baseline(run: Run, tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples" / "insertion_sort.ll"
    result = run("label", examples, "-o", tmp_path / "table", "--lists", "2", "--functions", "0")
    assert result.code == 0, result.err
    assert "so -Oz is a weak baseline in this table. For a strong one, make the IR with: clang -Oz" in result.err


@pytest.mark.needs("libLLVM 19")
def test_a_file_that_cannot_be_read_is_named(run: Run, tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples" / "insertion_sort.ll"
    (tmp_path / "ir").mkdir()
    (tmp_path / "ir" / "good.ll").write_bytes(examples.read_bytes())
    (tmp_path / "ir" / "bad.ll").write_text("define nothing")
    (tmp_path / "ir" / "data.ll").write_text("@table = constant i32 1\n")
    result = run("label", tmp_path / "ir", "-o", tmp_path / "table", "--lists", "2", "--functions", "0")
    assert result.code == 1
    assert f"warning: {tmp_path / 'ir' / 'bad.ll'}: line 1" in result.err
    assert "mirenc: 1 of 3 files has no function body and is left out\n" in result.err
    assert "error: 1 of 3 files failed (listed above); the other was delivered" in result.err
    assert len(read_compiled(tmp_path / "table").pieces) == 1


@pytest.mark.needs("libLLVM 19")
def test_files_without_a_large_function_are_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.ll").write_text("define void @f() {\n  ret void\n}\n")
    refused = run("label", tmp_path / "a.ll", "-o", tmp_path / "table")
    assert refused.code == 1
    assert "no function that is large enough to decide about" in refused.err


def test_the_old_spelling_answers_with_the_new_one(run: Run, tmp_path: Path) -> None:
    run("measure", "passes", "src", "-o", tmp_path / "table").failed("Type: mirenc label SOURCE... -o FOLDER")
    assert not (tmp_path / "table").exists()


def test_missing_arguments_are_named(run: Run, source: Path, tmp_path: Path) -> None:
    run("label", "-o", tmp_path / "table").refused("SOURCE")
    run("label", source).refused("name a folder for the table")
    run("label", source, "-o", tmp_path / "table", "--cflags", "'").refused("--cflags")


def test_a_table_does_not_go_to_stdout(run: Run, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("label", source, "-o", "-").failed("output '-': a table is a folder", "Name a folder with -o")
    assert not (tmp_path / "-").exists()
