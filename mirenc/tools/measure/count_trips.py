"""`mean_trip_count`: how often a loop runs each time it is entered, counted in one run of its driver.

The size that a driver is given need not be it: that of a nest is a side of its data, and a loop that searches may leave
at once. So the loop's function is built with two counters, at its header and at its back edges.
"""

import re
import subprocess
import tempfile
from pathlib import Path

from mirenc.base.run_program import run_limited
from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.tools.measure.building import INCLUDE
from mirenc.tools.measure.hints import HintedLoop
from mirenc.tools.measure.vector_variants import hinted_ir
from mirenc.tools.run.compilers import MEMORY_LIMIT, Toolchain, compile_problem

_LONGEST = 10.0  # seconds of the run
_MAIN = """
#include "mirenc_measure.h"
#include <stdio.h>
#include <stdlib.h>
extern unsigned long long mirenc_header, mirenc_back;
void {function}(void);
int main(int count, char **words)
{{
    if (mirenc_setup(atol(words[1])) != 0)
        return 1;
    mirenc_reset();
    mirenc_call((mirenc_kernel){function});
    fprintf(stderr, "\\nmirenc %llu %llu\\n", mirenc_header, mirenc_back);
    return 0;
}}
"""
_SAID = re.compile(r"mirenc (\d+) (\d+)$")


def mean_trip_count(kernel: MeasuredKernel, toolchain: Toolchain) -> float:
    """Mean iterations of a C kernel's loop, of all its entries in one call of the driver.

    Executions of its body, as `mirenc.llvm.analysis.trip_counts.constant_trip_counts` has them. 0 where none enters it,
    or where it does not build with counters or does not come to a good end. Raises CompileError: there is no such loop.
    """
    with tempfile.TemporaryDirectory(prefix="mirenc-") as folder:
        names = ("kernel.c", "kernel.ll", "main.c", "driver.c", "program")
        source, module, main, driver, program = (Path(folder, name) for name in names)
        source.write_text(kernel.source, encoding="utf-8")
        driver.write_text(kernel.driver, encoding="utf-8")
        main.write_text(_MAIN.format(function=kernel.function), encoding="utf-8")
        text, at_end = HintedLoop(hinted_ir(source, toolchain), kernel.function, kernel.line).counted()
        module.write_text(text, encoding="utf-8", errors="surrogateescape")
        command = [toolchain.compiler, "-O1", "-w", f"-I{INCLUDE}", *toolchain.cflags, str(module), "-x", "c"]
        if compile_problem([*command, str(driver), str(main), "-o", str(program), "-lm"]):
            return 0.0
        try:
            done = run_limited([str(program), str(kernel.size)], timeout=_LONGEST, memory_limit=MEMORY_LIMIT)
        except subprocess.TimeoutExpired:
            return 0.0
    printed = _SAID.search(done.words)
    if done.code or printed is None:
        return 0.0
    header, back = map(int, printed.groups())
    entered = header - back
    return (header if at_end else back) / entered if entered else 0.0
