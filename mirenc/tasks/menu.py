"""The candidates that every row of a table chooses from, and the inner folds on which it chooses.

One menu for the embedding and for its baselines: none is under-tuned. It was put together on the device-mapping data
(`downstream/device_mapping/README.md` tells what was tried and dropped); the choice among its members is made for each
fold, on the training rows alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.heads import CostHead, EnsembleHead, LabelHead, MLPHead, TreesHead
from mirenc.tasks.protocols import cut

__all__ = ["INNER_FOLDS", "head_search", "inner_parts", "menu"]

INNER_FOLDS = 4
_FEW_UNITS = 8  # so few are left out one by one
# With fewer different kernels to learn from, a search among heads picks noise; the cost head, whose scales come from
# the marginal likelihood, is taken as it is.
_ENOUGH_GROUPS = 50
# Where cost is what counts, a choice that is several times as slow must not look harmless.
_CLIP = {"accuracy": 0.75, "speedup": 2.0}


def menu(aux_columns: int, code_columns: int, seed: int, select: str) -> list[tuple[str, Any]]:
    """Named candidates for rows of task features and code features.

    ``mlp`` is the paper's head; ``cost`` and ``rbf`` learn from the measured costs; the trees see the winner.
    """
    members: list[tuple[str, Any]] = [("cost", CostHead(aux_columns, clip=_CLIP[select]))]
    members += [
        (f"rbf scale {scale:g} clip {clip:g}", CostHead(aux_columns, length_scale=scale, clip=clip))
        for scale in (1.0, 1.6)
        for clip in (0.75, 2.0)
    ]
    if aux_columns:
        members.append(("trees, task features", TreesHead(aux_columns, use_code=False, share=1.0, random_state=seed)))
    if code_columns:
        members.append(("trees", TreesHead(aux_columns, random_state=seed)))
    members.append(("mlp", LabelHead(MLPHead(alpha=1e-2, epochs=25, random_state=seed))))
    return members


def head_search(
    aux_columns: int, code_columns: int, groups: int, seed: int, select: str, only: str = ""
) -> EnsembleHead:
    """An unfitted search over the menu, for training rows of so many groups; or its member ``only``."""
    members = menu(aux_columns, code_columns, seed, select)
    if only:
        members = [(name, member) for name, member in members if name == only]
    elif groups < _ENOUGH_GROUPS:
        members = members[:1]
    return EnsembleHead(members, select=select)


def inner_parts(unit: NDArray[np.generic], labels: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Inner fold of each training row: cut by the same unit as the protocol's own folds. (n,) -> (n,)."""
    distinct = len(np.unique(unit))
    folds = None if distinct <= _FEW_UNITS else INNER_FOLDS
    part = np.zeros(len(unit), dtype=np.int64)
    if distinct > 1:
        for number, (_, test) in enumerate(cut(unit, labels, folds, seed)):
            part[test] = number
    else:  # one unit only: rows by turns are the best there is
        part = np.arange(len(unit)) % INNER_FOLDS
    return part
