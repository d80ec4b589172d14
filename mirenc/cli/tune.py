"""``mirenc tune``: a program's hot loops tuned on this machine, by its own build and its own run."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from mirenc.cli import common
from mirenc.errors import ConfigError, TaskError
from mirenc.writing import only_one


@common.reads
def tune(
    task: Annotated[str, Argument(metavar="TASK", help="vectorization.")],
    sources: Annotated[
        list[Path] | None, Argument(metavar="SOURCE", help="Tune loops of these only. [default: all that run]")
    ] = None,
    build: Annotated[str, Option(metavar="COMMAND", help="Builds the program, with CC or clang on PATH.")] = "",
    run: Annotated[str, Option(metavar="COMMAND", help="Runs it: what is to be faster.")] = "",
    check: Annotated[
        str, Option(metavar="COMMAND", help="Prints what must stay the same. [default: what --run prints]")
    ] = "",
    output: Annotated[Path | None, Option("--output", "-o", help="Folder for report and patch.")] = None,
    loops: Annotated[int, Option(help="So many loops, the hottest first.", min=1)] = 8,
    tries: Annotated[int, Option(help="Settings tried for each.", min=1)] = 3,
    rounds: Annotated[int, Option(help="Rounds of a comparison.", min=4)] = 12,
    budget: Annotated[
        float | None, Option(metavar="MINUTES", help="Begin no loop after so long; again goes on.", min=0.0)
    ] = None,
    *,
    options: common.Reading,
) -> None:
    """Find the hot loops of a program, try a few pragmas on each, and keep what is surely faster.

    A first build is profiled by one run. For each hot loop a head proposes settings, knowing how often the loop runs
    and what each setting makes of it. They are built and timed in turns; the output must stay the same. What is faster
    by more than the noise, twice, is kept, and in the end all together are timed against the build as it was.

    Sources are never written: the folder gets a patch and a report, as HTML and Markdown. Ctrl-C stops, and the same
    command goes on. Pass lists: `mirenc suggest --try`.
    """
    for name, value in (("--build", build), ("--run", run), ("--output", output)):
        if not value:
            raise typer.BadParameter("is needed: --build 'make' --run './bench' -o tuned", param_hint=name)
    assert output is not None
    if output.exists() and not output.is_dir():
        raise ConfigError(f"{output} is a file. Name a folder with -o")
    from mirenc.deciding import TaskHead, ready_heads
    from mirenc.embed import load
    from mirenc.measure.run import Plan
    from mirenc.tasks import get_task
    from mirenc.tuning.report import PAGE, PATCH, summary, write_report
    from mirenc.tuning.run import Order, Tuning

    found = get_task(task)
    if not found.looks_ahead:
        raise TaskError(f"loops are tuned for vectorization, not for {task}. Type: mirenc tune vectorization")
    head = TaskHead.load(next(iter(ready_heads(found, look_ahead=True).values())), found)
    head = replace(head, encoder=load(head.model, options=options))
    order = Order(build, run, check, tuple(sources or ()), loops, tries, rounds)
    plan = Plan(minutes=math.inf if budget is None else budget, compiler=options.compiler)
    with only_one(output):
        tuning = Tuning(order, head, Path.cwd(), output.resolve(), plan, common.say)
        left = tuning.find()
        common.say(
            f"a run takes {tuning.seconds:.2f} s; {len(tuning.directives)} hot loops that pragmas change, "
            f"{100 * sum(one.share for one in tuning.directives):.0f} % of what innermost loops do, {left} to try"
        )
        with common.progress("tuning, loops", left) as advance:
            tuning.go(advance)
        write_report(tuning)
    typer.echo(summary(tuning))
    if tuning.patch():
        typer.echo(f"take it over: patch -p1 < {output / PATCH}")
    common.say(f"wrote {output / PAGE}")
