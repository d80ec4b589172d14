"""Pair the functions of two builds without their names, by vectors and by the pairs found around each function.

This is colour refinement (Weisfeiler and Lehman) with soft colours. There, two nodes of two graphs keep the same colour
while their neighbours have the same multiset of colours, round after round. Here a pair of functions gains, round after
round, where its neighbours (callees, callers, the next and the previous function of the file) were paired with each
other in the round before. Vectors are the initial colours, and each round ends with a one-to-one assignment.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from mirenc.base.arrays import Float32, Float64, Int64
from mirenc.base.cosines import nearest

_CANDIDATES = 20  # nearest functions that are considered, in each direction
# Each of the four kinds of neighbours adds up to _NEIGHBOUR_WEIGHT to a cosine (all of them paired), and the file up to
# _FILE_WEIGHT. On 11 training projects, clang-14 -O0 to clang-19 -O2 in the form O2, names hidden, 96.1 % of functions
# are paired correctly without rounds and 98.4 % with them (0.2 for neighbours: 98.1; IR in the form plain: 94.6).
_ROUNDS, _NEIGHBOUR_WEIGHT, _FILE_WEIGHT = 3, 0.1, 0.4
# Smallest score of a pair, before the last round and in it. With the latter, 0.4 % of the functions that do not exist
# in the other build get a partner. With 0.5 for the former 97.8 % are correct; the latter may be 0.1 to 0.4.
_MIN_SCORE, _MIN_FINAL_SCORE = 0.3, 0.4
_SHRINKAGE = 20  # functions
_CHUNK = 4096  # pairs


@dataclass(eq=False)
class Side:
    """The n functions of a build, those of a file in a row.

    ``vectors`` (n, D); ``file`` (n,), the number of the file of each; ``calls`` (m, 2), rows of caller and callee.
    """

    vectors: Float32
    file: Int64
    calls: Int64


def centred(vectors: Float32, widths: Iterable[int]) -> Float32:
    """Subtract the mean from vectors that are blocks of ``widths`` side by side, and scale each block to length 1.

    The mean is shrunk towards zero (sum / (n + 20)): that of few functions describes them, not what all code shares.
    Shapes: (n, D) -> (n, D).
    """
    blocks = []
    for block in np.split(vectors, np.cumsum(list(widths))[:-1], axis=1):
        block = block - block.sum(0) / (len(block) + _SHRINKAGE)
        blocks.append(block / np.maximum(np.linalg.norm(block, axis=1, keepdims=True), 1e-12))
    return np.hstack(blocks)


def cosines(old: Side, new: Side, rows: Int64, partners: Int64) -> Float32:
    """Cosine of each of some rows of OLD with the row of NEW beside it. Shapes: (p,), (p,) -> (p,)."""
    old_norm, new_norm = (np.linalg.norm(side.vectors, axis=1) for side in (old, new))
    chunks = [slice(start, start + _CHUNK) for start in range(0, len(rows), _CHUNK)]
    dots = [np.einsum("pd,pd->p", old.vectors[rows[chunk]], new.vectors[partners[chunk]]) for chunk in chunks]
    return np.concatenate([np.zeros(0, np.float32), *dots]) / np.maximum(old_norm[rows] * new_norm[partners], 1e-12)


def paired(old: Side, new: Side, known_pairs: Int64) -> Int64:
    """Row of NEW for each row of OLD, one to one, -1 for none; ``known_pairs`` has those that are paired already.

    The first round goes by cosines alone. In each further round a pair of candidates gains by the share of its
    neighbours that are paired with each other, and by the share of the functions of its two files that are. Shapes:
    (n,) -> (n,).
    """
    old_free, new_free = np.flatnonzero(known_pairs < 0), np.setdiff1d(np.arange(len(new.file)), known_pairs)
    if not len(old_free) or not len(new_free):
        return known_pairs
    shape = len(old_free), len(new_free)
    forward = nearest(old.vectors[old_free], new.vectors[new_free], _CANDIDATES)[0]
    backward = nearest(new.vectors[new_free], old.vectors[old_free], _CANDIDATES)[0]
    candidates = _matrix(np.repeat(np.arange(shape[0]), forward.shape[1]), forward.ravel(), shape)
    candidates += _matrix(backward.ravel(), np.repeat(np.arange(shape[1]), backward.shape[1]), shape)
    relations = list(zip(_relations(old), _relations(new), strict=True))
    (old_files, new_files), (old_place, new_place) = zip(_memberships(old), _memberships(new), strict=True)
    partner, support = known_pairs, sp.csr_matrix(shape)
    file_overlap = sp.csr_matrix((old_files.shape[1], new_files.shape[1]))
    for round_number in range(1 + _ROUNDS):
        rows, columns = (candidates + support).nonzero()
        old_row, new_row = old_free[rows], new_free[columns]
        overlap = np.asarray(file_overlap[old.file[old_row], new.file[new_row]]).ravel()
        score = cosines(old, new, old_row, new_row) + _NEIGHBOUR_WEIGHT * np.asarray(support[rows, columns]).ravel()
        score += _FILE_WEIGHT * overlap * np.exp(-3 * np.abs(old_place[old_row] - new_place[new_row]))
        min_score = _MIN_FINAL_SCORE if round_number == _ROUNDS else _MIN_SCORE
        chosen = _assign(rows, columns, score - min_score, shape)
        partner = known_pairs.copy()
        partner[old_free[chosen[0]]] = new_free[chosen[1]]
        pairs = np.flatnonzero(partner >= 0)
        links = _matrix(pairs, partner[pairs], (len(old.file), len(new.file)))
        support = sum(left @ links @ right.T for left, right in relations)[old_free][:, new_free]
        file_overlap = (old_files.T @ links @ new_files).tocsr()
    return partner


def _matrix(rows: Int64, columns: Int64, shape: tuple[int, int]) -> Any:
    return sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)


def _relations(side: Side) -> list[Any]:
    """Callees, callers, next and previous function of each function, rows scaled to length 1. Four of (n, n)."""
    count, previous = len(side.file), np.flatnonzero(side.file[1:] == side.file[:-1])
    calls = _matrix(side.calls[:, 0], side.calls[:, 1], (count, count))
    follows = _matrix(previous, previous + 1, (count, count))
    relations = (calls, calls.T, follows, follows.T)
    return [sp.diags(1 / np.sqrt(np.maximum(np.asarray(rows.sum(1)).ravel(), 1))) @ rows for rows in relations]


def _memberships(side: Side) -> tuple[Any, Float64]:
    """Membership of functions in files (n, files), columns scaled to length 1; and relative position in it (n,)."""
    size, row = np.bincount(side.file), np.arange(len(side.file))
    place = (row - (np.cumsum(size) - size)[side.file] + 0.5) / size[side.file]
    return sp.csr_matrix((1 / np.sqrt(size[side.file]), (row, side.file))), place


def _assign(rows: Int64, columns: Int64, gain: Float64, shape: tuple[int, int]) -> tuple[Int64, Int64]:
    """The one-to-one assignment of rows to columns with the largest total gain, of pairs that gain more than 0."""
    is_gain, row_numbers = gain > 0, np.arange(shape[0])
    # A column of its own for each row, which gains next to nothing, lets it stay without a partner.
    places = np.concatenate([rows[is_gain], row_numbers]), np.concatenate([columns[is_gain], shape[1] + row_numbers])
    weights = np.concatenate([gain[is_gain], np.full(shape[0], 1e-9)])
    graph = sp.csr_matrix((weights, places), shape=(shape[0], sum(shape)))
    chosen, partner = min_weight_full_bipartite_matching(graph, maximize=True)
    return chosen[partner < shape[1]], partner[partner < shape[1]]
