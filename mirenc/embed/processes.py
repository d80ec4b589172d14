"""Readers in processes of their own. One that dies costs the input it was reading, never the run.

Plain child processes instead of ``multiprocessing``: that would run a user's script again, where it has no
``if __name__ == "__main__"``.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

from mirenc.embed.reading import Answer, Reader, Request
from mirenc.errors import IRResourceError
from mirenc.ir.inputs import Input
from mirenc.ir.llvm import default_worker
from mirenc.tokenizer import IRTokenizer

__all__ = ["read_in_processes", "stays_here"]

_AHEAD = 3  # chunks a process may be ahead of who takes the answers: what is in memory is bounded
_PATIENCE = 5.0  # seconds a process may take to end


class _Process:
    """One child, started when first needed and again after it died."""

    def __init__(self, setup: bytes) -> None:
        self._setup = setup
        self._child: subprocess.Popen[bytes] | None = None

    def _start(self) -> subprocess.Popen[bytes]:
        # The child must find the same mirenc; BLAS and the tokenizer get one thread, since the processes are many.
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
        }
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "mirenc.embed.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C reaches the parent alone, which ends its children
        )
        self._child = child
        assert child.stdin is not None
        child.stdin.write(self._setup)
        return child

    def ask(self, inputs: Sequence[Input]) -> list[Answer] | None:
        """Answers of the child; None where it died."""
        try:
            child = self._child or self._start()
            assert child.stdin is not None
            assert child.stdout is not None
            pickle.dump(inputs, child.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            child.stdin.flush()
            answer = pickle.load(child.stdout)  # noqa: S301 - from this process's own child
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            self.end()
            return None
        if isinstance(answer, Exception):
            raise answer
        found: list[Answer] = answer
        return found

    def end(self) -> None:
        """End the child and wait for it."""
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
                if stream is not None:
                    stream.close()


class _Readers:
    """Some threads, each with a process that it talks to."""

    def __init__(self, request: Request, tokenizer: IRTokenizer, count: int) -> None:
        self._here = Reader(request, tokenizer)
        setup = pickle.dumps((request, tokenizer.to_json(), default_worker().memory_limit))
        self._idle = deque(_Process(setup) for _ in range(count))
        self._all = list(self._idle)
        self._closing = threading.Event()
        self._threads = ThreadPoolExecutor(count)

    def submit(self, inputs: Sequence[Input]) -> Future[list[Answer]]:
        return self._threads.submit(self._read, inputs)

    def _read(self, inputs: Sequence[Input]) -> list[Answer]:
        if any(stays_here(given) for given in inputs):
            return self._here.read(inputs)
        process = self._idle.popleft()  # as many as threads, so there is one
        try:
            answers = None if self._closing.is_set() else process.ask(inputs)
            if answers is not None:
                return answers
            # One of the inputs was too much for the process: the others are read without it.
            return [self._alone(process, given) for given in inputs]
        finally:
            self._idle.append(process)

    def _alone(self, process: _Process, given: Input) -> Answer:
        answers = None if self._closing.is_set() else process.ask([given])
        if answers is not None:
            return answers[0]
        return IRResourceError(
            f"{given.name}: the process that read it ended, as a system short of memory ends processes. "
            "Close other programs, or leave the file out"
        )

    def close(self) -> None:
        """End all processes; what is being read is dropped."""
        self._closing.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            process.end()
        self._threads.shutdown(wait=True)
        for process in self._all:  # one that was just being started
            process.end()


def stays_here(given: Input) -> bool:
    """Whether only this process can read an input: a module that is read already, or its standard input."""
    return given.kind == "module" or given.value == "-"


def read_in_processes(
    chunks: Iterable[Sequence[Input]], request: Request, tokenizer: IRTokenizer, count: int
) -> Iterator[tuple[Input, Answer]]:
    """Each input of the chunks with its answer, in their order, read by ``count`` processes at once."""
    readers = _Readers(request, tokenizer, count)
    submitted = ((chunk, readers.submit(chunk)) for chunk in chunks)
    try:
        waiting = deque(islice(submitted, _AHEAD * count))
        while waiting:
            chunk, answers = waiting.popleft()
            yield from zip(chunk, answers.result(), strict=True)
            waiting.extend(islice(submitted, 1))
    finally:
        readers.close()
