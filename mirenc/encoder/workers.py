"""`run`: batches through a `Pipeline` in this process, or in worker processes, each of which does whole batches.

A worker that dies costs the input that it was at, never the run: what may need much memory, a large input, is left to
workers. They are copies of this process, which are there at once, or where it has threads and a copy might stand still,
plain child processes instead of ``multiprocessing``'s, which would run a user's script again where it has no
``if __name__ == "__main__"``.
"""

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from types import SimpleNamespace
from typing import IO, Any, NoReturn

from mirenc.base.errors import IRResourceError
from mirenc.encoder.batches import is_large
from mirenc.encoder.encoding import Advance
from mirenc.encoder.options import EmbedOptions
from mirenc.encoder.outcome import Outcome
from mirenc.encoder.pipeline import Pipeline
from mirenc.llvm import IRModule, start_reader
from mirenc.llvm.child.parsing_worker import default_worker
from mirenc.llvm.inputs.input import Input
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.threads import usable_cores

# Workers take about half a second to start: who has less to do does not wait for them.
_SERIAL_SECONDS = 0.5
_QUEUED_BATCHES = 3  # batches for each worker that are sent before the first is taken: what is in memory is bounded
_END_SECONDS = 5.0  # seconds a worker may take to end
_NAME_LENGTH = 40  # characters of a name that progress shows
_THREADS_FOLDER = "/proc/self/task"

Progress = Callable[[int, int | None, str], object]
"""Called with inputs done, their number where it is known, and what is being done."""


_Setup = tuple[Pipeline, EmbedOptions, str, int]  # the last two: the pipeline's stage, bytes of memory for LLVM
_PendingBatch = tuple[list[Input], Future[Any], bool]
"""A batch, the future of its results, and whether the process that runs the batches may compute it itself."""


class _ProgressError(BaseException):
    """An exception of the caller's ``progress``, its argument: it ends the run, and is no fault of an input."""


