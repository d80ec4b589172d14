"""How loop vectorization is measured: every vector width and interleave count of one loop, on each instruction set."""

import functools
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path

from mirenc.base.errors import CompileError, TaskError, ToolchainError
from mirenc.decide.loop_task import instruction_sets
from mirenc.decide.tables.measured import RUN, MeasuredKernel, read_kernels
from mirenc.decide.tasks.vectorization import Vectorization
from mirenc.llvm import IRModule, Region, parse_ir
from mirenc.llvm.analysis.loop_branches import taken_branches
from mirenc.llvm.analysis.regions import find_loop
from mirenc.llvm.analysis.trip_counts import profiled_iterations
from mirenc.llvm.inputs.compile_source import compile_source
from mirenc.llvm.inputs.dialect import SCALAR_LOOPS
from mirenc.llvm.passes.loop_hint import Hint
from mirenc.tools.measure.building import KERNELS, build_driver, c_sources, ir_of, user_source
from mirenc.tools.measure.count_run import profiled
from mirenc.tools.measure.hints import HintedLoop
from mirenc.tools.measure.method import Method
from mirenc.tools.measure.runners import Build
from mirenc.tools.measure.vector_variants import COMMON_FLAGS, build_variants, hinted_ir
from mirenc.tools.profile.loops import mean_executions
from mirenc.tools.run.compilers import Toolchain, find_clang

_TASK = Vectorization()

# Instruction set -> flags. The levels of the x86-64 psABI are what people compile for; with that of 512 bits LLVM
# prefers vectors of 256.
ARCH_FLAGS = {"sse2": ("-march=x86-64",), "avx2": ("-march=x86-64-v3",), "avx512": ("-march=x86-64-v4",), "neon": ()}


class VectorizationMethod(Method):
    """Vector width, interleave count and LLVM's own choice for C loops, on each instruction set."""

    task = "vectorization"
    default_count = 2000

    def parts(self) -> tuple[str, ...]:
        if not (sets := instruction_sets()):
            problem = f"no instruction sets are known for {platform.machine()}"
            raise ToolchainError(f"{problem}. Measure on x86-64 or on 64-bit ARM")
        return sets

    def flags(self, part: str) -> tuple[str, ...]:
        return (*COMMON_FLAGS, *ARCH_FLAGS[part])

    def find_compiler(self, compiler: str | None) -> Toolchain:
        return Toolchain(find_clang(compiler, "no clang on PATH, whose code is measured", "clang"))

    def own_kernels(self, count: int) -> Iterator[MeasuredKernel]:
        return iter(read_kernels(KERNELS / "loops.json.xz")[:count])

    def user_kernels(self, paths: Sequence[Path], toolchain: Toolchain) -> Iterator[MeasuredKernel]:
        """The innermost loops of each source's function, at each size of its driver."""
        arms = [self.flags(part) for part in self.parts()]
        for path in c_sources(paths):
            source = user_source(path, toolchain, arms)
            # The user's own file, and not a copy: errors name it.
            data = compile_source(path, "c", compiler=toolchain.compiler, cflags=toolchain.cflags, dialect=SCALAR_LOOPS)
            module = parse_ir(data, name=str(path))
            for loop in _loops_of(path, module, source.function, toolchain):
                name, context = f"{path.stem}:{loop.line}", dict(_TASK.context.from_ir(module, loop))
                yield from source.kernels(name, loop.line, name, path.stem, context)

    def build(self, kernel: MeasuredKernel, part: str, folder: Path, toolchain: Toolchain) -> Build:
        source = folder / "kernel.c"
        source.write_text(kernel.source, encoding="utf-8")
        tools = toolchain.beside(kernel.include)
        text, region = self.scalar_ir(kernel, tools)
        hints = [Hint(*map(int, setting)) for setting in _TASK.space.settings[1:]]
        default, copy, hinted = build_variants(
            source, kernel.function, kernel.line, hints, flags=ARCH_FLAGS[part], toolchain=tools, name=part
        )
        driver = build_driver(kernel, folder, toolchain)
        return Build((default, *hinted), copy, driver, text, region.symbol, region.header)

    def run_context(self, kernel: MeasuredKernel, toolchain: Toolchain) -> dict[str, float]:
        """The loop's mean trip count and how often its branches are taken, to four digits; {} for what nobody knows."""
        assert kernel.region is not None
        if (module := profiled(kernel, toolchain.beside(kernel.include))) is None:
            return {}
        if not profiled_iterations(module, kernel.region):
            return {}
        context = {"trip_count": mean_executions(module)[find_loop(module, kernel.region)]}
        if branches := taken_branches(module, kernel.region):
            context |= {"taken": branches.share, "rarer": branches.rarer}
        return {f"{RUN}{name}": float(f"{value:.4g}") for name, value in context.items()}

    def scalar_ir(self, kernel: MeasuredKernel, toolchain: Toolchain) -> tuple[str, Region]:
        """IR for the heads, without source lines, and the loop in it. A `CompileError` where no such loop is left."""
        module = scalar_loops(kernel.source, toolchain)
        for loop in _TASK.regions(module):
            if loop.symbol == kernel.function and loop.line == kernel.line:
                return module.text, loop
        problem = f"at -O1 no innermost loop of {kernel.function!r} is left that begins in line {kernel.line}"
        raise CompileError(f"{problem}, so there is nothing to decide. Leave the source out")


@functools.lru_cache(maxsize=64)
def scalar_loops(source: str, toolchain: Toolchain) -> IRModule:
    """The kernel's IR as the heads of the task know it, read once for all instruction sets."""
    return parse_ir(ir_of("kernel.c", source, "c", toolchain, SCALAR_LOOPS), name="kernel.c")


def _loops_of(path: Path, module: IRModule, function: str, toolchain: Toolchain) -> list[Region]:
    """The innermost loops that a pragma can stand before in a driver's function.

    A loop of a function that it calls may have come into it, and a loop that is made of ``goto`` takes no pragma: these
    are left out. A `TaskError`: there is no such function or none of these loops, or two begin in one line.
    """
    names = [defined_function.name.strip('@"') for defined_function in module.defined_functions]
    if function not in names:
        problem = f"{path}: its driver times {function!r}, and functions here are {', '.join(names)}"
        raise TaskError(f"{problem}. Mend mirenc_function, or leave `static` out")
    loops = [loop for loop in _TASK.regions(module) if loop.symbol == function and loop.line]
    if not loops:
        missing = f"at -O1 no loop is left in {function!r}, so there is nothing to decide"
        raise TaskError(f"{path}: {missing}. Leave the source out")
    text = hinted_ir(path, toolchain)
    by_line: dict[int, Region] = {}
    reason = "all its loops come from other files, such as headers"
    for loop in loops:
        if loop.file != str(path):
            continue
        try:
            HintedLoop(text, function, loop.line)
        except CompileError as error:
            reason = str(error)
            continue
        if loop.line in by_line:
            raise TaskError(f"{path}:{loop.line}: two loops begin in this line. Give each a line of its own")
        by_line[loop.line] = loop
    if not by_line:
        raise TaskError(f"{path}: no loop of {function!r} can be measured: {reason}")
    return [*by_line.values()]
