"""Predictions as a record keeps them: only of samples that were tested, and small.

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

from mirenc.arrays import Int64
from mirenc.errors import TaskError


def pack_predictions(predictions: NDArray[Any], fold: Int64) -> Any:
    """Predictions, (n,) int64 or float64, or (n, P) float64, as JSON can hold them.

    ``fold``: (n,) int64, that tested each sample; -1 where none did, and what stands there is not kept.
    """
    tested = predictions[fold >= 0]
    if tested.ndim == 1:
        return [float(f"{one:.7g}") for one in tested.tolist()] if tested.dtype.kind == "f" else tested.tolist()
    packed = zlib.compress(np.ascontiguousarray(tested, dtype="<f2").tobytes(), 9)
    return {"labels": tested.shape[1], "float16": base64.b64encode(packed).decode("ascii")}


def unpack_predictions(kept: Any, fold: Int64) -> NDArray[Any]:
    """What `pack_predictions` gave: (n,) or (n, P); 0 for samples that were not tested.

    Raises TaskError: something else, or of another number of samples.
    """
    tested = fold >= 0
    try:
        if isinstance(kept, dict):
            content = zlib.decompress(base64.b64decode(kept["float16"], validate=True))
            values = np.frombuffer(content, dtype="<f2").astype(np.float64).reshape(-1, kept["labels"])
        else:
            values = np.array(kept, dtype=np.float64 if any(isinstance(one, float) for one in kept) else np.int64)
        predictions = np.zeros((len(fold), *values.shape[1:]), dtype=values.dtype)
        predictions[tested] = values
    except (KeyError, TypeError, ValueError, binascii.Error, zlib.error) as error:
        raise TaskError(f"what a record says of {tested.sum()} samples is damaged: {error}. Evaluate again") from None
    return predictions
