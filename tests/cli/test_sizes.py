"""``mirenc predict`` of the tasks over tables of passes: levels, labels, and a table for a whole project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import Run
from small_compiled import ir_of, write_small_table

import mirenc
from mirenc.decide.fit import fit_head
from mirenc.decide.load_samples import load_data
from mirenc.decide.registry import get_task
from mirenc.llvm.passes import find_llvm as installed
from mirenc.llvm.passes.find_llvm import SharedEngine, find_engine


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Heads of a small table: ``size_after`` for -Oz and for no optimisation, and ``pass_fires``."""
    table, home = tmp_path_factory.mktemp("table"), tmp_path_factory.mktemp("heads")
    write_small_table(table)
    encoder = mirenc.load("mirenc-tiny", cache=False)
    folders = {}
    for name, variant in (("size_after", "Oz"), ("size_after", "O0"), ("pass_fires", "Oz")):
        task = get_task(name)
        head = fit_head(task, load_data(task, table, variant), encoder, variant=variant)
        folders[f"{name} {variant}"] = head.save(home / f"{name}.{variant}")
    return folders


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two files of two functions and one."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.ll").write_text(ir_of(3) + ir_of(8))
    (folder / "b.ll").write_text(ir_of(5))
    return folder


def test_a_file_has_an_answer_a_function_or_one(run: Run, heads: dict[str, Path], project: Path) -> None:
    question = ("predict", "size_after", project / "a.ll", "--head", heads["size_after Oz"])
    functions = run(*question)
    assert functions.code == 0
    assert "f3" in functions.out
    assert "f8" in functions.out
    first, second = (
        " bytes by itself, before inlining  (LLVM 19 (made))",
        "  rely on it: 8 of 10 answers on unseen groups were within",
    )
    assert functions.out.count(f"{first}\n{second} a factor of ") == 2
    lines = [json.loads(line) for line in run(*question, "--json", "--level", "module").out.splitlines()]
    assert len(lines) == 1
    assert "region" not in lines[0]
    assert lines[0]["bytes"] > 0
    refused = run(*question, "--level", "loop")
    assert refused.code != 0
    assert "no answers about a loop; available: function, module" in refused.err


def test_labels_are_told_by_name(run: Run, heads: dict[str, Path], project: Path) -> None:
    question = ("predict", "pass_fires", project / "b.ll", "--head", heads["pass_fires Oz"])
    result = run(*question)
    assert result.code == 0
    assert "instcombine" in result.out
    assert "least likely to change anything" in result.out
    (line,) = [json.loads(one) for one in run(*question, "--json").out.splitlines()]
    assert set(line["labels"]) == {"instcombine", "sroa"}


# `lea (%rdi,%rsi), %eax` is 3 bytes and `ret` is 1; a `nop` of inline assembly is 1.
INLINED = """\
target triple = "x86_64-pc-linux-gnu"
define internal i32 @helper(i32 %x, i32 %y) #0 {
  %sum = add i32 %x, %y
  ret i32 %sum
}
define i32 @caller(i32 %x, i32 %y) #0 {
  %sum = call i32 @helper(i32 %x, i32 %y)
  ret i32 %sum
}
define linkonce_odr void @_Z6sharedv() #1 {
  call void asm sideeffect "nop", ""()
  ret void
}
define internal void @own() #1 {
  call void asm sideeffect "nop", ""()
  ret void
}
define void @_Z4usesv() #0 {
  call void @own()
  call void @_Z6sharedv()
  ret void
}
@again = alias i32 (i32, i32), ptr @caller
attributes #0 = { minsize optsize nounwind }
attributes #1 = { minsize optsize nounwind noinline }
"""
DEVICE = 'target triple = "spir64-unknown-unknown"\ndefine void @kernel() #0 {\n  ret void\n}\n'


@pytest.fixture
def inlined(tmp_path: Path) -> Path:
    """Two files: what is inlined, and what both have and a linker keeps once."""
    folder = tmp_path / "inlined"
    folder.mkdir()
    (folder / "a.ll").write_text(INLINED)
    (folder / "b.ll").write_text(INLINED.replace("caller", "other").replace("Z4usesv", "Z4alsov"))
    return folder


