"""How OpenMP is measured: threads and schedules of one parallel loop, on the cores of this machine.

Each setting is a compilation of its own, with the clauses that a user would write. The environment of the process is
left as it is: what libomp does where nobody says anything (threads spin for 200 ms after a region, and are not bound
to cores) is what most programs run with.
"""

import hashlib
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from mirenc.base.errors import CompileError, TaskError, ToolchainError
from mirenc.decide.settings import Space, Value
from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.decide.tasks.openmp import DIALECT, clauses, openmp_space, parallel_regions, without_places
from mirenc.llvm import parse_ir
from mirenc.llvm.inputs.pragmas import blanked
from mirenc.tools.measure import building
from mirenc.tools.measure.building import CSource
from mirenc.tools.measure.machine import describe_machine
from mirenc.tools.measure.method import Method
from mirenc.tools.measure.runners import Build, Cell
from mirenc.tools.run.compilers import Toolchain, compile_problem, find_clang, link_problem

_FLAGS = ("-O3", "-fopenmp")
_TIMEOUT = 20.0  # seconds: a variant is a whole optimised build here, and nobody waits for it
_SIZES = 5  # the least takes a thread 0.5 to 4 us, where starting another costs as much
_PROBE = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
_PACKAGES = "clang-19 libomp-19-dev"

_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b(?:\\\r?\n|[^\n])*", re.MULTILINE)
_LINE_BREAK = re.compile(r"\\\r?\n")
_LOOP = re.compile(r"omp\s+parallel\s+for\b")
_CLAUSE = re.compile(r"(?:[ \t,]|\\\r?\n)*\b(?:num_threads|schedule)(?:\s|\\\r?\n)*\(")


class OpenMPMethod(Method):
    """Threads, schedule and chunk size of C kernels with one parallel loop, in five sizes, on the whole machine."""

    task = "openmp"
    default_count = 365  # all of them
    one_thread = False

    @property
    def space(self) -> Space:
        return openmp_space(_cores())

    def parts(self) -> tuple[str, ...]:
        if _cores() < 2:
            raise TaskError("this process may use one core only. Measure OpenMP where it may use two or more")
        return ("",)

    def find_compiler(self, compiler: str | None) -> Toolchain:
        clang = find_clang(compiler, "no clang on PATH that builds OpenMP programs", _PACKAGES)
        if problem := link_problem(clang, _FLAGS, _PROBE):
            advice = f"Install one (Debian: `apt-get install {_PACKAGES}`), or name one with --compiler"
            raise ToolchainError(f"{clang} builds no OpenMP program ({problem}). {advice}")
        return Toolchain(clang, _FLAGS, _TIMEOUT)

    def own_kernels(self, count: int) -> Iterator[MeasuredKernel]:
        """Each kernel at one of its sizes, then each at another, until all five are through."""
        sources = list(_own_sources().items())
        random.Random(0).shuffle(sources)
        for index in range(min(count, _SIZES * len(sources))):
            turn, row = divmod(index, len(sources))
            yield list(_kernels(*sources[row]))[(turn + row) % _SIZES]

    def user_kernels(self, paths: Sequence[Path], toolchain: Toolchain) -> Iterator[MeasuredKernel]:
        for path in building.c_sources(paths):
            yield from _kernels(path.stem, building.user_source(path, toolchain))

    def build(self, kernel: MeasuredKernel, part: str, folder: Path, toolchain: Toolchain) -> Build:
        driver = building.build_driver(kernel, folder, toolchain)
        tools, space, settings = toolchain.beside(kernel.include), self.space, enumerate(self.space.settings)
        cells = tuple(_cell(kernel, setting, folder / f"{number}.so", tools) for number, setting in settings)
        default = cells[space.default]
        if default.problem:
            raise CompileError(f"{default.problem}. Mend the source, or give flags that it needs with --cflags")
        # The same bytes at another address: the linker gives them again, so they need not be built again.
        shutil.copyfile(folder / default.library, folder / "copy.so")
        ir, symbol = _region(kernel, tools)
        return Build(cells, replace(default, library="copy.so"), driver, ir, symbol, default=space.default)


def _cell(kernel: MeasuredKernel, setting: tuple[Value, ...], library: Path, toolchain: Toolchain) -> Cell:
    threads, schedule, chunk = setting
    source = library.with_name("kernel.c")  # the same name for all: the objects tell it
    new_clauses = clauses(int(threads), str(schedule), int(chunk))
    source.write_text(with_clauses(kernel.source, kernel.line, new_clauses), encoding="utf-8")
    flags = ["-w", "-fPIC", "-shared", *toolchain.cflags]
    command = [toolchain.compiler, *flags, str(source), "-o", str(library), "-lm"]
    if problem := compile_problem(command, toolchain.timeout):
        return Cell(setting, setting, problem=problem)
    return Cell(setting, setting, hashlib.sha256(library.read_bytes()).hexdigest(), library.name, kernel.function)


