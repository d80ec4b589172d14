"""Compiling for a measurement: one command with limits, and the driver of a C kernel."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mirenc.errors import CompileError
from mirenc.ir.process import run_limited, without_memory
from mirenc.measure.kernel import Kernel
from mirenc.measure.method import Toolchain

__all__ = ["INCLUDE", "MEMORY_LIMIT", "build_driver", "compile_problem"]

INCLUDE = Path(__file__).parent
"""Folder of ``mirenc_measure.h``, for ``-I``."""

MEMORY_LIMIT = 4 * 2**30
"""Bytes of address space of a compiler."""
_DRIVER_TIMEOUT = 60.0  # seconds; a driver is no variant, so its time decides nothing


def compile_problem(command: Sequence[str], timeout: float) -> str:
    """Run a compiler; why it gave nothing, in a few words, or "" if all went well.

    Parameters
    ----------
    command : sequence of str
        With paths that hold wherever it runs.
    timeout : float, seconds
    """
    try:
        done = run_limited(command, timeout=timeout, memory_limit=MEMORY_LIMIT)
    except subprocess.TimeoutExpired:
        return f"compile: over {timeout:g} s"
    if done.code == 0:
        return ""
    if without_memory(done.words):
        return f"compile: over {MEMORY_LIMIT / 2**30:.0f} GiB"
    found = re.search(r"(?:fatal )?error: .*", done.words)
    return f"compile: {found[0] if found else (done.words.splitlines() or [f'exit {done.code}'])[-1]}"


def build_driver(kernel: Kernel, folder: Path, toolchain: Toolchain) -> str:
    """Build the driver of a C kernel and the timing loop into ``driver.so``, for `Build.driver`.

    Raises
    ------
    CompileError
        The compiler refuses the driver.
    """
    source = folder / "driver.c"
    source.write_text(kernel.driver, encoding="utf-8")
    flags = ["-O2", "-w", "-fPIC", "-shared", f"-I{INCLUDE}", *toolchain.beside(kernel.include).cflags]
    inputs = [str(source), str(INCLUDE / "harness.c")]
    command = [toolchain.compiler, *flags, "-o", str(folder / "driver.so"), *inputs, "-lm"]
    if problem := compile_problem(command, _DRIVER_TIMEOUT):
        raise CompileError(
            f"the driver of {kernel.name} does not build: {problem}. {INCLUDE / 'mirenc_measure.h'} says what it needs"
        )
    return "driver.so"
