"""``mirenc predict size_after FOLDER``: one table for a whole project, of where its bytes are.

Nothing is predicted here: -Oz itself runs on every file, which takes no longer than predictions, and knows what is
inlined.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mirenc.cli import common
from mirenc.errors import IRFileError, MirencError, PassError, ToolchainError

if TYPE_CHECKING:
    from mirenc.ir import ReadOptions
    from mirenc.passes.engine import Engine
    from mirenc.passes.object_file import Symbol

__all__ = ["Project", "is_project", "print_table", "project_files", "read_project", "table_engine"]

_SHOWN = 20  # rows that people see; --json has all
_START = "Oz-start"
_LEVEL, _NEAR = "Oz", "O2"
_DEVICE = re.compile(r'^target triple = "(?:spir|nvptx|amdgcn|r600)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Row:
    """One function that has code of its own, or a file.

    Attributes
    ----------
    name, symbol, file : str
        ``symbol`` is "" for a file.
    before, after : int
        Bytes of its code before any pass and after all of them, as ``nm -S`` has them. What was inlined into it is in
        ``after`` alone.
    """

    name: str
    symbol: str
    file: str
    before: int
    after: int


@dataclass(frozen=True)
class Project:
    """What is known of all files together.

    Attributes
    ----------
    rows : list of Row
        The largest first.
    before : int
        Bytes before any pass, those of functions that have no row included.
    gone : int
        Functions without code after the passes: inlined wherever they are called, or not used.
    copies : int
        Functions that a file before has, too, and a linker keeps once: no rows.
    devices : int
        Files of device code, which has no machine code here: no rows.
    """

    rows: list[Row]
    before: int
    gone: int
    copies: int
    devices: int

    @property
    def after(self) -> int:
        """Bytes after all passes."""
        return sum(row.after for row in self.rows)

    def note(self) -> str:
        """What a row is, and what became of functions without one."""
        parts = ["as nm -S has them, with what was inlined into each"]
        if self.gone:
            parts.append(f"{_functions(self.gone)} without a row: inlined everywhere, or not used")
        if self.copies:
            parts.append(
                f"{self.copies} {'copy' if self.copies == 1 else 'copies'} of functions that a linker keeps once"
            )
        if self.devices:
            parts.append(f"{self.devices} file{'s' * (self.devices > 1)} of device code left out")
        return "; ".join(parts)


def is_project(given: str) -> bool:
    """Whether an input stands for many files: a folder, or a ``compile_commands.json``."""
    return given not in ("", "-") and (Path(given).is_dir() or given.endswith(".json"))


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
    from mirenc.sources.compiling import Choices, Limits
    from mirenc.sources.ir_folder import failures_of, origins_of
    from mirenc.sources.prepare import kind_of_source, prepare_ir

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
                    Choices((_START,), options.compiler, options.cflags, with_reserved=True),
                    limits=limits,
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


@contextlib.contextmanager
def table_engine(timeout: float | None, memory_limit: int | None) -> Iterator[tuple[Engine, str]]:
    """The LLVM that makes the table, and the level it runs: -Oz, or -O2 where there is only llvmlite's.

    On functions that say ``minsize`` the two are near each other.
    """
    from mirenc.passes import EmbeddedEngine, find_engine
    from mirenc.passes.engine import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT
    from mirenc.passes.levels import level

    limits: dict[str, Any] = {
        "timeout": timeout or DEFAULT_TIMEOUT,
        "memory_limit": memory_limit or DEFAULT_MEMORY_LIMIT,
    }
    try:
        found, name = find_engine([level(_LEVEL)], **limits), _LEVEL
    except ToolchainError:
        found, name = EmbeddedEngine(**limits), _NEAR
        print(
            "mirenc: warning: no LLVM here runs -Oz, so this is -O2 of functions marked minsize, which is near it. "
            "Type: apt-get install libllvm19",
            file=sys.stderr,
        )
    with found as engine:
        yield engine, name


def read_project(
    engine: Engine,
    name: str,
    files: Sequence[tuple[str, str]],
    options: ReadOptions,
    by_file: bool,
    failures: common.Failures,
) -> Project:
    """Every function's code before any pass and after a level's, of the functions that are linked.

    Parameters
    ----------
    engine : Engine
    name : str
        The level.
    files : sequence of (str, str)
        As `project_files` has them.
    options : ReadOptions
    by_file : bool
        A row a file instead of a function: the sum of its functions.
    failures : Failures
    """
    from mirenc.deciding import read_code
    from mirenc.ir.functions import Linker, linkages_of, object_name
    from mirenc.ir.regions import regions_of
    from mirenc.passes.engine import CODEGEN
    from mirenc.passes.levels import level

    rows, remarks, total, count, devices = [], [], 0, 0, 0
    first, linker = Linker(), Linker()
    with common.progress("compiling", len(files)) as advance:
        for shown, file in files:
            try:
                code = read_code(file, options=options)
                if _DEVICE.search(code.module.text):
                    devices += 1
                    continue
                linkages = linkages_of(code.module)
                before, after = (
                    _sizes(engine, code.ir, shown, pipeline, codegen, linkages)
                    for pipeline, codegen in (("", 0), (level(name), CODEGEN))
                )
            except MirencError as error:
                failures.add(error)
                continue
            finally:
                advance()
            remarks += [f"{shown}: {remark}" for remark in code.remarks]
            counted = first.add(linkages, before)
            total, count = total + sum(before[symbol] for symbol in counted), count + len(counted)
            called = {object_name(one.symbol): one.name for one in regions_of(code.module, "function").regions}
            rows += [
                Row(called.get(symbol, symbol), symbol, shown, before.get(symbol, 0), after[symbol])
                for symbol in linker.add(linkages, after)
            ]
    if remarks:
        more = f" (and {len(remarks) - 1} more remarks)" if len(remarks) > 1 else ""
        print(f"mirenc: warning: {remarks[0]}{more}", file=sys.stderr)
    gone = count - sum(row.before > 0 for row in rows)
    rows = _by_file(rows) if by_file else rows
    return Project(sorted(rows, key=lambda row: (-row.after, row.file, row.name)), total, gone, linker.copies, devices)


def _sizes(engine: Engine, ir: bytes, shown: str, pipeline: str, codegen: int, own: Collection[str]) -> dict[str, int]:
    """Bytes of each function in the object that a list of passes gives; ``own`` names go before their aliases.

    Raises
    ------
    PassError
        It gives none, or none that tells sizes.
    """
    from mirenc.passes.object_file import elf_functions, is_elf

    try:
        made = engine.compile(ir, pipeline, codegen=codegen)
    except MirencError as error:
        raise PassError(f"{shown}: {error}") from None
    if not is_elf(made):
        raise PassError(
            f"{shown}: sizes of functions are read from ELF objects. Compile for another target: "
            "--cflags=--target=x86_64-linux-gnu"
        )
    found: dict[tuple[int, int], Symbol] = {}
    for symbol in sorted(elf_functions(made), key=lambda one: one.name not in own):
        found.setdefault(symbol.place, symbol)
    return {symbol.name: symbol.size for symbol in found.values() if symbol.size}


def _by_file(rows: Iterable[Row]) -> list[Row]:
    """The sums of each file's rows."""
    files: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        files[row.file].append(row)
    return [
        Row(file, "", file, sum(row.before for row in own), sum(row.after for row in own))
        for file, own in files.items()
    ]


