"""`repair_counts`: how often blocks and edges ran, where a profile is sampled, stale or has gaps.

Of all flows the one of least cost is taken: Levin, Newman and Haber, "Complementing missing and inaccurate profiling
using a minimum cost circulation algorithm" (HiPEAC 2008), and LLVM's profi: He et al., "Profile inference revisited"
(POPL 2022). What a model believes costs, too, as in PROFIX. Deviation: their costs are linear. Here a block costs the
surprise of its samples (Poisson), and a branch that of its shares under what is believed of it, as if a few samples had
said so: it goes where many samples say, else where the model says.
"""

import numpy as np

from mirenc.base.arrays import Bool, Float64, Int64
from mirenc.llvm.analysis.profile import Flow, profiled_shares, solve_flow
from mirenc.llvm.ir.module import IRModule

_STEPS, _TRIES, _RIDGE = 50, 20, 1e-6
_MIN_GAIN = 1e-3  # nats of a function that one more step would win
_MAX_SHRINKAGE = 0.95  # of the way to where a flow would be nothing
_Evidence = tuple[Float64, Float64, Float64]  # blocks' samples (n,) and rate (n,), samples believed of edges (E,)


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
        problem = f"samples {samples.shape}, rate {rate.shape}, shares {shares.shape}"
        raise ValueError(f"{problem}; the module has {size} blocks and {edges} edges.")
    samples, trust = np.where(rate > 0, samples, 0.0), np.ones(size)
    for _ in range(doubts + 1):
        flow = _repair(module, samples * trust, rate * trust, shares, worth)
        expected = np.maximum(rate * flow.blocks, 1e-12)
        surprise = expected - samples + samples * np.log(np.maximum(samples, 1e-300) / expected)
        trust = 1 / (1 + np.maximum(surprise, 0))  # a nat halves what a block's samples count
    return flow


def _repair(module: IRModule, samples: Float64, rate: Float64, shares: Float64, worth: float) -> Flow:
    arrays, size = module.arrays, module.block_count
    starts = {number: header.first_block for number, header in enumerate(module.headers) if not header.is_declaration}
    owner = arrays.function[arrays.block_start[:-1]].astype(np.int64)
    source = np.repeat(np.arange(size), np.diff(arrays.successor_start))
    prior = solve_flow(module, shares, np.ones(size, dtype=bool), dict.fromkeys(starts, 1.0))
    is_reached = prior.blocks > 0
    sample_sums, expected_sums = (
        np.bincount(owner, is_reached * values) for values in (samples * (rate > 0), rate * prior.blocks)
    )
    active = is_reached & (sample_sums > 0)[owner] & ~_is_endless(module, source, is_reached)[owner]
    owners = np.unique(owner[active])
    entry = np.array([starts[number] for number in owners.tolist()], dtype=np.int64)
    inner, row = np.flatnonzero(active[source] & active[arrays.successor]), np.cumsum(active) - 1
    target, part = row[np.append(arrays.successor[inner], entry)], np.append(owner[source[inner]], owners)
    flow = np.append(prior.edges[inner], np.ones(len(owners))) * sample_sums[part] / expected_sums[part]
    if len(flow):
        evidence = samples[active], rate[active], worth * shares[inner]
        flow = _minimise(row[source[inner]], target, owner[active], part, evidence, flow)
    # Once more by its shares: so it is a flow to the last digit.
    new_shares = shares.copy()
    new_shares[inner] = flow[: len(inner)]
    new_shares /= np.bincount(source, new_shares, size)[source]
    return solve_flow(module, new_shares, active, dict(zip(owners.tolist(), flow[len(inner) :].tolist(), strict=True)))


def _is_endless(module: IRModule, source: Int64, is_reached: Bool) -> Bool:
    """Functions with a reached block from which no end of the function can be reached."""
    arrays, ends = module.arrays, np.diff(module.arrays.successor_start) == 0
    while len(new_ends := source[ends[arrays.successor] & ~ends[source]]):
        ends[new_ends] = True
    return np.bincount(arrays.function[arrays.block_start[:-1]], is_reached & ~ends) > 0


def _minimise(source: Int64, target: Int64, owner: Int64, part: Int64, evidence: _Evidence, flow: Float64) -> Float64:
    """The flow of least cost, by Newton's method from a positive flow; each function has a step length of its own.

    Shapes: of E edges ``source``; of these and an entry a function, m, ``target``, ``part`` (the function) and
    ``flow``; of n blocks ``owner`` (the function).
    """
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    (samples, rate, belief), edges, arcs, size = evidence, len(source), len(flow), len(owner)
    block_belief, (sources, row) = np.bincount(source, belief, size), np.unique(source, return_inverse=True)
    # Solved for are the changes of ways and blocks, in shares of their flow, and the prices of what flows in and out.
    arc, block = np.arange(arcs), arcs + np.arange(size)
    low = [block + size, size + block[target], 2 * size + block[: len(sources)], 2 * size + block[row], block[source]]
    high = [block, arc, block[sources], arc[:edges], arc[:edges]]
    place = np.concatenate([*low, *high, arc, block]), np.concatenate([*high, *low, arc, block])
    diagonal = np.concatenate([belief + _RIDGE, np.full(arcs - edges, _RIDGE), samples + block_belief])

    def costs(flow: Float64) -> Float64:  # of each function, in nats
        blocks = np.bincount(target, flow)
        cost = np.bincount(owner, rate * blocks - samples * np.log(blocks))
        shares = np.bincount(owner[source], belief * np.log(flow[:edges] / blocks[source]), len(cost))
        return np.asarray(cost - shares, np.float64)

    cost = costs(flow)
    is_active = np.ones(len(cost), dtype=bool)
    for _ in range(_STEPS):
        blocks = np.bincount(target, flow)
        half = [-np.ones(size), flow / blocks[target], -np.ones(len(sources)), flow[:edges] / blocks[source], -belief]
        slope = np.concatenate([belief, np.zeros(arcs - edges), samples - rate * blocks - block_belief])
        prices = np.zeros(size + len(sources))
        try:
            change = splu(csc_matrix((np.concatenate([*half, *half, diagonal]), place))).solve(np.append(slope, prices))
        except RuntimeError:  # singular to the last digit; what there is, is a flow
            break
        step, gains = change[:arcs], np.bincount(np.append(part, owner), slope * change[: arcs + size])
        is_active &= gains > _MIN_GAIN
        if not is_active.any():
            break
        shrinkage = np.zeros(len(cost))
        np.maximum.at(shrinkage, part, -step)
        length = is_active * np.minimum(1.0, _MAX_SHRINKAGE / np.maximum(shrinkage, 1e-9))
        for _ in range(_TRIES):
            new_flow = flow * (1 + length[part] * step)
            new_cost = costs(new_flow)
            is_worse = new_cost > cost - 1e-4 * length * gains + 1e-12 * np.abs(cost)
            if not is_worse.any():
                break
            length[is_worse] /= 3
        is_active &= ~is_worse
        flow, cost = np.where(is_worse[part], flow, new_flow), np.where(is_worse, cost, new_cost)
    return flow
