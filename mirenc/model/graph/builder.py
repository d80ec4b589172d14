"""The native builder: an `IRModule`'s arrays to a `ProgramGraph`, by ProGraML 0.3.2's ``program_graph_builder.cc``.

Nodes come in this order: ``[external]``; instructions and declared functions in module order; one variable per use of
an instruction's result; one per used argument; constants.
"""

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable

import numpy as np

from mirenc.base.arrays import Int32, Int64, spread, starts
from mirenc.llvm.ir.module import IRModule, OperandKind, Rows, global_name
from mirenc.llvm.ir.read import parse_ir
from mirenc.llvm.ir.statements import UNDEFINED_FUNCTION, hide_block_names, statements_of
from mirenc.model.graph.schema import EXTERNAL, Flow, NodeKind, ProgramGraph

# Edges from exits back to call sites, a node: 0.4 was the most in 255 modules of 15 Debian packages at -O0 and -O2.
MOST_RETURNS = 8
_PLAIN_NAME = re.compile(r"[-a-zA-Z$._0-9]+")


def build_graph(ir: IRModule | str | bytes, *, normalisation: str = "locals") -> ProgramGraph:
    """Build a module's graph in ProGraML's schema, from a module, or IR as text or bitcode.

    ``normalisation``, ``none`` or ``locals``, is of the instructions' full texts. Raises for text or bitcode as
    `mirenc.llvm.parse_ir`.
    """
    module = ir if isinstance(ir, IRModule) else parse_ir(ir)
    arrays = module.arrays
    nodes = _Nodes(module)
    kind, ref = arrays.operand_kind, arrays.operand_ref.astype(np.int64)  # (P,)
    operand_start = arrays.operand_start.astype(np.int64)
    per_inst = np.diff(operand_start)
    consumer = np.repeat(np.arange(module.instruction_count), per_inst)  # (P,) instruction that has each operand
    position = np.arange(len(kind)) - np.repeat(operand_start[:-1], per_inst)
    base = 1 + nodes.count

    # Variables: one node per use of an instruction's result.
    use = np.flatnonzero(kind == OperandKind.INSTRUCTION)
    use_node = base + np.arange(len(use))
    base += len(use)
    # Arguments: one node per used argument of a function.
    arg = np.flatnonzero(kind == OperandKind.ARGUMENT)
    arg_key = (nodes.inst_function[consumer[arg]] << 32) | ref[arg]
    arg_keys, arg_first, arg_row = np.unique(arg_key, return_index=True, return_inverse=True)
    arg_node = base + arg_row
    arguments = slice(base, base + len(arg_keys))
    base = arguments.stop
    # Constants: one node per distinct constant or global.
    const = np.flatnonzero((kind == OperandKind.CONSTANT) | (kind == OperandKind.GLOBAL))
    const_key = ref[const] + np.where(kind[const] == OperandKind.GLOBAL, len(module.constants), 0)
    const_keys, const_first, const_row = np.unique(const_key, return_index=True, return_inverse=True)
    const_node = base + const_row
    constants = slice(base, base + len(const_keys))
    arg_use = arg[arg_first]
    arg_function = nodes.inst_function[consumer[arg_use]]

    count = constants.stop
    node_kind = np.zeros(count, dtype=np.int8)
    node_kind[use_node] = node_kind[arguments] = NodeKind.VARIABLE
    node_kind[constants] = NodeKind.CONSTANT
    node_argument = np.zeros(count, dtype=np.int32)
    node_argument[arguments] = ref[arg_use] + 1
    node_function = np.full(count, -1, dtype=np.int32)
    node_function[1 : 1 + nodes.count] = nodes.function
    node_function[use_node] = nodes.inst_function[consumer[use]]
    node_function[arguments] = arg_function

    # One table for statements, full texts and short ones, in this order: what a model reads comes first.
    text = _Texts(module, normalisation)
    full_row = np.zeros(count, dtype=np.int32)
    full_row[0] = text.table[EXTERNAL]
    if nodes.is_declared.any():
        full_row[nodes.first[nodes.is_declared]] = text.table[UNDEFINED_FUNCTION]
    full_row[nodes.inst] = text.statements.row[text.statements.first_instruction :]
    full_row[use_node] = text.variables(arrays.operand_type[use], ref[use])
    full_row[arguments] = text.arguments(arrays.operand_type[arg_use], arg_function, ref[arg_use])
    full_row[constants] = text.constants(const_keys)
    text_row = full_row.copy()  # [external] and declared functions have but one text
    text_row[nodes.inst] = text.rows(form.opcode for form in module.forms)[arrays.form]
    types = text.rows(text.short_types)
    text_row[use_node] = types[arrays.operand_type[use]]
    text_row[arguments] = types[arrays.operand_type[arg_use]]
    text_row[constants] = types[arrays.operand_type[const[const_first]]]

    control, control_position, exits = _control_edges(module, nodes.inst)
    operands = np.concatenate([use, arg, const])
    data_source = np.concatenate([use_node, arg_node, const_node, nodes.inst[ref[use]]])
    data_target = np.concatenate([nodes.inst[consumer[operands]], use_node])
    data_position = np.concatenate([position[operands], np.zeros(len(use), np.int64)])
    call, left_out = _call_edges(module, nodes, exits, MOST_RETURNS * count)
    edge_index = np.concatenate([control, np.stack([data_source, data_target]), call], axis=1).astype(np.int32)
    counts = (control.shape[1], len(data_source), call.shape[1])
    flow = np.repeat(np.array(Flow, dtype=np.int8), counts)
    edge_position = np.concatenate([control_position, data_position, np.zeros(counts[2], np.int64)]).astype(np.int32)
    functions = [function.name for function in module.functions]
    columns = list(text.table), text_row, full_row, node_kind, node_argument, node_function
    return ProgramGraph(*columns, edge_index, flow, edge_position, functions, nodes.inst.astype(np.int32), left_out)


