"""`ParallelLoops`: threads and schedule of loops with ``#pragma omp parallel for``."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mirenc.base.errors import MirencError, TaskError
from mirenc.decide.task_head import TaskHead
from mirenc.decide.tasks.openmp import DIALECT, clauses, parallel_regions
from mirenc.llvm import IRModule, Region, regions_of
from mirenc.llvm.analysis.profile import profiled_flow
from mirenc.llvm.analysis.trip_counts import profiled_iterations
from mirenc.tools.measure.machine import describe_machine
from mirenc.tools.measure.openmp import OpenMPMethod, parallel_loops, with_clauses
from mirenc.tools.tune.tuning_case import Case, Place, text_of

# What is outlined is static, and known by its source too: not by the path, which a build may give otherwise.
_BY_NAME = ("-mllvm", "-static-func-strip-dirname-prefix=99")
_BY_HAND = ("schedule(static)", "schedule(dynamic)", "schedule(dynamic, 16)", "schedule(guided)", "num_threads(1)")


class ParallelLoops(Case):
    """OpenMP. The head's problem size n is the trip count.

    clang's own counters are wrong in what it outlines of a parallel loop (19: a loop's body counts as the function's
    entry), so LLVM's are taken. They are of the IR, which must be that of the question: `DIALECT`, without the clauses
    that are decided about, and one thread, so that a function's entry is a loop's.
    """

    places_are = "parallel loops"
    work_is = "the work of parallel loops"
    profile = (*DIALECT.flags["c"][len(("-x", "c")) :], "-fprofile-generate", *_BY_NAME)
    profile_use = (*_BY_NAME, "-fprofile-use={}")
    profile_run = "export OMP_THREAD_LIMIT=1 KMP_WARNINGS=0\n"
    clock = "wall"
    least = 0.0  # what a loop calls is not counted

    def __init__(self, head: TaskHead, compiler: str, program: Path) -> None:
        OpenMPMethod().parts()  # two cores, or an error
        super().__init__(head, compiler, program)
        self.cores = int(describe_machine()["cores"])

    def profiled_text(self, text: str) -> str:
        return self.write(text, dict.fromkeys(parallel_loops(text), ""))

    def regions(self, module: IRModule) -> list[Region]:
        return parallel_regions(module)

    def weigh(self, module: IRModule, regions: Sequence[Region]) -> list[tuple[float, float]]:
        flow, sizes = profiled_flow(module), np.diff(module.arrays.block_start)
        headers = {function.name: function.header for function in module.defined_functions}
        loops = [loop for loop in regions_of(module, "loop").regions if loop.depth == 1]
        runs = []
        for region in regions:
            header = headers[region.symbol]
            blocks = slice(header.first_block, header.last_block)
            iterations = max(
                (profiled_iterations(module, loop) for loop in loops if loop.symbol == region.symbol), default=0.0
            )
            entries = 0.0 if flow is None else float(flow.blocks[blocks.start])
            instructions = float(flow.blocks[blocks] @ sizes[blocks]) if flow is not None and entries else 0.0
            runs.append((instructions, iterations / entries if instructions else 0.0))
        return runs

    def context(self, module: IRModule, trips: float) -> dict[str, str]:
        return {"n": f"{trips:.6g}"}

    def proposals(self, place: Place, tries: int) -> list[str]:
        assert place.source is not None
        assert place.region is not None
        if place.file != Path(str(place.source.value)).absolute():
            raise TaskError("the loop is in a header, which several sources may read")
        if place.line not in parallel_loops(text_of(place.file)):
            problem = "no `#pragma omp parallel for` begins on this line"
            raise TaskError(f"{problem}: the pragma comes from a macro, or `parallel` and `for` are two pragmas")
        predicted = []
        with contextlib.suppress(MirencError):  # such as a trip count below 1: what people try is left
            (answer,) = self.head.predict(place.source, place.context, region_filter=place.region.__eq__)
            peak = max(threads for threads, *_ in self.head.space.settings) if self.head.space else self.cores
            # All threads or one: the machine that was measured may have had more of them, or fewer.
            predicted = [
                clauses(int(peak), str(schedule), int(chunk)).partition(" ")[2] if threads == peak else "num_threads(1)"
                for threads, schedule, chunk in answer.proposals
            ]
        half_threads = [f"num_threads({self.cores // 2})"] if self.cores > 3 else []
        return list(dict.fromkeys([*list(dict.fromkeys(predicted))[:tries], *_BY_HAND, *half_threads]))

    def write(self, text: str, directives: Mapping[int, str]) -> str:
        for line, directive in directives.items():
            text = with_clauses(text, line, directive)
        return text
