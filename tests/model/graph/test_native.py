"""The native builder's own rule: edges from exits back to call sites stay linear in the nodes."""

import numpy as np
import pytest
from graph_rules import check_rules

from mirenc.model.graph import Flow, ProgramGraph, build_graph
from mirenc.model.graph.builder import MOST_RETURNS


def calls(exits: int, sites: int, more: str = "") -> str:
    """``f``, which returns in some blocks, and ``g``, which calls it in some places; then more IR."""
    cases = " ".join(f"i32 {number}, label %r{number}" for number in range(1, exits))
    returns = "".join(f"r{number}:\n  ret void\n" for number in range(exits))
    body = "  call void @f(i32 %x)\n" * sites
    f = f"define void @f(i32 %x) {{\n  switch i32 %x, label %r0 [ {cases} ]\n{returns}}}\n"
    return f"{f}define void @g(i32 %x) {{\n{body}  ret void\n}}\n{more}"


def returns(graph: ProgramGraph, site: int) -> list[int]:
    """Exits that have an edge to a call site: the nodes, in the order of the edges."""
    source, target = graph.edge_index[:, graph.edge_flow == Flow.CALL]
    return source[(target == site) & (source > 0)].tolist()


def test_every_exit_returns_to_every_call() -> None:
    graph = build_graph(calls(3, 2))
    check_rules(graph)
    # 1: switch; 2, 3, 4: ret; 5, 6: call; 7: ret of g.
    assert [returns(graph, site) for site in (5, 6)] == [[2, 3, 4]] * 2
    edges = [(0, 1), (2, 0), (3, 0), (4, 0), (0, 5), (7, 0), *((5, 1), (2, 5), (3, 5), (4, 5))]
    edges += [(6, 1), (2, 6), (3, 6), (4, 6)]
    assert [*zip(*graph.edge_index[:, graph.edge_flow == Flow.CALL].tolist(), strict=True)] == edges
    assert graph.call_edges_left_out == 0
    assert "left_out" not in repr(graph)


def test_exits_times_calls_stay_linear() -> None:
    # Beside f, whose exits are too many, stand two exits of h: fewer than any limit, so that both return.
    exits, sites = 200, 300
    h = "define void @h(i1 %x) {\n  br i1 %x, label %a, label %b\na:\n  ret void\nb:\n  ret void\n}\n"
    graph = build_graph(calls(exits, sites, f"{h}define void @k() {{\n  call void @h(i1 true)\n  ret void\n}}\n"))
    check_rules(graph)
    most = MOST_RETURNS * graph.node_count
    limit = (most - 2) // sites
    assert 2 < limit < exits
    # 1: switch; ret from 2 on; then the calls.
    first_site = 2 + exits
    for site in (first_site, first_site + sites - 1):
        assert returns(graph, site) == list(range(2, 2 + limit))
    h_entry = first_site + sites + 1
    assert returns(graph, h_entry + 3) == [h_entry + 1, h_entry + 2]
    assert graph.call_edges_left_out == (exits - limit) * sites
    assert f"call_edges_left_out={graph.call_edges_left_out})" in repr(graph)
    # [external] meets every exit all the same: 4 functions, and 200 + 1 + 2 + 1 exits.
    call = graph.edge_flow == Flow.CALL
    assert int((call & (graph.edge_index == 0).any(0)).sum()) == 4 + exits + 1 + 2 + 1
    assert int(call.sum()) == (4 + exits + 4) + (1 + limit) * sites + (1 + 2)


@pytest.mark.parametrize("more", [0, 1])
def test_the_bound_is_reached_before_anything_is_left_out(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    """As many edges as are allowed are all there; with one fewer allowed, an exit goes from every site."""
    exits, sites = 6, 5
    complete = build_graph(calls(exits, sites))
    monkeypatch.setattr("mirenc.model.graph.builder.MOST_RETURNS", (exits * sites - more) / complete.node_count)
    assert build_graph(calls(exits, sites)).call_edges_left_out == more * sites


def test_a_module_without_calls() -> None:
    graph = build_graph("define void @f() {\n  ret void\n}\n")
    assert (graph.flow_count(Flow.CALL), graph.edge_index.dtype) == (2, np.int32)
