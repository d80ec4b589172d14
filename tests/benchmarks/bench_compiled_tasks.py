"""Heads of the tasks over tables of passes: 20,000 samples of 650 columns, one core, one split.

    taskset -c 1 python tests/benchmarks/bench_compiled_tasks.py
    taskset -c 1 python tests/benchmarks/bench_compiled_tasks.py --samples 2000 --columns 60

The data are made up: 60 projects, every sample a kernel of its own; a few directions of the columns say what happens.
What is looked at is how long a search and its training take: a number, 60 labels, a choice among 50 lists.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from threadpoolctl import threadpool_limits

from mirenc.decide.estimators.chooser import Settings
from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.metrics import label_figures, number_figures
from mirenc.decide.target import CostTarget, Target

LABELS, LISTS, PROJECTS = 60, 50, 60


def main() -> None:
    """Train a head of each target and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=650)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    count = arguments.samples
    context = np.stack([rng.normal(4, 1, count), rng.random(count) < 0.1], axis=1)
    code = rng.normal(size=(count, arguments.columns - 2)) * np.exp(-np.arange(arguments.columns - 2) / 100)
    hidden = code @ rng.normal(size=(arguments.columns - 2, 8))
    hidden /= hidden.std(axis=0)
    features = Features("both", np.concatenate([context, code], axis=1), 2)
    number = context[:, 0] + np.maximum(hidden[:, 0], 0) + 0.3 * rng.normal(size=count)
    labels = (hidden @ rng.normal(size=(8, LABELS)) + rng.normal(size=(count, LABELS)) > 1).astype(np.float64)
    costs = np.exp(0.05 * hidden @ rng.normal(size=(8, LISTS)) + 0.02 * rng.normal(size=(count, LISTS)))
    group = np.array([f"p{row % PROJECTS}" for row in range(count)])
    kernel = np.array([f"k{row}" for row in range(count)])
    none = np.zeros(count, dtype=np.int64)
    settings = Settings(np.eye(LISTS), np.tile(np.arange(LISTS), (count, 1)))
    goals = {
        "a number": Target(number, none, group, kernel, "accuracy"),
        f"{LABELS} labels": Target(labels, none, group, kernel, "accuracy"),
        f"{LISTS} lists": CostTarget(costs, costs.argmin(axis=1), group, kernel, "speedup", settings, none),
    }
    test = np.arange(count) % PROJECTS % 5 == 0
    training, test = np.flatnonzero(~test), np.flatnonzero(test)
    for title, goal in goals.items():
        start = time.perf_counter()
        with threadpool_limits(1):
            head = goal.fit(features, training, group, 0)
        trained = time.perf_counter()
        predictions = goal.predict(head, features, test)
        seconds = time.perf_counter() - trained
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        if isinstance(goal, CostTarget):
            chosen = costs[test, predictions.argmax(axis=1)]
            worth = f"{np.exp(-np.log(chosen).mean()):.3f} times smaller than 1"
            worth += f", best {np.exp(-np.log(costs[test].min(axis=1)).mean()):.3f}"
        elif predictions.ndim == 1:
            worth = f"R2 {number_figures(number[test], predictions)['r2']:.3f}"
        else:
            worth = f"mean AUC {label_figures(labels[test] > 0, predictions)['auc']:.3f}"
        print(f"{title}: search and training {trained - start:.0f} s, {len(test)} answers {seconds:.1f} s, {worth}")
        print(f"  {head.weights_}, peak {peak:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
