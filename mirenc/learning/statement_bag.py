"""The bag of statements: what words alone are worth, without any model that learned what they mean.

Normalised statements (`mirenc.ir.statements_of`) are hashed to a fixed number of columns (Weinberger et al., "Feature
Hashing for Large Scale Multitask Learning", ICML 2009), so that training and a later question have the same columns
without a vocabulary. A column is log(1 + count). Deviation from tf-idf: no idf, which scales a column by a constant:
ridges scale columns by themselves.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from mirenc.ir import IRModule, statements_of

__all__ = ["COLUMNS", "statement_bag"]

COLUMNS = 1024


def statement_bag(module: IRModule, instructions: NDArray[np.int32] | None = None) -> NDArray[np.float32]:
    """(1024,) float32: log(1 + count) of the statements that fall into each column.

    Parameters
    ----------
    module : IRModule
    instructions : (I,) int32, optional
        Instructions of the module that count, such as those of a function; left out, all of them, with the module's
        types and globals.
    """
    statements = statements_of(module)
    rows = statements.row if instructions is None else statements.row[statements.first_instruction + instructions]
    used, times = np.unique(rows, return_counts=True)
    column = [zlib.crc32(statements.texts[row].encode("utf-8", "surrogateescape")) % COLUMNS for row in used.tolist()]
    return np.log1p(np.bincount(np.array(column, dtype=np.int64), times, minlength=COLUMNS)).astype(np.float32)
