"""Entries that build systems wrote, compiled by mirenc and by their own commands: equal IR, or flags with their names.

The entries are real (``tests/fixtures/builds/make.py`` runs the build systems). The oracle knows nothing of flags: it
is clang with the entry's words and ``-S -emit-llvm``. Where mirenc leaves flags out, which ones stands here, and the
IR equals that of the command without them at -O2.
"""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mirenc.base.errors import ConfigError
from mirenc.llvm.inputs.compile_commands import read_commands
from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.llvm.inputs.projects import expand_inputs
from mirenc.llvm.ir.read import ReadOptions, read_ir

BUILDS = Path(__file__).parents[2] / "fixtures" / "builds"
MADE: dict[str, Any] = json.loads((BUILDS / "entries.json").read_text(encoding="utf-8"))
PCH = "-Xclang -include-pch -Xclang {root}/out/CMakeFiles/precompiled.dir/cmake_pch.hxx.pch"
GNU = "CMake, Makefiles, gcc"
CLANG = "CMake, Ninja, clang"
CROSS = "CMake, Ninja, cross gcc"


class Case(NamedTuple):
    """One entry: what is left out of it, what a clang may refuse, and the target that its compiler's name says."""

    system: str
    file: str
    named: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    target: str = ""


CASES = [
    Case(GNU, "sum.c", ("-O3",)),
    Case(GNU, "mean.c", ("-O3", "-flto=auto")),
    Case(GNU, "dot.cpp", ("-O3",)),
    Case(CLANG, "sum.c", ("-g", "no -O")),
    Case(CLANG, "mean.c", ("-g", "-flto=thin", "no -O")),
    Case(CLANG, "dot.cpp", ("-g", PCH, "no -O")),
    Case(CROSS, "sum.c", ("-Os",), (), "arm-linux-gnueabihf"),
    Case(CROSS, "mean.c", ("-Os", "-flto=auto"), (), "arm-linux-gnueabihf"),
    Case("Meson", "sum.c", ("-g",)),
    Case("Meson", "mean.c", ("-g",)),
    Case("Meson", "dot.cpp", ("-g", "-fsanitize=address")),
    Case("bear, make", "sum.c", ("-g",), ("-fgcse-sm",)),
    Case("bear, make", "mean.c", ("-fsanitize=undefined",)),
    Case("bear, make", "dot.cpp", ("-Os",), ("-fno-tree-pre",)),
    Case("bear, make", "arm.c", (), (), "arm-linux-gnueabihf"),
    Case("bear, make", "arm64.c", (), ("-mabi=lp64", "-mtls-dialect=trad"), "aarch64-linux-gnu"),
    Case("Ninja's compdb", "sum.c", ("-O3",)),
    Case("Ninja's compdb", "dot.cpp", ("-fprofile-arcs", "-ftest-coverage")),
    Case("clang -MJ", "mean.c", ("-O1",)),
    Case("clang -MJ", "sum.c", ("-O1",)),
]


def build(system: str, root: Path) -> Path:
    """The project as the build system left it; its database."""
    shutil.copytree(BUILDS / "project", root)
    built = MADE[system]
    for name, text in built["files"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.replace("{root}", str(root)), encoding="utf-8")
    database = root / str(built["database"])
    database.write_text(built["text"].replace("{root}", str(root)), encoding="utf-8")
    return database


def own_command(entry: dict[str, Any], root: Path) -> tuple[Path, list[str]]:
    """The folder and the words behind the compiler."""
    words = entry.get("arguments") or shlex.split(entry["command"])
    number = next(n for n, word in enumerate(words) if re.search(r"(cc|\+\+|clang|clang-19|\+\+-19)$", word))
    folder = Path(entry["directory"], words[1] if words[0] == "cd" else ".")
    return folder, [*words[number + 1 :], "&&"][: [*words[number + 1 :], "&&"].index("&&")]


def without(words: list[str], flags: list[str]) -> list[str]:
    line = "\0".join(["", *words, ""])
    for flag in flags:
        line = line.replace("\0".join(["", *flag.split(), ""]), "\0")
    return line.strip("\0").split("\0")


