"""``mirenc evaluate``: a task, its protocols and baselines, and the embedding, as a table."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.tasks import TaskReport


def evaluate(
    task: Annotated[
        str | None,
        typer.Argument(metavar="TASK", help="device_mapping or thread_coarsening.", show_default=False),
    ] = None,
    task_file: common.TaskFile = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", "-d", help="Folder of the data sets. [default: $MIRENC_DATA, then what was fetched]"),
    ] = None,
    variant: Annotated[str, typer.Option(help="One of the task's tables. [default: its first]")] = "",
    protocol: Annotated[
        list[str] | None, typer.Option("--protocol", "-p", help="May be repeated. [default: all of the task]")
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option("--row", "-r", help="no_code, histogram, both, ...; may be repeated. [default: all]"),
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many seeds.", min=1)] = 5,
    model: common.Model = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes that train heads.", min=1)] = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the records, one JSON a protocol.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Take what OUTPUT's records hold of the same inputs, and make the rest.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Folder for a picture of each protocol (.svg).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Records with all figures on stdout.")] = False,
    save_head: Annotated[
        Path | None, typer.Option(help="Folder for a head trained on all samples; `mirenc predict --head` uses it.")
    ] = None,
    head_row: Annotated[str, typer.Option(help="Features of that head: both, both_histogram, text, graph.")] = "both",
) -> None:
    """Evaluate the embedding on a task, beside its baselines.

    Each protocol is printed, and its record written, as soon as it is done; while it runs, what is done is kept beside
    the record in a file named .part.json. --resume goes on from both, and after a change of the model makes only the
    rows that the model takes part in.
    """
    from mirenc.encoder import load
    from mirenc.tasks import TaskReport, load_report
    from mirenc.tasks import evaluate as run

    problem = common.named_task(task, task_file)
    variant = problem.check_variant(variant)
    chosen = [problem.protocol(name).name for name in protocol] if protocol else [one.name for one in problem.protocols]
    _check_outputs(output, plot, save_head, head_row)
    if resume and output is None:
        raise typer.BadParameter("goes on from the records in a folder; give it with --output", param_hint="--resume")
    samples = problem.load(data, variant) if resume else None
    encoder = load(model)
    records = []
    for name in chosen:
        stem = ".".join(filter(None, (variant, name)))
        # Record, and what is kept of it on the way.
        files = [output / f"{stem}.json", output / f"{stem}.part.json"] if output is not None else []
        previous = [load_report(file, problem, samples) for file in files if file.exists()] if samples else []
        with common.progress(f"{problem.name}, {name}", None) as advance:
            report = run(
                problem,
                samples if samples is not None else data,
                variant=variant,
                encoder=encoder,
                protocols=[name],
                rows=row,
                seeds=range(seeds),
                jobs=jobs,
                advance=advance,
                previous=previous,
                keep=functools.partial(TaskReport.save, path=files[1]) if files else None,
            )
        if files:
            print(f"mirenc: wrote {report.save(files[0])}", file=sys.stderr)
            files[1].unlink(missing_ok=True)
        if plot is not None:
            from mirenc.tasks.plot import plot_report

            print(f"mirenc: wrote {plot_report(report, plot / f'{stem}.svg')}", file=sys.stderr)
        if as_json:
            records.append(report.to_json())
        else:
            _print(report, name)
    if as_json:
        typer.echo(json.dumps(records))
    if save_head is not None:
        from mirenc.tasks.predict import fit_head

        head = fit_head(problem, problem.load(data, variant), encoder, variant=variant, row=head_row)
        print(f"mirenc: wrote {head.save(save_head)}", file=sys.stderr)


def _check_outputs(output: Path | None, plot: Path | None, save_head: Path | None, head_row: str) -> None:
    """Refuse what could not be written, before any work is done."""
    from mirenc.errors import IRFileError, TaskError
    from mirenc.tasks.features import CODE_ROWS

    for folder in (output, plot, save_head):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise IRFileError(f"{folder} is a file, and a folder is needed. Name another")
    if head_row not in CODE_ROWS:
        raise TaskError(f"a head cannot be made for row {head_row!r}; available: {', '.join(CODE_ROWS)}")


def _print(report: TaskReport, protocol: str) -> None:
    from rich.console import Console
    from rich.table import Table

    from mirenc.tasks.report import row_title

    # A file or a pipe gets the whole table, not what fits into 80 columns.
    wide: dict[str, Any] = {} if sys.stdout.isatty() else {"width": 200}
    console = Console(**wide)
    console.print(report.table(protocol))
    if report.parts:
        parts = Table(title="by part, geometric (arithmetic) mean speedup over the default", title_justify="left")
        parts.add_column("row")
        for part in report.parts:
            parts.add_column(part, justify="right")
        for row in report.rows(protocol):
            cells = []
            for part in report.parts:
                figures = report.figures(protocol, row, part)
                cells.append(f"{figures['speedup_geometric']:.3f} ({figures['speedup_arithmetic']:.2f})")
            parts.add_row(row_title(row), *cells)
        console.print(parts)
