"""``mirenc predict size_after FOLDER``: one table for a whole project, of where its bytes are."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mirenc.cli import common
from mirenc.errors import IRFileError, MirencError

if TYPE_CHECKING:
    from mirenc.encoder import Encoder
    from mirenc.ir import ReadOptions
    from mirenc.tasks import TaskHead

__all__ = ["Project", "is_project", "print_table", "project_files", "read_project"]

_SHOWN = 20  # rows that people see; --json has all
_START = "Oz-start"


@dataclass(frozen=True, slots=True)
class Row:
    """One function or module.

    Attributes
    ----------
    name, file : str
    instructions : int
        Before any pass.
    amount : mapping of str to float
        Variant of a head -> what it predicts.
    """

    name: str
    file: str
    instructions: int
    amount: Mapping[str, float]


@dataclass(frozen=True)
class Project:
    """What is known of all files together.

    Attributes
    ----------
    rows : list of Row
        The largest by the first head's answer first.
    whole : bool
        Whether a row is a module: its size includes every function in it.
    copies : int
        Functions that a file before has, too, and a linker keeps once: no rows.
    elsewhere : int
        Functions that come from another library: no rows.
    """

    rows: list[Row]
    whole: bool
    copies: int
    elsewhere: int

    def note(self) -> str:
        """What became of functions that are not the project's own alone; "" where there are none."""
        parts = []
        if self.copies:
            parts.append(
                f"{self.copies} {'copy' if self.copies == 1 else 'copies'} of functions that a linker keeps once"
            )
        if self.elsewhere:
            parts.append(f"{self.elsewhere} function{'s' * (self.elsewhere > 1)} that another library has")
        counted = "counted all the same, since a module is one piece" if self.whole else "left out"
        return f"{counted}: {', '.join(parts)}" if parts else ""


def is_project(given: str) -> bool:
    """Whether an input stands for many files: a folder, or a ``compile_commands.json``."""
    return given != "-" and (Path(given).is_dir() or given.endswith(".json"))


@contextlib.contextmanager
def project_files(
    inputs: Sequence[str], options: ReadOptions
) -> Iterator[tuple[list[tuple[str, str]], list[MirencError]]]:
    """What people call each file (its place in the folder), and where its IR is meanwhile: sources are compiled.

    Beside them what is wrong with each source that did not become IR.

    Raises
    ------
    ConfigError, IRFileError, ToolchainError
        An input cannot be used, or nothing in it becomes IR.
    """
    from mirenc.ir.files import find_inputs
    from mirenc.pretraining.corpus.compiling import Limits
    from mirenc.pretraining.corpus.inputs import kind_of_source, prepare_ir
    from mirenc.pretraining.corpus.ir_folder import failures_of, origins_of

    files: list[tuple[str, str]] = []
    problems: list[MirencError] = []
    limits = Limits(seconds=options.timeout or 120, max_file_bytes=options.max_bytes)
    with tempfile.TemporaryDirectory(prefix="mirenc-") as scratch:
        for number, given in enumerate(inputs):
            if not is_project(given):
                files.append((given, given))
                continue
            source = Path(given)
            if kind_of_source(source, common.say, with_reserved=True) == "ir":
                files += [(path.relative_to(source).as_posix(), str(path)) for path in find_inputs(source)]
                continue
            root = Path(scratch) / str(number)
            try:
                prepare_ir(
                    source,
                    root,
                    levels=(_START,),
                    limits=limits,
                    compiler=options.compiler,
                    cflags=options.cflags,
                    with_reserved=True,
                    report=common.say,
                )
            except IRFileError:  # nothing became IR
                if not failures_of(root):
                    raise
            problems += failures_of(root)
            origins = origins_of(root)
            for path in find_inputs(root):
                origin = origins[path.relative_to(root).as_posix()]
                files.append((f"{origin['project']}/{origin['file']}", str(path)))
        yield files, problems


def read_project(
    heads: Mapping[str, TaskHead],
    encoder: Encoder,
    files: Sequence[tuple[str, str]],
    given: Mapping[str, str],
    level: str,
    failures: common.Failures,
) -> Project:
    """What the heads, by variant, say of every function that is linked, or of every module."""
    from mirenc.ir.linkage import Linker

    task = next(iter(heads.values())).task
    rows, linker = [], Linker()
    with common.progress("predicting", len(files)) as advance:
        for name, file in files:
            try:
                module = task.read(encoder, file)
                if level != "module" and not module.defined_functions:
                    continue
                answers = [head.predict(encoder, module, given, level=level) for head in heads.values()]
            except MirencError as error:
                failures.add(error)
                continue
            finally:
                advance()
            linked = linker.add(module)
            for found in zip(*answers, strict=True):
                region = found[0].region
                if region is not None and region.symbol not in linked:
                    continue
                amount = {variant: float(task.details(one)["bytes"]) for variant, one in zip(heads, found, strict=True)}
                shown = name if region is None else region.name
                rows.append(Row(shown, name, int(str(found[0].context["instructions"])), amount))
    first = next(iter(heads))
    rows.sort(key=lambda row: (-row.amount[first], row.file, row.name))
    return Project(rows, level == "module", linker.copies, linker.elsewhere)


def print_table(heads: Mapping[str, TaskHead], project: Project, *, as_json: bool) -> None:
    """The rows with totals and, where a second head says what is without the first one's level, what it saves."""
    rows, variants = project.rows, list(heads)
    totals = {variant: sum(row.amount[variant] for row in rows) for variant in variants}
    if as_json:
        found = {
            "task": heads[variants[0]].task.name,
            "rows": [
                {"name": row.name, "file": row.file, "instructions": row.instructions, "bytes": row.amount}
                for row in rows
            ],
            "total": {"instructions": sum(row.instructions for row in rows), "bytes": totals},
            "copies": project.copies,
            "elsewhere": project.elsewhere,
        }
        typer.echo(json.dumps(found))
        return
    from rich.console import Console
    from rich.table import Table

    first, *others = variants
    table = Table(title="where the bytes are, predicted", title_justify="left", caption_justify="left")
    table.add_column("function or module", overflow="fold")
    table.add_column("file", overflow="fold")
    for title in ("instructions", *(f"bytes after {one}" for one in variants), *(f"less than {one}" for one in others)):
        table.add_column(title, justify="right")
    table.add_column("share", justify="right")

    def cells(count: int, amount: Mapping[str, float]) -> list[str]:
        saved = [f"{100 * (1 - amount[first] / amount[one]):.0f} %" for one in others]
        share = f"{100 * amount[first] / totals[first]:.1f} %"
        return [str(count), *(f"{amount[one]:.0f}" for one in variants), *saved, share]

    for row in rows[:_SHOWN]:
        table.add_row(row.name, row.file, *cells(row.instructions, row.amount))
    if len(rows) > _SHOWN:
        rest = rows[_SHOWN:]
        amount = {one: sum(row.amount[one] for row in rest) for one in variants}
        table.add_row(f"and {len(rest)} more", "", *cells(sum(row.instructions for row in rest), amount))
    if rows:
        table.add_section()
        table.add_row("all", "", *cells(sum(row.instructions for row in rows), totals))
    table.caption = project.note() or None
    wide: dict[str, Any] = {} if sys.stdout.isatty() else {"width": 160}
    Console(**wide).print(table)
