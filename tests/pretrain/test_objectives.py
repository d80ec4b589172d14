"""The three objectives: losses worked out by hand, and the shares and rules of what is masked or drawn."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

from mirenc.model.graph import Flow
from mirenc.model.tokenizer import CLS, MASK, PAD, SEP, SPECIAL_TOKENS, UNK
from mirenc.pretrain.corpus import CorpusModule
from mirenc.pretrain.graphs import Graphs, flow_pairs, join_graphs
from mirenc.pretrain.objectives import Pairs, gae_loss, igm_loss, mask_tokens, mlm_loss

VOCAB = 5000


# -- masked language modelling -------------------------------------------------------------------------
@pytest.fixture(scope="module")
def ids() -> np.ndarray:
    """Statements of 64 places, a quarter of them special tokens of every sort."""
    ids = np.random.default_rng(1).integers(len(SPECIAL_TOKENS), VOCAB, size=(4000, 64))
    ids[:, 0], ids[:, 10:15], ids[:, 47], ids[:, 48], ids[:, 56:] = CLS, UNK, MASK, SEP, PAD
    return ids


def masked(ids: np.ndarray, seed: int = 0, share: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    return mask_tokens(ids, np.random.default_rng(seed), vocab_size=VOCAB, share=share)


@pytest.mark.parametrize("share", [0.15, 0.4])
def test_the_share_of_chosen_tokens(ids: np.ndarray, share: float) -> None:
    _, chosen = masked(ids, share=share)
    # 192,000 draws: four standard deviations are 0.0045 at most.
    assert abs(chosen[ids >= len(SPECIAL_TOKENS)].mean() - share) < 0.0045


def test_eighty_ten_ten(ids: np.ndarray) -> None:
    after, chosen = masked(ids)
    became_mask = (after == MASK)[chosen].mean()
    stayed = (after == ids)[chosen].mean()
    # 28,800 chosen: four standard deviations are 0.0095 and 0.0071; a random piece is the same once in 5,000.
    assert abs(became_mask - 0.8) < 0.0095
    assert abs(stayed - 0.1) < 0.0072
    assert abs(1 - became_mask - stayed - 0.1) < 0.0072


def test_special_tokens_are_never_chosen_nor_put_in(ids: np.ndarray) -> None:
    after, chosen = masked(ids, share=0.9)
    special = ids < len(SPECIAL_TOKENS)
    assert not chosen[special].any()
    assert chosen.any()
    replaced = after[chosen & (after != ids) & (after != MASK)]
    assert replaced.min() >= len(SPECIAL_TOKENS)
    assert replaced.max() < VOCAB
    # A random piece is any piece: 14,000 draws from 4,995 leave few out.
    assert len(np.unique(replaced)) > 4500


def test_tokens_not_chosen_stay_and_another_seed_chooses_others(ids: np.ndarray) -> None:
    before = ids.copy()
    after, chosen = masked(ids)
    np.testing.assert_array_equal(after[~chosen], ids[~chosen])
    np.testing.assert_array_equal(ids, before)
    for one, other in zip((after, chosen), masked(ids), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (chosen != masked(ids, seed=1)[1]).any()


class KnownScores:
    """A stand-in whose scores are known: a token's vector is its id, its scores the row of a table."""

    def __init__(self, table: Tensor) -> None:
        self.text = self
        self.token = SimpleNamespace(weight=table)

    def __call__(self, ids: Tensor) -> Tensor:
        return ids.unsqueeze(-1)

    def mlm(self, tokens: Tensor, embedding: Tensor) -> Tensor:
        return embedding[tokens.squeeze(-1)]


def test_mlm_loss_worked_by_hand() -> None:
    model = KnownScores(torch.tensor([[0.0, 0.0, 0.0], [math.log(2), 0.0, 0.0], [0.0, math.log(6), 0.0]]))
    ids = torch.tensor([[0, 1, 2], [2, 2, 0]])
    masked_ids = torch.tensor([[1, 1, 2], [2, 2, 0]])
    chosen = torch.tensor([[True, False, False], [False, True, False]])
    # First: scores (ln 2, 0, 0), right answer 0, probability 2/4. Second: (0, ln 6, 0), right answer 2, 1/8.
    assert mlm_loss(model, ids, masked_ids, chosen, total=2).item() == pytest.approx((math.log(2) + math.log(8)) / 2)


