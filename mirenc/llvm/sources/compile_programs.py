"""Programs to IR: many compilations side by side, each of which may fail."""

import hashlib
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from mirenc.base.config import Config
from mirenc.base.errors import ConfigError, unknown
from mirenc.base.run_program import run_limited
from mirenc.llvm.sources.ir_folder import FAILURES, IRFolder, IRRecord, Status, digest

Advance = Callable[[int, str], None]
"""Called with the number of files finished since the last call, and a note such as the project's name."""

CHUNK = 24  # programs handed to the compilers at once: what bounds the IR in memory
LEVEL_FLAGS: Mapping[str, tuple[str, ...]] = {
    "O0": ("-O0", "-Xclang", "-disable-O0-optnone"),
    "O1": ("-O1",),
    "O2": ("-O2",),
    "O3": ("-O3",),
    "Os": ("-Os",),
    "Oz": ("-Oz",),
    "Oz-start": ("-Oz", "-Xclang", "-disable-llvm-passes"),
}
"""clang's flags for each optimisation level; -O0 without `optnone`, which would keep later passes away.

``Oz-start`` is the input of -Oz's passes: functions are marked minsize and optsize, and no pass has run.
"""


class Limits(Config):
    """What one compilation may take: seconds, and bytes of IR, of which a few giants would be most."""

    seconds: float = Field(60, gt=0)
    max_file_bytes: int = Field(1_500_000, ge=1)


@dataclass(frozen=True, slots=True)
class Choices:
    """How sources are compiled; ConfigError for a level that no compiler has, or no level."""

    levels: Sequence[str] | None = None  # default: O0 and O2 for all, Oz for every eighth file
    compiler: str | None = None  # a clang for all but Fortran; default: the first on PATH
    cflags: Sequence[str] = ()  # that all sources of a folder need
    cuda_path: Path | None = None  # a CUDA toolkit's headers, where there are CUDA sources
    with_reserved: bool = False  # also programs for evaluation: for what no model is pre-trained on

    def __post_init__(self) -> None:
        for level in self.levels or ():
            if level not in LEVEL_FLAGS:
                raise ConfigError(unknown("optimisation level", level, LEVEL_FLAGS))
        if self.levels is not None and not self.levels:
            raise ConfigError(f"no optimisation level given. Name some of: {', '.join(LEVEL_FLAGS)}")

    @property
    def toolkit(self) -> Path | None:
        """``cuda_path``, wherever a compiler runs."""
        return self.cuda_path and self.cuda_path.resolve()


@dataclass(frozen=True, slots=True)
class Program:
    """One translation unit and how to compile it: words as in `IRRecord`."""

    project: str
    file: str
    language: str
    compiler: str
    root: Path  # where the compiler runs: relative paths keep this machine's folders out of the IR
    commands: Mapping[str, tuple[str, ...]]  # level -> command that writes text IR; -o is added when it runs
    stamp: str = ""
    version: str = ""
    refused: tuple[str, ...] = ()  # flags of its build that this compiler does not know
    problem: str = ""  # why it cannot be compiled here


def levels_of(project: str, file: str, language: str, levels: Sequence[str] | None = None) -> tuple[str, ...]:
    """Optimisation levels of one file, as `Choices` has them. flang has no -O for size."""
    if levels is None:
        levels = ("O0", "O2", "Oz") if digest(f"{file}/{project}") % 8 == 0 else ("O0", "O2")
    return tuple(level for level in levels if language != "fortran" or level[:2] not in ("Os", "Oz"))


def compile_programs(
    programs: Iterable[Program], folder: IRFolder, *, jobs: int, limits: Limits, advance: Advance = lambda *_: None
) -> None:
    """Compile programs at the levels that a folder of IR does not know; one that fails is one record, never an error.

    The programs are taken chunk by chunk, so they may be longer than memory. ``jobs`` compilers run at once.
    """
    remaining = iter(programs)
    with ThreadPoolExecutor(jobs) as pool:
        while chunk := list(itertools.islice(remaining, CHUNK)):
            for program, _ in compile_chunk(pool, chunk, folder, limits):
                advance(1, program.project)


def compile_chunk(
    pool: ThreadPoolExecutor, chunk: Sequence[Program], folder: IRFolder, limits: Limits
) -> Iterator[tuple[Program, list[IRRecord]]]:
    """Compile programs side by side, store the results in their order, and yield each program with its new records."""
    # Looked up before any of them runs: what is tried must not depend on which compiler is done first.
    records = [
        {level: folder.get((program.project, program.file, level)) for level in program.commands} for program in chunk
    ]
    for program, results in zip(chunk, pool.map(_compile, chunk, records, itertools.repeat(limits)), strict=True):
        yield program, [folder.add(record, ir) for record, ir in results]


def _compile(
    program: Program, records: Mapping[str, IRRecord | None], limits: Limits
) -> list[tuple[IRRecord, bytes | None]]:
    """Results at the levels not yet tried. What fails at one level is not tried at the next."""
    results = []
    for level, record in records.items():
        if record is None:
            results.append(_compile_level(program, level, limits))
        if (record or results[-1][0]).status in FAILURES:
            break
    return results


def _compile_level(program: Program, level: str, limits: Limits) -> tuple[IRRecord, bytes | None]:
    status: Status
    code: int | None = 1
    words = f"error: {program.problem or f'no folder {program.root}'}"  # removed since a build's commands were written
    language, reason = program.language, ""
    with tempfile.TemporaryDirectory(prefix="mirenc-") as scratch:
        output = Path(scratch, "output.ll")
        # flang writes a `.mod` file for every module: kept out of the sources, where the next file would find it or
        # not, depending on the order.
        modules = ("-module-dir", scratch) if language == "fortran" else ()
        nice = ("nice", "-n", "10") if shutil.which("nice") else ()
        command = (*nice, *program.commands[level], *modules, "-o", str(output))
        if program.root.is_dir() and not program.problem:
            code, words = run_quietly(command, program.root, limits.seconds)
        size = output.stat().st_size if output.is_file() else 0
        ir = output.read_bytes() if 0 < size <= limits.max_file_bytes else b""
        if code is None:
            status, reason = "timeout", f"longer than {limits.seconds:g} s"
        elif code:
            lines = words.splitlines() or ["no reason given"]
            status, reason = "failed", next((line for line in lines if "error" in line), lines[-1])[:200]
        elif size > limits.max_file_bytes:
            status = "large"
        elif b"\ndefine " in ir:
            status, reason = "ok", f"without {' '.join(program.refused)}" if program.refused else ""
            language += "+openmp" if b"__kmpc_" in ir else ""
        else:
            status = "empty"
    sha256 = hashlib.sha256(b"".join(ir.split(b"\n", 2)[2:])).hexdigest()  # the first two lines name the source file
    origin = (program.project, program.version, program.file, language, level, program.compiler)
    return IRRecord(*origin, sha256, size, status, reason, program.stamp), ir if status == "ok" else None


def run_quietly(command: Sequence[str], folder: Path, seconds: float) -> tuple[int | None, str]:
    """Exit code and error output of a program; None if it did not end in time and was ended with all it started."""
    try:
        result = run_limited(command, timeout=seconds, memory_limit=None, folder=str(folder), most_output=0)
        return result.code, result.words
    except subprocess.TimeoutExpired:
        return None, ""
