"""``mirenc cc``: a build's own compiler, and beside each object that it makes the LLVM IR of the source.

It runs for every file of a build, so it imports almost nothing before the compiler has started, and little after that.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # as `typing` has it, which is not imported here
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any, NoReturn

    from mirenc.llvm.inputs.compile_commands import Command

FOLDER = "MIRENC_IR"
"""Environment variable: the folder for the IR; without it, the IR of ``x.o`` is ``x.o.bc``."""

# Sources and objects of configure, CMake and Meson, which try the compiler.
_TRIALS = r"/dev/|.*/(conftest|ztest\d)[^/]*$|.*/(CMakeFiles/(CMake(Scratch|Tmp)|[\d.]+)|meson-private)/"
_CLANG = r"(.*[-/])?clang(\+\+)?(-[\d.]+)?$"
_SECONDS = 600  # that the IR of one source may take


def run_compiler(words: Sequence[str]) -> NoReturn:
    """Run a compiler as it is and end this process as it ended; before that, keep the IR of what it compiled.

    What goes wrong with the IR is a warning, and never the build's.
    """
    command = [*words[1:]] if words[:1] == ["--"] else [*words]
    if not command:
        print("mirenc: error: no compiler is named. Type: mirenc cc COMPILER ...", file=sys.stderr)
        sys.exit(2)
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):  # which Python set, and the compiler would inherit
        signal.signal(number, signal.SIG_DFL)
    try:
        if not any(map(_may_compile, command)):
            os.execvp(command[0], command)
        child = os.posix_spawnp(command[0], command, os.environ)
    except OSError as error:
        print(f"mirenc: error: {command[0]}: {error.strerror}. Type: mirenc cc COMPILER ...", file=sys.stderr)
        sys.exit(126 if isinstance(error, PermissionError) else 127)
    try:
        from mirenc.llvm.inputs.compile_commands import read_call  # while the compiler is running

        compiler, calls = read_call(command)
    except Exception as error:  # noqa: BLE001 - a build goes on whatever its words are
        compiler, calls = [], []
        _warn(command[-1], error)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for call, output in calls if code == 0 else ():
        try:
            _keep_ir(compiler, call, output)
        except Exception as error:  # noqa: BLE001 - as above
            _warn(call.source, error)
    sys.exit(code if code >= 0 else 128 - code)


def _may_compile(word: str) -> bool:
    """Whether a word of a command may be a source, or stand for one."""
    from mirenc.llvm.inputs.languages import command_for, language_of

    return word[:1] == "@" or word[:2] in ("-", "-x") or bool(language_of(word) or command_for(word))


def _keep_ir(compiler: list[str], call: Command, output: Path) -> None:
    """Write the IR of one source. Raises MirencError, OSError and others: it cannot be made."""
    import re

    from mirenc.base.errors import CompileError
    from mirenc.llvm.inputs.languages import command_for

    foreign = None if call.language else command_for(call.file)
    if any(re.match(_TRIALS, str(path)) for path in (output, call.file)) or not (call.language or foreign):
        return  # no IR is wanted, or it is an object, a library, assembly or a header
    ir = _ir_path(output)
    ir.unlink(missing_ok=True)  # it would be that of another source, if what follows fails
    if foreign:
        raise CompileError(f"{foreign[0]} is not compiled here. Type: {foreign[1]}")
    if call.source == "-":
        raise CompileError("standard input can be read once. Give the compiler a file")
    if call.problem:
        raise CompileError(call.problem)
    if not re.match(_CLANG, compiler[0]):
        from mirenc.llvm.inputs.compile_source import ir_compiler

        compiler = ir_compiler(call.language)
    ir.parent.mkdir(parents=True, exist_ok=True)
    part = f"{ir}.{os.getpid()}"  # moved when it is complete
    try:
        _compile(compiler, call, part)
        os.replace(part, ir)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def _ir_path(output: Path) -> Path:
    """Where the IR of an object lies. Raises ConfigError: the folder for IR has no absolute path."""
    if output.parent.name == ".libs":  # libtool compiles twice: for libraries that are shared, and for others
        output = output.parent.parent / output.name
    folder = os.environ.get(FOLDER, "")
    if not folder:
        return output.with_name(f"{output.name}.bc")
    if not os.path.isabs(folder):
        from mirenc.base.errors import ConfigError

        raise ConfigError(f"{FOLDER}={folder} has another meaning in each folder. Give an absolute path")
    parent, folder_name = os.path.split(folder.rstrip("/"))
    relative_path = os.path.relpath(output, parent)
    # Nothing is compiled in the folder for IR itself, so a path that begins with its name is no other object's.
    relative_path = f"{folder_name}{os.path.normpath(output)}" if relative_path.startswith(os.pardir) else relative_path
    return type(output)(folder, f"{relative_path}.bc")


def _compile(compiler: Sequence[str], call: Command, part: str) -> None:
    """Bitcode of a source, at the level of its build. Raises CompileError: the compiler refuses it."""
    import subprocess

    from mirenc.base.errors import CompileError
    from mirenc.llvm.inputs.compiler_flags import blamed_flags, refused_flags, without_preprocessor, words_of
    from mirenc.llvm.inputs.languages import LANGUAGE_FLAGS

    command_start = [*compiler, "-c", "-emit-llvm", "-w", "-fno-crash-diagnostics", call.level or "-O0"]
    command_start += LANGUAGE_FLAGS[call.language]
    flags = list(call.flags)
    problem = ""
    while True:
        words = [*command_start, *words_of(flags)]
        if "ziglang" in compiler:
            from mirenc.llvm.inputs.compile_source import spelled_for

            words = spelled_for(compiler, words)
        words += [call.source, "-o", part]
        process_options: Any = {"cwd": call.directory, "stdin": subprocess.DEVNULL, "timeout": _SECONDS}
        result = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, **process_options)
        if result.returncode == 0:
            return
        # Seen in the errors of this compilation: empty sources are tried only for what is about the processor.
        bad_flags = blamed_flags(result.stderr, tried_flags := without_preprocessor(flags))
        if any(flag[0].startswith("-m") for flag in bad_flags):
            problem = refused_flags(command_start, tried_flags, call.file.suffix)[1]
        if not bad_flags or problem:
            break
        flags = [flag for flag in flags if flag not in bad_flags]
    lines = [line for line in result.stderr.splitlines() if "error: " in line] or [f"exit code {result.returncode}"]
    name = "zig cc" if "ziglang" in compiler else os.path.basename(compiler[0])
    raise CompileError(problem or f"{name} refuses it: {lines[0]}")


def _warn(source: str, error: Exception) -> None:
    print(f"mirenc: warning: {source}: no IR is kept: {' '.join(str(error).split())}", file=sys.stderr)
