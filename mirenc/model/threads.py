"""Threads for numpy: work in order or by slices, BLAS on one thread each, memory that is given back."""

import ctypes
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from functools import cache
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from mirenc.base.arrays import Float32

Item = TypeVar("Item")
Result = TypeVar("Result")
SLICE = 1 << 12  # rows or nodes at once: enough for equal neighbours to meet, few enough for a processor's cache


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _blas() -> Any:
    """Found once: looking through the loaded libraries takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Each of our threads does its own products: BLAS's threads wait for each other."""
    return _blas().limit(limits=1, user_api="blas")


def in_order(work: Callable[[Item], Result], items: Sequence[Item], threads: int) -> Iterator[Result]:
    """``work`` of each item, in their order, computed a few items ahead."""
    if threads == 1 or len(items) < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        rest = iter(items)
        waiting.extend(pool.submit(work, item) for item in islice(rest, 2 * threads))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(work, item) for item in islice(rest, 1))


def by_slices(work: Callable[[slice], Float32], rows: int, width: int, threads: int) -> Float32:
    """``work`` of each slice of many rows, one below the other: (rows, width) float32."""
    out = np.empty((rows, width), dtype=np.float32)

    def fill(first: int) -> None:
        part = slice(first, min(first + SLICE, rows))
        out[part] = work(part)

    for _ in in_order(fill, range(0, rows, SLICE), threads):
        pass
    return out


def give_back() -> None:
    """Give the system what is free, in milliseconds: without this the peak of a large module is a third higher."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
