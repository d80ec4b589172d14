"""What decisions about loops are worth where trip counts are predicted, not counted, into ``loops.json``.

    python downstream/profile/loops.py [--head FOLDER] [--seeds N]

The table and the folds of whole structures of ``downstream/look_ahead``. Heads learn with the counted trip counts, as
those of its row "look-ahead + trip count"; each is asked about the structures that it did not see with

- ``counted``: the count itself; ``class``: that one of `TRIP_CLASSES` which it is in, as counts that may be;
- ``predicted``, ``chances``: the class that `StaticProfile` takes for most likely in the IR that heads see, and all
  classes by their chances; ``predicted, source``, ``chances, source``: of the source as the front end writes it, which
  is what its trees were grown on, though only on Debian's programs;
- ``commonest``: the commonest class of the training fold; ``fixed``: that of the loop's own structure, the truth
  included: the most that an answer can be right which does not change with the size;
- ``nothing``: all `TRIP_COUNTS` that may be.

Where constants say the count, it is told in each way: so is the product. ``look_ahead`` is the table's row that is
never told. Each way with the caution of a head that is told counts (``told``), and with that which held-out answers
to such questions ask for (``asked``); heads are trained once for all. ``right``: how often a class is right, by
samples and in the mean over structures; ``shuffled`` is what ``fixed`` would have if structures told nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

sys.path.append(str(Path(__file__).parents[1] / "look_ahead"))  # its table, and what choices are worth

from groups import factor
from rules import PROTOCOL, TABLE, worth

from mirenc.base.arrays import Bool, Float64, Int64
from mirenc.base.cache import Cache, cache_key
from mirenc.base.progress import progress
from mirenc.decide import HedgingEnsembleHead
from mirenc.decide.estimators.candidates import candidate_search, inner_folds
from mirenc.decide.estimators.chooser import SHARPNESS, Settings
from mirenc.decide.evaluation.evaluate_task import Evaluation
from mirenc.decide.evaluation.jobs import Job, plan_jobs, unpack_predictions
from mirenc.decide.features.feature_matrix import context_with_run
from mirenc.decide.features.look_ahead_features import TRIP_COUNTS, look_ahead_settings, look_ahead_tables
from mirenc.decide.loop_task import TRIP_CLASSES
from mirenc.decide.sample import Sample
from mirenc.decide.tables.measured import MeasuredKernel, read_measured
from mirenc.decide.target import target_of
from mirenc.decide.task_data import TaskData
from mirenc.decide.tasks.vectorization import Vectorization
from mirenc.encoder import Encoder, load
from mirenc.llvm import IRModule, ReadOptions, read_ir, regions_of
from mirenc.llvm.analysis.regions import find_loop
from mirenc.llvm.passes.find_llvm import EmbeddedEngine
from mirenc.tools.profile import StaticProfile, static_profile as static
from mirenc.tools.profile.static_profile import FRONT_END

HERE = Path(__file__).parent
COUNTS = sorted({count for counts in TRIP_CLASSES.values() for count in counts} | set(TRIP_COUNTS))
_BOUNDS = (8, 32, 256)  # of `TRIP_CLASSES`
_SHUFFLES = 100


class Fold(NamedTuple):
    """What members say of all samples, of each inner fold by those that did not see it, asked with each view."""

    training: Int64
    test: Int64
    head: HedgingEnsembleHead  # not trained: it chooses among members
    predictions: dict[str, Float64]  # (V, n, K) a member


def main() -> None:
    """Predict, train and ask; the record is written after each seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--head", type=Path, help="folder of the trees; those that ship, if left out")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    task, encoder = Vectorization(), load("mirenc-fast")
    table = read_measured(TABLE, task.name)
    data = task.samples_of(table)
    trees = StaticProfile.load(arguments.head) if arguments.head else StaticProfile.load()
    kernels = [table.kernels[item.name.removesuffix(f" {item.part}")] for item in data.samples]
    (features,) = Evaluation.prepare(task, data, encoder=encoder, rows=["look_ahead_run"]).features
    iterations = np.array([max(task.iterations(context_with_run(task, item)), default=0.0) for item in data.samples])
    constant = np.array([float(item.context[0]) > 0 for item in data.samples])
    likely_trips = {
        "predicted": predict_trips(trees, encoder, data, np.flatnonzero(~constant), None),
        "predicted, source": predict_trips(trees, encoder, data, np.flatnonzero(~constant), kernels),
    }
    unknown = np.flatnonzero(~constant & (iterations > 0))
    truth = np.searchsorted(_BOUNDS, iterations, side="right")
    classes = len(TRIP_CLASSES)
    one_hot = np.eye(classes)
    fixed_classes = np.zeros(len(data), dtype=np.int64)
    for group in np.unique(data.group[unknown]):
        group_rows = np.flatnonzero(data.group == group)
        fixed_classes[group_rows] = np.bincount(truth[np.intersect1d(group_rows, unknown)], minlength=classes).argmax()
    chances = {"class": one_hot[truth], "fixed": one_hot[fixed_classes]}
    for name, likely in likely_trips.items():
        chances |= {name: one_hot[likely.argmax(axis=1)], name.replace("predicted", "chances"): likely}
    weights_by_name = {name: weights(likely, constant) for name, likely in chances.items()}
    weights_by_name |= {"counted": average([0], len(data)), "nothing": average(places(TRIP_COUNTS), len(data))}
    weights_by_name["nothing"][constant] = weights_by_name["counted"][constant]
    hits_by_name = {
        name: hits(likely, truth, data, unknown) for name, likely in chances.items() if np.isin(likely, (0, 1)).all()
    }
    record: dict[str, Any] = {
        "samples": len(data),
        "asked": len(unknown),
        "structures": len(np.unique(data.group[unknown])),
        "classes": dict(zip(TRIP_CLASSES, np.bincount(truth[unknown], minlength=classes).tolist(), strict=True)),
        "predicted": {
            name: dict(zip(TRIP_CLASSES, np.bincount(rows[unknown].argmax(1), minlength=classes).tolist(), strict=True))
            for name, rows in likely_trips.items()
        },
        "shuffled": shuffled(truth[unknown], data.group[unknown]),
    }
    tables = look_ahead_tables(task, data, encoder, None)
    counts = [iterations, *(np.full(len(data), float(count)) for count in COUNTS)]
    views = [look_ahead_settings(data.settings, tables, data.default, trip_counts) for trip_counts in counts]
    assert features.settings is not None
    assert np.array_equal(features.settings.features, views[0].features)
    look_ahead_record = json.loads((TABLE.parents[1] / "look_ahead" / f"{PROTOCOL}.json").read_text())
    runs: dict[str, list[Int64]] = {}
    agreement, commonest = [], []
    for seed in range(arguments.seeds):
        (job,) = plan_jobs(target_of(data, task.select), data, [features], [task.protocol(PROTOCOL)], [seed])
        folds = train_members(job, views)
        modes = [one_hot[np.bincount(truth[np.intersect1d(item.training, unknown)]).argmax()] for item in folds]
        mode_weights = [weights(np.tile(mode, (len(data), 1)), constant) for mode in modes]
        likely = np.zeros((len(data), classes))
        for fold, mode in zip(folds, modes, strict=True):
            likely[fold.test] = mode
        commonest.append(hits(likely, truth, data, unknown))
        for name, view_weights in {
            **{name: [view_weights] * len(folds) for name, view_weights in weights_by_name.items()},
            "commonest": mode_weights,
        }.items():
            for caution in ("told", "asked"):
                fit_weights = [weights_by_name["counted"]] * len(folds) if caution == "told" else view_weights
                runs.setdefault(f"{name}: {caution}", []).append(choices(job, folds, view_weights, fit_weights))
        recorded = look_ahead_record["protocols"][PROTOCOL]["seeds"][str(seed)]
        table_runs = {
            row: unpack_predictions(item["said"], np.array(recorded["fold"])) for row, item in recorded["rows"].items()
        }
        runs.setdefault("look_ahead: told", []).append(table_runs["look_ahead"])
        agreement.append(float(np.mean(table_runs["look_ahead_run"] == runs["counted: told"][-1])))
        hits_by_name["commonest"] = np.mean(commonest, axis=0).tolist()
        record |= {"seeds": seed + 1, "same_as_table": agreement, "right": hits_by_name}
        record["rows"] = figures(task, data, {name: np.array(seeds) for name, seeds in runs.items()})
        (HERE / "loops.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


# -- what is predicted -----------------------------------------------------------------------------------------------
def predict_trips(
    trees: StaticProfile, encoder: Encoder, data: TaskData, numbers: Int64, kernels: list[MeasuredKernel] | None
) -> Float64:
    """Chances of `TRIP_CLASSES`, (n, 4): of the samples' IR, or of their ``kernels``' sources. Kept in the cache."""
    grown = (trees.loops.start_, *(getattr(trees.loops.forest_, name) for name in ("column", "cut", "value")))
    cache = Cache(hashlib.sha256(b"".join(array.tobytes() for array in grown)).hexdigest())
    sources = (
        [(item.ir, item.region) for item in data.samples] if kernels is None else [(k.source, k.line) for k in kernels]
    )
    keys = [cache_key("trips", repr(source)) for source in sources]
    kept_trips, chances = cache.get(keys), np.zeros((len(data), len(TRIP_CLASSES)))
    old_keys = set(kept_trips)
    with (
        progress("predicting", len(numbers)) as advance,
        tempfile.TemporaryDirectory() as folder,
        EmbeddedEngine() as engine,
        patch.object(static, "EmbeddedEngine", lambda: nullcontext(engine)),  # one for all: a start is most of the time
    ):
        for row in numbers.tolist():
            if keys[row] not in kept_trips:
                sample = data.samples[row]
                module, loop = _of_source(kernels[row], Path(folder)) if kernels else _of_ir(encoder, sample)
                kept_trips[keys[row]] = trees.predict(module).class_probabilities[loop].astype(np.float64).tobytes()
            once, few, *others = np.frombuffer(kept_trips[keys[row]])
            chances[row] = once + few, *others
            advance()
    cache.put({key: kept_trips[key] for key in kept_trips.keys() - old_keys})
    return chances


def _of_ir(encoder: Encoder, sample: Sample) -> tuple[IRModule, int]:
    assert sample.ir is not None
    assert sample.region is not None
    module = Vectorization().read_sample(encoder, sample.ir)
    return module, find_loop(module, sample.region)


def _of_source(kernel: MeasuredKernel, folder: Path) -> tuple[IRModule, int]:
    path = folder / "kernel.c"
    path.write_text(kernel.source, encoding="utf-8")
    module = read_ir(path, options=ReadOptions(dialect=FRONT_END))
    (loop,) = (row for row, region in enumerate(regions_of(module, "loop").regions) if region.line == kernel.line)
    return module, loop


# -- how a head is asked ---------------------------------------------------------------------------------------------
def places(counts: tuple[int, ...]) -> list[int]:
    """Views of some counts; the first view is of what was counted."""
    return [1 + COUNTS.index(count) for count in counts]


def average(views: list[int], samples: int) -> Float64:
    """The mean over some views, for all samples. (n, V)."""
    return np.tile(np.isin(np.arange(1 + len(COUNTS)), views) / len(views), (samples, 1))


def weights(chances: Float64, constant: Bool) -> Float64:
    """How much each view counts, (n, V): by chances of classes, (n, 4); what was counted where constants say it."""
    view_weights = chances @ np.concatenate([average(places(counts), 1) for counts in TRIP_CLASSES.values()])
    view_weights[constant] = np.eye(view_weights.shape[1])[0]
    return view_weights


def train_members(job: Job, views: list[Settings]) -> list[Fold]:
    """Train the members of the menu once, for all ways to ask."""
    folds, target, matrix = [], job.target, job.features.matrix
    with progress(f"seed {job.seed}", len(job.folds)) as advance:
        for training, test in job.folds:
            head = candidate_search(target.shape(job.features, training), job.seed, target.select)
            assert isinstance(head, HedgingEnsembleHead)
            head.n_choices_ = target.values.shape[1]
            inner = inner_folds(job.unit[training], target.strata[training], job.seed)
            splits = [(training[inner != fold], training[inner == fold]) for fold in np.unique(inner)]
            predictions = {name: np.zeros((len(views), *target.values.shape)) for name, _ in head.members}
            for name, member in head.members:
                for fit_rows, held_out in [*splits, (training, test)]:
                    trained = clone(member).fit(matrix[fit_rows], target.values[fit_rows], views[0].take(fit_rows))
                    for outputs, view in zip(predictions[name], views, strict=True):
                        outputs[held_out] = trained.predict_proba(matrix[held_out], view.take(held_out))
            folds.append(Fold(training, test, head, predictions))
            advance()
    return folds


def choices(job: Job, folds: list[Fold], weights_of_folds: list[Float64], cautious: list[Float64]) -> Int64:
    """Settings of samples that heads did not see, (n,): asked in a way (n, V); members and margin fit for another."""
    costs, chosen = job.target.values, np.zeros(len(job.unit), dtype=np.int64)
    for (training, test, head, predictions), view_weights, caution in zip(
        folds, weights_of_folds, cautious, strict=True
    ):
        held_out = {name: _mean(outputs, caution, training) for name, outputs in predictions.items()}
        counts = head._pick(held_out, costs[training])
        share = {name: count / counts.total() for name, count in counts.items()}
        head._after_search(np.sum([share[name] * held_out[name] for name in share], axis=0), costs[training])
        mean = np.sum([share[name] * _mean(predictions[name], view_weights, test) for name in share], axis=0)
        mean[:, head.default] *= math.exp(SHARPNESS * head.margin_)
        chosen[test] = np.where(np.isfinite(costs[test]), mean, -1.0).argmax(axis=1)
    return chosen


def _mean(predictions: Float64, view_weights: Float64, rows: Int64) -> Float64:
    return np.einsum("nv,vnk->nk", view_weights[rows], predictions[:, rows])


# -- figures ---------------------------------------------------------------------------------------------------------
def hits(likely: Float64, truth: Int64, data: TaskData, numbers: Int64) -> list[float]:
    """How often the class is right: share of samples, and the mean of the shares of structures."""
    is_right = likely.argmax(axis=1)[numbers] == truth[numbers]
    shares = [is_right[data.group[numbers] == group].mean() for group in np.unique(data.group[numbers])]
    return [float(is_right.mean()), float(np.mean(shares))]


def shuffled(truth: Int64, group: Any) -> float:
    """How often the commonest class of a structure would be right if structures told nothing."""
    random, (_, row) = np.random.default_rng(0), np.unique(group, return_inverse=True)
    shares = []
    for _ in range(_SHUFFLES):
        counts = np.zeros((row.max() + 1, len(TRIP_CLASSES)))
        np.add.at(counts, (row, random.permutation(truth)), 1)
        shares.append(counts.max(axis=1).sum() / len(truth))
    return float(np.mean(shares))


def figures(task: Vectorization, data: TaskData, runs: dict[str, Int64]) -> dict[str, Any]:
    """What each way of asking is worth, and how much more than asking with nothing, and than never being told."""
    rows = {}
    for name, run in runs.items():
        nothing = runs[f"nothing: {name.rpartition(': ')[2]}"]
        rivals = {"over_nothing": nothing, "over_look_ahead": runs["look_ahead: told"]}
        rows[name] = worth(task, data, run) | {kind: factor(task, data, run, rival) for kind, rival in rivals.items()}
    return rows


if __name__ == "__main__":
    main()
