"""Same kernel, another GPU: block shapes of tuned CUDA, HIP and OpenCL kernels, from published tuning tables.

Kernel Tuner's cache files of four kernels (one of them in two versions) on 4 to 6 GPUs each, in the AutoTuning
Association's benchmark hub (MIT). They answer one question only: does a block that is good on other GPUs do on this
one? Five kernels cannot train a model of code, so nothing here looks at code.
"""

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.arrays import Float64
from mirenc.errors import TaskError
from mirenc.tasks import Protocol, Sample, Space, Task, TaskData
from mirenc.tasks.datasets import data_root, read_table
from mirenc.tasks.datasets.reading import file_path, read_file, real

_FOLDER = "cuda_blocks"
_KNOBS = ("kernel", "block_x", "block_y")


@dataclass(frozen=True)
class GPU:
    """What the maker's data sheet says of a GPU."""

    title: str
    generation: str
    units: int  # streaming multiprocessors, or compute units
    lanes: int  # FP32 lanes of a unit
    wave: int  # threads that run in step: a warp, or a wavefront as the driver compiles compute kernels
    megahertz: int  # boost clock
    bandwidth: int  # of memory, GB/s
    cache: float  # last-level on-chip cache, MiB


GPUS = {
    "A100": GPU("NVIDIA A100 PCIe 40 GB", "Ampere", 108, 64, 32, 1410, 1555, 40),
    "A4000": GPU("NVIDIA RTX A4000", "Ampere", 48, 128, 32, 1560, 448, 4),
    "A6000": GPU("NVIDIA RTX A6000", "Ampere", 84, 128, 32, 1800, 768, 6),
    "RTX_3090": GPU("NVIDIA RTX 3090", "Ampere", 82, 128, 32, 1695, 936, 6),
    "RTX_3060_laptop": GPU("NVIDIA RTX 3060 Laptop", "Ampere", 30, 128, 32, 1425, 336, 3),
    "RTX_2080_Ti": GPU("NVIDIA RTX 2080 Ti", "Turing", 68, 64, 32, 1545, 616, 5.5),
    "RTX_Titan": GPU("NVIDIA Titan RTX", "Turing", 72, 64, 32, 1770, 672, 6),
    "MI250X": GPU("AMD Instinct MI250X, one of two dies", "CDNA 2", 110, 64, 64, 1700, 1638, 8),
    "W6600": GPU("AMD Radeon Pro W6600", "RDNA 2", 28, 64, 32, 2903, 224, 32),
    "W7800": GPU("AMD Radeon Pro W7800", "RDNA 3", 70, 64, 32, 2499, 576, 64),
}


@dataclass(frozen=True)
class _Kernel:
    """What stands for a block in a kernel's tables, the GPUs that have one, and 256 threads as people write them."""

    x: str
    y: str
    gpus: tuple[str, ...]
    default: tuple[int, int]


_HUB = ("A100", "A4000", "A6000", "MI250X", "W6600", "W7800")
_TUNER = ("RTX_2080_Ti", "RTX_3060_laptop", "RTX_3090", "RTX_Titan")
_KERNELS = {
    "convolution": _Kernel("block_size_x", "block_size_y", _HUB, (16, 16)),
    "convolution_kt": _Kernel("block_size_x", "block_size_y", _TUNER, (16, 16)),
    "dedispersion": _Kernel("block_size_x", "block_size_y", _HUB, (8, 32)),
    "gemm": _Kernel("MDIMC", "NDIMC", _TUNER, (16, 16)),
    # Its times on the two Turing GPUs are 0.02 to 0.5 ms where others take 40 and more: launches that did nothing.
    "pnpoly": _Kernel("block_size_x", "", ("RTX_3060_laptop", "RTX_3090"), (256, 1)),
}


