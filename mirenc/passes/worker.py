"""The child process in which passes run: one list of passes after another, on one module.

Stand-alone on purpose, as `mirenc.ir.worker` is: it is started by path with ``python -I -S`` and imports the standard
library, `mirenc.passes.object_file` and one library of LLVM, so it is ready in a fraction of a second. Passes crash and
loop, which is why they run here, and why each list's answer is sent at once: what was answered is not lost with the
process.

Protocol over stdin and stdout. A frame is two lengths (`HEADER`), a JSON object, and bytes or nothing.

first      child: ``{"version": "19.1.7"}``
request    parent: ``{"pipelines": [...], "codegen": 0 to 3, "keep": "", "ir" or "object"}`` and the IR
response   child, one for each pipeline: ``{"status": "ok", ...}`` with the library's answer (of an engine's:
           instructions, text_bytes, data_bytes, loaded_bytes, digest) and the optimised bitcode where ``ir`` is kept,
           the object file alone where that is, or ``{"status": ..., "problem": ...}``. Before them
           ``{"status": "read"}``, or ``input`` and the problem where the IR itself is refused, which is then the only
           answer.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import struct
import sys
from typing import IO, Any

HEADER = struct.Struct("<QQ")
NOT_STARTED = 125  # exit code: no library could be loaded, whatever the request
_WORDS_ALLOWED = 1 << 30  # bytes: of a pass that prints without end


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # not a POSIX system: the time limit alone protects the caller
        return
    for what, limit in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _WORDS_ALLOWED),
        (resource.RLIMIT_AS, memory),
    ):
        # A system that knows no such limit refuses it.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (limit, limit))


def _loaded(name: str, path: str) -> Any:
    """A file beside this one, loaded by path since ``-I -S`` knows no packages; others may import it by its name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _read(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        os._exit(0)  # the parent is gone
    return data


def _send(stream: IO[bytes], answer: dict[str, Any], ir: bytes = b"") -> None:
    data = json.dumps(answer).encode("ascii")
    stream.write(HEADER.pack(len(data), len(ir)) + data + ir)
    stream.flush()


def _serve(library: Any, request: dict[str, Any], ir: bytes, replies: IO[bytes]) -> None:
    try:
        module = library.read(ir)
    except ValueError as error:
        return _send(replies, {"status": "input", "problem": str(error)})
    _send(replies, {"status": "read"})
    for pipeline in request["pipelines"]:
        try:
            if request["keep"] == "object":
                answer, made = {}, library.compile(module, pipeline, request["codegen"])
            else:
                answer, made = library.answer(module, pipeline, request["codegen"])
        except library.RefusedError as refused:
            answer, made = {"status": refused.status, "problem": str(refused)}, b""
        except MemoryError:
            answer, made = {"status": "memory", "problem": "out of memory"}, b""
        _send(replies, {"status": "ok"} | answer, made if request["keep"] else b"")
    return None


def main() -> None:
    """``worker.py MEMORY SIDE ARGUMENT...``: answer requests until the parent closes the pipe."""
    memory, side, *arguments = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C ends
    try:
        _loaded("mirenc.passes.object_file", os.path.join(os.path.dirname(__file__), "object_file.py"))
        library = _loaded("library", side).open_library(arguments)  # the child's side of an engine
    # A damaged installation fails in many ways.
    except (AttributeError, ImportError, MemoryError, OSError, RuntimeError, ValueError) as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(NOT_STARTED)
    _limit(int(memory))
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
        ir = _read(requests, size)
        # Only the last request's words say why the process ended.
        with contextlib.suppress(OSError):
            os.ftruncate(2, 0)
            os.lseek(2, 0, os.SEEK_SET)
        _serve(library, request, ir, replies)


if __name__ == "__main__":
    main()
