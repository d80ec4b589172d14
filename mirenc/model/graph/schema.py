"""`ProgramGraph`: ProGraML's multigraph as numpy arrays, and the rules a conformant graph obeys.

A conformant graph (ProGraML 0.3.2):

- node 0 is an instruction node with the text ``[external]``;
- control edges join instruction nodes of one function, data edges join an instruction node with a variable or constant
  node, call edges join instruction nodes;
- a variable stands for one use of an instruction's result, or for all uses of one argument; a constant node is shared;
- ``edge_position`` is the operand number for an edge into an instruction, the successor number for a control edge,
and 0 else.
"""

from dataclasses import dataclass
from enum import IntEnum

from mirenc.base.arrays import Int8, Int32

EXTERNAL = "[external]"


class NodeKind(IntEnum):
    """Kind of a node; the numbers are ProGraML's."""

    INSTRUCTION = 0
    VARIABLE = 1
    CONSTANT = 2


class Flow(IntEnum):
    """Flow of an edge; the numbers are ProGraML's."""

    CONTROL = 0
    DATA = 1
    CALL = 2


@dataclass(frozen=True, eq=False)
class ProgramGraph:
    """A program graph of N nodes, E edges and T distinct texts; a ``kind`` is a `NodeKind`, a ``flow`` a `Flow`.

    - ``texts``, T: distinct; the native builder's begin with the module's statements, then full texts, then short ones.
    - ``node_text_row`` (N,) int32: ProGraML's ``text``: an instruction's opcode, a variable's or constant's type.
    - ``node_full_text_row`` (N,) int32: its ``full_text``: the statement, ``T %`` of a variable, ``T v`` of a constant.
    - ``node_kind`` (N,) int8; ``node_argument`` (N,) int32: which argument of its function a variable stands for, from
      1 on; 0 of all other nodes. ProGraML does not say.
    - ``node_function`` (N,) int32: row of ``functions``, the names in module order, declared ones too; -1 for node 0
      and for constants.
    - ``edge_index`` (2, E) int32: source and target nodes; ``edge_flow`` (E,) int8; ``edge_position`` (E,) int32.
    - ``instruction_node`` (I,) int32: node of each instruction of the module.
    - ``call_edges_left_out``: edges from exits back to call sites that ProGraML has beyond
      `mirenc.model.graph.builder.MOST_RETURNS` times the nodes; not 0 only where functions of many exits have many
      calls.
    """

    texts: list[str]
    node_text_row: Int32
    node_full_text_row: Int32
    node_kind: Int8
    node_argument: Int32
    node_function: Int32
    edge_index: Int32
    edge_flow: Int8
    edge_position: Int32
    functions: list[str]
    instruction_node: Int32
    call_edges_left_out: int = 0

    def __repr__(self) -> str:
        flows = ", ".join(f"{flow.name.lower()}={self.flow_count(flow)}" for flow in Flow)
        left_out = f", call_edges_left_out={self.call_edges_left_out}" if self.call_edges_left_out else ""
        return f"ProgramGraph(nodes={self.node_count}, edges={self.edge_count}, {flows}{left_out})"

    @property
    def node_count(self) -> int:
        return len(self.node_kind)

    @property
    def edge_count(self) -> int:
        return len(self.edge_flow)

    def flow_count(self, flow: Flow) -> int:
        """Number of edges of one flow."""
        return int((self.edge_flow == flow).sum())

    def kind_count(self, kind: NodeKind) -> int:
        """Number of nodes of one kind."""
        return int((self.node_kind == kind).sum())

    @property
    def node_text(self) -> list[str]:
        """ProGraML's ``text`` of every node."""
        return [self.texts[row] for row in self.node_text_row]

    @property
    def node_full_text(self) -> list[str]:
        """ProGraML's ``full_text`` of every node."""
        return [self.texts[row] for row in self.node_full_text_row]
