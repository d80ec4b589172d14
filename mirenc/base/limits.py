"""Limits of memory and file sizes for this process; as a program, sets them and becomes the command it is given.

`mirenc.base.run_program` starts it by path: Python's ``preexec_fn`` may stand still for ever in a process with threads.
"""

import contextlib
import os
import resource
import signal
import sys

FAILED = 126  # exit code, with the error number as the only words: the program could not be started

_LARGEST = 1 << 32  # bytes of a file: a program that prints without end does not fill the disk


def limit(memory: int, largest_file: int) -> None:
    """Limit this process, and those it starts: bytes of address space, bytes of a file that is written, no core."""
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: largest_file, resource.RLIMIT_AS: memory}
    for kind, value in limits.items():
        with contextlib.suppress(OSError, ValueError):  # one that the system does not know
            resource.setrlimit(kind, (value, value))


def main() -> None:
    """``limits.py BYTES COMMAND ...``."""
    command = sys.argv[2:]
    limit(int(sys.argv[1]), _LARGEST)
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
