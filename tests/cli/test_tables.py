"""Rows that fit a terminal, whole in a pipe; names that cannot control it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run
from rich.cells import cell_len

from mirenc.base.shown import printable, shorten
from mirenc.cli.messages import say_written
from mirenc.cli.tables import print_rows

SAXPY = Path(__file__).resolve().parents[2] / "examples" / "saxpy.ll"


def make_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make stdout a terminal of 60 columns; to call in a test, as each phase of one has a stdout of its own."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 5, "short"),
        ("abcdefghij", 9, "abc...hij"),
        ("abcdefghij", 8, "ab...hij"),
        ("函数名称函数", 12, "函数名称函数"),
        ("函数名称函数", 11, "函数...函数"),
        ("函数名称函数", 10, "函 ...函数"),
    ],
)
def test_a_name_is_shortened_in_the_middle(text: str, width: int, expected: str) -> None:
    assert cell_len(shorten(text, width)) <= width
    assert shorten(text, width) == expected


def test_what_controls_a_terminal_is_escaped() -> None:
    assert printable("a\nb\x1b[2J\udcff\u202e é") == "a\\nb\\x1b[2J\\udcff\\u202e é"


def test_columns_fit_a_terminal_and_are_whole_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [["1", "n" * 50, "", "short"], ["22", "函" * 30, "", "f" * 20]]
    print_rows(rows, "><<<", ("no", "name", "empty", "file"))
    expected = [f" 1  {'n' * 50}{' ' * 10}  short", f"22  {'函' * 30}  {'f' * 20}"]
    assert capsys.readouterr().out.splitlines() == [f"no  name{' ' * 56}  file", *expected]
    make_terminal(monkeypatch)
    print_rows(rows, "><<<")
    lines = capsys.readouterr().out.splitlines()
    assert [cell_len(line) for line in lines] == [45, 60]
    assert lines[0] == f" 1  {'n' * 15}...{'n' * 16}  short"


@pytest.mark.parametrize("level", ["module", "function"])
def test_embed_prints_a_table_on_a_terminal(
    run: Run, model_dir: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    make_terminal(monkeypatch)
    words = ("embed", "--model", model_dir, SAXPY, "--level", level)
    head, row, advice = run(*words).ok().out.splitlines()
    assert max(map(len, (head, row))) <= 60
    assert head.split()[: 5 if level == "module" else 4] == (
        ["file", "stmts", "insts", "funcs", "length"] if level == "module" else ["file", "name", "stmts", "insts"]
    )
    record = json.loads(run(*words, "--json").ok().out)
    first = " ".join(f"{value:.2f}" for value in record["vector"][:2])
    assert row.endswith(f" {len(record['vector'])}  {first} ...")
    assert "-o vectors.npz" in advice


@pytest.mark.parametrize(
    ("path", "terminal", "line"),
    [("x.npz", True, "mirenc: wrote x.npz\n"), ("x.npz", False, ""), (None, True, "")],
)
def test_the_file_that_was_written_is_named_on_a_terminal(
    path: str | None, terminal: bool, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    say_written(path)
    assert capsys.readouterr().err == line
