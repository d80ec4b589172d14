"""``mirenc tune``: a program tuned on this machine, by its own build and its own run."""

from __future__ import annotations

import math
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
    from mirenc.llvm import ReadOptions
    from mirenc.tools.tune.tuning_case import Case

_PASS_LIST = "pass_list"
_TASKS = ("vectorization", "openmp", _PASS_LIST)
_SOURCES = "Tune only what is in these sources. [default: all that the run executes]"
_BUILD = "Command that builds the program, with $CC or the clang on PATH. [required]"
_RUN = "Command that runs the program; its time is measured. [required]"
_CHECK = "Command whose output must stay the same. [default: that of --run]"
_OUTPUT = "Folder for a report, and a patch or script. [required]"
_LOOPS = "How many loops, or files for pass_list, are tuned, the hottest first."


@common.reads
def tune(
    ctx: typer.Context,
    task: Annotated[str, Argument(metavar="TASK", help=f"{', '.join(_TASKS[:-1])} or {_TASKS[-1]}.")],
    sources: Annotated[list[Path] | None, Argument(metavar="SOURCE", help=_SOURCES)] = None,
    build: Annotated[str, Option(metavar="COMMAND", help=_BUILD)] = "",
    run: Annotated[str, Option(metavar="COMMAND", help=_RUN)] = "",
    check: Annotated[str, Option(metavar="COMMAND", help=_CHECK)] = "",
    output: Annotated[Path | None, Option("--output", "-o", metavar="FOLDER", help=_OUTPUT)] = None,
    loops: Annotated[int, Option(help=_LOOPS, min=1)] = 8,
    tries: Annotated[int, Option(help="How many settings of the head are tried for each loop or file.", min=1)] = 3,
    rounds: Annotated[int, Option(help="Rounds of timing in a comparison.", min=4)] = 12,
    budget: common.Budget = None,
    *,
    options: common.Reading,
) -> None:
    """Find where a program spends its time, try a few settings there, and keep what is surely faster.

    With the TASK vectorization, mirenc sets pragmas on innermost loops; with openmp, it sets threads and schedules of
    parallel loops; with pass_list, it chooses LLVM's pass lists, for the whole program and for hot files.

    The program is profiled by one run. A head (a small trained model), which is told how often each loop runs, proposes
    settings; mirenc adds settings that people try by hand. Each setting is built and timed in alternation with the
    original build, and its output must be the same. What beats the noise in two separate comparisons is kept. At the
    end, all kept settings together are timed against the original build.

    Your sources are never changed. FOLDER gets a report and a patch; for pass_list, a script to use as the compiler. A
    build or run that takes ten times as long as the original is stopped. After Ctrl-C, the same command goes on. To
    make code smaller instead of faster, type `mirenc suggest FILE --try`.

    mirenc tune vectorization --build 'clang -O3 loop.c -o loop' --run ./loop -o tuned
    mirenc tune pass_list --build 'clang -O2 loop.c -o loop' --run ./loop -o faster --budget 5
    """
    if task == "passes":
        advice = f". To make code smaller, type: mirenc suggest {sources[0]} --try" if sources and not build else ""
        raise TaskError(f"tune has no task 'passes'. To make a program faster, type: mirenc tune {_PASS_LIST}{advice}")
    if task not in _TASKS:
        raise TaskError(f"cannot tune {task!r}; available: {', '.join(_TASKS)}. Type: mirenc tune {_TASKS[0]}")
    for name, value in (("--build", build), ("--run", run), ("--output", output)):
        if not value:
            ctx.fail(f"Missing option {name}, as in --build 'make' --run './bench' -o tuned")
    assert output is not None
    if output.exists() and not output.is_dir():
        raise ConfigError(f"{output} is a file. Name a folder with -o")
    start = time.monotonic()
    from mirenc.base.deadline import TimeUpError, within
    from mirenc.tools.run.run_folder import Plan
    from mirenc.tools.tune.report import PATCH, TEXT, summary, write_report
    from mirenc.tools.tune.tuning_run import Order, Tuning, too_late

    order = Order(build, run, check, tuple(sources or ()), loops, tries, rounds)
    plan = Plan(minutes=math.inf if budget is None else budget)
    with only_one(output):
        # The time that the report takes at the end is about that of these imports, which is not counted.
        with within(60 * plan.minutes - (time.monotonic() - start)):
            try:
                tuning = Tuning(order, _case(task, options), Path.cwd(), output.resolve(), plan, common.say)
            except TimeUpError:
                raise too_late(plan.minutes, "the search for a compiler") from None
            remaining = tuning.find()
            case, share = tuning.case, min(1.0, sum(directive.share for directive in tuning.directives))
            common.say(
                f"a run takes {tuning.seconds:.2f} s. Settings are tried on {len(tuning.directives)} {case.places_are} "
                f"that do {100 * share:.0f} % of {case.work_is}; {remaining} of these are still to be tried"
            )
            with common.progress(f"tuning, {case.places_are}", remaining) as advance:
                tuning.go(advance)
        write_report(tuning)
    typer.echo(summary(tuning))
    if tuning.kept_settings:
        typer.echo(f"to use the result, type: {case.take_over(output, PATCH)}")
    common.say(f"wrote {output / TEXT}")


def _case(name: str, options: ReadOptions) -> Case:
    from mirenc.decide.registry import get_task
    from mirenc.decide.task_head import TaskHead, ready_heads
    from mirenc.encoder import load
    from mirenc.tools.run.compilers import find_clang
    from mirenc.tools.tune.compiler import PassLists
    from mirenc.tools.tune.loops import Loops
    from mirenc.tools.tune.parallel_loops import ParallelLoops

    kinds: dict[str, type[Case]] = {"vectorization": Loops, "openmp": ParallelLoops, _PASS_LIST: PassLists}
    task = get_task("vectorization" if name == _PASS_LIST else name)  # innermost loops tell which files are hot
    head = TaskHead.load(next(iter((ready_heads(task, look_ahead=True) or ready_heads(task)).values())), task)
    head = replace(head, encoder=load(head.model, options=options))
    clang = find_clang(options.compiler, "tuning needs a clang, which profiles a run; zig does not", "clang")
    return kinds[name](head, clang, Path.cwd())
