"""The directed graph encoder: its formula by hand, what it must see and what it must not, and both runtimes."""

import numpy as np
import pytest
import torch
from random_model import random_weights

from mirenc.llvm import IRModule, parse_ir, regions_of
from mirenc.model import refinement, threads
from mirenc.model.config import DirectedGraphConfig, GraphConfig, GraphEncoderConfig, ModelConfig
from mirenc.model.data import IRData
from mirenc.model.encoders.directed import ARGUMENTS, RELATIONS
from mirenc.model.graph import Flow, NodeKind
from mirenc.model.numpy_layers import NumpyLayers
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import Pools, make_pool, module_pools, region_pools
from mirenc.model.sample import IRSample, make_sample
from mirenc.model.tokenizer import IRTokenizer
from mirenc.model.torch_layers import GraphEncoder
from mirenc.model.torch_runtime import TorchRuntime

Runtimes = tuple[NumpyRuntime, TorchRuntime]
# No two widths are equal, so that none can stand for another.
SMALL = {"hidden": 24, "out": 10}
VARIANTS: dict[str, GraphConfig] = {
    "default": DirectedGraphConfig(**SMALL),
    "one layer, no order": DirectedGraphConfig(**SMALL, layers=1, positions=False),
    "statements": DirectedGraphConfig(**SMALL, statements=True, layers=3, bases=2),
    "sizes": DirectedGraphConfig(**SMALL, readout="mean-max-sum"),
    "gcn with sizes": GraphEncoderConfig(**SMALL, readout="mean-max-sum"),
}


def with_graph(config: ModelConfig, graph: GraphConfig) -> ModelConfig:
    return config.model_copy(update={"graph": graph})


def both_runtimes(config: ModelConfig) -> Runtimes:
    weights = random_weights(config, seed=6)
    return NumpyRuntime(config, weights), TorchRuntime(config, weights)


def of_nodes(sample: IRSample) -> Pools:
    """A group for each node."""
    node, none = np.arange(len(sample.node_row)), np.zeros(0, np.int64)
    return Pools(make_pool(none, none, len(node), "count"), make_pool(node, node, len(node), "count"))


def graph_of(text: str, runtime: NumpyRuntime | TorchRuntime, tokenizer: IRTokenizer) -> np.ndarray:
    """The graph vector of a module."""
    sample = make_sample(parse_ir(text), tokenizer)
    return runtime.forward(sample, module_pools(sample, "count"), "graph").graph[0]


