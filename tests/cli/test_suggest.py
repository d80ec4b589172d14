"""``mirenc suggest``: lists with their commands, a trial, and what goes wrong."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Run
from small_compiled import LISTS, ir_of, write_small_table

import mirenc
from mirenc.decide.fit import fit_head
from mirenc.decide.registry import get_task
from mirenc.decide.task_head import TaskHead, ready_heads
from mirenc.llvm import parse_ir
from mirenc.llvm.passes import find_llvm
from mirenc.llvm.passes.find_llvm import find_engine
from mirenc.tools.suggest import IDEAS, fixed_lists

SIZE = "attributes #0 = { minsize optsize }\n"


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A head of the small table, of whose three lists one is -Oz."""
    folder = tmp_path_factory.mktemp("heads")
    (folder / "table").mkdir()
    write_small_table(folder / "table", projects=8, each=6)
    task = get_task("pass_list")
    return fit_head(task, task.load(folder / "table"), mirenc.load("mirenc-tiny", cache=False)).save(folder / "head")


@pytest.fixture
def code(tmp_path: Path) -> Path:
    path = tmp_path / "code.ll"
    path.write_text(ir_of(4).replace(") {", ") #0 {") + SIZE, encoding="utf-8")
    return path


def test_lists_come_with_their_commands(run: Run, head: Path, code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(code.parent))  # no opt-19
    first, *lines = run("suggest", code, "-k", 1, "--head", head).ok().out.splitlines()
    assert first == f"{code}: 7 pass lists, the same for all code: found by training, or often tried by people"
    assert lines[::2] == ["  1. found in training, 1", *(f"{at:3}. {one.origin}" for at, one in enumerate(IDEAS, 2))]
    assert lines[1].strip() == f"opt -relocation-model=pic -passes='{LISTS[1].pipeline}' {code} -o code.opt.bc"


def test_json_has_everything(run: Run, head: Path, code: Path) -> None:
    answer = json.loads(run("suggest", code, "-k", 9, "--head", head, "--json").ok().out)
    assert [one["pipeline"] for one in answer["lists"][:2]] == [LISTS[1].pipeline, LISTS[2].pipeline]
    assert [one["origin"] for one in answer["lists"][2:]] == [one.origin for one in IDEAS]
    assert "oz" not in answer


def test_without_a_head_the_shipped_one_has_the_lists(run: Run, code: Path) -> None:
    shipped = fixed_lists(TaskHead.load(ready_heads(get_task("pass_list"))[""]), 3)
    answer = json.loads(run("suggest", code, "-k", 3, "--json").ok().out)
    assert [one["pipeline"] for one in answer["lists"]] == [one.pipeline for one in shipped]


def test_what_cannot_be_done_is_refused(run: Run, head: Path, code: Path, tmp_path: Path) -> None:
    run("suggest", code, "--head", head, "-o", tmp_path / "best.ll").refused("-o needs --try")
    run("suggest", code, "-k", 0, "--head", head).refused("greater than or equal to 1")
    run("suggest", code, "--head", head, "--try", "-o", tmp_path / "best.s").failed(
        "unknown suffix; available: .bc, .ll, .o"
    )
    run("suggest", code, "--head", head, "--inline").refused("--inline needs --try")
    run("suggest", code, "--head", head, "--try", "--budget", 9).refused("--budget needs --try --inline")
    run("suggest", code, "--head", head, "--function", "other").failed("no function 'other'", "it has f4")
    run("suggest", tmp_path / "none.ll", "--head", head).failed("none.ll")


