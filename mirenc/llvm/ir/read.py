"""Read an `IRModule` from a path, text or source of any LLVM version and language, in a dialect and form."""

import codecs
import hashlib
import logging
import os
import re
from dataclasses import dataclass, replace
from typing import Any

from mirenc.base.errors import (
    CompileError,
    ConfigError,
    IRParseError,
    IRResourceError,
    MirencError,
    NoFunctionBodyError,
    one_input,
)
from mirenc.llvm.analysis.detect_level import levels_by_symbol, stated_levels
from mirenc.llvm.child.parsing_worker import TEXT_FACTOR, default_worker
from mirenc.llvm.inputs.dialect import Dialect
from mirenc.llvm.inputs.file_kind import (
    DEFAULT_MAX_BYTES,
    LARGEST_SIZE,
    InputBytes,
    bitcode_in,
    kind_of,
    read_input,
    read_part,
)
from mirenc.llvm.inputs.input import Input, IRInput, path_input, resolve_input, text_bytes
from mirenc.llvm.ir.canonical_reader import read_canonical
from mirenc.llvm.ir.canonical_text import canonical_text
from mirenc.llvm.ir.module import IRModule
from mirenc.llvm.passes.optimise import PASSES, Form, check_form, formed, has_definitions

_LOGGER = logging.getLogger(__name__)
_SANITIZER = re.compile(r"call [^\n@]*@(__(?:ub|a|hwa|t|m)san_\w+|llvm\.ubsantrap)")
_COUNTERS = re.compile(r"^@(__profc_\S+|__llvm_gcov_ctr\S*) = ", re.MULTILINE)
_NOTED = "_MIRENC_SANITIZER_NOTED"  # in the environment, which the processes of a run share


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of reading. Raises ConfigError: a limit is out of range.

    - ``max_bytes``: largest input, after decompression.
    - ``timeout``: seconds LLVM (or the compiler) may take for one input; None: the worker's default.
    - ``memory_limit``: bytes of address space LLVM, and each process of a compiler, may use; None: the worker's.
    - ``compiler``: clang to compile sources with; None: the first found. ``cflags``: further flags; they come last.
    - ``dialect``: target that sources are compiled for and other IR is rewritten to; None: mirenc's default flags, and
      IR unchanged.
    - ``form``: one of `mirenc.llvm.passes.optimise.FORMS`, by LLVM's passes except for ``plain``. None: ``plain``,
      and for vectors the default form (`mirenc.encoder.options.usual_form`).
    """

    max_bytes: int = DEFAULT_MAX_BYTES
    timeout: float | None = None
    memory_limit: int | None = None
    compiler: str | None = None
    cflags: tuple[str, ...] = ()
    dialect: Dialect | None = None
    form: Form | None = None

    def __post_init__(self) -> None:
        if self.form is not None:
            check_form(self.form)
        if self.timeout is not None and not self.timeout > 0:  # NaN, too
            raise ConfigError(f"timeout is {self.timeout!r}; allowed: seconds above 0, or None for the default")
        for name in ("memory_limit", "max_bytes"):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= LARGEST_SIZE:
                raise ConfigError(f"{name} is {value!r}; allowed: 1 to 2**60 bytes")


def start_reader(*, memory_limit: int | None = None) -> None:
    """Start the LLVM process before the first file; one with another ``memory_limit`` (bytes) is replaced."""
    worker = default_worker()
    if memory_limit is not None:
        worker.limit_memory(memory_limit)
    worker.start()


def read_ir(path: str | os.PathLike[str] | Input, *, options: ReadOptions | None = None) -> IRModule:
    """Read one file: IR text or bitcode of LLVM 10 to 22, compressed or not, or C, C++, OpenCL C or CUDA source.

    ``-`` is standard input (IR only). All share one LLVM process. Raises IRFileError, IRParseError, IRResourceError,
    NoFunctionBodyError, ToolchainError, CompileError or ForeignIRError: each message begins with the file's name and
    ends with what to do.

    Examples
    --------
    >>> module = read_ir("examples/saxpy.ll")
    >>> [function.name for function in module.defined_functions]
    ['saxpy']
    """
    return module_from(path if isinstance(path, Input) else path_input(path), options)


def parse_ir(text: str | bytes, *, name: str = "<string>", options: ReadOptions | None = None) -> IRModule:
    """Read IR given as text or bitcode bytes; parameters and errors as `read_ir`."""
    data = text_bytes(text) if isinstance(text, str) else bytes(text)
    return module_from(Input(name, data), options)


def module_from(source: IRInput | Input, options: ReadOptions | None = None) -> IRModule:
    """The module of one input, in the dialect and form of the options; errors as `read_ir`."""
    options, source = options or ReadOptions(), resolve_input(source)
    with one_input(source.name, "read"):
        if isinstance(source.value, IRModule):
            return _in_dialect(in_form(source.value, options), options)
        return module_of(load_input(source, options), options)


def load_input(source: Input, options: ReadOptions) -> InputBytes:
    """The IR of an input that is not an `IRModule`: read from a file, compiled from source, or the given bytes."""
    if isinstance(source.value, bytes):
        data = bitcode_in(source.name, source.value.removeprefix(codecs.BOM_UTF8))
        return InputBytes(source.name, data, kind_of(source.name, data))
    path = str(source.value)
    if source.part is not None:
        return read_part(source.name, source.part, options.max_bytes)
    if not source.language:
        return read_input(path, max_bytes=options.max_bytes)
    from mirenc.llvm.inputs.compile_source import compile_source

    if source.problem:
        raise CompileError(f"{source.name}: {source.problem}")
    data = compile_source(
        path,
        source.language,
        cflags=(*source.flags, *options.cflags),
        compiler=options.compiler,
        folder=source.folder,
        source_name=source.source,
        dialect=options.dialect,
        timeout=options.timeout,
        memory_limit=options.memory_limit or default_worker().memory_limit,
        max_bytes=options.max_bytes,
    )
    with open(path, "rb") as stream:
        return InputBytes(source.name, data, "text", hashlib.file_digest(stream, "sha256").hexdigest())


def module_of(ir: InputBytes, options: ReadOptions, *, deleted: bool = True) -> IRModule:
    """The module of some IR, in the dialect and form of the options; errors as `read_ir`, except those of files.

    Without ``deleted``, functions that the passes of the form delete are not read.
    """
    worker = default_worker()
    if options.memory_limit is not None:
        worker.limit_memory(options.memory_limit)
    try:
        most_text = TEXT_FACTOR * options.max_bytes
        text, mended = canonical_text(ir, worker, most_text=most_text, timeout=options.timeout)
        module = replace(_module_in_form(text, ir.name, options, deleted=deleted), mended=mended)
        _note_added(text, ir.name)
    except MirencError as error:
        # Every message begins with the file; attributes (line, column, diagnostic) are kept.
        error.args = (f"{ir.name}: {error.args[0]}", *error.args[1:])
        raise
    if module.instruction_count == 0:
        problem = f"no function body ({len(module.headers)} declared functions, {len(module.global_lines)} globals)"
        raise NoFunctionBodyError(f"{ir.name}: {problem}. Give a module with at least one `define`")
    return _in_dialect(module, options)


def _in_dialect(module: IRModule, options: ReadOptions) -> IRModule:
    if options.dialect is None:
        return module
    from mirenc.llvm.inputs.retarget import bring

    return bring(module, options.dialect)


def _note_added(text: str, name: str) -> None:
    """Warn, once a run, of IR with a sanitizer's checks or a profile's counters, which are most of what is compared."""
    if _NOTED in os.environ:
        return
    match, subject = ("san_" in text or "ubsantrap" in text) and _SANITIZER.search(text), "checks of a sanitizer"
    advice = "-fno-sanitize=all; without optimisation `zig cc` adds such checks by itself"
    if not match and ("@__profc_" in text or "@__llvm_gcov_ctr" in text):
        match, subject = _COUNTERS.search(text), "counters of a profile or of coverage"
        advice = "-fno-profile-generate -fno-profile-instr-generate, and without --coverage"
    if match:
        os.environ[_NOTED] = "1"
        problem = f"has {subject} (%s), and looks unlike code without them"
        _LOGGER.warning(f"mirenc: warning: %s: {problem}. Compile with {advice}", name, match[1])


def in_form(module: IRModule, options: ReadOptions, *, deleted: bool = True) -> IRModule:
    """A module in the form of the options; the same object if it is in that form already."""
    if options.form in (None, "plain", module.form):
        return module
    if module.form != "plain":
        problem = f"{module.name}: passes have brought it to the form {module.form}, which cannot be undone"
        raise ConfigError(f"{problem}. Read the file again in the form {options.form}")
    return _module_in_form(module.annotated or module.text, module.name, options, deleted=deleted)


def _module_in_form(text: str, name: str, options: ReadOptions, *, deleted: bool) -> IRModule:
    """The module of canonical text, in the form of the options, or plain if LLVM's passes fail, which is logged."""
    worker = default_worker()

    def run(text: str, form: str) -> str:
        limits: Any = {"most_text": TEXT_FACTOR * options.max_bytes, "timeout": options.timeout}
        return worker.canonicalise(text_bytes(text), passes=PASSES[form], **limits)

    def read(text: str) -> IRModule:
        return read_canonical(text, name=name, demangle=worker.demangle)

    form = options.form
    if form is None or form == "plain" or not has_definitions(text):
        return read(text)
    plain_module = None  # read at most once: if attributes do not state the levels, or if passes fail
    if (built := stated_levels(text)) is None:
        plain_module = read(text)
        built = levels_by_symbol(plain_module)
    try:
        texts = formed(text, form, run, unoptimised=built[""] == "O0", deleted=deleted)
    except (IRParseError, IRResourceError) as error:
        words = "mirenc: warning: %s: cannot be brought to the form %s, so it stays in the form plain: %s"
        _LOGGER.warning(words, name, form, error)
        return plain_module or read(text)
    del plain_module  # it may be large
    fields: Any = {"form": form, "built": built}
    deleted_module = replace(read(texts.deleted), **fields) if texts.deleted else None
    return replace(read(texts.text), deleted=deleted_module, **fields)
