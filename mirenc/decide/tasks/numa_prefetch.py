"""Threads, thread placement, pages and hardware prefetchers of an OpenMP region: a published table of run times.

Scravaglieri et al., "Optimizing Performance and Energy Across Problem Sizes Through a Search Space Exploration and
Machine Learning", JPDC 2023: regions of NAS, Rodinia, CLOMP and LULESH on a machine of two NUMA nodes, each under every
configuration, with small (conf1) and large inputs (conf2). No licence is stated, so nothing of it is part of mirenc.
"""

import csv
import hashlib
import io
import itertools
import math
import re
import warnings
from pathlib import Path

import numpy as np

from mirenc.base.errors import TaskError
from mirenc.decide.datasets.dataset_files import file_path, read_file
from mirenc.decide.datasets.dataset_registry import data_root, dataset_folder, get_dataset
from mirenc.decide.datasets.fetch import content_hash
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space, Value
from mirenc.decide.tables.published import PublishedTask
from mirenc.decide.task_data import TaskData

_FOLDER = "numa_prefetch"
_COLUMN = re.compile(r"-O\d_(\d+)_(\d+)_(\d+)_([a-z]+)_([01])_(\d+)_([a-z]+)")
_KNOBS = (
    *("threads", "thread_nodes", "page_nodes", "mapping", "hyper_threading"),
    *("stream_off", "line_off", "l1_stream_off", "l1_ip_off", "pages"),
)
# Threads on all cores of both nodes in turn, one a core, all prefetchers on, pages where they are first touched: what
# the authors measure speedups over.
_DEFAULT = "-O3_32_2_2_scatter_0_0_ori"


class NumaPrefetch(PublishedTask):
    """A configuration for each region, out of all that the header names (768 in the published tables).

    Knobs: threads; on how many nodes they and their pages are; ``compact`` or ``scatter``; two threads a core or one;
    the four prefetchers of an Intel core, 1 where the bit of the published mask turns it off; pages as the system has
    them (``ori``), balanced over nodes (``bal``), or local (``loc``).

    A value of -1, 0 or nothing was not measured, and is never chosen. A region that was not measured at the default is
    left out, with a warning, because speedups are over the default. Regions of one program are one group: the program
    is what precedes the first underscore of the region's name.
    """

    name = "numa_prefetch"
    title = "NUMA and prefetchers"
    source = "Scravaglieri et al., JPDC 2023 (Zenodo record 7590756)"
    dataset = "numa_prefetch"
    variants = ("conf1", "conf2")
    protocols = (
        Protocol("paper", "the paper's: trained on 5 % of the regions, 10 folds", lambda d: _regions(d), share=0.05),
        Protocol("region", "by region, 10 folds (regions of one program on both sides)", lambda d: _regions(d)),
        Protocol("program", "leave one program out", lambda data: data.group, folds=None),
    )
    portfolios = (2, 3)
    select = "speedup"

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        folder, table = _find_table(self.check_variant(variant), data_dir)
        content = read_file(folder, table)
        header, *records = map(_strip, csv.reader(io.StringIO(content.decode("utf-8", "replace")), delimiter=";"))
        space = _space(header[1:], table)
        places = [f"{table}, line {number}" for number in range(2, len(records) + 2)]
        samples = [_sample(row, len(header), space, place) for row, place in zip(records, places, strict=True) if row]
        if unmeasured := [sample for sample in samples if math.isnan(sample.costs[space.default])]:
            names = ", ".join(sample.name for sample in unmeasured)
            reason = "these regions are left out, because they have no time at the default setting"
            warnings.warn(f"{table}: {reason}: {names}", stacklevel=2)
            samples = [sample for sample in samples if sample not in unmeasured]
        if repeats := len(samples) - len({sample.name for sample in samples}):
            raise TaskError(f"{table}: {repeats} regions occur twice. Leave out one row of each")
        published = table in get_dataset(_FOLDER).tables
        digest = content_hash(_FOLDER, data_dir) if published else hashlib.sha256(content).hexdigest()
        return TaskData(samples, space, digest)


def _regions(data: TaskData) -> np.ndarray[tuple[int, ...], np.dtype[np.str_]]:
    return np.array([sample.name for sample in data.samples])


def _find_table(variant: str, data_dir: str | Path | None) -> tuple[Path, str]:
    """Folder and name of a variant's table: named as here, or as in the authors' repository."""
    root = data_root(data_dir)
    names = (f"values_{variant}_time_med.csv", f"{variant}_time_med.csv")
    for folder, name in itertools.product((root / _FOLDER, root, root / _FOLDER / "values", root / "values"), names):
        if file_path(folder, name):
            return folder, name
    dataset_folder(_FOLDER, data_dir)  # none of the files at all: says how to get them
    problem = f"the table of {variant} is missing; it is {names[0]} or {names[1]}, with or without .gz"
    raise TaskError(f"{root}: {problem}. Put it into {root / _FOLDER}, or name the folder that holds it with --data")


def _strip(cells: list[str]) -> list[str]:
    """A line without the empty cell after its last ``;``: data lines end in one, and the header does not."""
    cells = [cell.strip() for cell in cells]
    return cells[:-1] if cells and not cells[-1] else cells


def _space(columns: list[str], table: str) -> Space:
    settings: list[tuple[Value, ...]] = []
    for column in columns:
        match = _COLUMN.fullmatch(column)
        if match is None or not 0 <= int(match[6]) < 16:
            raise TaskError(
                f"{table}: column {column!r} does not name a configuration. Name it as in {_DEFAULT}, eight parts "
                "joined by _: optimisation level, how many threads, on how many NUMA nodes they run, how many NUMA "
                "nodes hold pages, thread mapping, hyper-threading (0 or 1), prefetcher mask (0 to 15), page policy"
            )
        mask = [int(match[6]) >> bit & 1 for bit in range(4)]
        settings.append((*map(int, match.group(1, 2, 3)), match[4], int(match[5]), *mask, match[7]))
    if _DEFAULT not in columns:
        raise TaskError(f"{table}: column {_DEFAULT!r} is missing. Add it: speedups are relative to its times")
    return Space(_KNOBS, tuple(settings), columns.index(_DEFAULT), missing="never")


def _sample(row: list[str], width: int, space: Space, where: str) -> Sample:
    name, *cells = row
    if len(row) != width:
        raise TaskError(f"{where} ({name}): {len(row)} fields, the header has {width}. Mend or leave out the line")
    costs = []
    for cell, setting in zip(cells, space.names, strict=True):
        try:
            cost = float(cell or -1)
        except ValueError:
            raise TaskError(f"{where} ({name}): {cell!r} for {setting} is not a number. Leave out the line") from None
        costs.append(cost if cost > 0 else math.nan)
    program = name.removeprefix("__cere__").lstrip("_").split("_")[0]
    return Sample(name, None, program, costs=tuple(costs), code=name)
