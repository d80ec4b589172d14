"""`UserBuild`: run a user's build command with a compiler that records its calls and reads replaced sources.

Nothing of the user's is written: what is to be compiled in place of a source is an overlay, which clang reads under the
source's name. What a build changes is kept as a `Variant`, so that several can be run in turns.
"""

import contextlib
import filecmp
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mirenc.base.deadline import variant_limit
from mirenc.base.errors import CompileError, ToolchainError
from mirenc.base.writing import delivered
from mirenc.llvm.inputs.compiler_wrapper import stand_in
from mirenc.llvm.inputs.languages import SOURCE_LANGUAGES
from mirenc.tools.run.programs import run_shell

_SOURCES = {suffix for suffix, language in SOURCE_LANGUAGES.items() if language in ("c", "c++")}
# Words and folder of one call, NUL after each, in a file of its own: `make -j` starts several at once.
_WRAPPER = """#!/bin/sh
note=$(mktemp "$MIRENC_TUNE/calls/XXXXXXXXXX") && printf '%s\\0' "$PWD" "$@" > "$note"
case ${0##*/} in *++*) mode=g++ ;; *) mode=gcc ;; esac
exec "$MIRENC_TUNE_CC" --driver-mode=$mode "$@" "@$MIRENC_TUNE/flags"
"""
# A pragma that LLVM cannot follow is no error, and flags that a step has no use for are none.
_FLAGS = ("-Qunused-arguments", "-Wno-error=pass-failed", "-Wno-error=profile-instr-unprofiled")
_SKIPPED = {".git", ".hg", ".svn"}
_MIN_LIMIT = 10.0  # seconds that any build but the first may take
_SHOWN = 12  # last lines of a build that fails


@dataclass(frozen=True)
class Call:
    """One call of the compiler: its folder, arguments, C and C++ sources, and outputs."""

    folder: Path
    words: tuple[str, ...]
    sources: tuple[Path, ...]
    outputs: tuple[Path, ...]


@dataclass(frozen=True)
class Variant:
    """The files that a build changed, each with its copy in ``folder``."""

    files: Mapping[Path, Path]
    folder: Path

    def same_as(self, other: "Variant") -> bool:
        """Whether all files that both variants have are equal."""
        shared_paths = self.files.keys() & other.files.keys()
        return all(filecmp.cmp(self.files[path], other.files[path], shallow=False) for path in shared_paths)


