"""``mirenc label``: exact labels by a compiler's own passes, as a table for evaluate and fit."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from mirenc.base.errors import TaskError
from mirenc.base.writing import only_one
from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.decide.tables.compiled import CompiledTable

_LLVM = 19  # one for all tables, so that any two can be compared; the newest whose -Oz is known pass by pass
_SOURCES = "Folders of sources or IR, compile_commands.json, or files of C, C++ or IR."


def label(
    sources: Annotated[list[Path], Argument(metavar="SOURCE", help=_SOURCES)],
    output: common.TableFolder = None,
    functions: Annotated[int, Option(help="Label at most this number of functions.", min=0)] = 20_200,
    modules: Annotated[int, Option(help="Label at most this number of modules.", min=0)] = 2_010,
    lists: Annotated[int, Option(help="How many pass lists are run, -Oz included.", min=1, max=100)] = 100,
    held_out: Annotated[str, Option(help="Projects that heads are only tested on, for example lua,zlib.")] = "",
    seed: Annotated[int, Option(help="Seed for drawing functions and modules.", min=0)] = 0,
    budget: common.Budget = None,
    jobs: common.Jobs = None,
    compiler: Annotated[str | None, Option(help="The clang that compiles sources. [default: clang-19]")] = None,
    cflags: common.CFlags = "",
) -> None:
    """Compile functions and modules at every level and under every pass list, and record sizes in bytes.

    Sizes are exact: bytes of machine code (code_bytes), and instructions of IR. The table has the labels for the tasks
    pass_list, size_after, oz_benefit and pass_fires (see `mirenc tasks`). Use it with `mirenc evaluate TASK --data
    FOLDER` and `mirenc fit TASK --data FOLDER`. Nothing is timed, so the same command gives the same table anywhere.
    After Ctrl-C the same command goes on. --budget starts once all sources are compiled.

    mirenc label src -o table --lists 5
    mirenc label foo.ll bar.ll -o small --lists 5
    """
    folder = common.table_folder(output)
    from mirenc.llvm.passes.find_llvm import SharedEngine
    from mirenc.tools.measure.passes.run import PassRun
    from mirenc.tools.run.run_folder import Plan

    plan = Plan(
        sources=tuple(sources),
        seed=seed,
        jobs=jobs or os.cpu_count() or 1,
        minutes=math.inf if budget is None else budget,
        functions=functions,
        modules=modules,
        lists=lists,
        held_out=tuple(held_out.split(",")) if held_out else (),
        compiler=compiler,
        cflags=common.split_flags(cflags),
    )
    failures = common.Failures(0)  # how many files there are is known later
    run = PassRun(plan, folder, lambda: SharedEngine(_LLVM), common.say, failures.add)
    with only_one(folder):
        with common.progress("reading sources", None):
            run.prepare()
        remaining = len(run.left)
        common.say_resumed(remaining, len(run.pieces), "functions and modules")
        try:
            with common.progress("labelling", remaining) as advance:
                run.go(advance)
        finally:
            table = run.save()
            _say_labelled(table)
        if not table.pieces:
            if run.left:
                total = f"{len(run.pieces)} functions and modules"
                raise TaskError(f"--budget was used up before any of {total} was done. Give more minutes")
            why = ", ".join(f"{count} x {reason}" for reason, count in table.record["dropped"].items())
            raise TaskError(f"no function or module could be compiled: {why}. Give IR that {run.setup['engine']} reads")
        common.say(f"wrote {run.folder}")
    failures.total, failures.empty = run.files + failures.count - run.unread, run.empty
    failures.finish()


def _say_labelled(table: CompiledTable) -> None:
    import numpy as np

    record = table.record
    dropped, pending = sum(record["dropped"].values()), record["left"]
    common.say(
        f"{record['functions']} functions and {record['modules']} modules of {record['projects']} projects "
        f"({len(record['held_out_projects'])} of them only for testing); {dropped} dropped; {pending} still to be done"
    )
    runs = ", ".join(f"{count} {status}" for status, count in record["cells"].items()) or "none"
    common.say(f"runs of pass lists: {runs}")
    if winners := record["winners"]:
        common.say(
            f"a list makes {winners['better_than_oz']} functions and modules smaller (bytes of code) than -Oz does"
        )
    oz_bytes, plain_bytes = (table.levels[level].code_bytes for level in ("Oz", "Oz_plain"))
    if table.pieces and np.array_equal(oz_bytes, plain_bytes, equal_nan=True):
        problem = "minsize made no function or module smaller, so -Oz is a weak baseline in this table"
        common.say(f"{problem}. For a strong one, make the IR with: clang {' '.join(record['flags'])}")
