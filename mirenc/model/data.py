"""`IRData`: what the torch model computes on, as PyG `Data`: one module, or what `join_samples` made of several."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from mirenc.model.pooling import Pools
from mirenc.model.sample import GRAPH_ARRAYS, IRSample


class IRData(Data):  # type: ignore[misc]  # torch-geometric carries no types
    """U texts of L tokens, N nodes, E edges; G groups, whose vectors are asked for. Integers are int64.

    - ``text_ids`` (U, L), padded with [PAD]; of a corpus, ``text_key`` (U,), rows of its table of texts;
    - the arrays of `mirenc.model.sample.GraphArrays`;
    - memberships (`mirenc.model.pooling.Pool`) of texts, ``pool_row``, ``pool_row_group``, ``pool_row_weight`` (M,),
      and of nodes, ``pool_node``, ``pool_node_group``, ``pool_node_weight`` (K,); weights are float64;
    - ``groups``, an int.
    """


def _int64(array: NDArray[np.generic]) -> Tensor:
    return torch.from_numpy(array.astype(np.int64))


def sample_data(sample: IRSample, pools: Pools) -> IRData:
    """A sample with the rows that are asked for."""
    text, nodes = pools.text, pools.graph
    return IRData(
        num_nodes=len(sample.node_row),
        text_ids=_int64(sample.text_ids),
        **{name: _int64(getattr(sample, name)) for name in GRAPH_ARRAYS},
        pool_row=_int64(text.item),
        pool_row_group=_int64(text.group),
        pool_row_weight=torch.from_numpy(text.weight),
        pool_node=_int64(nodes.item),
        pool_node_group=_int64(nodes.group),
        pool_node_weight=torch.from_numpy(nodes.weight),
        groups=text.groups,
    )
