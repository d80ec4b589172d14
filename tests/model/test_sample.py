"""Samples: a small module worked out by hand, and what batching and reordering must not change."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from random_model import random_weights

from mirenc.encoder.encoding import join_samples
from mirenc.llvm import IRModule, parse_ir, regions_of, statements_of
from mirenc.model.config import DirectedGraphConfig, GraphConfig, GraphEncoderConfig, ModelConfig, TaughtConfig
from mirenc.model.data import sample_data
from mirenc.model.graph import Flow, build_graph
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import Pools, make_pool, module_pools, region_pools
from mirenc.model.sample import GRAPH_ARRAYS, IRSample, make_sample
from mirenc.model.tokenizer import IRTokenizer, TokenizerConfig, train_tokenizer
from mirenc.model.torch_runtime import TorchRuntime

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


@pytest.fixture(scope="module")
def sample(tokenizer: IRTokenizer) -> IRSample:
    return make_sample(parse_ir(SOURCE), tokenizer)


def test_statement_rows_worked_by_hand(sample: IRSample) -> None:
    assert [sample.texts[row] for row in sample.statement_row] == STATEMENTS


def test_arguments_are_numbered(tokenizer: IRTokenizer) -> None:
    """From 1 on, by their place in the function, whether those before are used or not."""
    source = "define i32 @f(i32 %a, i32 %b, i32 %c) {\n  %d = sub i32 %c, %b\n  ret i32 %d\n}\n"
    sample = make_sample(parse_ir(source), tokenizer)
    into_sub = (sample.edge_index[1] == sample.instruction_node[0]) & (sample.edge_flow == Flow.DATA)
    numbers = sample.node_argument[sample.edge_index[0, into_sub]]
    operands = dict(zip(sample.edge_position[into_sub].tolist(), numbers.tolist(), strict=True))
    assert operands == {0: 3, 1: 2}
    assert np.flatnonzero(sample.node_argument).tolist() == sorted(sample.edge_index[0, into_sub].tolist())


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
    for name, sample in samples.items():
        module = fixture_modules[name]
        statements, graph = statements_of(module), build_graph(module)
        assert [sample.texts[row] for row in sample.statement_row] == [
            statements[number] for number in range(len(statements))
        ], name
        assert [sample.texts[row] for row in sample.node_row] == graph.node_full_text, name
        for column in GRAPH_ARRAYS[1:]:
            np.testing.assert_array_equal(getattr(sample, column), getattr(graph, column))
        instructions = sample.statement_row[len(sample.statement_row) - module.instruction_count :]
        np.testing.assert_array_equal(sample.node_row[sample.instruction_node], instructions)


def test_a_graph_made_before_is_used(tokenizer: IRTokenizer, sample: IRSample) -> None:
    module = parse_ir(SOURCE)
    graph = build_graph(module)
    made_sample = make_sample(module, tokenizer, graph=graph)
    assert made_sample.edge_index is graph.edge_index
    assert made_sample.texts == sample.texts
    np.testing.assert_array_equal(made_sample.node_row, sample.node_row)


def test_the_tokenizer_names_the_level() -> None:
    plain = train_tokenizer(["ret void"] * 3, TokenizerConfig(vocab_size=256, normalisation="none"))
    sample = make_sample(parse_ir(SOURCE), plain)
    assert [sample.texts[row] for row in sample.statement_row][2] == "%a = add i32 %x, 7"
    assert [sample.texts[row] for row in sample.node_row][7] == "i32 %a"


# -- several modules as one ----------------------------------------------------------------------------
NAMES = ("handwritten/functions.ll", "ir/clang-14/O2/reduce.ll")
GRAPHS = [
    GraphEncoderConfig(hidden=24, out=16),
    DirectedGraphConfig(hidden=24, out=10),
    DirectedGraphConfig(hidden=24, out=10, statements=True, layers=3, bases=2),
    DirectedGraphConfig(hidden=24, out=10, readout="mean-max-sum"),
]


@pytest.mark.parametrize("level", ["module", "function"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_two_modules_encode_as_two_singles(
    samples: dict[str, IRSample],
    fixture_modules: dict[str, IRModule],
    convolution_config: ModelConfig,
    level: str,
    graph: GraphConfig,
) -> None:
    config = convolution_config.model_copy(update={"graph": graph, "taught": TaughtConfig(width=12, hidden=20)})
    model = TorchRuntime(config, random_weights(config, seed=6)).model
    names = (*NAMES, NAMES[0])
    pools = [module_pools(samples[name], "sqrt") for name in names]
    if level == "function":
        regions = [regions_of(fixture_modules[name], "function") for name in names]
        pools = [
            region_pools(samples[name], one.instruction, one.region, len(one), "sqrt")
            for name, one in zip(names, regions, strict=True)
        ]
    each = [samples[name] for name in names]
    with torch.inference_mode():
        singles = [model(sample_data(*one)) for one in zip(each, pools, strict=True)]
        joined = sample_data(*join_samples(each, pools))
        together = model(joined)
    for part in ("text", "graph", "taught"):
        expected = torch.cat([getattr(single, part) for single in singles])
        assert len(expected) == joined.groups
        torch.testing.assert_close(getattr(together, part), expected, rtol=1e-5, atol=1e-5)
    for flow, vectors in enumerate(together.flows):
        torch.testing.assert_close(vectors, torch.cat([single.flows[flow] for single in singles]), rtol=1e-5, atol=1e-5)


# -- order of the nodes --------------------------------------------------------------------------------
def reordered(sample: IRSample, order: np.ndarray, edges: np.ndarray) -> IRSample:
    """The same graph with node ``order[i]`` at place i, and its edges in another order."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return replace(
        sample,
        node_row=sample.node_row[order],
        node_kind=sample.node_kind[order],
        node_argument=sample.node_argument[order],
        edge_index=place[sample.edge_index[:, edges]],
        edge_flow=sample.edge_flow[edges],
        edge_position=sample.edge_position[edges],
        instruction_node=place[sample.instruction_node],
    )


