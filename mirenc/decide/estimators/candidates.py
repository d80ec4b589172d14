"""The candidate estimators that every row of a table chooses from, and the inner folds on which it chooses.

The candidates are the same for the embedding and for its baselines, so that none is under-tuned; they follow from the
`DataShape`. Those for a few samples of a few settings were chosen on the device-mapping data;
`downstream/device_mapping/README.md` says what was dropped.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Int64
from mirenc.decide.estimators.cost_head import CostHead
from mirenc.decide.estimators.ensemble import (
    CautiousEnsembleHead,
    EnsembleHead,
    HedgingEnsembleHead,
    LabelsEnsembleHead,
    NumberEnsembleHead,
)
from mirenc.decide.estimators.linear import LandmarkLabels, LandmarkRegressor, RidgeHead, RidgeLabels, RidgeRegressor
from mirenc.decide.estimators.mlp import LabelHead, MLPHead
from mirenc.decide.estimators.pair_head import PairHead
from mirenc.decide.estimators.trees import BoostedRegressor, RatioTreesHead, TreesHead, TreesLabels
from mirenc.decide.protocols import cut

INNER_FOLDS = 4
# With so many samples a difference between heads shows on a few folds, and each fold costs minutes.
_HUGE = 10_000
_FEWER_FOLDS = 2
_FEW_UNITS = 8  # so few are left out one by one
# With fewer different kernels to learn from, a search among heads picks noise; the first candidate is taken.
_ENOUGH_GROUPS = 50
# Where cost is what counts, a choice that is several times as slow must not look harmless.
_CLIP = {"accuracy": 0.75, "speedup": 2.0}
# An exact Gaussian process takes n^2 memory and n^3 time.
_FEW_SAMPLES = 1500
_MANY_SAMPLES = 5000
# More settings than this are no longer learned one by one.
_FEW_SETTINGS = 12
# With few components, a tree's draw among columns is seldom wasted; with many, they hold more of what matters.
_RATIO_COMPONENTS = (16, 48)
_AHEAD_COMPONENTS = 64
_PENALTIES = (0.01, 0.1, 1.0)
_LENGTH_SCALES = (0.5, 1.5)

Members = list[tuple[str, Any]]


@dataclass(frozen=True)
class DataShape:
    """What the candidates follow from."""

    context: int  # columns of context features
    code: int  # columns of code features
    samples: int  # training rows
    groups: int  # different kernels that these are of
    settings: int  # K; 0 where the target is a number, or labels
    shared: bool = True  # whether all samples have the same settings
    default: int | None = 0  # column of the default setting; None where it differs from sample to sample
    ahead: bool = False  # whether a setting's columns describe the code that it makes of each sample
    labels: int = 0  # P; 0 where the target is another

    def is_cautious(self, select: str) -> bool:
        """Whether there are many settings, one column of defaults, kernels enough, and speedup is what counts."""
        many = self.settings > _FEW_SETTINGS and self.groups >= _ENOUGH_GROUPS
        return self.default is not None and many and select == "speedup"


def candidates(shape: DataShape, seed: int, select: str) -> Members:
    """Named candidates, the one for few kernels first; ``select``: what counts, accuracy or speedup."""
    if shape.labels:
        return _for_labels(shape, seed)
    if shape.settings == 0:
        return _for_numbers(shape, seed)
    if shape.ahead:
        return _for_look_ahead(shape, seed, select)
    if shape.shared and shape.is_cautious(select):
        return _for_many_settings(shape, seed)
    ridges = [(f"ridge {penalty:g}", RidgeHead(penalty, clip=_CLIP[select])) for penalty in _PENALTIES]
    if not shape.shared or shape.settings > _FEW_SETTINGS:
        return _pairs(shape, seed, select) + (ridges if shape.shared else [])
    if shape.samples > _FEW_SAMPLES:
        return ridges + _pairs(shape, seed, select)
    return _for_few_samples(shape, seed, select)


def has_mlp(samples: int, settings: int, shared: bool) -> bool:
    """Whether the paper's head is among the candidates for so many samples and settings."""
    shape = DataShape(0, 1, samples, samples, settings, shared)
    return any(name == "mlp" for name, _ in candidates(shape, 0, "accuracy"))


def _for_few_samples(shape: DataShape, seed: int, select: str) -> Members:
    """``mlp`` is the paper's head; ``cost`` and ``rbf`` learn from the measured costs; trees see the best setting."""
    context = shape.context
    members: Members = [("cost", CostHead(context, clip=_CLIP[select]))]
    members += [
        (f"rbf scale {scale:g} clip {clip:g}", CostHead(context, length_scale=scale, clip=clip))
        for scale in (1.0, 1.6)
        for clip in (0.75, 2.0)
    ]
    if context:
        members.append(("trees, context", TreesHead(context, use_code=False, share=1.0, random_state=seed)))
    if shape.code:
        members.append(("trees", TreesHead(context, random_state=seed)))
    return [*members, ("mlp", LabelHead(MLPHead(alpha=1e-2, epochs=25, random_state=seed)))]


