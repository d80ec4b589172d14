"""`repair_counts`: how often blocks and edges ran, where a profile is sampled, stale or has gaps.

Such counts contradict each other: what flows into a block need not flow out. Of all flows the one of least cost is
taken. A block costs the surprise of its samples (Poisson), and a branch that of its shares under what is believed of
it, which is worth a few samples: so it goes where many samples say, else where a model says.

A profile as a flow of least cost is Levin, Newman and Haber's ("Complementing missing and inaccurate profiling using a
minimum cost circulation algorithm", HiPEAC 2008) and LLVM's (profi; He et al., "Profile inference revisited", POPL
2022), the model beside it PROFIX's. Deviation: their costs are linear. These are log-likelihoods, so Newton's steps
find the flow, each a sparse system of all functions.
"""

from typing import NamedTuple

import numpy as np

from mirenc.arrays import Float64, Int64
from mirenc.ir.module import IRModule
from mirenc.ir.profile import Flow, profiled_shares, solve_flow

_STEPS, _TRIES, _RIDGE = 50, 20, 1e-6
_ENOUGH = 1e-3  # nats of a function that one more step would win
_NEAR = 0.95  # of the way to where a flow would be nothing


def repair_counts(
    module: IRModule,
    samples: Float64,
    rate: Float64,
    shares: Float64 | None = None,
    worth: float = 1.0,
    doubts: int = 0,
) -> Flow:
    """The flow that explains samples of blocks best, where branches are believed to go by the shares of their edges.

    Shapes: ``samples`` (B,), taken in each block; ``rate`` (B,), samples that one execution gives, 0 where nothing is
    known: if every n-th instruction is sampled, the block's instructions by n. ``shares`` (C,), more than 0 each and 1
    a block; default: those of the module's ``!prof``, which a model may have written. They count as ``worth`` samples a
    branch. Old counts are samples, too, at a rate that says how far they are believed; ``doubts`` is how many times
    blocks that the flow contradicts are then believed less.

    A function without samples has no flow, nor has one where a loop has no way out. Raises ValueError: a wrong shape.
    """
    size, edges = module.block_count, len(module.arrays.successor)
    shares = profiled_shares(module)[0] if shares is None else shares
    if not (samples.shape == rate.shape == (size,) and shares.shape == (edges,)):
        found = f"samples {samples.shape}, rate {rate.shape}, shares {shares.shape}"
        raise ValueError(f"{found}; the module has {size} blocks and {edges} edges.")
    samples, flow = np.where(rate > 0, samples, 0.0), _repaired(module, samples, rate, shares, worth)
    for _ in range(doubts):
        expected = np.maximum(rate * flow.blocks, 1e-12)
        surprise = expected - samples + samples * np.log(np.maximum(samples, 1e-300) / expected)
        trust = 1 / (1 + np.maximum(surprise, 0))  # a nat of surprise halves what a block's samples count
        flow = _repaired(module, samples * trust, rate * trust, shares, worth)
    return flow


def _repaired(module: IRModule, samples: Float64, rate: Float64, shares: Float64, worth: float) -> Flow:
    arrays, size = module.arrays, module.block_count
    firsts = {number: head.first_block for number, head in enumerate(module.headers) if not head.is_declaration}
    owner, source = (
        arrays.function[arrays.block_start[:-1]],
        np.repeat(np.arange(size), np.diff(arrays.successor_start)),
    )
    believed = solve_flow(module, shares, np.ones(size, dtype=bool), dict.fromkeys(firsts, 1.0))
    reached = believed.blocks > 0
    taken, expected = (np.bincount(owner, reached * one) for one in (samples * (rate > 0), rate * believed.blocks))
    told = reached & (taken > 0)[owner]
    entered = np.unique(owner[told])
    entry = np.array([firsts[number] for number in entered.tolist()], dtype=np.int64)
    kept, row = np.flatnonzero(told[source] & told[arrays.successor]), np.cumsum(told) - 1
    target, part = row[np.append(arrays.successor[kept], entry)], np.append(owner[source[kept]], entered)
    counted = samples[told], rate[told], worth * shares[kept]
    flow = np.append(believed.edges[kept], np.ones(len(entered))) * taken[part] / expected[part]
    flow = _cheapest(_Problem(row[source[kept]], target, part, owner[told], *counted), flow)
    # Once more by its shares: so it is a flow to the last digit.
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
        blocks = np.bincount(self.target, flow)
        shares = self.belief * np.log(flow[: len(self.source)] / blocks[self.source])
        cost = np.bincount(self.owner, self.rate * blocks - self.samples * np.log(blocks))
        return cost - np.bincount(self.owner[self.source], shares, len(cost))

    def step(self, flow: Float64) -> tuple[Float64, Float64]:
        """Newton's, as a share of each way's flow (m,), and how much it wins in each function, in nats.

        It is solved for with the blocks' shares, which are those of what flows in, and of what flows out.
        """
        from scipy.sparse import coo_matrix
        from scipy.sparse.linalg import splu

        edges, size, source = len(self.source), len(self.owner), self.source
        blocks, believed = np.bincount(self.target, flow), np.bincount(source, self.belief, size)
        way, block = np.arange(len(flow)), len(flow) + np.arange(size)
        goes_on, out = np.unique(source, return_inverse=True)
        entries = [
            (block + size, block, -np.ones(size)),
            (size + block[self.target], way, flow / blocks[self.target]),
            (2 * size + block[: len(goes_on)], block[goes_on], -np.ones(len(goes_on))),
            (2 * size + block[out], way[:edges], flow[:edges] / blocks[source]),
            (block[source], way[:edges], -self.belief),
        ]
        entries += [(column, row, value) for row, column, value in entries]
        own = np.append(self.belief, np.zeros(len(flow) - edges)) + _RIDGE
        entries += [(way, way, own), (block, block, self.samples + believed)]
        row, column, value = (np.concatenate(each) for each in zip(*entries, strict=True))
        down = np.zeros(len(flow) + 2 * size + len(goes_on))
        down[:edges], down[block] = self.belief, self.samples - self.rate * blocks - believed
        found = splu(coo_matrix((value, (row, column))).tocsc()).solve(down)
        wins = np.bincount(np.append(self.part, self.owner), (down * found)[: len(flow) + size])
        return found[way], wins


def _cheapest(problem: _Problem, flow: Float64) -> Float64:
    """The flow of least cost, from one that is more than 0: each function goes its own way down."""
    part, costs = problem.part, problem.costs(flow)
    going = np.ones(len(costs), dtype=bool)
    for _ in range(_STEPS * bool(len(flow))):
        step, wins = problem.step(flow)
        going &= wins > _ENOUGH
        if not going.any():
            break
        fall = np.zeros(len(costs))
        np.maximum.at(fall, part, -step)
        length = going * np.minimum(1.0, _NEAR / np.maximum(fall, 1e-9))
        for _ in range(_TRIES):
            after = flow * (1 + length[part] * step)
            found = problem.costs(after)
            worse = found > costs - 1e-4 * length * wins + 1e-12 * np.abs(costs)
            if not worse.any():
                break
            length[worse] /= 3
        going &= ~worse
        flow, costs = np.where(worse[part], flow, after), np.where(worse, costs, found)
    return flow