@pytest.mark.parametrize("runtime_of", [NumpyRuntime, TorchRuntime])
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_order_of_nodes_leaves_group_vectors_alone(
    samples: dict[str, IRSample],
    fixture_modules: dict[str, IRModule],
    model_config: ModelConfig,
    graph: GraphConfig,
    runtime_of: type[NumpyRuntime | TorchRuntime],
) -> None:
    config = model_config.model_copy(update={"graph": graph})
    runtime = runtime_of(config, random_weights(config, seed=6))
    rng = np.random.default_rng(3)
    for name, sample in samples.items():
        order = rng.permutation(len(sample.node_row)).astype(np.int32)
        other = reordered(sample, order, rng.permutation(len(sample.edge_flow)))
        regions = regions_of(fixture_modules[name], "function")
        node, none = np.arange(len(order)), np.zeros(0, np.int64)
        pools = Pools(make_pool(none, none, len(node), "count"), make_pool(node, node, len(node), "count"))
        nodes, again = (runtime.forward(each, pools, "graph").graph for each in (sample, other))
        np.testing.assert_allclose(again, nodes[order], rtol=1e-5, atol=1e-5, err_msg=name)
        # What was compared is no constant.
        assert nodes[:, : graph.out].std(axis=0).min() > 1e-2, name
        for pools_of in (
            lambda each, region_set=regions: region_pools(
                each, region_set.instruction, region_set.region, len(region_set), "count"
            ),
            lambda each: module_pools(each, "sqrt"),
        ):
            one, two = (runtime.forward(each, pools_of(each), "graph").graph for each in (sample, other))
            np.testing.assert_allclose(two, one, rtol=1e-5, atol=1e-5, err_msg=name)
