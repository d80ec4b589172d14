"""numpy against torch: two implementations of one model, to 1e-5 on everything they compute."""

from collections.abc import Callable

import numpy as np
import pytest
from random_model import random_weights

from mirenc.model import gcn_slices
from mirenc.model.config import ModelConfig
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import Pools, make_pool, module_pools, region_pools
from mirenc.model.sample import IRSample
from mirenc.model.tokenizer import IRTokenizer
from mirenc.model.torch_runtime import TorchRuntime

Pair = tuple[NumpyRuntime, TorchRuntime]


@pytest.fixture(scope="module", params=["mean", "cls", "convolution"])
def runtimes(request: pytest.FixtureRequest, model_config: ModelConfig, convolution_config: ModelConfig) -> Pair:
    config = convolution_config
    if request.param != "convolution":
        text = model_config.text.model_copy(update={"pooling": request.param})
        config = model_config.model_copy(update={"text": text})
    weights = random_weights(config, seed=5)
    return NumpyRuntime(config, weights), TorchRuntime(config, weights)


def agree(runtimes: Pair, call: Callable[[NumpyRuntime | TorchRuntime], np.ndarray]) -> np.ndarray:
    """What both runtimes answer, once they agree to 1e-5 of the largest component."""
    actual, expected = (call(runtime) for runtime in runtimes)
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype == np.float32
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max(initial=1.0))
    return actual


def graph_vectors(runtime: NumpyRuntime | TorchRuntime, sample: IRSample, group: np.ndarray, groups: int) -> np.ndarray:
    """Plain means of the nodes of each group; negative groups are left out."""
    node = np.flatnonzero(group >= 0)
    none = np.zeros(0, np.int64)
    pools = Pools(make_pool(none, none, groups, "count"), make_pool(node, group[node], groups, "count"))
    return runtime.forward(sample, pools, "graph").graph


def node_vectors(runtime: NumpyRuntime | TorchRuntime, sample: IRSample) -> np.ndarray:
    return graph_vectors(runtime, sample, np.arange(len(sample.node_row)), len(sample.node_row))


