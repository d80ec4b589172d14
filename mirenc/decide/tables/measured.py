"""Tables that `mirenc measure` writes: kernels with their IR, and what each setting cost on one machine.

A folder with ``machine.json``, ``kernels.parquet`` (a row a kernel), ``samples.parquet`` (a row a kernel and part),
``costs.parquet`` (a row a kernel, part and setting) and, where runs told something, ``runs.json`` (an object a kernel).
A task whose costs come from such a folder is a `MeasuredTask`.
"""

import hashlib
import itertools
import json
import lzma
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mirenc.base.arrays import Float64
from mirenc.base.errors import TaskError
from mirenc.base.writing import delivered
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space, Value
from mirenc.decide.tables.table_folder import MACHINE, read_folder, write_json, write_parquet
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.llvm import Region

FORMAT = 1
RUN = "run_"
"""Begins the name of a kernel's context feature that only its run told (`Feature.from_run`)."""
_RUNS = "runs.json"
_SAMPLE_COLUMNS = ("kernel", "part", "noise", "rounds", "calls", "dropped", "tries")
_PRECISION = 2.0**20  # of a cost's fraction: 1e-6 of it, below any clock; shorter numbers pack better
_REDO = "Measure anew with this release"


@dataclass(frozen=True)
class MeasuredKernel:
    """A row of ``kernels.parquet``: code at one problem size, measured once, or once for each part of the machine."""

    name: str  # of the kernel and its size; no other kernel of a table has it
    group: str  # its structure without type and size, never on both sides of a fold
    family: str  # what a protocol leaves out as a whole
    language: str  # ``c``, ``cl`` or ``cuda``
    function: str  # the function that is timed
    line: int  # of ``source``, from 1, of the loop or parallel region that is decided about; 0: the whole function
    size: int  # what the driver is told to set up
    context: Mapping[str, Any]  # what is known beside the code, by the names of the task's context features
    source: str
    driver: str  # C (``mirenc_measure.h`` says what it defines) for ``c``; TOML for ``cl`` and ``cuda``
    ir: str = ""  # what a head sees; "" where the kernel did not compile
    region: Region | None = None  # what of ``ir`` is decided about; None: all of it
    # Digest of what a user's source and driver include; "" for the project's own, and in tables of older releases
    headers: str = ""
    # Folder of a user's source, for the headers beside it; a table says nothing of it
    include: str = field(default="", compare=False)


@dataclass(frozen=True)
class MeasuredSample:
    """A row of ``samples.parquet`` and its rows of ``costs.parquet``: a kernel on a part of the machine. K settings."""

    kernel: str
    part: str
    noise: float = math.nan  # gap between the default and its copy, as a share; NaN: not timed
    rounds: int = 0  # rounds, and calls of a batch of the default
    calls: int = 0
    dropped: str = ""  # why it is no sample; "" if it is one
    # As asked, and what the compiler says that it made of each; empty where nothing was built
    settings: tuple[tuple[Value, ...], ...] = ()
    effective: tuple[tuple[Value, ...], ...] = ()
    status: tuple[str, ...] = ()  # ``ok``, ``same``, ``differs``, ``compile``, ``crash``, ``timeout`` or ``flood``
    # Settings of one code are one measurement, which stands at the first of them. "": not known
    code: tuple[str, ...] = ()
    # Seconds a call in the rounds that labels are made of, and in those that gains are reported in; NaN unless ``ok``
    label: tuple[float, ...] = field(default=(), repr=False)
    report: tuple[float, ...] = field(default=(), repr=False)
    tries: int = 1  # how often it was measured: again only after noise

    @cached_property
    def measured_as(self) -> tuple[int, ...]:
        """For each setting the index of the one that was measured for it: the first of the same code."""
        first: dict[str, int] = {}
        first_settings = []
        for index, (status, code) in enumerate(zip(self.status, self.code, strict=True)):
            first_settings.append(first[code] if status == "same" else index)
            if code:
                first.setdefault(code, index)
        return tuple(first_settings)


@dataclass(frozen=True, eq=False)
class MeasuredTable:
    """A measured table."""

    machine: dict[str, Any]  # ``machine.json``: task, machine, compiler, flags and counts
    kernels: dict[str, MeasuredKernel]
    samples: list[MeasuredSample]  # dropped ones too
    content_hash: str = ""  # SHA-256 of the three Parquet files; "" for one that was not read from files

    @property
    def title(self) -> str:
        """Machine and compiler in one line for people."""
        return str(self.machine["title"])

    def write(self, folder: Path) -> None:
        """Write the files, each complete or not at all."""
        knobs = self.machine["knobs"]
        samples = [{name: getattr(sample, name) for name in _SAMPLE_COLUMNS} for sample in self.samples]
        _write_rows(folder / "kernels.parquet", [_kernel_row(kernel) for kernel in self.kernels.values()])
        _write_rows(folder / "samples.parquet", samples)
        _write_rows(folder / "costs.parquet", [row for sample in self.samples for row in _cost_rows(sample, knobs)])
        runs = {name: _select(kernel.context, run=True) for name, kernel in self.kernels.items()}
        if run_context := {name: context for name, context in runs.items() if context}:
            write_json(folder / _RUNS, run_context)
        write_json(folder / MACHINE, self.machine)


