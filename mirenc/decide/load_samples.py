"""Samples of a task as they are asked for: with IR of one's own where a table has none, and groups by what code is."""

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
_NAMED = 8  # missing files that a message lists


def load_data(
    task: Task, data_dir: str | Path | None, variant: str = "", ir_dir: str | os.PathLike[str] | None = None
) -> TaskData:
    """The task's samples (`Task.load`), with the IR of a folder where it is given (`with_ir`); raises as these.

    What a task of somebody's own raises becomes a TaskError that names it.
    """
    try:
        data = task.load(data_dir, task.check_variant(variant))
    except (MirencError, OSError):
        raise
    except Exception as error:
        raise TaskError(f"task {task.name}: load() fails: {type(error).__name__}: {error}. Mend it") from error
    return data if ir_dir is None else with_ir(data, ir_dir)


def with_ir(data: TaskData, folder: str | os.PathLike[str]) -> TaskData:
    """The samples with IR from a folder, found by `mirenc.decide.Sample.code`; subfolders are looked through.

    ``NAME.ll`` or ``NAME.bc`` is taken for each name, others are left alone. Groups whose statements are the same
    become one (`join_same_code`): the code decides, not its name.

    Raises TaskError: samples that have their IR; no such folder; a name with two files, or without one (the names are
    listed); IR that cannot be read.
    """
    home = Path(folder)
    if not all(sample.code for sample in data.samples):
        raise TaskError("the data bring their own IR, or need none: --ir-dir is for tables without. Leave it out")
    if not home.is_dir():
        raise TaskError(f"--ir-dir {home}: no such folder. Name the folder that holds your IR")
    wanted = {sample.code for sample in data.samples}
    files: dict[str, Path] = {}
    for path in sorted(home.rglob("*")):
        if path.stem not in wanted or path.suffix not in _ENDINGS or not path.is_file():
            continue
        if path.stem in files:
            raise TaskError(f"{files[path.stem]} and {path}: two files of one name. Keep one of them")
        files[path.stem] = path
    if missing := sorted(wanted - set(files)):
        named = ", ".join(f"{name}.ll" for name in missing[:_NAMED])
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        found = f"no IR for {len(missing)} of {len(wanted)} names of the table: {named}{more}"
        raise TaskError(f"{home}: {found}. Add them (.ll or .bc, named so); for a part of the table, cut the table")
    return replace(data, samples=join_same_code([replace(sample, ir=files[sample.code]) for sample in data.samples]))


def join_same_code(samples: Sequence[Sample]) -> list[Sample]:
    """The samples with groups joined where a source or the normalised statements of the IR are the same.

    Grouping by source is what is published, and not enough: two sources may compile to the same IR (BT and SP of NPB
    share kernels; two files of the coarsening data are the same), and a fold would then show the test code in training.
    Samples have one group for each kernel source, and ``ir`` is text, bitcode, or a `pathlib.Path`.

    Raises TaskError: IR that cannot be read (the sample is named).
    """
    codes = []
    for sample in samples:
        if sample.ir is None:
            raise TaskError(f"sample {sample.name} has no IR to compare. Leave it out, or give its IR")
        try:
            ir = sample.ir if isinstance(sample.ir, (str, bytes)) else Path(sample.ir).read_bytes()
            codes.append(_statements_hash(ir))
        except MirencError as error:
            raise TaskError(f"sample {sample.name}: {error}") from None
    names, group = np.unique([sample.group for sample in samples], return_inverse=True)
    _, code = np.unique(codes, return_inverse=True)
    nodes = len(names) + len(codes)
    pairs = coo_array((np.ones(len(codes)), (group, len(names) + code)), shape=(nodes, nodes))
    joined = connected_components(pairs, directed=False)[1][: len(names)]
    first = {one: name for name, one in zip(names[::-1].tolist(), joined[::-1].tolist(), strict=True)}
    return [replace(sample, group=first[joined[one]]) for sample, one in zip(samples, group, strict=True)]


@lru_cache(maxsize=4096)
def _statements_hash(ir: str | bytes) -> str:
    """Of the module's normalised statements in order: names, metadata and alignment do not count."""
    return statements_of(parse_ir(ir)).content_hash.hex()
