"""From what comes out of the pipeline to what a user gets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.embed.embedding import Embedding
from mirenc.embed.stream import Outcome
from mirenc.model.runtime import Runtime
from mirenc.weights import WhiteningMap

__all__ = ["collected", "whitened"]

Float32 = NDArray[np.float32]


def collected(
    outcomes: Iterable[Outcome], part: str, width: int, on_error: str, *, rows: int
) -> tuple[list[Float32], list[str]]:
    """Vectors of each input, and complaints about those that cannot be embedded.

    Parameters
    ----------
    outcomes : iterable of Outcome
    part : str
        As `Embedding.part` takes it.
    width : int
        Components of a vector.
    on_error : str
        ``raise`` the first error, or ``skip``.
    rows : int
        Of NaN, for an input that cannot be embedded.
    """
    results: list[Float32] = []
    complaints: list[str] = []
    for outcome in outcomes:
        if outcome.embedding is not None:
            results.append(outcome.embedding.part(part))
            continue
        assert outcome.error is not None
        if on_error == "raise":
            raise outcome.error
        complaints.append(outcome.complaint(len(results)))
        results.append(np.full((rows, width), np.nan, dtype=np.float32))
    return results, complaints


def whitened(found: Embedding, runtime: Runtime, own_map: WhiteningMap | None) -> Embedding:
    """An embedding whose vectors were whitened by the model's map, or by one of the user's."""
    white = runtime.whiten if own_map is None else own_map.apply
    parts = ("text", "graph", "lexical") if own_map is None else own_map.mean
    vectors: dict[str, Any] = {part: white(part, getattr(found, part)) for part in parts}
    return replace(found, **vectors)