class _Nodes:
    """Nodes of instructions and declared functions, in module order after node 0. F functions, I instructions."""

    def __init__(self, module: IRModule) -> None:
        first = np.array([header.first for header in module.headers], dtype=np.int64)
        size = np.array([header.last - header.first for header in module.headers], dtype=np.int64)
        self.is_declared = np.array([header.is_declaration for header in module.headers], dtype=bool)  # (F,)
        node_counts: Int64 = np.where(self.is_declared, 1, size)
        self.count = int(node_counts.sum())
        self.function: Int64 = np.repeat(np.arange(len(node_counts)), node_counts)  # (count,) of each node
        self.first: Int64 = 1 + np.cumsum(node_counts) - node_counts  # (F,) first node
        self.inst_function = module.arrays.function.astype(np.int64)  # (I,)
        self.inst: Int64 = np.arange(module.instruction_count) + (self.first - first)[self.inst_function]  # (I,) node


def _control_edges(module: IRModule, inst_node: Int64) -> tuple[Int64, Int64, list[list[int]]]:
    """Edges between neighbours of a block, and from terminators that ProGraML reaches from the entry to successors.

    Shapes: (2, E) nodes, (E,) positions; and the instructions at which each function is left.
    """
    arrays = module.arrays
    predecessors = np.flatnonzero(arrays.block[1:] == arrays.block[:-1])
    starts = arrays.block_start.tolist()
    succ_start = arrays.successor_start.tolist()
    successors = arrays.successor.tolist()
    exits: list[list[int]] = []
    is_reached = bytearray(module.block_count)
    for header in module.headers:
        queue = [] if header.is_declaration else [header.first_block]
        for current in queue:  # grows while it is read: breadth first
            is_reached[current] = 1
            for successor in successors[succ_start[current] : succ_start[current + 1]]:
                if not is_reached[successor]:
                    is_reached[successor] = 1
                    queue.append(successor)
        exits.append([starts[block + 1] - 1 for block in queue if succ_start[block] == succ_start[block + 1]])
    block = np.repeat(np.arange(module.block_count), np.diff(arrays.successor_start))
    jump = np.flatnonzero(np.frombuffer(is_reached, dtype=bool)[block])
    position = jump - arrays.successor_start[block[jump]]
    source, target = arrays.block_start[block[jump] + 1] - 1, arrays.block_start[arrays.successor[jump]]
    edges = np.concatenate([[predecessors, predecessors + 1], [source, target]], axis=1)
    return inst_node[edges], np.concatenate([np.zeros(len(predecessors), np.int64), position]), exits


