"""Whether programs behave as clang -Oz makes them, with objects of `mirenc suggest --inline` and `serve inliner`.

    python downstream/inlining/differential.py WORK -o downstream/inlining/differential.json

Each program (`two_units`) has two units, which are compiled three ways, linked and run: output and exit code must be
equal. It needs clang-19, libLLVM 19 and csmith, and takes about 3 s of a core a program.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import two_units
from two_units import Program
from typer.testing import CliRunner

from mirenc.base.errors import MirencError
from mirenc.cli import make_app
from mirenc.tools.inline.compiler import DECISIONS, LOG
from mirenc.tools.inline.trial import weight

COMPILERS = {"c": "clang-19", "c++": "clang++-19"}
WAYS = ("oz", "suggest", "serve")
_LIMIT = 20.0  # seconds that a program may run


class Behaviour(NamedTuple):
    """What can be seen of a program that has run."""

    code: int
    output: str


def write(program: Program, folder: Path) -> Path:
    """Write a program's sources to a folder of its own, and return it."""
    place = folder / program.name
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(two_units.TEMPLATES / "generator.h", place)
    for name, text in zip("ab", program.units, strict=True):
        source_of(place, name, program).write_text(text)
    return place


def source_of(place: Path, unit: str, program: Program) -> Path:
    """The source of unit ``a`` or ``b``."""
    return place / f"{unit}{'.c' if program.language == 'c' else '.cc'}"


def compilation(program: Program, compiler: str, place: Path, unit: str, variant: str) -> list[str]:
    """The command that compiles a unit."""
    flags = ["-w", *program.flags.split()]
    return [
        compiler,
        "-Oz",
        *flags,
        "-c",
        str(source_of(place, unit, program)),
        "-o",
        str(place / f"{variant}_{unit}.o"),
    ]


def write_suggest_objects(program: Program, place: Path, budget: int) -> None:
    """Write both objects of both ways; where ``mirenc suggest`` refuses a source, there is none."""
    flags = shlex.join(["-w", *program.flags.split()])
    for unit in "ab":
        subprocess.run(compilation(program, COMPILERS[program.language], place, unit, "oz"), check=True)
        words = ["suggest", str(source_of(place, unit, program)), "--try", "--inline", "-k", "1"]
        words += ["--budget", str(budget), f"--cflags={flags}", "-o", str(place / f"suggest_{unit}.o")]
        result = CliRunner().invoke(make_app("suggest"), words)
        if result.exception is not None and not isinstance(result.exception, MirencError):
            raise result.exception


def write_serve_objects(pairs: Sequence[tuple[Program, Path]], folder: Path, budget: int, jobs: int) -> int:
    """Write all units' objects by one build through ``mirenc serve inliner``; how many have other inlining than -Oz."""
    lines = {
        str(place / f"serve_{unit}.o"): compilation(
            program, {"c": "$(CC)", "c++": "$(CXX)"}[program.language], place, unit, "serve"
        )
        for program, place in pairs
        for unit in "ab"
    }
    build, decisions = folder / "Makefile", folder / "decisions"
    rules = [f"{name}:\n\t{' '.join(words)}\n" for name, words in lines.items()]
    build.write_text("\n".join([f"all: {' '.join(lines)}", *rules]))
    command = [sys.executable, "-P", "-m", "mirenc", "serve", "inliner", str(decisions), "-k", "1", "--budget"]
    subprocess.run([*command, str(budget), "--", "make", "-s", "-B", f"-j{jobs}", "-f", str(build)], check=True)
    log = {row["source"]: row for row in map(json.loads, (decisions / LOG).read_text(encoding="utf-8").splitlines())}
    if len(log) != len(lines) or any("problem" in row for row in log.values()):
        raise RuntimeError(f"{decisions / LOG}: {len(log)} of {len(lines)} units, or with problems")
    smaller = {source for source, row in log.items() if row["bytes"] < row["oz"]}
    decided = map(json.loads, (decisions / DECISIONS).read_text(encoding="utf-8").splitlines())
    return len({row["source"] for row in decided if row["calls"]} & smaller)


def link(program: Program, place: Path, variant: str) -> Path:
    """Link the objects of one way."""
    first, second = (str(place / f"{variant}_{unit}.o") for unit in "ab")
    linked, compiler = place / variant, COMPILERS[program.language]
    flags = [word for word in program.flags.split() if word in ("-pthread", "-lm")]
    if program.link == "archive":
        archive = place / f"{variant}.a"
        archive.unlink(missing_ok=True)
        subprocess.run(["ar", "rc", archive, second], check=True)
        second = str(archive)
    if program.link in ("library", "preload"):
        library = place / f"lib{variant}.so"
        subprocess.run([compiler, "-shared", first, "-o", library, *flags], check=True)
        first, second = second, str(library)
    subprocess.run([compiler, first, second, "-o", linked, f"-Wl,-rpath,{place}", *flags], check=True)
    return linked


