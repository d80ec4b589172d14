"""The directed graph encoder: relations kept apart, residual layers, one projection a flow for the auto-encoder.

The paper's GCN (`mirenc.model.encoders.gcn`) takes edges without direction or position. Here a relation r is an edge's
flow and position: control edges to the first successor (the true branch) and to others are two relations, data edges of
operand 0, 1, 2 and later ones four, call edges one; each again for the way back. Each has a matrix of its own, mixed
from a few bases (Schlichtkrull et al. 2018, eq. 3), and a node takes the mean of its neighbours under each, so that a
vector does not depend on what else is in a batch:

    x    = LN(mean of the token embeddings of a node's text + kind embedding + argument number's embedding)  (N, H)
    s_0  = x W_in + b_in  [+ LN(statement vector) W_text of an instruction, where the model has ``statements``]  (N, d)
    u    = LN(s_l)
    s_l+1 = s_l + relu(u W_own + b_own + sum_r mean over N_r(i) of u_j W_r) W_out + b_out,   W_r = sum_b a_rb V_b
    Z_f  = LN(s_L) W_f + b_f,   Z = mean of Z_f over the flows
"""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from mirenc.model.graph import Flow, NodeKind
from mirenc.model.kinds import Array, Backend, Embedding, GraphKind, Layers, Linear, Norm, Weight

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
    """Relations kept apart, in both directions.

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

    def card(self, features: int) -> str:
        return f"directed,\n{features} -> {self.layers} layers of {self.hidden} -> {self.out}"

    def declare(self, features: int, statement: int) -> Layers:
        width = self.hidden
        layers: Layers = {
            "kind": Embedding(len(NodeKind), features),
            "argument": Embedding(ARGUMENTS, features),
            "norm_in": Norm(features),
            "enter": Linear(features, width),
        }
        if self.statements:
            layers |= {"norm_statement": Norm(statement), "enter_statement": Linear(statement, width, bias=False)}
        for layer in (f"layers.{number}" for number in range(self.layers)):
            layers |= {
                f"{layer}.norm": Norm(width),
                f"{layer}.own": Linear(width, width),
                f"{layer}.out": Linear(width, width),
                f"{layer}.basis": Weight((self.bases, width, width), std=width**-0.5),
                f"{layer}.mix": Weight((RELATIONS, self.bases), std=self.bases**-0.5),
            }
        # A node's product with itself is then 8: the auto-encoder starts neither far off nor at the saddle of zeros.
        leave = Linear(width, len(Flow) * self.out, std=(8 / (width * self.out)) ** 0.5)
        return layers | {"norm_out": Norm(width), "leave": leave}

    def first_states(
        self,
        backend: Backend,
        features: Array,
        kind: Array,
        argument: Array,
        statements: Callable[[Array | slice], Array] | None,
    ) -> Array:
        """s_0 of some nodes; argument numbers at most ARGUMENTS - 1. Shapes: (N, F), two (N,) -> (N, d).

        ``statements`` gives the statement vectors of some of the nodes. Shapes: (n,) -> (n, H)
        """
        x = features + backend.embedding("kind", kind)
        x = backend.add(x, backend.embedding("argument", argument))
        state = backend.linear("enter", backend.norm("norm_in", x))
        if not self.statements:
            return state
        assert statements is not None

        def statement_inputs(rows: Array | slice) -> Array:
            return backend.linear("enter_statement", backend.norm("norm_statement", statements(rows)))

        return backend.add_rows(state, kind == NodeKind.INSTRUCTION, statement_inputs)

    def next_states(self, backend: Backend, layer: str, state: Array, message: Array) -> Array:
        """s_l+1 from s_l and from what is in the brackets of relu. Shapes: two (N, d) -> (N, d)."""
        return backend.add(backend.linear(f"{layer}.out", backend.relu(message)), state)

    def node_vectors(self, backend: Backend, graph: Any, features: Array, statements: Array | None) -> list[Array]:
        argument, position = graph.node_argument, graph.edge_position
        if not self.positions:
            argument, position = argument * 0, position * 0
        forward = backend.constant(RELATION_OF)[graph.edge_flow, position.clip(max=LAST_POSITION)]
        relation = backend.concatenate([forward, forward + RELATIONS // 2])
        edges = backend.concatenate([graph.edge_index, graph.edge_index[[1, 0]]])
        neighbours = backend.neighbours(edges, relation, RELATIONS, features.shape[0])
        argument = argument.clip(max=ARGUMENTS - 1)
        rows = None if statements is None else statements.__getitem__
        state = self.first_states(backend, features, graph.node_kind, argument, rows)
        for layer in (f"layers.{number}" for number in range(self.layers)):
            u = backend.norm(f"{layer}.norm", state)
            mix, basis = backend.weight(f"{layer}.mix"), backend.weight(f"{layer}.basis")
            message = backend.relation_means(backend.linear(f"{layer}.own", u), u, neighbours, mix, basis)
            state = self.next_states(backend, layer, state, message)
        return backend.split(backend.linear("leave", backend.norm("norm_out", state)), len(Flow))
