"""``mirenc predict`` of the tasks over tables of passes: levels, labels, and a table for a whole project."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import Run
from small_compiled import ir_of, write_small_table

import mirenc
from mirenc.tasks import fit_head, get_task, load_data


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Heads of a small table: ``size_after`` for -Oz and for no optimisation, and ``pass_fires``."""
    table, home = tmp_path_factory.mktemp("table"), tmp_path_factory.mktemp("heads")
    write_small_table(table)
    encoder = mirenc.load("mirenc-tiny", cache=False)
    made = {}
    for name, variant in (("size_after", "Oz"), ("size_after", "O0"), ("pass_fires", "Oz")):
        task = get_task(name)
        head = fit_head(task, load_data(task, table, variant), encoder, variant=variant)
        made[f"{name} {variant}"] = head.save(home / f"{name}.{variant}")
    return made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two files of two functions and one."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.ll").write_text(ir_of(3) + ir_of(8))
    (folder / "b.ll").write_text(ir_of(5))
    return folder


def test_a_file_has_an_answer_a_function_or_one(run: Run, heads: dict[str, Path], project: Path) -> None:
    asked = ("predict", "size_after", project / "a.ll", "--head", heads["size_after Oz"])
    functions = run(*asked)
    assert functions.code == 0
    assert "f3" in functions.out
    assert "f8" in functions.out
    assert (
        functions.out.count(" bytes  (LLVM 19 (made))\n  8 of 10 answers on unseen groups were within a factor of ")
        == 2
    )
    lines = [json.loads(line) for line in run(*asked, "--json", "--level", "module").out.splitlines()]
    assert len(lines) == 1
    assert "region" not in lines[0]
    assert lines[0]["bytes"] > 0
    refused = run(*asked, "--level", "loop")
    assert refused.code != 0
    assert "nothing to say about a loop; available: function, module" in refused.err


def test_labels_are_told_by_name(run: Run, heads: dict[str, Path], project: Path) -> None:
    asked = ("predict", "pass_fires", project / "b.ll", "--head", heads["pass_fires Oz"])
    found = run(*asked)
    assert found.code == 0
    assert "instcombine" in found.out
    assert "least likely to change anything" in found.out
    (line,) = [json.loads(one) for one in run(*asked, "--json").out.splitlines()]
    assert set(line["labels"]) == {"instcombine", "sroa"}


def test_a_folder_is_one_table_with_totals(run: Run, heads: dict[str, Path], project: Path) -> None:
    asked = ("predict", "size_after", project, "--head", heads["size_after Oz"], "--against", heads["size_after O0"])
    found = run(*asked, "--json")
    assert found.code == 0
    record = json.loads(found.out)
    rows = record["rows"]
    assert {(row["name"], row["instructions"]) for row in rows} == {("f3", 6), ("f8", 11), ("f5", 8)}
    after = [row["bytes"]["Oz"] for row in rows]
    assert after == sorted(after, reverse=True)
    assert record["total"]["instructions"] == 25
    assert record["total"]["bytes"]["Oz"] == pytest.approx(sum(after))
    assert record["total"]["bytes"]["O0"] == pytest.approx(sum(row["bytes"]["O0"] for row in rows))
    # What the table says of one function is what the question about it says.
    alone = run("predict", "size_after", project / "b.ll", "--head", heads["size_after Oz"], "--json")
    (same,) = [row["bytes"]["Oz"] for row in rows if row["name"] == "f5"]
    assert json.loads(alone.out)["bytes"] == pytest.approx(same)

    printed = run(*asked)
    for words in ("where the bytes are", "bytes after Oz", "bytes after O0", "less than O0", "all"):
        assert words in printed.out
    assert "left out" not in printed.out
    modules = json.loads(run(*asked, "--json", "--level", "module").out)
    assert [row["file"] for row in modules["rows"]] == ["a.ll", "b.ll"]