def write_kernels(path: Path, kernels: Iterable[MeasuredKernel]) -> None:
    """Write kernels without what only runs told of them, as columns in JSON packed by xz: half the size of Parquet."""
    rows = [_kernel_row(kernel) for kernel in kernels]
    columns = json.dumps({name: [row[name] for row in rows] for name in rows[0]})
    with delivered(path) as part:
        part.write_bytes(lzma.compress(columns.encode(), preset=9 | lzma.PRESET_EXTREME))


def _select(context: Mapping[str, Any], *, run: bool) -> dict[str, Any]:
    """The context features that a run told, or the others."""
    return {name: value for name, value in context.items() if name.startswith(RUN) == run}


def _kernel_row(kernel: MeasuredKernel) -> dict[str, Any]:
    region = kernel.region
    return {
        **{name: value for name, value in vars(kernel).items() if name not in ("context", "region", "include")},
        "context": json.dumps(_select(kernel.context, run=False)),
        "symbol": region.symbol if region else "",
        "header": region.header if region else "",
        "region": json.dumps(asdict(region)) if region else "",  # all of it, so that no IR is read for it
    }


def _cost_rows(sample: MeasuredSample, knobs: Sequence[str]) -> Iterable[dict[str, Any]]:
    costs = (_rounded(sample.label).tolist(), _rounded(sample.report).tolist())
    columns = zip(sample.settings, sample.effective, sample.status, sample.code, *costs, strict=True)
    for setting, effective, *cells in columns:
        yield {
            "kernel": sample.kernel,
            "part": sample.part,
            **dict(zip(knobs, setting, strict=True)),
            **{f"effective_{knob}": value for knob, value in zip(knobs, effective, strict=True)},
            **dict(zip(("status", "code", "label_cost", "report_cost"), cells, strict=True)),
        }


def _rounded(values: Sequence[float]) -> Float64:
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(fraction * _PRECISION) / _PRECISION, exponent)


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa

    table = pa.Table.from_pylist(rows)
    costs = [name for name in table.column_names if name.endswith("_cost")]
    words = [name for name in table.column_names if name not in costs]
    write_parquet(path, table, compression_level=9, use_dictionary=words, use_byte_stream_split=costs)


def read_measured(folder: str | Path, task_name: str) -> MeasuredTable:
    """Read a table. Raises TaskError: no table there, of another task or format, or a damaged one."""
    root, advice = Path(folder), _how_to_measure(task_name)
    names = [f"{name}.parquet" for name in ("kernels", "samples", "costs")]
    with read_folder(root, task_name, FORMAT, names, title="measured table", advice=advice) as contents:
        kernel_rows, samples, costs = contents.files
        # A file of its own: tables of older releases have none, and the hash is of costs alone.
        path = root / _RUNS
        runs = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        kernels = {
            kernel.name: replace(kernel, context={**kernel.context, **runs.get(kernel.name, {})})
            for kernel in _kernels(kernel_rows.to_pylist())
        }
        measured_samples = _samples(samples, costs, contents.machine["knobs"])
        return MeasuredTable(contents.machine, kernels, measured_samples, contents.content_hash)


