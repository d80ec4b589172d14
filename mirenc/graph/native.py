"""The native builder: an `IRModule`'s arrays to a `ProgramGraph`, all in numpy.

Rules: ProGraML 0.3.2 (its ``program_graph_builder.cc`` as released; checked against the binary by the parity
test). Nodes
come in this order: ``[external]``; instructions and declared functions in module order; one variable per use of an
instruction's result; one per used argument; constants.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from mirenc.graph.schema import EXTERNAL, Flow, NodeKind, ProgramGraph
from mirenc.ir.module import IRModule, OperandKind, TextTable, global_name
from mirenc.ir.statements import UNDEFINED_FUNCTION, hide_block_names, statements_of

__all__ = ["build_native"]

_PLAIN_NAME = re.compile(r"[-a-zA-Z$._0-9]+")
Int64 = NDArray[np.int64]


def build_native(module: IRModule, *, normalisation: str = "locals") -> ProgramGraph:
    """Build the graph of a module.

    Parameters
    ----------
    module : IRModule
    normalisation : str
        Level of the instructions' full texts (`mirenc.ir.statements`).
    """
    arrays = module.arrays
    declared = np.array([header.is_declaration for header in module.headers], dtype=bool)
    first = np.array([header.first for header in module.headers], dtype=np.int64)
    size = np.array([header.last - header.first for header in module.headers], dtype=np.int64)
    # Instructions and declarations in module order, after node 0.
    nodes_of: Int64 = np.where(declared, 1, size)
    function_node = 1 + np.cumsum(nodes_of) - nodes_of
    inst_function = arrays.function.astype(np.int64)
    inst_count = module.instruction_count
    inst_node = np.arange(inst_count) - first[inst_function] + function_node[inst_function]
    base = 1 + int(nodes_of.sum())

    kind = arrays.operand_kind
    operand_start = arrays.operand_start.astype(np.int64)
    per_inst = operand_start[1:] - operand_start[:-1]
    consumer = np.repeat(np.arange(inst_count), per_inst)
    position = np.arange(len(kind)) - np.repeat(operand_start[:-1], per_inst)
    ref = arrays.operand_ref.astype(np.int64)

    # Variables: one node per use of an instruction's result.
    use = np.flatnonzero(kind == OperandKind.INSTRUCTION)
    use_node = base + np.arange(len(use))
    base += len(use)
    # Arguments: one node per used argument of a function.
    arg = np.flatnonzero(kind == OperandKind.ARGUMENT)
    arg_key = (inst_function[consumer[arg]] << 32) | ref[arg]
    arg_keys, arg_first, arg_row = np.unique(arg_key, return_index=True, return_inverse=True)
    arg_node = base + arg_row
    base += len(arg_keys)
    # Constants: one node per distinct constant or global.
    const = np.flatnonzero((kind == OperandKind.CONSTANT) | (kind == OperandKind.GLOBAL))
    is_global = kind[const] == OperandKind.GLOBAL
    const_keys, const_first, const_row = np.unique(
        ref[const] + np.where(is_global, len(module.constants), 0),
        return_index=True,
        return_inverse=True,
    )
    const_type = arrays.operand_type[const[const_first]]
    const_node = base + const_row
    count = base + len(const_keys)

    text = _Texts(module, normalisation)
    text_row = np.zeros(count, dtype=np.int32)
    full_row = np.zeros(count, dtype=np.int32)
    node_kind = np.zeros(count, dtype=np.int8)
    node_function = np.full(count, -1, dtype=np.int32)

    text_row[0] = full_row[0] = text.table.row(EXTERNAL)
    undefined = text.table.row(UNDEFINED_FUNCTION)
    text_row[function_node[declared]] = full_row[function_node[declared]] = undefined
    node_function[1 : 1 + int(nodes_of.sum())] = np.repeat(np.arange(len(nodes_of)), nodes_of)
    text_row[inst_node] = text.opcodes()[arrays.form]
    full_row[inst_node] = text.statements()

    node_kind[use_node] = NodeKind.VARIABLE
    node_function[use_node] = inst_function[consumer[use]]
    text_row[use_node], full_row[use_node] = text.variables(arrays.operand_type[use], ref[use])
    arg_at = arg[arg_first]
    arg_ids = count - len(const_keys) - len(arg_keys) + np.arange(len(arg_keys))
    node_kind[arg_ids] = NodeKind.VARIABLE
    node_function[arg_ids] = inst_function[consumer[arg_at]]
    text_row[arg_ids], full_row[arg_ids] = text.arguments(
        arrays.operand_type[arg_at], inst_function[consumer[arg_at]], ref[arg_at]
    )
    node_kind[count - len(const_keys) :] = NodeKind.CONSTANT
    for node, (key, type_row) in enumerate(
        zip(const_keys.tolist(), const_type.tolist(), strict=True), start=count - len(const_keys)
    ):
        text_row[node], full_row[node] = text.constant(key, module.types[type_row])

    control = _control_edges(module, inst_node)
    data_source = np.concatenate([use_node, arg_node, const_node, inst_node[ref[use]]])
    data_target = np.concatenate(
        [inst_node[consumer[use]], inst_node[consumer[arg]], inst_node[consumer[const]], use_node]
    )
    data_position = np.concatenate([position[use], position[arg], position[const], np.zeros(len(use), np.int64)])
    call = _call_edges(module, inst_node, function_node, control.exits)
    edge_index = np.concatenate([control.index, np.stack([data_source, data_target]), call], axis=1).astype(np.int32)
    counts = (control.index.shape[1], len(data_source), call.shape[1])
    return ProgramGraph(
        texts=text.table.texts,
        node_text_row=text_row,
        node_full_text_row=full_row,
        node_kind=node_kind,
        node_function=node_function,
        edge_index=edge_index,
        edge_flow=np.repeat(np.array(Flow, dtype=np.int8), counts),
        edge_position=np.concatenate([control.position, data_position, np.zeros(counts[2], np.int64)]).astype(np.int32),
        functions=[function.name for function in module.functions],
        instruction_node=inst_node.astype(np.int32),
    )


class _Control:
    """Control edges, and the instructions at which each function is left."""

    def __init__(self, index: Int64, position: Int64, exits: list[list[int]]) -> None:
        self.index = index
        self.position = position
        self.exits = exits


def _control_edges(module: IRModule, inst_node: Int64) -> _Control:
    """Edges between neighbours of a block, and from reachable terminators to their successors.

    ProGraML walks a function from its entry, so a terminator that cannot be reached has neither successors nor counts
    as an exit.
    """
    arrays = module.arrays
    block = arrays.block
    inside = np.flatnonzero(block[1:] == block[:-1])
    starts = arrays.block_start.tolist()
    succ_start = arrays.successor_start.tolist()
    successors = arrays.successor.tolist()
    source: list[int] = []
    target: list[int] = []
    position: list[int] = []
    exits: list[list[int]] = []
    reached = bytearray(module.block_count)
    for header in module.headers:
        leaves: list[int] = []
        if not header.is_declaration:
            queue = [header.first_block]
            reached[header.first_block] = 1
            for current in queue:  # grows while it is read: breadth first
                last = starts[current + 1] - 1
                nexts = successors[succ_start[current] : succ_start[current + 1]]
                for number, successor in enumerate(nexts):
                    source.append(last)
                    target.append(starts[successor])
                    position.append(number)
                    if not reached[successor]:
                        reached[successor] = 1
                        queue.append(successor)
                if not nexts:
                    leaves.append(last)
        exits.append(leaves)
    jump = inst_node[np.array([source, target], dtype=np.int64).reshape(2, -1)]
    straight = np.stack([inst_node[inside], inst_node[inside + 1]])
    return _Control(
        np.concatenate([straight, jump], axis=1),
        np.concatenate([np.zeros(len(inside), np.int64), np.array(position, dtype=np.int64)]),
        exits,
    )


def _call_edges(module: IRModule, inst_node: Int64, function_node: Int64, exits: list[list[int]]) -> Int64:
    """``[external]`` <-> every function, and each direct call site <-> its callee."""
    rows = {"@" + header.name: index for index, header in enumerate(module.headers)}
    # A declared function's node is its own entry and exit.
    exit_nodes = [
        [int(function_node[index])] if header.is_declaration else [int(inst_node[leaf]) for leaf in exits[index]]
        for index, header in enumerate(module.headers)
    ]
    edges: list[tuple[int, int]] = []
    for index in range(len(module.headers)):
        edges.append((0, int(function_node[index])))
        edges += [(leaf, 0) for leaf in exit_nodes[index]]
    # ProGraML asks for CallInst, so invoke and callbr are no call sites.
    is_call = np.array([form.opcode == "call" for form in module.forms], dtype=bool)
    sites = np.flatnonzero((module.arrays.callee >= 0) & is_call[module.arrays.form])
    for site, symbol in zip(inst_node[sites].tolist(), module.arrays.callee[sites].tolist(), strict=True):
        callee = rows[module.symbols[symbol]]
        edges.append((site, int(function_node[callee])))
        edges += [(leaf, site) for leaf in exit_nodes[callee]]
    return np.array(edges, dtype=np.int64).reshape(-1, 2).T


def _short_type(type_text: str) -> str:
    """ProGraML's text of a type: every struct is ``struct``."""
    return "struct" if type_text.startswith(("{", "%", "<{")) else type_text


