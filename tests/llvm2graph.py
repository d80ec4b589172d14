"""ProGraML's own program, ``llvm2graph-10`` of the programl 0.3.2 wheel, whose Python package is not imported.

The native builder is compared with it (`programl_parity`).
"""

import base64
import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from graph_rules import check_rules

from mirenc.llvm.ir.module import Rows
from mirenc.llvm.ir.statements import UNDEFINED_FUNCTION
from mirenc.model.graph.schema import Flow, NodeKind, ProgramGraph

_TIMEOUT = 600.0  # seconds; the program may take a hundred times as long as LLVM takes to parse


class ProgramlError(Exception):
    """The program is missing, cannot be started, or refuses the IR."""


def find_programl() -> Path:
    """Path of the installed ``llvm2graph-10``."""
    spec = importlib.util.find_spec("programl")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        program = Path(folder, "bin", "llvm2graph-10")
        if program.is_file():
            return program
    raise ProgramlError("not installed. Type: pip install --no-deps programl==0.3.2 (x86-64 Linux)")


def build_programl(ir: str | bytes) -> ProgramGraph:
    """Build the graph of a module with ProGraML's released program; nodes and edges come in its order.

    A node without a full text has its short text there. Raises ProgramlError.
    """
    data = ir.encode("utf-8", "surrogateescape") if isinstance(ir, str) else ir
    command = [find_programl(), "--stdout_fmt=json", "-"]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=_TIMEOUT, check=False)
    except OSError as error:  # of another machine
        raise ProgramlError(str(error)) from None
    if done.returncode or not done.stdout:
        printed = done.stderr.decode(errors="replace").strip()
        raise ProgramlError(f"llvm2graph-10 cannot be started: {printed}" if "shared librar" in printed else printed)
    return _graph(json.loads(done.stdout))


def _full_text(node: dict[str, Any]) -> str:
    features = node.get("features", {}).get("feature", {})
    if "full_text" not in features:
        return str(node["text"])
    value = features["full_text"]["bytes_list"]["value"][0]
    return base64.b64decode(value).decode("utf-8", "surrogateescape") or str(node["text"])


def _graph(answer: dict[str, Any]) -> ProgramGraph:
    """ProGraML's JSON (protobuf's: whatever has its default value is left out) as arrays."""
    nodes, edges = answer["node"], answer.get("edge", [])
    table = Rows[str]()
    text_row = np.array([table[node["text"]] for node in nodes], dtype=np.int32)
    full_row = np.array([table[_full_text(node)] for node in nodes], dtype=np.int32)
    kind = np.array([NodeKind[node.get("type", "INSTRUCTION")] for node in nodes], dtype=np.int8)
    # Left out means function 0 in protobuf, also where a node is in no function.
    function = np.array([node.get("function", 0) for node in nodes], dtype=np.int32)
    function[kind == NodeKind.CONSTANT] = -1
    function[0] = -1
    functions = [each["name"] for each in answer.get("function", [])]
    # Neither `[external]` nor the node of a declared function is an instruction of the module.
    instruction = kind == NodeKind.INSTRUCTION
    instruction[[row for row, node in enumerate(nodes) if node["text"] == UNDEFINED_FUNCTION]] = False
    instruction[0] = False
    rows = np.flatnonzero(instruction)
    index = np.array([[edge.get(end, 0) for edge in edges] for end in ("source", "target")], dtype=np.int32)
    flow = np.array([Flow[edge.get("flow", "CONTROL")] for edge in edges], dtype=np.int8)
    position = np.array([edge.get("position", 0) for edge in edges], dtype=np.int32)
    instruction_node = rows[np.argsort(function[rows], kind="stable")].astype(np.int32)
    columns = list(table), text_row, full_row, kind, np.zeros(len(nodes), dtype=np.int32), function
    graph = ProgramGraph(*columns, index, flow, position, functions, instruction_node)
    check_rules(graph)
    return graph
