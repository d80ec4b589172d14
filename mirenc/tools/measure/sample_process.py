"""The process that runs other people's kernels: it stays, and each sample has a fork of it that may die.

`mirenc.tools.measure.timekeeper` starts it. A line of JSON on stdin is a sample; a fork of it limits itself, measures,
and answers with a line. After it has ended comes another, with how it ended and what it was about to run.
"""

import contextlib
import ctypes
import gc
import json
import mmap
import os
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Float64
from mirenc.base.deadline import variant_limit
from mirenc.base.errors import MirencError
from mirenc.tools.measure.runners import Cell, CellRefusedError, Runner, get_runner
from mirenc.tools.run.supervisor import adopt_orphans, end_descendants

BATCH = 2e-3  # seconds of one batch: long for a clock, short for what else the machine does
MAX_NOISE = 0.03  # share: over it a sample gets more rounds, and is dropped in the end
MORE_ROUNDS = 4  # times the rounds asked for, at most
_QUARTER = 0.25
# Another order of summation moves the last digits of a sum: share of the largest value of the array, by bytes.
_TOLERANCE = {4: 1e-4, 8: 1e-9}
SETUP, COPY = -1, -2  # in place of a cell's number: the driver, and the copy of the default
_MOST_CALLS = 10**9
_PROBE = 16  # a variant is first timed with this part of the default's calls
_GRACE = 2.0  # seconds that a variant may take beyond its limit, for what happens at a first call only
_FLOOD = 16 * 2**20  # bytes of one file, standard output among them
_SAMPLE_LIMIT = 120.0  # seconds that the rounds of one sample may take
_A_THREAD = 80 * 2**20  # bytes that a thread maps and hardly uses: its stack and its arena of malloc
_CELL = struct.Struct("q")
_PR_SET_PDEATHSIG = 1


def calls_for(seconds: float, *, most: int | None = None) -> int:
    """Calls of a batch, for a variant that takes so many seconds a call; at most ``most``."""
    wanted = max(1, round(BATCH / max(seconds, 1e-10)))
    return wanted if most is None else min(wanted, most)


def costs_of(times: Float64, default: int, copy: int) -> tuple[Float64, Float64, float]:
    """Costs by even rounds and by odd ones, two (V,), and noise, of (R, V) seconds a call, R >= 2.

    Noise is the gap between the columns ``default`` and ``copy``, as a share; of the two halves the larger.
    """
    label, report = (np.quantile(half, _QUARTER, axis=0) for half in (times[0::2], times[1::2]))
    gaps = [abs(half[default] - half[copy]) / min(half[default], half[copy]) for half in (label, report)]
    return label, report, float(max(gaps))


def first_of_code(cells: Sequence[Cell]) -> list[int]:
    """For each cell the first of the same `Cell.measurement`; what is not known is its own."""
    first: dict[str, int] = {}
    return [first.setdefault(cell.measurement or str(index), index) for index, cell in enumerate(cells)]


def same_outputs(outputs: Sequence[NDArray[Any]], wanted: Sequence[NDArray[Any]]) -> bool:
    """Whether all arrays agree: integers in full, floats within a share of the array's magnitude."""
    return len(outputs) == len(wanted) and all(map(_same, outputs, wanted))


def _same(one: NDArray[Any], wanted: NDArray[Any]) -> bool:
    if one.dtype != wanted.dtype or one.shape != wanted.shape:
        return False
    if wanted.dtype.kind != "f":
        return np.array_equal(one, wanted)
    near = _TOLERANCE[wanted.dtype.itemsize] * float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0))
    return np.allclose(one.astype(np.float64), wanted.astype(np.float64), rtol=0.0, atol=near, equal_nan=True)


About = Callable[[int, float], None]


