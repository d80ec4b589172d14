"""``mirenc serve inliner``: a build through the compiler, again from its decisions, and after a source has changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import Run

SOURCE = """#include <stdio.h>
static int work(int x) { return (x ^ 7) * 5 + (x >> 3) * (x & 1); }
int first(int x) { return work(x) + work(x + 1) + work(x * 3); }
int second(int x) { return work(x) * work(x - 2); }
int other(int);
int main(void) { return printf("%d %d\\n", first(NUMBER), second(4) + other(1)) < 0; }
"""
MAKEFILE = """
program: a.o b/a.o
	$(CC) -o $@ $^
%.o: %.c
	$(CC) -O2 -g -DNUMBER=3 -MD -MF $*.d -c $< -o $@
"""
pytestmark = [
    pytest.mark.needs("libLLVM 19"),
    pytest.mark.needs("clang-19"),
    pytest.mark.skipif(shutil.which("make") is None, reason="make is not on PATH"),
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "c++project"  # a word that the name of a compiler may have, too
    (place / "b").mkdir(parents=True)
    (place / "a.c").write_text(SOURCE)
    (place / "b" / "a.c").write_text("int other(int x) { return x + 1; }\n")
    (place / "Makefile").write_text(MAKEFILE)
    monkeypatch.chdir(place)
    return place


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_build_and_its_replay(run: Run, project: Path) -> None:
    folder = project / "smaller"
    built = run("serve", "inliner", folder, "--budget", "30", "--", "make", "-s", "-j2")
    assert built.code == 0, built.err
    assert "2 sources: " in built.err
    assert " fewer than with -Oz (" in built.err
    assert "LLVM's verifier found the result well-formed. It cannot tell whether" in built.err
    assert (project / "b" / "a.d").is_file()
    line_of_source = {str(line["source"]): line for line in lines(folder / "decisions.jsonl")}
    assert set(line_of_source) == {"a.c", "b/a.c"}
    assert all(line["oz"] >= line["lists"] >= line["inlining"] > 0 for line in line_of_source.values())  # type: ignore[operator]
    log = {str(line["source"]): line for line in lines(folder / "log.jsonl")}
    assert log["a.c"]["bytes"] < log["a.c"]["oz"]  # type: ignore[operator]
    objects = [(project / name).read_bytes() for name in ("a.o", "b/a.o")]
    for more in ((), ("--replay",)):
        again = run("serve", "inliner", folder, "--budget", "30", *more, "--", "make", "-s", "-B")
        assert again.code == 0, again.err
        assert [(project / name).read_bytes() for name in ("a.o", "b/a.o")] == objects
        assert len(lines(folder / "decisions.jsonl")) == 2
    run("serve", "inliner", folder, "--budget", "31", "--", "make", "-s", "-B")
    assert len(lines(folder / "decisions.jsonl")) == 4  # more was asked for
    subprocess.run(["clang-19", "-w", "-DNUMBER=3", "a.c", "b/a.c", "-o", "plain"], check=True)
    sections = subprocess.run(["readelf", "-SW", "a.o"], check=True, capture_output=True, text=True).stdout
    assert " .debug_info " in sections
    outputs = [
        subprocess.run([project / name], check=True, capture_output=True).stdout for name in ("plain", "program")
    ]
    assert outputs[0] == outputs[1] != b""


def test_decisions_of_a_source_that_has_changed(run: Run, project: Path) -> None:
    folder = project / "smaller"
    run("serve", "inliner", folder, "--", "make", "-s")
    with (folder / "decisions.jsonl").open("a") as file:
        file.write('{"source": "a.c", "ir": "0"')  # of a build that was killed
    (project / "a.c").write_text(SOURCE.replace("second(4)", "second(5)"))
    before = (folder / "decisions.jsonl").read_text()
    changed = run("serve", "inliner", folder, "--replay", "--", "make", "-s", "-B")
    assert changed.code == 0, changed.err
    assert (folder / "decisions.jsonl").read_text() == before
    assert "(0.0 %)" not in changed.err
    run("serve", "inliner", folder, "--", "make", "-s", "-B")
    assert len((folder / "decisions.jsonl").read_text().splitlines()) == 4


def test_a_decision_about_what_has_become_weak_is_not_applied(run: Run, project: Path) -> None:
    folder = project / "smaller"
    source = "int work(int x) { return (x ^ 7) * 5; }\nint f(int x) { return work(x) + 1; }\n"
    (project / "a.c").write_text(source)
    build = ("--", "sh", "-c", "$CC -c a.c -o a.o")
    run("serve", "inliner", folder, "--budget", "1", *build)
    line = {**lines(folder / "decisions.jsonl")[0], "passes": "default<Oz>"}
    line["calls"] = [{"caller": "f", "callee": "work", "number": 0, "inline": True}]
    (folder / "decisions.jsonl").write_text(json.dumps(line) + "\n")
    (project / "a.c").write_text(f"__attribute__((weak)) {source}")
    run("serve", "inliner", folder, "--replay", *build)
    called = subprocess.run(["readelf", "-rW", "a.o"], check=True, capture_output=True, text=True).stdout
    assert " work " in called
    (project / "b.c").write_text("int work(int x) { return 40; }\nint f(int);\nint main(void) { return f(1); }\n")
    subprocess.run(["clang-19", "a.o", "b.c", "-o", "program"], check=True)
    assert subprocess.run(["./program"], check=False).returncode == 41


def test_a_project_that_moves_and_its_compiler_on_path(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("serve", "inliner", project / "smaller", "--", "sh", "-c", f"$CC -DNUMBER=1 -c {project}/a.c")
    moved = project.parent / "moved"
    shutil.copytree(project, moved)
    monkeypatch.chdir(moved)
    monkeypatch.setenv("PATH", f"{moved}/smaller/bin:{os.environ['PATH']}")
    again = run("serve", "inliner", "smaller", "--", "sh", "-c", f"$CC -DNUMBER=1 -c -- {moved}/a.c")
    assert again.code == 0, again.err
    assert "1 sources: " in again.err
    assert len(lines(moved / "smaller" / "decisions.jsonl")) == 1


def test_what_is_no_compilation_of_one_source(run: Run, project: Path) -> None:
    folder = project / "smaller"
    run("serve", "inliner", folder, "--", "make", "-s")
    (project / "t.s").write_text(".globl t\nt: ret\n")
    cc = str(folder / "bin" / "cc")
    for words in (
        ["-c", "t.s"],
        ["-E", "b/a.c", "-o", "a.i"],
        ["-S", "b/a.c"],
        ["-c", "-flto", "b/a.c", "-o", "lto.o"],
    ):
        subprocess.run([cc, *words], cwd=project, check=True)
    subprocess.run([cc, "-x", "c", "-c", "-", "-o", "piped.o"], input=b"int x(void) { return 1; }", check=True)
    named = subprocess.run(["nm", "piped.o"], capture_output=True, text=True, check=True).stdout
    assert " T x" in named
    cxx = str(folder / "bin" / "c++")
    (project / "m.cc").write_text(
        "#include <string>\nint main(int n, char **) { return std::string(n, 'x').size() - 1; }\n"
    )
    subprocess.run([cxx, "m.cc", "-o", "m"], check=True)
    subprocess.run(["./m"], check=True)
    assert lines(folder / "log.jsonl")[-1]["source"] == "m.cc"
    count = len(lines(folder / "log.jsonl"))
    for flags in (
        ["-fsanitize=undefined"],
        ["-g", "-gsplit-dwarf"],
        ["-fprofile-instr-generate"],
        ["--coverage"],
        ["-pg"],
    ):
        subprocess.run([cc, *flags, "-c", "b/a.c", "-o", "instrumented.o"], check=True)
    assert len(lines(folder / "log.jsonl")) == count
    bad = subprocess.run([cc, "-c", "missing.c"], check=False, capture_output=True, text=True)
    assert bad.returncode == 1
    assert "missing.c" in bad.stderr


def test_what_cannot_be_served(run: Run, project: Path) -> None:
    run("serve", "inliner", "smaller", "--replay", "--", "make").failed("smaller has no decisions.jsonl")
    run("serve", "inliner", "Makefile", "--", "make").failed("Makefile is a file. Name a folder")
    nothing = run("serve", "inliner", "smaller", "--", "true")
    assert nothing.code == 0
    assert "the build compiled no source with $CC or $CXX: all was up to date" in nothing.err
    assert "or the build needs the argument CC=smaller/bin/cc" in nothing.err
    run("serve", "inliner", "a folder", "--", "true").failed("a folder has a space")
    assert run("serve", "inliner", "smaller", "--", "sh", "-c", "exit 3").code == 3
    run("serve", "inliner", "smaller", "--", "no-such-build").failed("no-such-build")
    assert os.access(project / "smaller" / "bin" / "clang++-19", os.X_OK)
