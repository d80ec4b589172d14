"""Becomes another program after it has limited its own memory, and the files it writes.

`mirenc.ir.process` starts it by path: Python's ``preexec_fn`` may stand still for ever in a process with threads.
"""

import contextlib
import os
import signal
import sys

FAILED = 126  # exit code, with the error number as the only words: the program could not be started

_LARGEST = 1 << 32  # bytes of a file, so that who prints without end does not fill the disk


def main() -> None:
    """``launch.py BYTES COMMAND ...``."""
    limit, command = int(sys.argv[1]), sys.argv[2:]
    with contextlib.suppress(ImportError, OSError, ValueError):  # a system without such limits
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST, _LARGEST))
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # Python ignores these, and what is ignored stays so for the next program.
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, b"%d" % (error.errno or 0))
        os._exit(FAILED)


if __name__ == "__main__":
    main()
