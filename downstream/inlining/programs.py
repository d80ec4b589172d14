"""Whole programs of Debian made smaller by lists and inlining: their own tests, linked sizes, time of the build.

    python downstream/inlining/programs.py WORK -o downstream/inlining/programs.json

fetches each source package to WORK (deb-src must be on), builds it by clang-19 -Oz and through ``mirenc serve
inliner``, two jobs at once, and again with --replay, and runs the tests of both. Linked are text and data of what
``size`` says of a program; lists and inlining are sums of what the search found, as LLVM's own code generation has it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mirenc.tools.inline.compiler import DECISIONS, LOG


class Program(NamedTuple):
    """How a package is built and tested by a compiler called ``cc`` on PATH; ``binary`` is weighed."""

    build: str
    test: str
    binary: str


ROUND = "for f in {0}; do {1} | {2} | cmp - $f || exit 1; done"
CMAKE = "cmake -S . -B b -DCMAKE_C_COMPILER=cc -DCMAKE_BUILD_TYPE=None {0} >/dev/null && make -s -C b -j2"
SCRIPT = (
    "i=0; while [ $i -lt 5000 ]; do i=$((i * 3 % 7 + i + 1)); done; echo $i; for f in *.am src/*.c; do case $f in "
    '*.c) echo ${f%.c} ${f#*/};; esac; done; printf "%05d|%-5s|%x\\n" 42 ab 99; f() { local x=$1; echo "<$x>"; }; '
    'f "a b"; (exit 3) || echo $?; cat <<E | tr a-z A-Z\nhere $i\nE\n trap "echo bye" EXIT'
)
PROGRAMS = {
    "bzip2": Program(
        "make -s -j2 CC=cc CFLAGS=-D_FILE_OFFSET_BITS=64 libbz2.a bzip2.o && cc -o bzip2 bzip2.o libbz2.a",
        "make -s -o bzip2 test && " + ROUND.format("*.c *.h", "./bzip2 < $f", "./bzip2 -d"),
        "bzip2",
    ),
    "zlib": Program("CC=cc ./configure --static >/dev/null && make -s -j2 static", "make -s teststatic", "minigzip"),
    "cjson": Program(CMAKE.format("-DBUILD_SHARED_LIBS=OFF"), "make -s -C b test", "b/cJSON_test"),
    "jansson": Program(CMAKE.format("-DJANSSON_BUILD_DOCS=OFF"), "make -s -C b test", "b/bin/json_process"),
    # In no recipe of this repository; chosen after everything was fixed.
    "dash": Program(
        "./configure CC=cc >/dev/null && make -s -j2",
        f"for sh in src/dash sh; do $sh -c '{SCRIPT}' > $sh.said; done; cmp src/dash.said sh.said",
        "src/dash",
    ),
    "figlet": Program("make -s -j2 CC=cc LD=cc", "make -s check", "figlet"),
    "tree": Program(
        "make -s -j2 CC=cc",
        "test $(./tree -a --noreport . | tail -n +2 | wc -l) = $(find . -mindepth 1 | wc -l)",
        "tree",
    ),
    "zopfli": Program("make -s -j2 CC=cc zopfli", ROUND.format("src/*/*.h", "./zopfli -c $f", "gzip -d"), "zopfli"),
}


def build_and_test(
    source: Path, place: Path, program: Program, served: Sequence[str] = (), flags: str = "-Oz"
) -> dict[str, Any]:
    """Build in a copy, test, weigh; ``served`` comes before the build's own command."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place)
    (place / "bin").mkdir()
    script = place / "bin" / "cc"
    script.write_text(f'#!/bin/sh\nexec clang-19 -w "$@" {flags}\n')
    script.chmod(0o755)
    environment = os.environ | {"PATH": f"{place}/bin:{os.environ['PATH']}"}
    times_before = os.times()
    build = [*served, "sh", "-c", program.build]
    subprocess.run(build, cwd=place, env=environment, check=True, stdout=subprocess.DEVNULL)
    times_after = os.times()
    seconds = sum(times_after[2:4]) - sum(times_before[2:4])  # of processors, by children
    test = ["sh", "-c", program.test]
    process = subprocess.run(test, cwd=place, env=environment, check=False, capture_output=True, text=True)
    sizes = subprocess.run(["size", program.binary], cwd=place, check=True, capture_output=True, text=True).stdout
    text, data, *_ = sizes.splitlines()[1].split()
    last = [line for line in process.stdout.splitlines() if "tests passed" in line]
    outcome = {"passed": process.returncode == 0, "said": last[-1] if last else ""}
    return {"linked": int(text) + int(data), "seconds": round(seconds, 1), **outcome}


def lines_of(path: Path) -> list[dict[str, Any]]:
    """What a file of lines has."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Build and test every program twice."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("names", nargs="*", default=list(PROGRAMS))
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    root = arguments.work.resolve()
    root.mkdir(parents=True, exist_ok=True)
    programs = json.loads(arguments.output.read_text(encoding="utf-8"))["programs"] if arguments.output.exists() else {}
    for name in arguments.names:
        if not list(root.glob(f"{name}-*/")):
            subprocess.run(["apt-get", "source", "-qq", name], cwd=root, check=True)
        source = next(path for path in root.glob(f"{name}-*/"))
        folder, program = root / f"{name}.decisions", PROGRAMS[name]
        shutil.rmtree(folder, ignore_errors=True)
        serve = [sys.executable, "-P", "-m", "mirenc", "serve", "inliner", str(folder)]
        oz = build_and_test(source, root / f"{name}.oz", program)
        small = build_and_test(source, root / f"{name}.small", program, [*serve, "--"])
        log, searched = lines_of(folder / LOG), lines_of(folder / DECISIONS)
        place = root / f"{name}.small" / program.binary
        first = place.read_bytes()
        replayed = build_and_test(source, root / f"{name}.small", program, [*serve, "--replay", "--"])
        programs[name] = {
            "oz": oz,
            "small": small,
            "replayed": replayed | {"same_bytes": place.read_bytes() == first},
            "files": len(log),
            "problems": [line["problem"].replace(f"{root}/", "") for line in log if "problem" in line],
            **{f"{key}_objects": sum(line[key] for line in log) for key in ("oz", "bytes")},
            "oz_searched": sum(line["oz"] for line in searched),
            **{key: sum(line[key] for line in searched) for key in ("lists", "inlining")},
        }
        record = {"programs": programs, "lines": table(programs)}
        arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def table(programs: dict[str, Any]) -> list[list[str]]:
    """Objects, linked programs, tests, seconds."""
    header = ["", "sources", "objects, -Oz", "smaller, %", "of it lists, %", "linked, %", "tests"]
    lines = [[*header, "build, CPU s: -Oz / search / replay"]]
    for name, row in programs.items():
        small, replay = row["small"], row["replayed"]
        linked = 100 * (1 - small["linked"] / row["oz"]["linked"])
        shares = [100 * (1 - row["bytes_objects"] / row["oz_objects"]), 100 * (1 - row["lists"] / row["oz_searched"])]
        all_pass = small["passed"] and replay["passed"] and replay["same_bytes"]
        tests = "pass" if all_pass else ("fail" if row["oz"]["passed"] else "fail at -Oz, too")
        seconds = " / ".join(f"{row[key]['seconds']:.0f}" for key in ("oz", "small", "replayed"))
        sizes = [f"{share:.2f}" for share in (*shares, linked)]
        lines.append([name, str(row["files"]), f"{row['oz_objects']:,}", *sizes, tests, seconds])
    return lines


if __name__ == "__main__":
    main()
