"""The process that checks and times kernels: for each sample it forks a child, which a kernel may crash.

`mirenc.tools.measure.timekeeper` starts it. A request is a line of JSON on stdin. The child limits itself, measures and
answers with a line. After the child has ended comes another line: how it ended, and which cell it was about to run.
"""

import contextlib
import ctypes
import gc
import json
import mmap
import os
import resource
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
from mirenc.base.limits import limit
from mirenc.tools.measure.runners import Cell, CellRefusedError, Runner, get_runner
from mirenc.tools.run.supervisor import adopt_orphans, end_descendants
from mirenc.tools.run.turns import one_round

BATCH = 2e-3  # seconds of one batch: long beside the clock's resolution, short beside other work of the machine
MAX_NOISE = 0.03  # share; a noisier sample gets more rounds, and is dropped if it stays noisy
MORE_ROUNDS = 4  # times the rounds asked for, at most
_QUARTER = 0.25
# Another order of summation moves the last digits of a sum: share of the largest value of the array, by bytes.
_TOLERANCE = {4: 1e-4, 8: 1e-9}
SETUP, COPY = -1, -2  # in place of a cell's number: the driver, and the copy of the default
_MAX_CALLS = 10**9
_PROBE = 16  # a variant is first timed with this part of the default's calls
_GRACE = 2.0  # seconds that a variant may take beyond its limit, as a first call may do more than others
_MAX_FILE_BYTES = 16 * 2**20  # bytes of one file, standard output among them
_SAMPLE_LIMIT = 120.0  # seconds that the rounds of one sample may take
_THREAD_BYTES = 80 * 2**20  # bytes that a thread maps and hardly uses: its stack and its arena of malloc
_CELL = struct.Struct("q")
_PR_SET_PDEATHSIG = 1


def calls_for(seconds: float, *, most: int | None = None) -> int:
    """Calls of a batch of a variant that takes ``seconds`` a call; at most ``most``."""
    calls = max(1, round(BATCH / max(seconds, 1e-10)))
    return calls if most is None else min(calls, most)


def costs_of(times: Float64, default: int, copy: int) -> tuple[Float64, Float64, float]:
    """Costs by even and by odd rounds, each (V,), and the noise, from ``times`` (R, V) in seconds a call, R >= 2.

    The noise is the larger of the two halves' relative gaps between the columns ``default`` and ``copy``.
    """
    label, report = (np.quantile(half, _QUARTER, axis=0) for half in (times[0::2], times[1::2]))
    gaps = [abs(half[default] - half[copy]) / min(half[default], half[copy]) for half in (label, report)]
    return label, report, float(max(gaps))


def first_of_code(cells: Sequence[Cell]) -> list[int]:
    """For each cell the first one with the same `Cell.measurement`; a cell without one stands for itself."""
    first: dict[str, int] = {}
    return [first.setdefault(cell.measurement or str(index), index) for index, cell in enumerate(cells)]


def same_outputs(outputs: Sequence[NDArray[Any]], expected: Sequence[NDArray[Any]]) -> bool:
    """Whether all arrays agree: integers exactly, floats within a share of the array's largest magnitude."""
    return len(outputs) == len(expected) and all(map(_is_same, outputs, expected))


def _is_same(output: NDArray[Any], expected: NDArray[Any]) -> bool:
    if output.dtype != expected.dtype or output.shape != expected.shape:
        return False
    if expected.dtype.kind != "f":
        return np.array_equal(output, expected)
    tolerance = _TOLERANCE[expected.dtype.itemsize] * float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
    return np.allclose(output.astype(np.float64), expected.astype(np.float64), rtol=0.0, atol=tolerance, equal_nan=True)


Watch = Callable[[int, float], None]
"""Called with the number of the cell that runs next, and the seconds that it may take."""


