"""Whether a graph obeys the rules that `mirenc.model.graph.schema` states."""

from mirenc.base.errors import GraphError
from mirenc.model.graph import Flow, NodeKind, ProgramGraph
from mirenc.model.graph.schema import EXTERNAL


def check_rules(graph: ProgramGraph) -> None:
    """Check the rules of `mirenc.model.graph.schema`; GraphError names the first rule that is broken, and where."""
    n, e = graph.node_count, graph.edge_count
    nodes = dict.fromkeys(("node_text_row", "node_full_text_row", "node_argument", "node_function"), (n,))
    for name, shape in (nodes | {"edge_position": (e,), "edge_index": (2, e)}).items():
        if getattr(graph, name).shape != shape:
            raise GraphError(f"{name} has shape {getattr(graph, name).shape}, needs {shape}")
    ranges = dict.fromkeys(("node_text_row", "node_full_text_row"), (0, len(graph.texts)))
    ranges |= {"node_kind": (0, len(NodeKind)), "node_function": (-1, len(graph.functions))}
    ranges |= {"edge_index": (0, n), "edge_flow": (0, len(Flow)), "instruction_node": (0, n)}
    for name, (first, limit) in ranges.items():
        column = getattr(graph, name)
        if column.size and (column.min() < first or column.max() >= limit):
            raise GraphError(f"{name} has values outside {first}..{limit - 1}")
    if n == 0 or graph.node_kind[0] or graph.texts[graph.node_text_row[0]] != EXTERNAL:
        raise GraphError(f"node 0 must be the instruction node {EXTERNAL!r}")
    control, data, call = (graph.edge_flow == flow for flow in Flow)
    instructions = (graph.node_kind == NodeKind.INSTRUCTION)[graph.edge_index].sum(axis=0)  # at an edge's two ends
    source, target = graph.node_function[graph.edge_index]
    for broken, rule in (
        (control & (instructions < 2), "a control edge must join two instruction nodes"),
        (call & (instructions < 2), "a call edge must join two instruction nodes"),
        (data & (instructions != 1), "a data edge must join an instruction node with a variable or constant node"),
        (control & (source != target), "a control edge must stay in one function"),
        (graph.edge_position < 0, "edge_position must not be negative"),
    ):
        if broken.any():
            raise GraphError(f"{rule}; {int(broken.sum())} edges break this")
