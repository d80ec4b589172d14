"""Sources to IR through a clang on PATH or, for C and C++, the ``compile`` extra's (ziglang)."""

import atexit
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from mirenc.base.errors import CompileError, IRFileError, IRResourceError, ToolchainError
from mirenc.base.run_program import memory_advice, run_limited, without_memory
from mirenc.llvm.child.parsing_worker import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT
from mirenc.llvm.inputs.dialect import Dialect
from mirenc.llvm.inputs.file_kind import DEFAULT_MAX_BYTES, check_file, read_limited
from mirenc.llvm.inputs.languages import LANGUAGE_FLAGS

_NAMES = ("clang", *(f"clang-{version}" for version in range(22, 9, -1)))
# A compiler's line about an error, its place or the compiler's name before it; not a warning above.
_HEADLINE = re.compile(r"^(?:[^\s'\"].*?: )?(?:fatal )?error: .*$", re.MULTILINE)
_TARGET = re.compile(r"(?:^| )--?target[= ](\S+)")
_CUDA_EXAMPLE = "--cflags=--cuda-path=/usr/local/cuda-12.4, or --cflags=-nocudainc where no CUDA header is needed"


def find_compiler(language: str, compiler: str | None = None, *, oldest: bool = False) -> list[str]:
    """Command that compiles a language (``c``, ``c++``, ``cl`` or ``cuda``) to IR.

    ``compiler`` is the user's choice: a name on PATH, or a path. ``oldest`` prefers the oldest of several versions.
    Raises ToolchainError: none found; the message says what to install.
    """
    if compiler is not None:
        if shutil.which(compiler) is None:
            advice = "Give the path of a clang, or leave --compiler out"
            raise ToolchainError(f"compiler {compiler!r} is not on PATH. {advice}")
        # A project's sources are compiled in other folders than this one.
        return [os.path.abspath(compiler) if os.sep in compiler else compiler]
    for name in reversed(_NAMES) if oldest else _NAMES:
        if shutil.which(name):
            return [name]
    if language in ("c", "c++") and importlib.util.find_spec("ziglang") is not None:
        _give_zig_a_cache()
        return [sys.executable, "-m", "ziglang", "cc" if language == "c" else "c++"]
    extra = " or `pip install 'mirenc[compile]'`" if language in ("c", "c++") else ""
    problem = f"no clang on PATH to compile {language} (looked for {_NAMES[0]}, {_NAMES[1]} ... {_NAMES[-1]})"
    raise ToolchainError(f"{problem}. Install one (Debian: `apt-get install clang`){extra}, or give IR")


def _give_zig_a_cache() -> None:
    """Name a folder for zig's own files where the user's home takes none; it goes when this process ends."""
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", ""), ".cache")
    while folder and not os.path.exists(folder):
        folder = os.path.dirname(folder)
    if "ZIG_GLOBAL_CACHE_DIR" in os.environ or (folder and os.access(folder, os.W_OK | os.X_OK)):
        return
    cache = tempfile.TemporaryDirectory(prefix="mirenc-zig-")
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = cache.name
    atexit.register(cache.cleanup)


def ir_compiler(language: str, compiler: str | None = None, *, oldest: bool = False) -> list[str]:
    """The command of `find_compiler`, with flags by which zig writes IR as a clang does; raises as `find_compiler`."""
    command = find_compiler(language, compiler, oldest=oldest)
    # zig cc adds a sanitizer of its own, and compiles for this machine's processor, clang for any of the architecture.
    return [*command, "-fno-sanitize=undefined", "-mcpu=baseline"] if "ziglang" in command else command


def spelled_for(compiler: Sequence[str], words: Iterable[str]) -> list[str]:
    """The words of a command as its compiler spells them: zig's targets have no vendor, its processors no hyphen.

    zig takes -Oz for -Os, so the clang inside it is told as well.
    """
    if "ziglang" not in compiler:
        return list(words)
    words, spelling = list(words), list[str]()
    levels = [i for i, word in enumerate(words) if word.startswith("-O") and words[i - 1 : i] != ["-Xclang"]]
    for word in words:
        option, _, value = word.partition("=")
        if spelling and spelling[-1] in ("-target", "--target"):
            word = _zig_target(word)
        elif value and option == "--target":
            word = f"{option}={_zig_target(value)}"
        elif value and option in ("-march", "-mcpu", "-mtune"):
            word = f"{option}={value.replace('-', '_')}"
        spelling.append(word)
    if levels and words[levels[-1]] == "-Oz":
        spelling[levels[-1] : levels[-1] + 1] = ["-Oz", "-Xclang", "-Oz"]
    return spelling


