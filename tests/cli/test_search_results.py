"""``mirenc search`` of several files: each is answered as by itself; results in files; overloads told apart."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from command_line import SOURCE, Run

from mirenc.cli.search_results import Found, Match, overloaded, write_results

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19"
O0, O2 = FIXTURES / "O0", FIXTURES / "O2"
NAMES = ("numeric", "sorting", "structs")
# f(int), f(double) and g(int) of C++.
OVERLOADS = """
define i32 @_Z1fi(i32 %x) {
  %y = mul i32 %x, 3
  ret i32 %y
}
define double @_Z1fd(double %x) {
  %y = fadd double %x, 1.0
  ret double %y
}
define i32 @_Z1gi(i32 %x) {
  %y = xor i32 %x, 7
  ret i32 %y
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three modules at O2, to search in."""
    target = tmp_path / "project"
    target.mkdir()
    for name in NAMES:
        shutil.copy(O2 / f"{name}.ll", target)
    return target


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    """The same at O0, to search for."""
    target = tmp_path / "queries"
    target.mkdir()
    for name in NAMES:
        shutil.copy(O0 / f"{name}.ll", target)
    return target


@pytest.fixture
def functions(run: Run, model_dir: Path, folder: Path, tmp_path: Path) -> Path:
    """An index of the functions of the folder."""
    index = tmp_path / "functions.npz"
    run("embed", "--model", model_dir, "-l", "function", "-o", index, folder).ok()
    return index


def test_a_library_that_was_built_twice_makes_an_answer_no_less_sure(run: Run, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "both" / "static")
    shutil.copytree(folder, tmp_path / "both" / "shared")
    right = []
    for index in (folder, tmp_path / "both"):
        run("embed", "--model", "mirenc-search", "-l", "function", "-o", tmp_path / "index.npz", index).ok()
        words = ("search", O0 / "sorting.ll", tmp_path / "index.npz", "-f", "^search$", "--json", "-k", 1)
        right.append(json.loads(run(*words).ok().out)["found"][0]["right"])
    assert right[0] == pytest.approx(right[1], abs=0.01)  # twice as many rows are another index
    assert right[0] > 0.5


# -- several queries -------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [(), ("--no-rerank",), ("-f", "^s", "-k", 1)])
def test_each_file_is_answered_as_by_itself(
    run: Run, model_dir: Path, queries: Path, functions: Path, options: tuple[object, ...]
) -> None:
    search = ("search", "--model", model_dir, *options)
    files = sorted(queries.iterdir())
    for words in ((), ("--json",)):
        singles = [run(*search, *words, file, functions) for file in files]
        expected = "".join(single.out for single in singles if single.code == 0)
        assert expected
        for inputs in ((queries,), files):
            assert run(*search, *words, *inputs, functions).out == expected


@pytest.mark.needs("C compiler")
def test_a_query_may_be_a_compilation_database(run: Run, model_dir: Path, functions: Path, tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    commands = []
    for name in ("first", "second"):
        (build / f"{name}.c").write_text(f"int {name}(int x) {{ return VALUE * x; }}\n", encoding="utf-8")
        words = ["cc", "-DVALUE=3", "-c", f"{name}.c"]  # without the flag it does not compile
        commands.append({"directory": str(build), "file": f"{name}.c", "arguments": words})
    database = build / "compile_commands.json"
    database.write_text(json.dumps(commands), encoding="utf-8")
    shown = run("search", "--model", model_dir, database, functions, "--json", "--cflags=-O2").ok().out
    answers = [json.loads(line) for line in shown.splitlines()]
    assert [Path(answer["query"]).name for answer in answers] == ["first.c", "second.c"]
    assert [one["name"] for answer in answers for one in answer["found"]] == ["first", "second"]


def test_a_query_that_fails_does_not_lose_the_others(run: Run, model_dir: Path, queries: Path, functions: Path) -> None:
    search = ("search", "--model", model_dir)
    expected = run(*search, queries, functions).ok().out
    (queries / "a.ll").write_text("no IR", encoding="utf-8")
    (queries / "b.ll").write_text("declare void @f()", encoding="utf-8")
    result = run(*search, queries, functions)
    assert (result.code, result.out) == (1, expected)
    assert next(line for line in result.error_lines if "a.ll" in line).startswith("mirenc: warning: ")
    assert "mirenc: 1 of 5 files has no function body and is left out" in result.error_lines
    assert result.error_lines[-1].startswith("mirenc: error: 1 of 5 files failed (listed above); the other 3 were")
    # Of the index, too.
    (queries / "b.ll").unlink()
    result = run(*search, queries, queries)
    assert result.code == 1
    assert sum("1 of 4 files failed" in line for line in result.error_lines) == 2


def test_files_without_such_a_function_are_left_out(run: Run, model_dir: Path, queries: Path, functions: Path) -> None:
    search = ("search", "--model", model_dir, queries, functions, "-f")
    for more in ((), ("--no-rerank",)):
        result = run(*search, "^swap$", *more)
        assert (result.code, result.error_lines) == (
            0,
            ["mirenc: 2 of 3 files are left out: no function like '^swap$' in them"],
        )
        assert result.out.splitlines()[0] == f"{queries / 'sorting.ll'}  swap"
        run(*search, "nobody", *more).failed("of 3 files none has a function like 'nobody' to search for")
        run(*search, "(", *more).refused("'(' is not a regular expression")


def test_files_without_a_row_are_left_out(run: Run, model_dir: Path, folder: Path, tmp_path: Path) -> None:
    straight = tmp_path / "straight.ll"
    straight.write_text(SOURCE, encoding="utf-8")
    result = run("search", "--model", model_dir, straight, O0 / "sorting.ll", folder, "-l", "loop")
    assert (result.code, result.error_lines) == (0, ["mirenc: 1 of 2 files is left out: no loop in it"])
    assert str(straight) not in result.out
    run("search", "--model", model_dir, straight, straight, folder, "-l", "loop").failed("of 2 files none has a loop")


# -- files -----------------------------------------------------------------------------------------------
def test_results_in_files_are_those_on_the_screen(
    run: Run, model_dir: Path, queries: Path, functions: Path, tmp_path: Path
) -> None:
    outputs = [tmp_path / f"x{suffix}" for suffix in (".json", ".jsonl", ".csv")]
    words = [word for output in outputs for word in ("-o", output)]
    shown = run("search", "--model", model_dir, queries, functions, "-k", 2, "--json", *words).ok().out
    document_text, lines, table = (output.read_text(encoding="utf-8") for output in outputs)
    assert lines == shown
    answers = [json.loads(line) for line in lines.splitlines()]
    assert [answer["query"] for answer in answers] == [str(queries / f"{name}.ll") for name in NAMES]
    document = json.loads(document_text)
    assert [{**document, **each} for each in document.pop("queries")] == answers
    rows = list(csv.DictReader(table.splitlines()))
    expected = [
        (answer["query"], one["name"], one["symbol"], str(rank), *map(str, match.values()))
        for answer in answers
        for one in answer["found"]
        for rank, match in enumerate(one["matches"], start=1)
    ]
    keys = ("query_file", "query_name", "query_symbol", "rank", "cosine", "file", "name", "symbol")
    assert [tuple(row[key] for key in keys) for row in rows] == expected
    assert [*rows[0]] == [*keys[:5], "right", *keys[5:]]


def test_a_table_has_the_percentage_of_the_first(tmp_path: Path) -> None:
    matches = [Match(0.5, "a.ll", "f, g", "f"), Match(0.25, "b.ll", "h", "h")]
    write_results(tmp_path / "x.csv", {}, [("q.ll", [Found("q", "_Z1qv", 0.75, matches)])])
    assert (tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        'q.ll,q,_Z1qv,1,0.5,0.75,a.ll,"f, g",f',
        "q.ll,q,_Z1qv,2,0.25,,b.ll,h,h",
    ]


def test_a_file_that_cannot_be_written_is_refused_before_the_work(run: Run, model_dir: Path, tmp_path: Path) -> None:
    search = ("search", "--model", model_dir, tmp_path / "none.ll", tmp_path / "none.npz", "-o")
    run(*search, tmp_path / "x.txt").refused("unknown suffix; available: .json, .jsonl, .csv")
    run(*search, tmp_path / "no" / "x.csv").failed("output folder")


# -- overloads -------------------------------------------------------------------------------------------
def test_a_name_of_several_symbols_is_overloaded() -> None:
    named = [("f", "_Z1fi"), ("f", "_Z1fd"), ("g", "_Z1gi"), ("g", "_Z1gi")]
    assert overloaded(named, "function") == {"f"}
    assert overloaded([("ret void", "f"), ("ret void", "g")], "instruction") == set()


def test_overloads_are_shown_with_their_symbols(run: Run, model_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.ll"
    path.write_text(OVERLOADS, encoding="utf-8")
    search = ("search", "--model", model_dir, path, path, "-l", "function", "-k", 1)
    labels = ["f  _Z1fi", "f  _Z1fd", "g"]
    lines = run(*search).ok().out.splitlines()
    assert lines[0::2] == [f"{path}  {label}" for label in labels]
    assert [line.removeprefix(f"   1  1.0000  {path}  ") for line in lines[1::2]] == labels
    entries = json.loads(run(*search, "--json").ok().out)["found"]
    assert [(one["name"], one["symbol"]) for one in entries] == [("f", "_Z1fi"), ("f", "_Z1fd"), ("g", "_Z1gi")]
    assert [one["matches"][0]["symbol"] for one in entries] == ["_Z1fi", "_Z1fd", "_Z1gi"]

    # One of each name in the query, and the index has several: the query is told apart, too.
    alone = tmp_path / "alone.ll"
    alone.write_text(OVERLOADS[: OVERLOADS.index("define double")], encoding="utf-8")
    search = ("search", "--model", model_dir, "-l", "function", "-k", 1)
    lines = run(*search, alone, path).ok().out.splitlines()
    assert lines[0] == f"{alone}  f  _Z1fi"
    assert lines[1].endswith(f"  {path}  f  _Z1fi")
    lines = run(*search, alone, alone).ok().out.splitlines()
    assert lines == [f"{alone}  f", f"   1  1.0000  {alone}  f"]

    compare = ("compare", "--model", model_dir, "-l", "function", path, path)
    lines = run(*compare).ok().out.splitlines()[1:]
    assert [line.split()[1:] for line in lines] == [
        ["f", "_Z1fi", "<->", "f", "_Z1fi"],
        ["f", "_Z1fd", "<->", "f", "_Z1fd"],
        ["g", "<->", "g"],
    ]
    matches = json.loads(run(*compare, "--json").ok().out)["matches"]
    assert [(one["symbol"], one["nearest_symbol"]) for one in matches] == [(x, x) for x in ("_Z1fi", "_Z1fd", "_Z1gi")]
