"""Jobs: the cross-validation of one row of a table under one protocol and seed, run by worker processes.

A result is reused where the digest of its inputs is the same, so that an evaluation can be resumed, and another model
leaves the baselines as they are. The digest is of the bits of features, which may differ on another processor.
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
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mirenc import __version__
from mirenc.base.arrays import Int64
from mirenc.base.errors import TaskError
from mirenc.decide.estimators.candidates import candidate_search
from mirenc.decide.estimators.ensemble import CautiousEnsembleHead
from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.protocols import Fold, Protocol
from mirenc.decide.target import CostTarget, Target
from mirenc.decide.task_data import TaskData

Key = tuple[str, int, str]  # protocol, seed, row


class Result(NamedTuple):
    """The result of a job."""

    # (n,) or (n, P): setting, number or labels predicted for each sample by a head fitted without its fold, else 0
    predictions: NDArray[Any]
    heads: list[dict[str, float]]  # for each fold, the weights of the members of its head
    # (n,) the setting of least cost among the three that the head prefers; None where there are no more
    best_of_three: Int64 | None = None


@dataclass(frozen=True, eq=False)
class Job:
    """One row under one protocol and seed."""

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
        """SHA-256 of everything the result depends on: features, target, folds, candidates, release."""
        target, features = self.target, self.features
        head = candidate_search(
            target.shape(features, np.arange(len(self.unit))), self.seed, target.select, features.candidate
        )
        members = [(name, type(member).__name__, repr(member.get_params())) for name, member in head.members]
        inputs = [__version__, self.seed, features.context_columns, target.select, members, head.picks]
        if isinstance(head, CautiousEnsembleHead):
            inputs.append([type(head).__name__, head.default, head.most_slow])
        digest = hashlib.sha256(json.dumps(inputs).encode())
        for names in (self.unit, target.group):
            digest.update(json.dumps(names.tolist()).encode())
        arrays = [features.matrix, target.values, target.strata]
        if isinstance(target, CostTarget):
            for settings in (features.settings or target.settings, *(features.question_settings or ())):
                arrays += [settings.features, settings.row]
        for array in [*arrays, *(part for fold in self.folds for part in fold)]:
            digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def plan_jobs(
    target: Target, data: TaskData, features: list[Features], protocols: Sequence[Protocol], seeds: Sequence[int]
) -> list[Job]:
    """Every row under every protocol and seed."""
    jobs = []
    for protocol in protocols:
        unit = protocol.unit(data)
        for seed in seeds:
            folds = list(protocol.split(data, seed))
            jobs += [Job(protocol.name, seed, row, target, unit, folds) for row in features]
    return jobs


def run_jobs(
    job_list: Sequence[Job], jobs: int, advance: Callable[..., None] | None = None, known: Mapping[Key, Result] = {}
) -> Iterator[Result]:
    """Results in the order of the work, as they are done, by so many processes; ``known`` ones are not computed."""
    # joblib shares a large array with its processes once, as a file in memory, however many jobs have it.
    pending_jobs = (delayed(_run)(job) for job in job_list if job.key not in known)
    results: Iterator[Any] = iter(Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2*n_jobs")(pending_jobs))
    for job in job_list:
        yield known[job.key] if job.key in known else next(results)
        if advance is not None:
            advance(1, total=len(job_list), note=f"{job.protocol}, seed {job.seed}, {job.features.row}")


def _run(job: Job) -> Result:
    heads, answers = [], []
    with threadpool_limits(1):
        for training, test in job.folds:
            head = job.target.fit(job.features, training, job.unit, job.seed)
            answers.append(job.target.decide(head, job.features, test))
            heads.append({name: round(weight, 4) for name, weight in head.weights_.items()})
    predictions, best = zip(*answers, strict=True)
    return Result(_in_row_order(job, predictions), heads, None if best[0] is None else _in_row_order(job, best))


def _in_row_order(job: Job, answers: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The answers about the test rows of all folds, in the order of the rows; 0 where no fold tests a row."""
    ordered: NDArray[Any] = np.zeros((len(job.unit), *answers[0].shape[1:]), dtype=answers[0].dtype)
    for (_, test), answer in zip(job.folds, answers, strict=True):
        ordered[test] = answer
    return ordered


def pack_predictions(predictions: NDArray[Any], fold: Int64) -> Any:
    """Predictions (n,) or (n, P) of the samples that a fold tested, as JSON can hold them.

    Labels are many, so they are stored in half precision, which has four digits near 0, where most of them are.
    """
    tested = predictions[fold >= 0]
    if tested.ndim == 1:
        return [float(f"{number:.7g}") for number in tested.tolist()] if tested.dtype.kind == "f" else tested.tolist()
    packed = zlib.compress(np.ascontiguousarray(tested, dtype="<f2").tobytes(), 9)
    return {"labels": tested.shape[1], "float16": base64.b64encode(packed).decode("ascii")}


def unpack_predictions(entry: Any, fold: Int64) -> NDArray[Any]:
    """Reverse `pack_predictions`; 0 for samples that were not tested. Raises TaskError: damaged content."""
    tested = fold >= 0
    try:
        if isinstance(entry, dict):
            content = zlib.decompress(base64.b64decode(entry["float16"], validate=True))
            values = np.frombuffer(content, dtype="<f2").astype(np.float64).reshape(-1, entry["labels"])
        else:
            values = np.array(entry, dtype=np.float64 if any(isinstance(value, float) for value in entry) else np.int64)
        predictions = np.zeros((len(fold), *values.shape[1:]), dtype=values.dtype)
        predictions[tested] = values
    except (KeyError, TypeError, ValueError, binascii.Error, zlib.error) as error:
        problem = f"the recorded result is damaged: its answers for {tested.sum()} samples cannot be read ({error})"
        raise TaskError(f"{problem}. Evaluate again") from None
    return predictions
