"""`IRData`: what the torch model computes on, as PyG `Data`: one module, or several that PyG put end to end.

Fields that hold rows of texts end in ``_row``, and none but edges has ``index`` in its name: PyG shifts such fields by
the node count when it batches.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Batch, Data

from mirenc.arrays import Integer
from mirenc.model.pooling import Pool, Pools
from mirenc.model.sample import GRAPH_ARRAYS, GraphArrays, IRSample, no_graph
from mirenc.tokenizer import PAD


class IRData(Data):  # type: ignore[misc]  # torch-geometric carries no types
    """U texts of L tokens, N nodes, E edges; G groups, whose vectors are asked for. Integers are int64.

    - ``text_ids`` (U, L), padded with [PAD]; ``text_key`` (U,), equal for equal texts of the modules that are joined;
    - the arrays of `mirenc.model.sample.GraphArrays`;
    - memberships (`mirenc.model.pooling.Pool`) of texts, ``pool_row``, ``pool_row_group``, ``pool_row_weight`` (M,),
      and of nodes, ``pool_node``, ``pool_node_group``, ``pool_node_weight`` (K,); weights are float64;
    - ``groups``, an int.
    """

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key in ("node_row", "pool_row"):
            return len(self.text_ids)
        if key == "pool_node":
            return self.num_nodes
        if key.endswith("_group"):
            return self.groups
        return super().__inc__(key, value, *args, **kwargs)


def _int64(array: NDArray[np.generic]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array).astype(np.int64))


def make_data(graph: GraphArrays, pools: Pools, text_ids: Integer, text_key: Integer | None = None) -> IRData:
    """A module's data from its graph, pools and texts; ``text_key`` (U,) is needed to join them with others."""
    text, nodes = pools.text, pools.graph
    return IRData(
        num_nodes=len(graph.node_row),
        text_ids=_int64(text_ids),
        text_key=_int64(np.arange(len(text_ids)) if text_key is None else text_key),
        **{name: _int64(getattr(graph, name)) for name in GRAPH_ARRAYS},
        pool_row=_int64(text.item),
        pool_row_group=_int64(text.group),
        pool_row_weight=torch.from_numpy(text.weight),
        pool_node=_int64(nodes.item),
        pool_node_group=_int64(nodes.group),
        pool_node_weight=torch.from_numpy(nodes.weight),
        groups=int(max(text.groups, nodes.groups)),
    )


def sample_data(sample: IRSample, pools: Pools, *, text_key: Integer | None = None) -> IRData:
    """A sample with the rows that are asked for; ``text_key`` (U,) where it is to be joined with others."""
    return make_data(sample, pools, sample.text_ids, text_key)


def no_data() -> IRData:
    """No module: no texts, nodes or rows."""
    none = np.zeros(0, dtype=np.int64)
    pool = Pool(none, none, np.zeros(0), 0, none)
    return make_data(GraphArrays(**no_graph()), Pools(pool, pool), none.reshape(0, 1))


def join_data(each: Sequence[IRData]) -> IRData:
    """Several modules end to end; a text that stands in several of them is there once."""
    batch: IRData = Batch.from_data_list(list(each))
    batch.text_key, row = torch.unique(batch.text_key, return_inverse=True)
    first = row.new_empty(len(batch.text_key)).scatter_(0, row, torch.arange(len(row)))
    ids = batch.text_ids[first]
    batch.text_ids = ids[:, : int((ids != PAD).sum(1).max())] if len(ids) else ids
    batch.node_row, batch.pool_row = row[batch.node_row], row[batch.pool_row]
    batch.groups = int(batch.groups.sum())
    return batch
