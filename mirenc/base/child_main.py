"""The child's side of `mirenc.base.child_process`: loads a service, limits itself, and answers requests.

Started by path with ``python -I -S``, so that it starts quickly: a service imports the standard library, files of
mirenc that do the same, and what it is there for. It has ``open_service(arguments)``, whose result has

- ``version``, a text, which is the child's greeting;
- ``answers(request, holder)``, which yields an answer (a JSON object) and bytes, any number of times. ``holder`` is a
  list with the request's bytes; popping them lets the service free them early.

Over stdin and stdout go frames: two lengths (`HEADER`), the JSON object, the bytes. A frame of two zeros follows the
last answer to a request.
"""

import contextlib
import ctypes
import importlib.util
import json
import os
import signal
import struct
import sys
import types

HEADER = struct.Struct("<QQ")
NOT_STARTED = 125  # exit code: the service could not be loaded
_LARGEST_FILE = 1 << 30  # bytes: a service that prints without end has an end
_LARGE = 1 << 20  # bytes of answers after which the memory they took is given back
# Their own __init__.py would import what no child needs.
_PACKAGES = ("mirenc", "mirenc.llvm")


def main() -> None:
    """``child_main.py MEMORY SERVICE ARGUMENT...``: answer requests until the parent closes the pipe."""
    memory, path, *arguments = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C ends
    try:
        service = _load(path).open_service(arguments)
        from mirenc.base.limits import limit
    # A damaged installation fails in many ways.
    except (AttributeError, ImportError, MemoryError, OSError, RuntimeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(NOT_STARTED)
    limit(int(memory), _LARGEST_FILE)
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries may print to descriptor 1, where only frames may travel

    def read(count: int) -> bytes:
        data = requests.read(count)
        if len(data) != count:
            os._exit(0)  # the parent is gone
        return data

    def reply(answer: dict[str, object], data: bytes) -> None:
        text = json.dumps(answer).encode("ascii")
        replies.write(HEADER.pack(len(text), len(data)) + text)
        replies.write(data)
        replies.flush()

    reply({"version": service.version}, b"")
    while True:
        text_size, data_size = HEADER.unpack(read(HEADER.size))
        request, holder = json.loads(read(text_size)), [read(data_size)]
        # Only what is printed from here on can say why this request ended the process.
        with contextlib.suppress(OSError):
            os.ftruncate(2, 0)
            os.lseek(2, 0, os.SEEK_SET)
        size = 0
        for answer, data in service.answers(request, holder):
            reply(answer, data)
            size += len(data)
            del data
        replies.write(HEADER.pack(0, 0))
        replies.flush()
        if size > _LARGE:
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).malloc_trim(0)


def _load(path: str) -> types.ModuleType:
    """Import the service at a path, which can import mirenc's own files although no packages are installed here."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for name in _PACKAGES:
        package = sys.modules[name] = types.ModuleType(name)
        package.__path__ = [os.path.join(root, *name.split("."))]
    spec = importlib.util.spec_from_file_location("service", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["service"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
