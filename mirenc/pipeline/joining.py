"""`forward_all`: small modules are encoded as one, side by side in one graph.

On a hundred nodes every numpy call costs more than its work, and the graph encoder makes a few hundred calls. Modules
do not touch each other in the joined graph, so a vector is that of the module alone, but for rounding: matrix products
of another height add up in another order (1e-6 of a vector's length).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mirenc.embedding import Prepared
from mirenc.model.pooling import Pool, Pools
from mirenc.model.runtime import Pooled, Runtime
from mirenc.sample import IRSample

__all__ = ["forward_all"]

Float32 = NDArray[np.float32]
Int64 = NDArray[np.int64]
# Nodes of what is encoded as one. Beyond it, work is what costs, and all nodes' states are in memory at once.
_NODES = 1 << 13


def forward_all(runtime: Runtime, modules: Sequence[Prepared], vectors: Sequence[Float32]) -> Iterator[Pooled]:
    """Pooled vectors of each module, in their order.

    Parameters
    ----------
    runtime : Runtime
    modules : sequence of Prepared
    vectors : sequence of (U, H) float32
        Vectors of each module's texts, as `mirenc.pipeline.encoding.StatementVectors.of` gives them.
    """
    for first, last in _spans([len(module.sample.node_row) for module in modules]):
        if last - first == 1:
            yield runtime.forward(modules[first].sample, modules[first].pools, text_vectors=vectors[first])
            continue
        some = modules[first:last]
        sample, rows, kept = _joined([module.sample for module in some])
        nodes = _starts([len(module.sample.node_row) for module in some])
        groups = _starts([module.pools.text.groups for module in some])
        pools = Pools(
            _joined_pool([module.pools.text for module in some], rows, groups),
            _joined_pool(
                [module.pools.graph for module in some],
                [np.arange(start, end) for start, end in itertools.pairwise(nodes)],
                groups,
            ),
        )
        known = np.concatenate(vectors[first:last])[kept]
        # Where one module needs a text's vector and another does not, the other's is zero.
        for own, row in zip(vectors[first:last], rows, strict=True):
            needed = own.any(axis=1)
            known[row[needed]] = own[needed]
        made = runtime.forward(sample, pools, text_vectors=known)
        for start, end in itertools.pairwise(groups):
            yield Pooled(*(part[start:end] for part in made))


def _spans(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last + 1 of the modules that are encoded as one."""
    first, total = 0, 0
    for at, size in enumerate(sizes):
        if at > first and total + size > _NODES:
            yield first, at
            first, total = at, 0
        total += size
    if first < len(sizes):
        yield first, len(sizes)


def _starts(sizes: Sequence[int]) -> list[int]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64).tolist()  # type: ignore[no-any-return]


def _joined(samples: Sequence[IRSample]) -> tuple[IRSample, list[Int64], Int64]:
    """The samples as one; each one's texts as rows of its table; and which of all texts end to end the table has."""
    table: dict[str, int] = {}
    rows: list[Int64] = []
    kept: list[int] = []
    before = 0
    for sample in samples:
        rows.append(np.array([table.setdefault(text, len(table)) for text in sample.texts], dtype=np.int64))
        known = len(kept)
        new, place = np.unique(rows[-1], return_index=True)
        kept += (before + place[new >= known]).tolist()
        before += len(sample.texts)
    each = np.array(kept, dtype=np.int64)
    nodes = _starts([len(sample.node_row) for sample in samples])[:-1]
    with_rows = list(zip(samples, rows, strict=True))
    joined = IRSample(
        texts=list(table),
        text_ids=np.concatenate([sample.text_ids for sample in samples])[each],
        text_length=np.concatenate([sample.text_length for sample in samples])[each],
        statement_row=_narrow([row[sample.statement_row] for sample, row in with_rows]),
        node_row=_narrow([row[sample.node_row] for sample, row in with_rows]),
        node_kind=np.concatenate([sample.node_kind for sample in samples]),
        node_argument=np.concatenate([sample.node_argument for sample in samples]),
        edge_index=np.concatenate(
            [sample.edge_index + np.int32(start) for sample, start in zip(samples, nodes, strict=True)], axis=1
        ),
        edge_flow=np.concatenate([sample.edge_flow for sample in samples]),
        edge_position=np.concatenate([sample.edge_position for sample in samples]),
        instruction_node=_narrow(
            [sample.instruction_node + start for sample, start in zip(samples, nodes, strict=True)]
        ),
    )
    return joined, rows, each


def _narrow(parts: Sequence[NDArray[np.integer]]) -> NDArray[np.int32]:
    return np.concatenate(parts).astype(np.int32)


def _joined_pool(pools: Sequence[Pool], items: Sequence[Int64], groups: Sequence[int]) -> Pool:
    """The pools as one; ``items``: what each one's items are called in it."""
    return Pool(
        np.concatenate([item[pool.item] for pool, item in zip(pools, items, strict=True)]),
        np.concatenate([pool.group + first for pool, first in zip(pools, groups[:-1], strict=True)]),
        np.concatenate([pool.weight for pool in pools]),
        groups[-1],
        np.concatenate([pool.count for pool in pools]),
    )
