"""``mirenc fit``: a head trained on all samples of a task, for ``mirenc predict``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from mirenc.base.errors import TaskError
from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.decide.task_head import TaskHead


def fit(
    task: common.TaskName = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Folder for the head.")] = None,
    task_file: common.TaskFile = None,
    data: common.Data = None,
    ir_dir: common.IRDir = None,
    variant: common.Variant = "",
    row: Annotated[
        str, Option("--row", "-r", help="Its features: both, both_histogram, text, graph, look_ahead, ...")
    ] = "both",
    model: common.Model = None,
) -> None:
    """Train a head on all samples of a task, and measure what its answers are worth on groups held out.

    `mirenc predict TASK INPUT --head FOLDER` asks it.
    """
    from mirenc.decide.features.feature_matrix import HEAD_ROWS
    from mirenc.decide.fit import fit_head
    from mirenc.decide.load_samples import load_data
    from mirenc.encoder import load

    if output is None:
        raise typer.BadParameter("name a folder for the head", param_hint="--output")
    problem = common.find_task(task, task_file)
    common.check_folders(output)
    if row not in HEAD_ROWS:
        raise TaskError(f"a head cannot be made for row {row!r}; available: {', '.join(HEAD_ROWS)}")
    head = fit_head(problem, load_data(problem, data, variant, ir_dir), load(model), variant=variant, row=row)
    common.say(describe_worth(head))
    common.say(f"wrote {head.save(output)}")


def describe_worth(head: TaskHead) -> str:
    """What held-out answers were worth, in words."""
    worth, no_code = head.evidence.worth, head.evidence.no_code
    if worth is None:
        return "all samples are of one group: nothing could be held out, and nobody knows what the head is worth"
    beside = no_code if head.task.context.names else None
    if head.task.target == "costs":
        form, unit = "x {:.3f} [{:.3f}, {:.3f}] of {}", 1
        words = ("held-out answers are worth ", head.evidence.rival, "a head that sees no code")
    else:
        form, unit = "{:.0f} % [{:.0f}, {:.0f}] of {}", 100
        words = ("", "the variance explained on held-out groups", "what a head that sees no code leaves")
    text = words[0] + form.format(*(unit * value for value in worth), words[1])
    return text if beside is None else f"{text}, {form.format(*(unit * value for value in beside), words[2])}"