def print_table(engine: str, name: str, project: Project, *, as_json: bool) -> None:
    """The rows with totals; ``engine`` says which LLVM ran, ``name`` which level."""
    rows = project.rows
    if as_json:
        found = {
            "task": "size_after",
            "level": name,
            "engine": engine,
            "rows": [
                {"name": row.name, "symbol": row.symbol, "file": row.file, "before": row.before, "bytes": row.after}
                for row in rows
            ],
            "total": {"before": project.before, "bytes": project.after},
            "gone": project.gone,
            "copies": project.copies,
            "devices": project.devices,
        }
        typer.echo(json.dumps(found))
        return
    from rich.table import Table

    table = Table(
        title=f"where the bytes are: -{name} itself, by {engine}", title_justify="left", caption_justify="left"
    )
    table.add_column("function or file", overflow="fold")
    table.add_column("file", overflow="fold")
    for title in ("bytes before any pass", f"bytes after -{name}", "share"):
        table.add_column(title, justify="right")

    def add(name: str, file: str, before: int, after: int) -> None:
        table.add_row(name, file, str(before), str(after), f"{100 * after / max(project.after, 1):.1f} %")

    for row in rows[:_SHOWN]:
        add(row.name, row.file, row.before, row.after)
    if rest := rows[_SHOWN:]:
        add(f"and {len(rest)} more", "", sum(row.before for row in rest), sum(row.after for row in rest))
    if rows:
        table.add_section()
        add("all", "", project.before, project.after)
    table.caption = project.note()
    common.print_table(table)


def _functions(count: int) -> str:
    return f"{count} function{'s' * (count != 1)}"
