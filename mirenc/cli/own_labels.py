"""Labels of one's own: what ``mirenc fit LABELS.csv`` and ``mirenc predict HEAD INPUT`` do and print."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mirenc.base.errors import HeadError, TaskError
from mirenc.base.shown import printable
from mirenc.cli import common

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mirenc.decide.custom_head import CustomAnswer, CustomHead
    from mirenc.decide.own_labels import LabelReport
    from mirenc.llvm.inputs.input import Input

_MAX_SHOWN = 10  # rows that were left out, classes of a confusion matrix


def is_table(name: str) -> bool:
    """Whether the first argument of ``mirenc fit`` is a table of labels; the name of a task counts as the task.

    Raises TaskError: it is IR or source.
    """
    from mirenc.decide.label_table import TABLE_SUFFIXES
    from mirenc.llvm.inputs.file_kind import IR_SUFFIXES
    from mirenc.llvm.inputs.languages import SOURCE_LANGUAGES

    if Path(name).suffix in (*IR_SUFFIXES, *SOURCE_LANGUAGES):
        raise TaskError(f"{name} is neither a table ({', '.join(TABLE_SUFFIXES)}) nor a task. Name a table or a task")
    return name.endswith(TABLE_SUFFIXES) or (Path(name).is_file() and not _is_task(name))


def is_head(name: str) -> bool:
    """Whether the first argument of ``mirenc predict`` is a head's folder. Raises HeadError: one without a head."""
    if _is_task(name):
        return False
    has_head = Path(name).name == "head.json" or (Path(name) / "head.json").is_file()
    if Path(name).is_dir() and not has_head:
        advice = "Name a task (`mirenc tasks` lists them), or make a head: mirenc fit LABELS.csv -o FOLDER"
        raise HeadError(f"{name} is a folder without a head. {advice}")
    return has_head


def _is_task(name: str) -> bool:
    from mirenc.decide.registry import list_tasks

    return name in list_tasks()


def refuse(options: Mapping[str, Any], reason: str) -> None:
    """Raise BadParameter for the first option that has a value."""
    for option, value in options.items():
        if value not in (None, "", False, []):
            raise typer.BadParameter(f"{reason}; leave out {option}", param_hint=option)


def print_report(report: LabelReport, as_json: bool) -> None:
    """Print the rows of a cross-validation with their figures, and whether to trust the head."""
    code, left_out = report.code, report.code.left_out
    for line in left_out[:_MAX_SHOWN]:
        common.warn(f"left out: {line}")
    if len(left_out) > _MAX_SHOWN:
        common.warn(f"{len(left_out) - _MAX_SHOWN} more rows are left out (--json lists them)")
    if code.shared > len(code.names) / 20:  # less is what small functions have in common
        problem = f"{code.shared} of {len(code.names)} rows have the same code as a row of another group"
        common.warn(f"{problem}, so they test what was trained on. Give equal code one group, or leave it out")
    if as_json:
        facts = report.head.facts.model_dump() | {"kind": report.kind, "group_by": code.group_by, "left_out": left_out}
        facts |= {"shared": code.shared}
        if report.kind == "classes":
            classes = report.head.head.classes_.tolist()
            facts |= {"classes": classes, "confusion": report.confusion.tolist()}
        typer.echo(json.dumps(facts | {"figures": report.figures}))
        return
    for line in _description_lines(report):
        typer.echo(printable(line))
    common.print_table(_figure_table(report))
    if report.kind == "classes":
        common.print_table(_confusion_table(report))
    typer.echo(_verdict(report))


def _description_lines(report: LabelReport) -> tuple[str, str]:
    from collections import Counter

    code, facts = report.code, report.head.facts
    unit = "functions" if code.level == "function" else "files"
    groups = f"{facts.groups} groups ({code.group_by})"
    if not code.group_by:
        groups = "no groups: the table has one file and no column 'group', so folds are of rows"
    if report.kind == "classes":
        counts = Counter(code.labels.tolist()).most_common()
        labels = ", ".join(f"{name} {count}" for name, count in counts[:_MAX_SHOWN])
        labels += ", ..." if len(counts) > _MAX_SHOWN else ""
    else:
        labels = f"numbers from {code.labels.min():g} to {code.labels.max():g}"
        labels += ", fitted as logarithms" if facts.logarithm else ""
    data_line = f"{len(code.names)} {unit}, {groups}; model {facts.model}, form {facts.form}"
    return data_line, f"{facts.label}: {labels}"