def test_every_entry_is_here() -> None:
    entries = sum(len(re.findall(r'"directory"', build_files["text"])) for build_files in MADE.values())
    headers = sum(build_files["text"].count("-x c++-header") for build_files in MADE.values())
    copies = sum(build_files["text"].count('"cp ') for build_files in MADE.values())
    assert len(CASES) == len(set(CASES)) == entries - headers - copies == 20


@pytest.mark.needs("clang")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.system}-{case.file}")
def test_the_ir_is_that_of_the_own_command(case: Case, compiler: str, tmp_path: Path) -> None:
    root = tmp_path / "project"
    database = build(case.system, root)
    text = database.read_text(encoding="utf-8")
    entries = json.loads(text if text.startswith("[") else f"[{text.strip().rstrip(',')}]")
    (entry,) = [one for one in entries if Path(one["file"]).name == case.file]
    database.write_text(json.dumps([entry]), encoding="utf-8")

    reported: list[str] = []
    (source,) = expand_inputs([database], reported.append, ReadOptions(compiler=compiler))
    ours = read_ir(source, options=ReadOptions(compiler=compiler))

    named = [flag.removesuffix(" (1)") for line in reported for flag in line.rpartition(": ")[2].split(", ")]
    expected = [flag.replace("{root}", str(root)) for flag in case.named]
    refused = [flag for flag in case.refused if flag in named]
    assert sorted(named) == sorted([*expected, *refused])

    folder, words = own_command(entry, root)
    target = [f"--target={case.target}"] if case.target else []
    direct = [*find_compiler("c", compiler), *target, *without(words, named), "-S", "-emit-llvm", "-w"]
    direct += ["-O2"] if {"no -O"}.union(named).intersection(("-O1", "-O3", "-Os", "no -O")) else []
    if "-MF" in words:
        (folder / words[words.index("-MF") + 1]).parent.mkdir(exist_ok=True)
    subprocess.run([*direct, "-o", str(tmp_path / "own.ll")], cwd=folder, check=True)
    assert ours.content_hash == read_ir(tmp_path / "own.ll").content_hash
    assert case.target.partition("-")[2] in ours.text.partition("target triple =")[2].partition("\n")[0]


SOURCE = """
#ifdef HEADER
#include "k.h"
#endif
#ifndef X
#define X 0
#endif
#ifndef S
#define S __FILE__
#endif
#ifndef K
#define K 0
#endif
#ifdef __STDC_VERSION__
#define VERSION __STDC_VERSION__
#else
#define VERSION 0
#endif
const char *name(void) { return S; }
int f(float *x, char *y, int n) {
  static int calls;
  float s = X;
  int i;
  for (i = 0; i < n; i++) s += x[i] * K + y[i];
  return s + ++calls + sizeof(long) + VERSION;
}
"""


@pytest.mark.slow
@pytest.mark.needs("clang-19")
def test_what_is_dropped_in_silence_does_not_change_the_ir(tmp_path: Path) -> None:
    def clang(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["clang-19", *words], cwd=tmp_path, check=False, capture_output=True)

    def compiled(*flags: str) -> str:
        output = tmp_path / "own.ll"
        done = clang("-O2", "-w", *flags, "-S", "-emit-llvm", "a.c", "-o", str(output))
        return read_ir(output).content_hash if done.returncode == 0 and output.read_bytes()[:1] == b";" else ""

    (tmp_path / "a.c").write_text(SOURCE, encoding="utf-8")
    known = sorted(set(re.findall(r"^-\S+", clang("--autocomplete=-").stdout.decode(), re.MULTILINE)))
    dropped = []
    for flag in [f"{flag}x" if flag.endswith("=") else flag for flag in known]:
        entry = {"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", flag, "-c", "a.c"]}
        (tmp_path / "x.json").write_text(json.dumps([entry]))
        reported: list[str] = []
        try:
            (one,) = read_commands(tmp_path / "x.json", {".c": "c"}, reported.append)
        except ConfigError:  # -x, which takes the next word
            continue
        if not (one.flags or one.level or reported or flag.startswith("-W") or flag in ("-E", "-M", "-MM", "-###")):
            dropped.append(flag)
    assert len(dropped) > 150
    plain = compiled()
    assert [flag for flag in dropped if compiled(flag) not in (plain, "")] == []
