"""A graph as DOT, JSON, numpy archive, NetworkX graph or PyG ``Data``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mirenc.errors import GraphError, IRFileError, MissingExtraError
from mirenc.graph.schema import Flow, NodeKind, ProgramGraph
from mirenc.writing import Target

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

__all__ = ["SUFFIXES", "check_path", "save_graph", "to_data", "to_dot", "to_json", "to_networkx"]

SUFFIXES = (".dot", ".json", ".npz")
_SHAPES = {NodeKind.INSTRUCTION: "box", NodeKind.VARIABLE: "ellipse", NodeKind.CONSTANT: "diamond"}
_COLOURS = {Flow.CONTROL: "#345bc4", Flow.DATA: "#c43434", Flow.CALL: "#2a8a3a"}
_LABEL_LENGTH = 48


def _rows(graph: ProgramGraph) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Nodes and edges as dictionaries."""
    texts = graph.texts
    nodes = [
        {
            "id": node,
            "kind": NodeKind(kind).name.lower(),
            "text": texts[short],
            "full_text": texts[full],
            "function": graph.functions[function] if function >= 0 else None,
        }
        for node, (kind, short, full, function) in enumerate(
            zip(
                graph.node_kind.tolist(),
                graph.node_text_row.tolist(),
                graph.node_full_text_row.tolist(),
                graph.node_function.tolist(),
                strict=True,
            )
        )
    ]
    edges = [
        {"source": source, "target": target, "flow": Flow(flow).name.lower(), "position": position}
        for source, target, flow, position in zip(
            *graph.edge_index.tolist(),
            graph.edge_flow.tolist(),
            graph.edge_position.tolist(),
            strict=True,
        )
    ]
    return nodes, edges


def to_json(graph: ProgramGraph) -> str:
    """Node-link JSON: ``functions``, ``nodes`` (id, kind, text, ...), ``edges`` (source, target, flow, position)."""
    nodes, edges = _rows(graph)
    return json.dumps({"functions": graph.functions, "nodes": nodes, "edges": edges}, indent=1)


def to_dot(graph: ProgramGraph) -> str:
    """Graphviz: boxes are instructions, ellipses variables, diamonds constants; blue control, red data, green call."""
    lines = ["digraph program {", '  node [fontname="monospace", fontsize=10];']
    nodes, edges = _rows(graph)
    for row, kind in zip(nodes, graph.node_kind.tolist(), strict=True):
        label = row["full_text"]
        if len(label) > _LABEL_LENGTH:
            label = label[: _LABEL_LENGTH - 3] + "..."
        label = label.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  n{row["id"]} [label="{label}", shape={_SHAPES[NodeKind(kind)]}];')
    for row, flow in zip(edges, graph.edge_flow.tolist(), strict=True):
        position = f', label="{row["position"]}"' if row["position"] else ""
        lines.append(f'  n{row["source"]} -> n{row["target"]} [color="{_COLOURS[Flow(flow)]}"{position}];')
    lines.append("}")
    return "\n".join(lines) + "\n"


def to_networkx(graph: ProgramGraph) -> nx.MultiDiGraph:
    """A ``MultiDiGraph``; node and edge attributes are those of `to_json`.

    Raises
    ------
    MissingExtraError
        networkx is not installed.
    """
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtraError("to_networkx needs networkx. Type: pip install 'mirenc[graph]'") from None
    out = nx.MultiDiGraph()
    nodes, edges = _rows(graph)
    out.add_nodes_from((row.pop("id"), row) for row in nodes)
    out.add_edges_from((row.pop("source"), row.pop("target"), row) for row in edges)
    return out


def to_data(graph: ProgramGraph) -> Data:
    """A PyG ``Data``: edge_index (2, E), edge_flow, edge_position, node_kind, node_text_row.

    Raises
    ------
    MissingExtraError
        torch or torch-geometric is not installed.
    """
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError:
        raise MissingExtraError("to_data needs torch and torch-geometric. Type: pip install 'mirenc[train]'") from None
    return Data(
        num_nodes=graph.node_count,
        edge_index=torch.from_numpy(graph.edge_index.astype(np.int64)),
        edge_flow=torch.from_numpy(graph.edge_flow),
        edge_position=torch.from_numpy(graph.edge_position),
        node_kind=torch.from_numpy(graph.node_kind),
        node_text_row=torch.from_numpy(graph.node_text_row),
    )


def check_path(path: str | os.PathLike[str]) -> None:
    """Refuse an output path before any work is done.

    Raises
    ------
    GraphError
        Unknown suffix.
    IRFileError
        The folder does not exist, or a folder has the file's name.
    """
    suffix = Path(path).suffix
    if suffix == ".pt":
        raise GraphError(
            f"graph output {os.fspath(path)!r}: .pt is a pickle, which runs code when it is read. Write .npz, or make "
            "PyG's Data in Python: mirenc.graph.export.to_data(graph)"
        )
    if suffix not in SUFFIXES:
        raise GraphError(
            f"graph output {os.fspath(path)!r}: unknown suffix {suffix!r}; available: {', '.join(SUFFIXES)}"
        )
    if not Path(path).parent.is_dir():
        raise IRFileError(f"output folder {Path(path).parent} does not exist. Type: mkdir -p {Path(path).parent}")
    if os.path.isdir(path):
        raise IRFileError(f"output {os.fspath(path)} is a folder. Name a file in it")


def save_graph(graph: ProgramGraph, path: str | os.PathLike[str]) -> None:
    """Write a graph; the suffix says how: ``.dot``, ``.json`` or ``.npz`` (the arrays).

    Raises
    ------
    As `check_path`.
    """
    check_path(path)
    target = Target(path)
    try:
        _write(graph, target.part, Path(path).suffix)
        target.deliver()
    except OSError as error:
        raise IRFileError(f"cannot write {os.fspath(path)}: {error}. Free some space or name another file") from None
    finally:
        target.discard()


def _write(graph: ProgramGraph, part: Path, suffix: str) -> None:
    if suffix == ".npz":
        with part.open("wb") as stream:
            np.savez_compressed(
                stream,
                texts=np.array(graph.texts, dtype=np.str_),
                functions=np.array(graph.functions, dtype=np.str_),
                node_text_row=graph.node_text_row,
                node_full_text_row=graph.node_full_text_row,
                node_kind=graph.node_kind,
                node_function=graph.node_function,
                edge_index=graph.edge_index,
                edge_flow=graph.edge_flow,
                edge_position=graph.edge_position,
                instruction_node=graph.instruction_node,
            )
    else:
        part.write_text(to_dot(graph) if suffix == ".dot" else to_json(graph) + "\n", encoding="utf-8")