def _figure_table(report: LabelReport) -> Any:
    from rich.table import Column, Table

    is_classes = report.kind == "classes"
    names = ["accuracy", "balanced", "macro F1"] if is_classes else ["mean absolute error", "R2", "Spearman"]
    error = "error of logarithms" if report.head.facts.logarithm else "error"
    gain = "embedding raises balanced accuracy by" if is_classes else f"embedding lowers {error} by"
    table = Table("held-out answers of", *(Column(name, justify="right") for name in (*names, gain)))
    for name, row in report.figures.items():
        low, high = row["accuracy_interval" if is_classes else "mae_interval"]
        if is_classes:
            cells = [f"{100 * row['accuracy']:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"]
            cells += [f"{100 * row['balanced_accuracy']:.1f} %", f"{row['macro_f1']:.3f}"]
        else:
            cells = [f"{row['mae']:.4g} [{low:.4g}, {high:.4g}]", f"{row['r2']:.3f}"]
            cells.append("" if name == report.head.facts.baseline else f"{row['spearman']:.3f}")
        percent = "{:+.1f} % [{:+.1f}, {:+.1f}]".format(*(100 * value for value in row["gain"]))
        table.add_row(name, *cells, "" if row is report.figures["embedding"] else percent)
    return table


def _confusion_table(report: LabelReport) -> Any:
    from rich.markup import escape
    from rich.table import Column, Table

    classes = [escape(printable(name)) for name in report.head.head.classes_.tolist()[:_MAX_SHOWN]]
    title = "counts of the embedding's answers"
    table = Table("label", *(Column(f"answer {name}", justify="right") for name in classes), title=title)
    for name, counts in zip(classes, report.confusion.tolist(), strict=False):
        table.add_row(name, *map(str, counts[: len(classes)]))
    return table


def _verdict(report: LabelReport) -> str:
    """Whether the head is better than no code, and whether the embedding is what makes it so."""
    if reason := report.head.facts.doubt:
        return f"Do not use it: {reason}."
    if report.figures[rival := report.rival]["gain"][1] <= 0:
        return f"It is better than guessing, but not clearly better than the {rival}."
    return "Use it: it is clearly better than every simpler row of the table."


def answer_with(
    head: CustomHead, inputs: list[str], *, function: str | None, as_json: bool, model: str | None, options: Any
) -> None:
    """Print the answers of a head for labels of one's own about some inputs."""
    from mirenc.encoder import load

    head = replace(head, encoder=load(model or head.facts.model, options=options))
    files = common.expand(inputs, options)
    failures = common.Failures(len(files))

    def answer(file: Input) -> None:
        for prediction in head.predict(file, function=function):
            record = {"input": file.name, "label": head.facts.label, **asdict(prediction)}
            for line in [json.dumps(record)] if as_json else _answer_lines(file.name, head, prediction):
                typer.echo(printable(line))

    for _ in failures.results("predicting", files, answer):
        pass
    failures.finish()


def _answer_lines(file: str, head: CustomHead, answer: CustomAnswer) -> tuple[str, str]:
    region = answer.region
    place = f"{region.file}:{region.line}" if region.file else file
    name = f": {region.name}" if region.level == "function" else ""
    if answer.interval is None:
        likeliest = sorted(answer.probability.items(), key=lambda pair: -pair[1])[:3]
        value = f"{answer.value}  ({', '.join(f'{label} {probability:.0%}' for label, probability in likeliest)})"
    else:
        low, high = answer.interval
        value = f"{float(answer.value):.4g}  [{low:.4g}, {high:.4g}]"
    verdict = "follow it" if answer.follow else "do not follow it"
    return f"{place}{name}: {head.facts.label} {value}", f"  {verdict}: {answer.why}"
