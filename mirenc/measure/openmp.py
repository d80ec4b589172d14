"""How OpenMP is measured: threads and schedules of one parallel loop, on the cores of this machine.

Each setting is a compilation of its own, with the clauses that a user would write. The environment of the process is
left as it is: what libomp does where nobody says anything (threads spin for 200 ms after a region, and are not bound
to cores) is what most programs run with.
"""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from mirenc.errors import CompileError, TaskError, ToolchainError
from mirenc.ir import parse_ir
from mirenc.ir.compile import compile_source, find_compiler
from mirenc.measure.building import (
    CSource,
    Toolchain,
    build_driver,
    c_source,
    c_sources,
    compile_problem,
    user_source,
    without_folder,
)
from mirenc.measure.kernel_files import KERNELS
from mirenc.measure.machine import describe_machine
from mirenc.measure.method import Method
from mirenc.measure.runners import Build, Cell
from mirenc.tasks.measured import MeasuredKernel
from mirenc.tasks.openmp import DIALECT, openmp_space, parallel_regions, without_places
from mirenc.tasks.openmp_pragma import clauses, function_span, parallel_loops, with_clauses
from mirenc.tasks.space import Space, Value

_FLAGS = ("-O3", "-fopenmp")
_TIMEOUT = 20.0  # seconds: a variant is a whole optimised build here, and nobody waits for it
_SIZES = 5  # the least takes a thread 0.5 to 4 us, where starting another costs as much
_INSTALL = "Install one (Debian: `apt-get install clang-19 libomp-19-dev`), or name one with --compiler"


class OpenMPMethod(Method):
    """C kernels with one parallel loop, five sizes each; number of threads, schedule, chunk; the machine as a whole."""

    task = "openmp"
    default_count = 365  # all of them
    one_thread = False

    @property
    def space(self) -> Space:
        """The settings for the cores of this machine."""
        return openmp_space(_cores())

    def parts(self) -> tuple[str, ...]:
        if _cores() < 2:
            raise TaskError("this process may use one core only. Measure OpenMP where it may use two or more")
        return ("",)

    def find_compiler(self, compiler: str | None) -> Toolchain:
        clang, *more = find_compiler("c", compiler)
        if more:  # ziglang's
            raise ToolchainError(f"no clang on PATH that builds OpenMP programs. {_INSTALL}")
        with tempfile.TemporaryDirectory(prefix="mirenc-") as folder:
            source = Path(folder, "probe.c")
            source.write_text("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
            command = [clang, *_FLAGS, str(source), "-o", str(Path(folder, "probe"))]
            if problem := compile_problem(command):
                raise ToolchainError(f"{clang} builds no OpenMP program ({problem}). {_INSTALL}")
        return Toolchain(clang, _FLAGS, _TIMEOUT)

    def own_kernels(self, count: int, seed: int) -> Iterator[MeasuredKernel]:
        """Each kernel at one of its sizes, then each at another, until all five are through."""
        sources = list(_own_sources().items())
        random.Random(seed).shuffle(sources)
        for index in range(min(count, _SIZES * len(sources))):
            turn, row = divmod(index, len(sources))
            yield list(_kernels(*sources[row]))[(turn + row) % _SIZES]

    def user_kernels(self, paths: Sequence[Path], toolchain: Toolchain) -> Iterator[MeasuredKernel]:
        for path in c_sources(paths):
            yield from _kernels(path.stem, user_source(path, toolchain))

    def build(self, kernel: MeasuredKernel, part: str, folder: Path, toolchain: Toolchain) -> Build:
        driver = build_driver(kernel, folder, toolchain)
        beside, space = toolchain.beside(kernel.include), self.space
        cells = tuple(
            _cell(kernel, setting, folder / f"{index}.so", beside) for index, setting in enumerate(space.settings)
        )
        default = cells[space.default]
        if default.problem:
            raise CompileError(f"{kernel.name}: {default.problem}. Mend it, or give flags it needs with --cflags")
        # The same bytes at another address: the linker gives them again, so they need not be built again.
        shutil.copyfile(folder / default.library, folder / "copy.so")
        ir, symbol = _region(kernel, folder, beside)
        return Build(cells, replace(default, library="copy.so"), driver, ir, symbol, default=space.default)


def _cell(kernel: MeasuredKernel, setting: tuple[Value, ...], library: Path, toolchain: Toolchain) -> Cell:
    threads, schedule, chunk = setting
    source = library.with_name("kernel.c")  # the same name for all: the objects tell it
    asked = clauses(int(threads), str(schedule), int(chunk))
    source.write_text(with_clauses(kernel.source, kernel.line, asked), encoding="utf-8")
    flags = ["-w", "-fPIC", "-shared", *toolchain.cflags]
    command = [toolchain.compiler, *flags, str(source), "-o", str(library), "-lm"]
    if problem := compile_problem(command, toolchain.timeout):
        return Cell(setting, setting, problem=problem)
    return Cell(setting, setting, hashlib.sha256(library.read_bytes()).hexdigest(), library.name, kernel.function)


def _region(kernel: MeasuredKernel, folder: Path, toolchain: Toolchain) -> tuple[str, str]:
    """IR of the kernel with no clause that is decided about, and its outlined function."""
    source = folder / "kernel.c"
    source.write_text(with_clauses(kernel.source, kernel.line, ""), encoding="utf-8")
    # The user's flags; and a table says nothing of the folder that somebody measured in.
    flags = (*toolchain.cflags[len(_FLAGS) :], "-fdebug-compilation-dir=.", without_folder(folder))
    ir = compile_source(source, "c", compiler=toolchain.compiler, cflags=flags, dialect=DIALECT)
    module = without_places(parse_ir(ir, name=kernel.name))
    for region in parallel_regions(module):
        if region.line == kernel.line:
            return module.annotated, region.symbol
    raise CompileError(
        f"{kernel.name}: {toolchain.compiler} makes no function of the loop on line {kernel.line}. Is it ever reached?"
    )


def _kernels(name: str, source: CSource) -> Iterator[MeasuredKernel]:
    """Each parallel loop of the function that a driver names, at each of its sizes."""
    first, last = function_span(source.text, source.function)
    lines = [pragma.line for pragma in parallel_loops(source.text) if first <= pragma.line <= last]
    if not lines:
        raise TaskError(f"{name}: no `#pragma omp parallel for` in function {source.function!r}. Name one that has it")
    family = re.match(r"/\* (\w+):", source.text)
    for line in lines:
        place = f"{name}:{line}" if len(lines) > 1 else name
        yield from source.kernels(place, line, name, family[1] if family else name)


@cache
def _own_sources() -> dict[str, CSource]:
    """The project's kernels by name, each with its driver and what that includes."""
    folder, ending = KERNELS / "openmp", ".driver.c"
    inputs = (folder / "inputs.h").read_text(encoding="utf-8")
    sources = {}
    for path in sorted(folder.glob(f"*{ending}")):
        name = path.name.removesuffix(ending)
        driver = path.read_text(encoding="utf-8").replace('#include "inputs.h"\n', inputs)
        sources[name] = c_source((folder / f"{name}.c").read_text(encoding="utf-8"), driver, path.name)
    return sources


def _cores() -> int:
    cores: int = describe_machine()["cores"]
    return cores