def test_a_weak_baseline_is_a_warning(run: Run, head: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.ll"
    plain.write_text(ir_of(4), encoding="utf-8")
    result = run("suggest", plain, "--head", head)
    assert result.code == 0
    assert "-Oz of this IR is the weak baseline" in result.err


def test_where_no_llvm_runs_the_lists_it_is_said_how_to_have_them(
    run: Run, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find_llvm, "_names", lambda version: ["libLLVM-none.so"])
    result = run("suggest", code, "--try")
    result.failed(
        "no LLVM here can run these pass lists: ",
        "Install the library of LLVM 19 (Debian: apt-get install libllvm19). To print the lists without running them, "
        f"type: mirenc suggest {code}",
    )
    *_, command = result.error_lines[-1].partition("type: mirenc ")
    assert len(run(*shlex.split(command)).ok().out.splitlines()) > 2 * len(IDEAS)


@pytest.mark.needs("libLLVM 19")  # as the table's
def test_a_trial_tells_bytes_and_writes_the_best(run: Run, head: Path, code: Path, tmp_path: Path) -> None:
    text, bitcode = tmp_path / "best.ll", tmp_path / "best.bc"
    answer = json.loads(run("suggest", code, "--head", head, "--try", "--json", "-o", text).ok().out)
    assert answer["before"] > answer["oz"] >= answer["best"] > 0
    assert answer["saved"] == answer["oz"] - answer["best"]
    assert answer["best"] == min(answer["oz"], *(one["bytes"] for one in answer["lists"]))
    out = run("suggest", code, "--head", head, "--try", "-o", bitcode).ok().out
    assert f"{answer['oz']} by -Oz" in out
    none_smaller = f"Nothing was smaller than -Oz ({answer['oz']} bytes)"
    assert ("best: list " if answer["saved"] else none_smaller) in out
    assert answer["checked"] in out
    assert "verifier" in answer["checked"]
    # Six additions of one number are one.
    for path in (text, bitcode):
        assert parse_ir(path.read_bytes()).instruction_count == 2


@pytest.mark.needs("libLLVM 19")
def test_other_inlining_is_tried_under_the_best_list(run: Run, head: Path, tmp_path: Path) -> None:
    # Five users of a function that LLVM takes for small enough to be copied into each.
    users = "".join(
        f"define i32 @use{at}(i32 %x) #0 {{\n  %y = call i32 @work(i32 %x)\n  ret i32 %y\n}}\n" for at in range(5)
    )
    body = "".join(f"  %v{at} = {'add' if at % 2 else 'xor'} i32 %v{at - 1}, {at + 7}\n" for at in range(1, 5))
    code, object_file = tmp_path / "code.ll", tmp_path / "best.o"
    work = f"define internal i32 @work(i32 %v0) #0 {{\n{body}  ret i32 %v4\n}}\n"
    code.write_text(work + users + SIZE, encoding="utf-8")
    question = ("suggest", code, "--head", head, "--try", "--inline", "-o", object_file)
    answer = json.loads(run(*question, "--json").ok().out)
    assert answer["inlined_best"] <= answer["best"]
    assert bool(answer["inlined"]) == (answer["inlined_best"] < answer["best"])
    assert 0 < answer["inlining_compilations"] <= 20
    sizes = subprocess.run(["nm", "-S", object_file], capture_output=True, text=True, check=True).stdout
    assert "use4" in sizes
    none = json.loads(run(*question, "--budget", 1, "--json").ok().out)
    assert (none["inlining_compilations"], none["inlined_best"]) == (0, none["best"])
    assert "inlining: " in run(*question).ok().out
    code.write_text('target triple = "x86_64-apple-macosx13.0.0"\n' + code.read_text())
    foreign = run(*question)
    assert (foreign.code, object_file.read_bytes()[:4]) == (0, b"\xcf\xfa\xed\xfe")
    assert "no other inlining was tried: the target's object files are not ELF" in foreign.err


@pytest.mark.needs("libLLVM 19")
@pytest.mark.needs("clang-19")
def test_a_weak_function_stays_a_call(run: Run, head: Path, tmp_path: Path) -> None:
    source, object_file = tmp_path / "hook.c", tmp_path / "hook.o"
    hook = "__attribute__((weak)) int hook(int x) { return x; }\n"
    source.write_text(f"{hook}int f(int x) {{ return hook(x) + hook(x + 1) * 3 + hook(x + 2); }}\n", encoding="utf-8")
    question = ("suggest", source, "--head", head, "--try", "--inline", "-o", object_file, "--json")
    assert json.loads(run(*question).ok().out)["inlined"] == []
    main = tmp_path / "main.c"
    main.write_text("int hook(int x) { return 30; }\nint f(int);\nint main(void) { return f(1); }\n", encoding="utf-8")
    subprocess.run(["clang-19", object_file, main, "-o", tmp_path / "program"], check=True)
    assert subprocess.run([tmp_path / "program"], check=False).returncode == 30 + 30 * 3 + 30


@pytest.mark.needs("libLLVM 19")
@pytest.mark.needs("clang-19")
def test_what_llvm_did_not_follow_is_not_reported(run: Run, tmp_path: Path) -> None:
    """The caller of the weak function is inlined itself, so its calls stand elsewhere."""
    source, output = tmp_path / "w.c", tmp_path / "w.ll"
    source.write_text(
        "__attribute__((weak)) int hook(int x) { return x; }\n"
        "static int mid(int x) { return hook(x) * 2 + hook(x + 1); }\nint f(int x) { return mid(x) + mid(x + 7); }\n"
    )
    result = run("suggest", source, "--compiler", "clang-19", "--try", "--inline", "-o", output)
    assert result.code == 0, result.err
    assert "inline call 1 of mid in f" in result.out
    assert "of hook" not in result.out
    assert output.read_text().count("@hook(") == 1 + 4
    assert "function-inline-cost" not in output.read_text()


@pytest.mark.needs("C compiler")
def test_commands_have_the_users_flags(run: Run, head: Path, tmp_path: Path) -> None:
    source = tmp_path / "code.c"
    source.write_text("int f(int x) { return x + NUMBER; }\n", encoding="utf-8")
    flags = "-DNUMBER='(1 + 2)'"
    question = ("suggest", source, "-k", 1, "--head", head, f"--cflags={flags}")
    prepare = f" {shlex.quote('-DNUMBER=(1 + 2)')} {source} -o code.ll"
    assert json.loads(run(*question, "--json").out)["prepare"].endswith(prepare)
    (line,) = (line for line in run(*question).out.splitlines() if line.startswith("  first: "))
    assert line.endswith(prepare)


@pytest.mark.needs("libLLVM")
def test_a_trial_in_another_llvm_is_told(run: Run, head: Path, code: Path, tmp_path: Path) -> None:
    with find_engine(["default<Oz>"]) as engine:
        here = engine.version
    old = replace(TaskHead.load(head), llvm="15.0.6").save(tmp_path / "old")
    result = run("suggest", code, "--head", old, "--try")
    assert result.code == 0
    assert f" by LLVM {here}" in result.out
    assert result.err == (
        f"mirenc: warning: the lists were found with LLVM 15.0.6 and run in LLVM {here}. "
        "Type: apt-get install libllvm15\n"
    )
    # A head of an older release does not say.
    silent = replace(TaskHead.load(head), llvm="").save(tmp_path / "silent")
    run("suggest", code, "--head", silent, "--try").ok()
