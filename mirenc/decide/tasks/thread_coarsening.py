"""Thread coarsening: how many threads of an OpenCL kernel should be merged into one.

Magni et al. (PACT 2014): 17 kernels under coarsening factors 1 to 32 on four GPUs; the public CSV gives the run times,
and seven principal components of the hand-made features of that paper.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.errors import TaskError
from mirenc.decide.context import Context, Feature
from mirenc.decide.datasets.dataset_files import read_archive, read_table, real
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Setting, Space
from mirenc.decide.tables.published import PublishedTask
from mirenc.llvm import OPENCL_X86, IRModule, Region
from mirenc.llvm.analysis.block_bounds import group_bounds

# Name in the CSV -> name of the GPU in the papers' tables.
_GPUS = {"Cypress": "HD5900", "Tahiti": "Tahiti", "Fermi": "GTX480", "Kepler": "K20c"}
_FACTORS = (1, 2, 4, 8, 16, 32)
_HAND_FEATURES = tuple(f"PCA{number}" for number in range(1, 8))
_TABLE = "pact-2014-runtimes.csv"
_COLUMNS = ("kernel", "cf", *_HAND_FEATURES, *(f"runtime_{gpu}" for gpu in _GPUS))
_NANOSECOND = 1e-9


class ThreadCoarsening(PublishedTask):
    """A coarsening factor for each kernel and GPU: 17 kernels x 4 GPUs = 68 rows.

    The published IR of mt and mtLocal is the same file, so the two are one group: 16 are left out one by one.

    A factor that was not measured is clipped to the kernel's largest measured one (`TaskData.resolve`); nbody has no
    time for factor 16 on GTX480 and K20c. The four GPUs are one table, so that a head can learn what they share; each
    is also reported by itself. The hand features are those of the kernel as written (factor 1).
    """

    name = "thread_coarsening"
    title = "thread coarsening"
    source = "Magni et al., PACT 2014; IR of IR2Vec's repository"
    dataset = "thread_coarsening"
    space = Space(("coarsening_factor",), tuple((factor,) for factor in _FACTORS), missing="below")
    dialect = OPENCL_X86
    context = Context(Feature("gpu", ", ".join(_GPUS.values()), allowed=tuple(_GPUS.values())))
    machines = {
        "HD5900": "AMD Radeon HD 5900",
        "Tahiti": "AMD Tahiti 7970",
        "GTX480": "NVIDIA GTX 480",
        "K20c": "NVIDIA Tesla K20c",
    }
    protocols = (
        Protocol("paper", "as published: leave one row out (leaks)", lambda data: np.arange(len(data)), folds=None),
        Protocol("kernel", "leave one kernel out", lambda data: data.group, folds=None),
    )
    baselines = {"factor 1": 0}
    hand_feature_names = _HAND_FEATURES
    select = "speedup"

    def samples(self, folder: Path, variant: str) -> Iterator[Sample]:
        kernels = read_archive(folder, "kernels_ir")
        times: dict[str, dict[int, dict[str, str]]] = {}
        for line, row in enumerate(read_table(folder, _TABLE, _COLUMNS), 1):
            where = f"{_TABLE}, record {line} ({row['kernel']}, factor {row['cf']})"
            factor = real(row, "cf", where)
            if factor not in _FACTORS:
                raise TaskError(f"{where}: factor {factor:g} is unknown; allowed: {', '.join(self.space.names)}")
            kernel_rows = times.setdefault(row["kernel"], {})
            if int(factor) in kernel_rows:
                raise TaskError(f"{where}: this kernel and factor occur twice in the table. Leave out one row")
            kernel_rows[int(factor)] = row
        for kernel, rows in sorted(times.items()):
            if f"{kernel}.ll" not in kernels:
                problem = f"kernels_ir has no IR of kernel {kernel!r}"
                raise TaskError(f"{_TABLE}: {problem}. To check, type: mirenc datasets verify thread_coarsening")
            if 1 not in rows:
                raise TaskError(f"{_TABLE}: kernel {kernel!r} has no time for factor 1, the baseline. Delete its rows")
            hand_features = tuple(real(rows[1], column, f"{_TABLE}, {kernel}") for column in _HAND_FEATURES)
            for gpu, name in _GPUS.items():
                costs = tuple(_seconds(kernel, rows.get(factor, {}), f"runtime_{gpu}") for factor in _FACTORS)
                ir = kernels[f"{kernel}.ll"]
                yield Sample(f"{kernel} on {name}", ir, kernel, (name,), costs, part=name, hand_features=hand_features)

    def permitted(
        self, space: Space, module: IRModule, region: Region | None, context: tuple[Any, ...]
    ) -> tuple[tuple[Setting, ...], str]:
        """Factors that some kernel's group has the work-items for: they are merged along x, within a group."""
        bounds = group_bounds(module, region)

        def fits(factor: int) -> bool:
            return any(bound.required[0] % factor == 0 if bound.required else factor <= bound.most for bound in bounds)

        allowed = tuple(setting for setting in space.default_first if fits(int(setting[0])))
        if not bounds or len(allowed) == len(space):
            return space.default_first, ""
        return allowed, "; ".join(bound.text for bound in bounds)


def _seconds(kernel: str, row: Mapping[str, str], column: str) -> float:
    """NaN where nothing was measured."""
    if not row.get(column):
        return math.nan
    return _NANOSECOND * real(row, column, f"{_TABLE}, {kernel}, factor {row['cf']}")
