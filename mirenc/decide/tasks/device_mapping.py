"""Device mapping: does an OpenCL kernel run faster on the CPU or on the GPU.

Grewe et al. (CGO 2013) as extended by Cummins et al. (PACT 2017): kernels of seven suites, measured on a CPU and on an
AMD Tahiti 7970 and an NVIDIA GTX 970. The public CSVs give the times; the LLVM IR is the one NCC and IR2Vec use.
"""

import hashlib
from collections.abc import Iterator
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

_SUITES = {"amd": "amd-app-sdk", "nvidia": "nvidia-sdk"}
# Grewe's static counts of a kernel, which are published with the times; heads see log(1 + x).
_HAND_FEATURES = ("comp", "rational", "mem", "localmem", "coalesced", "atomic")
_COLUMNS = ("benchmark", "dataset", "transfer", "wgsize", "runtime_cpu", "runtime_gpu", "src", *_HAND_FEATURES)


class DeviceMapping(PublishedTask):
    """CPU or GPU, for each of two GPUs.

    Variants ``nvidia`` and ``amd`` are the 669 rows that IR2Vec and NCC evaluate on; ``nvidia-680`` and ``amd-680`` the
    original 680 (15 Parboil rows more, 4 rows less). Costs are seconds, transfer included. A kernel is what has the
    same source or, after normalisation, the same IR: 247 sources are 234 kernels.

    Deviation: ``transfer`` (bytes) and ``wgsize`` (work items) are two features, log(1 + x) of each; the published
    ProGraML script takes both from ``transfer``.
    """

    name = "device_mapping"
    title = "CPU/GPU device mapping"
    source = "Cummins et al., PACT 2017; IR of IR2Vec's repository"
    dataset = "device_mapping"
    space = Space(("device",), (("cpu",), ("gpu",)), default=1)
    context = Context(
        Feature("transfer", "bytes moved to the GPU and back, 0 or more", least=0),
        Feature("wgsize", "work items of a group, 0 or more", least=0),
        encode=np.log1p,
    )
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
    hand_feature_names = _HAND_FEATURES

    def samples(self, folder: Path, variant: str) -> Iterator[Sample]:
        gpu, _, count = variant.partition("-")
        table = f"cgo17-{gpu}.{count or '669'}.csv"
        kernels = read_archive(folder, "kernels_ir")
        for line, row in enumerate(read_table(folder, table, _COLUMNS), 1):
            yield self._sample(f"{table}, record {line}", row, kernels)

    def _sample(self, record: str, row: dict[str, str], kernels: dict[str, bytes]) -> Sample:
        name = f"{row['benchmark']}/{row['dataset']}"
        where = f"{record} ({name})"
        file = ir_name(row["benchmark"], row["dataset"], kernels)
        if file is None:
            problem = "kernels_ir has no IR of this kernel"
            raise TaskError(f"{where}: {problem}. To check the data, type: mirenc datasets verify device_mapping")
        return Sample(
            name=name,
            ir=kernels[file],
            group=hashlib.sha256(row["src"].encode()).hexdigest()[:16],
            context=tuple(real(row, column, where) for column in self.context.names),
            costs=(real(row, "runtime_cpu", where), real(row, "runtime_gpu", where)),
            suite=_SUITES.get(prefix := row["benchmark"].split("-")[0], prefix),
            hand_features=tuple(np.log1p([real(row, column, where) for column in _HAND_FEATURES]).tolist()),
        )

    def permitted(
        self, space: Space, module: IRModule, region: Region | None, context: tuple[Any, ...]
    ) -> tuple[tuple[Setting, ...], str]:
        """Both devices. Raises TaskError: no kernel can be launched in groups of ``wgsize`` work-items."""
        items, bounds = context[1], group_bounds(module, region)
        refusals = [bound.items_refusal(items) for bound in bounds]
        if items and refusals and all(refusals):
            allowed = "; ".join(bound.text for bound in bounds)
            problem = f"context feature 'wgsize' is {items:g}: {refusals[0]} ({allowed})"
            raise TaskError(f"{problem}. Give a wgsize that the kernel allows")
        return super().permitted(space, module, region, context)


def ir_name(benchmark: str, dataset: str, kernels: dict[str, bytes]) -> str | None:
    """File of a row's IR: NPB kernels have one a data size; all others one for all data sets."""
    return next((name for name in (f"{benchmark}_{dataset}.ll", f"{benchmark}.ll") if name in kernels), None)
