"""What numpy's side of a model is made of: layers, sums of segments, work by slices, memory that goes back."""

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

from mirenc.base.arrays import Float32, Float64, Int64, Integer

Weights = dict[str, Float32]
Floats = TypeVar("Floats", Float32, Float64)
Item = TypeVar("Item")
Made = TypeVar("Made")
SLICE = 1 << 12  # rows or nodes at once: enough for equal neighbours to meet, few enough for a processor's cache

_NORM_EPSILON = np.float32(1e-5)
# Numbers that a process sums in numpy, at some 10 ns each; to import scipy.sparse takes 0.1 to 0.2 s.
_FEW = 1 << 21
_summed = 0


class Layers:
    """A model's weights ``w``, named as in the torch module's ``state_dict``, and layers called by their names."""

    def __init__(self, weights: Weights) -> None:
        self.w = weights
        self._matrices: Weights = {}

    def matrix(self, name: str) -> Float32:
        """A linear layer's (inputs, outputs), transposed once, so that x @ W runs on contiguous rows."""
        if name not in self._matrices:
            self._matrices[name] = np.ascontiguousarray(self.w[f"{name}.weight"].T)
        return self._matrices[name]

    def linear(self, x: Float32, name: str) -> Float32:
        """Linear layer. Shapes: (..., I) -> (..., O)."""
        y: Float32 = x @ self.matrix(name)
        y += self.w[f"{name}.bias"]
        return y

    def norm(self, x: Float32, name: str) -> Float32:
        """Layer norm over the last axis. Shapes: (..., D) -> (..., D)."""
        x = x - x.mean(-1, keepdims=True)
        variance = np.einsum("...i,...i->...", x, x)[..., None] / np.float32(x.shape[-1])
        x /= np.sqrt(variance + _NORM_EPSILON)
        x *= self.w[f"{name}.weight"]
        x += self.w[f"{name}.bias"]
        return x


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _blas() -> Any:
    """Found once: looking through the loaded libraries takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Each of our threads does its own products: BLAS's threads wait for each other."""
    return _blas().limit(limits=1, user_api="blas")


def in_order(work: Callable[[Item], Made], items: Sequence[Item], threads: int) -> Iterator[Made]:
    """What ``work`` makes of each item, in their order, a few ahead."""
    if threads == 1 or len(items) < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Made]] = deque()
        rest = iter(items)
        waiting.extend(pool.submit(work, item) for item in islice(rest, 2 * threads))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(work, item) for item in islice(rest, 1))


def by_slices(work: Callable[[slice], Float32], rows: int, width: int, threads: int) -> Float32:
    """What ``work`` makes of each slice of many rows, one below the other: (rows, width) float32."""
    out = np.empty((rows, width), dtype=np.float32)

    def fill(first: int) -> None:
        part = slice(first, min(first + SLICE, rows))
        out[part] = work(part)

    for _ in in_order(fill, range(0, rows, SLICE), threads):
        pass
    return out


def gelu(x: Float32) -> Float32:
    """GELU by the tanh formula, in place where it can."""
    inner = x * x
    inner *= np.float32(0.044715)
    inner += np.float32(1.0)
    inner *= x
    inner *= np.float32(0.7978845608028654)
    np.tanh(inner, out=inner)
    inner += np.float32(1.0)
    inner *= x
    inner *= np.float32(0.5)
    return inner


def softmax(x: Float32) -> Float32:
    """Over the last axis, in place."""
    x -= x.max(-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(-1, keepdims=True)
    return x


def distinct(key: Integer) -> tuple[Int64, Int64]:
    """Where each distinct key stands first, and which of them each key is; in their order, if they fit into 64 bits.

    Of a hash the upper bits are dropped: two equal in the others may be one more class than need be, never one less.
    """
    # Key and place in one number: sorting numbers is several times as fast as sorting places by them.
    bits = len(key).bit_length()
    joined = (key.view(np.uint64) << np.uint64(bits)) | np.arange(len(key), dtype=np.uint64)
    joined.sort()
    order = (joined & np.uint64((1 << bits) - 1)).view(np.int64)
    new = np.append(True, np.diff(key[order]) != 0)[: len(key)]
    which = np.empty_like(order)
    which[order] = np.cumsum(new) - 1
    return order[new], which


def segment_sum(weight: Floats, column: Integer, start: Integer, x: Floats) -> Floats:
    """Weighted sum of some rows of ``x`` for each segment ``start[i] .. start[i + 1]``; an empty one sums to 0.

    A process imports scipy.sparse, which is faster, once it has summed enough for that to pay. Both ways add one after
    another in the order given: the numbers are the same to the bit.

    Shapes: weight (K,), rows of ``x`` (K,), start (n + 1,), x (m, d) -> (n, d), all floats of one type
    """
    global _summed
    _summed += len(column) * x.shape[1]
    segments = len(start) - 1
    if _summed > _FEW:
        import scipy.sparse as sp

        # Of wider numbers scipy would look whether they fit.
        column, start = column.astype(np.int32, copy=False), start.astype(np.int32, copy=False)
        return sp.csr_matrix((weight, column, start), shape=(segments, len(x))) @ x
    result = np.zeros((segments, x.shape[1]), dtype=x.dtype)
    # Not `reduceat`, which adds pairs of sums.
    np.add.at(result, np.repeat(np.arange(segments), np.diff(start)), x[column] * weight[:, None])
    return result


def give_back() -> None:
    """Give the system what is free, in milliseconds: without this the peak of a large module is a third higher."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
