"""Graphs of some modules end to end, as plain arrays: what a batch is before it is on the device.

They travel between processes without shared memory, of which containers often have little.
"""

from dataclasses import dataclass

import numpy as np
import torch

from mirenc.base.arrays import Float64, Int32, Int64, Integer
from mirenc.model.data import IRData
from mirenc.model.graph import Flow
from mirenc.model.pooling import make_pool, node_keys
from mirenc.model.sample import GRAPH_ARRAYS, GraphArrays, no_graph
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.objectives import Pairs, draw_pairs


@dataclass(frozen=True, eq=False, kw_only=True)
class Graphs(GraphArrays):
    """B modules of N nodes, E edges and U distinct texts, and P pairs of nodes to tell apart."""

    text_key: Int64  # (U,) rows of the corpus's table of texts, ascending; ``node_row`` are rows of this
    group: Int32  # (N,) module of each node
    weight: Float64  # (N,) what a node weighs in its module's mean
    groups: int  # B
    positive: Int32  # (2, P) edges, sorted by flow
    negative: Int32  # (2, P) pairs that are none
    pairs: list[int]  # how many of them each flow has

    def data(self, device: torch.device, corpus: Corpus | None = None) -> IRData:
        """The batch as the model takes it, with the ``corpus`` whose texts are to be encoded; see `flow_pairs`."""
        no_ids = np.zeros((len(self.text_key), 0), dtype=np.int32)
        integers: dict[str, Integer] = {
            **{name: getattr(self, name) for name in GRAPH_ARRAYS},
            "text_key": self.text_key,
            "pool_node_group": self.group,
            "positive_index": self.positive,
            "negative_index": self.negative,
            "text_ids": no_ids if corpus is None else corpus.padded_ids(self.text_key),
        }
        # In one piece: each copy to a GPU waits for what it has to do. Widened there, so that there is less to copy.
        flat = np.concatenate([array.ravel() for array in integers.values()], dtype=np.int32, casting="unsafe")
        parts = torch.split(torch.from_numpy(flat).to(device).long(), [array.size for array in integers.values()])
        arrays = {name: part.view(array.shape) for (name, array), part in zip(integers.items(), parts, strict=True)}
        empty, nodes = parts[0][:0], len(self.node_row)
        return IRData(
            **arrays,
            num_nodes=nodes,
            pool_row=empty,
            pool_row_group=empty,
            pool_row_weight=empty.double(),
            pool_node=torch.arange(nodes, device=device),
            pool_node_weight=torch.from_numpy(self.weight).to(device),
            groups=self.groups,
            pairs=self.pairs,
        )


def flow_pairs(data: IRData) -> Pairs:
    """Pairs of nodes to tell apart, by flow: edges (2, P_f) and pairs that are none (2, P_f)."""
    by_flow = (torch.split(pairs, data.pairs, 1) for pairs in (data.positive_index, data.negative_index))
    return list(zip(*by_flow, strict=True))


def join_graphs(
    corpus: Corpus,
    modules: Integer,
    rng: np.random.Generator | None = None,
    *,
    share: slice = slice(None),
    weighting: str = "count",
) -> Graphs:
    """The graphs of a ``share`` of some modules (B,), nodes weighted by ``weighting`` (`PoolingConfig`).

    With a generator pairs are drawn, for each module by one of its own: a share's are those of one process alone.
    """
    batch = [corpus[number] for number in modules[share].tolist()]
    generators = rng.spawn(len(modules))[share] if rng is not None else []
    sizes = np.array([len(module.node_row) for module in batch], dtype=np.int64)
    first = (np.cumsum(sizes) - sizes).tolist()
    group = np.repeat(np.arange(len(batch), dtype=np.int32), sizes)
    arrays = {
        name: np.concatenate([empty, *(getattr(module, name) for module in batch)], -1, dtype=empty.dtype)
        for name, empty in no_graph().items()
    }
    arrays["edge_index"] += np.repeat(np.int32(first), [len(module.edge_flow) for module in batch])
    text_key, node_row = np.unique(arrays["node_row"], return_inverse=True)
    pool = make_pool(np.arange(len(group)), group, len(batch), weighting, key=node_keys(node_row, arrays["node_kind"]))
    # Edges and others, by flow, and of each flow by module.
    flow_parts: dict[Flow, list[Int64]] = {flow: [np.zeros((2, 2, 0), np.int64)] for flow in Flow}
    for module, start, generator in zip(batch, first, generators, strict=rng is not None):
        for flow, pairs in zip(Flow, draw_pairs(module, generator), strict=True):
            flow_parts[flow].append(np.stack(pairs) + start)
    by_flow = [np.concatenate(parts, 2, dtype=np.int32) for parts in flow_parts.values()]
    positive, negative = np.concatenate(by_flow, 2)
    return Graphs(
        **arrays | {"node_row": node_row.astype(np.int32)},
        text_key=text_key.astype(np.int64),
        group=group,
        weight=pool.weight,
        groups=len(batch),
        positive=positive,
        negative=negative,
        pairs=[part.shape[2] for part in by_flow],
    )
