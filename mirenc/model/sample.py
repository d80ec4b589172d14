"""`IRSample`: one module ready for a model, as plain numpy.

Statements and nodes share one table of distinct texts, so the text encoder sees each text once.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from mirenc.arrays import Int8, Int32, UInt16
from mirenc.graph import ProgramGraph
from mirenc.graph.native import build_native
from mirenc.ir.module import IRModule
from mirenc.ir.statements import statements_of
from mirenc.tokenizer import IRTokenizer


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphArrays:
    """A graph of N nodes and E edges, whose texts are rows of a table.

    Attributes
    ----------
    node_row, node_kind : (N,) int32, (N,) int8
        Text and kind of each node.
    node_argument : (N,) int32
        Which argument a variable stands for, from 1 on; 0 of all other nodes.
    edge_index, edge_flow : (2, E) int32, (E,) int8
    edge_position : (E,) int32
        Number of the operand or successor.
    """

    node_row: Int32
    node_kind: Int8
    node_argument: Int32
    edge_index: Int32
    edge_flow: Int8
    edge_position: Int32


GRAPH_ARRAYS = tuple(field.name for field in fields(GraphArrays))


def no_graph() -> dict[str, Any]:
    """The arrays of a graph without nodes."""
    none, small = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int8)
    return dict(zip(GRAPH_ARRAYS, (none, small, none, none.reshape(2, 0), small, none), strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class IRSample(GraphArrays):
    """One module: S statements, N nodes, E edges, U distinct texts of L tokens.

    Attributes
    ----------
    texts : list of str, length U
        Distinct texts of statements and nodes.
    text_ids, text_length : (U, L) uint16 and (U,) int32
        Token ids, padded with [PAD], and how many each has.
    statement_row : (S,) int32
        Text of each statement.
    instruction_node : (I,) int32
        Node of each instruction; instructions are the last I statements.
    """

    texts: list[str]
    text_ids: UInt16
    text_length: Int32
    statement_row: Int32
    instruction_node: Int32

    def __repr__(self) -> str:
        return (
            f"IRSample(statements={len(self.statement_row)}, texts={len(self.texts)}, "
            f"nodes={len(self.node_row)}, edges={len(self.edge_flow)})"
        )


def make_sample(module: IRModule, tokenizer: IRTokenizer, *, graph: ProgramGraph | None = None) -> IRSample:
    """Statements, graph and token ids of one module, in the normalisation of the tokenizer's configuration.

    ``graph`` is what the native builder makes of the module in it, if the caller has it already.
    """
    normalisation = tokenizer.config.normalisation
    statements = statements_of(module, normalisation)
    graph = graph if graph is not None else build_native(module, normalisation=normalisation)
    # The graph's table begins with the statements and their nodes' full texts; short ones are for people and exports.
    texts = graph.texts[: max(len(statements.texts), int(graph.node_full_text_row.max()) + 1)]
    text_ids, text_length = tokenizer.encode_batch(texts)
    return IRSample(
        texts=texts,
        text_ids=text_ids,
        text_length=text_length,
        statement_row=statements.row,
        node_row=graph.node_full_text_row,
        instruction_node=graph.instruction_node,
        **{name: getattr(graph, name) for name in GRAPH_ARRAYS[1:]},
    )
