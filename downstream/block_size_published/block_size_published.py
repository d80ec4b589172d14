"""Same kernel, another GPU: block shapes of tuned CUDA, HIP and OpenCL kernels, from published tuning tables.

Kernel Tuner's cache files of four kernels (one of them in two versions) on 4 to 6 GPUs each, in the AutoTuning
Association's benchmark hub (MIT). They answer one question only: does a block that is good on other GPUs do on this
one? Five kernels cannot train a model of code, so nothing here looks at code.
"""

import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Float64
from mirenc.base.config import Config, load_toml
from mirenc.base.errors import TaskError
from mirenc.decide.context import Context, Feature
from mirenc.decide.datasets.dataset_files import file_path, read_file, read_table, real
from mirenc.decide.datasets.dataset_registry import data_root
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData

_FOLDER = "cuda_blocks"
_KNOBS = ("kernel", "block_x", "block_y")


class GPU(Config):
    """What the maker's data sheet says of a GPU."""

    title: str
    generation: str
    units: int  # streaming multiprocessors, or compute units
    lanes: int  # FP32 lanes of a unit
    wave: int  # threads that run in step
    megahertz: int  # boost clock
    bandwidth: int  # of memory, GB/s
    cache: float  # last-level on-chip cache, MiB


class _Kernel(Config):
    x: str
    y: str
    gpus: tuple[str, ...]
    default: tuple[int, int]


class _Known(Config):
    gpus: dict[str, GPU]
    kernels: dict[str, _Kernel]


_KNOWN = _Known.from_dict(load_toml(Path(__file__).with_suffix(".toml")))
GPUS = _KNOWN.gpus


def _columns(context: tuple[Any, ...]) -> Float64:
    """log2 of units, lanes, wave, clock, bandwidth and cache. (6,)."""
    gpu = GPUS[context[0]]
    return np.log2([gpu.units, gpu.lanes, gpu.wave, gpu.megahertz, gpu.bandwidth, gpu.cache])


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
    context = Context(Feature("gpu", ", ".join(GPUS), allowed=tuple(GPUS)), encode=_columns)
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
        for kernel, published in _KNOWN.kernels.items():
            tables = {gpu: f"{kernel}-{gpu}.csv" for gpu in published.gpus}
            times = {gpu: _least_times(folder, table, published) for gpu, table in tables.items()}
            blocks = sorted({block for blocks_timed in times.values() for block in blocks_timed})
            if published.default not in blocks:
                raise TaskError(f"{folder}: no table of {kernel} has the block {published.default}, its default")
            settings = tuple((kernel, *block) for block in blocks)
            space = Space(_KNOBS, settings, blocks.index(published.default), missing="never")
            for gpu, table in tables.items():
                digest.update(f"{table} ".encode() + read_file(folder, table))
                costs = tuple(times[gpu].get(block, math.nan) for block in blocks)
                generation = GPUS[gpu].generation
                name = f"{kernel} on {gpu}"
                samples.append(Sample(name, None, gpu, (gpu,), costs, space=space, suite=generation, part=kernel))
        return TaskData(samples, content_hash=digest.hexdigest())


def _find(data_dir: str | Path | None) -> Path:
    root = data_root(data_dir)
    first = "convolution-A100.csv"
    for folder in (root / _FOLDER, root):
        if file_path(folder, first):
            return folder
    raise TaskError(
        f"no {first} (or .gz) in {root / _FOLDER} or {root}. The tables are Kernel Tuner's cache files as CSV, "
        "KERNEL-GPU.csv: a column for each parameter and time_ms, empty where a configuration could not run. Get the "
        "caches from github.com/AutoTuningAssociation/benchmark_hub, and name their folder with --data"
    )


def _least_times(folder: Path, table: str, published: _Kernel) -> dict[tuple[int, int], float]:
    times: dict[tuple[int, int], float] = {}
    for line, row in enumerate(
        read_table(folder, table, [name for name in (published.x, published.y, "time_ms") if name]), 1
    ):
        if table == "convolution-A6000.csv" and row.get("use_shmem") == "0":
            continue
        location = f"{table}, record {line}"
        block = int(real(row, published.x, location)), int(real(row, published.y, location)) if published.y else 1
        if row["time_ms"] in ("", "nan"):
            continue
        times[block] = min(times.get(block, math.inf), 1e-3 * real(row, "time_ms", location))
    if not times:
        raise TaskError(f"{folder / table}: no configuration with a time. Get the table again")
    return times
