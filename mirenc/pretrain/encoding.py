"""Texts, modules and graphs of a corpus through a model, for training and evaluation alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from mirenc.base.arrays import Float32, Int64
from mirenc.base.errors import ConfigError
from mirenc.model.config import ModelConfig
from mirenc.model.data import IRData
from mirenc.model.graph import NodeKind
from mirenc.model.mirencoder import Encoded, MIREncoder
from mirenc.model.pooling import make_pool
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.graphs import join_graphs
from mirenc.pretrain.parallel import Processes

_SLICE = 8192  # texts that are on the device at once
_NODES = 1 << 15  # of modules that are encoded at once, or of one larger module


def _device(model: MIREncoder) -> torch.device:
    return next(model.parameters()).device


def check_order(config: ModelConfig, corpus: Corpus) -> None:
    """Refuse, with a `ConfigError`, a model that sees the order of operands on a corpus that has none."""
    if not corpus.ordered and config.graph.positions:
        problem = "the corpus (format 2) has no operand positions and no argument numbers"
        advice = "Build it again with `mirenc corpus build`, or set positions = false in [graph]"
        raise ConfigError(f"{problem}, which this graph encoder needs. {advice}")


@torch.no_grad()
def node_features(model: MIREncoder, data: IRData) -> Tensor:
    """Node features of a batch's texts; the token embedding stays as MLM left it. (U, F)."""
    return model.text_features(data.text_ids)


def encode_graphs(model: MIREncoder, data: IRData, texts: FrozenTexts | None = None) -> Encoded:
    """The graph of each module, and node vectors by flow; what they take from the text encoder stays as it is.

    ``texts`` has its outputs, where these are known; else ``data`` has the texts themselves.
    """
    if texts is not None:
        features, vectors = texts(data.text_key)
    else:
        with torch.no_grad():
            features, vectors = node_features(model, data), model.text_vectors(data, "graph")
    return model(data, "graph", text_features=features, text_vectors=vectors)


@torch.inference_mode()
def statement_vectors(model: MIREncoder, corpus: Corpus, rows: Int64) -> Float32:
    """Vectors of some texts. Shapes: (U,) -> (U, H)."""
    parts = [np.zeros((0, model.config.text.hidden), dtype=np.float32)]
    for part in _slices(rows):
        ids = torch.from_numpy(corpus.padded_ids(part)).to(_device(model))
        parts.append(model.text.encode_all(ids).float().cpu().numpy())
    return np.concatenate(parts)


def text_vectors(model: MIREncoder, corpus: Corpus, modules: Int64, *, weighting: str = "count") -> Tensor:
    """Text vector of some modules, not whitened; the plain mean is what matching takes. Shapes: (M,) -> (M, H)."""
    rows = np.flatnonzero(corpus.text_counts(modules.tolist()))
    return _text_means(corpus, modules, rows, statement_vectors(model, corpus, rows), weighting)


def _text_means(corpus: Corpus, modules: Int64, rows: Int64, vectors: Float32, weighting: str) -> Tensor:
    """`text_vectors` from those of the statements' texts. Shapes: (M,), (K,) ascending, (K, H) -> (M, H)."""
    members = [corpus[number] for number in modules.tolist()]
    item = np.searchsorted(rows, np.concatenate([module.statement_row for module in members]))
    group = np.repeat(np.arange(len(members)), [len(module.statement_row) for module in members])
    count = np.concatenate([module.statement_count for module in members])
    return torch.from_numpy(make_pool(item, group, len(members), weighting, count=count).readout(vectors))


def graph_vectors(model: MIREncoder, corpus: Corpus, modules: Int64, *, weighting: str = "count") -> Tensor:
    """Graph vector of some modules, not whitened; the plain mean is what matching takes. Shapes: (M,) -> (M, d)."""
    parts = np.split(modules, np.flatnonzero(np.diff(np.cumsum(corpus.node_count[modules]) // _NODES)) + 1)
    batches = (join_graphs(corpus, part, weighting=weighting).data(_device(model), corpus) for part in parts)
    with torch.inference_mode():
        return torch.cat([encode_graphs(model, data).graph.cpu() for data in batches])


def _slices(rows: Int64) -> list[Int64]:
    return [rows[first : first + _SLICE] for first in range(0, len(rows), _SLICE)]


def _table(texts: int, rows: Int64, values: Tensor) -> Callable[[Tensor], Tensor]:
    """A function from numbers of texts (U,) to their ``values`` (U, D), zeros for texts that are not in ``rows``."""
    place = torch.zeros(texts, dtype=torch.int64)
    place[torch.from_numpy(rows)] = torch.arange(1, len(rows) + 1)
    place, padded = place.to(values.device), torch.cat([values.new_zeros(1, values.shape[1]), values])
    return lambda keys: padded[place[keys]]


class FrozenTexts:
    """Outputs of a frozen text encoder for the texts of some modules (M,), kept on the device.

    Each process encodes a share of them. With a ``weighting`` there are text vectors, too: ``means`` (M, H) float32.
    """

    def __init__(
        self, model: MIREncoder, corpus: Corpus, modules: Int64, *, processes: Processes, weighting: str | None = None
    ) -> None:
        device, total = _device(model), len(corpus.text_length)
        is_node, needs_vector, is_pooled = np.zeros((3, total), dtype=bool)
        for module in map(corpus.__getitem__, modules.tolist()):
            is_node[module.node_row] = True
            instructions = model.config.graph.statements & (module.node_kind == NodeKind.INSTRUCTION)
            needs_vector[module.node_row[instructions]] = True
            is_pooled[module.statement_row] = weighting is not None
        rows = np.flatnonzero(is_node)
        features = [torch.zeros(0, model.config.text.token_width, device=device)]
        for part in _slices(rows):
            ids = torch.from_numpy(corpus.padded_ids(part)).to(device)
            features.append(node_features(model, IRData(text_ids=ids, text_key=torch.from_numpy(part))))
        self._features = _table(total, rows, torch.cat(features))
        encoded_rows = np.flatnonzero(needs_vector | is_pooled)
        share_vectors = statement_vectors(model, corpus, encoded_rows[processes.share(len(encoded_rows))])
        vectors = processes.join(torch.from_numpy(share_vectors).to(device), len(encoded_rows))
        self.means = torch.zeros(len(modules), 0, device=device)
        if weighting is not None:
            self.means = _text_means(corpus, modules, encoded_rows, vectors.cpu().numpy(), weighting).to(device)
        # On the device stays what graphs take.
        self._vectors = _table(
            total, np.flatnonzero(needs_vector), vectors[torch.from_numpy(needs_vector[encoded_rows]).to(device)]
        )

    def __call__(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Node features and, where the graph takes them, statement vectors of some texts. (U,) -> (U, F), (U, H)."""
        return self._features(keys), self._vectors(keys)
