"""``mirenc measure``: what each setting costs on this machine, as a table for evaluate and fit."""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from mirenc.base.errors import ConfigError, TaskError
from mirenc.base.writing import only_one
from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.decide.tables.compiled import CompiledTable
    from mirenc.tools.measure.timed import TimedRun
    from mirenc.tools.run.run_folder import Plan

_PASSES = "passes"
_LLVM = 19  # one for all tables of passes, so that any two can be compared; the newest whose -Oz is known pass by pass
_OF_PASSES = ("functions", "modules", "lists", "held_out")
_OF_KERNELS = ("count", "part", "rounds", "compile_only")


def measure(
    context: typer.Context,
    task: Annotated[str, Argument(metavar="TASK", help="Task to measure; passes: a compiler's own.")],
    sources: Annotated[
        list[Path] | None,
        Argument(
            metavar="SOURCE",
            help="Your own kernels, NAME.c with NAME.driver.c beside it. [default: the project's own kernels] "
            "For passes: folders of sources or IR, compile_commands.json, files.",
        ),
    ] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Folder for the table.")] = None,
    count: Annotated[int | None, Option(help="How many of the project's kernels. [default: the task's]", min=1)] = None,
    functions: Annotated[int, Option(help="For passes: at most so many functions.", min=0)] = 20_200,
    modules: Annotated[int, Option(help="For passes: at most so many modules.", min=0)] = 2_010,
    lists: Annotated[int, Option(help="For passes: so many pass lists, -Oz among them.", min=1)] = 100,
    held_out: Annotated[str, Option(help="For passes: projects to be tested on only, as lua,zlib.")] = "",
    seed: Annotated[int, Option(help="Of what is drawn: kernels, pieces, pass lists, order.", min=0)] = 0,
    part: Annotated[
        list[str] | None,
        Option("--part", help="Part of the machine, such as avx2; may be repeated. [default: all it has]"),
    ] = None,
    budget: Annotated[
        float | None,
        Option(metavar="MINUTES", help="Stop after so long, for passes after all is compiled; again goes on.", min=0.0),
    ] = None,
    rounds: Annotated[int, Option(help="Rounds of a sample; a noisy one gets up to four times as many.", min=4)] = 12,
    compile_only: Annotated[
        bool, Option("--compile-only", help="Build everything and time nothing, on a machine that is busy now.")
    ] = False,
    jobs: Annotated[int | None, Option("--jobs", "-j", help="Compilers at once. [default: one a core]", min=1)] = None,
    compiler: Annotated[str | None, Option(help="Compiler of the variants. [default: what the task looks for]")] = None,
    cflags: Annotated[str, Option("--cflags", help="Flags for every variant, as in --cflags='-Iinclude'.")] = "",
) -> None:
    """Build, check and time every setting of a task's kernels on this machine; or let a compiler's passes say sizes.

    Each variant's outputs must be those of the default. Variants run in turns, in random order; a second build of the
    default says how noisy the machine is, and samples with more than 3 % are dropped. Other programs should be closed.

    Ctrl-C stops, and the same command goes on. Then it tries those again that were dropped for noise, thrice in all.
    The table is for `mirenc evaluate TASK --data FOLDER` and `mirenc fit TASK --data FOLDER`.

    `mirenc measure passes` compiles functions and modules at every level and under every pass list. Nothing is timed:
    sizes are exact, and the same command gives the same table anywhere.
    """
    start = time.monotonic()
    whose = "kernels that are timed" if task == _PASSES else "`mirenc measure passes`"
    others = _OF_KERNELS if task == _PASSES else _OF_PASSES
    common.refuse(context, others, f"{task} has no such option, it is of {whose}. Leave it out")
    from mirenc.tools.run.run_folder import Plan

    if output is None:
        raise typer.BadParameter("name a folder for the table", param_hint="--output")
    if str(output) == "-":
        raise ConfigError("output '-': a table is a folder, and cannot go to stdout. Name a folder with -o")
    if output.exists() and not output.is_dir():
        raise ConfigError(f"{output} is a file. Name a folder with -o")
    plan = Plan(
        sources=tuple(sources or ()),
        seed=seed,
        jobs=jobs or os.cpu_count() or 1,
        minutes=math.inf if budget is None else budget,
        count=count or 0,
        rounds=rounds + rounds % 2,
        parts=tuple(part or ()),
        compile_only=compile_only,
        functions=functions,
        modules=modules,
        lists=lists,
        held_out=tuple(held_out.split(",")) if held_out else (),
        compiler=compiler,
        cflags=common.split_flags(cflags),
    )
    if task == _PASSES and not plan.sources:
        raise typer.BadParameter(
            "give sources: a folder, a compile_commands.json, or files of C, C++ or IR",
            param_hint="SOURCE",
        )
    if task == _PASSES:
        _measure_passes(plan, output)
    else:
        _measure_kernels(task, plan, output, start)


