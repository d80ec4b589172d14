"""The child process that runs LLVM: parse, verify, print.

Stand-alone on purpose: it is started by path with ``python -S`` and imports only the standard library and
llvmlite, so it is ready while the parent still imports numpy. LLVM may abort the process it runs in (assertions,
"LLVM ERROR"), which is why it runs here and not in the caller's process.

Protocol over stdin and stdout, one request after another:

request   1 byte kind (``t`` text, ``b`` bitcode, ``d`` names to demangle), 8 bytes length, payload
response  1 byte status (``0`` done, ``p`` parse error, ``v`` verifier error, ``m`` out of memory),
          8 bytes length, payload (UTF-8)
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import struct
import sys
from typing import IO, Any

HEADER = struct.Struct("<cQ")
NOT_STARTED = 125  # exit code: LLVM itself could not be loaded, whatever the request
_LARGE = 1 << 20  # bytes of an answer
_NON_ASCII = re.compile(rb"[\x80-\xff]")


def _limit_memory(limit: int) -> None:
    try:
        import resource
    except ImportError:  # not a POSIX system: the time limit alone protects the caller
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A system that knows no such limit refuses it; the parent has seen to it that it is not above its own.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _give_back() -> None:
    """Give the system what a large module took, where the C library can: this process stays, idle."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _decode(payload: bytes) -> str:
    try:
        return payload.decode("utf-8")
    except UnicodeDecodeError:
        # Raw bytes are legal inside LLVM's quoted strings; the escaped spelling means the same.
        return _NON_ASCII.sub(lambda match: b"\\%02X" % match.group()[0], payload).decode("ascii")


class _Demangler:
    """The C++ runtime's own demangler; llvmlite's LLVM needs that runtime, so it is always there."""

    def __init__(self) -> None:
        self._function = None
        for name in ("libstdc++.so.6", "libc++abi.dylib", "libc++abi.so.1"):
            try:
                library = ctypes.CDLL(name)
                # getattr: inside a class Python would mangle the two underscores.
                function = getattr(library, "__cxa_demangle")
                free = ctypes.CDLL(None).free
            except (OSError, AttributeError):
                continue
            function.restype = ctypes.c_void_p
            function.argtypes = [
                ctypes.c_char_p,
                ctypes.c_void_p,
                ctypes.c_void_p,
                ctypes.POINTER(ctypes.c_int),
            ]
            free.argtypes = [ctypes.c_void_p]
            self._function, self._free = function, free
            return

    def __call__(self, name: str) -> str:
        if self._function is None:
            return name
        status = ctypes.c_int(0)
        pointer = self._function(name.encode("utf-8"), None, None, ctypes.byref(status))
        if not pointer:
            return name
        try:
            return ctypes.string_at(pointer).decode("utf-8", "replace")
        finally:
            self._free(pointer)


def _read_exactly(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        os._exit(0)  # the parent is gone
    return data


def _canonicalise(llvm: Any, kind: bytes, holder: list[bytes]) -> tuple[bytes, str]:
    """Status and text of one module; its bytes are taken out of their holder, and gone before it is printed."""
    # A context of its own: in a shared one LLVM renames a struct type that an earlier module has too. Module before
    # context, always: the other order crashes.
    context = llvm.create_context()
    module = None
    status = b"p"
    try:
        if kind == b"b":
            module = llvm.parse_bitcode(holder.pop(), context=context)
        else:
            module = llvm.parse_assembly(_decode(holder.pop()), context=context)
        status = b"v"
        module.verify()
        return b"0", str(module)
    except (RuntimeError, ValueError, UnicodeError) as error:
        return status, str(error)
    finally:
        if module is not None:
            module.close()
        context.close()


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    llvmlite_parent, memory_limit = sys.argv[1], int(sys.argv[2])
    sys.path.insert(0, llvmlite_parent)
    try:
        import llvmlite.binding as llvm
    # A damaged installation fails in many ways.
    except (AttributeError, ImportError, MemoryError, OSError, RuntimeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(NOT_STARTED)
    _limit_memory(memory_limit)
    demangle = _Demangler()
    # LLVM may print to descriptor 1; only frames may travel there.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    while True:
        header = requests.read(HEADER.size)
        if len(header) < HEADER.size:
            return
        kind, length = HEADER.unpack(header)
        payload = _read_exactly(requests, length)
        try:
            if kind == b"d":
                status, answer = b"0", "\n".join(map(demangle, payload.decode("utf-8").split("\n")))
            else:
                holder = [payload]
                del payload
                status, answer = _canonicalise(llvm, kind, holder)
        except MemoryError:
            status, answer = b"m", "out of memory"
        data = answer.encode("utf-8", "surrogateescape")
        replies.write(HEADER.pack(status, len(data)))
        replies.write(data)
        replies.flush()
        large = len(data) > _LARGE
        del answer, data
        if large:
            _give_back()


if __name__ == "__main__":
    main()
