"""``mirenc measure passes``: exact sizes of functions and modules under levels and pass lists, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.measure.passes.run import Run
    from mirenc.tasks.compiled import CompiledTable

__all__ = ["measure_passes"]

_LLVM = 19
"""One LLVM for all tables, so that any two can be compared; the newest whose -Oz is known pass by pass."""


def measure_passes(
    sources: Sequence[Path],
    output: Path,
    *,
    functions: int,
    modules: int,
    lists: int,
    seed: int,
    minutes: float,
    jobs: int,
    compiler: str | None,
    cflags: tuple[str, ...],
) -> None:
    """Label pieces of some sources into a folder; see ``mirenc measure --help``."""
    from mirenc.measure.passes.run import Plan, Run
    from mirenc.passes.shared import PassWatcher, SharedEngine
    from mirenc.writing import only_one

    if not sources:
        raise typer.BadParameter(
            "give sources: a folder, a compile_commands.json, a recipe of Debian packages, or files of C, C++ or IR",
            param_hint="SOURCE",
        )
    plan = Plan(tuple(sources), functions, modules, lists, seed, jobs, minutes, compiler, cflags)
    failures = common.Failures(0)  # how many files there are is known later
    run = Run(plan, output, lambda: SharedEngine(_LLVM), lambda: PassWatcher(_LLVM), common.say, failures.add)
    with only_one(output):
        run.prepare()
        _label(run)
    failures.total = run.files + failures.count - run.unread
    failures.finish()


def _label(run: Run) -> None:
    """Label what is left, and write and tell the table.

    Raises
    ------
    TaskError
        It has no piece.
    """
    from mirenc.errors import TaskError, ToolchainError

    left = len(run.left)
    if left < len(run.pieces):
        common.say(f"{len(run.pieces) - left} of {len(run.pieces)} pieces are there already")
    try:
        with common.progress("passes, pieces", left) as advance:
            run.go(advance)
        try:
            run.execute()
        except ToolchainError as error:
            common.say(f"no list was tried on programs that run: {error}")
    finally:
        table = run.save()
        _tell(run, table)
    if not table.pieces:
        if run.left:
            raise TaskError(f"the time was up before any of {len(run.pieces)} pieces. Give --budget more minutes")
        why = ", ".join(f"{count} x {reason}" for reason, count in table.record["dropped"].items())
        raise TaskError(f"no piece could be compiled: {why}. Give IR that {run.setup['engine']} reads")
    common.say(f"wrote {run.folder}")


def _tell(run: Run, table: CompiledTable) -> None:
    """What was labelled, what it cost, and what is left."""
    import numpy as np

    record = table.record
    dropped = sum(record["dropped"].values())
    common.say(
        f"{record['functions']} functions and {record['modules']} modules of {record['projects']} projects "
        f"({len(record['held_out_projects'])} of them to be tested on only); dropped {dropped}; {record['left']} left"
    )
    common.say("lists: " + (", ".join(f"{count} {status}" for status, count in record["cells"].items()) or "none"))
    winners = record["winners"]
    if winners:
        said = ", ".join(f"{count} {word}" for word, count in winners.items() if word != "better_than_oz")
        common.say(f"a list beats -Oz for {winners['better_than_oz']} pieces" + (f"; by opt: {said}" if said else ""))
    if table.pieces and np.array_equal(
        table.levels["Oz"].code_bytes, table.levels["Oz_plain"].code_bytes, equal_nan=True
    ):
        common.say(
            "no piece is smaller for minsize, so this -Oz is the weak baseline. For the other one compile with: "
            + " ".join(record["flags"])
        )
    executed = {name: count for name, count in record["executed"].items() if name != "lists"}
    if executed:
        counts = ", ".join(f"{count} {word}" for word, count in executed.items())
        common.say(f"winning lists on loops that run: {counts}")
    for level, (count, seconds) in sorted(run.seconds.items()):
        common.say(f"{seconds / count:.2f} s a {level}")