class BlockSizePublished(Task):
    """A block shape for a kernel on a GPU: 22 pairs of 5 kernels and 10 GPUs.

    The cost of a block is the least time over the other parameters (tile sizes, padding, shared memory): the block is
    chosen first, and the rest is tuned for it. So a kernel's blocks are nearer to each other than with the rest fixed.
    Each kernel has settings of its own, and a setting names its kernel: what is learned of one says nothing of another,
    unless a head finds it in the shape. 256 threads are the default: 16 x 16 where the kernel has it.

    Left out: pnpoly on Titan RTX and 2080 Ti (launches that did nothing), rows of convolution on A6000 without shared
    memory (made up from others), configurations that could not run, and coulomb, which has one GPU only.
    """

    name = "block_size_published"
    title = "block size, same kernel on another GPU"
    source = "AutoTuning Association's benchmark hub (Kernel Tuner caches), MIT"
    context_names = ("gpu",)
    context_help = {"gpu": ", ".join(GPUS)}
    context_allowed = {"gpu": tuple(GPUS)}
    machines = {name: gpu.title for name, gpu in GPUS.items()}
    protocols = (
        Protocol("gpu", "leave one GPU out", lambda data: data.group, folds=None),
        Protocol("generation", "leave one generation of GPUs out", lambda data: data.suite, folds=None),
    )
    select = "speedup"

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        self.check_variant(variant)
        folder = _find(data_dir)
        digest = hashlib.sha256()
        samples = []
        for kernel, how in _KERNELS.items():
            tables = {gpu: f"{kernel}-{gpu}.csv" for gpu in how.gpus}
            least = {gpu: _least_times(folder, table, how) for gpu, table in tables.items()}
            blocks = sorted({block for found in least.values() for block in found})
            if how.default not in blocks:
                raise TaskError(f"{folder}: no table of {kernel} has the block {how.default}, its default")
            settings = tuple((kernel, *block) for block in blocks)
            space = Space(_KNOBS, settings, blocks.index(how.default), missing="never")
            for gpu, table in tables.items():
                digest.update(f"{table} ".encode() + read_file(folder, table))
                costs = tuple(least[gpu].get(block, math.nan) for block in blocks)
                generation = GPUS[gpu].generation
                name = f"{kernel} on {gpu}"
                samples.append(Sample(name, None, gpu, (gpu,), costs, space=space, suite=generation, part=kernel))
        return TaskData(samples, content_hash=digest.hexdigest())

    def encode_context(self, context: tuple[Any, ...]) -> Float64:
        """log2 of units, lanes, wave, clock, bandwidth and cache. (6,)."""
        gpu = GPUS[context[0]]
        return np.log2([gpu.units, gpu.lanes, gpu.wave, gpu.megahertz, gpu.bandwidth, gpu.cache])


def _find(data_dir: str | Path | None) -> Path:
    root = data_root(data_dir)
    first = f"convolution-{_HUB[0]}.csv"
    for folder in (root / _FOLDER, root):
        if file_path(folder, first):
            return folder
    raise TaskError(
        f"no {first} (or .gz) in {root / _FOLDER} or {root}. The tables are Kernel Tuner's cache files as CSV, "
        "KERNEL-GPU.csv: a column for each parameter and time_ms, empty where a configuration could not run. Get the "
        "caches from github.com/AutoTuningAssociation/benchmark_hub, and name their folder with --data"
    )


def _least_times(folder: Path, table: str, how: _Kernel) -> dict[tuple[int, int], float]:
    least: dict[tuple[int, int], float] = {}
    needed = [name for name in (how.x, how.y, "time_ms") if name]
    for line, row in enumerate(read_table(folder, table, needed), 1):
        if table == "convolution-A6000.csv" and row.get("use_shmem") == "0":
            continue
        where = f"{table}, record {line}"
        block = int(real(row, how.x, where)), int(real(row, how.y, where)) if how.y else 1
        if row["time_ms"] in ("", "nan"):
            continue
        least[block] = min(least.get(block, math.inf), 1e-3 * real(row, "time_ms", where))
    if not least:
        raise TaskError(f"{folder / table}: no configuration with a time. Get the table again")
    return least
