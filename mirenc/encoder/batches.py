"""Batches of inputs: the unit that is encoded together, and that one process does the whole way.

Which inputs are in a batch depends on the inputs alone, never on the number of processes.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from mirenc.llvm import IRModule
from mirenc.llvm.inputs.input import Input

Item = TypeVar("Item")
# Enough for texts to repeat inside of a batch, few enough for many cores to have one each of some hundred files.
_BATCH_BYTES = 1 << 18
_LEAST_BYTES = 1 << 17  # what a source or a compressed file counts for at least: its IR is larger than it is
_IR = (".ll", ".bc")


def in_batches(
    items: Iterable[Item], size_of: Callable[[Item], int], size_limit: int, count: int | None = None
) -> Iterator[list[Item]]:
    """Yield items in order, in batches of at most ``count`` items and ``size_limit`` in total, or one larger item."""
    batch: list[Item] = []
    total = 0
    for item in items:
        size = size_of(item)
        if batch and total + size > size_limit:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
        if total >= size_limit or len(batch) == count:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def input_batches(inputs: Iterable[Input], batch_size: int) -> Iterator[list[Input]]:
    """Yield inputs in order, in batches of at most ``batch_size`` inputs and 256 KiB, or of one larger input."""
    return in_batches(inputs, _bytes_of, _BATCH_BYTES, batch_size)


def is_large(batch: list[Input]) -> bool:
    """Whether a batch is one input that is larger than a batch should be."""
    return len(batch) == 1 and _bytes_of(batch[0]) > _BATCH_BYTES


def _bytes_of(source: Input) -> int:
    if isinstance(source.value, IRModule):
        return len(source.value.text)
    if isinstance(source.value, bytes):
        return len(source.value)
    if source.part is not None:
        return source.part.size
    try:
        size = os.stat(source.value).st_size
        return size if source.value.endswith(_IR) else max(size, _LEAST_BYTES)
    except (OSError, ValueError):
        return 0  # standard input, or reading it says what is wrong