def test_a_graph_of_several_slices(
    runtimes: Pair, samples: dict[str, IRSample], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mean over many nodes is taken slice by slice, and never of their vectors."""
    for sample in samples.values():
        nodes = len(sample.node_row)
        group = np.where(np.arange(nodes) % 5 == 4, -1, np.arange(nodes) % 2)  # some nodes are of no group
        unsliced = graph_vectors(runtimes[0], sample, group, 2)
        with monkeypatch.context() as patch:
            patch.setattr(gcn_slices, "_SLICE_NODES", 7)
            patch.setattr(gcn_slices.GCNPooling, "_nodes", None)
            sliced = agree(runtimes, lambda runtime, s=sample, g=group: graph_vectors(runtime, s, g, 2))
        np.testing.assert_allclose(sliced, unsliced, rtol=1e-5, atol=1e-6)


def test_runtimes_agree_on_texts(runtimes: Pair, samples: dict[str, IRSample]) -> None:
    for sample in samples.values():
        vectors = agree(runtimes, lambda runtime, s=sample: runtime.encode_texts(s.text_ids, s.text_length))
        assert vectors.shape == (len(sample.texts), 32)
        assert len(np.unique(vectors.round(4), axis=0)) > 0.9 * len(sample.texts)


def test_texts_of_every_length_and_none(runtimes: Pair, tokenizer: IRTokenizer) -> None:
    ids, length = tokenizer.encode_batch(["(" * count for count in (0, 1, 2, 62, 63, 500, 7)])
    assert length.tolist() == [2, 3, 4, 64, 64, 64, 9]
    vectors = agree(runtimes, lambda runtime: runtime.encode_texts(ids, length))
    np.testing.assert_allclose(vectors[4], vectors[5], atol=1e-6)
    assert agree(runtimes, lambda runtime: runtime.encode_texts(ids[:0], length[:0])).shape == (0, 32)


def test_groups_are_means_of_nodes(runtimes: Pair, samples: dict[str, IRSample]) -> None:
    for name, sample in samples.items():
        nodes = agree(runtimes, lambda runtime, s=sample: node_vectors(runtime, s))
        assert nodes.shape == (len(sample.node_row), 16)
        rng = np.random.default_rng(0)
        # By kind, all in one, at random with nodes left out and two empty groups, none, and as many groups as nodes.
        at_random = rng.integers(-1, 5, size=len(nodes)).astype(np.int32)
        for group, groups in (
            (sample.node_kind.astype(np.int32), 3),
            (np.zeros(len(nodes), np.int32), 1),
            (at_random, 7),
            (np.full(len(nodes), -1, np.int32), 2),
            (np.where(np.arange(len(nodes)) < 30, np.arange(len(nodes)), -1), 30),
        ):
            means = agree(runtimes, lambda runtime, s=sample, g=group, n=groups: graph_vectors(runtime, s, g, n))
            expected = [nodes[group == row].mean(0) if (group == row).any() else np.zeros(16) for row in range(groups)]
            np.testing.assert_allclose(means, expected, rtol=1e-5, atol=2e-5, err_msg=name)


def test_an_item_may_be_in_several_groups(runtimes: Pair, samples: dict[str, IRSample]) -> None:
    """Loops nest: the third group holds what the first two hold."""
    sample = samples["ir/clang-19/O0/parallel_loops.ll"]
    instruction, group = np.array([0, 1, 1, 5, 0, 1, 5]), np.array([0, 0, 1, 1, 2, 2, 2])
    pools = region_pools(sample, instruction, group, 4, "count")
    text = agree(runtimes, lambda runtime: runtime.forward(sample, pools).text)
    graph = agree(runtimes, lambda runtime: runtime.forward(sample, pools).graph)
    single = region_pools(sample, np.arange(6), np.arange(6), 6, "count", reads=False)
    each = runtimes[0].forward(sample, single).text
    np.testing.assert_allclose(
        text[:3], [each[[0, 1]].mean(0), each[[1, 5]].mean(0), each[[0, 1, 5]].mean(0)], atol=1e-5
    )
    assert not text[3].any()
    assert not graph[3].any()
    nodes = node_vectors(runtimes[0], sample)
    instruction_nodes = sample.instruction_node[[1, 5]]
    source, target = sample.edge_index
    read = {
        int(node)
        for node, reader in zip(source, target, strict=True)
        if reader in instruction_nodes and sample.node_kind[node] == 1
    }
    assert read
    np.testing.assert_allclose(graph[1], nodes[[*instruction_nodes, *read]].mean(0), atol=1e-5)


@pytest.mark.parametrize("part", ["text", "graph"])
def test_a_part_alone_is_that_part_of_both(runtimes: Pair, samples: dict[str, IRSample], part: str) -> None:
    sample = samples["ir/clang-19/O2/numeric.ll"]
    pools = module_pools(sample, "sqrt")
    for runtime in runtimes:
        full, alone = runtime.forward(sample, pools), runtime.forward(sample, pools, part)
        np.testing.assert_array_equal(getattr(alone, part), getattr(full, part))
        other = "graph" if part == "text" else "text"
        assert getattr(alone, other).shape == (1, 0)
        assert getattr(full, other).shape[1] > 0


def test_runtimes_agree_on_matching(runtimes: Pair) -> None:
    rng = np.random.default_rng(0)
    text = rng.normal(size=(50, 32)).astype(np.float32)
    graph = rng.normal(size=(50, 16)).astype(np.float32)
    probability = agree(runtimes, lambda runtime: runtime.match(text, graph))
    assert probability.shape == (50,)
    assert 0 <= probability.min() < probability.max() <= 1
    text[:2] = 1e4  # far out nothing overflows
    text[0, ::2] *= -1
    agree(runtimes, lambda runtime: runtime.match(text[:2], np.zeros((2, 16), np.float32)))


@pytest.mark.parametrize("which", [0, 1])
def test_a_text_s_vector_does_not_depend_on_its_batch(runtimes: Pair, samples: dict[str, IRSample], which: int) -> None:
    runtime, sample = runtimes[which], samples["handwritten/exceptions_itanium.ll"]
    together = runtime.encode_texts(sample.text_ids, sample.text_length)
    rows = np.arange(0, len(sample.texts), 3)
    alone = [runtime.encode_texts(sample.text_ids[row : row + 1], sample.text_length[row : row + 1])[0] for row in rows]
    np.testing.assert_allclose(together[rows], alone, rtol=1e-5, atol=1e-5)
    order = np.random.default_rng(0).permutation(len(sample.texts))
    shuffled = runtime.encode_texts(sample.text_ids[order], sample.text_length[order])
    np.testing.assert_allclose(shuffled, together[order], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["model_config", "convolution_config"])
def test_neither_threads_nor_an_earlier_call_change_a_bit_and_weights_are_left_alone(
    kind: str, samples: dict[str, IRSample], request: pytest.FixtureRequest
) -> None:
    config: ModelConfig = request.getfixturevalue(kind)
    weights = random_weights(config)
    before = {name: value.copy() for name, value in weights.items()}
    sample = samples["ir/clang-19/O0/parallel_loops.ll"]
    one, two, many = (NumpyRuntime(config, weights, threads=threads) for threads in (1, 2, 5))
    texts = [each.encode_texts(sample.text_ids, sample.text_length) for each in (one, two, many)]
    np.testing.assert_array_equal(texts[0], texts[1])
    np.testing.assert_array_equal(texts[0], texts[2])
    pools = module_pools(sample, "count")
    for first, again in zip(one.forward(sample, pools), one.forward(sample, pools), strict=True):
        np.testing.assert_array_equal(first, again)
    for name, value in weights.items():
        np.testing.assert_array_equal(value, before[name])


@pytest.mark.parametrize("which", [0, 1])
def test_progress_counts_every_text_once(runtimes: Pair, samples: dict[str, IRSample], which: int) -> None:
    sample = samples["ir/clang-19/O2/numeric.ll"]
    advances: list[int] = []
    runtimes[which].encode_texts(sample.text_ids, sample.text_length, advance=advances.append)
    assert sum(advances) == len(sample.texts)
