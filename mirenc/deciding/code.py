"""`Code`: a module or function as -Oz meets it, before any pass, and a warning where it is something else."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mirenc.errors import ForeignIRError, TaskError
from mirenc.ir import IRModule, ReadOptions
from mirenc.ir.compile import ir_compiler
from mirenc.ir.functions import attributes_of, is_left_alone
from mirenc.ir.inputs import path_input
from mirenc.ir.read import load_input, module_of
from mirenc.ir.regions import regions_of
from mirenc.passes.extract import extract_functions
from mirenc.tasks.pass_tasks import BEFORE_OZ

__all__ = ["Code", "clang_for", "read_code"]

_OLDEST_CLANG = 16  # older ones write typed pointers, which newer LLVMs refuse as text
_AS_TEXT = ("-S", "-emit-llvm")
_HOW = "Compile with: clang -Oz -Xclang -disable-llvm-passes -S -emit-llvm"


@dataclass(frozen=True)
class Code:
    """What lists of passes are suggested for.

    Attributes
    ----------
    name : str
        File, as it was given.
    ir : bytes
        Text or bitcode, as its compiler wrote it: what passes run on.
    module : IRModule
        The same, for a model.
    symbol : str
        Function, without ``@``, that ``ir`` was made a module of; "" for a whole module.
    compiled_by : tuple of str
        Command that made it here, the user's flags last, without file and output; () for IR.
    remarks : tuple of str
        What people must know who rely on -Oz of this code.
    """

    name: str
    ir: bytes
    module: IRModule
    symbol: str = ""
    compiled_by: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def level(self) -> str:
        """``function`` or ``module``."""
        return "function" if self.symbol else "module"

    def preparation(self) -> str:
        """The command whose output `command` takes; "" where it takes the file as it is."""
        if not self.compiled_by:
            return ""
        return shlex.join([*self.compiled_by, _no_option(self.name), "-o", _ir_name(self.name)])

    def command(self, pipeline: str) -> str:
        """The line that runs a list of passes."""
        # As clang compiles; some passes ask.
        passes = f"opt -relocation-model=pic -passes={shlex.quote(pipeline)}"
        given = shlex.quote(_ir_name(self.name) if self.compiled_by else _no_option(self.name))
        stem = Path(self.name).name.partition(".")[0].strip("-") or "stdin"
        if not self.symbol:
            return f"{passes} {given} -o {shlex.quote(f'{stem}.opt.bc')}"
        output = shlex.quote(f"{stem}.{self.symbol}.opt.bc")
        return f"llvm-extract --func={shlex.quote(self.symbol)} {given} -o - | {passes} -o {output}"


def read_code(
    path: str | os.PathLike[str],
    *,
    function: str | None = None,
    options: ReadOptions | None = None,
    version: str | None = None,
) -> Code:
    """Read IR, or compile a source to what -Oz begins with.

    Parameters
    ----------
    path : path
        IR, C, C++, OpenCL C or CUDA; ``-`` is standard input (IR only).
    function : str, optional
        Make a module of this function, by its symbol or demangled name.
    options : ReadOptions, optional
        Its ``cflags`` come last.
    version : str, optional
        Of the LLVM that is to read the IR: a source is then compiled by no newer clang where there is one. Left out,
        or where ``options`` names a compiler, nobody minds.

    Raises
    ------
    MirencError
        As `mirenc.read_ir`.
    ForeignIRError
        Passes leave all of it alone: every function is marked optnone, as -O0 does.
    TaskError
        No such function.
    """
    options = options or ReadOptions()
    compiler = options.compiler or (None if version is None else clang_for(version))
    options = replace(options, dialect=BEFORE_OZ, compiler=compiler)
    given = path_input(path)
    loaded = load_input(given, options)
    made = _command(given.language, compiler, options.cflags) if given.language else ()
    module = module_of(loaded, options)
    text = loaded.data.decode("utf-8", "surrogateescape") if loaded.kind == "text" else module.text
    if function is None:
        return Code(given.name, loaded.data, module, "", made, _remarks(text, given.name))
    symbol = _symbol(module, function)
    alone = dict(extract_functions(text)).get(symbol)
    if alone is None:
        raise TaskError(
            f"{given.name}: {function!r} takes the address of another function's block and cannot stand alone. Leave "
            "--function out"
        )
    data = alone.encode("utf-8", "surrogateescape")
    part = replace(loaded, data=data, kind="text")
    return Code(given.name, data, module_of(part, options), symbol, made, _remarks(alone, given.name))


def _command(language: str, compiler: str | None, cflags: Sequence[str]) -> tuple[str, ...]:
    """What compiles a source; the language is said by the file's suffix, not by an option."""
    flags = BEFORE_OZ.flags[language][len(("-x", language)) :]
    return (*ir_compiler(language, compiler), *flags, *_AS_TEXT, *cflags)


def _ir_name(source: str) -> str:
    return _no_option(f"{Path(source).name.partition('.')[0]}.ll")


def _no_option(name: str) -> str:
    """A file's name, where a command takes what begins with a dash for an option; - itself is stdin."""
    return f"./{name}" if name.startswith("-") and name != "-" else name


def clang_for(version: str) -> str | None:
    """The newest clang on PATH whose IR an LLVM reads; None for whatever there is."""
    names = (f"clang-{number}" for number in range(int(version.split(".")[0]), _OLDEST_CLANG - 1, -1))
    return next((name for name in names if shutil.which(name)), None)


def _symbol(module: IRModule, function: str) -> str:
    """A function's name in the IR, by that or by what people call it. Raises TaskError: there is none."""
    regions = regions_of(module, "function").regions
    for region in regions:
        if function in (region.symbol, region.function, region.function.partition("(")[0]):
            return region.symbol
    known = ", ".join(region.function for region in regions[:20]) + (" ..." if len(regions) > 20 else "")
    raise TaskError(f"{module.name}: no function {function!r} with a body; it has {known}")


def _remarks(text: str, name: str) -> tuple[str, ...]:
    """What its functions say of themselves that -Oz minds. Raises ForeignIRError: no pass would touch any of them."""
    total = small = moderate = untouched = 0
    for words in attributes_of(text):
        total += 1
        small += bool(words & {"minsize", "optsize"})
        moderate += "optsize" in words and "minsize" not in words
        untouched += "optnone" in words
    if is_left_alone(text):
        raise ForeignIRError(
            f"{name}: every function is marked optnone, as -O0 does, so passes leave them alone. {_HOW}"
        )
    remarks = []
    if untouched:
        remarks.append(f"{untouched} of {total} functions are marked optnone: passes leave them alone")
    if small < total - untouched:
        remarks.append(
            f"{total - untouched - small} of {total} functions say neither minsize nor optsize: -Oz of this IR is the "
            f"weak baseline. {_HOW}"
        )
    if moderate:  # zig cc takes -Oz for -Os
        remarks.append(f"{moderate} of {total} functions say optsize without minsize, as at -Os. {_HOW}")
    return tuple(remarks)
