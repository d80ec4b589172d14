"""Jobs: one row of a table under one protocol and seed, what a worker process gets and gives back.

A job's result follows from its inputs alone, and a digest names them: a result that was kept is taken again where the
digest is the same, so an evaluation that was stopped goes on, and another model leaves the baselines as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mirenc import __version__
from mirenc.errors import MissingExtraError
from mirenc.tasks.base import Task
from mirenc.tasks.data import TaskData
from mirenc.tasks.features import Features
from mirenc.tasks.menu import head_search, inner_parts
from mirenc.tasks.protocols import Protocol

__all__ = ["Job", "Result", "plan_jobs", "run_jobs"]

Int = NDArray[np.int64]


class Result(NamedTuple):
    """What came of a job.

    Attributes
    ----------
    choice : (n,) int64
        Made for each sample by a head that did not see its fold.
    heads : list of dict
        For each fold, the weights of the members of its head.
    """

    choice: Int
    heads: list[dict[str, float]]


@dataclass(frozen=True, eq=False)
class Job:
    """One row under one protocol and seed: what a worker process gets."""

    protocol: str
    seed: int
    row: str
    matrix: NDArray[np.float64]
    aux: int
    costs: NDArray[np.float64]
    labels: Int
    unit: NDArray[np.generic]
    group: NDArray[np.str_]
    folds: list[tuple[Int, Int]]
    select: str
    only: str

    @property
    def key(self) -> tuple[str, int, str]:
        """Protocol, seed and row."""
        return self.protocol, self.seed, self.row

    def digest(self) -> str:
        """SHA-256 over everything the result follows from: features, costs, folds, the menu of heads, the release."""
        groups = len(np.unique(self.group))
        head = head_search(self.aux, self.matrix.shape[1] - self.aux, groups, self.seed, self.select, self.only)
        members = [(name, type(member).__name__, repr(member.get_params())) for name, member in head.members]
        said = json.dumps([__version__, self.seed, self.aux, self.select, self.only, members, head.picks])
        found = hashlib.sha256(said.encode())
        for names in (self.unit, self.group):
            found.update(json.dumps(names.tolist()).encode())
        arrays = [self.matrix, self.costs, self.labels, *(part for fold in self.folds for part in fold)]
        for array in arrays:
            found.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return found.hexdigest()


def plan_jobs(
    task: Task, data: TaskData, features: list[Features], protocols: list[Protocol], seeds: Sequence[int]
) -> list[Job]:
    """Every row under every protocol and seed."""
    work = []
    for protocol in protocols:
        unit = protocol.unit(data)
        for seed in seeds:
            folds = list(protocol.split(data, seed))
            work += [
                Job(
                    protocol.name,
                    seed,
                    row.row,
                    row.matrix,
                    row.aux,
                    data.costs,
                    data.labels,
                    unit,
                    data.group,
                    folds,
                    task.select,
                    row.only,
                )
                for row in features
            ]
    return work


def run_jobs(
    work: Sequence[Job],
    jobs: int,
    advance: Callable[..., None] | None = None,
    known: Mapping[tuple[str, int, str], Result] | None = None,
) -> Iterator[Result]:
    """Results in the order of the work, as they are done.

    Parameters
    ----------
    work : sequence of Job
    jobs : int
        Processes.
    advance : callable, optional
        Called as ``advance(1, total=..., note=...)`` after every job.
    known : mapping of `Job.key` to Result, optional
        Jobs that need not be run.
    """
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise MissingExtraError(f"evaluating needs scikit-learn ({error}). Type: pip install 'mirenc[tasks]'") from None
    known = known or {}
    left = [delayed(_run)(job) for job in work if job.key not in known]
    made: Iterator[Any] = iter(Parallel(n_jobs=jobs, return_as="generator")(left))
    for job in work:
        yield known[job.key] if job.key in known else next(made)
        if advance is not None:
            advance(1, total=len(work), note=f"{job.protocol}, seed {job.seed}, {job.row}")


def _run(job: Job) -> Result:
    from threadpoolctl import threadpool_limits

    choice = np.full(len(job.costs), -1, dtype=np.int64)
    heads = []
    with threadpool_limits(1):
        for training, test in job.folds:
            columns = job.matrix.shape[1]
            groups = len(np.unique(job.group[training]))
            head = head_search(job.aux, columns - job.aux, groups, job.seed, job.select, job.only)
            part = inner_parts(job.unit[training], job.labels[training], job.seed)
            head.fit(job.matrix[training], job.costs[training], part=part)
            choice[test] = head.predict(job.matrix[test])
            heads.append({name: round(weight, 4) for name, weight in head.weights_.items()})
    return Result(choice, heads)
