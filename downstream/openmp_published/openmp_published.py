"""Threads, their places and the loop schedule of six OpenMP programs: a published table of run times.

Bolet et al. ran each program in three sizes under 1,320 settings on a node with 112 hardware threads (two sockets of 28
cores, "ruby"). No licence is stated, so nothing of it is part of mirenc.
"""

import math
from collections.abc import Mapping
from pathlib import Path

from mirenc.base.errors import TaskError
from mirenc.decide.context import Context, Feature
from mirenc.decide.datasets.dataset_files import read_table, real
from mirenc.decide.datasets.dataset_registry import dataset_folder
from mirenc.decide.datasets.fetch import content_hash
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space, Value
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData

_TABLE = "ruby-fullExploreDataset.csv"
_SETTING = ("OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_SCHEDULE")
_COLUMNS = ("progname", "probsize", *_SETTING, "xtime", "stddev")
_KNOBS = ("num_threads", "proc_bind", "places", "schedule", "chunk_size")
_SIZES = {"smlprob": "small", "medprob": "medium", "lrgprob": "large"}
_DEFAULT_WORDS = ("close", "cores", "static", 0)

Key = tuple[Value, ...]


class OpenMPPublished(Task):
    """A setting for each program and size: 6 programs x 3 sizes.

    Knobs: ``OMP_NUM_THREADS``, ``OMP_PROC_BIND``, ``OMP_PLACES``, and schedule and chunk of ``OMP_SCHEDULE`` (chunk 0:
    none given). Default: all threads, close, cores, static. The sizes are no numbers that compare between programs (NPB
    classes B, C and D; mesh files), so the size is one of three, in order.

    A run that was stopped is in the table as its time limit: a whole number without spread, the largest of its program
    and size. Its cost stays the limit, which is too small. To leave it out would tell who answers which settings run.
    """

    name = "openmp_published"
    title = "OpenMP settings, published table"
    source = "Bolet, omp_benchmarks: exploration on ruby (LLNL)"
    dataset = "openmp"
    context = Context(
        Feature("size", ", ".join(_SIZES.values()), allowed=tuple(_SIZES.values())),
        encode=lambda context: [float(list(_SIZES.values()).index(context[0]))],  # 0, 1 or 2
    )
    machines = {"": "ruby (LLNL): 2 sockets, 56 cores, 112 threads"}
    protocols = (Protocol("program", "leave one program out", lambda data: data.group, folds=None),)
    portfolios = (2, 3, 4)
    select = "speedup"

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        self.check_variant(variant)
        folder = dataset_folder(self.dataset, data_dir)
        times: dict[tuple[str, str], dict[Key, float]] = {}
        for line, row in enumerate(read_table(folder, _TABLE, _COLUMNS), 1):
            location = f"{_TABLE}, record {line} ({row['progname']}, {row['probsize']})"
            if row["probsize"] not in _SIZES:
                raise TaskError(f"{location}: size {row['probsize']!r} is none of {', '.join(_SIZES)}")
            costs_by_setting = times.setdefault((row["progname"], row["probsize"]), {})
            setting = _setting(row, location)
            if setting in costs_by_setting:
                raise TaskError(f"{location}: this setting stands twice in the table. Leave out one")
            costs_by_setting[setting] = real(row, "xtime", location)
        # All settings that any program ran under.
        settings = sorted({setting for costs_by_setting in times.values() for setting in costs_by_setting})
        default = (max(int(setting[0]) for setting in settings), *_DEFAULT_WORDS)
        if default not in settings:
            raise TaskError(f"{_TABLE}: nothing ran under the default, {default}")
        samples = []
        for (program, size), costs_by_setting in sorted(times.items()):
            name, context = f"{program} {_SIZES[size]}", (_SIZES[size],)
            costs = tuple(costs_by_setting.get(setting, math.nan) for setting in settings)
            samples.append(Sample(name, None, program, context, costs, part=program, code=program))
        space = Space(_KNOBS, tuple(settings), settings.index(default), missing="never")
        return TaskData(samples, space, content_hash(self.dataset, data_dir))


def _setting(row: Mapping[str, str], location: str) -> Key:
    kind, _, chunk = row["OMP_SCHEDULE"].partition(",")
    threads = real(row, "OMP_NUM_THREADS", location)
    if threads != int(threads) or not (chunk or "0").isdigit():
        schedule = f"{row['OMP_NUM_THREADS']} threads and schedule {row['OMP_SCHEDULE']!r}"
        raise TaskError(f"{location}: {schedule}; both are as in 8 and 'dynamic,64'. Mend or leave out the row")
    return int(threads), row["OMP_PROC_BIND"], row["OMP_PLACES"], kind, int(chunk or 0)
