"""The directed graph encoder: configuration and relations (Schlichtkrull et al. 2018), an edge's flow and position.

Control edges to the first successor (the true branch) and to others are two relations, data edges of operand 0, 1, 2
and later ones four, call edges one; each again for the way back.
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from mirenc.model.graph import Flow, NodeKind
from mirenc.model.kinds import GraphKind, Shapes

# Positions from here on are one relation.
LAST_POSITION = 3
# Forward relation of an edge, by flow and position (up to LAST_POSITION).
RELATION_OF = np.zeros((len(Flow), LAST_POSITION + 1), dtype=np.int64)
RELATION_OF[Flow.CONTROL] = [0, 1, 1, 1]
RELATION_OF[Flow.DATA] = [2, 3, 4, 5]
RELATION_OF[Flow.CALL] = 6
# Backward relation r is forward relation r - RELATIONS // 2.
RELATIONS = 2 * (int(RELATION_OF.max()) + 1)
# Kinds of argument numbers: none, the first, second, ... and all from the last one on.
ARGUMENTS = 9


class DirectedGraphConfig(GraphKind):
    """Relations kept apart, in both directions: `mirenc.model.directed.torch`.

    A node sees ``layers`` edges far; the relations' matrices are mixed from ``bases``. ``positions``: the order of
    operands, successors and arguments is seen, which a corpus of format 2 has not. ``statements``: an instruction's
    features have its statement vector, beside its tokens: an encoder pass for each distinct instruction of a graph.
    """

    joins: ClassVar[bool] = True  # sums are cut by slices of nodes alone
    kind: Literal["directed"] = "directed"
    layers: int = Field(2, ge=1, le=8)
    bases: int = Field(4, ge=1)
    positions: bool = True
    statements: bool = False

    @property
    def order(self) -> str:
        return "up to the fourth operand" if self.positions else "the graph encoder was made without positions"

    def add_shapes(self, shapes: Shapes, features: int, statement: int) -> None:
        width = self.hidden
        shapes["graph.kind.weight"] = (len(NodeKind), features)
        shapes["graph.argument.weight"] = (ARGUMENTS, features)
        shapes.norm("graph.norm_in", features)
        shapes.linear("graph.enter", features, width)
        if self.statements:
            shapes.norm("graph.norm_statement", statement)
            shapes.linear("graph.enter_statement", statement, width, bias=False)
        for layer in (f"graph.layers.{number}" for number in range(self.layers)):
            shapes.norm(f"{layer}.norm", width)
            shapes.linear(f"{layer}.own", width, width)
            shapes[f"{layer}.basis"] = (self.bases, width, width)
            shapes[f"{layer}.mix"] = (RELATIONS, self.bases)
            shapes.linear(f"{layer}.out", width, width)
        shapes.norm("graph.norm_out", width)
        shapes.linear("graph.leave", width, len(Flow) * self.out)

    def card(self, features: int) -> str:
        return f"directed,\n{features} -> {self.layers} layers of {self.hidden} -> {self.out}"
