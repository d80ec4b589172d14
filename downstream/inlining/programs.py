"""Whole programs of Debian made smaller by lists and inlining: their own tests, linked sizes, time of the build.

    python downstream/inlining/programs.py WORK -o downstream/inlining/programs.json

fetches each source package to WORK (deb-src must be on), builds it by clang-19 -Oz and by ``cc.py``, two jobs at once,
and runs its tests on both. Linked are text and data of what ``size`` says of a program; objects are summed by cc.py.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent


class Program(NamedTuple):
    """How a package is built and tested by a compiler called ``cc`` on PATH; ``made`` is weighed."""

    build: str
    test: str
    made: str


ROUND = "for f in {0}; do {1} | {2} | cmp - $f || exit 1; done"
CMAKE = "cmake -S . -B b -DCMAKE_C_COMPILER=cc -DCMAKE_BUILD_TYPE=None {0} >/dev/null && make -s -C b -j2"
PROGRAMS = {
    "bzip2": Program(
        "make -s -j2 CC=cc CFLAGS=-D_FILE_OFFSET_BITS=64 libbz2.a bzip2.o && cc -o bzip2 bzip2.o libbz2.a",
        "make -s -o bzip2 test && " + ROUND.format("*.c *.h", "./bzip2 < $f", "./bzip2 -d"),
        "bzip2",
    ),
    "zlib": Program("CC=cc ./configure --static >/dev/null && make -s -j2 static", "make -s teststatic", "minigzip"),
    "cjson": Program(CMAKE.format("-DBUILD_SHARED_LIBS=OFF"), "make -s -C b test", "b/cJSON_test"),
    "jansson": Program(CMAKE.format("-DJANSSON_BUILD_DOCS=OFF"), "make -s -C b test", "b/bin/json_process"),
    "zopfli": Program("make -s -j2 CC=cc zopfli", ROUND.format("src/*/*.h", "./zopfli -c $f", "gzip -d"), "zopfli"),
}


def built(source: Path, place: Path, program: Program, compiler: str) -> dict[str, Any]:
    """Build in a copy, test, weigh."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place)
    (place / "bin").mkdir()
    script = place / "bin" / "cc"
    script.write_text(f"#!/bin/sh\nexec {compiler}\n")
    script.chmod(0o755)
    before = os.times()
    path = f"export PATH={place}/bin:$PATH; "
    subprocess.run(["sh", "-c", path + program.build], cwd=place, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    seconds = sum(after[2:4]) - sum(before[2:4])  # of processors, by children
    test = subprocess.run(["sh", "-c", path + program.test], cwd=place, check=False, capture_output=True, text=True)
    told = subprocess.run(["size", program.made], cwd=place, check=True, capture_output=True, text=True).stdout
    text, data, *_ = told.splitlines()[1].split()
    last = [line for line in test.stdout.splitlines() if "tests passed" in line]
    passed = {"passed": test.returncode == 0, "said": last[-1] if last else ""}
    return {"linked": int(text) + int(data), "seconds": round(seconds, 1), **passed}


def main() -> None:
    """Build and test every program twice."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("names", nargs="*", default=list(PROGRAMS))
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    work = asked.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    found = json.loads(asked.output.read_text(encoding="utf-8"))["programs"] if asked.output.exists() else {}
    for name in asked.names:
        if not list(work.glob(f"{name}-*/")):
            subprocess.run(["apt-get", "source", "-qq", name], cwd=work, check=True)
        source = next(one for one in work.glob(f"{name}-*/"))
        sizes = work / f"{name}.jsonl"
        sizes.unlink(missing_ok=True)
        wrapper = f'{sys.executable} {HERE.resolve() / "cc.py"} {sizes} "$@"'
        found[name] = {
            "oz": built(source, work / f"{name}.oz", PROGRAMS[name], 'clang-19 "$@" -Oz'),
            "small": built(source, work / f"{name}.small", PROGRAMS[name], wrapper),
        }
        lines = [json.loads(line) for line in sizes.read_text(encoding="utf-8").splitlines()]
        found[name] |= {
            "files": len(lines),
            "problems": [line["problem"].replace(f"{work}/", "") for line in lines if "problem" in line],
        }
        found[name] |= {key: sum(line[key] for line in lines) for key in ("oz_objects", "lists", "inlining", "kept")}
        record = {"programs": found, "lines": table(found)}
        asked.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def table(found: dict[str, Any]) -> list[list[str]]:
    """Objects, linked programs, tests, seconds."""
    lines = [["", "sources", "objects, -Oz", "lists, %", "and inlining, %", "linked, %", "tests", "build, CPU s"]]
    for name, one in found.items():
        oz, made = one["oz_objects"], one["small"]
        linked = 100 * (1 - made["linked"] / one["oz"]["linked"])
        shares = [f"{100 * (1 - one[key] / oz):.2f}" for key in ("lists", "kept")]
        tests = "pass" if made["passed"] else ("fail" if one["oz"]["passed"] else "fail at -Oz, too")
        seconds = f"{one['oz']['seconds']:.0f} / {made['seconds']:.0f}"
        lines.append([name, str(one["files"]), f"{oz:,}", *shares, f"{linked:.2f}", tests, seconds])
    return lines


if __name__ == "__main__":
    main()
