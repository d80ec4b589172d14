"""What was said of samples, as a record keeps it: only of those that were tested, and small.

Labels are many numbers a sample, so they are kept in half precision: what ranks samples is the order, and that keeps
four digits near 0, where most labels are.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import TaskError

__all__ = ["keep_said", "read_said"]


def keep_said(said: NDArray[Any], fold: NDArray[np.int64]) -> Any:
    """What was said, as JSON can hold it.

    Parameters
    ----------
    said : (n,) int64 or float64, or (n, P) float64
    fold : (n,) int64
        Fold that tested each sample; -1 where none did, and what stands there is not kept.
    """
    tested = said[fold >= 0]
    if tested.ndim == 1:
        return [float(f"{one:.7g}") for one in tested.tolist()] if tested.dtype.kind == "f" else tested.tolist()
    packed = zlib.compress(np.ascontiguousarray(tested, dtype="<f2").tobytes(), 9)
    return {"labels": tested.shape[1], "float16": base64.b64encode(packed).decode("ascii")}


def read_said(kept: Any, fold: NDArray[np.int64]) -> NDArray[Any]:
    """What `keep_said` kept: (n,) or (n, P); 0 for samples that were not tested.

    Raises
    ------
    TaskError
        Something else, or of another number of samples.
    """
    tested = fold >= 0
    try:
        if isinstance(kept, dict):
            content = zlib.decompress(base64.b64decode(kept["float16"], validate=True))
            found = np.frombuffer(content, dtype="<f2").astype(np.float64).reshape(-1, kept["labels"])
        else:
            found = np.array(kept, dtype=np.float64 if any(isinstance(one, float) for one in kept) else np.int64)
        said = np.zeros((len(fold), *found.shape[1:]), dtype=found.dtype)
        said[tested] = found
    except (KeyError, TypeError, ValueError, binascii.Error, zlib.error) as error:
        raise TaskError(f"what a record says of {tested.sum()} samples is damaged: {error}. Evaluate again") from None
    return said
