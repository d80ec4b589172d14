"""Statement vectors of several modules at once: a text that stands in many of them is encoded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mirenc.cache import Cache, cache_key
from mirenc.embed.prepare import Prepared
from mirenc.model.layers import give_back
from mirenc.model.runtime import Runtime, needed_texts

__all__ = ["StatementVectors"]

Float32 = NDArray[np.float32]
_LARGE = 1 << 16  # nodes
_REMEMBERED = 1 << 15  # texts; a few dozen megabytes of vectors


class StatementVectors:
    """Vectors by text, from memory, the cache or the model.

    Parameters
    ----------
    runtime : Runtime
    cache : Cache or None
    """

    def __init__(self, runtime: Runtime, cache: Cache | None) -> None:
        self._runtime = runtime
        self._cache = cache
        self._memory: dict[str, Float32] = {}

    def of(self, modules: Sequence[Prepared], *, advance: Callable[[int, int], None] | None = None) -> list[Float32]:
        """For each module the vectors of its texts that are needed; those of other texts are zero.

        Parameters
        ----------
        modules : sequence of Prepared
        advance : callable, optional
            Told (texts encoded, texts to encode) while the text encoder works.

        Returns
        -------
        list of (U, H) float32
        """
        if sum(len(module.sample.node_row) for module in modules) >= _LARGE:
            give_back()  # of what was read, text and lines are gone by now
        used = [needed_texts(self._runtime.config, module.sample, module.pools) for module in modules]
        where = {
            module.sample.texts[row]: (module, row)
            for module, rows in zip(modules, used, strict=True)
            for row in rows.tolist()
        }
        if len(self._memory) + len(where) > _REMEMBERED:
            self._memory = {text: vector for text, vector in self._memory.items() if text in where}
        self._recall([text for text in where if text not in self._memory])
        self._encode({text: place for text, place in where.items() if text not in self._memory}, advance)
        out = []
        for module, rows in zip(modules, used, strict=True):
            texts = module.sample.texts
            vectors = np.zeros((len(texts), self._runtime.config.text.hidden), dtype=np.float32)
            if len(rows):
                vectors[rows] = [self._memory[texts[row]] for row in rows.tolist()]
            out.append(vectors)
        return out

    def _recall(self, texts: list[str]) -> None:
        if self._cache is None or not texts:
            return
        keys = {cache_key("statement", text): text for text in texts}
        for key, data in self._cache.get(list(keys)).items():
            self._memory[keys[key]] = np.frombuffer(data, dtype=np.float32)

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

        vectors = self._runtime.encode_texts(ids, length, advance=told)
        self._memory |= zip(missing, vectors, strict=True)
        if self._cache is not None:
            self._cache.put(
                {cache_key("statement", text): vector.tobytes() for text, vector in zip(missing, vectors, strict=True)}
            )
