"""Turns what a corpus can be made from (sources, a compile_commands.json, IR) into a folder of IR."""

import os
from pathlib import Path

from mirenc.base.errors import IRFileError
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.llvm.inputs.input import Report
from mirenc.llvm.inputs.projects import COMMANDS, current_ir, object_inputs
from mirenc.llvm.sources.compile_programs import Advance, Choices, Limits, compile_programs
from mirenc.llvm.sources.ir_folder import IRFolder, IRRecord
from mirenc.llvm.sources.programs import command_programs, find_sources, source_programs

_ALLOWED = (
    "Give a folder of IR (.ll, .bc, .o) or of sources, or a compile_commands.json. In mirenc's repository, scripts "
    "make IR of a .toml recipe of Debian packages (pretrain/debian.py) and of .parquet (pretrain/compile_parquet.py)"
)


def kind_of_source(source: Path, report: Report = lambda line: None, *, with_reserved: bool = False) -> str:
    """What a path is: ``commands``, ``sources`` or ``ir``; IRFileError where it is none.

    A folder with a ``compile_commands.json`` is ``commands``; any other is what most of its files are, and ``report``
    is told of the others.
    """
    if source.is_dir():
        if (source / COMMANDS).is_file():
            return "commands"
        sources = find_sources(source, with_reserved=with_reserved)
        counts = {"ir": len(find_ir(source)), "sources": len(sources)}
        kind = max(counts, key=lambda name: counts[name])
        other_counts = ", ".join(f"{name} {count}" for name, count in counts.items() if count and name != kind)
        if other_counts:
            report(f"{source}: {counts[kind]} files are taken as {kind}; others are left out: {other_counts}")
        if counts[kind]:
            return kind
        raise IRFileError(f"{source}: has no IR or source file in it. {_ALLOWED}")
    if not source.exists():
        raise IRFileError(f"{source}: no such file or folder. Check the path")
    if source.suffix != ".json":
        raise IRFileError(f"{source}: a corpus cannot be made from this file. {_ALLOWED}")
    return "commands"


def find_ir(folder: Path) -> list[Path]:
    """IR files below a folder, and modules in its objects and libraries as `read_ir` takes them, sorted."""
    ir = current_ir(find_inputs(folder))
    return sorted([*ir, *(Path(module.name) for module in object_inputs(folder, ir)[0])])


def prepare_ir(
    source: Path,
    out: Path,
    choices: Choices | None = None,
    *,
    jobs: int | None = None,
    limits: Limits | None = None,
    retry_failed: bool = False,
    advance: Advance = lambda *_: None,
    report: Report = lambda line: None,
) -> Path:
    """Compile ``source`` (`kind_of_source`) into the folder of IR ``out``, which is returned; one of IR is as it is.

    A run that was stopped goes on where it was. Programs that have left the source since then are removed, and those
    whose file or flags changed are compiled again; edited headers are noticed below a folder of sources only. As many
    compilers run at once as ``jobs``, or cores; with ``retry_failed`` they repeat what failed in an earlier run.

    Raises ConfigError, IRFileError, ToolchainError: the source cannot be used, or nothing in it became IR. A program
    that does not compile is counted and reported, and no error.
    """
    choices, limits, jobs = choices or Choices(), limits or Limits(), jobs or os.cpu_count() or 1
    kind = kind_of_source(source, with_reserved=choices.with_reserved)
    if kind == "ir":
        return source
    programs = source_programs if kind == "sources" else command_programs
    with IRFolder(out, retry_failed=retry_failed) as folder:
        if not folder.kept():  # nothing worked so far: what was wrong may have been mended
            folder.keep_only(lambda record: False)
        if len(folder):
            # The programs twice, because their commands may be more than memory holds.
            stamps = {
                (program.project, program.file, level): program.stamp
                for program in programs(source, choices, lambda line: None)
                for level in program.commands
            }

            def is_current(record: IRRecord) -> bool:
                is_present = record.status != "ok" or folder.path_of(record).is_file()
                return is_present and stamps.get(record.key) == record.stamp

            folder.keep_only(is_current)
        compile_programs(programs(source, choices, report), folder, jobs=jobs, limits=limits, advance=advance)
        report(folder.summary())
        if not folder.kept():
            reason = next((f": {record.reason}" for record in folder.records() if record.reason), "")
            cause = f"{source}: none of its files was compiled to IR{reason}. {out / 'log.jsonl'} says why"
            raise IRFileError(f"{cause}. Correct what these lines report, and type the same command again")
    return out
