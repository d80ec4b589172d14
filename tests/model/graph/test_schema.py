"""The schema: a small graph worked out by hand."""

from graph_rules import check_rules

from mirenc.llvm import parse_ir
from mirenc.model.graph import Flow, NodeKind, build_graph

INSTRUCTION, VARIABLE, CONSTANT = NodeKind
CONTROL, DATA, CALL = Flow

SOURCE = """
@g = global i32 7, align 4
declare void @log(i32)
define i32 @f(i32 %x, i32 %unused) {
entry:
  %a = add i32 %x, %x
  %c = icmp sgt i32 %a, 7
  br i1 %c, label %then, label %end
then:
  call void @log(i32 %a)
  store i32 %a, ptr @g, align 4
  br label %end
end:
  %p = phi i32 [ 7, %then ], [ %a, %entry ]
  ret i32 %p
}
"""
# (kind, text, full text, function); the number of a node is its place in this list.
NODES = [
    (INSTRUCTION, "[external]", "[external]", None),  # 0
    (INSTRUCTION, "; undefined function", "; undefined function", "log"),  # 1
    (INSTRUCTION, "add", "%a = add i32 %x, %x", "f"),  # 2
    (INSTRUCTION, "icmp", "%c = icmp sgt i32 %a, 7", "f"),  # 3
    (INSTRUCTION, "br", "br i1 %c, label %then, label %end", "f"),  # 4
    (INSTRUCTION, "call", "call void @log(i32 %a)", "f"),  # 5
    (INSTRUCTION, "store", "store i32 %a, ptr @g, align 4", "f"),  # 6
    (INSTRUCTION, "br", "br label %end", "f"),  # 7
    (INSTRUCTION, "phi", "%p = phi i32 [ 7, %then ], [ %a, %entry ]", "f"),  # 8
    (INSTRUCTION, "ret", "ret i32 %p", "f"),  # 9
    # One variable for each use of a result: %a has four.
    (VARIABLE, "i32", "i32 %a", "f"),  # 10, of icmp
    (VARIABLE, "i1", "i1 %c", "f"),  # 11, of br
    (VARIABLE, "i32", "i32 %a", "f"),  # 12, of call
    (VARIABLE, "i32", "i32 %a", "f"),  # 13, of store
    (VARIABLE, "i32", "i32 %a", "f"),  # 14, of phi
    (VARIABLE, "i32", "i32 %p", "f"),  # 15, of ret
    # One for all uses of an argument, none for an unused one.
    (VARIABLE, "i32", "i32 %x", "f"),  # 16
    # One for all uses of a constant; a function as operand makes none.
    (CONSTANT, "i32", "i32 7", None),  # 17
    (CONSTANT, "ptr", "@g = global i32 7, align 4", None),  # 18
]
# (source, target, flow, position)
EDGES = [
    (2, 3, CONTROL, 0),
    (3, 4, CONTROL, 0),
    (4, 5, CONTROL, 0),  # true
    (4, 8, CONTROL, 1),  # false
    (5, 6, CONTROL, 0),
    (6, 7, CONTROL, 0),
    (7, 8, CONTROL, 0),
    (8, 9, CONTROL, 0),
    # What is computed: result -> its uses.
    (2, 10, DATA, 0),
    (3, 11, DATA, 0),
    (2, 12, DATA, 0),
    (2, 13, DATA, 0),
    (2, 14, DATA, 0),
    (8, 15, DATA, 0),
    # What is used: the position is the number of the operand.
    (16, 2, DATA, 0),
    (16, 2, DATA, 1),
    (10, 3, DATA, 0),
    (17, 3, DATA, 1),
    (11, 4, DATA, 0),
    (12, 5, DATA, 0),
    (13, 6, DATA, 0),
    (18, 6, DATA, 1),
    (17, 8, DATA, 0),
    (14, 8, DATA, 1),
    (15, 9, DATA, 0),
    # From outside to every entry, from every exit to outside; call site and callee.
    (0, 1, CALL, 0),
    (1, 0, CALL, 0),
    (0, 2, CALL, 0),
    (9, 0, CALL, 0),
    (5, 1, CALL, 0),
    (1, 5, CALL, 0),
]


def test_hand_worked_graph() -> None:
    graph = build_graph(parse_ir(SOURCE), normalisation="none")
    check_rules(graph)
    functions = [None if row < 0 else graph.functions[row] for row in graph.node_function]
    assert list(zip(graph.node_kind, graph.node_text, graph.node_full_text, functions, strict=True)) == NODES
    edges = zip(*graph.edge_index, graph.edge_flow, graph.edge_position, strict=True)
    assert sorted(edges) == sorted(EDGES)
    assert graph.instruction_node.tolist() == list(range(2, 10))
    assert graph.functions == ["log", "f"]


def test_counts_and_repr() -> None:
    graph = build_graph(parse_ir(SOURCE))
    assert [graph.kind_count(kind) for kind in NodeKind] == [10, 7, 2]
    assert [graph.flow_count(flow) for flow in Flow] == [8, 17, 6]
    assert repr(graph) == "ProgramGraph(nodes=19, edges=31, control=8, data=17, call=6)"


def test_locals_have_no_names_in_normalised_texts() -> None:
    texts = build_graph(parse_ir(SOURCE), normalisation="locals").node_full_text
    assert texts[2] == "% = add i32 %, %"
    assert texts[10] == texts[16] == "i32 %"
