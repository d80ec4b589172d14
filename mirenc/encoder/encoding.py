"""Several modules encoded together: texts once, small modules side by side in one graph, which saves numpy calls."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32, starts
from mirenc.base.cache import Cache, cache_key
from mirenc.encoder.prepare import Prepared
from mirenc.encoder.request import in_batches
from mirenc.model.config import ModelConfig
from mirenc.model.pooling import Pool, Pools
from mirenc.model.runtime import Pooled, Runtime, needed_texts
from mirenc.model.sample import IRSample
from mirenc.model.threads import SLICE, give_back

_LARGE = 1 << 16  # nodes
_REMEMBERED = 1 << 15  # texts; a few dozen megabytes of vectors


class StatementVectors:
    """Vectors by text, from memory, the cache or the model."""

    def __init__(self, runtime: Runtime, cache: Cache | None) -> None:
        self._runtime = runtime
        self._cache = cache
        self._memory: dict[str, Float32] = {}

    def of(self, modules: Sequence[Prepared], *, advance: Callable[[int, int], None] | None = None) -> list[Float32]:
        """For each module the vectors of its texts that are needed, (U, H); those of other texts are zero.

        ``advance`` is told (texts encoded, texts to encode) while the text encoder works.
        """
        if sum(len(module.sample.node_row) for module in modules) >= _LARGE:
            give_back()  # of what was read, text and lines are gone by now
        config = self._runtime.config
        used = [needed_texts(config, module.sample, spoken(module, config)) for module in modules]
        needed = list(zip(modules, used, strict=True))
        where = {one.sample.texts[row]: (one, row) for one, rows in needed for row in rows.tolist()}
        if len(self._memory) + len(where) > _REMEMBERED:
            self._memory = {text: vector for text, vector in self._memory.items() if text in where}
        unknown = [text for text in where if text not in self._memory]
        if self._cache is not None and unknown:
            keys = {cache_key("statement", text): text for text in unknown}
            known = self._cache.get(list(keys))
            self._memory |= {keys[key]: np.frombuffer(data, dtype=np.float32) for key, data in known.items()}
        self._encode({text: place for text, place in where.items() if text not in self._memory}, advance)
        out = []
        for module, rows in needed:
            texts = module.sample.texts
            vectors = np.zeros((len(texts), self._runtime.config.text.hidden), dtype=np.float32)
            if len(rows):
                vectors[rows] = [self._memory[texts[row]] for row in rows.tolist()]
            out.append(vectors)
        return out

    def _encode(self, missing: dict[str, tuple[Prepared, int]], advance: Callable[[int, int], None] | None) -> None:
        if not missing:
            return
        ids = np.stack([module.sample.text_ids[row] for module, row in missing.values()])
        length = np.array([module.sample.text_length[row] for module, row in missing.values()])
        done = 0

        def told(count: int) -> None:
            nonlocal done
            done += count
            if advance is not None:
                advance(done, len(missing))

        made = dict(zip(missing, self._runtime.encode_texts(ids, length, advance=told), strict=True))
        self._memory |= made
        if self._cache is not None:
            self._cache.put({cache_key("statement", text): vector.tobytes() for text, vector in made.items()})


def spoken(module: Prepared, config: ModelConfig) -> Pools:
    """A module's pools as the model takes them."""
    return module.pools.with_definitions(config.pooling.weighting) if config.paired is not None else module.pools


def forward_all(runtime: Runtime, modules: Sequence[Prepared], vectors: Sequence[Float32]) -> Iterator[Pooled]:
    """Pooled vectors of each module, in their order; ``vectors`` of its texts are those of `StatementVectors.of`."""
    # A slice of the graph encoder's: no module's sums are cut in another place. The paper's GCN chooses its way by the
    # number of groups, and has none for what is joined.
    most = SLICE if runtime.config.graph.joins else 0
    for batch in in_batches(zip(modules, vectors, strict=True), lambda pair: len(pair[0].sample.node_row), most):
        some, of_texts = zip(*batch, strict=True)
        each = [spoken(module, runtime.config) for module in some]
        if len(some) == 1:
            yield runtime.forward(some[0].sample, each[0], text_vectors=of_texts[0])
            continue
        sample, pools = join_samples([module.sample for module in some], each)
        made = runtime.forward(sample, pools, text_vectors=np.concatenate(of_texts))
        for start, end in itertools.pairwise(starts([module.pools.text.groups for module in some]).tolist()):
            yield Pooled(*(part[start:end] for part in made))


def join_samples(samples: Sequence[IRSample], pools: Sequence[Pools]) -> tuple[IRSample, Pools]:
    """The modules as one, their groups one after the other; of the pools, those of texts and nodes.

    Equal texts of two samples stay two: so nodes of two modules are never taken for equal, and neighbours are added up
    in the order that each module has them in.
    """
    texts = starts([len(sample.texts) for sample in samples]).tolist()
    nodes = starts([len(sample.node_row) for sample in samples]).tolist()
    groups = starts([each.text.groups for each in pools]).tolist()
    joined: dict[str, Any] = {"texts": list(itertools.chain.from_iterable(sample.texts for sample in samples))}
    for name in ("text_ids", "text_length", "node_kind", "node_argument", "edge_flow", "edge_position"):
        joined[name] = np.concatenate([getattr(sample, name) for sample in samples])
    numbers = {"statement_row": texts, "node_row": texts, "edge_index": nodes, "instruction_node": nodes}
    for name, begins in numbers.items():  # which have an end, too
        shifted = [getattr(sample, name) + np.int32(start) for sample, start in zip(samples, begins, strict=False)]
        joined[name] = np.concatenate(shifted, axis=-1)
    text = _joined_pool([each.text for each in pools], texts, groups)
    return IRSample(**joined), Pools(text, _joined_pool([each.graph for each in pools], nodes, groups))


def _joined_pool(pools: Sequence[Pool], items: Sequence[int], groups: Sequence[int]) -> Pool:
    """The pools as one; where each one's items and groups begin in it, and the end."""
    with_starts = list(zip(pools, items, groups, strict=False))
    return Pool(
        np.concatenate([pool.item + item for pool, item, _ in with_starts]),
        np.concatenate([pool.group + group for pool, _, group in with_starts]),
        np.concatenate([pool.weight for pool in pools]),
        groups[-1],
        np.concatenate([pool.count for pool in pools]),
    )