def _region(kernel: MeasuredKernel, toolchain: Toolchain) -> tuple[str, str]:
    """IR of the kernel without the clauses that are decided about, and the name of its outlined function."""
    toolchain = replace(toolchain, cflags=toolchain.cflags[len(_FLAGS) :])  # the user's flags
    source = with_clauses(kernel.source, kernel.line, "")
    module = without_places(parse_ir(building.ir_of("kernel.c", source, "c", toolchain, DIALECT), name=kernel.name))
    for region in parallel_regions(module):
        if region.line == kernel.line:
            return module.annotated, region.symbol
    problem = f"{toolchain.compiler} did not outline the parallel loop on line {kernel.line} into a function"
    raise CompileError(f"{problem}. Is the loop ever reached?")


def _kernels(name: str, source: CSource) -> Iterator[MeasuredKernel]:
    """Each parallel loop of the function that a driver names, at each of its sizes."""
    first, last = function_span(source.text, source.function)
    lines = [line for line in parallel_loops(source.text) if first <= line <= last]
    if not lines:
        raise TaskError(f"{name}: {source.function!r} has no `#pragma omp parallel for`. Name another function")
    family = re.match(r"/\* (\w+):", source.text)
    for line in lines:
        place = f"{name}:{line}" if len(lines) > 1 else name
        yield from source.kernels(place, line, name, family[1] if family else name)


@cache
def _own_sources() -> dict[str, CSource]:
    """The project's kernels by name, each with its driver and what that includes."""
    folder, ending = building.KERNELS / "openmp", ".driver.c"
    inputs = (folder / "inputs.h").read_text(encoding="utf-8")
    sources = {}
    for path in sorted(folder.glob(f"*{ending}")):
        name = path.name.removesuffix(ending)
        driver = path.read_text(encoding="utf-8").replace('#include "inputs.h"\n', inputs)
        sources[name] = building.c_source((folder / f"{name}.c").read_text(encoding="utf-8"), driver, path.name)
    return sources


def _cores() -> int:
    return describe_machine()["cores"]


def parallel_loops(source: str) -> dict[int, slice]:
    r"""Pragmas ``omp parallel for`` of a C or C++ source: first line, from 1 -> place of the text.

    The last line's end is not in it, nor what is commented there.

    Examples
    --------
    >>> parallel_loops("void f(void) {\n#pragma omp parallel for\n")
    {2: slice(15, 39, None)}
    """
    code = blanked(source)
    places = {}
    for match in _PRAGMA.finditer(code):
        if _LOOP.search(_LINE_BREAK.sub(" ", match[0])):
            line = code.count("\n", 0, match.start()) + 1
            places[line] = slice(match.start(), match.start() + len(match[0].rstrip()))
    return places


def function_span(source: str, name: str) -> tuple[int, int]:
    r"""First and last line of a function's definition, from 1; (0, 0) if the source has none.

    Examples
    --------
    >>> function_span("int f(int x);\nint f(int x)\n{\n    return x;\n}\n", "f")
    (2, 5)
    """
    code = blanked(source)
    for match in re.finditer(rf"\b{re.escape(name)}\s*(?=\()", code):
        if opening := re.compile(r"[^{};]*\{").match(code, _after_brackets(code, match.end())):
            end = _after_brackets(code, opening.end() - 1, "{}")
            return code.count("\n", 0, match.start()) + 1, code.count("\n", 0, end) + 1
    return 0, 0


def with_clauses(source: str, line: int, new_clauses: str) -> str:
    r"""Put ``new_clauses`` in place of ``num_threads`` and ``schedule`` in the pragma of a line.

    Lines keep their numbers. ``new_clauses`` may be "". Raises TaskError: no pragma of a parallel loop begins there.

    Examples
    --------
    >>> with_clauses("#pragma omp parallel for schedule(static) collapse(2)\n", 1, "num_threads(4)")
    '#pragma omp parallel for collapse(2) num_threads(4)\n'
    """
    pragmas = parallel_loops(source)
    if line not in pragmas:
        lines = ", ".join(map(str, pragmas)) or "no line"
        raise TaskError(f"line {line} has no `#pragma omp parallel for`; available: {lines}. Name such a line")
    # Commented words are blank in the code, at the same places.
    place = pragmas[line]
    text, code = source[place], blanked(source)[place]
    remaining, position = "", 0
    while match := _CLAUSE.search(code, position):
        end = _after_brackets(code, match.end() - 1)
        breaks = "".join(_LINE_BREAK.findall(code[match.start() : end]))
        # A clause may stand between two words with nothing else to part them.
        separator = " " if breaks or not code[end : end + 1].isspace() else ""
        remaining += text[position : match.start()] + separator + breaks
        position = end
    remaining = (remaining + text[position:]).rstrip(" \t,")
    return source[: place.start] + " ".join(filter(None, (remaining, new_clauses))) + source[place.stop :]


def _after_brackets(code: str, opening: int, kind: str = "()") -> int:
    """The place after the bracket that closes the one at ``opening``, or the end."""
    depth = 0
    for position in range(opening, len(code)):
        depth += {kind[0]: 1, kind[1]: -1}.get(code[position], 0)
        if depth == 0:
            return position + 1
    return len(code)
