"""Files without a function body are left out and counted in one line; they fail where nothing else was given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import SOURCE, Result, Run

from mirenc.search import read_vectors

DATA = "@table = constant [3 x i32] [i32 1, i32 2, i32 3]\n"
HEADER = "declare i32 @twice(i32)\n"
LOOP = """
define void @fill(ptr %p, i64 %n) {
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %q = getelementptr i8, ptr %p, i64 %i
  store i8 1, ptr %q
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %body, label %end
end:
  ret void
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files with functions, and two without, in the folder ``ir``; the working folder is that of ``ir``."""
    place = tmp_path / "ir"
    place.mkdir()
    for name, text in {"a": SOURCE, "data": DATA, "fill": LOOP, "header": HEADER}.items():
        (place / f"{name}.ll").write_text(text)
    monkeypatch.chdir(tmp_path)
    return place


@pytest.fixture
def mirenc(run: Run, model_dir: Path) -> Callable[..., Result]:
    """The command line; ``--model`` stands for the tiny model."""
    return lambda *words: run(*(word if word != "MODEL" else f"--model={model_dir}" for word in words))


def left_out(result: Result, empty: int, total: int) -> str:
    """Exit code 0 and one line on files that were left out; returns stdout."""
    assert result.code == 0, result.err
    verbs = ("has", "is") if empty == 1 else ("have", "are")
    line = f"mirenc: {empty} of {total} files {verbs[0]} no function body and {verbs[1]} left out"
    assert [each for each in result.error_lines if "function body" in each] == [line]
    assert "warning: ir/data" not in result.err
    return result.out


# Words before the folder, and how many lines the verb prints of the two files with functions.
VERBS = {
    "embed": (["embed", "MODEL", "--no-cache"], 2),
    "profile": (["profile", "--function", "fill"], 2),
    "sizes": (["sizes", "--json"], 1),
    "compare": (["compare", "MODEL"], 3),
    "search": (["search", "MODEL", "ir/a.ll"], 3),
}


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_counts_them(mirenc: Callable[..., Result], folder: Path, name: str) -> None:
    words, lines = VERBS[name]
    assert len(left_out(mirenc(*words, "ir"), 2, 4).splitlines()) == lines


def test_named_one_by_one_they_are_counted_too(mirenc: Callable[..., Result], folder: Path) -> None:
    result = mirenc("embed", "MODEL", "--no-cache", "ir/data.ll", "ir/a.ll")
    (line,) = left_out(result, 1, 2).splitlines()
    assert json.loads(line)["file"] == "ir/a.ll"


def test_a_diff_counts_those_of_both_builds(mirenc: Callable[..., Result], folder: Path) -> None:
    assert "3 identical" in left_out(mirenc("diff", "MODEL", "ir", "ir"), 4, 8)
    mirenc("diff", "MODEL", "ir/data.ll", "ir/a.ll").failed("no functions were read from ir/data.ll")


def test_a_file_of_vectors_has_no_rows_of_them(mirenc: Callable[..., Result], folder: Path) -> None:
    left_out(mirenc("embed", "MODEL", "ir", "-o", "x.npz"), 2, 4)
    assert read_vectors("x.npz").files == ["ir/a.ll", "ir/fill.ll"]


def test_with_files_that_fail_both_are_said(mirenc: Callable[..., Result], folder: Path) -> None:
    result = mirenc("embed", "MODEL", "--no-cache", "ir", "none.ll")
    assert result.code == 1
    counted, error = result.error_lines[1:]
    assert counted == "mirenc: 2 of 5 files have no function body and are left out"
    assert error.startswith("mirenc: error: 1 of 5 files failed (listed above); the other 2 were delivered. ")
    nothing = mirenc("embed", "MODEL", "--no-cache", "ir/data.ll", "none.ll")
    assert nothing.error_lines[1:] == [
        "mirenc: 1 of 2 files has no function body and is left out",
        "mirenc: error: 1 of 2 files failed (listed above). Mend or leave out the listed files",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["embed", "MODEL"],
        ["search", "MODEL", "a.ll"],
        ["profile"],
        ["sizes"],
        ["models", "adapt", "MODEL", "--name", "own"],
    ],
    ids=" ".join,
)
def test_nothing_but_empty_files_is_an_error(mirenc: Callable[..., Result], folder: Path, words: list[str]) -> None:
    (folder / "a.ll").rename("a.ll")
    (folder / "fill.ll").unlink()
    result = mirenc(*words, "ir")
    assert (result.code, result.out) == (1, "")
    error = "mirenc: error: none of 2 files has a function body. Give modules with at least one `define`"
    assert result.error_lines[-1] == error


@pytest.mark.parametrize(
    "words",
    [["embed", "MODEL"], ["inspect", "MODEL"], ["graph"], ["suggest"], ["compare", "MODEL", "ir/a.ll"]],
    ids=" ".join,
)
def test_an_empty_file_alone_is_an_error(mirenc: Callable[..., Result], folder: Path, words: list[str]) -> None:
    mirenc(*words, "ir/data.ll").failed("ir/data.ll: no function body (0 declared functions, 1 globals)")


@pytest.mark.needs("C compiler")
def test_sources_of_data_and_headers(mirenc: Callable[..., Result], tmp_path: Path) -> None:
    sources = {
        "code.c": "int add(int a, int b) { return a + b; }\n",
        "data.c": "const int table[] = {1, 2, 3};\n",
        "unused.c": "static const char *names[] = {0};\n",
        "header.c": "int add(int, int);\n",
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    entries = [{"directory": str(tmp_path), "file": name, "command": f"cc -c {name}"} for name in sources]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    for place in (tmp_path, tmp_path / "compile_commands.json"):
        (line,) = left_out(mirenc("embed", "MODEL", "--no-cache", place), 3, 4).splitlines()
        assert np.isfinite(json.loads(line)["vector"]).all()
