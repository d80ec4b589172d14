"""What inlining is worth in speed, without noise: instructions that programs execute, under other rules at -O2.

    python downstream/inlining/instructions.py WORK -o downstream/inlining/instructions.json

WORK has the sources and decisions of programs.py. Each program is built by clang-19 -O2 with several thresholds of
inlining (a call is inlined where LLVM's estimate of its cost is below), by -Oz, and through ``mirenc serve inliner
--replay``, and runs under callgrind (Debian's valgrind) on a fixed input. Counts repeat to a few hundred instructions.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from programs import PROGRAMS, SCRIPT, build_and_test

RUNS = {
    "bzip2": "cat *.c | ./bzip2 | COUNT ./bzip2 -d > /dev/null && cat *.c | COUNT ./bzip2 > /dev/null",
    "zopfli": "COUNT ./zopfli -c --i1 src/zopfli/squeeze.c > /dev/null",
    "zlib": "cat *.c | COUNT ./minigzip > /dev/null && cat *.c | ./minigzip | COUNT ./minigzip -d > /dev/null",
    "dash": f"COUNT src/dash -c '{SCRIPT}' > /dev/null",
}
THRESHOLDS = (0, 25, 75, 225, 600, 1500)
DEFAULT = 225  # LLVM's own at -O2
CALLGRIND = "valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=count.%p"


def count_instructions(place: Path, name: str) -> int:
    """Instructions of the runs."""
    subprocess.run(["strip", PROGRAMS[name].binary], cwd=place, check=True)  # valgrind 3.19 fails on debug information
    for path in place.glob("count.*"):
        path.unlink()
    subprocess.run(["sh", "-c", RUNS[name].replace("COUNT", CALLGRIND)], cwd=place, check=True)
    return sum(
        int(match[1]) for path in place.glob("count.*") if (match := re.search(r"Collected : (\d+)", path.read_text()))
    )


def main() -> None:
    """Build, run, count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("names", nargs="*", default=list(RUNS))
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    folder = arguments.work.resolve()
    programs: dict[str, Any] = {}
    for name in arguments.names:
        source = next(path for path in folder.glob(f"{name}-*/"))
        served = [
            sys.executable,
            "-P",
            "-m",
            "mirenc",
            "serve",
            "inliner",
            str(folder / f"{name}.decisions"),
            "--replay",
            "--",
        ]
        builds: dict[str, tuple[str, list[str]]] = {"-Oz": ("-Oz", []), "-Oz, lists and inlining": ("-Oz", served)}
        builds |= {f"-O2, cost below {limit}": (f"-O2 -mllvm -inline-threshold={limit}", []) for limit in THRESHOLDS}
        programs[name] = {}
        for title, (flags, server) in builds.items():
            place = folder / f"{name}.counted"
            build = build_and_test(source, place, PROGRAMS[name], server, flags)
            assert build["passed"], (name, title)
            programs[name][title] = {"instructions": count_instructions(place, name), "linked": build["linked"]}
    record = {"programs": programs, "lines": table(programs)}
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def table(programs: dict[str, Any]) -> list[list[str]]:
    """Instructions and bytes of each way, as shares of -O2's."""
    default = f"-O2, cost below {DEFAULT}"
    lines = [["instructions / bytes, of those of -O2", *programs]]
    for title in next(iter(programs.values())):
        shares = [
            " / ".join(f"{builds[title][key] / builds[default][key]:.3f}" for key in ("instructions", "linked"))
            for builds in programs.values()
        ]
        lines.append([title + (" (LLVM's own)" if title == default else ""), *shares])
    return lines


if __name__ == "__main__":
    main()
