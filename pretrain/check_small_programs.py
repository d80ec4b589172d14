"""Compile and run the programs of `small_programs/`: each gives its task's expected output, and no compiler warns.

What you get: a line for each program that fails, and how many were checked; exit status 1 if one failed.
How long: four minutes of one core for all 200 with both compilers, most of it the standard library's headers.
On what: clang-14 and clang-19, or those that ``--compilers`` names, with a C++ standard library.

    python pretrain/check_small_programs.py
    python pretrain/check_small_programs.py --compilers clang-19 --tasks sorting queens
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "small_programs"
COMPILERS = ("clang-14", "clang-19")
STANDARDS = {".c": ["-std=c11"], ".cpp": ["-x", "c++", "-std=c++17"]}
LINES = range(25, 91)
_SECONDS = 10  # for one run


def find_programs(folder: Path = FOLDER) -> list[Path]:
    """Sources of all tasks, sorted: ``TASK/NUMBER.c`` and ``TASK/NUMBER.cpp``."""
    return sorted(path for path in folder.glob("*/*") if path.suffix in STANDARDS)


def words(text: str) -> list[list[str]]:
    """Words of each line: how a line is spaced out is the author's business."""
    return [line.split() for line in text.strip().splitlines()]


def check(source: Path, compiler: str) -> str:
    """What is wrong with a program; "" if nothing is."""
    lines = len(source.read_text(encoding="utf-8").splitlines())
    if lines not in LINES:
        return f"{lines} lines; {LINES.start} to {LINES.stop - 1} are wanted"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program")
        # A C compiler links C++ if it is told the library, so that one name stands for both languages.
        libraries = ["-lstdc++", "-lm"] if source.suffix == ".cpp" else ["-lm"]
        command = [compiler, *STANDARDS[source.suffix], "-O1", "-Wall", "-Werror", str(source), *libraries]
        compilation = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True, check=False)
        if compilation.returncode:
            return f"does not compile:\n{compilation.stderr}"
        for input_file in sorted(source.parent.glob("*.in")):
            expected = input_file.with_suffix(".out").read_text(encoding="utf-8")
            with input_file.open(encoding="utf-8") as stdin:
                try:
                    run = subprocess.run(
                        [str(program)], stdin=stdin, capture_output=True, text=True, timeout=_SECONDS, check=False
                    )
                except subprocess.TimeoutExpired:
                    return f"{input_file.name}: not done after {_SECONDS} seconds"
            if run.returncode:
                return f"{input_file.name}: exit status {run.returncode}"
            if words(run.stdout) != words(expected):
                return f"{input_file.name}: printed\n{run.stdout}instead of\n{expected}"
    return ""


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", nargs="+", default=list(COMPILERS))
    parser.add_argument("--tasks", nargs="*", default=[], help="these only")
    arguments = parser.parse_args()
    programs = [path for path in find_programs() if not arguments.tasks or path.parent.name in arguments.tasks]
    failures = 0
    for compiler in arguments.compilers:
        for source in programs:
            problem = check(source, compiler)
            if problem:
                failures += 1
                print(f"{source.relative_to(FOLDER)}, {compiler}: {problem}", flush=True)
    print(f"{len(programs)} programs, {', '.join(arguments.compilers)}: {failures} failures")
    raise SystemExit(failures > 0)


if __name__ == "__main__":
    main()
