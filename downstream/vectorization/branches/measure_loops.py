"""Measure loops whose branches are taken as often as told: ``python measure_loops.py FOLDER [--compile-only]``.

Structures are those of ``kernels/`` and the conditional ones of the generator. Each is drawn so often, with types, a
size and an instruction set, and measured with data of which 0, 1, 10, 50, 90 and 100 % take the branch: at random, and
once half in one run.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

sys.path.append(str(Path(__file__).parents[2] / "own_kernels"))
from generate_loops import LEAST_WORK
from kernel_files import KernelText, read_folder
from loop_driver import write_driver
from loop_source import _KEYS, draw_size, structures, write_source

from mirenc.base.progress import progress
from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.tools.measure.timed import TimedRun
from mirenc.tools.measure.vectorization import VectorizationMethod
from mirenc.tools.run.run_folder import Plan

HERE = Path(__file__).parent
PARTS = ("avx2", "avx512", "sse2")
DRAWS = 2
MINUTES = 25  # of one call; again goes on
# Percent of the elements whose branch is taken, and whether they stand in one run. Its place is what a driver is told
# beside the size: one build serves all.
RATES = ((0, 0), (1, 0), (10, 0), (50, 0), (50, 1), (90, 0), (100, 0))
_FILL = "#define PERCENT (runs ? (i * 2 < count ? 25 : 75) : (long)(next() % 100))"
_TOLD = "static const long rates[][2] = {{{}}};\nstatic long n, rate, runs;".format(
    ", ".join(f"{{{rate}, {runs}}}" for rate, runs in RATES)
)
_SETUP = "    n = size / 8;\n    rate = rates[size % 8][0];\n    runs = rates[size % 8][1];"


def main() -> None:
    """Build, or measure."""
    kernels = [kernel for draw in range(DRAWS) for kernel in drawn(draw)]
    timed([*kernels], Path(sys.argv[1]), compile_only="--compile-only" in sys.argv)


def told_structures() -> list[KernelText]:
    """Those of this folder, and the generator's whose branch follows a percentage."""
    texts = [text for family in read_folder(HERE / "kernels", _KEYS).values() for text in family]
    for text in structures()["conditional"]:
        if {"n: percent", "n: flags P"} & set(text.data.values()) and "P" in text.words and text.name != "select":
            texts.append(replace(text, words={**text.words, "P": ("rate",)}))
    return texts


def drawn(draw: int) -> Iterator[tuple[MeasuredKernel, str]]:
    """Every structure once, each with all rates, on one instruction set."""
    for number, text in enumerate(told_structures()):
        rng = Random(f"{text.name} branches {draw}")
        n = draw_size("any", rng)
        source = write_source(text, n, rng)
        repeats = max(1, LEAST_WORK // (n * max(source.rows, 1)))
        driver = "i / 64 * 37"
        while "i / 64 * 37" in driver:  # data of another kind
            driver = write_driver(source, repeats, rng)
        driver = driver.replace("(next() % 10000) / 100.0", "PERCENT").replace("next() % 100;", "PERCENT;")
        driver = driver.replace("next() % 100 < rate", "PERCENT < rate").replace("static long n;", f"{_FILL}\n{_TOLD}")
        sizes = ", ".join(str(8 * n + place) for place in range(len(RATES)))
        driver = driver.replace("    n = size;", _SETUP).replace(f"{{{n}, 0}}", f"{{{sizes}, 0}}")
        assert "PERCENT" in driver.replace(_FILL, ""), text.name
        for place, (rate, runs) in enumerate(RATES):
            kernel = MeasuredKernel(
                name=f"{text.name}-{draw} {rate}%{' in a run' if runs else ''}",
                group=text.name,
                family=text.family,
                language="c",
                source=source.text,
                driver=driver,
                function=source.function,
                line=source.line,
                size=8 * n + place,
                context={"trip_count": source.trip_count},
            )
            yield kernel, PARTS[(number + draw) % len(PARTS)]


class _Given(VectorizationMethod):
    """Measures kernels that it is given. What a run tells is counted later."""

    def __init__(self, kernels: list[MeasuredKernel]) -> None:
        self.kernels = kernels

    def own_kernels(self, count: int) -> Iterator[MeasuredKernel]:
        return iter(self.kernels)

    def run_context(self, kernel: MeasuredKernel, toolchain: object) -> dict[str, float]:
        return {}


def timed(
    samples: list[tuple[MeasuredKernel, str]], folder: Path, *, compile_only: bool, cflags: tuple[str, ...] = ()
) -> None:
    """Build each kernel for its instruction set, and time it unless told to build only."""
    method = _Given(list({kernel.name: kernel for kernel, _ in samples}.values()))
    toolchain = replace(method.find_compiler(None), cflags=cflags)
    run = TimedRun(
        method, toolchain, Plan(count=len(samples), compile_only=compile_only, cflags=cflags, minutes=MINUTES), folder
    )
    run.samples = samples
    with progress("building" if compile_only else "measuring", len(run.left)) as advance:
        run.go(advance)
    print(run.built, *run.not_built, sep="\n")


if __name__ == "__main__":
    main()
