"""``mirenc fit``: a head trained on all samples of a task, for ``mirenc predict``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mirenc.cli import common, tasks


def fit(
    task: tasks.TaskName = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the head.", show_default=False)
    ] = None,
    task_file: tasks.TaskFile = None,
    data: tasks.Data = None,
    ir_dir: tasks.IRDir = None,
    variant: tasks.Variant = "",
    row: Annotated[str, typer.Option("--row", "-r", help="Its features: both, both_histogram, text, graph.")] = "both",
    model: common.Model = None,
) -> None:
    """Train a head on all samples of a task, and measure what its answers are worth on groups held out.

    `mirenc predict TASK INPUT --head FOLDER` asks it.
    """
    from mirenc.deciding import fit_head
    from mirenc.embed import load
    from mirenc.errors import TaskError
    from mirenc.learning.features import CODE_ROWS
    from mirenc.tasks import load_data

    if output is None:
        raise typer.BadParameter("name a folder for the head", param_hint="--output")
    problem = tasks.find_task(task, task_file)
    tasks.check_folders(output)
    if row not in CODE_ROWS:
        raise TaskError(f"a head cannot be made for row {row!r}; available: {', '.join(CODE_ROWS)}")
    head = fit_head(problem, load_data(problem, data, variant, ir_dir), load(model), variant=variant, row=row)
    evidence = head.evidence
    if evidence.worth is None:
        said = "all samples are of one group: nothing could be held out, and nobody knows what the head is worth"
    elif problem.target == "costs":
        worth, low, high = evidence.worth
        said = f"held-out answers are worth x {worth:.3f} [{low:.3f}, {high:.3f}] of {evidence.rival}"
        if problem.context_names and evidence.no_code is not None:
            worth, low, high = evidence.no_code
            said += f", x {worth:.3f} [{low:.3f}, {high:.3f}] of a head that sees no code"
    else:
        worth, low, high = (100 * value for value in evidence.worth)
        said = f"{worth:.0f} % [{low:.0f}, {high:.0f}] of the variance explained on held-out groups"
        if problem.context_names and evidence.no_code is not None:
            worth, low, high = (100 * value for value in evidence.no_code)
            said += f", {worth:.0f} % [{low:.0f}, {high:.0f}] of what a head that sees no code leaves"
    print(f"mirenc: {said}", file=sys.stderr)
    print(f"mirenc: wrote {head.save(output)}", file=sys.stderr)
