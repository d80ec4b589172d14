"""OpenMP: threads and schedule of a parallel loop, measured on the machine at hand.

The decision is whether a loop of this size is worth its threads at all, and which schedule suits uneven work. The costs
are those of `mirenc measure openmp`, the settings follow from the cores they were measured on. A region is the function
that clang outlines from a parallel loop (``f.omp_outlined``).
"""

import re
from typing import Any

import numpy as np

from mirenc.base.errors import TaskError
from mirenc.decide.context import Context, Feature
from mirenc.decide.protocols import Protocol
from mirenc.decide.settings import Setting, Space
from mirenc.decide.tables.measured import MeasuredTable, MeasuredTask
from mirenc.encoder import Encoder
from mirenc.llvm import Dialect, IRModule, Region, parse_ir, regions_of

KNOBS = ("num_threads", "schedule", "chunk_size")
# A chunk of 0: the clause names none. The default of OpenMP is static without a chunk.
_CHUNKED = tuple((kind, chunk) for kind in ("dynamic", "guided") for chunk in (1, 8, 64, 512))
_SCHEDULES = (("static", 0), ("static", 1), *_CHUNKED)
_SERIAL = len(_SCHEDULES)  # the first setting of one thread

_COMMON = ("-O1", "-fopenmp", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-gline-tables-only")
# Loops as written, in the function that the runtime calls. Lines are for people: `without_places`.
DIALECT = Dialect(
    title="C or C++ with OpenMP at -O1, neither unrolled nor vectorised",
    flags={"c": ("-x", "c", *_COMMON), "c++": ("-x", "c++", *_COMMON)},
)

# The place in the source that clang passes to the runtime: with debug information its file and line.
_PLACE = re.compile(r'^(@[-\w.]+ = .*constant) \[\d+ x i8\] c";[^"]*;;\\00"', re.MULTILINE)
_UNKNOWN_PLACE = r'\1 [23 x i8] c";unknown;unknown;0;0;;\\00"'
_IDENT = re.compile(
    r"^(@[-\w.]+) = .*constant %struct\.ident_t \{ (i32 \d+, i32 \d+, i32 \d+), i32 \d+, ptr (@[-\w.]+) \}.*\n",
    re.MULTILINE,
)


def openmp_space(cores: int) -> Space:
    """All cores of a machine or one, in ten schedules; default: all, static. Raises TaskError: fewer than two cores."""
    if cores < 2:
        raise TaskError(f"{cores} core: OpenMP has nothing to decide. Name two cores or more")
    settings = tuple((threads, *schedule) for threads in (cores, 1) for schedule in _SCHEDULES)
    return Space(KNOBS, settings, default=0, missing="never")


def without_places(module: IRModule) -> IRModule:
    """The module with places in the source as clang writes them without debug information; its lines are kept.

    With debug information they name the source file, so that vectors would depend on the name of its folder.
    """
    original = module.annotated or module.text
    text = _PLACE.sub(_UNKNOWN_PLACE, original)
    first_symbols: dict[str, str] = {}  # flags of a place -> its first symbol
    representatives: dict[str, str] = {}  # symbol of a place -> the one that stands for it
    strings = [match[1].split(" ")[0] for match in _PLACE.finditer(original)]
    for match in _IDENT.finditer(text):
        if match[3] in strings:
            representatives[match[1]] = first_symbols.setdefault(match[2], match[1])

    def without_repeats(match: re.Match[str]) -> str:
        if match[1] not in representatives:
            return match[0]
        return match[0].replace(match[3], strings[0]) if match[1] in first_symbols.values() else ""

    text = _IDENT.sub(without_repeats, text)
    for name in strings[1:]:
        text = re.sub(rf"^{re.escape(name)} = .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"@[-\w.]+", lambda match: representatives.get(match[0], match[0]), text)
    text = re.sub(r"(?<=, i32 )\d+(?=, ptr " + re.escape(strings[0]) + r" \})", "22", text) if strings else text
    return module if text == original else parse_ir(text, name=module.name)


def parallel_regions(module: IRModule) -> list[Region]:
    """Functions that clang outlined from parallel loops: they ask the runtime for their share of the iterations."""
    arrays, symbols = module.arrays, module.symbols
    asking_functions = set()
    for function in module.defined_functions:
        rows = np.unique(arrays.callee[function.header.first : function.header.last])
        called = {symbols[row].strip('@"') for row in rows if row >= 0}
        if any(name.startswith(("__kmpc_for_static_init", "__kmpc_dispatch_init")) for name in called):
            asking_functions.add(function.name)
    functions = regions_of(module, "function").regions
    return [region for region in functions if "omp_outlined" in region.symbol and region.symbol in asking_functions]


class OpenMP(MeasuredTask):
    """Threads and schedule of each parallel loop, for a problem size.

    Heads learn from loops without ``num_threads`` and ``schedule``. Questions are read as they are: a loop with a
    schedule of its own looks different, so remove the clause before asking.
    """

    name = "openmp"
    title = "OpenMP threads and schedule"
    source = "mirenc measure openmp"
    method = "mirenc.tools.measure.openmp:OpenMPMethod"
    level = "function"
    dialect = DIALECT
    context = Context(Feature("n", "problem size, 1 or more, as in the bounds of the loops", least=1), encode=np.log2)
    protocols = (
        Protocol("kernel", "ten folds of kernels", lambda data: data.group, folds=10),
        Protocol("family", "leave one family of kernels out", lambda data: data.suite, folds=None),
    )
    baselines = {"default": 0, "one thread": _SERIAL}
    select = "speedup"
    seconds = True
    default_words = "all threads, schedule(static): leave it"
    directive_note = (
        "only num_threads and schedule are decided; other clauses of a loop stay. The threads are those of the machine "
        "that was measured"
    )

    def table_space(self, table: MeasuredTable) -> Space:
        return openmp_space(max((int(values[0]) for sample in table.samples for values in sample.settings), default=2))

    def read(self, encoder: Encoder, ir: Any) -> IRModule:
        return without_places(super().read(encoder, ir))

    def regions(self, module: IRModule) -> list[Region]:
        """Its parallel loops. Raises TaskError: it has none."""
        loops = parallel_regions(module)
        if not loops:
            advice = "Give a source with `#pragma omp parallel for`, or IR that clang made of one with -fopenmp"
            raise TaskError(f"{module.name} has no parallel loop. {advice}")
        return loops

    def directive(self, setting: Setting) -> str:
        """The pragma that asks for a setting; clauses of the loop's own, such as reductions, stay beside these."""
        return f"#pragma omp parallel for {clauses(int(setting[0]), str(setting[1]), int(setting[2]))}"


def clauses(threads: int, schedule: str, chunk: int) -> str:
    """Clauses that ask for a setting.

    Examples
    --------
    >>> clauses(2, "dynamic", 8), clauses(1, "static", 0)
    ('num_threads(2) schedule(dynamic, 8)', 'num_threads(1) schedule(static)')
    """
    return f"num_threads({threads}) schedule({schedule}{f', {chunk}' if chunk else ''})"
