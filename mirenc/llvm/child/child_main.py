"""The child process that LLVM runs in, since LLVM aborts, loops and eats memory (`mirenc.llvm.child.child_process`).

Started by path with ``python -I -S``; a side imports the standard library, stand-alone files of mirenc, and one LLVM.

Protocol over stdin and stdout. A frame is two lengths (`HEADER`), a JSON object, and bytes or nothing. The child begins
with ``{"version": ...}``. A request is one frame, and each answer of `Library.answers` another, sent at once.
"""

import contextlib
import importlib.util
import json
import os
import re
import signal
import struct
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

HEADER = struct.Struct("<QQ")
BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
NOT_STARTED = 125  # exit code: no library could be loaded, whatever the request
PRINTING = "mirenc: printing a module"  # last words of a child that runs out of the memory that text may take
_WORDS = 1 << 30  # bytes of a file, so that a pass that prints without end has an end
_NON_ASCII = re.compile(rb"[\x80-\xff]")


def decoded(text: bytes) -> str:
    """IR as text. Raw bytes are legal inside LLVM's quoted strings; the escaped spelling means the same."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return _NON_ASCII.sub(lambda match: b"\\%02X" % match.group()[0], text).decode("ascii")


def llvmlite(folder: str) -> Any:
    """The binding to llvmlite's LLVM, from the folder in which llvmlite lies."""
    sys.path.insert(0, folder)
    import llvmlite.binding as llvm

    return llvm


@contextlib.contextmanager
def parsed(llvm: Any, ir: bytes) -> Iterator[Any]:
    """A module of llvmlite's LLVM, from text or bitcode; RuntimeError or UnicodeError where it cannot be parsed."""
    # A context of its own: in a shared one LLVM renames a struct type that an earlier module has too. Module before
    # context, always: the other order crashes.
    with contextlib.closing(llvm.create_context()) as context:
        if ir.startswith(BITCODE_MAGIC):
            read = llvm.parse_bitcode(ir, context=context)
        else:
            read = llvm.parse_assembly(decoded(ir), context=context)
        del ir  # it may be large
        with contextlib.closing(read) as module:
            yield module


def printed(module: Any) -> str:
    """The print-out of a module of llvmlite's LLVM."""
    try:
        return str(module)
    except UnicodeDecodeError as error:  # LLVM prints the strings of attributes as they are
        return decoded(error.object)


def run_level(llvm: Any, module: Any, machine: Any, speed: int, functions: Iterable[Any] | None = None) -> None:
    """Run ``default<O1>`` to ``default<O3>`` as LLVM reads it, or on some functions what simplifies one by itself."""
    options = llvm.create_pipeline_tuning_options(speed_level=speed)
    options.loop_vectorization = options.slp_vectorization = speed >= 2  # both vectorisers from O2 on
    builder = llvm.create_pass_builder(machine, options)
    if functions is None:
        builder.getModulePassManager().run(module, builder)
    else:
        manager = builder.getFunctionPassManager()
        for function in functions:
            manager.run(function, builder)


def _load(side: str) -> Any:
    """A side, by path: ``-I -S`` knows no packages. What it imports of mirenc is found without running a package."""
    house = Path(__file__).parents[2]
    for name in ("mirenc", "mirenc.base", "mirenc.llvm", "mirenc.llvm.child", "mirenc.llvm.passes"):
        package = sys.modules[name] = types.ModuleType(name)
        package.__path__ = [str(house.parent.joinpath(*name.split(".")))]
    spec = importlib.util.spec_from_file_location("side", side)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["side"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _read(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        os._exit(0)  # the parent is gone
    return data


def _send(stream: IO[bytes], answer: dict[str, Any], data: bytes = b"") -> None:
    about = json.dumps(answer).encode("ascii")
    stream.write(HEADER.pack(len(about), len(data)) + about)
    stream.write(data)
    stream.flush()


def main() -> None:
    """``worker.py MEMORY SIDE ARGUMENT...``: answer requests until the parent closes the pipe."""
    memory, side, *arguments = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C ends
    try:
        library = _load(side).open_library(arguments)
        from mirenc.base.limits import limit  # which now is found
    # A damaged installation fails in many ways.
    except (AttributeError, ImportError, MemoryError, OSError, RuntimeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(NOT_STARTED)
    limit(int(memory), _WORDS)
    # LLVM may print to descriptor 1; only frames may travel there.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _send(replies, {"version": library.version})
    requests = sys.stdin.buffer
    while True:
        header = requests.read(HEADER.size)
        if len(header) < HEADER.size:
            return
        about, size = HEADER.unpack(header)
        request = json.loads(_read(requests, about))
        holder = [_read(requests, size)]  # who takes the bytes out of it can let them go
        # Only the last request's words say why the process ended.
        with contextlib.suppress(OSError):
            os.ftruncate(2, 0)
            os.lseek(2, 0, os.SEEK_SET)
        for answer, data in library.answers(request, holder):
            _send(replies, answer, data)
            del data  # a side may give memory back after its last answer


if __name__ == "__main__":
    main()
