"""``mirenc measure``: what each setting costs on this machine, as a table for evaluate and fit."""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from mirenc.base.errors import TaskError
from mirenc.base.writing import only_one
from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.tools.measure.timed import TimedRun

_SOURCES = "Kernels of your own, NAME.c with NAME.driver.c beside it. [default: the kernels that come with mirenc]"
_COUNT = "How many of mirenc's kernels to measure. [default: as the task says]"
_PART = "Instruction set or device to measure on, such as avx2. Can be repeated. [default: all there are]"
_ROUNDS = "Rounds of timing for each sample; a noisy one gets up to four times as many."
_COMPILE_ONLY = "Build every variant and time none, for a machine that is busy now."
_COMPILER = "The compiler that builds the variants. [default: the first suitable one on PATH]"
_CFLAGS = "Compiler flags for every variant, such as --cflags='-Iinclude'."


def measure(
    task: Annotated[str, Argument(metavar="TASK", help="A task whose kernels are timed (`mirenc tasks`).")],
    sources: Annotated[list[Path] | None, Argument(metavar="SOURCE", help=_SOURCES)] = None,
    output: common.TableFolder = None,
    count: Annotated[int | None, Option(help=_COUNT, min=1)] = None,
    part: Annotated[list[str] | None, Option(help=_PART)] = None,
    budget: common.Budget = None,
    rounds: Annotated[int, Option(help=_ROUNDS, min=4)] = 12,
    compile_only: Annotated[bool, Option("--compile-only", help=_COMPILE_ONLY)] = False,
    jobs: common.Jobs = None,
    compiler: Annotated[str | None, Option(help=_COMPILER)] = None,
    cflags: Annotated[str, Option("--cflags", help=_CFLAGS)] = "",
) -> None:
    """Build a task's kernels with every setting that the task chooses among, check their outputs, and time them here.

    A variant is a kernel built with one setting; its outputs must equal those of the default setting. All variants are
    timed in rounds, each in a new random order. The default is built twice: if the times of these two differ by more
    than 3 %, the sample (a kernel with all its settings) is dropped as noisy. Close other programs.

    After Ctrl-C, the same command goes on. It also measures noisy samples again, each at most three times in all. Use
    the table with `mirenc evaluate TASK --data FOLDER` and `mirenc fit TASK --data FOLDER`.

    mirenc measure vectorization -o table --count 2 --compile-only
    mirenc measure vectorization -o table --count 2 --budget 1
    """
    start = time.monotonic()
    if task == "passes":
        raise TaskError("passes are labelled by another command. Type: mirenc label SOURCE... -o FOLDER")
    folder = common.table_folder(output)
    from mirenc.base.deadline import within
    from mirenc.tools.measure.method import get_method
    from mirenc.tools.measure.timed import TimedRun
    from mirenc.tools.run.run_folder import Plan

    method = get_method(task)
    plan = Plan(
        sources=tuple(sources or ()),
        jobs=jobs or os.cpu_count() or 1,
        minutes=math.inf if budget is None else budget,
        count=count or method.default_count,
        rounds=rounds + rounds % 2,
        parts=tuple(part or ()),
        compile_only=compile_only,
        compiler=compiler,
        cflags=common.split_flags(cflags),
    )
    toolchain = method.find_compiler(compiler)
    toolchain = replace(toolchain, cflags=(*toolchain.cflags, *plan.cflags))
    with only_one(folder):
        run = TimedRun(method, toolchain, plan, folder)
        remaining = len(run.left)
        common.say_resumed(remaining, len(run.samples), "samples")
        try:
            elapsed = time.monotonic() - start
            with within(60 * plan.minutes - elapsed), common.progress(f"{task}, samples", remaining) as advance:
                run.go(advance)
        finally:  # after Ctrl-C, too
            _say_done(run, remaining)
        _deliver(run, remaining)


def _deliver(run: TimedRun, requested: int) -> None:
    """Say where the table is, and name what of the user's is not in it. Raises TaskError: the table has no sample."""
    from mirenc.tools.measure.timed import MAX_TRIES

    table = run.table()
    if run.plan.compile_only:
        problems, total = run.not_built, requested
    else:
        if not table.samples:
            problem = f"--budget was used up before any of {len(run.samples)} samples was done"
            raise TaskError(f"{problem}. Give more minutes")
        if not table.machine["samples"]:
            advice = "Mend the source or its driver, and run the same command again"
            if any(sample.dropped.startswith("noise") for sample in table.samples):
                advice = "If the reason is noise, close other programs or give more --rounds, and run the same command "
                advice += f"again; after {MAX_TRIES} tries, with another folder"
            raise TaskError(f"no sample was kept; reason for the first: {table.samples[0].dropped}. {advice}")
        common.say(f"wrote {run.folder}")
        dropped_samples = [item for item in table.samples if item.dropped and not item.dropped.startswith("noise")]
        problems = [f"{f'{item.kernel} {item.part}'.strip()}: {item.dropped}" for item in dropped_samples]
        total = len(table.samples)
    if run.plan.sources:
        errors = (TaskError(f"{problem}. Mend the source or its driver") for problem in problems)
        common.Failures(total, errors).finish()


def _say_done(run: TimedRun, requested: int) -> None:
    if run.plan.compile_only:
        unbuilt = f", {len(run.not_built)} cannot be built; the first one: {run.not_built[0]}" if run.not_built else ""
        common.say(f"built {run.built} of {requested} samples{unbuilt}")
        if run.built + len(run.not_built) < requested:
            common.say("the same command builds the rest")
        if run.built:
            common.say("without --compile-only it times them")
        return
    record = run.table().machine
    samples = f"{record['samples']} samples of {record['kernels']} kernels in {record['groups']} groups"
    dropped_text = f"dropped {record['dropped_for_noise']} for noise, {record['dropped_otherwise']} otherwise"
    common.say(f"{samples}; {dropped_text}; {len(run.new)} left")
    common.say("cells: " + (", ".join(f"{number} {status}" for status, number in record["cells"].items()) or "none"))
    if spread := record["noise"]:
        median, p90 = (f"{100 * spread[share]:.2f} %" for share in ("p50", "p90"))
        common.say(f"noise (two copies of the default): median {median}, 90 of 100 samples below {p90}")