def test_a_folder_is_one_table_of_what_has_code(run: Run, inlined: Path) -> None:
    result = run("sizes", inlined, "--json")
    assert result.code == 0
    record = json.loads(result.out)
    rows = {(row["symbol"], row["name"], row["file"]): row["bytes"] for row in record["rows"]}
    assert rows.pop(("_Z4usesv", "uses", "a.ll")) == rows.pop(("_Z4alsov", "also", "b.ll")) > 0
    assert rows == {
        ("caller", "caller", "a.ll"): 4,
        ("other", "other", "b.ll"): 4,
        ("own", "own", "a.ll"): 2,
        ("own", "own", "b.ll"): 2,
        ("_Z6sharedv", "shared", "a.ll"): 2,
    }
    assert (record["gone"], record["copies"], record["devices"]) == (2, 1, 0)
    after = [row["bytes"] for row in record["rows"]]
    assert after == sorted(after, reverse=True)
    assert record["total"]["bytes"] == sum(after)
    # Before any pass the helpers, without rows, have code.
    assert record["total"]["before"] > sum(row["before"] for row in record["rows"])

    printed = " ".join(run("sizes", inlined).out.split())
    assert f"bytes after -{record['level']}, by {record['engine']}" in printed
    assert "2 functions without a row: inlined everywhere, or not used" in printed
    assert "1 copy of functions that a linker keeps once" in printed
    files = json.loads(run("sizes", inlined, "--json", "--level", "module").out)
    assert {row["file"]: row["bytes"] for row in files["rows"]} == {
        name: sum(row["bytes"] for row in record["rows"] if row["file"] == name) for name in ("a.ll", "b.ll")
    }
    assert files["total"] == record["total"]
    # Of a file all functions count, also those that have no code after the passes.
    assert sum(row["before"] for row in files["rows"]) == record["total"]["before"]
    assert (files["gone"], files["copies"]) == (2, 1)


def test_rows_are_what_nm_prints(run: Run, inlined: Path, tmp_path: Path) -> None:
    nm = shutil.which("nm") or shutil.which("llvm-nm-19")
    if nm is None:
        pytest.skip("there is no nm")
    record = json.loads(run("sizes", inlined, "--json").out)
    with find_engine([f"default<{record['level']}>"]) as engine:
        (tmp_path / "a.o").write_bytes(engine.compile(INLINED.encode(), f"default<{record['level']}>"))
    listed = subprocess.run([nm, "-S", tmp_path / "a.o"], check=True, capture_output=True, text=True).stdout
    by_nm = {words[3]: int(words[1], 16) for line in listed.splitlines() if len(words := line.split()) == 4}
    assert by_nm.pop("again") == by_nm["caller"]  # an alias is no function of its own
    assert by_nm == {row["symbol"]: row["bytes"] for row in record["rows"] if row["file"] == "a.ll"}


