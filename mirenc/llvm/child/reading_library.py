"""The child's side of `llvm_worker`: it parses, verifies, optimises and prints modules, and demangles C++ names."""

import contextlib
import ctypes
import os
import resource
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mirenc.llvm.child.child_main import PRINTING, decoded, llvmlite, parsed, printed, run_level

_LARGE = 1 << 20  # bytes of an answer
Answer = tuple[dict[str, Any], bytes]


class LongTextError(Exception):
    """A module prints as more text than allowed."""


@contextlib.contextmanager
def _text_limit(most_text: int) -> Iterator[None]:
    """Inside, a module may be printed to about ``most_text`` bytes; a longer one ends the process, or a LongTextError.

    A constant that is shared in memory is printed wherever it is used, so a kilobyte of bitcode can print without end.
    LLVM prints into a string that doubles as it grows, which llvmlite then copies: three times the text at most.
    """
    limits = resource.getrlimit(resource.RLIMIT_AS)
    try:
        with open("/proc/self/statm", encoding="ascii") as pages:
            most = int(pages.read().split()[0]) * resource.getpagesize() + 3 * most_text
    except OSError:  # no Linux: the text is measured once it is there
        yield
        return
    if limits[0] != resource.RLIM_INFINITY and limits[0] <= most:
        yield
        return
    resource.setrlimit(resource.RLIMIT_AS, (most, limits[1]))
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

        def demangled(mangled: str, function: Any = function, free: Any = free) -> str:
            pointer = function(mangled.encode("utf-8"), None, None, ctypes.byref(ctypes.c_int(0)))
            if not pointer:
                return mangled
            try:
                return ctypes.string_at(pointer).decode("utf-8", "replace")
            finally:
                free(pointer)

        return demangled
    return str


class Library:
    """llvmlite's LLVM as a reader."""

    def __init__(self, llvm: Any) -> None:
        self._llvm = llvm
        self._demangle = _demangler()
        self._machines: dict[str, Any] = {}  # target machines by triple
        self.version = ".".join(map(str, llvm.llvm_version_info))

    def answers(self, request: dict[str, Any], holder: list[bytes]) -> Iterator[Answer]:
        """One answer: LLVM's print-out or the names, or with another status LLVM's words.

        Status ``long``: the print-out has more than the request's ``most_text`` bytes. ``passes`` of a request are one
        of `mirenc.llvm.passes.normal_form.PASSES`: the module is printed after them.
        """
        try:
            if request["kind"] == "names":
                names = holder.pop().decode("utf-8").split("\n")
                status, text = "ok", "\n".join(map(self._demangle, names))
            else:
                status, text = self._canonicalise(holder, request["most_text"], request.get("passes"))
            data = text.encode("utf-8", "surrogateescape")
            del text
        except MemoryError:
            status, data = "memory", b""
        large = len(data) > _LARGE
        yield {"status": status}, data
        del data
        if large:  # this process stays, idle: what a large module took goes back to the system
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).malloc_trim(0)

    def _canonicalise(self, holder: list[bytes], most_text: int, passes: dict[str, Any] | None) -> tuple[str, str]:
        status = "parse"
        try:
            with parsed(self._llvm, holder.pop()) as module:
                if passes is not None:
                    status = "passes"
                    self._optimise(module, **passes)
                status = "verify"
                module.verify()
                with _text_limit(most_text):
                    text = printed(module)
                return ("ok", text) if len(text) <= most_text else ("long", "")
        except LongTextError:
            return "long", ""
        except UnicodeDecodeError as error:  # LLVM's words quote a name as it is
            return status, decoded(error.object)
        except (RuntimeError, ValueError) as error:
            return status, str(error)

    def _optimise(self, module: Any, speed: int, attributes: Sequence[str] = (), *, functions: bool = False) -> None:
        """Run the passes of a level, or with ``functions`` those that work on one function; attributes come first."""
        defined = [one for one in module.functions if not one.is_declaration]
        for function in defined:
            for attribute in attributes:
                function.add_function_attribute(attribute)
        run_level(self._llvm, module, self._machine(module.triple), speed, defined if functions else None)

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


def open_library(arguments: list[str]) -> Library:
    """The library; the argument is the folder in which llvmlite lies."""
    return Library(llvmlite(arguments[0]))
