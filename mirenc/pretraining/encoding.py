"""Texts, modules and graphs of a corpus through a model, for training and evaluation alike."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mirenc.config import DirectedGraphConfig, ModelConfig
from mirenc.errors import ConfigError
from mirenc.model.data import IRData, join_data, make_data, no_data
from mirenc.model.mirencoder import Encoded, MIREncoder
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import Pools, make_pool, node_keys
from mirenc.pretraining.corpus import Corpus, CorpusModule
from mirenc.pretraining.objectives import with_pairs

__all__ = [
    "check_order",
    "encode_graphs",
    "graph_batch",
    "graph_vectors",
    "module_data",
    "node_features",
    "statement_vectors",
    "text_vectors",
]

# Texts that are encoded at once.
_SLICE = 65536
_SLICE_GPU = 8192


def _device(model: MIREncoder) -> torch.device:
    return next(model.parameters()).device


def check_order(config: ModelConfig, corpus: Corpus) -> None:
    """Refuse a model that sees the order of operands on a corpus that has none.

    Raises
    ------
    ConfigError
        Such a pair.
    """
    if not corpus.ordered and isinstance(config.graph, DirectedGraphConfig) and config.graph.positions:
        raise ConfigError(
            "the corpus (format 2) keeps no operand positions and no argument numbers, which this graph encoder sees. "
            "Build it again with `mirenc corpus build`, or set positions = false in [graph]"
        )


def module_data(corpus: Corpus, module: CorpusModule, part: str = "graph", weighting: str = "count") -> IRData:
    """One module with one row, its own; of its statements or graph only what ``part`` (text or graph) needs."""
    statement, count, node = module.statement_row, module.statement_count, module.node_row
    statement, count, node = (statement[:0], count[:0], node) if part == "graph" else (statement, count, node[:0])
    texts, row = np.unique(np.concatenate([statement, node]), return_inverse=True)
    nodes, edges = (slice(0), slice(0)) if part == "text" else (slice(None), slice(None))
    kind = module.node_kind[nodes]
    first = len(statement)
    pools = Pools(
        make_pool(row[:first], np.zeros(first, np.int64), 1, weighting, count=count),
        make_pool(np.arange(len(node)), np.zeros(len(node), np.int64), 1, weighting, key=node_keys(row[first:], kind)),
    )
    ids = corpus.padded_ids(texts, corpus.tokenizer.config.max_length)
    return make_data(
        ids,
        texts,
        row[first:],
        kind,
        module.node_argument[nodes],
        module.edge_index[:, edges],
        module.edge_flow[edges],
        module.edge_position[edges],
        pools,
    )


def graph_batch(
    corpus: Corpus, modules: NDArray[np.int64], rng: np.random.Generator, *, share: slice = slice(None)
) -> IRData:
    """Some modules' graphs with pairs to tell apart (`with_pairs`).

    Each module has a generator of its own, so that a process that takes a ``share`` of the modules draws for them what
    one process would have drawn.
    """
    each = list(zip(modules.tolist(), rng.spawn(len(modules)), strict=True))[share]
    drawn = [with_pairs(module_data(corpus, corpus[number]), own) for number, own in each]
    # A process may have no share of a small batch.
    return join_data(drawn or [with_pairs(no_data(), rng)])


def node_features(model: MIREncoder, data: IRData) -> Tensor:
    """Node features of a batch's texts; the token embedding stays as MLM left it. (U, H)."""
    with torch.no_grad():
        return model.text_features(data.text_ids)


def encode_graphs(model: MIREncoder, data: IRData) -> Encoded:
    """The graph of each module, and node vectors by flow; what they take from the text encoder stays as it is."""
    data = data.to(_device(model))
    with torch.no_grad():
        vectors = model.text_vectors(data, "graph")
    encoded: Encoded = model(data, "graph", text_features=node_features(model, data), text_vectors=vectors)
    return encoded


def statement_vectors(
    model: MIREncoder, corpus: Corpus, rows: NDArray[np.int64], *, threads: int = 1
) -> NDArray[np.float32]:
    """Vectors of some texts, by the numpy runtime on a CPU (it needs no padding). Shapes: (U,) -> (U, H)."""
    lengths = corpus.text_length[rows].astype(np.int32)
    if _device(model).type == "cpu":
        weights = {name: value.numpy() for name, value in model.state_dict().items()}
        runtime = NumpyRuntime(model.config, weights, threads=threads)
        parts = [
            runtime.encode_texts(
                corpus.padded_ids(rows[first : first + _SLICE]).astype(np.uint16), lengths[first : first + _SLICE]
            )
            for first in range(0, len(rows), _SLICE)
        ]
        return np.concatenate(parts)
    slices = range(0, len(rows), _SLICE_GPU)
    with torch.inference_mode():
        ids = (torch.from_numpy(corpus.padded_ids(rows[first : first + _SLICE_GPU])) for first in slices)
        out = torch.cat([model.text.encode_all(part.to(_device(model))).float().cpu() for part in ids])
    result: NDArray[np.float32] = out.numpy()
    return result


def text_vectors(
    model: MIREncoder, corpus: Corpus, modules: NDArray[np.int64], *, weighting: str = "count", threads: int = 1
) -> Tensor:
    """Text vector of some modules, not whitened; the plain mean is what matching takes. Shapes: (M,) -> (M, H)."""
    used = [corpus[number] for number in modules.tolist()]
    rows, item = np.unique(np.concatenate([module.statement_row for module in used]), return_inverse=True)
    group = np.repeat(np.arange(len(used)), [len(module.statement_row) for module in used])
    count = np.concatenate([module.statement_count for module in used])
    pool = make_pool(item, group, len(used), weighting, count=count)
    return torch.from_numpy(pool.mean(statement_vectors(model, corpus, rows.astype(np.int64), threads=threads)))


def graph_vectors(model: MIREncoder, corpus: Corpus, modules: NDArray[np.int64], *, weighting: str = "count") -> Tensor:
    """Graph vector of some modules, not whitened; the plain mean is what matching takes. Shapes: (M,) -> (M, d)."""
    with torch.inference_mode():
        each = (module_data(corpus, corpus[number], weighting=weighting) for number in modules.tolist())
        return torch.cat([encode_graphs(model, data).graph.cpu() for data in each])