class UserBuild:
    """A build command in a folder; ``work`` keeps the recorded calls and the built files.

    ``compiler`` is a clang. It stands for cc, gcc, clang and their C++ names on PATH, and is CC and CXX.
    """

    def __init__(self, command: str, folder: Path, work: Path, compiler: str) -> None:
        self.command, self.folder, self.work, self.compiler = command, folder, work, compiler
        self.calls: dict[tuple[Path, ...], Call] = {}  # by what they write: the last call, of earlier runs too
        self.count = 0  # builds so far
        self.seconds = math.inf  # of the first one
        path = shutil.which(compiler)
        if path is None:
            raise ToolchainError(f"compiler {compiler!r} is not on PATH. Name a clang with --compiler")
        version = Path(path).name.removeprefix("clang")
        variables = {"MIRENC_TUNE": str(work), "MIRENC_TUNE_CC": os.path.abspath(path)}
        self.environment = {**os.environ, **stand_in(work / "bin", version, _WRAPPER), **variables}
        self._calls_file = work / "calls.json"
        if self._calls_file.is_file():
            self._note(json.loads(self._calls_file.read_text(encoding="utf-8")))

    def build(
        self, *, flags: Sequence[str] = (), sources: Mapping[Path, bytes] | None = None, compiler: str = ""
    ) -> Variant:
        """Build with additional flags, replaced texts of some sources and another ``compiler``; keep the changed files.

        Raises CompileError: the command fails, or does not compile these sources; OverLimitError: it took ten times as
        long as the first build, and TimeUpError, as `run_shell`.
        """
        texts = sources or {}
        known_sources = {os.path.realpath(path) for path in self.sources}
        # Of a header nobody knows what it is in, so that all is made anew.
        rebuilt = [*texts] if {os.path.realpath(path) for path in texts} <= known_sources else self.sources
        self._forget(rebuilt)
        shutil.rmtree(self.work / "calls", ignore_errors=True)
        (self.work / "calls").mkdir()
        with tempfile.TemporaryDirectory(prefix="mirenc-tune-") as folder, _touched({*texts, *rebuilt}):
            overlay = overlay_flags(Path(folder), texts)
            words = "\n".join(map(_quoted, (*_FLAGS, *flags, *overlay)))
            (self.work / "flags").write_text(words, encoding="utf-8", errors="surrogateescape")
            old_stamps = dict(self._files())
            environment = self.environment | ({"MIRENC_TUNE_CC": compiler} if compiler else {})
            limit = variant_limit(self.seconds, _MIN_LIMIT)
            run = run_shell(self.command, self.folder, limit, environment=environment, with_errors=True)
        self.count += 1
        if self.count == 1:
            self.seconds = run.wall
        has_compiled = self._note_calls()
        if run.code:
            last_lines = "\n".join(run.tail.splitlines()[-_SHOWN:]) or "no output"
            raise CompileError(
                f"the build ends with exit status {run.code}. Mend --build, which is run in {self.folder} with clang "
                "as CC, or add what it needs",
                diagnostic=f"error: last lines of the build:\n{last_lines}\n",  # the first line is this error's own
            )
        if texts and not has_compiled:
            names = ", ".join(path.name for path in texts)
            raise CompileError(f"the build does not compile {names} again. Force that, for example: --build 'make -B'")
        compiled_sources = {os.path.realpath(path) for path in (*texts, *rebuilt)}
        changed = [path for path, stamp in self._files() if old_stamps.get(path) != stamp]
        return self._keep_files([path for path in changed if os.path.realpath(path) not in compiled_sources])

    def forget(self) -> None:
        """Remove all outputs of the compiler, so that the next build makes them again."""
        self._forget([path for call in self.calls.values() for path in call.sources])

    def _forget(self, sources: Iterable[Path]) -> None:
        """Remove the compiler's outputs of some sources."""
        paths = {os.path.realpath(source) for source in sources}
        for call in self.calls.values():
            if paths & {os.path.realpath(source) for source in call.sources}:
                for path in call.outputs:
                    if path.is_file() and not path.is_symlink():
                        path.unlink()

    def restore(self, variant: Variant) -> None:
        """Put the files of a build back in place."""
        for path, copy in variant.files.items():
            if path.is_file() and filecmp.cmp(path, copy, shallow=False):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            with delivered(path) as part:
                shutil.copy2(copy, part)

    @property
    def sources(self) -> list[Path]:
        """C and C++ sources that this or an earlier build compiled, and that exist."""
        return sorted({source for call in self.calls.values() for source in call.sources if source.is_file()})

    def compile_commands(self) -> list[dict[str, object]]:
        """The calls that compile C or C++, as ``compile_commands.json`` has them; of several for a source the last."""
        entries: dict[Path, dict[str, object]] = {}
        for call in self.calls.values():
            for source in call.sources:
                words = ["clang", *call.words]
                entries[source] = {"directory": str(call.folder), "file": str(source), "arguments": words}
        return list(entries.values())

    def _files(self) -> Iterator[tuple[Path, tuple[int, int, int]]]:
        """Files of the folder and other outputs of the compiler, each with a stamp that changes when the file does."""
        work_folder = os.path.realpath(self.work)
        paths = {path for call in self.calls.values() for path in call.outputs}
        for root, folders, names in os.walk(self.folder):
            folders[:] = [
                name for name in folders if name not in _SKIPPED and os.path.realpath(f"{root}/{name}") != work_folder
            ]
            paths.update(Path(root, name) for name in names)
        for path in paths:
            if path.is_file() and not path.is_symlink():
                stat = path.stat()
                yield path, (stat.st_mtime_ns, stat.st_size, stat.st_ino)

    def clear(self) -> None:
        """Remove the copies of what was built."""
        shutil.rmtree(self.work / "variants", ignore_errors=True)

    def _keep_files(self, files: Iterable[Path]) -> Variant:
        target = self.work / "variants" / str(self.count)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        copies = {}
        for number, path in enumerate(files):
            copies[path] = target / f"{number}-{path.name}"
            shutil.copy2(path, copies[path])
        return Variant(copies, target)

    def _note_calls(self) -> bool:
        """Record the calls of this build; return whether any of them compiles."""
        notes = sorted((self.work / "calls").iterdir())
        new_calls = self._note(note.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1] for note in notes)
        calls = [[str(call.folder), *call.words] for call in self.calls.values()]
        self._calls_file.write_text(json.dumps(calls), encoding="utf-8")
        return any(call.sources for call in new_calls)

    def _note(self, calls: Iterable[Sequence[str]]) -> list[Call]:
        parsed = [call for folder, *words in calls if (call := _call(Path(folder), words)) is not None]
        self.calls |= {call.outputs: call for call in parsed}
        return parsed


