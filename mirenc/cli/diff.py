"""``mirenc diff``: what changed in the functions of a program between two builds."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from mirenc.base.errors import ConfigError, MirencError, NoFunctionBodyError
from mirenc.base.shown import shorten_all
from mirenc.cli import common
from mirenc.cli.review import Finding, remarks

if TYPE_CHECKING:
    from mirenc.encoder import Encoder
    from mirenc.llvm.inputs.input import Input
    from mirenc.llvm.passes.optimise import Form
    from mirenc.search.report import Report

_BUILD = "IR or source file, folder of either, or compile_commands.json."
_OUTPUT = (
    "Also write a report: .html (a page), .md (for a pull request), .json (everything) or .opt.yaml (LLVM's remarks). "
    "Can be repeated."
)
_COLUMNS = ("bytes", "old", "new", "function", "change", "why")
_FILES = ("bytes", "old", "new", "file")
_MAX_WIDTH = 60  # a longer cell (a name in C++) makes no other longer
_SET_FIELDS = ("calls", "inlined", "code")  # which of them differ is why


@common.reads
def diff(
    old: Annotated[str, Argument(metavar="OLD", help=_BUILD)],
    new: Annotated[str, Argument(metavar="NEW", help="The same for the other build.")],
    k: Annotated[int, Option("-k", help="How many functions and files the tables show.", min=1)] = 20,
    output: Annotated[list[Path] | None, Option("--output", "-o", metavar="FILE", help=_OUTPUT)] = None,
    as_json: common.JSON = False,
    model: common.Model = None,
    hide_names: Annotated[bool, Option("--hide-names", help="Ignore the names of functions, types and files.")] = False,
    form: common.FormName = "auto",
    *,
    options: common.Reading,
) -> None:
    """Show which functions grew, shrank, changed, appeared, vanished or were renamed between two builds, and why.

    Functions are paired by symbol if both builds have it, otherwise by their vectors. Functions are identical if their
    IR is the same apart from local names and metadata; these are counted, but not listed. To get sizes, mirenc's LLVM
    compiles the IR to object files without further passes; bytes are what nm -S shows. The tables are Markdown.

    mirenc diff old new
    mirenc diff old/foo.ll new/foo.ll -o report.md
    """
    from mirenc.base.writing import delivered
    from mirenc.encoder import load
    from mirenc.encoder.weights import search_model
    from mirenc.search.report import html_report, markdown_report

    formats: dict[str, Callable[[Report, dict[str, Any], int], str]] = {
        ".html": lambda report, _, __: html_report(report),
        ".md": lambda report, _, k: markdown_report(report, k),
        ".json": _json,
        ".yaml": _remarks,
    }
    for path in output or ():
        if path.suffix not in formats:
            raise typer.BadParameter(f"{path}: unknown suffix; available: {', '.join(formats)}", param_hint="--output")
        common.check_output(path)
    files = [common.expand([place], options) for place in (old, new)]
    failures = common.Failures(sum(map(len, files)))
    encoder = load(model or search_model("function"), options=options, hide_names=hide_names)
    builds = list(zip((old, new), files, strict=True))
    report = compare_builds(encoder, builds, failures.add, form=common.chosen_form(form), hide_names=hide_names)
    details = {"model": encoder.name, "model_digest": encoder.digest, "hide_names": hide_names, "form": report.form}
    details |= {"old": old, "new": new}
    for path in output or ():
        with delivered(path) as part:
            part.write_text(formats[path.suffix](report, details, k), encoding="utf-8", errors="backslashreplace")
        common.say_written(path)
    typer.echo((_json if as_json else _terminal)(report, details, k), nl=False)
    failures.finish()


def compare_builds(
    encoder: Encoder,
    builds: Sequence[tuple[str, Sequence[Input]]],
    failed: Callable[[MirencError], object],
    *,
    form: Form | None = None,
    hide_names: bool = False,
) -> Report:
    """What changed between two builds, each given as its path and files; the largest change of size comes first.

    ``failed`` is called with the error of each file that is skipped. Raises ConfigError: a build has no functions.
    """
    from mirenc.llvm.passes.find_llvm import EmbeddedEngine
    from mirenc.search.builds import read_builds
    from mirenc.search.diff import pair_builds
    from mirenc.search.report import Report

    old, new = (place for place, _ in builds)
    problems: list[str] = []

    def skip(error: MirencError) -> None:
        if not isinstance(error, NoFunctionBodyError):
            problems.append(" ".join(str(error).split()))
        failed(error)

    with EmbeddedEngine(timeout=encoder.options.timeout, memory_limit=encoder.options.memory_limit) as engine:
        contents = read_builds(encoder, builds, engine, skip, common.warn, form=form, progress=True)
    if empty := " and ".join(place for place, build in zip((old, new), contents, strict=True) if not build.functions):
        raise ConfigError(f"no functions were read from {empty}: there is nothing to compare. Give other files")
    with common.progress("pairing", None):
        changes = pair_builds(*contents, hide_names=hide_names)
    changes.sort(key=lambda change: (-abs(change.bytes or 0), change.either.file, change.either.name))
    return Report(old, new, encoder.name, contents[0].form, changes, problems)


def _json(report: Report, details: dict[str, Any], _: int) -> str:
    functions = []
    for change in report.changes:
        row: dict[str, Any] = {name: getattr(change, name) for name in ("kind", "bytes", "cosine", "why")}
        for build in ("old", "new"):
            facts = getattr(change, build)
            row[build] = facts and {name: value for name, value in facts._asdict().items() if name not in _SET_FIELDS}
        functions.append(row)
    files = [{"bytes": row.more, "old": row.old, "new": row.new, "file": row.file} for row in report.files]
    return json.dumps({**details, "files": files, "functions": functions, "failed": report.failed}) + "\n"


def _terminal(report: Report, _: dict[str, Any], k: int) -> str:
    short_labels = shorten_all(row.label for row in report.functions + report.changed_files)
    functions = [[*row.sizes, short_labels[row.label], row.kind, "; ".join(row.why)] for row in report.functions]
    files = [[*row.sizes, short_labels[row.label]] for row in report.changed_files]
    kinds = ", ".join(f"{count} {kind}" for kind, count in report.kinds.items())
    lines = [f"{report.old} -> {report.new}: {kinds}", *_table(_COLUMNS, functions, k)]
    return "\n".join(lines + _table(_FILES, files, k, [*report.total.sizes, "all"])) + "\n"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], k: int, *last: Sequence[str]) -> list[str]:
    """The first ``k`` rows, if any, as lines of Markdown; the first three columns are numbers, the last is wrapped."""
    if not rows and not last:
        return []
    more_rows = [["", "", "", f"and {len(rows) - k} more", "", ""][: len(columns)]] if len(rows) > k else []
    lines: list[list[str]] = []
    for *start, end in [columns, *rows[:k], *more_rows, *last]:
        first, *more_lines = textwrap.wrap(end, _MAX_WIDTH) or [""]
        lines += [[*start, first], *([*[""] * len(start), part] for part in more_lines)]
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in lines]
    widths = [min(max(map(len, column)), _MAX_WIDTH) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * (width - 1) + ":-"[index > 2] for index, width in enumerate(widths)])
    padded = ((f"{cell:{'><'[index > 2]}{widths[index]}}" for index, cell in enumerate(row)) for row in cells)
    return ["", *(f"| {' | '.join(row)} |" for row in padded)]


def _remarks(report: Report, _: dict[str, Any], __: int) -> str:
    findings = []
    for change in report.changes:
        if change.kind == "identical":
            continue
        old, new = (str((function and function.bytes) or 0) for function in (change.old, change.new))
        arguments = [("String", f"{change.kind}, "), ("OldBytes", old), ("String", " -> "), ("NewBytes", new)]
        arguments.append(("String", "; ".join([" bytes", *change.why])))
        name, facts = change.kind.title().replace(" ", ""), change.either
        findings.append(Finding(name, facts.symbol, facts.source, facts.line, arguments))
    return remarks("mirenc-diff", findings)
