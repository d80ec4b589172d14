"""Sources that are measured: C with its driver, the driver's build, IR as heads know it, and what headers say."""

import contextlib
import hashlib
import itertools
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from mirenc.base.errors import CompileError, IRFileError, TaskError
from mirenc.base.run_program import run_limited
from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.llvm.inputs.compile_source import compile_source
from mirenc.llvm.inputs.dialect import Dialect
from mirenc.llvm.inputs.file_kind import DRIVER, check_file
from mirenc.tools.run.compilers import MEMORY_LIMIT, TIMEOUT, Toolchain, compile_problem, without_folder

INCLUDE = Path(__file__).parent
HEADER = INCLUDE / "mirenc_measure.h"
KERNELS = INCLUDE / "kernels"
"""The project's own kernels, made by ``downstream/own_kernels``; those of OpenMP are files of C, each with a driver."""
_FUNCTION = re.compile(r"\bmirenc_function\s*\[\s*\]\s*=\s*\"(\w+)\"")
_SIZES = re.compile(r"\bmirenc_sizes\s*\[\s*\]\s*=\s*\{([\dlL\s,]*)\}")


def build_driver(kernel: MeasuredKernel, folder: Path, toolchain: Toolchain) -> str:
    """Build the driver of a C kernel and the timing loop into ``driver.so``, for `Build.driver`; or raise."""
    source = folder / "driver.c"
    source.write_text(kernel.driver, encoding="utf-8")
    flags = ["-O2", "-w", "-fPIC", "-shared", f"-I{INCLUDE}", *toolchain.beside(kernel.include).cflags]
    inputs = [str(source), str(INCLUDE / "harness.c")]
    if problem := compile_problem([toolchain.compiler, *flags, "-o", str(folder / "driver.so"), *inputs, "-lm"]):
        raise CompileError(f"its driver does not build: {problem}. {HEADER} says what it needs")
    return "driver.so"


@lru_cache(maxsize=512)
def ir_of(name: str, text: str, language: str, toolchain: Toolchain, dialect: Dialect | None) -> str:
    """IR of a source's text as heads know it, without names of this machine's folders; cached, as sizes share it."""
    with tempfile.TemporaryDirectory(prefix="mirenc-") as folder:
        path = Path(folder, name)
        path.write_text(text, encoding="utf-8")
        # In two words: clang 10 to 12 know no "=" here.
        cflags = (*toolchain.cflags, without_folder(folder), "-fdebug-compilation-dir", ".")
        ir = compile_source(path, language, compiler=toolchain.compiler, cflags=cflags, dialect=dialect)
    # The module's name alone: the length of a string that a program has stands in its type.
    return re.sub(rf"(?<=['\"]){re.escape(folder)}", ".", ir.decode("utf-8", "surrogateescape"), count=2)


def headers_digest(paths: Sequence[Path], toolchain: Toolchain, arms: Sequence[Sequence[str]] = ((),)) -> str:
    """Digest of preprocessed files, which tells when a header has changed.

    A file that it refuses counts as an empty one: its build tells what is wrong. ``arms`` are the flags of each way
    that they are built, as an instruction set's macros may choose headers.
    """
    digest = hashlib.sha256()
    for path, flags in itertools.product([path.absolute() for path in paths], arms):
        options = [f"-I{INCLUDE}", *flags, *toolchain.cflags, without_folder(path.parent)]
        command = [toolchain.compiler, "-w", *options, "-E", "-P", str(path)]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            result = run_limited(command, timeout=TIMEOUT, memory_limit=MEMORY_LIMIT)
            digest.update(result.output if result.code == 0 else b"")
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class CSource:
    """A source and its driver; ``sizes`` are the driver's without the 0 at their end."""

    text: str
    driver: str
    function: str
    sizes: tuple[int, ...]
    include: str = ""
    headers: str = ""

    def kernels(
        self, name: str, line: int, group: str, family: str, context: Mapping[str, float | str] | None = None
    ) -> Iterator[MeasuredKernel]:
        """The kernel of a line at each size; its context is the size unless one is given."""
        for size in self.sizes:
            yield MeasuredKernel(
                name=f"{name} n={size}",
                group=group,
                family=family,
                language="c",
                source=self.text,
                driver=self.driver,
                function=self.function,
                line=line,
                size=size,
                context={"n": size} if context is None else context,
                include=self.include,
                headers=self.headers,
            )


def read_text(path: Path) -> str:
    """Text of a user's file. A table keeps it, so it must be UTF-8; else an `IRFileError`."""
    check_file(path)
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        problem = f"{path}: byte {error.start} is not UTF-8, which sources and drivers must be"
        raise IRFileError(f"{problem}. Convert it, for example: iconv -f latin1 -t utf-8 {path.name}") from None


def c_sources(paths: Sequence[Path]) -> list[Path]:
    """The C sources among the user's files, without the drivers that stand beside their sources."""
    sources = []
    for path in paths:
        if path.suffix != ".c":
            raise TaskError(f"{path} is not a C source. Write what is measured as a C function, in a file NAME.c")
        check_file(path)
        if not path.name.endswith(DRIVER):
            sources.append(path)
        elif (source := path.with_name(f"{path.name.removesuffix(DRIVER)}.c")) not in paths:
            raise TaskError(f"{path} is a driver. Name its source, {source}")
    return sources


def user_source(path: Path, toolchain: Toolchain, arms: Sequence[Sequence[str]] = ((),)) -> CSource:
    """``NAME.c`` with ``NAME.driver.c`` beside it; ``arms`` as in `headers_digest`."""
    driver = path.with_suffix(DRIVER)
    if not driver.is_file():
        raise TaskError(f"{path}: no driver {driver.name} beside it. Write one; {HEADER} says what it defines")
    headers = headers_digest((path, driver), toolchain, arms)
    source = c_source(read_text(path), read_text(driver), str(driver))
    return replace(source, include=str(path.absolute().parent), headers=headers)


def c_source(text: str, driver: str, where: str) -> CSource:
    """A source and its driver, whose file is ``where``; a `TaskError` says what the driver lacks."""
    function, sizes_match = _FUNCTION.search(driver), _SIZES.search(driver)
    sizes = tuple(int(size) for size in re.findall(r"\d+", sizes_match[1]) if int(size)) if sizes_match else ()
    if function is None or not sizes:
        code = 'const char mirenc_function[] = "work"; const long mirenc_sizes[] = {1000, 100000, 0};'
        raise TaskError(f"{where}: it does not say which function is timed on which sizes. Write, for example: {code}")
    return CSource(text, driver, function[1], sizes)
