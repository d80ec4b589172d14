"""The inputs of a table of passes, as IR files that nothing has optimised yet."""

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mirenc.base.errors import ConfigError, IRFileError, MirencError
from mirenc.base.writing import delivered
from mirenc.llvm.inputs.compile_source import compile_source
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.llvm.inputs.languages import language_of
from mirenc.llvm.sources.compile_programs import LEVEL_FLAGS, Choices
from mirenc.llvm.sources.ir_folder import failures_of, origins_of
from mirenc.llvm.sources.prepare import kind_of_source, prepare_ir
from mirenc.llvm.sources.reserved import is_reserved, is_reserved_package

_LEVEL = "Oz-start"
FLAGS = LEVEL_FLAGS[_LEVEL]
"""What sources are compiled with: -Oz says minsize and optsize, and no pass runs."""

_LANGUAGES = ("c", "c++")
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class IRFile:
    """One file of IR."""

    path: Path
    project: str
    file: str  # its source inside the project, with ``/``, or its own name where nobody knows
    held_out: bool  # to be tested on only
    stamp: str  # changes when the file does
    version: str = ""  # of the project; "" where nobody knows


def find_ir(
    sources: Sequence[Path],
    work: Path,
    compiler: Callable[[], str],
    report: Report,
    failed: Callable[[MirencError], None] = lambda error: None,
    *,
    cflags: Sequence[str] = (),
    held_out: Collection[str] = (),
    jobs: int = 1,
) -> list[IRFile]:
    """IR files of all sources, sorted by project and file; unchanged sources are not compiled again.

    Sources are folders of sources or of IR, ``compile_commands.json``, single files of C, C++ or IR. What is compiled
    goes to ``work``; ``compiler`` gives the clang where it is wanted; ``cflags`` are for folders of sources and single
    sources. ``held_out`` are projects to be tested on only. ``failed`` is told of each file that does not compile.
    """
    files: list[IRFile] = []
    for number, source in enumerate(sources):
        place = work / ("ir" if number == 0 else f"ir-{number + 1}")
        if source.is_file() and language_of(source) in _LANGUAGES:
            files.append(_compiled_source(source, place, compiler(), cflags))
        elif source.is_file() and source in find_inputs(source.parent):
            files.append(_ir_file(source, source.resolve().parent.name, source.name))
        else:
            kind, root = kind_of_source(source, report, with_reserved=True), source
            if kind != "ir":
                choices = Choices((_LEVEL,), compiler(), cflags if kind == "sources" else (), with_reserved=True)
                root = prepare_ir(source, place, choices, jobs=jobs, report=report)
            if kind in ("sources", "commands"):
                for problem in failures_of(root):
                    failed(problem)
            files += _files_of_folder(source, root, report)
    projects = sorted({file.project for file in files})
    if unknown := set(held_out).difference(projects):
        raise ConfigError(f"no project {min(unknown)!r} to hold out; found: {', '.join(projects)}")
    files = [replace(file, held_out=file.held_out or file.project in held_out) for file in files]
    names = [(file.project, file.file) for file in files]
    duplicate = next((name for name in names if names.count(name) > 1), None) if len(sources) > 1 else None
    if duplicate:
        raise IRFileError(f"two inputs are called {'/'.join(duplicate)}. Give only one of the two, or rename a folder")
    return sorted(_drop_reserved(files, report), key=lambda file: (file.project, file.file))


def _drop_reserved(files: Sequence[IRFile], report: Report) -> list[IRFile]:
    """Leave out copies of reserved (test) programs inside projects for training."""
    training_projects = {file.project for file in files if not file.held_out}
    usable = [file for file in files if not (file.held_out and file.project in training_projects)]
    if len(usable) < len(files):
        report(f"{len(files) - len(usable)} files are left out: reserved programs inside of projects for training")
    return usable


def _ir_file(path: Path, project: str, file: str, version: str = "") -> IRFile:
    reserved = is_reserved_package(project) or is_reserved(file)
    # Neither the path nor the time: the folder may be moved, copied, or typed in another way, and goes on.
    stamp = hashlib.sha256(json.dumps([project, file, path.name]).encode() + path.read_bytes()).hexdigest()[:16]
    return IRFile(path, project, file, reserved, stamp, version)


def _compiled_source(source: Path, place: Path, compiler: str, cflags: Sequence[str]) -> IRFile:
    text = compile_source(source, language_of(source) or "", compiler=compiler, cflags=(*FLAGS, *cflags))
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{source.name}.ll"
    # A file that is as it was keeps its stamp, and its labels with that.
    if not path.exists() or path.read_bytes() != text:
        with delivered(path) as part:
            part.write_bytes(text)
    return _ir_file(path, source.resolve().parent.name, source.name)


def _files_of_folder(source: Path, root: Path, report: Report) -> list[IRFile]:
    """The files of a folder of IR that was prepared from a source."""
    origins, files, skipped = origins_of(root), [], 0
    for path in find_inputs(root):
        relative_path = path.relative_to(root)
        origin = origins.get(relative_path.as_posix())
        if origin is None:
            project = relative_path.parts[0] if len(relative_path.parts) > 1 else root.resolve().name
            files.append(_ir_file(path, project, "/".join(relative_path.parts[1:]) or relative_path.name))
        elif origin["language"].split("+openmp")[0] in _LANGUAGES:
            files.append(_ir_file(path, origin["project"], origin["file"], origin["version"]))
        else:
            skipped += 1
    if skipped:
        report(f"{source}: {skipped} files are left out: only C and C++ become code of this machine")
    return files
