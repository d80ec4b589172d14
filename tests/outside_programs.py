"""Programs from outside Python, and packages of their own, that some tests need, and why one is not at hand.

A test says what it needs: ``@pytest.mark.needs("llvm2graph-10")``. Where that is missing the test skips with the
reason; with ``--require-programs``, as in CI, it fails, because there a skip would hide what nobody compared.

One that needs a "C compiler", or a "clang" of any version, runs once for each kind of them (`compilers.COMPILERS`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from compilers import COMPILERS
from llvm2graph import ProgramlError, build_programl

from mirenc.base.errors import MissingExtraError, ModelError, ToolchainError
from mirenc.decide.features.ir2vec import ir2vec_available
from mirenc.encoder.weights import find_model
from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.tools.measure.block_size import find_libdevice
from mirenc.tools.measure.openmp import OpenMPMethod
from mirenc.tools.measure.runners.opencl import opencl_devices
from mirenc.tools.run.compilers import check_profile, tool_beside


def compiler_kinds(needs: Iterable[str]) -> tuple[str, ...]:
    """Kinds of compilers under which a test runs that needs these programs; none if it does not say that it compiles.

    Only a clang compiles OpenCL and CUDA, or builds what `mirenc measure` times.
    """
    if "clang" in needs:
        return tuple(kind for kind in COMPILERS if kind != "zig")
    return COMPILERS if "C compiler" in needs else ()


@cache
def why_missing(program: str) -> str:
    """Why a program, or a kind of compiler, cannot be used here; "" if it can."""
    if program.startswith("clang-") and program in COMPILERS:
        return "" if shutil.which(program) else f"it is not on PATH. Type: apt-get install {program}"
    return {
        "llvm2graph-10": _llvm2graph,
        "zig": lambda: "" if find_spec("ziglang") else "ziglang is not installed. Type: pip install 'mirenc[compile]'",
        # Up to 16 they read typed pointers, from 15 on opaque ones.
        "clang-10 to 16": lambda: _clang_of(range(10, 17)),
        "clang-15 to 18": lambda: _clang_of(range(15, 19)),
        "opt": lambda: _opt(15),
        "git": lambda: _on_path("git"),
        "rustc": lambda: _on_path("rustc"),
        "opt-19": lambda: _on_path("opt-19", "llvm-19"),
        "make": lambda: _on_path("make"),
        "cmake": lambda: _on_path("cmake"),
        "ninja": lambda: _on_path("ninja", "ninja-build"),
        "meson": lambda: _on_path("meson"),
        "gcc": lambda: _on_path("gcc"),
        "llvm-profdata": _profdata,
        "llvm-profdata-19": lambda: why_missing("clang-19") or _profdata("clang-19"),
        "libLLVM": _shared_llvm,
        "libLLVM 19": lambda: _shared_llvm(19),
        "OpenCL": _opencl,
        "libdevice": lambda: "" if find_libdevice() else "no libdevice.10.bc is here. Type: pip install 'mirenc[cuda]'",
        "libomp": _libomp,
        "browser": _browser,
        "mirenc-base": _mirenc_base,
        "IR2Vec": lambda: "" if ir2vec_available() else "IR2Vec is not installed. Type: pip install IR2Vec==2.1.1",
    }[program]()


def _on_path(program: str, package: str = "") -> str:
    return "" if shutil.which(program) else f"it is not on PATH. Type: apt-get install {package or program}"


def _profdata(compiler: str = "") -> str:
    """Of a clang, or that which is found first, with the runtime of programs that write a profile."""
    try:
        compiler = compiler or find_compiler("cl")[0]
        tool_beside(compiler, "llvm-profdata")
        check_profile(compiler, ("-fprofile-instr-generate",))
    except ToolchainError as error:
        return str(error)
    return ""


def needs_old_clang(path: Path) -> bool:
    """Whether a fixture is text that LLVM 22 refuses (`icmp` constant expressions, labels of `asm goto`).

    An older clang on PATH turns such text into bitcode, which LLVM 22 upgrades; without one it is an error.
    """
    old = path.suffix == ".ll" and not {"clang-14", "llvm10"}.isdisjoint(path.parts)
    return old and path.name.split(".")[0] in {"functions", "system"}


def _llvm2graph() -> str:
    """Being installed is not enough: it starts only where its shared libraries are."""
    try:
        build_programl("define void @f() {\n  ret void\n}\n")
    except ProgramlError as error:
        return str(error)
    return ""


def _mirenc_base() -> str:
    try:
        find_model("mirenc-base")
    except ModelError as error:
        return str(error)
    return ""


def _libomp() -> str:
    """A clang alone builds no OpenMP program: the runtime is a package of its own."""
    try:
        OpenMPMethod().find_compiler(None)
    except ToolchainError as error:
        return str(error)
    return ""


def _browser() -> str:
    if not shutil.which("chromium"):
        return "chromium is not on PATH. Type: apt-get install chromium"
    return "" if find_spec("playwright") else "playwright is not installed. Type: pip install playwright"


def _opt(oldest: int) -> str:
    """LLVM's own pass driver, whose loops ours are compared with."""
    if any(shutil.which(f"opt-{version}") for version in range(oldest, 23)):
        return ""
    return f"no opt of LLVM {oldest} or later is on PATH. Type: apt-get install llvm-19"


def _shared_llvm(version: int | None = None) -> str:
    with SharedEngine(version) as engine:
        try:
            engine.knows("")
        except ToolchainError as error:
            return str(error)
    return ""


def _opencl() -> str:
    try:
        opencl_devices()
    except (MissingExtraError, ToolchainError) as error:
        return str(error)
    return ""


def _clang_of(versions: range) -> str:
    if any(shutil.which(f"clang-{version}") for version in versions):
        return ""
    return "none of them is on PATH. Type: apt-get install clang-16"