def overlay_flags(folder: Path, sources: Mapping[Path, bytes]) -> list[str]:
    """Flags that make clang read replaced texts, which are written to a folder, under the names of the sources."""
    if not sources:
        return []
    roots: list[dict[str, str]] = []
    for number, (path, text) in enumerate(sources.items()):
        (folder / str(number)).write_bytes(text)
        for name in {str(path), os.path.realpath(path)}:
            roots.append({"type": "file", "name": name, "external-contents": str(folder / str(number))})
    overlay = {"version": 0, "case-sensitive": "true", "use-external-names": "false", "roots": roots}
    (folder / "overlay.json").write_text(json.dumps(overlay), encoding="utf-8")
    return ["-ivfsoverlay", str(folder / "overlay.json")]


@contextlib.contextmanager
def _touched(files: Iterable[Path]) -> Iterator[None]:
    """Touch files so that make compiles them again; afterwards they have their old times."""
    old_stats = {path: path.stat() for path in files}
    with contextlib.suppress(PermissionError):  # of somebody else: then what was made of them is gone, at least
        for path in old_stats:
            os.utime(path)
    try:
        yield
    finally:
        with contextlib.suppress(PermissionError):
            for path, stat in old_stats.items():
                os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _call(folder: Path, words: Sequence[str]) -> Call | None:
    """The call that a compiler's arguments stand for; None if it writes no file, as with ``-E`` and ``--version``."""
    if {"-E", "-M", "-MM", "-fsyntax-only"}.intersection(words):
        return None
    output, sources, inputs = "", [], []
    iterator = iter(words)
    for word in iterator:
        if word == "-o":
            output = next(iterator, "")
        elif word.startswith("-o"):
            output = word[2:]
        elif word in ("-I", "-D", "-U", "-include", "-isystem", "-iquote", "-MF", "-MT", "-MQ", "-x", "-L", "-l"):
            next(iterator, None)
        elif not word.startswith("-"):
            inputs.append(word)
            if Path(word).suffix in _SOURCES:
                sources.append(Path(os.path.normpath(folder / word)))
    if not inputs:
        return None
    ending = ".o" if "-c" in words else ".s" if "-S" in words else ""
    outputs = [output] if output else [Path(path).stem + ending for path in inputs] if ending else ["a.out"]
    return Call(folder, tuple(words), tuple(sources), tuple(folder / path for path in outputs))


def _quoted(word: str) -> str:
    """A word of a response file, in which a backslash counts in quotes of either kind."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