def _call_edges(module: IRModule, nodes: _Nodes, exits: list[list[int]], max_edges: int) -> tuple[Int64, int]:
    """``[external]`` <-> every function, and each direct call site <-> its callee; and how many edges are left out.

    ProGraML has an edge from each exit of a function to each of its call sites, a product. Where a module would have
    more than ``max_edges`` of these, only the first exits of each function return, one number for all: the largest that
    keeps the sum at ``max_edges``. Shape: (2, E).
    """
    # A declared function's node is its own entry and exit.
    functions = zip(module.headers, nodes.first.tolist(), exits, strict=True)
    exit_nodes = [[entry] if header.is_declaration else nodes.inst[ends].tolist() for header, entry, ends in functions]
    exit_count = np.array([len(group) for group in exit_nodes], dtype=np.int64)  # (F,)
    exit_node = np.array([node for group in exit_nodes for node in group], dtype=np.int64)  # (X,)
    rows = {"@" + header.name: index for index, header in enumerate(module.headers)}
    # ProGraML asks for CallInst, so invoke and callbr are no call sites.
    is_call = np.array([form.opcode == "call" for form in module.forms], dtype=bool)
    sites = np.flatnonzero((module.arrays.callee >= 0) & is_call[module.arrays.form])  # (C,)
    callee = np.array([rows[module.symbols[symbol]] for symbol in module.arrays.callee[sites].tolist()], dtype=np.int64)
    site_returns = exit_count[callee]  # (C,) edges back to each site
    limits = range(1 + int(site_returns.max(initial=0)))
    limit = bisect_right(limits, max_edges, key=lambda limit: int(np.minimum(site_returns, limit).sum())) - 1
    # [external] is to all functions what a call site is to one. A caller's edge to the entry, then those back to it.
    function = np.concatenate([np.arange(len(exit_nodes)), callee])
    caller = np.concatenate([np.zeros(len(exit_nodes), np.int64), nodes.inst[sites]])
    return_counts = np.concatenate([exit_count, np.minimum(site_returns, limit)])
    first = starts(1 + return_counts)
    edges = np.empty((2, first[-1]), dtype=np.int64)
    edges[:, first[:-1]] = caller, nodes.first[function]
    is_return = np.ones(first[-1], dtype=bool)
    is_return[first[:-1]] = False
    first_exit = starts(exit_count)[function]
    edges[:, is_return] = exit_node[spread(first_exit, first_exit + return_counts)[0]], np.repeat(caller, return_counts)
    return edges, int((site_returns - np.minimum(site_returns, limit)).sum())


class _Texts:
    """Texts of nodes, in one table that begins with the module's statements. Every method gives rows of it."""

    def __init__(self, module: IRModule, normalisation: str) -> None:
        self.module = module
        self.statements = statements_of(module, normalisation)
        self.keeps_names = normalisation == "none"  # whether local names carry meaning
        self.table = Rows(zip(self.statements.texts, itertools.count()))
        # ProGraML's text of a type: every struct is ``struct``.
        self.short_types = ["struct" if text.startswith(("{", "%", "<{")) else text for text in module.types]

    def rows(self, texts: Iterable[str]) -> Int64:
        return np.array([self.table[text] for text in texts], dtype=np.int64)

    def _nameless_rows(self, types: Int32, type_texts: list[str]) -> Int64:
        distinct_types, inverse = np.unique(types, return_inverse=True)
        return self.rows(f"{type_texts[row]} %" for row in distinct_types.tolist())[inverse]

    def variables(self, types: Int32, producers: Int64) -> Int64:
        """Full texts of results. ProGraML shortens the type of a result here, that of an argument not."""
        if not self.keeps_names:
            return self._nameless_rows(types, self.short_types)
        names = (self.module.local_names(producer)[0] for producer in producers.tolist())
        return self.rows(f"{self.short_types[row]} %{name}" for row, name in zip(types.tolist(), names, strict=True))

    def arguments(self, types: Int32, functions: Int64, numbers: Int64) -> Int64:
        if not self.keeps_names:
            return self._nameless_rows(types, self.module.types)
        headers, places = self.module.headers, zip(functions.tolist(), numbers.tolist(), strict=True)
        names = (headers[function].arguments[number].name for function, number in places)
        labels = (name if _PLAIN_NAME.fullmatch(name) else f'"{name}"' for name in names)
        return self.rows(f"{self.module.types[row]} %{name}" for row, name in zip(types.tolist(), labels, strict=True))

    def constants(self, keys: Int64) -> Int64:
        """Full texts of constants, and of globals from ``len(constants)`` on: ProGraML prints their definitions."""
        module, first = self.module, len(self.module.constants)
        number = {global_name(line): row for row, line in enumerate(module.global_lines)}

        def text(key: int) -> str:
            if key >= first:
                return self.statements[self.statements.first_global + number[module.symbols[key - first]]]
            value = " ".join(module.constants[key])
            return value if self.keeps_names else hide_block_names(value)

        return self.rows(map(text, keys.tolist()))
