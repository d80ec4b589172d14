"""A graph as DOT, JSON or numpy archive; PyG's ``Data`` is made of a sample (`mirenc.model.sample`)."""

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import padded
from mirenc.base.errors import GraphError
from mirenc.base.writing import check_output, delivered, refused
from mirenc.model.graph.schema import Flow, NodeKind, ProgramGraph

SUFFIXES = (".dot", ".json", ".npz")
_SHAPES = {"instruction": "box", "variable": "ellipse", "constant": "diamond"}
_COLOURS = {"control": "#345bc4", "data": "#c43434", "call": "#2a8a3a"}
_LABEL_LENGTH = 48


def _rows(graph: ProgramGraph) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    columns = (graph.node_kind, graph.node_text_row, graph.node_full_text_row, graph.node_function)
    nodes = [
        {
            "id": node,
            "kind": NodeKind(kind).name.lower(),
            "text": graph.texts[short],
            "full_text": graph.texts[full],
            "function": graph.functions[function] if function >= 0 else None,
        }
        for node, (kind, short, full, function) in enumerate(zip(*(column.tolist() for column in columns), strict=True))
    ]
    columns = (*graph.edge_index, graph.edge_flow, graph.edge_position)
    edges = [
        {"source": source, "target": target, "flow": Flow(flow).name.lower(), "position": position}
        for source, target, flow, position in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return nodes, edges


def to_json(graph: ProgramGraph) -> str:
    """Node-link JSON: ``functions``, ``call_edges_left_out``, and lists of objects.

    ``nodes`` have id, kind, text, full_text and function, ``edges`` source, target, flow and position.
    """
    nodes, edges = _rows(graph)
    header = {"functions": graph.functions, "call_edges_left_out": graph.call_edges_left_out}
    return json.dumps({**header, "nodes": nodes, "edges": edges}, indent=1)


def to_dot(graph: ProgramGraph) -> str:
    """Graphviz: boxes are instructions, ellipses variables, diamonds constants; blue control, red data, green call."""
    lines = ["digraph program {", '  node [fontname="monospace", fontsize=10];']
    nodes, edges = _rows(graph)
    for row in nodes:
        label = row["full_text"]
        if len(label) > _LABEL_LENGTH:
            label = label[: _LABEL_LENGTH - 3] + "..."
        label = label.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  n{row["id"]} [label="{label}", shape={_SHAPES[row["kind"]]}];')
    for row in edges:
        position = f', label="{row["position"]}"' if row["position"] else ""
        lines.append(f'  n{row["source"]} -> n{row["target"]} [color="{_COLOURS[row["flow"]]}"{position}];')
    lines.append("}")
    return "\n".join(lines) + "\n"


def check_path(path: str | os.PathLike[str]) -> None:
    """Refuse a path before any work. GraphError: unknown suffix; IRFileError: not in a folder, or it is a folder."""
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        problem = f"unknown suffix {suffix!r}; available: {', '.join(SUFFIXES)}"
        if suffix == ".pt":
            pickle = ".pt is a pickle, which runs code when it is read"
            problem = f"{pickle}. Write .npz; for PyG, mirenc.model.data.sample_data makes its Data in Python"
        raise GraphError(f"graph output {os.fspath(path)!r}: {problem}")
    check_output(path)


def save_graph(graph: ProgramGraph, path: str | os.PathLike[str]) -> None:
    """Write a graph as the suffix says: ``.dot``, ``.json``, or ``.npz``: the arrays, texts as `padded` has them.

    Raises as `check_path`.
    """
    check_path(path)
    suffix = Path(path).suffix
    with refused(path), delivered(path) as part:
        if suffix != ".npz":
            part.write_text(to_dot(graph) if suffix == ".dot" else to_json(graph) + "\n", encoding="utf-8")
            return
        arrays: dict[str, Any] = {field.name: getattr(graph, field.name) for field in fields(graph)}
        arrays |= padded({"texts": graph.texts, "functions": graph.functions})
        with part.open("wb") as stream:
            np.savez_compressed(stream, **arrays)