def measure(runner: Runner, cells: Mapping[int, Cell], request: dict[str, Any], watch: Watch) -> dict[str, Any]:
    """Check and time the cells of one sample, as a request of `Timekeeper.sample` asks.

    ``cells`` are different measurements by their numbers: the default, its `COPY`, and the variants. The answer has
    ``failed`` {number: status} of variants that cannot be candidates, and ``dropped``, why the sample is unusable, or
    ""; if it is usable, ``label`` and ``report`` {number: seconds a call}, ``noise``, ``rounds`` and ``calls``.
    """
    default, timeout = int(request["default"]), float(request["limit"])
    watch(SETUP, timeout)
    runner.load(Path(request["folder"]), request["driver"], request["size"])
    watch(default, timeout)
    expected = runner.outputs(cells[default])
    timeout = min(timeout, _GRACE + variant_limit(runner.time(cells[default], 1)))
    errors: dict[int, str] = {}
    for index, cell in cells.items():
        watch(index, timeout)
        try:
            is_same = same_outputs(runner.outputs(cell), expected)
        except CellRefusedError as error:
            errors[index] = f"crash: {error}"
        else:
            if not is_same:
                errors[index] = "differs"
    for index, name in ((default, "a second call of the default"), (COPY, "the copy of the default")):
        if index in errors:
            return {"failed": errors, "dropped": f"{name}: {errors[index]}"}
    usable = {index: cell for index, cell in cells.items() if index not in errors}
    # Calls of a batch: as many as of the default, and fewer of what is slower.
    watch(default, timeout)
    count = 1
    while (seconds := runner.time(cells[default], count)) < BATCH / 2 and count < _MAX_CALLS:
        count = min(10 * count, max(count + 1, calls_for(seconds / count)))
    max_calls = calls_for(seconds / count)
    calls, probe = {default: max_calls, COPY: max_calls}, max(1, max_calls // _PROBE)
    for index, cell in usable.items():
        if index not in calls:
            watch(index, timeout)
            calls[index] = calls_for(runner.time(cell, probe) / probe, most=max_calls)
    return {"failed": errors, "calls": max_calls, **_rounds(runner, usable, calls, request | {"limit": timeout}, watch)}


def _rounds(
    runner: Runner, cells: Mapping[int, Cell], calls: Mapping[int, int], request: Mapping[str, Any], watch: Watch
) -> dict[str, Any]:
    """Time rounds until the default and its copy agree, or there were enough."""
    numbers = list(cells)
    default, copy = numbers.index(request["default"]), numbers.index(COPY)
    generator = np.random.default_rng(request["seed"])
    times: list[list[float]] = []
    start = time.monotonic()

    def seconds_a_call(place: int) -> float:
        index = numbers[place]
        watch(index, request["limit"])
        return runner.time(cells[index], calls[index]) / calls[index]

    while True:
        times.append(one_round(len(numbers), seconds_a_call, generator))
        if len(times) % request["rounds"]:
            seconds_a_round = (time.monotonic() - start) / len(times)
            if seconds_a_round * request["rounds"] > _SAMPLE_LIMIT:
                return {"dropped": f"slow: a round takes {seconds_a_round:.1f} s"}
            continue
        label, report, noise = costs_of(np.maximum(np.array(times), 1e-12), default, copy)
        spent = time.monotonic() - start
        if noise <= request["max_noise"] or len(times) >= MORE_ROUNDS * request["rounds"] or spent > _SAMPLE_LIMIT / 2:
            break
    return {
        "label": dict(zip(numbers, label.tolist(), strict=True)),
        "report": dict(zip(numbers, report.tolist(), strict=True)),
        "noise": noise,
        "rounds": len(times),
        "dropped": f"noise {100 * noise:.1f} %" if noise > request["max_noise"] else "",
    }


def _measure_in_fork(request: dict[str, Any], kind: type[Runner], shared: mmap.mmap, replies: int) -> None:
    """Measure one sample in the forked child, which limits itself first."""
    _end_with_parent()
    if request["pin"]:
        with contextlib.suppress(AttributeError, OSError):  # not Linux; or a CPU that was taken away
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    # What the kernel prints goes to a file, as the size of files is limited.
    with tempfile.TemporaryFile() as output_file:
        os.dup2(output_file.fileno(), 1)
        os.dup2(output_file.fileno(), 2)
    for number in (signal.SIGXFSZ, signal.SIGALRM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    limit(resource.RLIM_INFINITY if kind.memory_limit is None else _address_space(kind.memory_limit), _MAX_FILE_BYTES)
    cells = {int(index): Cell(**cell) for index, cell in request["cells"].items()}

    def watch(index: int, seconds: float) -> None:
        _CELL.pack_into(shared, 0, index)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    gc.disable()
    try:
        answer = measure(kind(), cells, request, watch)
    except Exception as error:  # noqa: BLE001 - a runner may raise anything, and it is said which cell it was
        answer = {"raised": f"{type(error).__name__}: {error}"}
    signal.setitimer(signal.ITIMER_REAL, 0)
    # Only now: what a kernel writes may not look like an answer.
    data = (json.dumps(answer) + "\n").encode()
    while data:
        data = data[os.write(replies, data) :]


def _address_space(memory: int) -> int:
    """Bytes that the process may map if a sample may add ``memory`` and a thread for each core."""
    return _mapped() + memory + _THREAD_BYTES * (os.cpu_count() or 1)


def _mapped() -> int:
    """Bytes of address space that this process has now; 0 where /proc does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * mmap.PAGESIZE
    except OSError:
        return 0


def _end_with_parent() -> None:
    """On Linux, end this process when its parent is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """``sample_process.py RUNNER``: answer requests until stdin is closed."""
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
        request = json.loads(line)
        _CELL.pack_into(shared, 0, SETUP)
        process = os.fork()
        if process == 0:
            try:
                _measure_in_fork(request, kind, shared, replies)
            finally:
                os._exit(0)  # a library's own clean-up may hang, and nobody waits for it
        _, status = os.waitpid(process, 0)
        end_descendants()  # what its kernels left running would be noise
        reply(ended=os.waitstatus_to_exitcode(status), cell=_CELL.unpack_from(shared)[0])


if __name__ == "__main__":
    main()
