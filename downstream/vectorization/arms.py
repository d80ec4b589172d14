"""Pragmas beside width x count, measured: ``python downstream/vectorization/arms.py FOLDER``.

A width pragma loses the vectorised epilogue that LLVM's own choice may have. So for one loop of each structure, on each
instruction set: interleave_count alone, vectorize_width alone, vectorize(disable), unroll_count alone, and a smaller
grid of width x count in the same turns. Written to ``arms.json``; FOLDER goes on where it was stopped.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.base.progress import progress
from mirenc.decide.metrics import group_interval
from mirenc.decide.settings import Space
from mirenc.decide.tables.measured import MeasuredKernel, MeasuredSample
from mirenc.decide.tasks.vectorization import Vectorization
from mirenc.llvm.passes.loop_hint import Hint
from mirenc.tools.measure.building import build_driver
from mirenc.tools.measure.runners import Build
from mirenc.tools.measure.timed import TimedRun
from mirenc.tools.measure.vector_variants import build_variants
from mirenc.tools.measure.vectorization import ARCH_FLAGS, VectorizationMethod
from mirenc.tools.run.compilers import Toolchain
from mirenc.tools.run.run_folder import Plan

HERE = Path(__file__).parent
STRUCTURES = 258
MOST_ELEMENTS = 64
GRID = [(w, c, 0) for w in (1, 2, 4, 8, 16) for c in (1, 2, 4, 8) if w * c <= MOST_ELEMENTS]
FAMILIES = {
    "interleave_count alone": [(0, count, 0) for count in (1, 2, 4, 8)],
    "vectorize_width alone": [(width, 0, 0) for width in (2, 4, 8, 16)],
    "vectorize(disable)": [(1, 0, 0)],
    "unroll_count alone": [(0, 0, count) for count in (1, 2, 4, 8)],
}
SPACE = Space(
    ("vectorization_factor", "interleave_factor", "unroll_factor"),
    ((0, 0, 0), *GRID, *(one for each in FAMILIES.values() for one in each)),
    missing="never",
)


class ArmsMethod(VectorizationMethod):
    """As the task's own, with these settings."""

    space = SPACE

    @property
    def decides(self) -> Vectorization:
        return Vectorization()

    def run_context(self, kernel: MeasuredKernel, toolchain: Toolchain) -> Mapping[str, Any]:
        return {}  # the task's table has it

    def build(self, kernel: MeasuredKernel, part: str, folder: Path, toolchain: Toolchain) -> Build:
        source = folder / "kernel.c"
        source.write_text(kernel.source, encoding="utf-8")
        beside = toolchain.beside(kernel.include)
        text, region = self.scalar_ir(kernel, beside)
        hints = [Hint(*map(int, setting)) for setting in SPACE.settings[1:]]
        default, copy, hinted = build_variants(
            source, kernel.function, kernel.line, hints, flags=ARCH_FLAGS[part], toolchain=beside, name=part
        )
        cells = [
            replace(cell, setting=setting, effective=(*cell.effective, setting[2]))
            for cell, setting in zip((default, *hinted), SPACE.settings, strict=True)
        ]
        copy = replace(copy, setting=(0, 0, 0), effective=cells[0].effective)
        driver = build_driver(kernel, folder, toolchain)
        return Build(tuple(cells), copy, driver, text, region.symbol, region.header)


