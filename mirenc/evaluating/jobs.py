"""Jobs: one row of a table under one protocol and seed, what a worker process gets and gives back.

A job's result follows from its inputs alone, and a digest names them: a result that was kept is taken again where the
digest is the same, so an evaluation that was stopped goes on, and another model leaves the baselines as they are.
Features count by their bits, which another processor or an emptied cache may move: then those rows are made again.
"""

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mirenc import __version__
from mirenc.arrays import Int64
from mirenc.errors import MissingExtraError, TaskError
from mirenc.heads import CautiousEnsembleHead
from mirenc.learning.features import Features
from mirenc.learning.menu import head_search
from mirenc.learning.target import Costs, Target
from mirenc.tasks import TaskData
from mirenc.tasks.protocols import Fold, Protocol

Key = tuple[str, int, str]  # protocol, seed, row


class Result(NamedTuple):
    """What came of a job."""

    # (n,) int64 or float64, or (n, P) float64: what a head that did not see its fold says of each sample, else 0
    predictions: NDArray[Any]
    heads: list[dict[str, float]]  # for each fold, the weights of the members of its head
    # (n,) int64: the setting of least cost among the three that the head prefers; None where there are no others
    best_of_three: Int64 | None = None


@dataclass(frozen=True, eq=False)
class Job:
    """One row under one protocol and seed: what a worker process gets."""

    protocol: str
    seed: int
    features: Features
    target: Target
    unit: NDArray[np.generic]
    folds: list[Fold]

    @property
    def key(self) -> Key:
        return self.protocol, self.seed, self.features.row

    def digest(self) -> str:
        """SHA-256 over everything the result follows from: features, target, folds, the menu of heads, the release."""
        target, features = self.target, self.features
        head = head_search(target.shape(features, np.arange(len(self.unit))), self.seed, target.select, features.only)
        members = [(name, type(member).__name__, repr(member.get_params())) for name, member in head.members]
        search = [__version__, self.seed, features.context, target.select, members, head.picks]
        if isinstance(head, CautiousEnsembleHead):
            search.append([type(head).__name__, head.default, head.most_slow])
        content = hashlib.sha256(json.dumps(search).encode())
        for names in (self.unit, target.group):
            content.update(json.dumps(names.tolist()).encode())
        arrays = [features.matrix, target.values, target.strata]
        if isinstance(target, Costs):
            settings = features.settings or target.settings
            for one in (settings, *(features.asked or ())):
                arrays += [one.features, one.row]
        for array in [*arrays, *(part for fold in self.folds for part in fold)]:
            content.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return content.hexdigest()


def plan_jobs(
    target: Target, data: TaskData, features: list[Features], protocols: Sequence[Protocol], seeds: Sequence[int]
) -> list[Job]:
    """Every row under every protocol and seed."""
    work = []
    for protocol in protocols:
        unit = protocol.unit(data)
        for seed in seeds:
            folds = list(protocol.split(data, seed))
            work += [Job(protocol.name, seed, row, target, unit, folds) for row in features]
    return work


def run_jobs(
    work: Sequence[Job],
    jobs: int,
    advance: Callable[..., None] | None = None,
    known: Mapping[Key, Result] | None = None,
) -> Iterator[Result]:
    """Results in the order of the work, as they are done, by so many processes.

    ``advance`` is called as ``advance(1, total=..., note=...)`` after every job; jobs in ``known`` need not be run.
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

    count = len(job.unit)
    predictions: NDArray[Any] = np.zeros(0)
    three: Int64 | None = None
    heads: list[dict[str, float]] = []
    with threadpool_limits(1):
        for training, test in job.folds:
            head = job.target.fit(job.features, training, job.unit, job.seed)
            said, best = job.target.decide(head, job.features, test)
            if not heads:
                predictions = np.zeros((count, *said.shape[1:]), dtype=said.dtype)
                three = None if best is None else np.zeros(count, dtype=np.int64)
            predictions[test] = said
            if three is not None and best is not None:
                three[test] = best
            heads.append({name: round(weight, 4) for name, weight in head.weights_.items()})
    return Result(predictions, heads, three)


# -- what a record keeps -------------------------------------------------------------------------------
def pack_predictions(predictions: NDArray[Any], fold: Int64) -> Any:
    """Predictions, (n,) int64 or float64, or (n, P) float64, as JSON can hold them: of samples that were tested.

    ``fold``: (n,) int64, that tested each sample; -1 where none did. Labels are many numbers a sample, so they are kept
    in half precision: what ranks samples is the order, and that keeps four digits near 0, where most labels are.
    """
    tested = predictions[fold >= 0]
    if tested.ndim == 1:
        return [float(f"{one:.7g}") for one in tested.tolist()] if tested.dtype.kind == "f" else tested.tolist()
    packed = zlib.compress(np.ascontiguousarray(tested, dtype="<f2").tobytes(), 9)
    return {"labels": tested.shape[1], "float16": base64.b64encode(packed).decode("ascii")}


def unpack_predictions(kept: Any, fold: Int64) -> NDArray[Any]:
    """What `pack_predictions` gave: (n,) or (n, P); 0 for samples that were not tested.

    Raises TaskError: something else, or of another number of samples.
    """
    tested = fold >= 0
    try:
        if isinstance(kept, dict):
            content = zlib.decompress(base64.b64decode(kept["float16"], validate=True))
            values = np.frombuffer(content, dtype="<f2").astype(np.float64).reshape(-1, kept["labels"])
        else:
            values = np.array(kept, dtype=np.float64 if any(isinstance(one, float) for one in kept) else np.int64)
        predictions = np.zeros((len(fold), *values.shape[1:]), dtype=values.dtype)
        predictions[tested] = values
    except (KeyError, TypeError, ValueError, binascii.Error, zlib.error) as error:
        raise TaskError(f"what a record says of {tested.sum()} samples is damaged: {error}. Evaluate again") from None
    return predictions
