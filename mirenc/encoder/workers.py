"""`read`: inputs read in this process, or in processes of their own where it pays.

A process that dies costs the input it was reading, never the run. Plain child processes instead of ``multiprocessing``:
that would run a user's script again, where it has no ``if __name__ == "__main__"``.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import Any

from mirenc.base.errors import IRResourceError
from mirenc.encoder.prepare import Answer, Reader
from mirenc.encoder.request import Request, in_batches
from mirenc.llvm import IRModule, start_reader
from mirenc.llvm.child.llvm_worker import default_worker
from mirenc.llvm.inputs.input import Input
from mirenc.model.threads import usable_cores
from mirenc.model.tokenizer import IRTokenizer

_CHUNK_INPUTS = 16
_CHUNK_BYTES = 1 << 20
# Processes take about a second to start: who has less to read does not wait for them.
_ALONE_SECONDS = 1.0
_AHEAD = 3  # chunks a process may be ahead of who takes the answers: what is in memory is bounded
_PATIENCE = 5.0  # seconds a process may take to end


def read(
    inputs: Iterable[Input], request: Request, tokenizer: IRTokenizer
) -> Generator[tuple[Input, Answer], None, None]:
    """Each input with what reading made of it, in their order."""
    reader, workers = Reader(request, tokenizer), request.workers
    # Few small inputs at a time, or one large.
    chunks = in_batches(inputs, _size, _CHUNK_BYTES, _CHUNK_INPUTS)
    started = time.monotonic()
    ahead: list[list[Input]] = []
    while not workers and (chunk := next(iter(ahead), None) or next(chunks, None)) is not None:
        del ahead[:1]
        yield from zip(chunk, reader.read(chunk), strict=True)
        if workers is None and time.monotonic() - started > _ALONE_SECONDS:
            ahead += islice(chunks, usable_cores() - len(ahead))
            if len(ahead) > 1:
                break
    if not workers and len(ahead) < 2:
        return
    count = workers or len(ahead)
    readers = _Readers(reader, pickle.dumps((request, tokenizer.to_json(), default_worker().memory_limit)), count)
    submitted = ((chunk, readers.submit(chunk)) for chunk in chain(ahead, chunks))
    try:
        waiting = deque(islice(submitted, _AHEAD * count))
        while waiting:
            chunk, answers = waiting.popleft()
            yield from zip(chunk, answers.result(), strict=True)
            waiting.extend(islice(submitted, 1))
    finally:
        readers.close()


def _size(given: Input) -> int:
    if _stays_here(given):
        return _CHUNK_BYTES + 1  # goes by itself
    if isinstance(given.value, bytes):
        return len(given.value)
    try:
        return os.stat(given.value).st_size if isinstance(given.value, str) else 0
    except (OSError, ValueError):
        return 0  # reading it says what is wrong


def _stays_here(given: Input) -> bool:
    """Whether only this process can read an input: a module that is read already, or its standard input."""
    return isinstance(given.value, IRModule) or given.value == "-"


class _Process:
    """One child, started when first needed and again after it died.

    Over its pipes go pickles: first (request, tokenizer's JSON, memory limit), then lists of inputs, each answered by a
    list of answers, or by the exception that no input is to blame for.
    """

    def __init__(self, setup: bytes) -> None:
        self._setup = setup
        self._child: Any = None  # a Popen, whose streams are there

    def _start(self) -> Any:
        # The child must find the same mirenc; BLAS and the tokenizer get one thread, since the processes are many.
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        env = os.environ | one | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-P", "-c", "from mirenc.encoder.workers import serve; serve()"]
        pipe = subprocess.PIPE
        # A session of its own: Ctrl-C reaches the parent alone, which ends its children.
        self._child = subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, start_new_session=True)
        self._child.stdin.write(self._setup)
        return self._child

    def ask(self, inputs: Sequence[Input]) -> list[Answer] | None:
        """Answers of the child; None where it died."""
        try:
            child = self._child or self._start()
            pickle.dump(inputs, child.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            child.stdin.flush()
            answers: list[Answer] | Exception = pickle.load(child.stdout)  # noqa: S301 - from this process's own child
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            self.end()
            return None
        if isinstance(answers, Exception):
            raise answers
        return answers

    def end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.terminate()
        try:
            child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        for stream in (child.stdin, child.stdout):
            with contextlib.suppress(BrokenPipeError):  # what was not sent yet
                stream.close()


def serve() -> None:
    """What a `_Process` runs: answer until the parent closes the pipe."""
    # SystemExit lets LLVM's process be ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # only answers may travel there
    requests = sys.stdin.buffer
    request, tokenizer, memory_limit = pickle.load(requests)  # noqa: S301 - from this process's own parent
    start_reader(memory_limit=memory_limit)
    reader = Reader(request, IRTokenizer.from_json(tokenizer))
    while True:
        try:
            inputs = pickle.load(requests)  # noqa: S301
        except EOFError:
            return
        try:
            answer: object = reader.read(inputs)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            answer = error
        pickle.dump(answer, replies, protocol=pickle.HIGHEST_PROTOCOL)
        replies.flush()


class _Readers:
    """Some threads, each with a process that it talks to."""

    def __init__(self, here: Reader, setup: bytes, count: int) -> None:
        self._here, self._all = here, [_Process(setup) for _ in range(count)]
        self._idle = deque(self._all)
        self._closing = threading.Event()
        self._threads = ThreadPoolExecutor(count)

    def submit(self, inputs: Sequence[Input]) -> Future[list[Answer]]:
        return self._threads.submit(self._read, inputs)

    def _read(self, inputs: Sequence[Input]) -> list[Answer]:
        if any(_stays_here(given) for given in inputs):
            return self._here.read(inputs)
        process = self._idle.popleft()  # as many as threads, so there is one
        try:
            answers = None if self._closing.is_set() else process.ask(inputs)
        finally:
            self._idle.append(process)
        if answers is not None:
            return answers
        if len(inputs) > 1:  # one was too much for the process: the others are read without it
            return [answer for given in inputs for answer in self._read([given])]
        ended = "the process that read it ended, as a system short of memory ends processes"
        return [IRResourceError(f"{inputs[0].name}: {ended}. Close other programs, or leave the file out")]

    def close(self) -> None:
        """End all processes; what is being read is dropped."""
        self._closing.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            process.end()
        self._threads.shutdown(wait=True)
        for process in self._all:  # one that was just being started
            process.end()
