"""Modules encoded together: each text once, small modules side by side in one graph, which saves numpy calls."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32, starts
from mirenc.base.cache import Cache, cache_key
from mirenc.encoder.batches import in_batches
from mirenc.model.config import ModelConfig
from mirenc.model.pooling import Pool, Pools
from mirenc.model.runtime import Pooled, Runtime, needed_texts
from mirenc.model.sample import IRSample
from mirenc.model.threads import SLICE, trim_memory

Advance = Callable[[int, int], object]
"""Called with (texts encoded, texts to encode) while the text encoder works."""
_LARGE_GRAPH = 1 << 16  # nodes
_MAX_REMEMBERED = 1 << 15  # texts; a few dozen megabytes of vectors


def model_pools(pools: Pools, config: ModelConfig) -> Pools:
    """A module's pools as the model takes them: one trained on pairs also reads definitions, and weights texts anew."""
    return pools.with_definitions(config.pooling.weighting) if config.paired is not None else pools


def statement_vectors(
    runtime: Runtime,
    cache: Cache | None,
    samples: Sequence[IRSample],
    pools: Sequence[Pools],
    advance: Advance | None = None,
    *,
    remembered: dict[str, Float32],
) -> list[Float32]:
    """Statement vectors of each module: of the texts that its pools and graph need; rows of other texts are zero.

    They come from ``remembered``, to which new ones are added, from the cache, or from the model. Shapes: -> (U, H)
    float32 each.
    """
    if sum(len(sample.node_row) for sample in samples) >= _LARGE_GRAPH:
        trim_memory()  # of what was read, text and lines are gone by now
    needed = [needed_texts(runtime.config, sample, pool).tolist() for sample, pool in zip(samples, pools, strict=True)]
    place = {sample.texts[row]: (sample, row) for sample, rows in zip(samples, needed, strict=True) for row in rows}
    if len(remembered) + len(place) > _MAX_REMEMBERED:
        for text in remembered.keys() - place.keys():
            del remembered[text]
    vector_of = remembered
    if cache is not None and (unknown := [text for text in place if text not in vector_of]):
        keys = {cache_key("statement", text): text for text in unknown}
        cached = cache.get(list(keys))
        vector_of.update((keys[key], np.frombuffer(data, dtype=np.float32)) for key, data in cached.items())
    if missing := {text: location for text, location in place.items() if text not in vector_of}:
        ids = np.stack([sample.text_ids[row] for sample, row in missing.values()])  # (M, L)
        length = np.array([sample.text_length[row] for sample, row in missing.values()])  # (M,)
        encoded = runtime.encode_texts(ids, length, advance=_counter(advance, len(missing)))  # (M, H)
        vector_of.update(zip(missing, encoded, strict=True))
        if cache is not None:
            cache.put({cache_key("statement", text): vector_of[text].tobytes() for text in missing})
    vectors = [np.zeros((len(sample.texts), runtime.config.text.hidden), dtype=np.float32) for sample in samples]
    for sample, rows, table in zip(samples, needed, vectors, strict=True):
        if rows:
            table[rows] = [vector_of[sample.texts[row]] for row in rows]
    return vectors


def _counter(advance: Advance | None, total: int) -> Callable[[int], None]:
    """The callback that a runtime calls with the number of texts just encoded; ``advance`` gets their sum."""
    done = 0

    def count(texts: int) -> None:
        nonlocal done
        done += texts
        if advance is not None:
            advance(done, total)

    return count


def forward_all(
    runtime: Runtime, samples: Sequence[IRSample], pools: Sequence[Pools], vectors: Sequence[Float32]
) -> Iterator[Pooled]:
    """Pooled vectors of each module, in their order, from those of its texts (`statement_vectors`)."""
    # A slice of the graph encoder's: no module's sums are cut in another place. The paper's GCN chooses its way by the
    # number of groups, and has none for what is joined.
    size_limit = SLICE if runtime.config.graph.joins else 0
    modules = zip(samples, pools, vectors, strict=True)
    for batch in in_batches(modules, lambda module: len(module[0].node_row), size_limit):
        members, batch_pools, text_vectors = zip(*batch, strict=True)
        if len(members) == 1:
            yield runtime.forward(members[0], batch_pools[0], text_vectors=text_vectors[0])
            continue
        pooled = runtime.forward(*join_samples(members, batch_pools), text_vectors=np.concatenate(text_vectors))
        for start, end in itertools.pairwise(starts([pool.text.groups for pool in batch_pools]).tolist()):
            yield Pooled(*(part[start:end] for part in pooled))


def join_samples(samples: Sequence[IRSample], pools: Sequence[Pools]) -> tuple[IRSample, Pools]:
    """Join modules into one, their groups one after the other; the pools of texts and nodes are joined, too.

    Equal texts of two samples stay two: so nodes of two modules are never taken for equal, and neighbours are added up
    in the order that each module has them in.
    """
    texts = starts([len(sample.texts) for sample in samples]).tolist()
    nodes = starts([len(sample.node_row) for sample in samples]).tolist()
    groups = starts([pool.text.groups for pool in pools]).tolist()
    joined: dict[str, Any] = {"texts": list(itertools.chain.from_iterable(sample.texts for sample in samples))}
    for name in ("text_ids", "text_length", "node_kind", "node_argument", "edge_flow", "edge_position"):
        joined[name] = np.concatenate([getattr(sample, name) for sample in samples])
    numbers = {"statement_row": texts, "node_row": texts, "edge_index": nodes, "instruction_node": nodes}
    for name, offsets in numbers.items():  # which have an end, too
        shifted = [getattr(sample, name) + np.int32(start) for sample, start in zip(samples, offsets, strict=False)]
        joined[name] = np.concatenate(shifted, axis=-1)
    text = _joined_pool([pool.text for pool in pools], texts, groups)
    return IRSample(**joined), Pools(text, _joined_pool([pool.graph for pool in pools], nodes, groups))


def _joined_pool(pools: Sequence[Pool], items: Sequence[int], groups: Sequence[int]) -> Pool:
    """The pools as one, in which each one's items and groups begin at ``items`` and ``groups``; the last are ends."""
    with_starts = list(zip(pools, items, groups, strict=False))
    return Pool(
        np.concatenate([pool.item + item for pool, item, _ in with_starts]),
        np.concatenate([pool.group + group for pool, _, group in with_starts]),
        np.concatenate([pool.weight for pool in pools]),
        groups[-1],
        np.concatenate([pool.count for pool in pools]),
    )
