"""Each measured task in miniature: a few kernels from their sources to an answer, by the words that a user types."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import Run

from mirenc.decide.registry import get_task, list_tasks
from mirenc.decide.settings import Space
from mirenc.decide.tables.measured import MeasuredTask
from mirenc.decide.tasks import block_size as block_shapes
from mirenc.decide.tasks.openmp import openmp_space
from mirenc.decide.tasks.vectorization import Vectorization
from mirenc.tools.measure import block_size, openmp, timekeeper
from mirenc.tools.measure.block_size import CUDA, BlockSizeMethod
from mirenc.tools.measure.openmp import OpenMPMethod

MODEL = ("--model", "mirenc-tiny")

LOOPS = """\
void work(long n, double *restrict x, const double *restrict y)
{
    for (long i = 0; i < n; i++)
        x[i] = y[i] + 1;
    for (long i = 0; i < 8; i++)
        x[i] = x[i] < 0 ? 0 : x[i];
}
"""
THREADS = """\
void work(long n, double *restrict x, const double *restrict y)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        x[i] = BODY;
}
"""
DRIVER = """\
#include "mirenc_measure.h"
const char mirenc_function[] = "work";
const long mirenc_sizes[] = {100, 0};
const char mirenc_types[] = "d";
static double x[100], y[100];
int mirenc_setup(long size) { for (long i = 0; i < size; i++) y[i] = i; return 0; }
void mirenc_reset(void) { for (long i = 0; i < 100; i++) x[i] = 0; }
void mirenc_call(mirenc_kernel kernel) { ((void (*)(long, double *, const double *))kernel)(100, x, y); }
long mirenc_output(int index, void **data) { *data = x; return index == 0 ? 100 : -1; }
"""
WORK_ITEMS = """\
kernel void work(global float *y, const int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = BODY;
}
"""
WORK_ITEMS_DRIVER = """\
kernel = "work"
sizes = [100]
global = ["n"]
[[argument]]
name = "y"
buffer = "float"
count = "n"
output = true
[[argument]]
name = "n"
scalar = "int"
value = "n"
"""


@dataclass(frozen=True)
class Walk:
    """What the steps of one way through the command line said."""

    measured: str
    evaluated: str
    records: list[dict[str, Any]]
    answers: list[dict[str, Any]]

    def judged(self, protocol: str, samples: int) -> None:
        """One record is of this protocol, and its rows answered every sample."""
        (record,) = (one for one in self.records if protocol in one["protocols"])
        seed = record["protocols"][protocol]["seeds"]["0"]
        assert {"no_code", "both"} <= set(seed["rows"])
        assert {len(row["said"]) for row in seed["rows"].values()} == {samples}


@pytest.fixture
def walk(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Walk]:
    """Measure, evaluate, fit and ask; how noisy the machine is decides nothing here."""
    monkeypatch.setattr(timekeeper, "MAX_NOISE", 1e9)
    table, head = tmp_path / "table", tmp_path / "head"

    def went(task: str, *sources: Path, part: str = "", options: tuple[object, ...] = ()) -> Walk:
        parts = ("--part", part) if part else ()
        measured = run("measure", task, *sources, "-o", table, "--rounds", 4, "--jobs", 1, *parts)
        assert measured.code == 0, measured.err
        rows = ("--row", "no_code", "--row", "both", "--seeds", 1)
        records = run("evaluate", task, "--data", table, *rows, *MODEL, "--json")
        assert records.code == 0, records.err
        fitted = run("fit", task, "--data", table, "-o", head, *MODEL)
        assert fitted.code == 0, fitted.err
        answers = run("predict", task, sources[0], "--head", head, *MODEL, "--json", *options)
        assert answers.code == 0, answers.err
        lines = [json.loads(line) for line in answers.out.splitlines()]
        return Walk(measured.err, records.err, json.loads(records.out), lines)

    return went


@pytest.mark.needs("clang")
def test_vectorization(walk: Callable[..., Walk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space(Vectorization.space.knobs, ((0, 0), (1, 1), (4, 1), (2, 2)), missing="never")
    monkeypatch.setattr(Vectorization, "space", space)
    (tmp_path / "mine.c").write_text(LOOPS)
    (tmp_path / "mine.driver.c").write_text(DRIVER)
    walked = walk("vectorization", tmp_path / "mine.c", part="sse2", options=("--context", "vector_bits=128"))
    assert "2 samples of 2 kernels in 2 groups; dropped 0 for noise, 0 otherwise; 0 left" in walked.measured
    walked.judged("structure", 2)
    assert "left out: family, as all samples are of 'mine'" in walked.evaluated
    assert [answer["region"]["line"] for answer in walked.answers] == [3, 5]
    assert {answer["choice"] for answer in walked.answers} <= set(space.names)


@pytest.mark.needs("libomp")
def test_openmp(walk: Callable[..., Walk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmp, "_cores", lambda: 2)  # one will do: this compares nothing
    full_space = openmp_space(2)
    space = Space(
        full_space.knobs, (full_space.settings[0], full_space.settings[2], full_space.settings[10]), missing="never"
    )
    monkeypatch.setattr(OpenMPMethod, "space", space)
    sources = [tmp_path / f"{name}.c" for name in ("sum", "root")]
    for source, body in zip(sources, ("y[i] + 1", "__builtin_sqrt(y[i])"), strict=True):
        source.write_text(THREADS.replace("BODY", body))
        source.with_suffix(".driver.c").write_text(DRIVER)
    walked = walk("openmp", *sources, options=("--context", "n=500"))
    assert "2 samples of 2 kernels in 2 groups" in walked.measured
    assert "cells: 6 ok" in walked.measured
    walked.judged("kernel", 2)
    walked.judged("family", 2)
    (answer,) = walked.answers
    assert answer["region"]["line"] == 3
    assert answer["choice"] in full_space.names
    assert min(answer["seconds"].values()) > 0


@pytest.mark.needs("clang")
@pytest.mark.needs("OpenCL")
def test_block_size(walk: Callable[..., Walk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space(block_shapes.KNOBS, ((16, 1), (32, 1), (64, 1)), default=2, missing="default")
    for module in (block_shapes, block_size):
        monkeypatch.setattr(module, "block_space", lambda *_: space)
    sources = [tmp_path / f"{name}.cl" for name in ("sum", "root")]
    for source, body in zip(sources, ("i + 1", "sqrt((float)i)"), strict=True):
        source.write_text(WORK_ITEMS.replace("BODY", body))
        source.with_suffix(".driver.toml").write_text(WORK_ITEMS_DRIVER)
    part = next(part for part in BlockSizeMethod().parts() if part != CUDA)
    walked = walk("block_size", *sources, part=part, options=("--kernel", "work", "--context", "n=500"))
    assert "2 samples of 2 kernels in 2 groups" in walked.measured
    assert "cells: 6 ok" in walked.measured
    walked.judged("kernel", 2)
    walked.judged("family", 2)
    (answer,) = walked.answers
    assert answer["choice"] in space.names
    assert answer["restriction"].startswith("block_size_x in [")


def test_every_measured_task_walks() -> None:
    measured = {name for name in list_tasks() if isinstance(get_task(name), MeasuredTask)}
    assert measured <= {name.removeprefix("test_") for name in globals()}
