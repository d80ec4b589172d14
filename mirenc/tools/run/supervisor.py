"""The process between mirenc and a command: when mirenc closes the socket, all that the command started is ended.

`mirenc.tools.run.programs` starts it by path. It adopts orphans (Linux), so that even what has left the command's
session is found. It imports nothing of mirenc.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

_PR_SET_CHILD_SUBREAPER = 36
_GRACE = 0.5  # seconds between SIGTERM, on which make removes what is half written, and SIGKILL
_MAX_SECONDS = 5.0  # seconds until what even SIGKILL does not end is given up
_POLL = 0.01  # seconds


def adopt_orphans() -> None:
    """On Linux, become the parent of descendants whose own parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_descendants(grace: float = 0.0) -> None:
    """End all descendants of this process: SIGTERM, and SIGKILL after ``grace`` seconds."""
    start, terminated = time.monotonic(), set()
    while (elapsed := time.monotonic() - start) < _MAX_SECONDS:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        pids = _descendants()
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if elapsed >= grace:
                    os.kill(pid, signal.SIGKILL)
                elif pid not in terminated:
                    os.kill(pid, signal.SIGTERM)
                    terminated.add(pid)
        time.sleep(_POLL)


def _descendants() -> list[int]:
    """Processes that descend from this one and are no zombies; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    zombies = set()
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if entry.isdecimal():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]  # the name may have spaces and brackets
                children.setdefault(int(parent), []).append(int(entry))
                zombies |= {int(entry)} if state in (b"Z", b"X") else set()
    pids = [os.getpid()]
    for pid in pids:
        pids += children.get(pid, [])
    return [pid for pid in pids[1:] if pid not in zombies]


def main() -> None:
    """``supervisor.py SOCKET COMMAND ...``: answers with exit code, processor and wall seconds; ends on end of file."""
    descriptor, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(descriptor, False)
    adopt_orphans()
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    start = time.perf_counter()
    # Python ignores these two, and what is ignored stays so in the next program.
    process = os.posix_spawnp(command[0], command, os.environ, setpgroup=0, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))
    while True:
        if descriptor in select.select([descriptor, wake_read], [], [])[0]:
            end_descendants(_GRACE)
            if sys.platform != "linux" or not os.path.isdir("/proc"):  # descendants cannot be found
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process, signal.SIGKILL)
            return
        os.read(wake_read, 4096)
        pid = -1
        while pid:  # an orphan may have ended, too
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == process:
                wall = time.perf_counter() - start
                code, cpu = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
                os.write(descriptor, f"{code} {cpu} {wall}".encode())
                return


if __name__ == "__main__":
    main()
