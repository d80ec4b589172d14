"""Sources to IR through a clang: one on PATH, or the ``compile`` extra's (ziglang).

C and C++ work with either; OpenCL C and CUDA device code need a real clang. The flags are those DESIGN.md section 3
measured: OpenCL C for spir64 with clang's own built-in header, CUDA device side only.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mirenc.errors import CompileError, IRFileError, IRResourceError, ToolchainError

__all__ = ["assemble_old_text", "compile_source", "find_compiler"]

_NAMES = ("clang", *(f"clang-{version}" for version in range(22, 9, -1)))
_LANGUAGE_FLAGS = {
    "c": ("-x", "c"),
    "c++": ("-x", "c++"),
    "cl": (
        *("-x", "cl", "-cl-std=CL1.2", "-target", "spir64-unknown-unknown"),
        *("-Xclang", "-finclude-default-header"),
    ),
    "cuda": (
        *("-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70"),
        *("-nocudalib", "-Wno-unknown-cuda-version"),
    ),
}
_DEFAULT_OPTIMISATION = "-O2"
_DEFAULT_TIMEOUT = 120.0  # seconds


def find_compiler(language: str, compiler: str | None = None) -> list[str]:
    """Command that compiles a language to IR.

    Parameters
    ----------
    language : str
        ``c``, ``c++``, ``cl`` or ``cuda``.
    compiler : str, optional
        The user's choice; taken as it is.

    Raises
    ------
    ToolchainError
        None found; the message says what to install.
    """
    if compiler is not None:
        if shutil.which(compiler) is None:
            raise ToolchainError(
                f"compiler {compiler!r} is not on PATH. Give the path of a clang, or leave --compiler out"
            )
        return [compiler]
    for name in _NAMES:
        if shutil.which(name):
            return [name]
    if language in ("c", "c++") and importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc" if language == "c" else "c++"]
    extra = " or `pip install 'mirenc[compile]'`" if language in ("c", "c++") else ""
    raise ToolchainError(
        f"no clang on PATH to compile {language} (looked for {_NAMES[0]}, {_NAMES[1]} ... {_NAMES[-1]}). "
        f"Install one (Debian: `apt-get install clang`){extra}, or give IR"
    )


def assemble_old_text(text: bytes, *, timeout: float | None = None) -> bytes | None:
    """Bitcode of text that only an older LLVM reads, by an older clang on PATH; None if there is none that can.

    LLVM upgrades old bitcode in full, old text only in part (constant expressions it dropped, asm goto).
    """
    for version in range(18, 9, -1):
        name = f"clang-{version}"
        if shutil.which(name) is None:
            continue
        command = [name, "-x", "ir", "-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-w", "-o", "-", "-"]
        limit = _DEFAULT_TIMEOUT if timeout is None else timeout
        try:
            done = subprocess.run(command, input=text, capture_output=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode == 0 and done.stdout:
            return done.stdout
    return None


def compile_source(
    path: str | os.PathLike[str],
    language: str,
    *,
    compiler: str | None = None,
    cflags: Sequence[str] = (),
    timeout: float | None = None,
) -> bytes:
    """IR text of one source file, optimised at ``-O2`` unless ``cflags`` name another level.

    Raises
    ------
    IRFileError, ToolchainError, CompileError, IRResourceError
    """
    name = os.fspath(path)
    if not Path(name).is_file():
        raise IRFileError(f"{name}: no such file. Check the path")
    limit = _DEFAULT_TIMEOUT if timeout is None else timeout
    command = [*find_compiler(language, compiler), "-S", "-emit-llvm", "-o", "-"]
    if not any(flag.startswith("-O") for flag in cflags):
        command.append(_DEFAULT_OPTIMISATION)
    if "ziglang" in command:
        # zig cc adds a sanitizer of its own; a user of clang expects clang's output.
        command.append("-fno-sanitize=undefined")
    command += [*cflags, *_LANGUAGE_FLAGS[language], name]
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise IRResourceError(
            f"{name}: the compiler did not finish within {limit:g} s. Raise the limit with --timeout"
        ) from None
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip()
        found = re.search(r"^(?:.*?:(\d+):(\d+): )?(?:fatal )?error: .*$", words, re.MULTILINE)
        first = found[0] if found else (words.splitlines() or ["no reason given"])[-1]
        raise CompileError(
            f"{name}: {command[0]} refuses it: {first}. Give flags it needs with --cflags, as in --cflags='-Iinclude'",
            diagnostic=words,
        )
    return done.stdout
