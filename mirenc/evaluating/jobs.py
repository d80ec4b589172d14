"""Jobs: one row of a table under one protocol and seed, what a worker process gets and gives back.

A job's result follows from its inputs alone, and a digest names them: a result that was kept is taken again where the
digest is the same, so an evaluation that was stopped goes on, and another model leaves the baselines as they are.
Features count by their bits, which another processor or an emptied cache may move: then those rows are made again.
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
from mirenc.heads import CautiousEnsembleHead
from mirenc.learning.features import Features
from mirenc.learning.goal import Goal
from mirenc.learning.menu import head_search
from mirenc.tasks.data import TaskData
from mirenc.tasks.protocols import Protocol

__all__ = ["Job", "Result", "plan_jobs", "run_jobs"]

Int = NDArray[np.int64]
_THREE = 3


class Result(NamedTuple):
    """What came of a job.

    Attributes
    ----------
    said : (n,) int64 or float64, or (n, P) float64
        The setting chosen, the number predicted or how likely each label is, for each sample by a head that did not
        see its fold; 0 for samples that no fold tests.
    heads : list of dict
        For each fold, the weights of the members of its head.
    best_of_three : (n,) int64, or None
        The setting of least cost among the three that the head prefers: what is chosen where three may be measured.
        None where there are no more than three to choose among.
    """

    said: NDArray[Any]
    heads: list[dict[str, float]]
    best_of_three: Int | None = None


@dataclass(frozen=True, eq=False)
class Job:
    """One row under one protocol and seed: what a worker process gets."""

    protocol: str
    seed: int
    features: Features
    goal: Goal
    unit: NDArray[np.generic]
    folds: list[tuple[Int, Int]]

    @property
    def key(self) -> tuple[str, int, str]:
        """Protocol, seed and row."""
        return self.protocol, self.seed, self.features.row

    def digest(self) -> str:
        """SHA-256 over everything the result follows from: features, target, folds, the menu of heads, the release."""
        everything = np.arange(len(self.unit))
        head = head_search(self.goal.shape(self.features, everything), self.seed, self.goal.select, self.features.only)
        members = [(name, type(member).__name__, repr(member.get_params())) for name, member in head.members]
        search = [__version__, self.seed, self.features.context, self.goal.select, members, head.picks]
        if isinstance(head, CautiousEnsembleHead):
            search.append([type(head).__name__, head.default, head.most_slow])
        said = json.dumps(search)
        found = hashlib.sha256(said.encode())
        for names in (self.unit, self.goal.group):
            found.update(json.dumps(names.tolist()).encode())
        arrays = [self.features.matrix, self.goal.target, self.goal.labels]
        if self.goal.settings is not None:
            arrays += [self.goal.settings.features, self.goal.settings.row]
        for array in [*arrays, *(part for fold in self.folds for part in fold)]:
            found.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return found.hexdigest()


def plan_jobs(
    goal: Goal, data: TaskData, features: list[Features], protocols: Sequence[Protocol], seeds: Sequence[int]
) -> list[Job]:
    """Every row under every protocol and seed."""
    work = []
    for protocol in protocols:
        unit = protocol.unit(data)
        for seed in seeds:
            folds = list(protocol.split(data, seed))
            work += [Job(protocol.name, seed, row, goal, unit, folds) for row in features]
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
    # joblib hands a large array to its processes once, as a file in memory, however many jobs share it.
    left = (delayed(_run)(job) for job in work if job.key not in known)
    made: Iterator[Any] = iter(Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2*n_jobs")(left))
    for job in work:
        yield known[job.key] if job.key in known else next(made)
        if advance is not None:
            advance(1, total=len(work), note=f"{job.protocol}, seed {job.seed}, {job.features.row}")


def _run(job: Job) -> Result:
    from threadpoolctl import threadpool_limits

    goal, features = job.goal, job.features
    shape = goal.target.shape if goal.settings is None else len(job.unit)
    said = np.zeros(shape, dtype=np.float64 if goal.settings is None else np.int64)
    measured = np.zeros(len(job.unit), dtype=np.int64)
    heads = []
    with threadpool_limits(1):
        for training, test in job.folds:
            head = goal.fit(features, training, job.unit, job.seed)
            found = goal.ask(head, features, test)
            if goal.settings is None:
                said[test] = found
            else:
                said[test] = found.argmax(axis=1)
                measured[test] = _best_of_three(found, goal.target[test])
            heads.append({name: round(weight, 4) for name, weight in head.weights_.items()})
    chooses_among_many = goal.settings is not None and goal.target.shape[1] > _THREE
    return Result(said, heads, measured if chooses_among_many else None)


def _best_of_three(preference: NDArray[np.float64], costs: NDArray[np.float64]) -> Int:
    """The cheapest of the three most preferred settings. (m, K), (m, K) with NaN: nobody may ask -> (m,)."""
    first = np.argsort(-preference, axis=1, kind="stable")[:, :_THREE]
    cost = np.take_along_axis(costs, first, axis=1)
    cheapest = np.where(np.isfinite(cost), cost, np.inf).argmin(axis=1)
    result: Int = first[np.arange(len(first)), cheapest]
    return result
