"""The paper's graph encoder: a GCN run on each of the three flows (section 3.3)."""

from typing import ClassVar, Literal

from mirenc.model.graph import NodeKind
from mirenc.model.kinds import GraphKind, Shapes


class GraphEncoderConfig(GraphKind):
    """GCN over the three flows (paper section 3.3)."""

    positions: ClassVar[bool] = False
    statements: ClassVar[bool] = False
    order: ClassVar[str] = "the GCN takes edges without position or direction"
    kind: Literal["gcn"] = "gcn"

    def add_shapes(self, shapes: Shapes, features: int, statement: int) -> None:
        shapes["graph.kind.weight"] = (len(NodeKind), features)
        shapes.norm("graph.norm_in", features)
        for name, inputs, outputs in (("conv1", features, self.hidden), ("conv2", self.hidden, self.out)):
            shapes[f"graph.{name}.lin.weight"] = (outputs, inputs)
            shapes[f"graph.{name}.bias"] = (outputs,)

    def card(self, features: int) -> str:
        return f"GCN\n{features} -> {self.hidden} -> {self.out}"
