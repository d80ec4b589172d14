"""``mirenc sizes``: where a program's bytes are: LLVM's -Oz runs on every file, and nothing is predicted."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Option

from mirenc.base.errors import IRFileError, MirencError, PassError, ToolchainError
from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.llvm import ReadOptions
    from mirenc.llvm.inputs.input import Input
    from mirenc.llvm.passes.object_file import Symbol
    from mirenc.llvm.passes.size_after_passes import Engine
    from mirenc.tools.suggest import Code

_MAX_ROWS = 20  # rows of the printed table; --json has all
_START = "Oz-start"
_LEVEL, _FALLBACK_LEVEL = "Oz", "O2"
_DEVICE = re.compile(r'^target triple = "(?:spir|nvptx|amdgcn|r600)', re.MULTILINE)


@common.reads
def sizes(
    inputs: common.Inputs,
    level: Annotated[Literal["function", "module"], Option("--level", "-l", help="What a row is.")] = "function",
    as_json: common.JSON = False,
    *,
    options: common.Reading,
) -> None:
    """Show the exact size of each function or file, before and after the passes of -Oz.

    Sources are compiled with -Oz -Xclang -disable-llvm-passes; mirenc measures the sizes of this IR, runs the passes of
    -Oz, and measures again. IR is taken as it is, so it may have had passes before. Bytes are what nm -S shows.
    Functions that are inlined everywhere or not used have no row. A function of which a linker keeps one copy (an
    inline function, a template) counts once. `mirenc predict size_after` predicts sizes without running the passes.

    mirenc sizes src
    mirenc sizes foo.ll --level module
    """
    from mirenc.tools.run.compilers import clang_for

    engine, level_run = engine_of(options)
    with engine, tempfile.TemporaryDirectory(prefix="mirenc-") as scratch:
        # The clang of the same LLVM compiles the sources, where there is one.
        options = replace(options, compiler=options.compiler or clang_for(engine.version))
        files, problems = ir_files(inputs, Path(scratch), options)
        failures = common.Failures(len(files) + len(problems), problems)
        table = sizes_table(engine, level_run, files, options, failures, by_file=level == "module")
        if table["rows"] or not failures.count:
            if as_json:
                typer.echo(json.dumps({"level": level_run, "engine": engine.name, **table}))
            else:
                _print_table(f"bytes after -{level_run}, by {engine.name}", level_run, table)
    failures.finish()


def ir_files(
    inputs: Sequence[str], scratch: Path, options: ReadOptions
) -> tuple[list[tuple[str, str | Input]], list[MirencError]]:
    """Name and path of each file's IR, in which sources are compiled into ``scratch``; and the files that failed."""
    from mirenc.llvm.inputs.projects import COMMANDS, folder_inputs
    from mirenc.llvm.sources.compile_programs import Choices, Limits
    from mirenc.llvm.sources.ir_folder import failures_of, origins_of
    from mirenc.llvm.sources.prepare import kind_of_source, prepare_ir
    from mirenc.llvm.sources.programs import find_sources

    files: list[tuple[str, str | Input]] = []
    problems: list[MirencError] = []
    limits = Limits(seconds=options.timeout or 120, max_file_bytes=options.max_bytes)
    choices = Choices((_START,), options.compiler, options.cflags, with_reserved=True)
    for number, source_name in enumerate(inputs):
        source, root = Path(source_name), scratch / str(number)
        has_sources = common.is_project(source_name) and (
            source.suffix == ".json" or (source / COMMANDS).is_file() or find_sources(source, with_reserved=True)
        )
        if not has_sources or kind_of_source(source, common.say, with_reserved=True) == "ir":
            items = folder_inputs(source) if has_sources else common.expand([source_name], options)
            files += [(os.path.relpath(item.name, source) if source.is_dir() else item.name, item) for item in items]
            continue
        try:
            with common.progress("compiling", None) as advance:
                prepare_ir(source, root, choices, limits=limits, advance=lambda n, _: advance(n), report=common.say)
        except IRFileError:  # nothing became IR
            if not failures_of(root):
                raise
        problems += failures_of(root)
        origins = {str(root / name): origin for name, origin in sorted(origins_of(root).items())}
        files += [(f"{origin['project']}/{origin['file']}", path) for path, origin in origins.items()]
    return files, problems


def engine_of(options: ReadOptions) -> tuple[Engine, str]:
    """The LLVM that runs, and the level: -Oz, or -O2 of functions marked minsize by llvmlite's LLVM."""
    from mirenc.llvm.passes.find_llvm import EmbeddedEngine, find_engine
    from mirenc.llvm.passes.pass_lists import level

    limits: dict[str, Any] = {"timeout": options.timeout, "memory_limit": options.memory_limit}
    try:
        return find_engine([level(_LEVEL)], **limits), _LEVEL
    except ToolchainError:
        common.warn(
            "no LLVM on this machine can run -Oz. Sizes are those after -O2 with functions marked minsize, which are "
            "close to those of -Oz. For -Oz, type: apt-get install libllvm19"
        )
        return EmbeddedEngine(**limits), _FALLBACK_LEVEL


