"""Device mapping: does an OpenCL kernel run faster on the CPU or on the GPU.

Grewe et al. (CGO 2013) as extended by Cummins et al. (PACT 2017): kernels of seven suites, measured on a CPU and on an
AMD Tahiti 7970 and an NVIDIA GTX 970. The public CSVs give the times; the LLVM IR is the one NCC and IR2Vec use.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Float64
from mirenc.base.errors import TaskError
from mirenc.decide.datasets.dataset_files import read_archive, read_table, real
from mirenc.decide.datasets.dataset_registry import dataset_folder
from mirenc.decide.datasets.fetch import content_hash
from mirenc.decide.load_samples import join_same_code
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Permitted, Space
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.llvm import OPENCL_X86, IRModule, Region
from mirenc.llvm.analysis.block_bounds import group_bounds

_SUITES = {"amd": "amd-app-sdk", "nvidia": "nvidia-sdk"}
_HAND = ("comp", "rational", "mem", "localmem", "coalesced", "atomic")
_NEEDED = ("benchmark", "dataset", "transfer", "wgsize", "runtime_cpu", "runtime_gpu", "src", *_HAND)


class DeviceMapping(Task):
    """CPU or GPU, for each of two GPUs.

    Variants ``nvidia`` and ``amd`` are the 669 rows that IR2Vec and NCC evaluate on; ``nvidia-680`` and ``amd-680`` the
    original 680 (15 Parboil rows more, 4 rows less). Costs are seconds, transfer included. A kernel is what has the
    same source or, after normalisation, the same IR: 247 sources are 234 kernels.

    The data set's ``transfer`` (bytes) and ``wgsize`` (work items) go in as log(1 + x), each by itself: the published
    ProGraML script takes both from ``transfer``.
    """

    name = "device_mapping"
    title = "CPU/GPU device mapping"
    source = "Cummins et al., PACT 2017; IR of IR2Vec's repository"
    dataset = "device_mapping"
    space = Space(("device",), (("cpu",), ("gpu",)), default=1)
    context_names = ("transfer", "wgsize")
    context_help = {
        "transfer": "bytes moved to the GPU and back, 0 or more",
        "wgsize": "work items of a group, 0 or more",
    }
    context_allowed = {"transfer": 0, "wgsize": 0}
    variants = ("nvidia", "amd", "nvidia-680", "amd-680")
    machines = {
        f"{gpu}{rows}": f"{title}, against an Intel Core i7-3820"
        for gpu, title in {"nvidia": "NVIDIA GTX 970", "amd": "AMD Tahiti 7970"}.items()
        for rows in ("", "-680")
    }
    dialect = OPENCL_X86
    protocols = (
        Protocol("paper", "the paper's: stratified 10-fold over rows (leaks)", lambda data: np.arange(len(data))),
        Protocol("kernel", "grouped by kernel, 10-fold", lambda data: data.group),
        Protocol("suite", "leave one suite out", lambda data: data.suite, folds=None),
    )
    baselines = {"GPU only": 1, "CPU only": 0}
    hand_names = _HAND

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        gpu, _, count = self.check_variant(variant).partition("-")
        folder = dataset_folder("device_mapping", data_dir)
        table = f"cgo17-{gpu}.{count or '669'}.csv"
        kernels = read_archive(folder, "kernels_ir")
        rows = read_table(folder, table, _NEEDED)
        samples = [self._sample(f"{table}, record {line}", row, kernels) for line, row in enumerate(rows, 1)]
        return TaskData(join_same_code(samples), self.space, content_hash("device_mapping", data_dir))

    def _sample(self, record: str, row: dict[str, str], kernels: dict[str, bytes]) -> Sample:
        name = f"{row['benchmark']}/{row['dataset']}"
        where = f"{record} ({name})"
        file = ir_name(row["benchmark"], row["dataset"], kernels)
        if file is None:
            raise TaskError(f"{where}: no IR of this kernel in kernels_ir. `mirenc datasets verify device_mapping`")
        return Sample(
            name=name,
            ir=kernels[file],
            group=hashlib.sha256(row["src"].encode()).hexdigest()[:16],
            context=tuple(real(row, column, where) for column in self.context_names),
            costs=(real(row, "runtime_cpu", where), real(row, "runtime_gpu", where)),
            suite=_SUITES.get(first := row["benchmark"].split("-")[0], first),
            hand=tuple(real(row, column, where) for column in _HAND),
        )

    def permitted(self, space: Space, module: IRModule, region: Region | None, context: tuple[Any, ...]) -> Permitted:
        """All, where some kernel can be launched in groups of that many work-items. Raises TaskError: none can."""
        items, bounds = context[self.context_names.index("wgsize")], group_bounds(module, region)
        refusals = [one.items_refusal(items) for one in bounds]
        if items and refusals and all(refusals):
            allowed = "; ".join(one.text for one in bounds)
            raise TaskError(
                f"context feature 'wgsize' is {items:g}: {refusals[0]} ({allowed}). Give one that it allows"
            )
        return super().permitted(space, module, region, context)

    def encode_context(self, context: tuple[Any, ...]) -> Float64:
        """log(1 + transfer), log(1 + wgsize). (2,)."""
        return np.log1p(np.array(context, dtype=np.float64))

    def hand_features(self, sample: Sample) -> Float64:
        """log(1 + x) of Grewe's static counts, which are published with the times. (6,)."""
        return np.log1p(np.array(sample.hand, dtype=np.float64))


def ir_name(benchmark: str, dataset: str, kernels: dict[str, bytes]) -> str | None:
    """File of a row's IR: NPB kernels have one a data size; all others one for all data sets."""
    return next((name for name in (f"{benchmark}_{dataset}.ll", f"{benchmark}.ll") if name in kernels), None)