def main() -> None:
    """Measure, and write what each family of pragmas is worth."""
    folder = Path(sys.argv[1])
    method = ArmsMethod()
    run = TimedRun(method, method.find_compiler(None), Plan(count=STRUCTURES, jobs=2), folder)
    with progress("arms, samples", len(run.left)) as advance:
        run.go(advance)
    table = run.table()
    samples = [one for one in table.samples if not one.dropped]
    record = figures(samples, {name: kernel.group for name, kernel in table.kernels.items()})
    record["lines"] = [["the best of", "samples", "over LLVM's choice", "> 1.05x, %", "slower by 2 %, %"]]
    for title, figures_of_group in [
        (title, figures_of_group)
        for title, figures_of_group in record.items()
        if "change" in title or title.startswith("best")
    ]:
        record["lines"] += [
            [f"**{title}**", "", "", "", ""],
            *([name, *_cells(one)] for name, one in figures_of_group.items()),
        ]
    (HERE / "arms.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def figures(samples: list[MeasuredSample], group_of: Mapping[str, str]) -> dict[str, Any]:
    """What the best of each family is worth over LLVM's own choice; picked and paid by different rounds."""
    group = np.unique([group_of[one.kernel] for one in samples], return_inverse=True)[1]
    place = {setting: row for row, setting in enumerate(SPACE.settings)}
    label, report = (np.array([_each(one, half) for one in samples]) for half in ("label", "report"))
    every = np.arange(len(samples))

    def gain(choice: NDArray[np.int64], rows: NDArray[np.int64] = every) -> dict[str, Any]:
        logs = np.log(report[rows, 0] / report[rows, choice])
        low, high = group_interval(logs, group[rows], statistic=np.exp)
        return {
            "samples": len(rows),
            "speedup": float(np.exp(logs.mean())),
            "interval": [low, high],
            "faster_5": float((logs > np.log(1.05)).mean()),
            "slower_2": float((logs < -np.log(1.02)).mean()),
        }

    def best(settings: Sequence[tuple[int, ...]], rows: NDArray[np.int64] = every) -> dict[str, Any]:
        columns = np.array([0, *(place[one] for one in settings)])
        return gain(columns[np.nanargmin(label[rows][:, columns], axis=1)], rows)

    def one_by_one(have: Sequence[tuple[int, ...]], rows: NDArray[np.int64]) -> dict[str, Any]:
        """What unroll counts are worth beside some settings, each the one that helps most beside those before it."""
        steps, left = {"none": best(have, rows)}, list(FAMILIES["unroll_count alone"])
        while left:
            costs = [np.nanmin(label[rows][:, [0, *(place[each] for each in [*have, one])]], axis=1) for one in left]
            have = [*have, left.pop(int(np.argmin([np.log(each).mean() for each in costs])))]
            steps[Hint(*have[-1]).pragma()] = best(have, rows)
        return steps

    record: dict[str, Any] = {"samples": len(samples), "groups": int(group.max()) + 1}
    record["best of each sample"] = {
        "width x count": best(GRID),
        **{name: best(each) for name, each in FAMILIES.items()},
        **{f"width x count, and {name}": best([*GRID, *each]) for name, each in FAMILIES.items()},
        "all": best(SPACE.settings[1:]),
    }
    fixed = np.array(
        [len({one.measured_as[place[cell]] for cell in GRID} | {one.measured_as[0]}) == 1 for one in samples]
    )
    record["loops that width x count changes, and one unroll count more each"] = one_by_one(GRID, every[~fixed])
    record["loops that it does not change, and one unroll count more each"] = one_by_one([], every[fixed])
    llvm_row = [place.get((*one.effective[0][:2], 0), -1) for one in samples]
    forced = np.array([row if row >= 0 and np.isfinite(report[at, row]) else 0 for at, row in enumerate(llvm_row)])
    record["LLVM's own pair, forced"] = gain(forced) | {"forced": int((forced > 0).sum())}
    row_of_setting = {setting: np.where(np.isfinite(report[:, row]), row, 0) for setting, row in place.items() if row}
    record["always"] = {Hint(*setting).pragma(): gain(choice) for setting, choice in row_of_setting.items()}
    return record


def _cells(one: Mapping[str, Any]) -> list[str]:
    speedup = "{:.3f} [{:.3f}, {:.3f}]".format(one["speedup"], *one["interval"])
    return [str(one["samples"]), speedup, *(f"{100 * one[name]:.0f}" for name in ("faster_5", "slower_2"))]


def _each(sample: MeasuredSample, half: str) -> list[float]:
    """Seconds of every setting: those of one code are one measurement."""
    costs = getattr(sample, half)
    return [costs[row] for row in sample.measured_as]


if __name__ == "__main__":
    main()