def read_kernels(path: Path) -> list[MeasuredKernel]:
    """Read what `write_kernels` wrote."""
    columns = json.loads(lzma.decompress(path.read_bytes()))
    return _kernels(dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


def _kernels(rows: Iterable[dict[str, Any]]) -> list[MeasuredKernel]:
    """Kernels of rows as `_kernel_row` makes them."""
    kernels = []
    for row in rows:
        del row["symbol"], row["header"]  # they stand in its region
        region, context = row.pop("region"), json.loads(row.pop("context"))
        kernel_region = Region(**json.loads(region)) if region else None
        kernels.append(MeasuredKernel(**row, context=context, region=kernel_region))
    return kernels


def _samples(samples: Any, costs: Any, knobs: Sequence[str]) -> list[MeasuredSample]:
    """Samples of two tables of Arrow: cost rows of one kernel and part stand together."""
    rows_of: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for key, rows in itertools.groupby(costs.to_pylist(), lambda row: (row["kernel"], row["part"])):
        if key in rows_of:
            raise ValueError(f"the costs of {' '.join(key)} occur twice")
        rows_of[key] = list(rows)
    measured_samples = []
    for sample in samples.to_pylist():
        cost_rows = rows_of.get((sample["kernel"], sample["part"]), [])
        columns = {"status": "status", "code": "code", "label": "label_cost", "report": "report_cost"}
        settings = tuple(tuple(row[knob] for knob in knobs) for row in cost_rows)
        effective = tuple(tuple(row[f"effective_{knob}"] for knob in knobs) for row in cost_rows)
        values: dict[str, Any] = {name: tuple(row[column] for row in cost_rows) for name, column in columns.items()}
        measured_samples.append(MeasuredSample(**sample, settings=settings, effective=effective, **values))
    return measured_samples


def _how_to_measure(task: str) -> str:
    return f"Measure one: mirenc measure {task} -o FOLDER, then give --data FOLDER"


class MeasuredTask(Task):
    """A task whose costs were measured by `mirenc measure`, on the machine at hand or on another."""

    labels_from = "measured"
    # How: module and class of its `mirenc.tools.measure.method.Method`, as ``mirenc.tools.measure.openmp:OpenMPMethod``
    method: ClassVar[str]
    # Context features that a part of the machine says: ``{"avx2": {"vector_bits": 256}}``
    part_context: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        """Read a table, or all in the folders of one. Raises TaskError: as `read_measured`, `samples_of`; no folder."""
        self.check_variant(variant)
        if data_dir is None:
            raise TaskError(f"mirenc comes without costs for {self.name}. {_how_to_measure(self.name)}")
        root = Path(data_dir)
        folders = [] if (root / MACHINE).exists() else sorted(path.parent for path in root.glob(f"*/{MACHINE}"))
        first_table, *other_tables = [self.samples_of(read_measured(folder, self.name)) for folder in folders or [root]]
        if not other_tables:
            return first_table
        digest = hashlib.sha256(" ".join(data.content_hash for data in (first_table, *other_tables)).encode())
        samples = [sample for data in (first_table, *other_tables) for sample in data.samples]
        return replace(first_table, samples=samples, content_hash=digest.hexdigest())

    def samples_of(self, table: MeasuredTable) -> TaskData:
        """Those not dropped. Raises TaskError: none; a context feature, region or setting that table or task lacks."""
        space = self.table_space(table)
        usable_samples = [sample for sample in table.samples if not sample.dropped]
        if not usable_samples:
            problem = f"{len(table.samples)} samples, and all were dropped"
            raise TaskError(f"the table has {problem}. Measure on a quiet machine")
        samples = [self._sample(sample, table.kernels[sample.kernel], space) for sample in usable_samples]
        if table.machine.get("held_out"):  # to be tested on only
            samples = [replace(sample, held_out=True) for sample in samples]
        return TaskData(samples, space, table.content_hash, machine=table.title)

    def _sample(self, sample: MeasuredSample, kernel: MeasuredKernel, shared_space: Space | None) -> Sample:
        title = f"{sample.kernel} {sample.part}".strip()
        values = {feature.name: feature.unknown for feature in self.context.features if feature.from_run}
        values |= {**kernel.context, "part": sample.part, **self.part_context.get(sample.part, {})}
        values |= self.sample_context(sample)
        if missing := [feature for feature in self.context.names if feature not in values]:
            problem = f"the table has no context feature {missing[0]!r}; it has {', '.join(values)}"
            raise TaskError(f"{title}: {problem}. {_REDO}")
        if (kernel.region.level if kernel.region else "module") != self.level:
            raise TaskError(f"{title}: the table does not say which {self.level} of this kernel was measured. {_REDO}")
        context = tuple(values[feature] for feature in self.context.names)
        space = shared_space or self.measured_space(context, sample)
        costs, reported, effective = _columns(sample, space, title)
        return Sample(
            title,
            kernel.ir,
            kernel.group,
            context,
            costs,
            region=kernel.region,
            space=None if shared_space else space,
            effective=effective,
            suite=kernel.family,
            part=sample.part,
            reported=reported,
            run={name: values[RUN + name] for name in self.context.run_names if RUN + name in values},
        )

    def table_space(self, table: MeasuredTable) -> Space | None:
        """The settings of all samples; None where each has its own (`measured_space`)."""
        return self.space

    def measured_space(self, context: tuple[Any, ...], sample: MeasuredSample) -> Space:
        """The settings of a sample with these context features; one object for all samples that share them."""
        return self.space_for(context)

    def sample_context(self, sample: MeasuredSample) -> Mapping[str, Any]:
        """Context features that a sample itself says, such as what the compiler made of its default."""
        return {}


def _columns(
    sample: MeasuredSample, space: Space, name: str
) -> tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]]:
    """Costs, reported costs and effective settings in the order of a space."""
    if unknown_settings := [setting for setting in sample.settings if setting not in space.place]:
        raise TaskError(f"{name}: the table has setting {unknown_settings[0]}, and the task does not. {_REDO}")
    rows = [space.place[setting] for setting in sample.settings]
    costs, reported, effective = [math.nan] * len(space), [math.nan] * len(space), list(range(len(space)))
    for row, measured_as, label, report in zip(rows, sample.measured_as, sample.label, sample.report, strict=True):
        costs[row], reported[row], effective[row] = label, report, rows[measured_as]
    return tuple(costs), tuple(reported), tuple(effective)