def _zig_target(triple: str) -> str:
    arch, *parts = triple.split("-")
    arch = re.sub("^armv.*", "arm", re.sub("^i[3-6]86$", "x86", arch.replace("arm64", "aarch64")))
    last = parts[-1] if parts else ""
    if "linux" in parts:
        return f"{arch}-linux-{last.replace('linux', 'gnu')}"
    if last.startswith("mingw"):
        return f"{arch}-windows-gnu"
    if last in ("elf", "eabi", "eabihf"):
        return f"{arch}-freestanding-{last.replace('elf', 'none')}"
    return f"{arch}-macos" if "apple" in parts else triple


def compile_source(
    path: str | os.PathLike[str],
    language: str,
    *,
    compiler: str | None = None,
    cflags: Sequence[str] = (),
    folder: str = "",
    source_name: str = "",
    dialect: Dialect | None = None,
    timeout: float | None = None,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> bytes:
    """IR text of one source file: ``-O2``, then the language's flags (mirenc's or a dialect's), then ``cflags``.

    clang takes the last of ``-O``, ``-x``, ``-target`` and ``-cl-std``, so ``cflags`` win. It runs in ``folder``,
    where one is named, and there knows the source by ``source_name``. Raises IRFileError, ToolchainError,
    CompileError, IRResourceError.
    """
    name = os.fspath(path)
    check_file(name)
    if folder and not os.path.isdir(folder):
        raise IRFileError(f"{name}: the folder where it is built, {folder}, does not exist. Configure the build again")
    limit = timeout or DEFAULT_TIMEOUT
    try:
        command = ir_compiler(language, compiler, oldest=dialect is not None and dialect.oldest_clang)
    except ToolchainError as error:
        raise ToolchainError(f"{name}: {error}") from None
    program = "zig cc" if "ziglang" in command else command[0]
    flags = LANGUAGE_FLAGS | (dict(dialect.flags) if dialect else {})
    command += ["-S", "-emit-llvm", "-fno-crash-diagnostics", "-O2"]
    command += spelled_for(command, (*flags[language], *cflags))
    # A name that begins with a dash would be an option.
    source = source_name or (os.path.abspath(name) if folder else name)
    command.append(f"./{source}" if source.startswith("-") else source)
    with tempfile.TemporaryDirectory(prefix="mirenc-") as scratch:
        # A file, because zig cc writes `-o -` to a file named "-"; last, so that it wins over an -o of the user's.
        output = Path(scratch, "output.ll")
        command += ["-o", str(output)]
        try:
            result = run_limited(command, timeout=limit, memory_limit=memory_limit, folder=folder, most_output=0)
        except subprocess.TimeoutExpired:
            problem = f"{name}: the compiler did not finish within {limit:g} s"
            raise IRResourceError(f"{problem}. Raise the limit with --timeout (Python: timeout=)") from None
        except OSError as error:
            problem = f"{name}: {program} cannot be started: {error.strerror}"
            raise ToolchainError(f"{problem}. Give the path of a clang with --compiler") from None
        data = read_limited(output, name, max_bytes) if output.is_file() else b""
    words = result.words
    if result.code != 0:
        if without_memory(words):
            raise IRResourceError(f"{name}: {program} ran out of memory {memory_advice(memory_limit)}")
        headline = _HEADLINE.search(words)
        reason = headline[0] if headline else (words.splitlines() or [f"no reason given (exit {result.code})"])[-1]
        flag = _CUDA_EXAMPLE if language == "cuda" else "--cflags=-Iinclude"
        advice = f"Mend the source, or give flags that it needs, such as {flag}"
        target = (_TARGET.findall(" ".join(cflags)) or [platform.machine()])[-1]
        if "file not found" in reason and not target.startswith(platform.machine()):
            cause = f"The headers of {target} may be missing here"
            advice = f"{cause}: install its cross compiler's C library, or give --cflags=--sysroot=FOLDER"
        if "unknown target triple" in reason:
            advice = "With --compiler, give a clang that compiles for this target, or leave the file out"
        raise CompileError(f"{name}: {program} refuses it: {reason}. {advice}", diagnostic=words)
    if not data.startswith((b"; ModuleID", b"source_filename")):  # none of a name with a line break
        advice = "With --compiler, give a clang; in --cflags, no flag that asks for other output, such as -E"
        raise CompileError(f"{name}: {program} wrote no LLVM IR. {advice}", diagnostic=words)
    return data