def _printed(name: str) -> str:
    """A local name as LLVM prints it."""
    return name if _PLAIN_NAME.fullmatch(name) else f'"{name}"'


class _Texts:
    """Texts of nodes; one table for short and full ones."""

    def __init__(self, module: IRModule, normalisation: str) -> None:
        self.module = module
        self.normalisation = normalisation
        self.table = TextTable()
        self.globals = {global_name(line): row for row, line in enumerate(module.global_lines)}
        self._statements = statements_of(module, normalisation)

    def opcodes(self) -> NDArray[np.int32]:
        return np.array([self.table.row(form.opcode) for form in self.module.forms], dtype=np.int32)

    def statements(self) -> NDArray[np.int32]:
        statements = self._statements
        used, inverse = np.unique(statements.row[statements.first_instruction :], return_inverse=True)
        rows = [self.table.row(statements.texts[row]) for row in used.tolist()]
        return np.array(rows, dtype=np.int32)[inverse]

    def _named(self, types: NDArray[np.int32], names: list[str] | None, type_texts: list[str]) -> tuple[Int64, Int64]:
        """Rows of short and full texts of variables; ``names`` are None where they carry no meaning."""
        table = self.table
        short = np.array([table.row(_short_type(text)) for text in type_texts], dtype=np.int64)
        if names is None:
            full = np.array([table.row(f"{text} %") for text in type_texts], dtype=np.int64)
            return short[types], full[types]
        full = np.array(
            [
                table.row(f"{type_texts[type_row]} %{name}")
                for type_row, name in zip(types.tolist(), names, strict=True)
            ],
            dtype=np.int64,
        )
        return short[types], full

    def variables(self, types: NDArray[np.int32], producers: Int64) -> tuple[Int64, Int64]:
        names = None
        if self.normalisation == "none":
            names = [self.module.local_names(producer)[0] for producer in producers.tolist()]
        # ProGraML shortens the type of a result in its full text, that of an argument not.
        return self._named(types, names, [_short_type(text) for text in self.module.types])

    def arguments(self, types: NDArray[np.int32], functions: Int64, numbers: Int64) -> tuple[Int64, Int64]:
        names = None
        if self.normalisation == "none":
            names = [
                _printed(self.module.headers[function].arguments[number].name)
                for function, number in zip(functions.tolist(), numbers.tolist(), strict=True)
            ]
        return self._named(types, names, self.module.types)

    def constant(self, key: int, type_text: str) -> tuple[int, int]:
        """Rows of short and full text of a constant, or of a global from ``len(constants)`` on."""
        module = self.module
        short = self.table.row(_short_type(type_text))
        if key < len(module.constants):
            text = " ".join(module.constants[key])
            return short, self.table.row(hide_block_names(text) if self.normalisation == "locals" else text)
        # ProGraML prints a global as its definition.
        row = self.globals[module.symbols[key - len(module.constants)]]
        return short, self.table.row(self._statements[self._statements.first_global + row])
