"""ProGraML's own program, ``llvm2graph-10`` of the programl 0.3.2 wheel, whose Python package is not imported.

The native builder is compared with it (`programl_parity`).
"""

import base64
import importlib.util
import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from graph_rules import check_rules

from mirenc.base.errors import GraphError, IRResourceError, MissingExtraError, ToolchainError
from mirenc.base.run_program import memory_advice, run_limited, without_memory
from mirenc.llvm.child.parsing_worker import DEFAULT_MEMORY_LIMIT
from mirenc.llvm.ir.module import Rows
from mirenc.llvm.ir.statements import UNDEFINED_FUNCTION
from mirenc.model.graph.schema import Flow, NodeKind, ProgramGraph

_TIMEOUT = 600.0  # seconds; the program may take a hundred times as long as LLVM takes to parse
_INSTALL = "pip install --no-deps programl==0.3.2"
_MISSING_LIBRARY = re.compile(r"error while loading shared libraries: ([^:\s]+)")
# It logs `E 2026-01-31 12:00:00 [programl/bin/llvm2graph.cc:142] 1:14: error: expected type`.
_LOG_HEAD = re.compile(r"^[A-Z] [-\d]+ [:\d]+ \[[^\]]*\] ", re.MULTILINE)
_PLACE = re.compile(r"^(\d+):(\d+): error: (.*)$", re.MULTILINE)


def find_programl() -> Path:
    """Path of the installed ``llvm2graph-10``; MissingExtraError where the wheel is not installed, or holds none."""
    spec = importlib.util.find_spec("programl")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        program = Path(folder, "bin", "llvm2graph-10")
        if program.is_file():
            return program
    raise MissingExtraError(
        f"llvm2graph-10 of the programl 0.3.2 wheel is not installed. Type: {_INSTALL} (x86-64 Linux)"
    )


def build_programl(
    ir: str | bytes, *, name: str = "<string>", timeout: float | None = None, memory_limit: int | None = None
) -> ProgramGraph:
    """Build the graph of a module with ProGraML's released program; messages call the module ``name``.

    The program may take ``timeout`` seconds, 600 by default, and ``memory_limit`` bytes of address space, 8 GiB by
    default. Nodes and edges come in its order; a node without a full text has its short text there. Raises
    MissingExtraError or ToolchainError: it is not installed or cannot be started; IRResourceError: it ran out of
    memory; GraphError: LLVM 10 refuses the IR, or the program died or took too long.
    """
    given = ir.encode("utf-8", "surrogateescape") if isinstance(ir, str) else ir
    data = _run(given, name, timeout or _TIMEOUT, memory_limit or DEFAULT_MEMORY_LIMIT)
    try:
        return _graph(json.loads(data))
    except GraphError:
        raise
    except (KeyError, ValueError) as error:
        what = f"{name}: llvm2graph-10 gave something that is no program graph ({error!r})"
        raise GraphError(f"{what}. Type: {_INSTALL}") from error


def _run(data: bytes, name: str, timeout: float, memory_limit: int) -> bytes:
    """What the program writes to standard output: a graph as JSON."""
    program = find_programl()
    command = [str(program), "--stdout_fmt=json", "-"]
    try:
        done = run_limited(command, timeout=timeout, memory_limit=memory_limit, data=data)
    except subprocess.TimeoutExpired:
        late = f"{name}: llvm2graph-10 did not finish within {timeout:g} s"
        raise GraphError(f"{late}. Raise timeout=") from None
    except OSError as error:
        what = f"{program} cannot be started ({error.strerror})"
        raise ToolchainError(f"{what}. It is a program for x86-64 Linux") from None
    words = _LOG_HEAD.sub("", done.words).strip()
    if done.code and without_memory(words):
        raise IRResourceError(f"{name}: llvm2graph-10 ran out of memory {memory_advice(memory_limit)}")
    if missing := _MISSING_LIBRARY.search(words):
        is_tinfo = missing[1].startswith("libtinfo.")
        remedy = "Debian package libtinfo5 (`apt-get install libtinfo5`)" if is_tinfo else "package"
        raise ToolchainError(
            f"llvm2graph-10 cannot be started: the shared library {missing[1]} is missing. "
            f"Install the {remedy} that holds it"
        )
    first = words.splitlines()[0] if words else "no reason given"
    if done.code < 0:
        died = f"llvm2graph-10 died of {signal.Signals(-done.code).name} on this module"
        raise GraphError(f"{name}: {died}: {first}")
    if done.code or not done.output:
        place = _PLACE.search(words)
        what = f"line {place[1]}, column {place[2]}: {place[3]}" if place else first
        raise GraphError(
            f"{name}: LLVM 10 refuses it: {what}. Give IR with typed pointers (`i32*`) that LLVM 10 or older wrote"
        )
    return done.output


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
