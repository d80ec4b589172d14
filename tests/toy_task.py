"""A toy task with its data, report and models, and the published data where they are: fixtures of four folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_model import random_weights

import mirenc
from mirenc.decide.context import Context
from mirenc.decide.evaluation.evaluate_task import evaluate
from mirenc.decide.evaluation.report import TaskReport
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder, load
from mirenc.encoder.weights import save_files
from mirenc.model.config import ModelConfig, TaughtConfig
from mirenc.model.tokenizer import IRTokenizer


class Toy(Task):
    """Ten kernels under four lengths: those that multiply run best unrolled, those that add run best plain.

    The context feature tells nothing about it, so without code half of the kernels are lost when they are held out.
    """

    name = "toy"
    title = "made-up unrolling"
    source = "these tests"
    space = Space(("unroll",), (("plain",), ("unrolled",), ("vector",)), missing="below")
    context = Context("length")
    protocols = (
        Protocol("rows", "by rows (leaks)", lambda data: np.arange(len(data)), folds=4),
        Protocol("kernel", "by kernel", lambda data: data.group, folds=4),
        Protocol("suite", "leave one suite out", lambda data: data.suite, folds=None),
    )
    baselines = {"always unrolled": 1}  # noqa: RUF012 - a ClassVar by its base
    hand_feature_names = ("operations",)

    def samples(self, folder: Path, variant: str) -> Iterator[Sample]:
        for number in range(10):
            operation = "mul" if number % 2 else "add"
            for length in (8, 64, 512, 4096):
                yield Sample(
                    name=f"k{number}/{length}",
                    ir=kernel(operation, number + 3),
                    group=f"k{number}",
                    context=(length,),
                    # The vector form was never run on short input.
                    costs=(2.0, 1.0 if number % 2 else 4.0, 3.0 if length > 100 else np.nan),
                    suite="first" if number < 6 else "second",
                    part="long" if length > 100 else "short",
                    hand_features=(float(number + 3),),
                )


def kernel(operation: str, count: int) -> str:
    """IR of a function of ``count`` operations and a return."""
    body = "".join(f"  %v{step} = {operation} i32 %x, {step + 2}\n" for step in range(count))
    return f"define i32 @f(i32 %x) {{\n{body}  ret i32 %v{count - 1}\n}}\n"


@pytest.fixture(scope="session")
def tiny() -> Encoder:
    return mirenc.load("mirenc-tiny", cache=False)


@pytest.fixture(scope="session")
def toy() -> Task:
    return Toy()


@pytest.fixture(scope="session")
def toy_data(toy: Task) -> TaskData:
    return toy.load()


@pytest.fixture(scope="session")
def toy_report(toy: Task, tiny: Encoder) -> TaskReport:
    """Two seeds, all protocols, without code and with the histogram."""
    return evaluate(toy, encoder=tiny, rows=["no_code", "histogram"], seeds=(0, 1))


@pytest.fixture(scope="session")
def published() -> str:
    """The folder of the published data; without it the test is skipped."""
    folder = os.environ.get("MIRENC_DATA", "")
    if not folder:
        pytest.skip("MIRENC_DATA is not set; it names the folder of the published datasets")
    return folder


@pytest.fixture(scope="session")
def published_data(request: pytest.FixtureRequest) -> Any:
    """``(task, variant) -> TaskData``, each read once; a task without a published data set knows where its own are."""
    loaded: dict[tuple[str, str], TaskData] = {}

    def read(task: str, variant: str = "") -> TaskData:
        if (task, variant) not in loaded:
            task_found = mirenc.decide.get_task(task)
            if (task, variant) == ("numa_prefetch", "conf2"):
                pytest.skip("the second table is nobody's here; tests of its own make one up")
            folder = request.getfixturevalue("published") if task_found.dataset or task.endswith("_published") else None
            loaded[task, variant] = task_found.load(folder, variant)
        return loaded[task, variant]

    return read


@pytest.fixture(scope="session")
def taught(model_config: ModelConfig, tokenizer: IRTokenizer, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    """A model with a trunk that a compiler's answers are read from."""
    config = model_config.model_copy(update={"taught": TaughtConfig(width=20, hidden=28)})
    folder = tmp_path_factory.mktemp("models") / "taught"
    save_files(folder, name="taught", config=config, tokenizer=tokenizer, weights=random_weights(config))
    return load(folder, cache=False)