# -- the formula ---------------------------------------------------------------------------------------
@torch.inference_mode()
def test_two_layers_worked_out_with_dense_matrices() -> None:
    width, wide, nodes = 8, 11, 5
    torch.manual_seed(0)
    config = DirectedGraphConfig(hidden=12, out=9, bases=3, statements=True)
    encoder = GraphEncoder(config, config.declare(width, wide)).eval()
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    weight = {name: value.numpy().astype(np.float64) for name, value in encoder.state_dict().items()}
    rng = np.random.default_rng(1)
    features, spoken = (rng.normal(size=(nodes, size)).astype(np.float32) for size in (width, wide))
    kind, argument = np.array([0, 0, 1, 2, 1]), np.array([0, 0, 40, 0, 2])
    # Node, node, flow, position: both ways of a branch, an argument twice an operand, a node that is two operands from
    # the third on, which share a relation, and a call.
    ends = [0, 0, 2, 2, 4, 3, 3, 4, 1], [1, 3, 0, 0, 0, 0, 0, 1, 0]
    edges = np.array([*ends, [0, 0, 1, 1, 1, 1, 1, 1, 2], [0, 1, 0, 1, 2, 7, 3, 0, 0]]).T
    forward = [0, 1, 2, 3, 4, 5, 5, 2, 6]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
        return scaled * weight[f"{name}.weight"] + weight[f"{name}.bias"]

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weight[f"{name}.weight"].T + weight[f"{name}.bias"]

    adjacency = np.zeros((RELATIONS, nodes, nodes))
    for (source, target, *_), relation in zip(edges, forward, strict=True):
        adjacency[relation, target, source] += 1
        adjacency[relation + 7, source, target] += 1
    adjacency /= np.maximum(adjacency.sum(axis=2, keepdims=True), 1)
    number = np.minimum(argument, ARGUMENTS - 1)
    state = linear(norm(features + weight["kind.weight"][kind] + weight["argument.weight"][number], "norm_in"), "enter")
    state += (norm(spoken, "norm_statement") @ weight["enter_statement.weight"].T) * (kind == 0)[:, None]
    for layer in ("layers.0", "layers.1"):
        u = norm(state, f"{layer}.norm")
        heard = linear(u, f"{layer}.own")
        for relation in range(RELATIONS):
            matrix = sum(weight[f"{layer}.mix"][relation, base] * weight[f"{layer}.basis"][base] for base in range(3))
            heard += adjacency[relation] @ u @ matrix
        state = state + linear(np.maximum(heard, 0), f"{layer}.out")
    expected = linear(norm(state, "norm_out"), "leave").reshape(nodes, 3, 9)
    data = IRData(
        node_kind=torch.from_numpy(kind),
        node_argument=torch.from_numpy(argument),
        edge_index=torch.from_numpy(edges[:, :2].T.copy()),
        edge_flow=torch.from_numpy(edges[:, 2]),
        edge_position=torch.from_numpy(edges[:, 3]),
    )
    flows = encoder(data, torch.from_numpy(features), torch.from_numpy(spoken))
    for flow in Flow:
        np.testing.assert_allclose(flows[flow], expected[:, flow], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(encoder.combine(flows), expected.mean(axis=1), rtol=1e-4, atol=1e-4)


# -- two runtimes --------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", VARIANTS)
def test_runtimes_agree(
    model_config: ModelConfig, samples: dict[str, IRSample], fixture_modules: dict[str, IRModule], name: str
) -> None:
    runtimes = both_runtimes(with_graph(model_config, VARIANTS[name]))
    for file, sample in samples.items():
        functions = regions_of(fixture_modules[file], "function")
        for pools in (
            of_nodes(sample),
            module_pools(sample, "sqrt"),
            region_pools(sample, functions.instruction, functions.region, len(functions) + 1, "count"),
        ):
            vectors, expected = (runtime.forward(sample, pools, "graph").graph for runtime in runtimes)
            assert vectors.shape == (pools.graph.groups, VARIANTS[name].width)
            assert vectors.dtype == expected.dtype == np.float32
            np.testing.assert_allclose(vectors, expected, rtol=1e-5, atol=2e-5 * np.abs(expected).max(), err_msg=file)
            assert len(vectors) == 1 or np.ptp(vectors, axis=0).max() > 0.1
        assert not vectors[-1].any()  # a group without nodes


def test_equal_nodes_are_computed_once(model_config: ModelConfig, samples: dict[str, IRSample]) -> None:
    config = with_graph(model_config, DirectedGraphConfig(**SMALL))
    runtime = NumpyRuntime(config, random_weights(config))
    assert isinstance(config.graph, DirectedGraphConfig)
    sample = samples["ir/clang-19/O0/parallel_loops.ll"]
    encoder = refinement.RefinedPooling(config.graph, NumpyLayers(random_weights(config), "graph"))
    classes, vectors = encoder.nodes(sample, runtime.text_features(sample.text_ids, sample.text_length), None)
    row = classes.node_class
    assert len(row) == len(sample.node_row)
    assert np.unique(row).tolist() == list(range(len(vectors(slice(threads.SLICE)))))
    assert len(vectors(slice(threads.SLICE))) < 0.9 * len(row)


@pytest.mark.parametrize("name", ["default", "sizes"])
def test_neither_slices_nor_threads_matter(
    model_config: ModelConfig,
    samples: dict[str, IRSample],
    fixture_modules: dict[str, IRModule],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    config = with_graph(model_config, VARIANTS[name])
    weights = random_weights(config)
    file = "ir/clang-19/O0/parallel_loops.ll"
    sample, functions = samples[file], regions_of(fixture_modules[file], "function")
    regions = region_pools(sample, functions.instruction, functions.region, len(functions) + 1, "sqrt")
    for pools in (module_pools(sample, "sqrt"), regions):
        unsliced = NumpyRuntime(config, weights, threads=1).forward(sample, pools, "graph").graph
        for size in (64, 7):  # several slices, and groups that are in more than one
            for module in (refinement, threads):
                monkeypatch.setattr(module, "SLICE", size)
            one, three = (
                NumpyRuntime(config, weights, threads=threads).forward(sample, pools, "graph").graph
                for threads in (1, 3)
            )
            np.testing.assert_array_equal(one, three)
            np.testing.assert_allclose(one, unsliced, rtol=1e-5, atol=1e-5)
        monkeypatch.undo()


@pytest.mark.parametrize("which", [0, 1])
def test_statement_vectors_may_be_given_or_made(
    model_config: ModelConfig, samples: dict[str, IRSample], which: int
) -> None:
    runtime = both_runtimes(with_graph(model_config, VARIANTS["statements"]))[which]
    sample = samples["ir/clang-19/O2/numeric.ll"]
    pools = module_pools(sample, "count")
    vectors = runtime.encode_texts(sample.text_ids, sample.text_length)
    computed = runtime.forward(sample, pools, "graph").graph
    np.testing.assert_allclose(runtime.forward(sample, pools, text_vectors=vectors).graph, computed, atol=1e-5)
    assert np.abs(runtime.forward(sample, pools, text_vectors=vectors[::-1].copy()).graph - computed).max() > 1e-2
    # Of the texts, those of instructions alone are read.
    others = np.setdiff1d(np.arange(len(vectors)), sample.node_row[sample.node_kind == NodeKind.INSTRUCTION])
    vectors[others] = 9
    np.testing.assert_allclose(runtime.forward(sample, pools, "graph", text_vectors=vectors).graph, computed, atol=1e-5)


# -- what it must see ----------------------------------------------------------------------------------
SUB = """
define i32 @f(i32 %a, i32 %b) {{
  %x = mul i32 %a, 3
  %y = xor i32 %b, 5
  %z = {operation} i32 {operands}
  ret i32 %z
}}
"""
ARGUMENTS_ONLY = "define i32 @f(i32 %a, i32 %b) {{\n  %z = {operation} i32 {operands}\n  ret i32 %z\n}}\n"
BRANCH = """
define i32 @f(i1 %c, i32 %a) {{
  br i1 %c, {labels}
yes:
  ret i32 7
no:
  %z = mul i32 %a, 9
  ret i32 %z
}}
"""
SWAPS = {
    "operands": (
        SUB.format(operation="sub", operands="%x, %y"),
        SUB.format(operation="sub", operands="%y, %x"),
    ),
    "arguments": (
        ARGUMENTS_ONLY.format(operation="sub", operands="%a, %b"),
        ARGUMENTS_ONLY.format(operation="sub", operands="%b, %a"),
    ),
    "branches": (
        BRANCH.format(labels="label %yes, label %no"),
        BRANCH.format(labels="label %no, label %yes"),
    ),
}


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("swap", SWAPS)
def test_swapped_operands_arguments_and_branches_change_the_vector(
    model_config: ModelConfig, tokenizer: IRTokenizer, swap: str, which: int
) -> None:
    one, other = SWAPS[swap]
    runtime = both_runtimes(with_graph(model_config, VARIANTS["default"]))[which]
    assert np.abs(graph_of(one, runtime, tokenizer) - graph_of(other, runtime, tokenizer)).max() > 1e-3
    # The paper's GCN and an encoder without positions do not see it.
    for graph in (GraphEncoderConfig(**SMALL), DirectedGraphConfig(**SMALL, positions=False)):
        blind = both_runtimes(with_graph(model_config, graph))[which]
        np.testing.assert_allclose(graph_of(one, blind, tokenizer), graph_of(other, blind, tokenizer), atol=1e-5)
