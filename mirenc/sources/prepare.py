"""Whatever a corpus can be made from, as a folder of IR."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mirenc.errors import IRFileError
from mirenc.ir.files import find_inputs
from mirenc.sources.compile_commands import command_programs
from mirenc.sources.compiling import Advance, Limits, Program, Report, check_levels, compile_programs
from mirenc.sources.debian import compile_recipe
from mirenc.sources.ir_folder import IRFolder, IRRecord, stamp_of
from mirenc.sources.parquet import find_parquet, unpack_parquet
from mirenc.sources.programs import find_sources, source_programs
from mirenc.sources.recipe import read_recipe

__all__ = ["kind_of_source", "prepare_ir"]

_COMMANDS = "compile_commands.json"
_ALLOWED = (
    "Give a folder of IR (.ll, .bc) or of sources, a compile_commands.json, a .parquet with bitcode, "
    "or a .toml recipe of Debian packages"
)


def kind_of_source(source: Path, report: Report | None = None, *, with_reserved: bool = False) -> str:
    """What a path is: ``recipe``, ``commands``, ``parquet``, ``sources`` or ``ir``.

    A folder with a ``compile_commands.json`` in it stands for that; another one is what most of its files are, and
    ``report`` is told of the rest.

    Raises
    ------
    IRFileError
        None of them.
    """
    if source.is_dir():
        if (source / _COMMANDS).is_file():
            return "commands"
        counts = {
            "ir": len(find_inputs(source)),
            "sources": len(find_sources(source, with_reserved=with_reserved)),
            "parquet": len(find_parquet(source)),
        }
        kind = max(counts, key=lambda name: counts[name])
        rest = ", ".join(f"{name} {count}" for name, count in counts.items() if count and name != kind)
        if rest and report is not None:
            report(f"{source}: {counts[kind]} files are taken as {kind}; others are left out: {rest}")
        if counts[kind]:
            return kind
        raise IRFileError(f"{source}: no IR, source or parquet file below it. {_ALLOWED}")
    if not source.exists():
        raise IRFileError(f"{source}: no such file or folder. Check the path")
    kinds = {".toml": "recipe", ".json": "commands", ".parquet": "parquet"}
    if source.suffix not in kinds:
        raise IRFileError(f"{source}: a corpus cannot be made from this file. {_ALLOWED}")
    return kinds[source.suffix]


def prepare_ir(
    source: Path,
    out: Path,
    *,
    work: Path | None = None,
    workers: int | None = None,
    levels: Sequence[str] | None = None,
    limits: Limits | None = None,
    compiler: str | None = None,
    cflags: Sequence[str] = (),
    cuda_path: Path | None = None,
    retry_failed: bool = False,
    with_reserved: bool = False,
    advance: Advance | None = None,
    report: Report | None = None,
) -> Path:
    """Turn a source of programs into a folder of IR; called again after it was stopped, it goes on where it was.

    Programs that are gone from the source since then go, those whose file or flags changed are compiled again. An
    edited header is seen below a folder of sources only, an edited package of a recipe not at all.

    Parameters
    ----------
    source : Path
        See `kind_of_source`. A folder of IR is returned as it is.
    out : Path
        Folder for the IR, its log and ``manifest.csv``.
    work : Path, optional
        Folder for the sources of a recipe's packages. Default: beside ``out``, its name with ``-work``.
    workers : int, optional
        Compilers at once. Default: as many as there are cores.
    levels : sequence of str, optional
        Optimisation levels. Default: O0 and O2 for all, Oz for every eighth file.
    limits : Limits, optional
        Of one compilation; a recipe brings its own.
    compiler : str, optional
        A clang. Default: the first on PATH; for a recipe two versions that take turns.
    cflags : sequence of str
        Flags for a folder of sources.
    cuda_path : Path, optional
        A CUDA toolkit's headers, where there are CUDA sources.
    retry_failed : bool
        Compile again what failed in an earlier run.
    with_reserved : bool
        Also programs that are reserved for evaluation: for what no model is pre-trained on.
    advance, report : callable, optional

    Returns
    -------
    Path
        The folder of IR.

    Raises
    ------
    ConfigError, IRFileError, ToolchainError
        The source cannot be used, or nothing in it became IR. A program that does not compile is counted and
        reported, no more.
    """
    if levels is not None:
        check_levels(levels)
    kind = kind_of_source(source, report, with_reserved=with_reserved)
    if kind == "ir":
        return source
    recipe = read_recipe(source, with_reserved=with_reserved) if kind == "recipe" else None
    limits = limits or Limits()
    workers = workers or os.cpu_count() or 1

    def programs(report: Report | None) -> Iterator[Program]:
        if kind == "sources":
            return source_programs(
                source,
                levels=levels,
                compiler=compiler,
                cflags=cflags,
                cuda_path=cuda_path,
                with_reserved=with_reserved,
                report=report,
            )
        path = source / _COMMANDS if source.is_dir() else source
        return command_programs(
            path, levels=levels, compiler=compiler, cuda_path=cuda_path, with_reserved=with_reserved, report=report
        )

    with IRFolder(out, retry_failed=retry_failed) as folder:
        if not folder.kept():  # nothing worked so far: what was wrong may have been mended
            folder.keep_only(lambda record: False)
        if recipe is not None:
            names = {package.name for package in recipe.packages}
            _forget(folder, lambda record: record.project in names)
        elif kind == "parquet":
            root = source if source.is_dir() else source.parent
            files = {path.relative_to(root).as_posix(): stamp_of([path]) for path in find_parquet(source)}
            _forget(folder, lambda record: files.get(record.file.rsplit("/", 1)[0]) == record.stamp)
        elif len(folder):
            # The programs twice, because their commands may be more than memory holds.
            stamps = {(one.project, one.file, level): one.stamp for one in programs(None) for level in one.commands}
            _forget(folder, lambda record: stamps.get(record.key) == record.stamp)
        if recipe is not None:
            compile_recipe(
                recipe,
                folder,
                work or out.with_name(f"{out.name}-work"),
                workers=workers,
                levels=levels,
                compiler=compiler,
                cuda_path=cuda_path,
                advance=advance,
                report=report,
            )
        elif kind == "parquet":
            unpack_parquet(find_parquet(source), folder, limits=limits, root=root, advance=advance)
        else:
            compile_programs(programs(report), folder, workers=workers, limits=limits, advance=advance)
        folder.write_manifest(out / "manifest.csv")
        if report is not None:
            report(folder.summary())
        if not folder.kept():
            reason = next((f": {record.reason}" for record in folder.records() if record.reason), "")
            raise IRFileError(
                f"{source}: nothing in it became IR{reason}. {out / 'log.jsonl'} has a line for each try; "
                "mend what it says and type the same again"
            )
    return out


def _forget(folder: IRFolder, wanted: Callable[[IRRecord], bool]) -> None:
    """Forget what the source no longer gives, and what lost its IR."""
    folder.keep_only(lambda record: wanted(record) and (record.status != "ok" or folder.path_of(record).is_file()))
