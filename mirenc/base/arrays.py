"""Short names for numpy array types, so that a signature says its dtype; ranges end to end; arrays of texts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bool: TypeAlias = NDArray[np.bool_]
UInt8: TypeAlias = NDArray[np.uint8]
UInt16: TypeAlias = NDArray[np.uint16]
UInt32: TypeAlias = NDArray[np.uint32]
UInt64: TypeAlias = NDArray[np.uint64]
Int8: TypeAlias = NDArray[np.int8]
Int32: TypeAlias = NDArray[np.int32]
Int64: TypeAlias = NDArray[np.int64]
Integer: TypeAlias = NDArray[np.integer]
Float32: TypeAlias = NDArray[np.float32]
Float64: TypeAlias = NDArray[np.float64]
Floating: TypeAlias = NDArray[np.floating[Any]]

_COLUMN = 1 << 26  # bytes of an array of texts above which these are cut
_WIDTH = 256  # characters that are left of one


def starts(sizes: ArrayLike) -> Int64:
    """Where ranges of these sizes begin if they lie end to end, and where the last ends. Shapes: (n,) -> (n + 1,)."""
    return np.append(0, np.cumsum(sizes)).astype(np.int64, copy=False)


def spread(first: Integer, last: Integer) -> tuple[Int64, Int64]:
    """The numbers ``first[i] .. last[i] - 1`` of all i end to end, and `starts` of these ranges."""
    start = starts(last - first)
    return np.arange(start[-1]) + np.repeat(first - start[:-1], np.diff(start)), start


def padded(columns: Mapping[str, Sequence[str]]) -> dict[str, NDArray[Any]]:
    """Columns of texts as arrays for a file of numpy's, which has none of texts of any length without pickle.

    numpy pads each text to the longest, at four bytes a character: one of 10,000 among 20,000 would make 800 MB. So
    texts of columns that padding makes large are cut. ``whole`` has the texts that were cut, and those that end with
    NUL, which numpy drops: column -> row -> text, as JSON in UTF-8; it is left out if empty. `unpadded` reads it.
    """
    arrays: dict[str, NDArray[Any]] = {}
    full_texts: dict[str, dict[int, str]] = {}
    for name, texts in columns.items():
        longest = max(map(len, texts), default=0)
        width = min(longest, _WIDTH) if 4 * longest * len(texts) > _COLUMN else longest
        arrays[name] = array = np.array(texts, dtype=f"<U{max(width, 1)}")
        pairs = enumerate(zip(texts, array.tolist(), strict=True))
        if changed := {row: text for row, (text, stored) in pairs if text != stored}:
            full_texts[name] = changed
    if full_texts:
        arrays["whole"] = np.frombuffer(json.dumps(full_texts).encode("ascii"), dtype=np.uint8)
    return arrays


def unpadded(arrays: Mapping[str, NDArray[Any]], names: Sequence[str]) -> dict[str, list[str]]:
    """The columns of those names that `padded` made arrays of, from a file that has them."""
    columns = {name: arrays[name].tolist() for name in names}
    full_texts = json.loads(arrays["whole"].tobytes()) if "whole" in arrays else {}
    for name in full_texts.keys() & columns.keys():
        for row, text in full_texts[name].items():
            columns[name][int(row)] = text
    return columns
