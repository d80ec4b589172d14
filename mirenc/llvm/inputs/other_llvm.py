"""IR that llvmlite's LLVM does not parse, read by the clangs and opts of other versions on PATH."""

import shutil
import subprocess

from mirenc.base.run_program import run_limited
from mirenc.llvm.child.parsing_worker import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT

_VERSIONS = range(30, 9, -1)
_VERIFYING_CLANG = 14


def _commands(*, as_text: bool) -> list[tuple[str, list[str]]]:
    """Name and command of each LLVM to try, newest first; for text, opts come before clangs, as they keep targets."""
    # clang's driver turns LLVM's verifier off; without the driver it is on, from 14. A module that is not valid would
    # become another program: the reader of bitcode repairs it in silence. opt verifies in every version.
    emit = "-emit-llvm" if as_text else "-emit-llvm-bc"
    clang = ["-cc1", "-x", "ir", emit, "-disable-llvm-passes", "-w", "-o", "-", "-"]
    opt = [*(["-S"] if as_text else []), "-o", "-", "-"]
    clangs = [(f"clang-{version}", clang) for version in _VERSIONS if version >= _VERIFYING_CLANG] + [("clang", clang)]
    opts = [*((f"opt-{version}", opt) for version in _VERSIONS), ("opt", opt)]
    return opts + clangs if as_text else clangs + opts


def lower_by_other_llvm(
    ir: bytes, *, as_text: bool = False, timeout: float | None = None, memory_limit: int = DEFAULT_MEMORY_LIMIT
) -> tuple[bytes, str] | None:
    """Bitcode, or text, of IR that another LLVM parses, and the program on PATH that wrote it; None if none can.

    LLVM upgrades old bitcode in full, old text only in part (constant expressions it dropped, asm goto). A clang gives
    the module this machine's target, whatever the IR says.
    """
    for name, arguments in _commands(as_text=as_text):
        if shutil.which(name) is None:
            continue
        command = [name, *arguments]
        try:
            result = run_limited(command, timeout=timeout or DEFAULT_TIMEOUT, memory_limit=memory_limit, data=ir)
        except subprocess.TimeoutExpired:
            return None
        except OSError:
            continue
        if result.code == 0 and result.output:
            return result.output, name
    return None
