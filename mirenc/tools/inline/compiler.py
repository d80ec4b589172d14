"""A compiler that makes small objects: it tries other pass lists and other inlining than those of clang's -Oz.

``write_compiler`` makes it in a folder, for a build as it is. What was found of a source is a line of
``decisions.jsonl`` there: found again, it gives the same object without a search; where the source has changed since,
its decisions are taken for the calls that are left. Whatever comes of it, an object is never larger than by -Oz.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mirenc.base.errors import MirencError
from mirenc.base.writing import delivered
from mirenc.llvm.inputs.compiler_wrapper import driver, stand_in
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.pass_lists import level
from mirenc.llvm.passes.size_after_passes import Failed
from mirenc.tools.inline.calls import calls_of
from mirenc.tools.inline.trial import try_inlining, weight
from mirenc.tools.run.compilers import compile_or_raise

DECISIONS, LOG, _SETTINGS = "decisions.jsonl", "log.jsonl", "settings.json"
# What is read from a pipe is read once; what asks about the compiler is no part of the program.
_SOURCE = r"""case ${{!#}} in
    - | /dev/* | conftest.* | *CMake*CompilerId.c* | *CompilerABI.c* | */CMakeScratch/* | */CMakeTmp/*)
        exec -a clang "$clang" "$@" ;;
esac
[[ " $* " =~ \ -emit-obj\  && " $* " =~ \ -x\ c(\+\+)?\  ]] || exec -a clang "$clang" "$@"
exec {python} -P -m mirenc.tools.inline.compiler {folder} "$@"
"""
_LIMIT = 600.0  # seconds of one compilation, whose source the user's build has just compiled
_NAMES = re.compile(r"^(?:; ModuleID|source_filename) = .*\n", re.MULTILINE)  # other places, the same code


@dataclass(frozen=True)
class Settings:
    """How sources are compiled: by a ``clang`` of a major ``version`` (19).

    ``pipelines`` are tried, then so many ``builds`` with other inlining; with ``replay`` nothing is.
    """

    clang: str
    version: int
    pipelines: tuple[str, ...]
    builds: int
    replay: bool

    @property
    def compilations(self) -> int:
        """The most compilations of one source."""
        return 1 + len(self.pipelines) + self.builds


def write_compiler(folder: Path, settings: Settings) -> dict[str, str]:
    """Write the compiler under all usual names into ``folder/bin``; return the environment of a build that uses it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _SETTINGS).write_text(json.dumps(asdict(settings)), encoding="utf-8")
    (folder / LOG).write_text("", encoding="utf-8")
    words = {"python": shlex.quote(sys.executable), "folder": shlex.quote(str(folder.resolve()))}
    script = driver(Path(settings.clang), "mirenc serve inliner", "-Oz") + _SOURCE.format(**words)
    return stand_in(folder.resolve() / "bin", f"-{settings.version}", script)


def main(folder: Path, arguments: Sequence[str]) -> int:
    """Compile one source as the arguments of ``clang -cc1`` say, and make the object smaller; return the exit code."""
    settings = Settings(**json.loads((folder / _SETTINGS).read_text(encoding="utf-8")))
    result = subprocess.run([settings.clang, *arguments], check=False)
    if result.returncode:
        return result.returncode
    output = Path(arguments[len(arguments) - arguments[::-1].index("-o")])
    source = os.path.relpath(arguments[-1], folder.parent)  # wherever the build stands, and however it is moved
    line: dict[str, Any] = {"source": source, "oz": 0, "bytes": 0}
    try:
        line["oz"] = line["bytes"] = weight(output.read_bytes()).loaded_bytes
        with tempfile.TemporaryDirectory(prefix="mirenc-") as scratch:
            new_object = _smaller_object(folder, settings, arguments, source, Path(scratch))
        if (size := weight(new_object).loaded_bytes) < line["oz"]:
            with delivered(output) as part:
                part.write_bytes(new_object)
            line["bytes"] = size
    except MirencError as error:
        line["problem"] = " ".join(str(error).split())[:200]
    _append(folder / LOG, line)
    return 0


def _smaller_object(folder: Path, settings: Settings, arguments: Sequence[str], source: str, scratch: Path) -> bytes:
    bitcode, object_file, front_end = scratch / "code.bc", scratch / "code.o", [*arguments[:-1], "-disable-llvm-passes"]
    to_ir = ["-emit-llvm-bc" if word == "-emit-obj" else word for word in front_end]
    compile_or_raise([settings.clang, *to_ir, "-w", "-o", str(bitcode), arguments[-1]], _LIMIT)
    with SharedEngine(settings.version) as engine:
        text = engine.text(bitcode.read_bytes())
        key = hashlib.sha256(_NAMES.sub("", text).encode()).hexdigest()[:16]
        entry = _recorded_decisions(folder / DECISIONS, source, key)
        if not settings.replay and (entry.get("ir") != key or entry.get("compilations", 0) < settings.compilations):
            entry = _search(engine, text, settings)
            _append(folder / DECISIONS, {"source": source, "ir": key, "compilations": settings.compilations, **entry})
        calls = calls_of(engine.text(bitcode.read_bytes(), debug=True))
        inline = {(call["caller"], call["callee"], call["number"]): call["inline"] for call in entry.get("calls", ())}
        decisions = {row: inline[call] for row, call in enumerate(calls.calls) if call in inline}
        passes = entry.get("passes", level("Oz"))
        run = engine.deciding.text if decisions else engine.text
        bitcode.write_text(run(calls.decided(decisions).encode(), passes, debug=True), encoding="utf-8")
    compile_or_raise([settings.clang, *front_end, "-o", str(object_file), "-x", "ir", str(bitcode)], _LIMIT)
    return object_file.read_bytes()


def _search(engine: SharedEngine, text: str, settings: Settings) -> dict[str, Any]:
    """Find the pass list that gives the smallest object, and inlining decisions under it."""
    pipelines = [level("Oz"), *settings.pipelines]
    sizes = [
        float("inf") if isinstance(result, Failed) else result.loaded_bytes
        for result in engine.run_all(text.encode(), pipelines)
    ]
    best = pipelines[sizes.index(min(sizes))]
    trial = try_inlining(engine, text.encode(), best, settings.builds)
    calls = [{**call._asdict(), "inline": inline} for call, inline in trial.decisions]
    return {"passes": best, "calls": calls, "oz": sizes[0], "lists": min(sizes), "inlining": trial.after.loaded_bytes}


def _recorded_decisions(decisions: Path, source: str, key: str) -> Mapping[str, Any]:
    """The recorded decisions for this IR, else for an earlier version of its source, else {}."""
    entry: dict[str, Any] = {}
    for text in decisions.read_text(encoding="utf-8").splitlines() if decisions.exists() else ():
        with contextlib.suppress(ValueError):  # a line of a build that was killed
            line = json.loads(text)
            if line["ir"] == key or (line["source"] == source and entry.get("ir") != key):
                entry = line
    return entry


def _append(path: Path, line: dict[str, Any]) -> None:
    """Append a line, while other jobs of the build may append theirs."""
    with path.open("ab+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        broken = file.read() not in (b"", b"\n")  # by a build that was killed
        file.write(b"\n" * broken + json.dumps(line).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