def sizes_table(
    engine: Engine,
    level_run: str,
    files: Sequence[tuple[str, str | Input]],
    options: ReadOptions,
    failures: common.Failures,
    *,
    by_file: bool,
) -> dict[str, Any]:
    """Rows: bytes of every linked function or of each file's, before any pass and after a level's; the largest first.

    ``total``: bytes of all functions, those without a row included; ``gone``: functions without code after the passes;
    ``copies``: merged by a linker; ``devices``: files of device code, which are left out.
    """
    from mirenc.llvm.analysis.regions import regions_of
    from mirenc.llvm.ir.functions import Linker, linkages_of, object_name
    from mirenc.llvm.passes.pass_lists import level
    from mirenc.llvm.passes.size_after_passes import CODEGEN
    from mirenc.tools.suggest import read_code

    def measure_file(file: tuple[str, str | Input]) -> tuple[str, Code, dict[str, Any], list[dict[str, int]]]:
        code = read_code(file[1], options=options)
        linkages = linkages_of(code.module)
        runs = () if _DEVICE.search(code.module.text) else (("", 0), (level(level_run), CODEGEN))
        return file[0], code, linkages, [_sizes(engine, code.ir, file[0], *run, linkages) for run in runs]

    rows: list[dict[str, Any]] = []
    remarks, total, gone, devices = [], 0, 0, 0
    linker_before, linker_after = Linker(), Linker()
    for file_name, code, linkages, sizes in failures.results("compiling", files, measure_file, itemgetter(0)):
        if not sizes:
            devices += 1
            continue
        sizes_before, sizes_after = sizes
        remarks += [f"{file_name}: {remark}" for remark in code.remarks]
        linked_symbols = linker_before.add(linkages, sizes_before)
        whole, symbols = sum(sizes_before[symbol] for symbol in linked_symbols), linker_after.add(linkages, sizes_after)
        total += whole
        gone += len(linked_symbols) - sum(sizes_before.get(symbol, 0) > 0 for symbol in symbols)
        titles = {object_name(region.symbol): region.name for region in regions_of(code.module, "function").regions}
        if by_file:  # one row, which has no symbol
            titles, sizes_before = {"": file_name}, {"": whole}
            symbols, sizes_after = [""], {"": sum(sizes_after[symbol] for symbol in symbols)}
        for symbol in symbols:
            names = {"name": titles.get(symbol, symbol), "symbol": symbol, "file": file_name}
            rows.append({**names, "before": sizes_before.get(symbol, 0), "bytes": sizes_after[symbol]})
    if remarks:
        more_text = f" (and {len(remarks) - 1} more remarks)" if len(remarks) > 1 else ""
        common.warn(f"{remarks[0]}{more_text}")
    rows.sort(key=lambda row: (-row["bytes"], row["file"], row["name"]))
    sums = {"before": total, "bytes": sum(row["bytes"] for row in rows)}
    return {"rows": rows, "total": sums, "gone": gone, "copies": linker_after.copies, "devices": devices}


def _sizes(engine: Engine, ir: bytes, name: str, pipeline: str, codegen: int, defs: Collection[str]) -> dict[str, int]:
    """Bytes of each function in the object that a pass list gives, by symbol; of aliases, the one that ``defs`` has."""
    from mirenc.llvm.passes.object_file import elf_functions, is_elf

    try:
        object_file = engine.compile(ir, pipeline, codegen=codegen)
    except MirencError as error:
        raise PassError(f"{name}: {error}") from None
    if not is_elf(object_file):
        problem = f"{name}: sizes of functions are read from ELF objects"
        raise PassError(f"{problem}. Compile for another target: --cflags=--target=x86_64-linux-gnu")
    symbol_at: dict[tuple[int, int], Symbol] = {}
    for symbol in sorted(elf_functions(object_file), key=lambda symbol: symbol.name not in defs):
        symbol_at.setdefault(symbol.place, symbol)
    return {symbol.name: symbol.size for symbol in symbol_at.values() if symbol.size}


def _print_table(title: str, level_run: str, table: dict[str, Any]) -> None:
    notes = ["as nm -S counts them, inlined code included"]
    if gone_count := table["gone"]:
        notes.append(f"{gone_count} function{'s' * (gone_count != 1)} without a row: inlined everywhere, or not used")
    if copies := table["copies"]:
        notes.append(f"{copies} {'copy' if copies == 1 else 'copies'} of functions that a linker keeps once")
    if devices := table["devices"]:
        notes.append(f"{devices} file{'s' * (devices > 1)} of device code left out")
    rows, total = table["rows"], table["total"]
    shown_rows = [*rows[:_MAX_ROWS]]
    if hidden_rows := rows[_MAX_ROWS:]:
        sums = {key: sum(row[key] for row in hidden_rows) for key in ("before", "bytes")}
        shown_rows.append({"name": f"and {len(hidden_rows)} more", "file": "", **sums})
    cells = []
    for row in [*shown_rows, {"name": "all", "file": "", **total}]:
        share = f"{100 * row['bytes'] / max(total['bytes'], 1):.1f} %"
        cells.append([str(row["before"]), str(row["bytes"]), share, row["name"], row["file"]])
    typer.echo(title)
    common.print_rows(cells, ">>><<", ("before", f"-{level_run}", "share", "name", "file"))
    typer.echo(f"({'; '.join(notes)})")
