"""``mirenc fit``: a head trained on a table of your own labels, or on all samples of a task, for ``mirenc predict``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from mirenc.base.errors import TaskError
from mirenc.cli import common
from mirenc.cli.own_labels import is_table, print_report, refuse

if TYPE_CHECKING:
    from mirenc.decide.task_head import TaskHead

_ROWS = (
    "What a head for TASK sees of the code: text or graph (vectors of one encoder), both, both_histogram (also counts "
)
_ROWS += "of opcodes), look_ahead (features of the loop compiled with each setting), look_ahead_both. [default: both]"
_TASK = "A table of labels (.csv, .tsv, .parquet), or the name of a task."
_GROUP = "Column that names the group of each row. [default: group, else file]"
_KIND = "What the labels are. [default: classes for text, and for up to ten different whole numbers]"
_LOG = "Fit log(1 + label). [default: on if no label is negative, and the 90th percentile of the labels is above 10 "
_LOG += "and also above ten times their 10th percentile]"
_COMMANDS = "compile_commands.json with the flags of the sources."


@common.reads
def fit(
    task: Annotated[str | None, Argument(metavar="LABELS|TASK", help=_TASK)] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Folder for the head.")] = None,
    label: Annotated[str, Option(metavar="COLUMN", help="Column of the labels. [default: label]")] = "",
    group: Annotated[str, Option(metavar="COLUMN", help=_GROUP)] = "",
    kind: Annotated[Literal["classes", "numbers"] | None, Option(help=_KIND)] = None,
    log: Annotated[bool | None, Option(help=_LOG)] = None,
    form: Annotated[common.FormChoice | None, Option(help=f"{common.FORM_HELP} auto: plain. [default: auto]")] = None,
    commands: Annotated[Path | None, Option("--commands", "-p", metavar="FILE", help=_COMMANDS)] = None,
    as_json: Annotated[bool, Option("--json", help="For LABELS: print the test results as JSON.")] = False,
    task_file: common.TaskFile = None,
    data: common.Data = None,
    ir_dir: common.IRDir = None,
    variant: common.Variant = "",
    row: Annotated[str, Option("--row", "-r", help=_ROWS)] = "",
    model: common.Model = None,
    *,
    options: common.Reading,
) -> None:
    """Train a head on your labels or on a task, and test it on groups (such as projects) that it was not trained on.

    LABELS has one row for each function, or one for each file (without the columns function and line). Its columns are:

    \b
    file      path of the file, relative to the table
    function  name or symbol of the function; a column `line` with the number
              of a source line in the function can take its place
    label     a class or a number
    group     where the row belongs, such as a project; rows of one group
              are held out together

    To use a head that was trained on LABELS, type `mirenc predict FOLDER INPUT`; for one that was trained on TASK, type
    `mirenc predict TASK INPUT --head FOLDER`.

    mirenc fit labels.csv -o size_head
    mirenc fit --task-file my_task.py -o widths_head
    """  # noqa: D301 - click keeps the lines after a backspace
    label_options: dict[str, Any] = {"--label": label, "--group": group, "--kind": kind, "--json": as_json}
    label_options |= {"--commands": commands, "--log": None if log is None else "given", "--form": form}
    task_options = {"--task-file": task_file, "--data": data, "--ir-dir": ir_dir, "--variant": variant, "--row": row}
    if task is not None and is_table(task):
        refuse(task_options, "a table of labels is not a task")
        settings: dict[str, Any] = {"label": label or "label", "group": group or None, "kind": kind, "logarithm": log}
        settings |= {"form": common.chosen_form(form or "auto"), "commands": commands}
        _fit_labels(task, output, as_json, model, options, settings)
        return
    refuse(label_options, "it is for a table of labels")
    from mirenc.decide.features.feature_matrix import HEAD_ROWS
    from mirenc.decide.fit import fit_head
    from mirenc.decide.load_samples import load_data
    from mirenc.encoder import load

    if output is None:
        raise typer.BadParameter("name a folder for the head", param_hint="--output")
    problem, row = common.find_task(task, task_file), row or "both"
    common.check_folders(output)
    if row not in HEAD_ROWS:
        raise TaskError(f"a head cannot be trained on features (--row) {row!r}; available: {', '.join(HEAD_ROWS)}")
    samples = load_data(problem, data, variant, ir_dir)
    common.say(f"training a head on {len(samples)} samples of {problem.name}, and testing it on groups held out")
    head = fit_head(problem, samples, load(model), variant=variant, row=row, progress=True)
    common.say(describe_worth(head))
    common.say(f"wrote {head.save(output)}")


def _fit_labels(
    table: str, output: Path | None, as_json: bool, model: str | None, options: Any, settings: dict[str, Any]
) -> None:
    from mirenc.decide.own_labels import fit_labels
    from mirenc.encoder import load

    common.check_folders(output)
    encoder = load(model, options=options)
    common.say(f"embedding the code of {table}; then a head is trained on it, and tested on groups held out")
    report = fit_labels(table, encoder, progress=True, **settings)
    if output is not None:
        report.head.save(output)
    print_report(report, as_json)
    if output is None:
        common.say("the head was not kept; -o FOLDER keeps it for `mirenc predict FOLDER INPUT`")
    else:
        common.say(f"wrote {output}. To use the head, type: mirenc predict {output} INPUT")


def describe_worth(head: TaskHead) -> str:
    """What held-out answers were worth, in words."""
    worth, no_code = head.evidence.worth, head.evidence.no_code
    if worth is None:
        return "all samples are of one group: nothing could be held out, and nobody knows what the head is worth"
    code_gain = no_code if head.task.context.names else None
    if head.task.target == "costs":
        template, unit = "{:.3f} [{:.3f}, {:.3f}] times as fast as {}", 1
        words = ("held-out answers were ", f"the {head.evidence.rival}", "those of a head that sees no code")
    else:
        template, unit = "{:.0f} % [{:.0f}, {:.0f}] of {}", 100
        words = ("", "the variance explained on held-out groups", "what a head that sees no code leaves")
    text = words[0] + template.format(*(unit * value for value in worth), words[1])
    return text if code_gain is None else f"{text}, {template.format(*(unit * value for value in code_gain), words[2])}"
