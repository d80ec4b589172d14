"""What runs in the child of `mirenc.llvm.child.parsing_worker`: llvmlite's LLVM parses, verifies, optimises, prints.

It also has what the other services of llvmlite's LLVM share. Stand-alone (`mirenc.base.child_main`).
"""

import contextlib
import ctypes
import os
import re
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
PRINTING = "mirenc: printing a module"  # last words of a child that runs out of the memory that text may take
_NON_ASCII = re.compile(rb"[\x80-\xff]")


def llvmlite(folder: str) -> Any:
    """The binding to llvmlite's LLVM, from the folder in which llvmlite lies."""
    sys.path.insert(0, folder)
    import llvmlite.binding as llvm

    return llvm


def version_of(llvm: Any) -> str:
    """Version of llvmlite's LLVM, ``22.1.0``."""
    return ".".join(map(str, llvm.llvm_version_info))


def decode(text: bytes) -> str:
    """IR as text. Raw bytes are legal inside LLVM's quoted strings; the escaped spelling means the same."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return _NON_ASCII.sub(lambda match: b"\\%02X" % match.group()[0], text).decode("ascii")


@contextlib.contextmanager
def parse_module(llvm: Any, ir: bytes) -> Iterator[Any]:
    """A module of llvmlite's LLVM, from text or bitcode; RuntimeError or UnicodeError where it cannot be parsed."""
    # A context of its own: in a shared one LLVM renames a struct type that an earlier module has too. Module before
    # context, always: the other order crashes.
    with contextlib.closing(llvm.create_context()) as context:
        if ir.startswith(BITCODE_MAGIC):
            llvm_module = llvm.parse_bitcode(ir, context=context)
        else:
            llvm_module = llvm.parse_assembly(decode(ir), context=context)
        del ir  # it may be large
        with contextlib.closing(llvm_module) as module:
            yield module


def print_module(module: Any) -> str:
    """The print-out of a module of llvmlite's LLVM."""
    try:
        return str(module)
    except UnicodeDecodeError as error:  # LLVM prints the strings of attributes as they are
        return decode(error.object)


def run_level(llvm: Any, module: Any, machine: Any, speed: int, functions: Iterable[Any] | None = None) -> None:
    """Run ``default<O1>`` to ``default<O3>``, or on some functions the level's passes that simplify a single one."""
    options = llvm.create_pipeline_tuning_options(speed_level=speed)
    options.loop_vectorization = options.slp_vectorization = speed >= 2  # both vectorisers from O2 on
    builder = llvm.create_pass_builder(machine, options)
    if functions is None:
        builder.getModulePassManager().run(module, builder)
    else:
        manager = builder.getFunctionPassManager()
        for function in functions:
            manager.run(function, builder)


class LongTextError(Exception):
    """A module prints as more text than allowed."""


@contextlib.contextmanager
def _text_limit(most_text: int) -> Iterator[None]:
    """Let modules be printed to about ``most_text`` bytes; a longer one ends the process, or raises LongTextError.

    A constant that is shared in memory is printed wherever it is used, so a kilobyte of bitcode can print without end.
    LLVM prints into a string that doubles as it grows, which llvmlite then copies: three times the text at most.
    """
    limits = resource.getrlimit(resource.RLIMIT_AS)
    try:
        with open("/proc/self/statm", encoding="ascii") as pages:
            max_memory = int(pages.read().split()[0]) * resource.getpagesize() + 3 * most_text
    except OSError:  # no Linux: the text is measured once it is there
        yield
        return
    if limits[0] != resource.RLIM_INFINITY and limits[0] <= max_memory:
        yield
        return
    resource.setrlimit(resource.RLIMIT_AS, (max_memory, limits[1]))
    os.write(2, PRINTING.encode() + b"\n")
    try:
        yield
    except (AssertionError, MemoryError):  # llvmlite asserts that it could copy the string
        raise LongTextError from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def _demangler() -> Callable[[str], str]:
    """The C++ runtime's own demangler; llvmlite's LLVM needs that runtime, so it is always there."""
    for name in ("libstdc++.so.6", "libc++abi.dylib", "libc++abi.so.1"):
        try:
            function, free = ctypes.CDLL(name).__cxa_demangle, ctypes.CDLL(None).free
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
        free.argtypes = [ctypes.c_void_p]

        def demangle(mangled: str, function: Any = function, free: Any = free) -> str:
            pointer = function(mangled.encode("utf-8"), None, None, ctypes.byref(ctypes.c_int(0)))
            if not pointer:
                return mangled
            try:
                return ctypes.string_at(pointer).decode("utf-8", "replace")
            finally:
                free(pointer)

        return demangle
    return str


