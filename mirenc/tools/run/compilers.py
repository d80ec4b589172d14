"""Compilers: which one, of which version, with which tools beside it; run with limits, and why one gave nothing."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mirenc.base.errors import CompileError, ToolchainError
from mirenc.base.run_program import LONGEST_TIMEOUT, run_limited, without_memory
from mirenc.llvm.inputs.compile_source import find_compiler

MEMORY_LIMIT = 4 * 2**30  # bytes of address space of a compiler
TIMEOUT = 60.0  # seconds, for what is no variant: its time decides nothing
_OLDEST_CLANG = 16  # older ones write typed pointers, which newer LLVMs refuse as text


@dataclass(frozen=True)
class Toolchain:
    """What builds the variants: a program, the user's own flags, and the seconds that one setting may take."""

    compiler: str
    cflags: tuple[str, ...] = ()
    timeout: float = 1.0

    def beside(self, include: str) -> "Toolchain":
        """The same for a copy of a source whose headers lie in a folder, unless that is ""."""
        # As a compiler looks beside a source: for "x.h" and not for <x.h>.
        flags = ("-iquote", include, without_folder(include)) if include else ()
        return replace(self, cflags=(*self.cflags, *flags))


def without_folder(folder: str | Path) -> str:
    """The flag that makes ``.`` of a folder in what a compiler writes, in ``__FILE__`` and ``assert`` too."""
    return f"-ffile-prefix-map={folder}=."


# -- run -----------------------------------------------------------------------------------------------
def compile_problem(command: Sequence[str], timeout: float = TIMEOUT) -> str:
    """Run a compiler, for so many seconds at most; why it gave nothing, in a few words, or "" if all went well."""
    try:
        result = run_limited(command, timeout=timeout, memory_limit=MEMORY_LIMIT)
    except subprocess.TimeoutExpired:
        return f"compile: over {timeout:g} s"
    if result.code == 0:
        return ""
    if without_memory(result.words):
        return f"compile: over {MEMORY_LIMIT / 2**30:.0f} GiB"
    error = re.search(r"(?:fatal )?error: .*", result.words)
    return f"compile: {error[0] if error else (result.words.splitlines() or [f'exit {result.code}'])[-1]}"


def compile_or_raise(command: Sequence[str], timeout: float = TIMEOUT) -> None:
    """Run a compiler. Raises CompileError: it gave nothing."""
    if problem := compile_problem(command, timeout):
        raise CompileError(problem)


def link_problem(compiler: str, flags: Sequence[str], text: str = "int main(void) { return 0; }\n") -> str:
    """Why a C program is not made of a text, or ""."""
    with tempfile.TemporaryDirectory(prefix="mirenc-") as folder:
        source = Path(folder, "probe.c")
        source.write_text(text)
        return compile_problem([compiler, *flags, str(source), "-o", f"{folder}/probe"])


def check_profile(compiler: str, flags: Sequence[str]) -> None:
    """Raises ToolchainError: a program that writes a profile does not link, as its runtime is a package of its own."""
    if problem := link_problem(compiler, flags):
        packages = f"libclang-rt-{major_version(compiler)}-dev"
        packages += f" libomp-{major_version(compiler)}-dev" if "-fopenmp" in flags else ""
        raise ToolchainError(
            f"{compiler} links no program with {' '.join(flags)} ({problem}). Install its runtime (Debian: "
            f"apt-get install {packages})"
        )


def merge_profiles(raw: Sequence[Path], profile: Path, compiler: str) -> None:
    """Raw profiles of clang's as one that it reads. Raises ToolchainError: no llvm-profdata beside the compiler."""
    tool = tool_beside(compiler, "llvm-profdata")
    command = [str(tool), "merge", "-o", str(profile), *map(str, raw)]
    result = run_limited(command, timeout=LONGEST_TIMEOUT, memory_limit=None)
    if result.code:
        raise ToolchainError(f"{tool} cannot merge the profile: {result.words[:200]}. Build everything with one clang")


# -- which ---------------------------------------------------------------------------------------------
def find_clang(compiler: str | None, problem: str, packages: str) -> str:
    """A clang for C, no zig. Raises ToolchainError, which begins with the problem: there is none."""
    clang, *arguments = find_compiler("c", compiler)
    if arguments:  # ziglang's
        raise ToolchainError(f"{problem}. Install one (Debian: `apt-get install {packages}`), or give --compiler CLANG")
    return clang


def clang_for(version: str) -> str | None:
    """The newest clang on PATH whose IR an LLVM of a version (``19.1.7``) reads; None for whatever there is."""
    names = (f"clang-{number}" for number in range(int(version.split(".")[0]), _OLDEST_CLANG - 1, -1))
    return next((name for name in names if shutil.which(name)), None)


def clang_of(version: str, compiler: str | None = None) -> str:
    """The clang whose IR an LLVM (``19.1.7``) reads as its own, or the user's choice; it must be on PATH."""
    name = compiler or f"clang-{version.split('.')[0]}"
    if shutil.which(name) is None:
        if compiler:
            raise ToolchainError(f"compiler {name!r} is not on PATH. Give the path of a clang with --compiler")
        problem = f"passes run in LLVM {version}, so sources need a clang that is not newer, and {name} is not on PATH"
        raise ToolchainError(f"{problem}. Type: apt-get install {name}, or name such a clang by --compiler, or give IR")
    return name


def compiler_version(compiler: str) -> str:
    """What a compiler calls itself, in one line. Raises ToolchainError: it says nothing."""
    try:
        result = run_limited([compiler, "--version"], timeout=TIMEOUT, memory_limit=MEMORY_LIMIT)
    except OSError as error:
        problem = f"{compiler} cannot be started: {error.strerror}"
        raise ToolchainError(f"{problem}. Name a compiler with --compiler") from None
    line = next(iter(result.output.decode("utf-8", "replace").splitlines()), "").strip()
    if result.code != 0 or not line:
        raise ToolchainError(f"{compiler} --version prints nothing. Name a compiler with --compiler")
    return line


def major_version(compiler: str) -> str:
    """The major version of a clang; "" where it does not say."""
    match = re.search(r"version (\d+)", compiler_version(compiler))
    return match[1] if match else ""


def tool_beside(compiler: str, name: str) -> Path:
    """A program of the clang's own LLVM. Raises ToolchainError: it is not beside the compiler."""
    tool = Path(shutil.which(compiler) or compiler).resolve().with_name(name)
    if not tool.is_file():
        packages = f"llvm-{major_version(compiler)}"
        raise ToolchainError(f"{tool} is missing. Install LLVM's tools: apt-get install {packages}")
    return tool
