"""Profiles repaired: by hand, and by what a flow is."""

from __future__ import annotations

import numpy as np
import pytest

from mirenc.llvm import parse_ir
from mirenc.tools.profile.repair import repair_counts

# 0 entry, 1 head of a loop, 2 its body, which forks to 3 and 4, that join in 5, the latch; 6 after it; 7, 8: another.
CODE = """
define i32 @f(i1 %c, i1 %d) {
entry:
  br label %head
head:
  br i1 %c, label %body, label %out
body:
  br i1 %d, label %one, label %two
one:
  br label %latch
two:
  br label %latch
latch:
  br label %head
out:
  ret i32 0
}

define void @g(i1 %c) {
  br i1 %c, label %1, label %2
1:
  br label %2
2:
  ret void
}
"""
TRUE = np.array([10.0, 1010, 1000, 900, 100, 1000, 10, 0, 0, 0])
EVEN = np.array([1, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 0.5, 0.5, 1])


def into(module: object, edges: np.ndarray) -> np.ndarray:
    """What flows into each block."""
    return np.bincount(module.arrays.successor, edges, module.block_count)  # type: ignore[attr-defined]


def test_exact_counts_stay() -> None:
    module = parse_ir(CODE)
    flow = repair_counts(module, TRUE * 1e6, np.full(10, 1.0), EVEN)
    np.testing.assert_allclose(flow.blocks, TRUE * 1e6, rtol=1e-5)
    np.testing.assert_allclose(flow.edges[1:5], [1e9, 1e7, 9e8, 1e8], rtol=1e-5)
    assert flow.known.tolist() == [True] * 7 + [False] * 3  # g has no samples


def test_what_comes_out_is_a_flow_however_the_samples_contradict_each_other() -> None:
    module = parse_ir(CODE)
    random = np.random.default_rng(0)
    for _ in range(20):
        samples = random.poisson(random.choice([0.1, 3, 1000], 10)).astype(float)
        rate = random.choice([0, 0.01, 1], 10)
        flow = repair_counts(module, samples, rate, EVEN, doubts=2)
        entered = flow.blocks.copy()
        entered[[1, 2, 3, 4, 5, 6, 8, 9]] = 0
        scale = max(flow.blocks.max(), 1e-12)
        np.testing.assert_allclose((into(module, flow.edges) + entered) / scale, flow.blocks / scale, atol=1e-9)
        np.testing.assert_allclose(flow.edges[1] + flow.edges[2], flow.blocks[1], rtol=1e-9)
        assert (flow.blocks >= 0).all()
        assert (flow.edges >= 0).all()
        assert (flow.blocks[:7] > 0).all() == (samples * rate)[:7].any()


def test_a_branch_is_the_mean_of_its_samples_and_of_what_is_believed_of_it() -> None:
    # Of g alone: 3 samples in the way by block 1, one in the last block, which both have; each gives one an execution.
    module = parse_ir(CODE)
    shares = EVEN.copy()
    shares[8:10] = 0.2, 0.8
    samples, rate = np.zeros(10), np.zeros(10)
    samples[8], rate[8] = 3, 1
    samples[7], rate[7] = 12, 1
    flow = repair_counts(module, samples, rate, shares, worth=5)
    # x of y executions go by block 1. Cost: x - 3 ln x + y - 12 ln y - 1 ln(x / y) - 4 ln(1 - x / y). Its slopes are 0:
    # 1 - 4 / x + 4 / (y - x) = 0 and 1 - 7 / y - 4 / (y - x) = 0.
    x, y = flow.blocks[8], flow.blocks[7]
    assert 1 - 4 / x + 4 / (y - x) == pytest.approx(0, abs=0.02)
    assert 1 - 7 / y - 4 / (y - x) == pytest.approx(0, abs=0.02)
    assert flow.blocks[9] == pytest.approx(y)


def test_blocks_without_samples_go_as_believed() -> None:
    module = parse_ir(CODE)
    shares = EVEN.copy()
    shares[1:5] = 0.9, 0.1, 0.25, 0.75
    samples, rate = np.zeros(10), np.zeros(10)
    samples[1], rate[1] = 50, 0.5
    flow = repair_counts(module, samples, rate, shares)
    np.testing.assert_allclose(flow.blocks[:7], [10, 100, 90, 22.5, 67.5, 90, 10], rtol=1e-4)


def test_a_count_that_the_rest_contradicts_is_doubted() -> None:
    module = parse_ir(CODE)
    wrong = TRUE.copy()
    wrong[0] = 1010  # the line of a loop's head is the entry's, too
    repaired = [repair_counts(module, wrong, np.ones(10), EVEN, doubts=doubts).blocks for doubts in (0, 10)]
    off = [np.abs(blocks - TRUE).max() for blocks in repaired]
    assert off[0] > 100
    assert off[1] < 5


def test_weights_of_the_module_are_believed() -> None:
    weighed = (
        CODE.replace("%one, label %two", "%one, label %two, !prof !0") + '\n!0 = !{!"branch_weights", i32 1, i32 3}'
    )
    samples = np.zeros(10)
    samples[2] = 400
    flow = repair_counts(parse_ir(weighed), samples, (samples > 0).astype(float))
    np.testing.assert_allclose(flow.blocks[[3, 4]], [100, 300], rtol=1e-3)


def test_functions_without_samples_or_exits_have_no_flow() -> None:
    module = parse_ir(CODE)
    assert not repair_counts(module, np.zeros(10), np.ones(10), EVEN).blocks.any()
    endless = parse_ir("define void @f() {\n  br label %1\n1:\n  br label %1\n}\ndefine void @g() {\n  ret void\n}\n")
    assert repair_counts(endless, np.full(3, 7.0), np.ones(3)).blocks.tolist() == [0, 0, 7]
    # Shares that are 1 but for the last digit let go what cannot go.
    within = "br i1 %c, label %1, label %3\n1:\n  br i1 %c, label %2, label %1\n2:\n  br label %1\n3:\n  ret void\n"
    module = parse_ir(f"define void @f(i1 %c) {{\n  {within}}}\n")
    shares = np.array([0.9, 0.1, 0.3, 0.7 - 1e-16, 1])
    assert repair_counts(module, np.full(4, 7.0), np.ones(4), shares).blocks.tolist() == [0, 0, 0, 0]


def test_a_wrong_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"samples \(3,\).*10 blocks and 11 edges"):
        repair_counts(parse_ir(CODE), np.zeros(3), np.zeros(10), EVEN)