def run(
    pipeline: Pipeline,
    batches: Iterator[list[Input]],
    options: EmbedOptions,
    jobs: int | None,
    total: int | None,
    progress: Progress,
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each input, in order, from ``jobs`` processes; None: as many as cores, where that pays."""
    done = 0

    def advance(encoded: int, texts: int) -> None:
        try:
            progress(done, total, f"{encoded}/{texts} statements")
        except Exception as error:  # noqa: BLE001 - of any kind, it is the caller's
            raise _ProgressError(error) from None

    pipeline.remembered.clear()  # what is in memory is that of one run
    with closing(_run_batches(pipeline, batches, options, jobs, advance)) as results:
        try:
            for outcome in chain.from_iterable(results):
                done += 1
                progress(done, total, outcome.name[-_NAME_LENGTH:])
                yield outcome
        except _ProgressError as progress_error:
            raise progress_error.args[0] from None


def _run_batches(
    pipeline: Pipeline, batches: Iterator[list[Input]], options: EmbedOptions, jobs: int | None, advance: Advance
) -> Generator[list[Outcome], None, None]:
    start_time = time.monotonic()
    if not pipeline.files.digest:  # a model in training, which no folder has
        jobs = 1
    for batch in batches:
        first_batches = [batch]
        if jobs != 1 and (jobs is not None or time.monotonic() - start_time > _SERIAL_SECONDS):
            first_batches += islice(batches, (jobs or usable_cores()) - 1)
        if len(first_batches) > 1:
            yield from _run_in_workers(pipeline, chain(first_batches, batches), options, len(first_batches), advance)
            return
        yield pipeline.embed(batch, options, advance)


def _run_in_workers(
    pipeline: Pipeline, batches: Iterable[list[Input]], options: EmbedOptions, count: int, advance: Advance
) -> Generator[list[Outcome], None, None]:
    """Yield the results of each batch, in order, computed by ``count`` processes, of which this is one.

    A model that numpy does not run encodes in this process alone; the others prepare inputs, and do the large ones.
    """
    in_numpy = pipeline.runtime.name == "numpy"
    if in_numpy:
        one_thread = NumpyRuntime(pipeline.files.config, pipeline.files.weights, threads=1)
        pipeline = replace(pipeline, runtime=one_thread)
    stage = "embed" if in_numpy else "prepare"
    run_locally = partial(pipeline.embed, advance=advance) if in_numpy else pipeline.prepare
    workers = _Workers((pipeline, options, stage, default_worker().memory_limit), count - 1, stage)
    # One with a module that is read already, or with standard input, only this process can do.
    pending_batches: Iterator[_PendingBatch] = (
        (batch, Future(), True)
        if any(isinstance(source.value, IRModule) or source.value == "-" for source in batch)
        else (batch, workers.submit(batch), not is_large(batch))
        for batch in batches
    )
    try:
        waiting = deque(islice(pending_batches, _QUEUED_BATCHES * count))
        while waiting:
            # Rather than wait, this process takes the first batch that no worker has begun.
            while not waiting[0][1].done() and (position := _claim_first(waiting)) is not None:
                batch, local_answer = waiting[position][0], Future[Any]()
                local_answer.set_result(run_locally(batch, options))
                waiting[position] = batch, local_answer, True
            batch, answer, _ = waiting.popleft()
            results = answer.result()
            yield results if in_numpy else pipeline.finish(batch, results, options, advance)
            waiting.extend(islice(pending_batches, 1))
    finally:
        workers.close()


def _claim_first(waiting: Iterable[_PendingBatch]) -> int | None:
    """Cancel the first batch that no worker has begun and this process may do; its position, or None without one."""
    return next((i for i, (_, answer, may_run_here) in enumerate(waiting) if may_run_here and answer.cancel()), None)


class _Worker:
    """One child process, started when first needed and again after it died.

    Over its pipes go pickles: first what `serve` needs, then batches, each answered by a list of one result an input,
    or by the exception that no input is to blame for.
    """

    def __init__(self, setup: _Setup) -> None:
        self._setup = setup
        self._child: Any = None  # a Popen, whose streams are there, or what is needed of one

    def start(self, *, copied: bool = False) -> Any:
        """Start the process, perhaps as a copy of this one, which has the model and all modules at once."""
        if copied:
            (requests, stdin), (stdout, replies) = os.pipe(), os.pipe()
            if not (pid := os.fork()):
                os.setsid()
                os.close(stdin)  # which would keep this process waiting when the parent is gone
                os.close(stdout)
                atexit._clear()  # what is to be ended is the parent's
                _answer(os.fdopen(requests, "rb"), os.fdopen(replies, "wb"), lambda: self._setup)
            os.close(requests)
            os.close(replies)
            streams = {"stdin": os.fdopen(stdin, "wb"), "stdout": os.fdopen(stdout, "rb")}
            self._child = SimpleNamespace(pid=pid, wait=partial(os.waitpid, pid, 0), **streams)
            return self._child
        # The child must find the same mirenc; BLAS and the tokenizer get one thread, since the processes are many.
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        env = os.environ | threads | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-P", "-c", "from mirenc.encoder.workers import serve; serve()"]
        pipe = subprocess.PIPE
        # A session of its own: Ctrl-C reaches the parent alone, which ends its children.
        self._child = subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, start_new_session=True)
        pickle.dump(pickle.dumps(self._setup), self._child.stdin)
        return self._child

    def ask(self, batch: Sequence[Input]) -> list[Any] | None:
        """A result for each input; None where the child died."""
        try:
            child = self._child or self.start()
            pickle.dump(batch, child.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            child.stdin.flush()
            results: list[Any] | Exception = pickle.load(child.stdout)  # noqa: S301 - from this process's own child
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            self.end()
            return None
        if isinstance(results, Exception):
            raise results
        return results

    def end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        os.kill(child.pid, signal.SIGTERM)
        kill_timer = threading.Timer(_END_SECONDS, os.kill, (child.pid, signal.SIGKILL))
        kill_timer.start()
        child.wait()
        kill_timer.cancel()
        for stream in (child.stdin, child.stdout):
            with suppress(BrokenPipeError):  # what was not sent yet
                stream.close()


def serve() -> None:
    """The main function of the child process that `_Worker.start` runs."""
    setup = pickle.load(sys.stdin.buffer)  # noqa: S301 - from this process's own parent
    _answer(sys.stdin.buffer, os.fdopen(os.dup(1), "wb"), lambda: pickle.loads(setup))  # noqa: S301


def _answer(requests: IO[bytes], replies: IO[bytes], load: Callable[[], _Setup]) -> NoReturn:
    """Answer until the parent closes the pipe or ends this process, which then ends at once."""
    try:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        os.dup2(2, 1)  # only answers may travel there
        start_error: Exception | None = None
        try:
            pipeline, options, stage, memory_limit = load()
            start_reader(memory_limit=memory_limit)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            start_error = error
        while True:
            batch = pickle.load(requests)  # noqa: S301
            try:
                results: object = start_error or getattr(pipeline, stage)(batch, options)
            except Exception as error:  # noqa: BLE001 - the parent raises it
                results = error
            pickle.dump(results, replies, protocol=pickle.HIGHEST_PROTOCOL)
            replies.flush()
    finally:
        atexit._run_exitfuncs()
        os._exit(0)  # the rest of a copy is not this function's, and to end Python takes time


class _Workers:
    """Several threads, each of which talks to a process of its own."""

    def __init__(self, setup: _Setup, count: int, stage: str) -> None:
        self._stage, self._workers = stage, [_Worker(setup) for _ in range(count)]
        # A copy of a process with several threads may stand still; Linux tells how many there are.
        if os.path.isdir(_THREADS_FOLDER) and len(os.listdir(_THREADS_FOLDER)) == 1:
            for worker in self._workers:
                worker.start(copied=True)
        self._idle_workers = deque(self._workers)
        self._closing = threading.Event()
        self._threads = ThreadPoolExecutor(count)

    def submit(self, batch: Sequence[Input]) -> Future[list[Any]]:
        return self._threads.submit(self._results, batch)

    def _results(self, batch: Sequence[Input]) -> list[Any]:
        worker = self._idle_workers.popleft()  # as many as threads, so there is one
        try:
            results = None if self._closing.is_set() else worker.ask(batch)
        finally:
            self._idle_workers.append(worker)
        if results is not None:
            return results
        if len(batch) > 1:  # one was too much for the worker: the others are done without it
            return [result for source in batch for result in self._results([source])]
        cause = "the process that read it ended, as a system short of memory ends processes"
        error = IRResourceError(f"{batch[0].name}: {cause}. Close other programs, or leave the file out")
        return [Outcome(batch[0].name, None, error) if self._stage == "embed" else error]

    def close(self) -> None:
        """End all workers and drop the batches that they work on."""
        self._closing.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.end()
        self._threads.shutdown(wait=True)
        for worker in self._workers:  # one that was just being started
            worker.end()