# -- graph auto-encoding -------------------------------------------------------------------------------
def test_gae_loss_worked_by_hand() -> None:
    z = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    none = torch.zeros((2, 0), dtype=torch.int64)
    # Edges 0-1 (product 2) and 1-1 (product 1); no edges 0-2 and 1-2 (products 0).
    positive, negative = torch.tensor([[0, 1], [1, 1]]), torch.tensor([[0, 1], [2, 2]])
    one_flow = (math.log1p(math.exp(-2)) + math.log1p(math.exp(-1))) / 2 + math.log(2)
    assert one_flow == pytest.approx(0.913242, abs=1e-6)
    assert gae_loss([z] * 3, [(positive, negative), (none, none), (none, none)]).item() == pytest.approx(one_flow)
    # Flows are summed, each over its own vectors: with -z the products are the same.
    two = gae_loss([z, -z, z], [(positive, negative), (positive, negative), (none, none)])
    assert two.item() == pytest.approx(2 * one_flow)
    assert gae_loss([z] * 3, [(none, none)] * 3).item() == 0


def test_gae_loss_of_an_exact_adjacency_is_near_nothing() -> None:
    z = 4 * torch.tensor([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    positive, negative = torch.tensor([[0], [1]]), torch.tensor([[0], [2]])
    exact = gae_loss([z], [(positive, negative)]).item()
    # Both products have the size 16.
    assert exact == pytest.approx(2 * math.log1p(math.exp(-16)), rel=1e-3)
    assert gae_loss([z], [(negative, positive)]).item() == pytest.approx(32, rel=1e-3)


def module(edges: list[tuple[int, int, Flow]], nodes: int, first_row: int = 0) -> CorpusModule:
    return CorpusModule(
        statement_row=np.arange(2, dtype=np.int32),
        statement_count=np.ones(2, dtype=np.int32),
        node_row=np.arange(first_row, first_row + nodes, dtype=np.int32),
        node_kind=np.arange(nodes, dtype=np.int8) % 3,
        node_argument=np.zeros(nodes, dtype=np.int32),
        edge_index=np.array([edge[:2] for edge in edges], dtype=np.int32).reshape(-1, 2).T,
        edge_flow=np.array([edge[2] for edge in edges], dtype=np.int8),
        edge_position=np.zeros(len(edges), dtype=np.int32),
    )


def ring(nodes: int, flow: Flow) -> list[tuple[int, int, Flow]]:
    return [(node, (node + 1) % nodes, flow) for node in range(nodes)]


@pytest.fixture(scope="module")
def modules() -> list[CorpusModule]:
    # Control edges among the first 8 nodes only, data edges among all.
    first = module(ring(8, Flow.CONTROL) + ring(12, Flow.DATA), 12)
    return [first, module(ring(9, Flow.CALL), 10, first_row=100)]


class Texts:
    """Stands for a corpus."""

    def __init__(self, modules: list[CorpusModule]) -> None:
        self.modules = modules

    def __getitem__(self, number: int) -> CorpusModule:
        return self.modules[number]


def draw(modules: list[CorpusModule], seed: int = 0, share: slice = slice(None)) -> Graphs:
    return join_graphs(Texts(modules), np.arange(len(modules)), np.random.default_rng(seed), share=share)


def pairs_of(graphs: Graphs) -> Pairs:
    return flow_pairs(graphs.data(torch.device("cpu")))


def columns(pairs: Tensor | np.ndarray) -> set[tuple[int, int]]:
    return set(zip(*pairs.tolist(), strict=True))


def test_graphs_stand_end_to_end(modules: list[CorpusModule]) -> None:
    batch = draw(modules)
    assert batch.text_key[batch.node_row].tolist() == [*range(12), *range(100, 110)]
    assert batch.group.tolist() == [0] * 12 + [1] * 10
    assert batch.node_kind.tolist() == [node % 3 for node in range(12)] + [node % 3 for node in range(10)]
    assert batch.edge_index[:, :20].tolist() == modules[0].edge_index.tolist()
    assert batch.edge_index[:, 20:].tolist() == (modules[1].edge_index + 12).tolist()
    assert batch.edge_flow.tolist() == [0] * 8 + [1] * 12 + [2] * 9


def test_pairs_are_the_flow_s_edges_and_others_of_a_graph_among_the_flow_s_nodes(modules: list[CorpusModule]) -> None:
    sizes = []
    for seed in range(20):
        batch = draw(modules, seed)
        for flow, (positive, negative) in zip(Flow, pairs_of(batch), strict=True):
            edges = columns(batch.edge_index[:, batch.edge_flow == flow])
            assert columns(positive) <= edges
            assert positive.shape == negative.shape
            sizes.append(positive.shape[1])
            ends = {end for edge in edges for end in edge}
            for source, target in columns(negative):
                assert source != target
                assert not {(source, target), (target, source)} & edges
                assert {source, target} <= ends
                assert batch.group[source] == batch.group[target]
    assert min(sizes[:3]) >= 6


def test_a_graph_whose_every_pair_is_an_edge_has_no_pairs() -> None:
    full = module([(0, 1, Flow.DATA), (1, 2, Flow.DATA), (2, 0, Flow.DATA)], 3)
    batch = draw([full])
    assert [tuple(part.shape) for pair in pairs_of(batch) for part in pair] == [(2, 0)] * 6
    assert gae_loss([torch.zeros(3, 2)] * 3, pairs_of(batch)).item() == 0


def test_a_batch_is_the_generator_s(modules: list[CorpusModule]) -> None:
    one, same, other = (pairs_of(draw(modules, seed)) for seed in (0, 0, 1))
    for flow in Flow:
        assert all(a.equal(b) for a, b in zip(one[flow], same[flow], strict=True))
    assert not one[Flow.DATA][1].equal(other[Flow.DATA][1])


# -- matching ------------------------------------------------------------------------------------------
class InnerProduct:
    """A matching head that can be worked out by hand."""

    @staticmethod
    def matching(text: Tensor, graph: Tensor) -> Tensor:
        return (text * graph).sum(-1)


def test_igm_loss_worked_by_hand() -> None:
    text = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    graph = torch.tensor([[1.0, 1.0], [0.0, 3.0]])
    # Logits: own pairs 1 and 6, other pairs 1*0 = 0 (text 0, graph 1) and 2*1 = 2 (text 1, graph 0).
    true_pairs = (math.log1p(math.exp(-1)) + math.log1p(math.exp(-6))) / 2
    other = (math.log(2) + math.log1p(math.exp(2))) / 2
    assert igm_loss(InnerProduct, text, graph).item() == pytest.approx((true_pairs + other) / 2)
    assert (true_pairs + other) / 2 == pytest.approx(0.783953, abs=1e-6)


def test_shares_of_a_batch_add_up_to_the_whole(modules: list[CorpusModule]) -> None:
    """What several processes compute, each for its share, is what one computes."""
    batch, rng = draw(modules), np.random.default_rng(0)
    z = torch.from_numpy(rng.normal(size=(22, 4)).astype(np.float32))
    expected = gae_loss([z] * 3, pairs_of(batch))
    totals = [positive.shape[1] for positive, _ in pairs_of(batch)]
    parts = []
    for number, nodes in enumerate((slice(0, 12), slice(12, 22))):
        share = draw(modules, share=slice(number, None, 2))
        assert np.array_equal(share.text_key[share.node_row], batch.text_key[batch.node_row[nodes]])
        parts.append(gae_loss([z[nodes]] * 3, pairs_of(share), totals=totals))
    # A third process of a batch of two has nothing to do.
    none = draw(modules, share=slice(2, None, 3))
    assert (none.groups, len(none.node_row)) == (0, 0)
    assert gae_loss([z[:0]] * 3, pairs_of(none), totals=totals).item() == 0
    assert sum(part.item() for part in parts) == pytest.approx(expected.item(), rel=1e-6)
    text, graph = z[:6], z[6:12]
    head = InnerProduct
    halves = [igm_loss(head, text, graph, share=slice(number, None, 2)).item() for number in (0, 1)]
    assert sum(halves) == pytest.approx(igm_loss(head, text, graph).item(), rel=1e-6)


def test_node_weights(modules: list[CorpusModule]) -> None:
    same = module([], 5)
    same.node_row[:], same.node_kind[:] = [5, 5, 5, 5, 7], [0, 0, 0, 0, 1]
    graphs = join_graphs(Texts([*modules, same]), np.arange(3), weighting="sqrt")
    each = [graphs.weight[graphs.group == number] for number in range(3)]
    assert [weight.sum() for weight in each] == pytest.approx([1, 1, 1])
    # Four equal nodes weigh sqrt(4) = 2 together, the fifth 1.
    assert each[2].tolist() == pytest.approx([1 / 6] * 4 + [1 / 3])


def test_igm_loss_falls_when_pairs_are_told_apart() -> None:
    right = torch.tensor([[5.0, -5.0], [-5.0, 5.0]])
    assert igm_loss(InnerProduct, right, right).item() < 1e-6
    assert igm_loss(InnerProduct, right, right.flip(0)).item() == pytest.approx(50)
