"""Texts, modules and graphs of a corpus through a model, for training and evaluation alike."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mirenc.model.mirencoder import MIREncoder
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import text_weights
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.objectives import GraphBatch, make_graph_batch

__all__ = ["encode_graphs", "graph_vectors", "node_features", "statement_vectors", "text_vectors"]

# Texts that are encoded at once.
_SLICE = 65536
_SLICE_GPU = 8192


def _device(model: MIREncoder) -> torch.device:
    return next(model.parameters()).device


def node_features(model: MIREncoder, corpus: Corpus, rows: Tensor) -> Tensor:
    """Node features of some texts; the token embedding stays as MLM left it. Shapes: (N,) -> (N, H)."""
    distinct, inverse = torch.unique(rows, return_inverse=True)
    ids = torch.from_numpy(corpus.padded_ids(distinct.cpu().numpy())).to(_device(model))
    with torch.no_grad():
        features = model.text_features(ids)
    return features[inverse.to(features.device)]


def encode_graphs(model: MIREncoder, corpus: Corpus, graphs: GraphBatch) -> list[Tensor]:
    """Node vectors of a batch, one (N, d) matrix a flow."""
    if len(graphs.features_row) == 0:
        return [torch.zeros(0, model.config.graph.out, device=_device(model)) for _ in graphs.pairs]
    features = node_features(model, corpus, graphs.features_row)
    structure = [part.to(features.device) for part in (graphs.node_kind, graphs.edge_index, graphs.edge_flow)]
    per_flow: list[Tensor] = model.graph(features, *structure)
    return per_flow


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
    out = np.empty((len(rows), model.config.text.hidden), dtype=np.float32)
    order = np.argsort(lengths, kind="stable")
    for first in range(0, len(rows), _SLICE_GPU):
        chosen = order[first : first + _SLICE_GPU]
        with torch.inference_mode():
            ids = torch.from_numpy(corpus.padded_ids(rows[chosen])).to(_device(model))
            out[chosen] = model.text.encode(ids).float().cpu().numpy()
    return out


def text_vectors(
    model: MIREncoder, corpus: Corpus, modules: NDArray[np.int64], *, weighting: str = "count", threads: int = 1
) -> Tensor:
    """Text vector of some modules, not whitened; the plain mean is what matching takes. Shapes: (M,) -> (M, H)."""
    used = [corpus[int(module)] for module in modules]
    rows = np.unique(np.concatenate([module.statement_row for module in used])).astype(np.int64)
    vectors = statement_vectors(model, corpus, rows, threads=threads)
    means = [
        text_weights(module.statement_count, weighting) @ vectors[np.searchsorted(rows, module.statement_row)]
        for module in used
    ]
    return torch.from_numpy(np.array(means, dtype=np.float32))


def graph_vectors(model: MIREncoder, corpus: Corpus, modules: NDArray[np.int64], *, weighting: str = "count") -> Tensor:
    """Graph vector of some modules, not whitened; the plain mean is what matching takes. Shapes: (M,) -> (M, d)."""
    out = []
    for module in modules:
        graphs = make_graph_batch([corpus[int(module)]], np.random.default_rng(0), weighting=weighting)
        with torch.inference_mode():
            nodes = model.graph.combine(encode_graphs(model, corpus, graphs)).cpu()
            out.append(graphs.node_weight @ nodes)
    return torch.stack(out)
