"""Texts, modules and graphs of a corpus through a model, for training and evaluation alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mirenc.errors import ConfigError
from mirenc.model.config import ModelConfig
from mirenc.model.data import IRData, make_data
from mirenc.model.mirencoder import Encoded, MIREncoder
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import Pools, make_pool
from mirenc.pretraining.corpus import Corpus, CorpusModule
from mirenc.pretraining.graphs import Graphs, join_graphs

__all__ = [
    "check_order",
    "encode_graphs",
    "graph_data",
    "graph_vectors",
    "node_features",
    "statement_vectors",
    "text_data",
    "text_means",
    "text_vectors",
]

# Rows of texts (U,) to their node features (U, F) and statement vectors (U, H).
KnownTexts = Callable[[Tensor], tuple[Tensor, Tensor]]
# Texts that are encoded at once.
_SLICE = 65536
_SLICE_GPU = 8192
# Nodes of modules that are encoded at once, or of one larger module.
_NODES = 1 << 15


def _device(model: MIREncoder) -> torch.device:
    return next(model.parameters()).device


def check_order(config: ModelConfig, corpus: Corpus) -> None:
    """Refuse a model that sees the order of operands on a corpus that has none.

    Raises
    ------
    ConfigError
        Such a pair.
    """
    if not corpus.ordered and not config.graph.blind:
        raise ConfigError(
            "the corpus (format 2) keeps no operand positions and no argument numbers, which this graph encoder sees. "
            "Build it again with `mirenc corpus build`, or set positions = false in [graph]"
        )


def text_data(corpus: Corpus, module: CorpusModule, weighting: str = "count") -> IRData:
    """The statements of one module, with one row, its own."""
    row, none = module.statement_row, np.zeros(0, dtype=np.int64)
    zeros = np.zeros(len(row), dtype=np.int64)
    pools = Pools(
        make_pool(np.arange(len(row)), zeros, 1, weighting, count=module.statement_count),
        make_pool(none, none, 1, weighting),
    )
    ids = corpus.padded_ids(row, corpus.tokenizer.config.max_length)
    return make_data(ids, row, none, none, none, none.reshape(2, 0), none, none, pools)


def node_features(model: MIREncoder, data: IRData) -> Tensor:
    """Node features of a batch's texts; the token embedding stays as MLM left it. (U, H)."""
    with torch.no_grad():
        return model.text_features(data.text_ids)


def encode_graphs(model: MIREncoder, data: IRData, texts: KnownTexts | None = None) -> Encoded:
    """The graph of each module, and node vectors by flow; what they take from the text encoder stays as it is.

    ``texts`` are what it says of them, where that is known; else ``data`` have the texts themselves.
    """
    if texts is not None:
        features, vectors = texts(data.text_key)
    else:
        with torch.no_grad():
            features, vectors = node_features(model, data), model.text_vectors(data, "graph")
    encoded: Encoded = model(data, "graph", text_features=features, text_vectors=vectors)
    return encoded


def graph_data(corpus: Corpus, graphs: Graphs, device: torch.device) -> IRData:
    """Some graphs on a device, with the texts of their nodes."""
    rows = graphs.text_key
    ids = corpus.padded_ids(rows) if len(rows) else np.zeros((0, 1), dtype=np.int64)
    return graphs.data(device, ids)


def statement_vectors(
    model: MIREncoder, corpus: Corpus, rows: NDArray[np.int64], *, threads: int = 1
) -> NDArray[np.float32]:
    """Vectors of some texts, by the numpy runtime on a CPU (it needs no padding). Shapes: (U,) -> (U, H)."""
    lengths = corpus.text_length[rows].astype(np.int32)
    if _device(model).type == "cpu":
        weights = {name: value.numpy() for name, value in model.state_dict().items()}
        runtime = NumpyRuntime(model.config, weights, threads=threads)
        parts = [np.zeros((0, model.config.text.hidden), dtype=np.float32)]
        parts += [
            runtime.encode_texts(
                corpus.padded_ids(rows[first : first + _SLICE]).astype(np.uint16), lengths[first : first + _SLICE]
            )
            for first in range(0, len(rows), _SLICE)
        ]
        return np.concatenate(parts)
    slices = range(0, len(rows), _SLICE_GPU)
    with torch.inference_mode():
        ids = (torch.from_numpy(corpus.padded_ids(rows[first : first + _SLICE_GPU])) for first in slices)
        empty = torch.zeros(0, model.config.text.hidden)
        out = torch.cat([empty, *(model.text.encode_all(part.to(_device(model))).float().cpu() for part in ids)])
    result: NDArray[np.float32] = out.numpy()
    return result


def text_vectors(
    model: MIREncoder, corpus: Corpus, modules: NDArray[np.int64], *, weighting: str = "count", threads: int = 1
) -> Tensor:
    """Text vector of some modules, not whitened; the plain mean is what matching takes. Shapes: (M,) -> (M, H)."""
    rows = np.flatnonzero(corpus.text_counts(modules.tolist()))
    return text_means(corpus, modules, rows, statement_vectors(model, corpus, rows, threads=threads), weighting)


def text_means(
    corpus: Corpus, modules: NDArray[np.int64], rows: NDArray[np.int64], vectors: NDArray[np.float32], weighting: str
) -> Tensor:
    """Text vector of some modules from the vectors of their statements' texts.

    Shapes: (M,), (K,) ascending, (K, H) -> (M, H)
    """
    used = [corpus[number] for number in modules.tolist()]
    item = np.searchsorted(rows, np.concatenate([module.statement_row for module in used]))
    group = np.repeat(np.arange(len(used)), [len(module.statement_row) for module in used])
    count = np.concatenate([module.statement_count for module in used])
    return torch.from_numpy(make_pool(item, group, len(used), weighting, count=count).mean(vectors))


def graph_vectors(model: MIREncoder, corpus: Corpus, modules: NDArray[np.int64], *, weighting: str = "count") -> Tensor:
    """Graph vector of some modules, not whitened; the plain mean is what matching takes. Shapes: (M,) -> (M, d)."""
    with torch.inference_mode():
        device = _device(model)
        at = np.cumsum(corpus.node_count[modules]) // _NODES
        parts = np.split(modules, np.flatnonzero(np.diff(at)) + 1)
        each = (join_graphs(corpus, part, weighting=weighting) for part in parts)
        return torch.cat([encode_graphs(model, graph_data(corpus, graphs, device)).graph.cpu() for graphs in each])
