"""`IRSample`: one module ready for a model, as plain numpy: statements and nodes are rows of one table of texts."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from mirenc.base.arrays import Int8, Int32, UInt16
from mirenc.base.shown import short_repr
from mirenc.llvm.ir.module import IRModule
from mirenc.llvm.ir.plain_statement import Spelling, hide_types, spelled
from mirenc.llvm.ir.statements import statements_of
from mirenc.model.graph import ProgramGraph, build_graph
from mirenc.model.tokenizer import IRTokenizer


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphArrays:
    """A graph of N nodes and E edges, whose texts are rows of a table; as in `mirenc.model.graph.ProgramGraph`."""

    node_row: Int32  # (N,) text of each node
    node_kind: Int8  # (N,)
    node_argument: Int32  # (N,)
    edge_index: Int32  # (2, E)
    edge_flow: Int8  # (E,)
    edge_position: Int32  # (E,)


GRAPH_ARRAYS = tuple(field.name for field in fields(GraphArrays))


def no_graph() -> dict[str, Any]:
    """The arrays of a graph without nodes."""
    int32s, int8s = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int8)
    return dict(zip(GRAPH_ARRAYS, (int32s, int8s, int32s, int32s.reshape(2, 0), int8s, int32s), strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class IRSample(GraphArrays):
    """One module: S statements, N nodes, E edges, U distinct texts of L tokens.

    ``texts`` are those of statements and nodes; ``text_ids`` (U, L) uint16 their token ids, padded with [PAD], and
    ``text_length`` (U,) int32 how many each has. ``statement_row`` (S,) int32 is the text of each statement, of which
    the last I are the instructions; ``instruction_node`` (I,) int32 is the node of each of these.
    """

    texts: list[str]
    text_ids: UInt16
    text_length: Int32
    statement_row: Int32
    instruction_node: Int32

    __repr__ = short_repr


def make_sample(
    module: IRModule, tokenizer: IRTokenizer, *, graph: ProgramGraph | None = None, spelling: Spelling = "written"
) -> IRSample:
    """A module's statements, graph (given, or the native builder's) and token ids, in the tokenizer's normalisation.

    Texts that a ``spelling`` makes equal are one.
    """
    normalisation = tokenizer.config.normalisation
    statements = statements_of(module, normalisation)
    graph = graph if graph is not None else build_graph(module, normalisation=normalisation)
    # The graph's table begins with the statements and their nodes' full texts; short ones are for people and exports.
    texts = graph.texts[: max(len(statements.texts), int(graph.node_full_text_row.max()) + 1)]
    statement_row, node_row = statements.row, graph.node_full_text_row
    if spelling != "written":
        spellings = spelled(texts, spelling, module.display.values())
        number = {text: row for row, text in enumerate(dict.fromkeys(spellings))}
        rows = np.array([number[text] for text in spellings], dtype=np.int32)
        texts, statement_row, node_row = list(number), rows[statement_row], rows[node_row]
    # The lexical view needs the names of types, to tell their sizes.
    text_ids, text_length = tokenizer.encode_batch(hide_types(texts) if spelling == "hidden" else texts)
    return IRSample(
        texts=texts,
        text_ids=text_ids,
        text_length=text_length,
        statement_row=statement_row,
        node_row=node_row,
        instruction_node=graph.instruction_node,
        **{name: getattr(graph, name) for name in GRAPH_ARRAYS[1:]},
    )
