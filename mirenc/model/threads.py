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
    """The controller of BLAS's threads, made once: looking through the loaded libraries takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread: mirenc's own threads do products, and BLAS's wait for each other."""
    return _blas().limit(limits=1, user_api="blas")


def map_in_order(function: Callable[[Item], Result], items: Sequence[Item], threads: int) -> Iterator[Result]:
    """``function`` of each item, in their order, computed a few items ahead."""
    if threads == 1 or len(items) < 2:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        futures: deque[Future[Result]] = deque()
        remaining = iter(items)
        futures.extend(pool.submit(function, item) for item in islice(remaining, 2 * threads))
        while futures:
            yield futures.popleft().result()
            futures.extend(pool.submit(function, item) for item in islice(remaining, 1))


def map_slices(function: Callable[[slice], Float32], rows: int, width: int, threads: int) -> Float32:
    """``function`` of each slice of many rows, one below the other: (rows, width) float32."""
    out = np.empty((rows, width), dtype=np.float32)

    def fill(first: int) -> None:
        part = slice(first, min(first + SLICE, rows))
        out[part] = function(part)

    for _ in map_in_order(fill, range(0, rows, SLICE), threads):
        pass
    return out


def trim_memory() -> None:
    """Give the system what is free, in milliseconds: without this the peak of a large module is a third higher."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
