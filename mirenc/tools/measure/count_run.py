"""`profiled`: a kernel's IR with the profile of one run of its driver, which tells what its loop's context lacks.

The size that a driver is given need not be the trip count: that of a nest is a side of its data, and a loop that
searches may leave at once. How often a branch is taken, only the data tell. So the IR is built with counters, and what
they say is written into it as ``!prof``, as a compiler's own profile would be.
"""

import functools
import itertools
import re
import subprocess
import tempfile
from pathlib import Path

from mirenc.base.run_program import run_limited
from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.llvm import IRModule, parse_ir
from mirenc.llvm.passes.find_llvm import EmbeddedEngine
from mirenc.tools.measure.building import INCLUDE
from mirenc.tools.profile.write_profile import FORK, forks, with_profile
from mirenc.tools.run.compilers import MEMORY_LIMIT, Toolchain, compile_problem

_LONGEST = 10.0  # seconds of the run
_MAIN = INCLUDE / "count_run.c"
_PRINTED = re.compile(r"mirenc((?: \d+)+)$")
_SWITCH = re.compile(r"switch (i\d+) (\S+), label %[^\[]*\[")
_CASE = re.compile(r"i\d+ (\S+), label %")


def profiled(kernel: MeasuredKernel, toolchain: Toolchain) -> IRModule | None:
    """The module of a C kernel's IR with a profile of its function in one call of the driver.

    None where it does not build with counters or does not come to a good end.
    """
    text = kernel.ir
    module = parse_ir(text, name=kernel.name)
    number = next(number for number, header in enumerate(module.headers) if header.name == kernel.function)
    blocks = forks(module, range(module.headers[number].first_block, module.headers[number].last_block))
    instrumented, widths = _with_counters(text, kernel.function)
    if len(widths) != len(blocks):
        return None
    with tempfile.TemporaryDirectory(prefix="mirenc-") as folder:
        program = Path(folder, "program")
        total = 1 + sum(map(abs, widths))
        if not (content := _program(instrumented, kernel.driver, kernel.function, total, toolchain)):
            return None
        program.write_bytes(content)
        program.chmod(0o700)
        try:
            result = run_limited([str(program), str(kernel.size)], timeout=_LONGEST, memory_limit=MEMORY_LIMIT)
        except subprocess.TimeoutExpired:
            return None
    match = _PRINTED.search(result.words)
    if result.code or match is None:
        return None
    entries, *counts = map(int, match[1].split())
    weights, place = {}, 0
    for block, width in zip(blocks, widths, strict=True):
        runs, *ways = counts[place : place + abs(width)]
        weights[block] = [*ways, runs - sum(ways)] if width > 0 else [runs - sum(ways), *ways]
        place += abs(width)
    return parse_ir(with_profile(text, module, weights, {number: entries})[0], name=kernel.name)


@functools.lru_cache(maxsize=4)  # a kernel's sizes share it
def _program(ir: str, driver: str, function: str, counts: int, toolchain: Toolchain) -> bytes:
    """The program of IR, a driver and `_MAIN`; b"" where it does not build."""
    with tempfile.TemporaryDirectory(prefix="mirenc-") as folder, EmbeddedEngine() as engine:
        code, source, program = (Path(folder, name) for name in ("kernel.o", "driver.c", "program"))
        # By the LLVM that printed the IR: clang's own may be older.
        code.write_bytes(engine.compile(ir.encode("utf-8", "surrogateescape"), "", codegen=1))
        source.write_text(driver, encoding="utf-8")
        flags = ["-O1", "-w", f"-I{INCLUDE}", f"-DMIRENC_FUNCTION={function}", f"-DMIRENC_COUNTS={counts}"]
        sources = ["-x", "c", str(source), str(_MAIN)]
        command = [toolchain.compiler, *flags, *toolchain.cflags, str(code), *sources, "-o", str(program), "-lm"]
        return b"" if compile_problem(command) else program.read_bytes()


def _with_counters(text: str, function: str) -> tuple[str, list[int]]:
    """IR text that counts entries of a function, executions of its branches and switches, and ways they go.

    With it, the number of counts of each; negative where the way that is not counted is the first one.
    """
    define = re.compile(rf'^define [^\n]*@"?{re.escape(function)}"?\([^\n]*\{{\n(?:[\w.$"-]+:[^\n]*\n)?', re.MULTILINE)
    begin = define.search(text)
    assert begin is not None
    end = text.index("\n}\n", begin.end()) + 1
    number, widths, names = itertools.count(), [], itertools.count()

    def add(amount: str) -> str:
        place = f"getelementptr ([COUNTS x i64], ptr @mirenc_counts, i64 0, i64 {next(number)})"
        old, new = (f"%mirenc.{next(names)}" for _ in range(2))
        return f"  {old} = load i64, ptr {place}\n  {new} = add i64 {old}, {amount}\n  store i64 {new}, ptr {place}\n"

    def count_fork(fork: re.Match[str]) -> str:
        text, tests = fork[0], []
        if switch := _SWITCH.search(text):
            for case in _CASE.findall(text[switch.end() :]):
                test = f"%mirenc.{next(names)}"
                tests.append((test, f"  {test} = icmp eq {switch[1]} {switch[2]}, {case}\n"))
        else:
            tests.append((text.split()[2].removesuffix(","), ""))
        widths.append((1 + len(tests)) * (-1 if switch else 1))
        lines = [add("1")]
        for test, line in tests:
            widened = f"%mirenc.{next(names)}"
            lines += [line, f"  {widened} = zext i1 {test} to i64\n", add(widened)]
        return "".join([*lines, text])

    body = add("1") + FORK.sub(count_fork, text[begin.end() : end])
    output = f"{text[: begin.end()]}{body}{text[end:]}"
    count = next(number)
    return f"{output}\n@mirenc_counts = global [{count} x i64] zeroinitializer\n".replace("COUNTS", str(count)), widths
