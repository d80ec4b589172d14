"""Program graphs: schema, builder and exports."""

from mirenc.model.graph.builder import build_graph
from mirenc.model.graph.schema import EXTERNAL, Flow, NodeKind, ProgramGraph

__all__ = ["EXTERNAL", "Flow", "NodeKind", "ProgramGraph", "build_graph"]
