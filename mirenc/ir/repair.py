"""`repair_counts`: how often blocks and edges ran, where a profile is sampled, stale or has gaps.

Such counts contradict each other: what flows into a block need not flow out. Of all flows the one of least cost is
taken. A block costs the surprise of its samples (Poisson), and a branch the surprise of its shares under what a model
believes of it, which counts as much as a few samples: so a branch goes where many samples say, else where the model
says.

A profile as a flow of least cost is Levin, Newman and Haber's ("Complementing missing and inaccurate profiling using a
minimum cost circulation algorithm", HiPEAC 2008) and LLVM's (profi; He et al., "Profile inference revisited", POPL
2022), the model beside it PROFIX's. Deviation: their costs are linear. These are log-likelihoods, so Newton's steps
find the flow, each a sparse system in all functions.
"""

from typing import NamedTuple

import numpy as np

from mirenc.arrays import Bool, Float64, Int64
from mirenc.ir.module import IRModule
from mirenc.ir.profile import Flow, solve_flow

_STEPS, _TRIES = 50, 20
_ENOUGH = 1e-3  # nats of a function that one more step would win
_NEAR = 0.95  # of the way to where a flow would be nothing
_RIDGE = 1e-6


def repair_counts(module: IRModule, samples: Float64, rate: Float64, shares: Float64, worth: float = 0.5) -> Flow:
    """The flow that explains samples of blocks best, where each branch is believed to go by such shares.

    Shapes: ``samples`` (B,), taken in each block; ``rate`` (B,), samples that one execution of it gives: its
    instructions by the period, if every so many instructions are sampled; 0 where nothing is known. ``shares`` (C,) of
    edges in their block, as `solve_flow` takes them; ``worth``, in samples, is how much a branch's are believed.

    Counts of another build are samples, too: their rate says how far they are believed. A function without samples has
    no flow, and so has one where a loop has no way out. Raises ValueError: an array is not of the module's size.
    """
    arrays, size = module.arrays, module.block_count
    if not (len(samples) == len(rate) == size and len(shares) == len(arrays.successor)):
        wanted = f"samples and rate ({size},) and shares ({len(arrays.successor)},)"
        raise ValueError(f"samples ({len(samples)},), rate ({len(rate)},) and shares ({len(shares)},); wanted {wanted}")
    heads = [(number, head.first_block) for number, head in enumerate(module.headers) if not head.is_declaration]
    owner = arrays.function[arrays.block_start[:-1]]
    source = np.repeat(np.arange(size), np.diff(arrays.successor_start))
    told = np.ones(size, dtype=bool)
    believed = solve_flow(module, shares, told, {number: 1.0 for number, _ in heads})
    reached = np.isfinite(believed.blocks) & (believed.blocks > 0)
    taken, expected = (
        np.bincount(owner, np.where(reached & (rate > 0), each, 0), len(module.headers))
        for each in (samples, rate * believed.blocks)
    )
    told = reached & (taken > 0)[owner]
    begun = [(number, first) for number, first in heads if told[first]]
    if not begun:
        return Flow(np.zeros(size), np.zeros(len(source)), told)
    entered, entry = np.array(begun, dtype=np.int64).T
    kept, row = np.flatnonzero(told[source] & told[arrays.successor]), np.cumsum(told) - 1
    problem = _Problem(
        row[source[kept]],
        row[np.concatenate([arrays.successor[kept], entry])],
        np.concatenate([owner[source[kept]], entered]),
        owner[told],
        np.where(rate > 0, samples, 0)[told],
        rate[told],
        worth * shares[kept],
    )
    begin = np.concatenate([believed.edges[kept], np.ones(len(entered))])
    flow = _cheapest(problem, begin * (taken / np.maximum(expected, 1e-300))[problem.part])
    # Once more from the shares: so that it is a flow to the last digit.
    found = shares.copy()
    found[kept] = flow[: len(kept)]
    found /= np.bincount(source, found, size)[source]
    return solve_flow(module, found, told, dict(zip(entered.tolist(), flow[len(kept) :].tolist(), strict=True)))


class _Problem(NamedTuple):
    """n blocks and the m ways into them: E edges, then an entry a function."""

    source: Int64  # (E,)
    target: Int64  # (m,)
    part: Int64  # (m,) function
    owner: Int64  # (n,) function
    samples: Float64  # (n,)
    rate: Float64  # (n,)
    belief: Float64  # (E,) samples that an edge is believed to have had

    def costs(self, flow: Float64) -> Float64:
        """Of each function, in nats."""
        edges, blocks = len(self.source), np.bincount(self.target, flow, len(self.owner))
        cost = self.rate * blocks - self.samples * np.log(blocks)
        shares = np.log(flow[:edges] / blocks[self.source])
        return np.bincount(self.owner, cost) - np.bincount(
            self.part[:edges], self.belief * shares, self.owner.max() + 1
        )

    def newton(self, flow: Float64) -> tuple[Float64, Float64]:
        """Gradient and step, both as shares of each flow; a step keeps what flows in equal to what flows out."""
        from scipy.sparse import bmat, csr_matrix, diags, identity
        from scipy.sparse.linalg import splu

        edges, ways, size = len(self.source), len(flow), len(self.owner)
        blocks, column = np.bincount(self.target, flow, size), np.arange(ways)
        into = csr_matrix((flow / blocks[self.target], (self.target, column)), (size, ways))
        out = csr_matrix((flow[:edges] / blocks[self.source], (self.source, column[:edges])), (size, ways))
        shares = identity(ways, format="csr")[:edges] - into[self.source]
        gradient = into.T @ (self.rate * blocks - self.samples) - shares.T @ self.belief
        bent = into.T @ diags(self.samples) @ into + shares.T @ diags(self.belief) @ shares + _RIDGE * identity(ways)
        kept = (into - out)[np.unique(self.source)]
        system = bmat([[bent, kept.T], [kept, None]], format="csc")
        return gradient, splu(system).solve(np.append(-gradient, np.zeros(kept.shape[0])))[:ways]


def _cheapest(problem: _Problem, flow: Float64) -> Float64:
    """The flow of least cost, from one that is more than 0: each function goes its own way down."""
    part, costs = problem.part, problem.costs(flow)
    going: Bool = np.ones(len(costs), dtype=bool)
    for _ in range(_STEPS):
        gradient, step = problem.newton(flow)
        slope, steepest = np.bincount(part, gradient * step), np.zeros(len(costs))
        going &= slope < -_ENOUGH
        if not going.any():
            break
        np.maximum.at(steepest, part, -step)
        length = going * np.minimum(1.0, _NEAR / np.maximum(steepest, 1e-9))
        for _ in range(_TRIES):
            after = flow * (1 + length[part] * step)
            found = problem.costs(after)
            worse = found > costs + 1e-4 * length * slope + 1e-12 * np.abs(costs)
            if not worse.any():
                break
            length[worse] /= 3
        going &= ~worse
        taken = ~worse[part]
        flow, costs = np.where(taken, after, flow), np.where(worse, costs, found)
    return flow
