"""Loading the samples of a task: IR of a user's own for tables without, and groups by what the code is."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mirenc.base.errors import MirencError, TaskError
from mirenc.decide.sample import Sample
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.llvm import parse_ir, statements_of

_ENDINGS = (".ll", ".bc")
_NAMES_SHOWN = 8  # missing files that a message lists


def load_data(
    task: Task, data_dir: str | Path | None, variant: str = "", ir_dir: str | os.PathLike[str] | None = None
) -> TaskData:
    """The samples of `Task.load`, with the IR of a folder where one is named (`with_ir`); raises as these.

    Other exceptions, of a task of somebody's own, become a TaskError that names the task.
    """
    try:
        data = task.load(data_dir, task.check_variant(variant))
    except (MirencError, OSError):
        raise
    except Exception as error:
        raise TaskError(f"task {task.name}: load() fails: {type(error).__name__}: {error}. Mend load()") from error
    return data if ir_dir is None else with_ir(data, ir_dir)


def with_ir(data: TaskData, folder: str | os.PathLike[str]) -> TaskData:
    """The samples with IR from a folder, found by `mirenc.decide.Sample.code`; subfolders are looked through.

    ``NAME.ll`` or ``NAME.bc`` is taken for each name; other files are ignored. Groups of the same code are joined.

    Raises TaskError: samples that have their IR; no such folder; a name with two files, or without one (the names are
    listed); IR that cannot be read.
    """
    home = Path(folder)
    if not all(sample.code for sample in data.samples):
        raise TaskError("the data set has its IR, or needs none. Leave out --ir-dir, which is for tables without IR")
    if not home.is_dir():
        raise TaskError(f"--ir-dir {home}: no such folder. Name the folder that holds your IR")
    codes = {sample.code for sample in data.samples}
    files: dict[str, Path] = {}
    for path in sorted(home.rglob("*")):
        if path.stem not in codes or path.suffix not in _ENDINGS or not path.is_file():
            continue
        if path.stem in files:
            raise TaskError(f"{files[path.stem]} and {path}: two files of one name. Keep one of them")
        files[path.stem] = path
    if missing := sorted(codes - set(files)):
        listing = ", ".join(f"{name}.ll" for name in missing[:_NAMES_SHOWN])
        suffix = f" and {len(missing) - _NAMES_SHOWN} more" if len(missing) > _NAMES_SHOWN else ""
        problem = f"no IR for {len(missing)} of {len(codes)} names of the table: {listing}{suffix}"
        advice = "Add files of these names (.ll or .bc), or delete the rows of the table that have none"
        raise TaskError(f"{home}: {problem}. {advice}")
    return replace(data, samples=join_same_code([replace(sample, ir=files[sample.code]) for sample in data.samples]))


def join_same_code(samples: Sequence[Sample]) -> list[Sample]:
    """The samples with groups joined where a source or the normalised statements of the IR are the same.

    Grouping by source, as published, is not enough: two sources may compile to the same IR (BT and SP of NPB share
    kernels; two files of the coarsening data are the same), so that a fold would have the test code in training. ``ir``
    is text, bitcode, or a `pathlib.Path`.

    Raises TaskError: IR that cannot be read (the sample is named).
    """
    hashes = []
    for sample in samples:
        if sample.ir is None:
            raise TaskError(f"sample {sample.name} has no IR to compare with the others'. Leave it out, or give its IR")
        try:
            ir = sample.ir if isinstance(sample.ir, (str, bytes)) else Path(sample.ir).read_bytes()
            hashes.append(_statements_hash(ir))
        except MirencError as error:
            raise TaskError(f"sample {sample.name}: {error}") from None
    names, group = np.unique([sample.group for sample in samples], return_inverse=True)
    _, code = np.unique(hashes, return_inverse=True)
    # A graph whose nodes are groups and codes; a component of it is one group, named by its first.
    nodes = len(names) + len(hashes)
    edges = coo_array((np.ones(len(hashes)), (group, len(names) + code)), shape=(nodes, nodes))
    component = connected_components(edges, directed=False)[1][: len(names)]
    group_names = {number: name for name, number in zip(names[::-1].tolist(), component[::-1].tolist(), strict=True)}
    return [replace(sample, group=group_names[component[row]]) for sample, row in zip(samples, group, strict=True)]


@lru_cache(maxsize=4096)
def _statements_hash(ir: str | bytes) -> str:
    """Hash of the module's normalised statements in order: names, metadata and alignment do not count."""
    return statements_of(parse_ir(ir)).content_hash.hex()
