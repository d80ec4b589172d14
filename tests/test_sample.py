"""Samples: a small module worked out by hand, and what batching and reordering must not change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mirenc.config import TokenizerConfig
from mirenc.encoder import load
from mirenc.graph import Flow, NodeKind, build_graph
from mirenc.ir import IRModule, parse_ir, statements_of
from mirenc.sample import IRSample, make_sample
from mirenc.tokenizer import IRTokenizer, train_tokenizer

SOURCE = """
%t = type { i32 }
@g = global %t zeroinitializer
declare void @log(i32)
define i32 @f(i32 %x) {
  %a = add i32 %x, 7
  call void @log(i32 %a)
  store i32 %a, ptr @g
  ret i32 %a
}
define void @empty() {
  ret void
}
"""
TYPE, GLOBAL, ADD, CALL, STORE, RET, RET_VOID = (
    "%t = type { i32 }",
    "@g = global %t zeroinitializer",
    "% = add i32 %, 7",
    "call void @log(i32 %)",
    "store i32 %, ptr @g",
    "ret i32 %",
    "ret void",
)
STATEMENTS = [TYPE, GLOBAL, ADD, CALL, STORE, RET, RET_VOID]
# Functions in module order: log, f, empty.
NODES = [
    ("[external]", NodeKind.INSTRUCTION, -1),
    ("; undefined function", NodeKind.INSTRUCTION, 0),
    (ADD, NodeKind.INSTRUCTION, 1),
    (CALL, NodeKind.INSTRUCTION, 1),
    (STORE, NodeKind.INSTRUCTION, 1),
    (RET, NodeKind.INSTRUCTION, 1),
    (RET_VOID, NodeKind.INSTRUCTION, 2),
    ("i32 %", NodeKind.VARIABLE, 1),  # %a in the call
    ("i32 %", NodeKind.VARIABLE, 1),  # %a in the store
    ("i32 %", NodeKind.VARIABLE, 1),  # %a in the return
    ("i32 %", NodeKind.VARIABLE, 1),  # the argument
    ("i32 7", NodeKind.CONSTANT, -1),
    (GLOBAL, NodeKind.CONSTANT, -1),
]


@pytest.fixture(scope="module")
def sample(tokenizer: IRTokenizer) -> IRSample:
    return make_sample(parse_ir(SOURCE), tokenizer)


def test_statement_rows_worked_by_hand(sample: IRSample) -> None:
    assert [sample.texts[row] for row in sample.statement_row] == STATEMENTS
    assert sample.statement_function.tolist() == [-1, -1, 1, 1, 1, 1, 2]
    assert sample.functions == ["log", "f", "empty"]


def test_node_rows_worked_by_hand(sample: IRSample) -> None:
    found = zip(sample.node_row, sample.node_kind, sample.node_function, strict=True)
    assert [(sample.texts[row], kind, function) for row, kind, function in found] == NODES
    assert sample.instruction_node.tolist() == [2, 3, 4, 5, 6]


def test_edges_worked_by_hand(sample: IRSample) -> None:
    edges = list(
        zip(*sample.edge_index.tolist(), sample.edge_flow.tolist(), sample.edge_position.tolist(), strict=True)
    )
    control, data, call = Flow
    assert [edge for edge in edges if edge[2] == control] == [
        (2, 3, control, 0),
        (3, 4, control, 0),
        (4, 5, control, 0),
    ]
    assert sorted(edge for edge in edges if edge[2] == data) == sorted(
        [(2, 7, data, 0), (2, 8, data, 0), (2, 9, data, 0)]  # a result and its uses
        + [(7, 3, data, 0), (8, 4, data, 0), (9, 5, data, 0)]
        + [(10, 2, data, 0), (11, 2, data, 1), (12, 4, data, 1)]  # argument, 7, @g
    )
    assert sorted(edge for edge in edges if edge[2] == call) == sorted(
        [(0, 1, call, 0), (0, 2, call, 0), (0, 6, call, 0)]  # [external] calls every function
        + [(1, 0, call, 0), (5, 0, call, 0), (6, 0, call, 0)]  # and all return to it
        + [(3, 1, call, 0), (1, 3, call, 0)]  # the call of log
    )


def test_texts_are_distinct_and_shared_by_statements_and_nodes(sample: IRSample) -> None:
    assert len(set(sample.texts)) == len(sample.texts) == len(STATEMENTS) + 4
    assert sample.node_row[12] == sample.statement_row[1]
    assert sample.node_row[sample.instruction_node].tolist() == sample.statement_row[2:].tolist()


def test_token_ids_are_the_texts_own(sample: IRSample, tokenizer: IRTokenizer) -> None:
    assert sample.text_ids.shape == (len(sample.texts), 64)
    for row, text in enumerate(sample.texts):
        assert sample.text_ids[row, : sample.text_length[row]].tolist() == tokenizer.encode(text)


def test_rows_of_every_fixture_mean_its_statements_and_nodes(
    fixture_modules: dict[str, IRModule], samples: dict[str, IRSample]
) -> None:
    for name, found in samples.items():
        module = fixture_modules[name]
        statements, graph = statements_of(module), build_graph(module)
        assert [found.texts[row] for row in found.statement_row] == [
            statements[number] for number in range(len(statements))
        ], name
        assert [found.texts[row] for row in found.node_row] == graph.node_full_text, name
        np.testing.assert_array_equal(found.edge_index, graph.edge_index)
        instructions = found.statement_row[len(found.statement_row) - module.instruction_count :]
        np.testing.assert_array_equal(found.node_row[found.instruction_node], instructions)
        np.testing.assert_array_equal(found.statement_function[-module.instruction_count :], module.arrays.function)


def test_a_graph_made_before_is_used(tokenizer: IRTokenizer, sample: IRSample) -> None:
    module = parse_ir(SOURCE)
    given = build_graph(module)
    found = make_sample(module, tokenizer, graph=given)
    assert found.edge_index is given.edge_index
    assert found.texts == sample.texts
    np.testing.assert_array_equal(found.node_row, sample.node_row)


def test_the_tokenizer_names_the_level() -> None:
    plain = train_tokenizer(["ret void"] * 3, TokenizerConfig(vocab_size=256, normalisation="none"))
    found = make_sample(parse_ir(SOURCE), plain)
    assert [found.texts[row] for row in found.statement_row][2] == "%a = add i32 %x, 7"
    assert [found.texts[row] for row in found.node_row][7] == "i32 %a"


# -- PyG -----------------------------------------------------------------------------------------------
def test_a_batch_of_two_is_two_singles(samples: dict[str, IRSample]) -> None:
    from torch_geometric.data import Batch

    first, second = (samples[name].to_data() for name in ("handwritten/functions.ll", "ir/clang-14/O2/reduce.ll"))
    batch = Batch.from_data_list([first, second])
    nodes = first.num_nodes
    assert batch.num_nodes == nodes + second.num_nodes
    # A name with `index` in it counts nodes, and is shifted.
    assert batch.edge_index[:, : first.num_edges].equal(first.edge_index)
    assert batch.edge_index[:, first.num_edges :].equal(second.edge_index + nodes)
    # A row counts in its own module's table of texts, and is not.
    for name in ("node_row", "statement_row", "node_kind", "edge_flow", "edge_position", "text_ids", "text_length"):
        count = len(first[name])
        assert batch[name][:count].equal(first[name]), name
        assert batch[name][count:].equal(second[name]), name
    assert batch.batch.tolist() == [0] * nodes + [1] * second.num_nodes
    for single, again in zip([first, second], batch.to_data_list(), strict=True):
        assert set(single.keys()) == set(again.keys())
        for name in single.keys():  # noqa: SIM118 - a Data is no dict
            value = single[name]
            assert value.equal(again[name]) if name != "num_nodes" else value == again[name], name


def test_no_field_but_the_edges_is_shifted(sample: IRSample) -> None:
    data = sample.to_data()
    assert [name for name in data.keys() if "index" in name] == ["edge_index"]  # noqa: SIM118
    assert sum(data.__inc__(name, data[name]) for name in data.keys() if name != "edge_index") == 0  # noqa: SIM118
    assert data.validate()


# -- order of the nodes --------------------------------------------------------------------------------
def reordered(sample: IRSample, order: np.ndarray, edges: np.ndarray) -> IRSample:
    """The same graph with node ``order[i]`` at place i, and its edges in another order."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return replace(
        sample,
        node_row=sample.node_row[order],
        node_kind=sample.node_kind[order],
        node_function=sample.node_function[order],
        edge_index=place[sample.edge_index[:, edges]],
        edge_flow=sample.edge_flow[edges],
        edge_position=sample.edge_position[edges],
        instruction_node=place[sample.instruction_node],
    )


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_the_order_of_nodes_leaves_group_vectors_alone(
    samples: dict[str, IRSample], model_folder: Path, backend: str
) -> None:
    runtime = load(model_folder, cache=False, backend=backend).runtime
    rng = np.random.default_rng(3)
    for name, sample in samples.items():
        order = rng.permutation(len(sample.node_row)).astype(np.int32)
        other = reordered(sample, order, rng.permutation(len(sample.edge_flow)))
        count = len(sample.functions)
        by_function = [runtime.encode_groups(each, each.node_function, count) for each in (sample, other)]
        np.testing.assert_allclose(by_function[1], by_function[0], rtol=1e-5, atol=1e-5, err_msg=name)
        whole = [runtime.encode_groups(each, np.zeros_like(each.node_row), 1) for each in (sample, other)]
        np.testing.assert_allclose(whole[1], whole[0], rtol=1e-5, atol=1e-5, err_msg=name)
        nodes = runtime.encode_nodes(sample)
        np.testing.assert_allclose(runtime.encode_nodes(other), nodes[order], rtol=1e-5, atol=1e-5, err_msg=name)
        # What was compared is no constant.
        assert nodes.std(axis=0).min() > 1e-2, name
