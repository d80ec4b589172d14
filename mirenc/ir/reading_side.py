"""What the child process does for `mirenc.ir.llvm`: parse, verify and print modules, and demangle C++ names."""

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import Any

from mirenc.ir.worker import llvmlite, parsed

_LARGE = 1 << 20  # bytes of an answer
Answer = tuple[dict[str, Any], bytes]


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
        self.version = ".".join(map(str, llvm.llvm_version_info))

    def answers(self, request: dict[str, Any], holder: list[bytes]) -> Iterator[Answer]:
        """One answer: LLVM's print-out or the names, or with another status LLVM's words."""
        try:
            if request["kind"] == "names":
                names = holder.pop().decode("utf-8").split("\n")
                status, text = "ok", "\n".join(map(self._demangle, names))
            else:
                status, text = self._canonicalise(holder)
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

    def _canonicalise(self, holder: list[bytes]) -> tuple[str, str]:
        status = "parse"
        try:
            with parsed(self._llvm, holder.pop()) as module:
                status = "verify"
                module.verify()
                return "ok", str(module)
        except (RuntimeError, ValueError) as error:
            return status, str(error)


def open_library(arguments: list[str]) -> Library:
    """The library; the argument is the folder in which llvmlite lies."""
    return Library(llvmlite(arguments[0]))
