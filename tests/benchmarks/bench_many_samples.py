"""The seam with 10,000 samples of 640 columns: an evaluation by groups, time and peak memory.

    python tests/benchmarks/bench_many_samples.py                 # 35 settings of two knobs, and a number
    python tests/benchmarks/bench_many_samples.py --samples 2000 --jobs 1

The data are made up: 1,000 kernels of ten samples, a few directions of the embedding say which setting suits. What
is looked at is whether it runs in minutes and in how much memory; that it learns is shown beside.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from mirenc.decide.evaluation.evaluate_task import Evaluation
from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData

SPACE = Space.product(
    {"vectorization_factor": (1, 2, 4, 8, 16, 32, 64), "interleave_factor": (1, 2, 4, 8, 16)},
    default={"vectorization_factor": 4, "interleave_factor": 1},
)
PROTOCOL = Protocol("kernel", "grouped by kernel, 5-fold", lambda data: data.group, folds=5)


class Many(Task):
    """Made-up loops."""

    name, title, source = "many", "made-up loops", "this benchmark"
    space = SPACE
    protocols = (PROTOCOL,)
    select = "speedup"

    def load(self, data_dir: object = None, variant: str = "") -> TaskData:
        raise NotImplementedError


class Counted(Many):
    """Made-up sizes."""

    name, title, space, target = "counted", "made-up sizes", None, "number"


def main() -> None:
    """Run both tasks and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=640)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    kernel = np.arange(arguments.samples) // 10
    middle = rng.normal(size=(kernel.max() + 1, arguments.columns))
    matrix = middle[kernel] + 0.3 * rng.normal(size=(arguments.samples, arguments.columns))
    hidden = matrix @ rng.normal(size=(arguments.columns, 3)) / np.sqrt(arguments.columns)
    knobs = np.log2(np.array(SPACE.settings, dtype=np.float64))  # (K, 2)
    best_knobs = np.stack([3 + 1.5 * hidden[:, 0], 1.5 + hidden[:, 1]], axis=1)  # (n, 2)
    cost = np.exp(
        0.05 * ((knobs[None] - best_knobs[:, None]) ** 2).sum(axis=2) + 0.02 * rng.normal(size=(arguments.samples, 35))
    )
    model = {"name": "made up", "digest": "0"}
    features = [Features("both", matrix, 0)]
    size = hidden[:, 0] + np.abs(hidden[:, 2])  # (n,)
    for task in (Many(), Counted()):
        targets = [{"costs": tuple(row)} for row in cost] if task.space else [{"value": float(one)} for one in size]
        samples = [
            Sample(f"s{row}", f"ir {row}", f"k{kernel[row]}", **target)
            for row, target in enumerate(targets)  # type: ignore[arg-type]
        ]
        start = time.perf_counter()
        report = Evaluation(task, TaskData(samples, task.space), "", model, features).run(
            seeds=(0,), jobs=arguments.jobs
        )
        seconds = time.perf_counter() - start
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(report)
        shape = f"{arguments.samples} samples x {arguments.columns}"
        print(f"{task.title}, {shape}: {seconds:.0f} s, peak {peak / 2**10:.0f} MiB a process")


if __name__ == "__main__":
    main()
