"""``mirenc evaluate``: a task, its protocols and baselines, and the embedding, as a table."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.decide.evaluation.report import TaskReport
    from mirenc.decide.task import Task
    from mirenc.decide.task_data import TaskData

_PROTOCOL = "A protocol, such as kernel, which holds out whole kernels. Can be repeated. [default: all]"
_ROW = "Features to try, one kind in each row of the table: no_code (only what the task needs besides code), histogram "
_ROW += "(counts of opcodes), both (vectors of both encoders), ... Can be repeated. [default: all]"
_OUTPUT = "Folder for the records: a JSON file with each protocol's results."
_RESUME = "Keep the results in OUTPUT that have the same inputs, and compute the others."


def evaluate(
    task: common.TaskName = None,
    task_file: common.TaskFile = None,
    data: common.Data = None,
    ir_dir: common.IRDir = None,
    variant: common.Variant = "",
    protocol: Annotated[list[str] | None, Option("--protocol", "-p", help=_PROTOCOL)] = None,
    row: Annotated[list[str] | None, Option("--row", "-r", help=_ROW)] = None,
    seeds: Annotated[int, Option(help="How often each protocol is run, with another seed each time.", min=1)] = 5,
    model: common.Model = None,
    jobs: Annotated[int, Option("--jobs", "-j", help="How many processes train heads.", min=1)] = 1,
    output: Annotated[Path | None, Option("--output", "-o", help=_OUTPUT)] = None,
    resume: Annotated[bool, Option("--resume", help=_RESUME)] = False,
    plot: Annotated[Path | None, Option(help="Folder for a plot of each protocol (.svg).")] = None,
    as_json: Annotated[bool, Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """Evaluate mirenc's vectors on a task, and compare them with simpler features.

    A protocol says which samples are held out for testing; its results are printed and written as soon as they are
    complete. To go on with a stopped run, give --resume. It reads the results in OUTPUT; those of an unfinished
    protocol are in a file whose name ends in .part.json. If the model has changed, --resume tries again only features
    that depend on the model. To train a head that `mirenc predict` can ask, type `mirenc fit`.

    mirenc evaluate --task-file my_task.py --seeds 1
    mirenc evaluate --task-file my_task.py --row both --row no_code -o results
    """
    from mirenc.decide.evaluation.evaluate_task import Evaluation
    from mirenc.decide.evaluation.report import TaskReport, load_report
    from mirenc.decide.load_samples import load_data
    from mirenc.encoder import load

    problem = common.find_task(task, task_file)
    variant = problem.check_variant(variant)
    names = [problem.protocol(name).name for name in protocol] if protocol else [p.name for p in problem.protocols]
    common.check_folders(output, plot)
    if resume and output is None:
        raise typer.BadParameter("goes on from the records in a folder; give it with --output", param_hint="--resume")
    samples = load_data(problem, data, variant, ir_dir)
    if not protocol:
        names = _protocols_to_run(problem, samples, names)
    with common.progress("embedding", None) as advance:
        study = Evaluation.prepare(problem, samples, variant=variant, encoder=load(model), rows=row, advance=advance)
    records = []
    for name in names:
        stem = ".".join(filter(None, (variant, name)))
        # Record, and what is kept of it on the way.
        files = [output / f"{stem}.json", output / f"{stem}.part.json"] if output is not None else []
        previous = [load_report(file, problem, samples) for file in files if file.exists()] if resume else []
        with common.progress(f"{problem.name}, {name}", None) as advance:
            report = study.run(
                [name],
                seeds=range(seeds),
                jobs=jobs,
                advance=advance,
                previous_reports=previous,
                on_report=functools.partial(TaskReport.save, path=files[1]) if files else None,
            )
        if warning := report.warning(name):
            common.warn(warning)
        if files:
            common.say(f"wrote {report.save(files[0])}")
            files[1].unlink(missing_ok=True)
        if plot is not None:
            from mirenc.decide.evaluation.plot import plot_report

            common.say(f"wrote {plot_report(report, plot / f'{stem}.svg')}")
        if as_json:
            records.append(report.to_json())
        else:
            _print(report, name)
    if as_json:
        typer.echo(json.dumps(records))


def _protocols_to_run(task: Task, data: TaskData, names: list[str]) -> list[str]:
    """Protocols with something to hold out, those left out on stderr; all where none has, to fail with the reason."""
    single_units = {name: unit for name in names if (unit := task.protocol(name).only_unit(data))}
    if len(single_units) == len(names):
        return names
    for name, unit in single_units.items():
        common.say(f"left out: {name}, as all samples are of {unit!r}")
    return [name for name in names if name not in single_units]


def _print(report: TaskReport, protocol: str) -> None:
    from rich.table import Column, Table

    from mirenc.decide.evaluation.report import row_title

    common.print_table(report.table(protocol), width=200)
    if (names := report.parts_of(protocol)) and report.data.target == "costs":
        title = "by part, geometric (arithmetic) mean speedup over the default"
        columns = (Column(part, justify="right") for part in names)
        parts = Table("row", *columns, title=title, title_justify="left")
        for row in report.rows(protocol):
            figures = (report.figures(protocol, row, part) for part in names)
            cells = (f"{values['speedup_geometric']:.3f} ({values['speedup_arithmetic']:.2f})" for values in figures)
            parts.add_row(row_title(row), *cells)
        common.print_table(parts, width=200)
