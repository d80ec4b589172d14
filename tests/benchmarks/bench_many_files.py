"""Many small files: seconds and processor seconds of `mirenc embed` on a folder, beside another checkout's.

    python tests/benchmarks/bench_many_files.py FOLDER --make 3000          # writes FOLDER/*.ll, once
    python tests/benchmarks/bench_many_files.py FOLDER --model mirenc-tiny --beside OLD_CHECKOUT --repeats 3

Every run is a process of its own with an empty cache; the two checkouts take turns, so that what else the machine does
falls on both. ``warm`` runs follow with the cache that the run before them left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

OPERATORS = ("+", "-", "*", "^", "&", "|")
TYPES = ("int", "long", "float", "double", "unsigned", "short")
BASE = """
import sys
from mirenc.cli import main
main()
"""


def source(rng: random.Random) -> str:
    """A C file of one to three small functions with a loop or a branch."""
    functions = []
    for number in range(rng.randint(1, 3)):
        kind = rng.choice(TYPES)
        operators = OPERATORS[:3] if kind in ("float", "double") else OPERATORS
        one, two = rng.choice(operators), rng.choice(operators)
        first, second, third = (rng.randint(2, 9999) for _ in range(3))
        body = {
            0: f"for (int i = {first % 7}; i < n; i += {1 + second % 4}) s = s {one} a[i] {two} {third};",
            1: f"for (int i = 0; i < n; i++) if (a[i] > {first}) s = s {one} a[i]; else b[i] = a[i] {two} {second};",
            2: f"if (n > {first}) s = a[{second % 64}] {one} {third}; else s = a[n] {two} b[n] {one} {second};",
            3: f"while (n-- > {first % 9}) {{ b[n] = a[n] {one} {second}; s = s {two} b[n] {one} {third}; }}",
        }[rng.randrange(4)]
        functions.append(
            f"{kind} f{number}_{rng.randrange(10**6)}(const {kind} *a, {kind} *b, int n) {{\n  {kind} s = {first};\n"
            f"  {body}\n  return s;\n}}\n"
        )
    return "".join(functions)


def make(folder: Path, count: int) -> None:
    """Write ``count`` different IR files, at -O0 and -O1 in turn."""
    from mirenc.llvm.inputs.compile_source import find_compiler

    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(0)
    sources = [source(rng) for _ in range(count)]
    compiler = find_compiler("c")

    def one(number: int) -> None:
        level = f"-O{number % 2}"
        flags = ["-x", "c", "-", "-S", "-emit-llvm", level, "-w", "-Xclang", "-disable-O0-optnone"]
        command = [*compiler, *flags, "-o", str(folder / f"{number:05d}.ll")]
        subprocess.run(command, input=sources[number].encode(), check=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(count)))


def run(checkout: Path, folder: Path, model: str, cache: Path, output: Path) -> dict[str, float]:
    """One ``mirenc embed``; its children are waited for, so their processor time counts."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "MIRENC_CACHE": str(cache)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    command = [sys.executable, "-c", BASE, "embed", "--model", model, "-o", str(output), str(folder)]
    subprocess.run(command, env=environment, check=True, cwd=output.parent)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": round(wall, 2), "cpu": round(cpu, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--make", type=int, metavar="N", help="write N files there and end")
    parser.add_argument("--model", default="mirenc-tiny")
    parser.add_argument("--beside", type=Path, help="another checkout of mirenc")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.folder, arguments.make)
        return
    checkouts = {"this": Path(__file__).resolve().parents[2]}
    if arguments.beside:
        checkouts["beside"] = arguments.beside.resolve()
    folder = arguments.folder.resolve()
    runs: dict[str, list[dict[str, float]]] = {}
    vectors = {}
    for _ in range(arguments.repeats):
        for name, checkout in checkouts.items():
            with tempfile.TemporaryDirectory() as work:
                for state in ("cold", "warm"):
                    output = Path(work, "x.npy")
                    seconds = run(checkout, folder, arguments.model, Path(work, "cache"), output)
                    runs.setdefault(f"{name}, {state}", []).append(seconds)
                    print(name, state, seconds, flush=True)
                vectors[name] = np.load(output)
    files = len(list(folder.glob("*.ll")))
    print(f"{files} files, {arguments.model}, load {os.getloadavg()[0]:.1f}")
    for name, each in runs.items():
        wall, cpu = ([one[clock] for one in each] for clock in ("wall", "cpu"))
        print(f"{name:14} wall {statistics.median(wall):7.2f} s   processor {statistics.median(cpu):7.2f} s")
    if len(vectors) == 2:
        print(f"largest difference of a component: {np.abs(vectors['this'] - vectors['beside']).max():.2g}")
    print(json.dumps(runs))


if __name__ == "__main__":
    main()