def measure(runner: Runner, cells: Mapping[int, Cell], ask: dict[str, Any], about: About) -> dict[str, Any]:
    """Check and time the cells of one sample.

    ``cells`` are different measurements by their numbers: the default, its `COPY`, and the variants. ``about`` is told
    what runs next, and how many seconds it may take; ``ask`` is what `Timekeeper.sample` asks. The answer has
    ``failed`` {number: status} of variants that are no candidates, and ``dropped``, why the sample is none, or "";
    where it is one ``label`` and ``report`` {number: seconds a call}, ``noise``, ``rounds``, ``calls``.
    """
    default, limit = int(ask["default"]), float(ask["limit"])
    about(SETUP, limit)
    runner.load(Path(ask["folder"]), ask["driver"], ask["size"])
    about(default, limit)
    wanted = runner.outputs(cells[default])
    limit = min(limit, _GRACE + variant_limit(runner.time(cells[default], 1)))
    failed: dict[int, str] = {}
    for index, cell in cells.items():
        about(index, limit)
        try:
            same = same_outputs(runner.outputs(cell), wanted)
        except CellRefusedError as error:
            failed[index] = f"crash: {error}"
        else:
            if not same:
                failed[index] = "differs"
    for index, name in ((default, "a second call of the default"), (COPY, "the copy of the default")):
        if index in failed:
            return {"failed": failed, "dropped": f"{name}: {failed[index]}"}
    kept = {index: cell for index, cell in cells.items() if index not in failed}
    # Calls of a batch: as many as of the default, and fewer of what is slower.
    about(default, limit)
    count = 1
    while (seconds := runner.time(cells[default], count)) < BATCH / 2 and count < _MOST_CALLS:
        count = min(10 * count, max(count + 1, calls_for(seconds / count)))
    most = calls_for(seconds / count)
    calls, probe = {default: most, COPY: most}, max(1, most // _PROBE)
    for index, cell in kept.items():
        if index not in calls:
            about(index, limit)
            calls[index] = calls_for(runner.time(cell, probe) / probe, most=most)
    return {"failed": failed, "calls": most, **_rounds(runner, kept, calls, ask | {"limit": limit}, about)}


def _rounds(
    runner: Runner, cells: Mapping[int, Cell], calls: Mapping[int, int], ask: Mapping[str, Any], about: About
) -> dict[str, Any]:
    """Rounds until the default and its copy agree, or there were enough."""
    numbers = list(cells)
    default, copy = numbers.index(ask["default"]), numbers.index(COPY)
    generator = np.random.default_rng(ask["seed"])
    times: list[list[float]] = []
    start = time.monotonic()
    while True:
        row = [0.0] * len(numbers)
        # A new random order, so that no variant always follows the same one.
        for place in generator.permutation(len(numbers)).tolist():
            index = numbers[place]
            about(index, ask["limit"])
            row[place] = runner.time(cells[index], calls[index]) / calls[index]
        times.append(row)
        if len(times) % ask["rounds"]:
            each = (time.monotonic() - start) / len(times)
            if each * ask["rounds"] > _SAMPLE_LIMIT:
                return {"dropped": f"slow: a round takes {each:.1f} s"}
            continue
        label, report, noise = costs_of(np.maximum(np.array(times), 1e-12), default, copy)
        used = time.monotonic() - start
        if noise <= ask["max_noise"] or len(times) >= MORE_ROUNDS * ask["rounds"] or used > _SAMPLE_LIMIT / 2:
            break
    return {
        "label": dict(zip(numbers, label.tolist(), strict=True)),
        "report": dict(zip(numbers, report.tolist(), strict=True)),
        "noise": noise,
        "rounds": len(times),
        "dropped": f"noise {100 * noise:.1f} %" if noise > ask["max_noise"] else "",
    }


def _fork_measures(ask: dict[str, Any], kind: type[Runner], shared: mmap.mmap, replies: int) -> None:
    """One sample, in the fork: limits first."""
    import resource

    _end_with_parent()
    if ask["pin"]:
        with contextlib.suppress(AttributeError, OSError):  # not Linux; or a CPU that was taken away
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    # Words go to a file that has a largest size, and so do all files.
    with tempfile.TemporaryFile() as words:
        os.dup2(words.fileno(), 1)
        os.dup2(words.fileno(), 2)
    for each in (signal.SIGXFSZ, signal.SIGALRM, signal.SIGPIPE):
        signal.signal(each, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FLOOD, _FLOOD))
    if kind.memory_limit is not None:
        with contextlib.suppress(OSError, ValueError):  # it is limited to less already
            resource.setrlimit(resource.RLIMIT_AS, (_address_space(kind.memory_limit),) * 2)
    cells = {int(index): Cell(**cell) for index, cell in ask["cells"].items()}

    def about(index: int, seconds: float) -> None:
        _CELL.pack_into(shared, 0, index)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    gc.disable()
    try:
        answer = measure(kind(), cells, ask, about)
    except Exception as error:  # noqa: BLE001 - a runner may raise anything, and it is said which cell it was
        answer = {"raised": f"{type(error).__name__}: {error}"}
    signal.setitimer(signal.ITIMER_REAL, 0)
    # Only now: what a kernel writes may not look like an answer.
    data = (json.dumps(answer) + "\n").encode()
    while data:
        data = data[os.write(replies, data) :]


def _address_space(memory: int) -> int:
    """Bytes that the process may map in all where a sample may add ``memory``: threads of many cores are no flood."""
    return _mapped() + memory + _A_THREAD * (os.cpu_count() or 1)


def _mapped() -> int:
    """Bytes of address space that this process has now; 0 where /proc does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * mmap.PAGESIZE
    except OSError:
        return 0


def _end_with_parent() -> None:
    """Linux: a parent that is killed takes this process along, whatever it is at."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """``child.py RUNNER``: answer until stdin is closed."""
    _end_with_parent()
    adopt_orphans()
    replies = os.dup(1)
    os.dup2(2, 1)

    def reply(**answer: Any) -> None:
        os.write(replies, (json.dumps(answer) + "\n").encode())

    try:
        kind = get_runner(sys.argv[1])
        kind.warm()
    except (MirencError, ImportError, OSError) as error:
        reply(problem=str(error))
        return
    reply(ready=True)
    shared = mmap.mmap(-1, _CELL.size)
    while line := sys.stdin.buffer.readline():
        ask = json.loads(line)
        _CELL.pack_into(shared, 0, SETUP)
        process = os.fork()
        if process == 0:
            try:
                _fork_measures(ask, kind, shared, replies)
            finally:
                os._exit(0)  # a library's own clean-up may hang, and nobody waits for it
        _, status = os.waitpid(process, 0)
        end_descendants()  # what its kernels left running would be noise
        reply(ended=os.waitstatus_to_exitcode(status), cell=_CELL.unpack_from(shared)[0])


if __name__ == "__main__":
    main()
