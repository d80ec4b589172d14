"""What ``opt -passes=verify`` says of the modules that the best lists make: LLVM's verifier, in another process."""

from __future__ import annotations

import shutil
import subprocess

from mirenc.ir.process import run_limited

__all__ = ["find_opt", "verify"]

_SECONDS = 60.0
_MEMORY = 4 * 2**30  # bytes of address space


def find_opt(version: str) -> str | None:
    """The opt of an LLVM's version (``19.1.7``); None where it is not on PATH."""
    return shutil.which(f"opt-{version.partition('.')[0]}")


def verify(opt: str, ir: bytes) -> str:
    """``ok``, or why not.

    Parameters
    ----------
    opt : str
    ir : bytes
        Text or bitcode.
    """
    try:
        done = run_limited(
            [opt, "-passes=verify", "-disable-output", "-"], timeout=_SECONDS, memory_limit=_MEMORY, data=ir
        )
    except subprocess.TimeoutExpired:
        return f"longer than {_SECONDS:g} s"
    if done.code == 0:
        return "ok"
    return " ".join(done.words.split())[:200] or f"exit {done.code}"
