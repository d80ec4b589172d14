"""``mirenc measure``: what each setting costs on this machine, as a table for evaluate and fit."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.measure.run import Run


_PASSES = "passes"
_OF_PASSES = ("functions", "modules", "lists")
_OF_KERNELS = ("count", "part", "rounds", "compile_only")


def measure(
    context: typer.Context,
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="Task to measure, or passes: a compiler's own.", show_default=False)
    ],
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Your own kernels, NAME.c with NAME.driver.c beside it. [default: the project's own kernels] "
            "For passes: folders of sources or IR, compile_commands.json, a .toml recipe of Debian packages, files.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the table.", show_default=False)
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="How many of the project's kernels. [default: the task's]", min=1)
    ] = None,
    functions: Annotated[int, typer.Option(help="For passes: at most so many functions.", min=0)] = 20_200,
    modules: Annotated[int, typer.Option(help="For passes: at most so many modules.", min=0)] = 2_010,
    lists: Annotated[int, typer.Option(help="For passes: so many pass lists, -Oz among them.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Of what is drawn: kernels, pieces, pass lists, order.", min=0)] = 0,
    part: Annotated[
        list[str] | None,
        typer.Option("--part", help="Part of the machine, such as avx2; may be repeated. [default: all it has]"),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(metavar="MINUTES", help="Stop after so long; again goes on.", min=0.0)
    ] = None,
    rounds: Annotated[
        int, typer.Option(help="Rounds of a sample; a noisy one gets up to four times as many.", min=4)
    ] = 12,
    compile_only: Annotated[
        bool, typer.Option("--compile-only", help="Build everything and time nothing, on a machine that is busy now.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Compilers at once. [default: one a core]", min=1)
    ] = None,
    compiler: Annotated[
        str | None, typer.Option(help="Compiler of the variants. [default: what the task looks for]")
    ] = None,
    cflags: Annotated[str, typer.Option("--cflags", help="Flags for every variant, as in --cflags='-Iinclude'.")] = "",
) -> None:
    """Build, check and time every setting of a task's kernels on this machine; or let a compiler's passes say sizes.

    Each variant's outputs must be those of the default. Variants run in turns, in random order; a second build of the
    default says how noisy the machine is, and samples with more than 3 % are dropped. Other programs should be closed.

    Ctrl-C stops, and the same command goes on. Then it tries those again that were dropped for noise, thrice in all.
    The table is for `mirenc evaluate TASK --data FOLDER` and `mirenc fit TASK --data FOLDER`.

    `mirenc measure passes` compiles functions and modules at every level and under every pass list. Nothing is timed:
    sizes are exact, and the same command gives the same table anywhere.
    """
    _refuse_others(context, _OF_KERNELS if task == _PASSES else _OF_PASSES, task)
    if task == _PASSES:
        from mirenc.cli.measure_passes import measure_passes

        measure_passes(
            sources or [],
            _folder(output),
            functions=functions,
            modules=modules,
            lists=lists,
            seed=seed,
            minutes=math.inf if budget is None else budget,
            jobs=jobs or os.cpu_count() or 1,
            compiler=compiler,
            cflags=_words(cflags),
        )
        return
    from dataclasses import replace

    from mirenc.measure.methods import get_method
    from mirenc.measure.run import Plan, Run
    from mirenc.writing import only_one

    output = _folder(output)
    method = get_method(task)
    flags = _words(cflags)
    toolchain = method.find_compiler(compiler)
    toolchain = replace(toolchain, cflags=(*toolchain.cflags, *flags))
    plan = Plan(
        sources=tuple(sources or ()),
        count=count or method.default_count,
        parts=tuple(part or ()),
        seed=seed,
        rounds=rounds + rounds % 2,
        jobs=jobs or os.cpu_count() or 1,
        minutes=math.inf if budget is None else budget,
        compile_only=compile_only,
    )
    with only_one(output):
        _measure(Run(method, toolchain, plan, output))


def _measure(run: Run) -> None:
    """Measure what is left, and tell the table.

    Raises
    ------
    TaskError
        It has no sample.
    """
    from mirenc.errors import TaskError
    from mirenc.measure.journal import MAX_TRIES

    compile_only = run.plan.compile_only
    before = len(run.left)
    if before < len(run.samples):
        print(f"mirenc: {len(run.samples) - before} of {len(run.samples)} samples are there already", file=sys.stderr)
    try:
        with common.progress(f"{run.method.task}, samples", before) as advance:
            run.go(advance)
    except KeyboardInterrupt:
        if compile_only:
            _tell_built(run, before)
        else:
            _tell(run.table().machine, len(run.new))
        raise
    if compile_only:
        _tell_built(run, before)
        failures = common.Failures(0)
        for reason in run.not_built if run.plan.sources else ():
            failures.add(TaskError(f"{reason}. Mend the source or its driver"))
        failures.total = before
        failures.finish()
        return
    table = run.table()
    _tell(table.machine, len(run.new))
    if not table.machine["samples"]:
        if not table.samples:
            raise TaskError(f"the time was up before any of {len(run.samples)} samples. Give --budget more minutes")
        advice = "Mend the source or its driver, and type the same again"
        if any(sample.dropped.startswith("noise") for sample in table.samples):
            advice = (
                "Where it is noise, close other programs or give more --rounds, and type the same again; after "
                f"{MAX_TRIES} tries, with another folder"
            )
        raise TaskError(f"no sample was measured; the first one: {table.samples[0].dropped}. {advice}")
    common.say(f"wrote {run.folder}")
    if run.plan.sources:
        broken = [one for one in table.samples if one.dropped and not one.dropped.startswith("noise")]
        failures = common.Failures(len(table.samples))
        for one in broken:
            place = f"{one.kernel} {one.part}".strip()
            failures.add(TaskError(f"{place}: {one.dropped}. Mend the source or its driver"))
        failures.finish()


def _refuse_others(context: typer.Context, names: Sequence[str], task: str) -> None:
    """Refuse options that belong to another kind of task.

    Raises
    ------
    typer.BadParameter
    """
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            option = f"--{name.replace('_', '-')}"
            whose = "kernels that are timed" if task == _PASSES else "`mirenc measure passes`"
            raise typer.BadParameter(f"{task} has no such option, it is of {whose}. Leave it out", param_hint=option)


def _folder(output: Path | None) -> Path:
    """The folder for a table, which may be missing yet.

    Raises
    ------
    typer.BadParameter, ConfigError
    """
    from mirenc.errors import ConfigError

    if output is None:
        raise typer.BadParameter("name a folder for the table", param_hint="--output")
    if output.exists() and not output.is_dir():
        raise ConfigError(f"{output} is a file. Name a folder with -o")
    return output


def _words(cflags: str) -> tuple[str, ...]:
    """Flags of a line, as a shell would take it apart.

    Raises
    ------
    typer.BadParameter
    """
    try:
        return tuple(shlex.split(cflags))
    except ValueError as error:
        raise typer.BadParameter(f"{cflags!r}: {error}", param_hint="--cflags") from None


def _tell_built(run: Run, wanted: int) -> None:
    """What was built, what was not, and how to go on, on stderr."""
    lines = [f"built {run.built} of {wanted} samples"]
    if run.not_built:
        lines[0] += f", {len(run.not_built)} cannot be built; the first one: {run.not_built[0]}"
    if run.built + len(run.not_built) < wanted:
        lines.append("the same command builds the rest")
    if run.built:
        lines.append("without --compile-only it times them")
    for line in lines:
        print(f"mirenc: {line}", file=sys.stderr)


def _tell(record: dict[str, Any], left: int) -> None:
    """What was measured, and how noisy the machine was, on stderr."""
    cells = ", ".join(f"{number} {status}" for status, number in record["cells"].items())
    spread = record["noise"]
    kept = f"{record['samples']} samples of {record['kernels']} kernels in {record['groups']} groups"
    dropped = f"dropped {record['dropped_for_noise']} for noise, {record['dropped_otherwise']} otherwise"
    lines = [f"{kept}; {dropped}; {left} left", f"cells: {cells or 'none'}"]
    if spread:
        lines.append(
            f"noise (two copies of the default): median {100 * spread['p50']:.2f} %, "
            f"90 of 100 samples below {100 * spread['p90']:.2f} %"
        )
    for line in lines:
        print(f"mirenc: {line}", file=sys.stderr)
