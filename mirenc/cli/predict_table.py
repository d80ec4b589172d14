"""``mirenc predict size_after FOLDER``: one table for a whole project, of where its bytes are.

Nothing is predicted here: -Oz itself runs on every file, which takes no longer than predictions, and knows what is
inlined.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mirenc.cli import common
from mirenc.errors import IRFileError, MirencError, PassError, ToolchainError

if TYPE_CHECKING:
    from mirenc.ir import ReadOptions
    from mirenc.passes.engine import Engine
    from mirenc.passes.object_file import Symbol

TASK = "size_after"
_SHOWN = 20  # rows that people see; --json has all
_START = "Oz-start"
_LEVEL, _NEAR = "Oz", "O2"
_DEVICE = re.compile(r'^target triple = "(?:spir|nvptx|amdgcn|r600)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Row:
    """One function that has code of its own, or a file."""

    name: str
    symbol: str  # "" for a file
    file: str
    before: int  # bytes of its code before any pass, as nm -S has them
    after: int  # and after all of them, what was inlined into it included


@dataclass(frozen=True)
class _Project:
    """What is known of all files together."""

    rows: list[_Row]  # the largest first
    before: int  # bytes before any pass, those of functions that have no row included
    gone: int  # functions without code after the passes: inlined wherever they are called, or not used
    copies: int  # functions that a file before has, too, and a linker keeps once: no rows
    devices: int  # files of device code, which has no machine code here: no rows

    @property
    def after(self) -> int:
        return sum(row.after for row in self.rows)

    def note(self) -> str:
        """What a row is, and what became of functions without one."""
        parts = ["as nm -S has them, with what was inlined into each"]
        if self.gone:
            many = "s" * (self.gone != 1)
            parts.append(f"{self.gone} function{many} without a row: inlined everywhere, or not used")
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


def print_projects(names: Sequence[str], options: ReadOptions, level: str, as_json: bool) -> None:
    """Say where the bytes of whole projects are, a row a function, or a file where ``level`` is module."""
    from mirenc.deciding.pass_lists import clang_for

    with _engine(options) as (engine, run):
        # One LLVM from source to code, where there is a clang of it.
        options = replace(options, compiler=options.compiler or clang_for(engine.version))
        with _files(names, options) as (files, problems):
            failures = common.Failures(len(files) + len(problems))
            for problem in problems:
                failures.add(problem)
            project = _read(engine, run, files, options, level == "module", failures)
        if project.rows or not failures.count:
            (_print_json if as_json else _print_table)(engine.name, run, project)
    failures.finish()


@contextlib.contextmanager
def _files(inputs: Sequence[str], options: ReadOptions) -> Iterator[tuple[list[tuple[str, str]], list[MirencError]]]:
    """What people call each file (its place in the folder), and where its IR is meanwhile: sources are compiled.

    Beside them what is wrong with each source that did not become IR.
    """
    from mirenc.ir.files import find_inputs
    from mirenc.sources.compiling import Choices, Limits
    from mirenc.sources.ir_folder import failures_of, origins_of
    from mirenc.sources.prepare import kind_of_source, prepare_ir

    files: list[tuple[str, str]] = []
    problems: list[MirencError] = []
    limits = Limits(seconds=options.timeout or 120, max_file_bytes=options.max_bytes)
    choices = Choices((_START,), options.compiler, options.cflags, with_reserved=True)
    with tempfile.TemporaryDirectory(prefix="mirenc-") as scratch:
        for number, given in enumerate(inputs):
            if not is_project(given):
                files.append((given, given))
                continue
            source, root = Path(given), Path(scratch) / str(number)
            if kind_of_source(source, common.say, with_reserved=True) == "ir":
                files += [(path.relative_to(source).as_posix(), str(path)) for path in find_inputs(source)]
                continue
            try:
                prepare_ir(source, root, choices, limits=limits, report=common.say)
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
def _engine(options: ReadOptions) -> Iterator[tuple[Engine, str]]:
    """The LLVM that makes the table, and the level it runs: -Oz, or -O2 where there is only llvmlite's.

    On functions that say ``minsize`` the two are near each other.
    """
    from mirenc.passes import EmbeddedEngine, find_engine
    from mirenc.passes.engine import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT
    from mirenc.passes.levels import level

    limits: dict[str, Any] = {
        "timeout": options.timeout or DEFAULT_TIMEOUT,
        "memory_limit": options.memory_limit or DEFAULT_MEMORY_LIMIT,
    }
    try:
        found, name = find_engine([level(_LEVEL)], **limits), _LEVEL
    except ToolchainError:
        found, name = EmbeddedEngine(**limits), _NEAR
        common.warn(
            "no LLVM here runs -Oz, so this is -O2 of functions marked minsize, which is near it. "
            "Type: apt-get install libllvm19"
        )
    with found as engine:
        yield engine, name


def _read(
    engine: Engine,
    name: str,
    files: Sequence[tuple[str, str]],
    options: ReadOptions,
    by_file: bool,
    failures: common.Failures,
) -> _Project:
    """Every function's code before any pass and after a level's, of the functions that are linked."""
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
                _Row(called.get(symbol, symbol), symbol, shown, before.get(symbol, 0), after[symbol])
                for symbol in linker.add(linkages, after)
            ]
    if remarks:
        more = f" (and {len(remarks) - 1} more remarks)" if len(remarks) > 1 else ""
        common.warn(f"{remarks[0]}{more}")
    gone = count - sum(row.before > 0 for row in rows)
    if by_file:
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for row in rows:
            sums[row.file][0] += row.before
            sums[row.file][1] += row.after
        rows = [_Row(file, "", file, *both) for file, both in sums.items()]
    rows.sort(key=lambda row: (-row.after, row.file, row.name))
    return _Project(rows, total, gone, linker.copies, devices)


def _sizes(engine: Engine, ir: bytes, shown: str, pipeline: str, codegen: int, own: Collection[str]) -> dict[str, int]:
    """Bytes of each function in the object that a list of passes gives; ``own`` names go before their aliases."""
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


def _print_json(engine: str, level: str, project: _Project) -> None:
    found = {
        "task": TASK,
        "level": level,
        "engine": engine,
        "rows": [
            {"name": row.name, "symbol": row.symbol, "file": row.file, "before": row.before, "bytes": row.after}
            for row in project.rows
        ],
        "total": {"before": project.before, "bytes": project.after},
        "gone": project.gone,
        "copies": project.copies,
        "devices": project.devices,
    }
    typer.echo(json.dumps(found))


def _print_table(engine: str, level: str, project: _Project) -> None:
    """The rows with totals."""
    from rich.table import Table

    table = Table(title=f"where the bytes are: -{level} itself, by {engine}", caption=project.note())
    table.title_justify = table.caption_justify = "left"
    table.add_column("function or file", overflow="fold")
    table.add_column("file", overflow="fold")
    for title in ("bytes before any pass", f"bytes after -{level}", "share"):
        table.add_column(title, justify="right")

    def add(name: str, file: str, before: int, after: int) -> None:
        table.add_row(name, file, str(before), str(after), f"{100 * after / max(project.after, 1):.1f} %")

    for row in project.rows[:_SHOWN]:
        add(row.name, row.file, row.before, row.after)
    if rest := project.rows[_SHOWN:]:
        add(f"and {len(rest)} more", "", sum(row.before for row in rest), sum(row.after for row in rest))
    if project.rows:
        table.add_section()
        add("all", "", project.before, project.after)
    common.print_table(table)