class ParsingService:
    """One answer to each request: the text asked for, or with another status than ``ok`` LLVM's words."""

    def __init__(self, llvm: Any) -> None:
        self._llvm = llvm
        self._demangle = _demangler()
        self._machines: dict[str, Any] = {}  # target machines by triple
        self.version = version_of(llvm)

    def answers(self, request: dict[str, Any], holder: list[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
        """A module's print-out, or the demangled names of a request of the kind ``names``, one a line."""
        try:
            if request["kind"] == "names":
                names = holder.pop().decode("utf-8").split("\n")
                status, text = "ok", "\n".join(map(self._demangle, names))
            else:
                with self._may_be_incomplete(allowed=request["incomplete"]):
                    status, text = self._canonicalise(holder, request["most_text"], request["passes"])
            yield {"status": status}, text.encode("utf-8", "surrogateescape")
        except MemoryError:
            yield {"status": "memory"}, b""

    @contextlib.contextmanager
    def _may_be_incomplete(self, *, allowed: bool) -> Iterator[None]:
        """Where allowed, let LLVM's parser declare what is used, and drop references to metadata that is not there."""
        if allowed:
            self._llvm.set_option("", "-allow-incomplete-ir=true")
        try:
            yield
        finally:
            if allowed:
                self._llvm.set_option("", "-allow-incomplete-ir=false")

    def _canonicalise(self, holder: list[bytes], most_text: int, passes: dict[str, Any] | None) -> tuple[str, str]:
        """Status and the text of a module, after ``passes`` (`mirenc.llvm.passes.optimise.PASSES`) if there are any.

        The status is ``ok``; ``parse``, ``passes`` or ``verify``, at which LLVM refused it; or ``long``: the text has
        more than ``most_text`` bytes.
        """
        status = "parse"
        try:
            with parse_module(self._llvm, holder.pop()) as module:
                if passes is not None:
                    status = "passes"
                    self._optimise(module, **passes)
                status = "verify"
                module.verify()
                with _text_limit(most_text):
                    text = print_module(module)
                return ("ok", text) if len(text) <= most_text else ("long", "")
        except LongTextError:
            return "long", ""
        except UnicodeDecodeError as error:  # LLVM's words quote a name as it is
            return status, decode(error.object)
        except (RuntimeError, ValueError) as error:
            return status, str(error)

    def _optimise(self, module: Any, speed: int, attributes: Sequence[str] = (), *, functions: bool = False) -> None:
        """Run the passes of a level, or with ``functions`` those that work on one function; attributes come first."""
        definitions = [function for function in module.functions if not function.is_declaration]
        for function in definitions:
            for attribute in attributes:
                function.add_function_attribute(attribute)
        run_level(self._llvm, module, self._machine(module.triple), speed, definitions if functions else None)

    def _machine(self, triple: str) -> Any:
        """Target machine of a triple; None, with which passes know no target, where llvmlite has none, as of SPIR.

        A module that names no triple has none either: its form is the same on every host.
        """
        if not self._machines:
            self._llvm.initialize_all_targets()
            self._llvm.initialize_all_asmprinters()
        if triple not in self._machines:
            self._machines[triple] = None
            with contextlib.suppress(RuntimeError):
                target = self._llvm.Target.from_triple(triple or "none")
                self._machines[triple] = target.create_target_machine(opt=2, reloc="pic", codemodel="default")
        return self._machines[triple]


def open_service(arguments: list[str]) -> ParsingService:
    """The service; the argument is the folder in which llvmlite lies."""
    return ParsingService(llvmlite(arguments[0]))