def test_what_a_linker_keeps_once_is_counted_once(run: Run, heads: dict[str, Path], project: Path) -> None:
    inline = ir_of(4).replace("define ", "define linkonce_odr ")
    for name in ("a.ll", "b.ll", "c.ll"):
        with (project / name).open("a") as file:
            file.write(inline + ir_of(6).replace("define ", "define internal "))
    with (project / "c.ll").open("a") as file:
        file.write(ir_of(9).replace("define ", "define available_externally "))
    asked = ("predict", "size_after", project, "--head", heads["size_after Oz"])
    record = json.loads(run(*asked, "--json").ok().out)
    found = sorted((row["file"], row["name"]) for row in record["rows"])
    own = [("a.ll", "f3"), ("a.ll", "f4"), ("a.ll", "f6"), ("a.ll", "f8"), ("b.ll", "f5"), ("b.ll", "f6")]
    assert found == [*own, ("c.ll", "f6")]
    assert (record["copies"], record["elsewhere"]) == (2, 1)
    assert record["total"]["bytes"]["Oz"] == pytest.approx(sum(row["bytes"]["Oz"] for row in record["rows"]))
    assert "left out: 2 copies of functions that a linker keeps once, 1 function that another library has" in " ".join(
        run(*asked).ok().out.split()
    )
    modules = run(*asked, "--level", "module").ok().out
    assert "counted all the same, since a module is one piece: 2 copies of functions" in " ".join(modules.split())


def test_a_file_of_a_project_that_fails_is_named_and_the_rest_is_told(
    run: Run, heads: dict[str, Path], project: Path
) -> None:
    (project / "c.ll").write_text("define nothing")
    found = run("predict", "size_after", project, "--head", heads["size_after Oz"], "--json")
    assert found.code == 1
    assert "c.ll" in found.err
    assert len(json.loads(found.out)["rows"]) == 3


@pytest.mark.skipif(os.name != "posix", reason="the compiler is a shell script")
def test_sources_of_a_project_that_do_not_compile_are_named(run: Run, heads: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    for name in ("good.c", "bad.c", "worse.c"):
        (tmp_path / "code" / name).write_text(f"// {name[0]}\n")
    (tmp_path / "ir.ll").write_text(f"; ModuleID = 'x'\n{ir_of(3)}")
    cc = tmp_path / "cc"
    cc.write_text(
        '#!/bin/sh\nfor last; do :; done\ncase "$*" in *good.c*) cp "$(dirname "$0")/ir.ll" "$last" ;;\n'
        "*) echo 'x.c:1:1: error: told so' >&2; exit 1 ;; esac\n"
    )
    cc.chmod(0o755)
    asked = ("--head", heads["size_after Oz"], "--compiler", cc, "--json")
    found = run("predict", "size_after", tmp_path / "code", *asked)
    assert found.code == 1
    assert "warning: code/bad.c: not compiled: x.c:1:1: error: told so" in found.err
    assert "error: 2 of 3 files failed (listed above); the other was delivered" in found.err
    assert [row["file"] for row in json.loads(found.out)["rows"]] == ["code/good.c"]
    (tmp_path / "code" / "good.c").unlink()
    none = run("predict", "size_after", tmp_path / "code", *asked)
    assert (none.code, none.out) == (1, "")
    assert "error: 2 of 2 files failed (listed above)" in none.err
    assert "log.jsonl" not in none.err  # it was in a folder that is gone by now


def test_both_heads_of_a_table_differ(run: Run, heads: dict[str, Path], project: Path) -> None:
    one = heads["size_after Oz"]
    found = run("predict", "size_after", project, "--head", one, "--against", one)
    assert found.code != 0
    assert "both heads are for Oz" in found.err


@pytest.mark.needs("clang")
def test_a_build_is_compiled_as_its_commands_say(run: Run, heads: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text("int sum(int x) { return x + SIX; }\n")
    command = {"directory": str(tmp_path), "file": "sum.c", "arguments": ["cc", "-O2", "-DSIX=6", "-c", "sum.c"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([command]))
    found = run("predict", "size_after", tmp_path / "compile_commands.json", "--head", heads["size_after Oz"], "--json")
    assert found.code == 0
    (row,) = json.loads(found.out)["rows"]
    assert row["name"] == "sum"
    assert row["file"].endswith("sum.c")
    assert row["instructions"] > 3  # nothing was optimised: the argument goes through memory
