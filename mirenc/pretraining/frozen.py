"""What a text encoder that no longer moves says of a corpus's texts, computed once and kept on the device."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mirenc.graph import NodeKind
from mirenc.model.data import IRData
from mirenc.model.mirencoder import MIREncoder
from mirenc.pretraining import encoding
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.parallel import Processes

__all__ = ["FrozenTexts"]

# Texts whose node features are computed at once.
_SLICE = 4096


class _Table:
    """Rows on the device, found by the number of a text."""

    def __init__(self, texts: int, rows: NDArray[np.int64], values: Tensor) -> None:
        place = torch.zeros(texts, dtype=torch.int64)
        place[torch.from_numpy(rows)] = torch.arange(1, len(rows) + 1)
        self._place = place.to(values.device)
        self._values = torch.cat([values.new_zeros(1, values.shape[1]), values])

    def __call__(self, keys: Tensor) -> Tensor:
        """Rows of some texts; zeros of those that have none. (U,) -> (U, D)."""
        return self._values[self._place[keys]]


class FrozenTexts:
    """What a text encoder that no longer moves says of the texts of some modules, kept on the device.

    Parameters
    ----------
    model : MIREncoder
    corpus : Corpus
    modules : (M,) int64
    weighting : str, optional
        Of the modules' text vectors (`mirenc.model.config.PoolingConfig`); without it there are none.
    processes : Processes
        Each encodes a share of the texts.
    threads : int
        For statement vectors on a CPU.

    Attributes
    ----------
    means : (M, H) float32
        The modules' text vectors.
    """

    def __init__(
        self,
        model: MIREncoder,
        corpus: Corpus,
        modules: NDArray[np.int64],
        *,
        processes: Processes,
        weighting: str | None = None,
        threads: int = 1,
    ) -> None:
        device, total = next(model.parameters()).device, len(corpus.text_length)
        node, said, pooled = (np.zeros(total, dtype=bool) for _ in range(3))
        for number in modules.tolist():
            module = corpus[number]
            node[module.node_row] = True
            if model.config.graph.takes_statements:
                said[module.node_row[module.node_kind == NodeKind.INSTRUCTION]] = True
            if weighting is not None:
                pooled[module.statement_row] = True
        rows = np.flatnonzero(node)
        parts = [_features(model, corpus, rows[first : first + _SLICE]) for first in range(0, len(rows), _SLICE)]
        self._features = _Table(
            total, rows, torch.cat([torch.zeros(0, model.config.text.token_width, device=device), *parts])
        )
        encoded = np.flatnonzero(said | pooled)
        mine = encoded[processes.share(len(encoded))]
        own = torch.from_numpy(encoding.statement_vectors(model, corpus, mine, threads=threads)).to(device)
        vectors = processes.join(own, len(encoded))
        self.means = torch.zeros(len(modules), 0, device=device)
        if weighting is not None:
            self.means = encoding.text_means(corpus, modules, encoded, vectors.cpu().numpy(), weighting).to(device)
        # On the device stays what graphs take.
        self._vectors = _Table(total, np.flatnonzero(said), vectors[torch.from_numpy(said[encoded]).to(device)])

    def __call__(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Node features and, where the graph takes them, statement vectors of some texts. (U,) -> (U, F), (U, H)."""
        return self._features(keys), self._vectors(keys)


def _features(model: MIREncoder, corpus: Corpus, rows: NDArray[np.int64]) -> Tensor:
    device = next(model.parameters()).device
    ids = torch.from_numpy(corpus.padded_ids(rows)).to(device)
    return encoding.node_features(model, IRData(text_ids=ids, text_key=torch.from_numpy(rows)))