def _for_many_settings(shape: DataShape, seed: int) -> Members:
    """Trees of all settings at once, with code and without, and a ridge: each is trained in seconds."""
    context, clip = shape.context, _CLIP["speedup"]
    common: dict[str, Any] = {"default": shape.default, "random_state": seed}
    # A forest of thousands of samples is large, and its leaves need not be that small.
    if shape.samples > _HUGE:
        common |= {"trees": 16, "leaf": 60}
    elif shape.samples > _MANY_SAMPLES:
        common |= {"trees": 30, "leaf": 20}
    members: Members = []
    if shape.code:
        for count in _RATIO_COMPONENTS:
            members.append((f"ratio trees {count}", RatioTreesHead(context, components=count, **common)))
    if context:
        members.append(("ratio trees, context", RatioTreesHead(context, use_code=False, share=1.0, **common)))
    members.append(("ridge 0.1", RidgeHead(0.1, clip=clip)))
    if shape.samples <= _FEW_SAMPLES:
        members.append(("cost", CostHead(context, clip=1.0)))
        members.append(("rbf", CostHead(context, length_scale=1.6, clip=clip)))
    return members


def _boosted_on_pairs(seed: int, **more: Any) -> BoostedRegressor:
    """The columns of a pair are few already, so nothing is reduced twice."""
    return BoostedRegressor(components=4096, random_state=seed, **more)


def _pairs(shape: DataShape, seed: int, select: str) -> Members:
    context = shape.context
    common: dict[str, Any] = {"clip": _CLIP[select], "random_state": seed}
    slow = _boosted_on_pairs(seed, trees=200, leaves=8, learning_rate=0.05)
    members: Members = [
        ("pairs, boosted", PairHead(_boosted_on_pairs(seed, trees=100), context, **common)),
        ("pairs, boosted slowly", PairHead(slow, context, **common)),
        ("pairs, ridge", PairHead(RidgeRegressor(0.01), context, components=8, products=True, **common)),
    ]
    if context and shape.code:
        members.append(("pairs, context", PairHead(slow, context, use_code=False, **common)))
    return members


def _for_look_ahead(shape: DataShape, seed: int, select: str) -> Members:
    """The one head that sees the code that each setting makes."""
    boosted = _boosted_on_pairs(seed, trees=100, bags=3, share=0.3)
    common: dict[str, Any] = {"clip": _CLIP[select], "random_state": seed, "components": _AHEAD_COMPONENTS}
    return [("pairs", PairHead(boosted, shape.context, default=shape.default, **common))]


def _for_numbers(shape: DataShape, seed: int) -> Members:
    context = shape.context
    members: Members = [(f"ridge {penalty:g}", RidgeRegressor(penalty)) for penalty in _PENALTIES]
    members.append(("boosted", BoostedRegressor(context, random_state=seed)))
    if shape.samples <= _HUGE:
        slow = BoostedRegressor(context, trees=300, leaves=8, learning_rate=0.05, random_state=seed)
        members.append(("boosted slowly", slow))
    return members + (_landmarks(LandmarkRegressor, context, seed) if shape.samples > _FEW_SAMPLES else [])


def _for_labels(shape: DataShape, seed: int) -> Members:
    """Heads that predict all labels at once, so that many labels cost about what one does."""
    members: Members = [(f"ridge {penalty:g}", RidgeLabels(penalty)) for penalty in (0.1, 0.01)]
    trees = {"trees": 16, "leaf": 20} if shape.samples > _HUGE else {}
    forest = TreesLabels(shape.context, **trees, random_state=seed)
    return [*members, *_landmarks(LandmarkLabels, shape.context, seed), ("trees", forest)]


def _landmarks(kind: type, context: int, seed: int) -> Members:
    return [(f"landmarks {scale:g}", kind(context, length_scale=scale, random_state=seed)) for scale in _LENGTH_SCALES]


def candidate_search(
    shape: DataShape, seed: int, select: str, only: str = ""
) -> EnsembleHead | NumberEnsembleHead | LabelsEnsembleHead:
    """An unfitted ensemble that chooses among the candidates for training rows of a shape; or has ``only`` one."""
    members = candidates(shape, seed, select)
    if only:
        members = [(name, member) for name, member in members if name == only]
    elif shape.groups < _ENOUGH_GROUPS:
        members = members[:1]
    if shape.labels:
        return LabelsEnsembleHead(members)
    if not shape.settings:
        return NumberEnsembleHead(members)
    if shape.default is not None and shape.is_cautious(select):
        kind = HedgingEnsembleHead if shape.ahead else CautiousEnsembleHead
        return kind(members, default=shape.default)
    return EnsembleHead(members, select=select)


def inner_folds(unit: NDArray[np.generic], labels: Int64, seed: int) -> Int64:
    """The inner fold of each training row, cut by the same unit as the protocol's own folds. (n,) -> (n,)."""
    distinct = len(np.unique(unit))
    if distinct == 1:  # nothing to keep together: rows by turns
        return np.arange(len(unit)) % INNER_FOLDS
    folds = None if distinct <= _FEW_UNITS else _FEWER_FOLDS if len(unit) > _HUGE else INNER_FOLDS
    fold = np.zeros(len(unit), dtype=np.int64)
    for number, (_, test) in enumerate(cut(unit, labels, folds, seed)):
        fold[test] = number
    return fold
