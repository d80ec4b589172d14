"""`IRSample`: one module ready for a model, and the one structure that is cached, batched, trained on and embedded.

Statements and nodes share one table of distinct texts, so the text encoder sees each text once. Fields that hold rows
end in ``_row``: PyG shifts any field whose name contains ``index`` by the node count when it batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirenc.graph import ProgramGraph, build_graph
from mirenc.ir.module import IRModule
from mirenc.ir.statements import statements_of
from mirenc.tokenizer import IRTokenizer

if TYPE_CHECKING:
    from torch_geometric.data import Data

__all__ = ["IRSample", "make_sample"]

Int32 = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class IRSample:
    """One module: S statements, N nodes, E edges, U distinct texts of L tokens.

    Attributes
    ----------
    texts : list of str, length U
        Distinct texts of statements and nodes.
    text_ids : (U, L) uint16
        Token ids, padded with [PAD].
    text_length : (U,) int32
        Tokens of each text.
    statement_row : (S,) int32
        Text of each statement.
    statement_function : (S,) int32
        Function of each statement; -1 for type definitions and globals.
    node_row : (N,) int32
        Text of each node.
    node_kind : (N,) int8
    node_function : (N,) int32
        Function of each node; -1 for ``[external]`` and constants.
    edge_index : (2, E) int32
    edge_flow : (E,) int8
    edge_position : (E,) int32
    instruction_node : (I,) int32
        Node of each instruction; instructions are the last I statements.
    functions : list of str
        Function names in module order, declared ones too.
    """

    texts: list[str]
    text_ids: NDArray[np.uint16]
    text_length: Int32
    statement_row: Int32
    statement_function: Int32
    node_row: Int32
    node_kind: NDArray[np.int8]
    node_function: Int32
    edge_index: Int32
    edge_flow: NDArray[np.int8]
    edge_position: Int32
    instruction_node: Int32
    functions: list[str]

    def __repr__(self) -> str:
        return (
            f"IRSample(statements={len(self.statement_row)}, texts={len(self.texts)}, "
            f"nodes={len(self.node_row)}, edges={len(self.edge_flow)})"
        )

    def to_data(self) -> Data:
        """The sample as a PyG ``Data`` (needs the ``train`` extra); texts and names stay behind."""
        import torch
        from torch_geometric.data import Data

        return Data(
            num_nodes=len(self.node_row),
            edge_index=torch.from_numpy(self.edge_index.astype(np.int64)),
            edge_flow=torch.from_numpy(self.edge_flow),
            edge_position=torch.from_numpy(self.edge_position),
            node_row=torch.from_numpy(self.node_row),
            node_kind=torch.from_numpy(self.node_kind),
            statement_row=torch.from_numpy(self.statement_row),
            text_ids=torch.from_numpy(self.text_ids.astype(np.int32)),
            text_length=torch.from_numpy(self.text_length),
        )


def make_sample(module: IRModule, tokenizer: IRTokenizer, *, graph: ProgramGraph | None = None) -> IRSample:
    """Statements, graph and token ids of one module.

    Parameters
    ----------
    module : IRModule
    tokenizer : IRTokenizer
        Its configuration names the level of normalisation.
    graph : ProgramGraph, optional
        The module's graph at that level, if the caller has it already.
    """
    level = tokenizer.config.normalisation
    statements = statements_of(module, level)
    graph = graph if graph is not None else build_graph(module, normalisation=level)
    rows = {text: row for row, text in enumerate(statements.texts)}
    # Nodes use the full texts only; the short ones (opcodes, types) are for people and exports.
    used, inverse = np.unique(graph.node_full_text_row, return_inverse=True)
    node_rows = [rows.setdefault(graph.texts[row], len(rows)) for row in used.tolist()]
    texts = list(rows)
    text_ids, text_length = tokenizer.encode_batch(texts)
    functions = np.concatenate([np.full(statements.first_instruction, -1, dtype=np.int32), module.arrays.function])
    return IRSample(
        texts=texts,
        text_ids=text_ids,
        text_length=text_length,
        statement_row=statements.row,
        statement_function=functions,
        node_row=np.array(node_rows, dtype=np.int32)[inverse],
        node_kind=graph.node_kind,
        node_function=graph.node_function,
        edge_index=graph.edge_index,
        edge_flow=graph.edge_flow,
        edge_position=graph.edge_position,
        instruction_node=graph.instruction_node,
        functions=graph.functions,
    )