def run(program: Program, place: Path, executable: Path) -> Behaviour:
    """Run a program."""
    environment = dict(os.environ)
    if program.link == "preload":
        source, library = place / "preloaded.c", place / "preloaded.so"
        source.write_text(two_units.LIBRARY)
        subprocess.run(["clang-19", "-shared", "-fPIC", source, "-o", library], check=True)
        environment["LD_PRELOAD"] = str(library)
    output = place / "output"
    with output.open("wb") as file:
        process = subprocess.run([executable], stdout=file, stderr=file, env=environment, timeout=_LIMIT, check=False)
    return Behaviour(process.returncode, output.read_bytes().decode("utf-8", "replace"))


def differences(program: Program, place: Path, variants: Sequence[str] = WAYS) -> Iterator[str]:
    """The ways of which the program behaves otherwise than by the first."""
    expected = run(program, place, link(program, place, variants[0]))
    for variant in variants[1:]:
        behaviour = run(program, place, link(program, place, variant))
        if behaviour != expected:
            yield f"{program.name}, {variant}: {behaviour} where -Oz gives {expected}"


def judge(program: Program, place: Path) -> tuple[dict[str, int], list[str]]:
    """Of each way, how many objects are smaller than by -Oz; and `differences`. A way without objects is left out."""

    def sizes(variant: str) -> list[int]:
        return [weight((place / f"{variant}_{unit}.o").read_bytes()).loaded_bytes for unit in "ab"]

    ways = [variant for variant in WAYS if all((place / f"{variant}_{unit}.o").exists() for unit in "ab")]
    smaller = {
        variant: sum(new < old for new, old in zip(sizes(variant), sizes("oz"), strict=True)) for variant in ways[1:]
    }
    return smaller, list(differences(program, place, ways))


def examine(examined: Sequence[Program], folder: Path, budget: int, jobs: int = 1) -> dict[str, Any]:
    """Compile, link and run every program; the record."""
    pairs = [(program, write(program, folder)) for program in examined]
    with ProcessPoolExecutor(jobs) as pool:
        for number, _ in enumerate(pool.map(write_suggest_objects, *zip(*pairs, strict=True), repeat(budget)), 1):
            print(f"\r{number} of {len(pairs)} by suggest", end="", file=sys.stderr, flush=True)
        inlined = write_serve_objects(pairs, folder, budget, jobs)
        judged = list(pool.map(judge, *zip(*pairs, strict=True)))
    return record_of(examined, judged, budget, inlined)


def record_of(
    examined: Sequence[Program], judged: Sequence[tuple[dict[str, int], list[str]]], budget: int, inlined: int
) -> dict[str, Any]:
    """What was found; ``objects_inlined_otherwise`` is of ``serve``."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for program, (smaller, _) in zip(examined, judged, strict=True):
        kinds[program.kind] += Counter(programs=1)
        kinds[program.kind].update({f"smaller_by_{variant}": count for variant, count in smaller.items()})
    version = subprocess.run(["clang-19", "--version"], capture_output=True, text=True, check=True).stdout
    return {
        "clang": version.splitlines()[0],
        "programs": len(examined),
        "programs_compared": {variant: sum(variant in smaller for smaller, _ in judged) for variant in WAYS[1:]},
        "compilations_an_object": budget,
        "objects_smaller": {variant: sum(smaller.get(variant, 0) for smaller, _ in judged) for variant in WAYS[1:]},
        "objects_inlined_otherwise": inlined,
        "refused_by_suggest": [
            item.name for item, (smaller, _) in zip(examined, judged, strict=True) if "suggest" not in smaller
        ],
        "differences": [line for _, differing in judged for line in differing],
        "kinds": kinds,
    }


def main() -> None:
    """Examine templates and programs of csmith, and write the record; exit code 1 where a program differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--csmith", type=int, default=110)
    parser.add_argument("--kinds", default="", help="Only these, with commas.")
    parser.add_argument("--budget", type=int, default=14, help="Compilations an object: 8 lists, then inlining.")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    chosen = two_units.programs(arguments.csmith, tuple(filter(None, arguments.kinds.split(","))))
    record = examine(chosen, arguments.work.resolve(), arguments.budget, arguments.jobs)
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{record['programs']} programs, {len(record['differences'])} differences", *record["differences"], sep="\n")
    sys.exit(bool(record["differences"]))


if __name__ == "__main__":
    main()
