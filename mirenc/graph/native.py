"""The native builder: an `IRModule`'s arrays to a `ProgramGraph`, all in numpy.

Rules: ProGraML 0.3.2 (its ``program_graph_builder.cc`` as released; the parity test checks against the binary). Nodes
come in this order: ``[external]``; instructions and declared functions in module order; one variable per use of an
instruction's result; one per used argument; constants.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

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
        Of the instructions' full texts (`mirenc.ir.statements`).
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
    arg_at = arg[arg_first]
    arg_function = inst_function[consumer[arg_at]]

    node_kind = np.zeros(count, dtype=np.int8)
    node_argument = np.zeros(count, dtype=np.int32)
    node_function = np.full(count, -1, dtype=np.int32)
    node_function[1 : 1 + int(nodes_of.sum())] = np.repeat(np.arange(len(nodes_of)), nodes_of)
    arguments = slice(count - len(const_keys) - len(arg_keys), count - len(const_keys))
    constants = slice(count - len(const_keys), count)
    node_kind[use_node] = node_kind[arguments] = NodeKind.VARIABLE
    node_kind[constants] = NodeKind.CONSTANT
    node_function[use_node] = inst_function[consumer[use]]
    node_function[arguments] = arg_function
    node_argument[arguments] = ref[arg_at] + 1

    # One table for statements, full texts and short ones, in this order: what a model reads comes first.
    text = _Texts(module, normalisation)
    full_row = np.zeros(count, dtype=np.int32)
    full_row[0] = text.table.row(EXTERNAL)
    if declared.any():
        full_row[function_node[declared]] = text.table.row(UNDEFINED_FUNCTION)
    full_row[inst_node] = text.statements.row[text.statements.first_instruction :]
    full_row[use_node] = text.variables(arrays.operand_type[use], ref[use])
    full_row[arguments] = text.arguments(arrays.operand_type[arg_at], arg_function, ref[arg_at])
    full_row[constants] = text.constants(const_keys)
    text_row = full_row.copy()  # [external] and declared functions have but one text
    text_row[inst_node] = text.opcodes()[arrays.form]
    types = text.types()
    text_row[use_node] = types[arrays.operand_type[use]]
    text_row[arguments] = types[arrays.operand_type[arg_at]]
    text_row[constants] = types[const_type]

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
        node_argument=node_argument,
        node_function=node_function,
        edge_index=edge_index,
        edge_flow=np.repeat(np.array(Flow, dtype=np.int8), counts),
        edge_position=np.concatenate([control.position, data_position, np.zeros(counts[2], np.int64)]).astype(np.int32),
        # Of the headers: `IRModule.functions` are views that hold the module, which then no count of references frees.
        functions=[header.name.strip('"') for header in module.headers],
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
    """Texts of nodes, in one table that begins with the module's statements."""

    def __init__(self, module: IRModule, normalisation: str) -> None:
        self.module = module
        self.statements = statements_of(module, normalisation)
        self.named = normalisation == "none"  # whether local names carry meaning
        self.table = TextTable(self.statements.texts)

    def _rows(self, texts: Iterable[str]) -> Int64:
        return np.array([self.table.row(text) for text in texts], dtype=np.int64)

    def opcodes(self) -> Int64:
        """Short text of each form."""
        return self._rows(form.opcode for form in self.module.forms)

    def types(self) -> Int64:
        """Short text of variables and constants of each type."""
        return self._rows(map(_short_type, self.module.types))

    def _unnamed(self, types: NDArray[np.int32], type_texts: list[str]) -> Int64:
        used, inverse = np.unique(types, return_inverse=True)
        return self._rows(f"{type_texts[row]} %" for row in used.tolist())[inverse]

    def variables(self, types: NDArray[np.int32], producers: Int64) -> Int64:
        """Full texts of results. ProGraML shortens the type of a result here, that of an argument not."""
        type_texts = [_short_type(text) for text in self.module.types]
        if not self.named:
            return self._unnamed(types, type_texts)
        names = (self.module.local_names(producer)[0] for producer in producers.tolist())
        return self._rows(f"{type_texts[row]} %{name}" for row, name in zip(types.tolist(), names, strict=True))

    def arguments(self, types: NDArray[np.int32], functions: Int64, numbers: Int64) -> Int64:
        """Full texts of arguments."""
        type_texts, headers = self.module.types, self.module.headers
        if not self.named:
            return self._unnamed(types, type_texts)
        of = zip(types.tolist(), functions.tolist(), numbers.tolist(), strict=True)
        return self._rows(
            f"{type_texts[row]} %{_printed(headers[function].arguments[number].name)}" for row, function, number in of
        )

    def constants(self, keys: Int64) -> Int64:
        """Full texts of constants, and of globals from ``len(constants)`` on: ProGraML prints their definitions."""
        module, first = self.module, len(self.module.constants)
        number = {global_name(line): row for row, line in enumerate(module.global_lines)}

        def text(key: int) -> str:
            if key >= first:
                return self.statements[self.statements.first_global + number[module.symbols[key - first]]]
            value = " ".join(module.constants[key])
            return value if self.named else hide_block_names(value)

        return self._rows(map(text, keys.tolist()))