def _measure_kernels(task: str, plan: Plan, output: Path, start: float) -> None:
    from mirenc.base.deadline import within
    from mirenc.tools.measure.method import get_method
    from mirenc.tools.measure.timed import TimedRun

    method = get_method(task)
    toolchain = method.find_compiler(plan.compiler)
    toolchain = replace(toolchain, cflags=(*toolchain.cflags, *plan.cflags))
    with only_one(output):
        run = TimedRun(method, toolchain, replace(plan, count=plan.count or method.default_count), output)
        before = len(run.left)
        _say_there(before, len(run.samples), "samples")
        try:
            spent = time.monotonic() - start
            with within(60 * plan.minutes - spent), common.progress(f"{task}, samples", before) as advance:
                run.go(advance)
        finally:  # after Ctrl-C, too
            _say_done(run, before)
        _deliver(run, before)


def _deliver(run: TimedRun, wanted: int) -> None:
    """Say where the table is, and name what of the user's is not in it. Raises TaskError: the table has no sample."""
    from mirenc.tools.measure.timed import MAX_TRIES

    table = run.table()
    if run.plan.compile_only:
        problems, total = run.not_built, wanted
    else:
        if not table.samples:
            raise TaskError(f"the time was up before any of {len(run.samples)} samples. Give --budget more minutes")
        if not table.machine["samples"]:
            advice = "Mend the source or its driver, and type the same again"
            if any(sample.dropped.startswith("noise") for sample in table.samples):
                advice = "Where it is noise, close other programs or give more --rounds, and type the same again"
                advice += f"; after {MAX_TRIES} tries, with another folder"
            raise TaskError(f"no sample was measured; the first one: {table.samples[0].dropped}. {advice}")
        common.say(f"wrote {run.folder}")
        dropped = [one for one in table.samples if one.dropped and not one.dropped.startswith("noise")]
        problems = [f"{f'{one.kernel} {one.part}'.strip()}: {one.dropped}" for one in dropped]
        total = len(table.samples)
    if run.plan.sources:
        errors = (TaskError(f"{problem}. Mend the source or its driver") for problem in problems)
        common.Failures(total, errors).finish()


def _measure_passes(plan: Plan, output: Path) -> None:
    from mirenc.llvm.passes.engines import SharedEngine
    from mirenc.tools.measure.passes.run import PassRun

    failures = common.Failures(0)  # how many files there are is known later
    run = PassRun(plan, output, lambda: SharedEngine(_LLVM), common.say, failures.add)
    with only_one(output):
        run.prepare()
        left = len(run.left)
        _say_there(left, len(run.pieces), "pieces")
        try:
            with common.progress("passes, pieces", left) as advance:
                run.go(advance)
        finally:
            table = run.save()
            _say_labelled(table)
        if not table.pieces:
            if run.left:
                raise TaskError(f"the time was up before any of {len(run.pieces)} pieces. Give --budget more minutes")
            why = ", ".join(f"{count} x {reason}" for reason, count in table.record["dropped"].items())
            raise TaskError(f"no piece could be compiled: {why}. Give IR that {run.setup['engine']} reads")
        common.say(f"wrote {run.folder}")
    failures.total, failures.empty = run.files + failures.count - run.unread, run.empty
    failures.finish()


def _say_there(left: int, total: int, what: str) -> None:
    if left < total:
        common.say(f"{total - left} of {total} {what} are there already")


def _say_done(run: TimedRun, wanted: int) -> None:
    if run.plan.compile_only:
        failed = f", {len(run.not_built)} cannot be built; the first one: {run.not_built[0]}" if run.not_built else ""
        common.say(f"built {run.built} of {wanted} samples{failed}")
        if run.built + len(run.not_built) < wanted:
            common.say("the same command builds the rest")
        if run.built:
            common.say("without --compile-only it times them")
        return
    record = run.table().machine
    kept = f"{record['samples']} samples of {record['kernels']} kernels in {record['groups']} groups"
    dropped = f"dropped {record['dropped_for_noise']} for noise, {record['dropped_otherwise']} otherwise"
    common.say(f"{kept}; {dropped}; {len(run.new)} left")
    common.say("cells: " + (", ".join(f"{number} {status}" for status, number in record["cells"].items()) or "none"))
    if spread := record["noise"]:
        median, most = (f"{100 * spread[share]:.2f} %" for share in ("p50", "p90"))
        common.say(f"noise (two copies of the default): median {median}, 90 of 100 samples below {most}")


def _say_labelled(table: CompiledTable) -> None:
    import numpy as np

    record = table.record
    dropped = sum(record["dropped"].values())
    common.say(
        f"{record['functions']} functions and {record['modules']} modules of {record['projects']} projects "
        f"({len(record['held_out_projects'])} of them to be tested on only); dropped {dropped}; {record['left']} left"
    )
    common.say("lists: " + (", ".join(f"{count} {status}" for status, count in record["cells"].items()) or "none"))
    if winners := record["winners"]:
        common.say(f"a list beats -Oz for {winners['better_than_oz']} pieces")
    strong, weak = (table.levels[level].code_bytes for level in ("Oz", "Oz_plain"))
    if table.pieces and np.array_equal(strong, weak, equal_nan=True):
        found = "no piece is smaller for minsize, so this -Oz is the weak baseline"
        common.say(f"{found}. For the other one compile with: {' '.join(record['flags'])}")