def test_without_a_libllvm_the_level_that_ran_is_told(run: Run, inlined: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing(SharedEngine):
        def __init__(self, version: int | None = None, *, timeout: float, memory_limit: int) -> None:
            super().__init__(version, library="nowhere.so", timeout=timeout, memory_limit=memory_limit)

    monkeypatch.setattr(installed, "SharedEngine", Missing)
    result = run("sizes", inlined, "--json")
    assert result.code == 0
    assert "no LLVM on this machine can run -Oz. Sizes are those after -O2 with functions marked minsize" in result.err
    record = json.loads(result.out)
    assert record["level"] == "O2"
    assert "llvmlite" in record["engine"]
    sizes = {row["symbol"]: row["bytes"] for row in record["rows"]}
    assert sizes["caller"] == 4
    assert sizes["own"] == 2  # a static function keeps its name


def test_a_head_asked_about_a_folder_names_the_verb_for_exact_sizes(
    run: Run, heads: dict[str, Path], inlined: Path
) -> None:
    result = run("predict", "size_after", inlined, "--head", heads["size_after Oz"])
    assert f"exact sizes type: mirenc sizes {inlined}" in result.err
    assert len({line.split(":")[0] for line in result.out.splitlines() if "own" in line}) == 2  # answers of both files
    run("sizes", inlined, "--level", "loop").refused("--level")


def test_a_file_of_a_project_that_fails_is_named_and_the_rest_is_told(run: Run, inlined: Path) -> None:
    (inlined / "c.ll").write_text("define nothing")
    (inlined / "d.ll").write_text(INLINED.replace("pc-linux-gnu", "apple-macosx").replace("@again = alias", "; "))
    (inlined / "e.ll").write_text(DEVICE + "attributes #0 = { minsize optsize }\n")
    result = run("sizes", inlined, "--json")
    assert result.code == 1
    assert "c.ll" in result.err
    assert "d.ll: sizes of functions are read from ELF objects" in result.err
    assert "2 of 5 files failed" in result.err
    record = json.loads(result.out)
    assert (len(record["rows"]), record["devices"]) == (7, 1)


@pytest.mark.skipif(os.name != "posix", reason="the compiler is a shell script")
def test_sources_of_a_project_that_do_not_compile_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    for name in ("good.c", "bad.c", "worse.c", "good.driver.c"):  # the last is no code of the program
        (tmp_path / "code" / name).write_text(f"// {name[0]}\n")
    (tmp_path / "ir.ll").write_text(f"; ModuleID = 'x'\n{INLINED}")
    cc = tmp_path / "cc"
    cc.write_text(
        '#!/bin/sh\nfor last; do :; done\ncase "$*" in *good.c*) cp "$(dirname "$0")/ir.ll" "$last" ;;\n'
        "*) echo 'x.c:1:1: error: told so' >&2; exit 1 ;; esac\n"
    )
    cc.chmod(0o755)
    options = ("--compiler", cc, "--json")
    result = run("sizes", tmp_path / "code", *options)
    assert result.code == 1
    assert "warning: code/bad.c: not compiled: x.c:1:1: error: told so" in result.err
    assert "error: 2 of 3 files failed (listed above); the other was delivered" in result.err
    assert {row["file"] for row in json.loads(result.out)["rows"]} == {"code/good.c"}
    small = run("sizes", tmp_path / "code", *options, "--max-bytes", "100")
    assert "code/good.c: not compiled: its IR is too large" in small.err
    assert "bytes. Raise the limit with --max-bytes" in small.err
    (tmp_path / "code" / "good.c").unlink()
    none = run("sizes", tmp_path / "code", *options)
    assert (none.code, none.out) == (1, "")
    assert "error: 2 of 2 files failed (listed above)" in none.err
    assert "log.jsonl" not in none.err  # it was in a folder that is gone by now


def test_what_is_no_code_for_oz_is_told(run: Run, inlined: Path) -> None:
    (inlined / "a.ll").write_text(INLINED.replace(" minsize optsize", ""))
    assert "a.ll: 5 of 5 functions say neither minsize nor optsize" in run("sizes", inlined).err


@pytest.mark.needs("clang")
def test_a_build_is_compiled_as_its_commands_say(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text("int sum(int x) { return x + SIX; }\n")
    command = {"directory": str(tmp_path), "file": "sum.c", "arguments": ["cc", "-O2", "-DSIX=6", "-c", "sum.c"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([command]))
    result = run("sizes", tmp_path / "compile_commands.json", "--json")
    assert result.code == 0
    (row,) = json.loads(result.out)["rows"]
    assert row["name"] == "sum"
    assert row["file"].endswith("sum.c")
    assert row["before"] > row["bytes"] == 4  # before any pass the argument goes through memory; lea and ret are 4


@pytest.mark.needs("clang-19")
def test_what_is_left_out_is_told_once_and_nice_is_not_needed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.c").write_text("int a(void) { return 1; }\n")
    (tmp_path / "b.c").write_text("int b(void) { return 2; }\n")
    (tmp_path / "c.ll").write_text(ir_of(3))
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **options: None if name == "nice" else which(name, **options))
    result = run("sizes", tmp_path)
    assert result.code == 0
    assert [line for line in result.err.splitlines() if "left out" in line] == [
        f"mirenc: {tmp_path}: 2 files are taken as sources; others are left out: ir 1"
    ]
