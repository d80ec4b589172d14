"""The candidates that every row of a table chooses from, and the inner folds on which it chooses.

One menu for the embedding and its baselines, so that none is under-tuned; which one follows from the `Shape` of the
data. That for a few samples of a few settings was put together on the device-mapping data, and
`downstream/device_mapping/README.md` tells what was dropped.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Int64
from mirenc.decide import estimators as heads
from mirenc.decide.features.look_ahead_features import TOLD
from mirenc.decide.protocols import cut

INNER_FOLDS = 4
# With so many samples a difference between heads shows on a few folds, and each fold costs minutes.
_HUGE = 10_000
_FEWER_FOLDS = 2
_FEW_UNITS = 8  # so few are left out one by one
# With fewer different kernels to learn from, a search among heads picks noise; the first member is taken as it is.
_ENOUGH_GROUPS = 50
# Where cost is what counts, a choice that is several times as slow must not look harmless.
_CLIP = {"accuracy": 0.75, "speedup": 2.0}
# An exact Gaussian process takes n^2 memory and n^3 time.
_FEW_SAMPLES = 1500
_MANY_SAMPLES = 5000
# More settings than this are no longer learned one by one.
_FEW_SETTINGS = 12
# With few, a tree's draw among columns is seldom wasted; with many, what tells settings apart is more often there.
_RATIO_COMPONENTS = (16, 48)
_AHEAD_COMPONENTS = 64
_RISKS = (0.0, 1.0)
_PENALTIES = (0.01, 0.1, 1.0)
_LENGTH_SCALES = (0.5, 1.5)

Members = list[tuple[str, Any]]


@dataclass(frozen=True)
class Shape:
    """What the menu follows from."""

    context: int  # columns
    code: int
    samples: int  # training rows, and how many different kernels they are of
    groups: int
    settings: int  # K; 0 where the target is a number, or labels
    shared: bool = True  # whether all samples have the same settings
    # Column of the setting that runs when nobody decides; None where it is another one from sample to sample
    default: int | None = 0
    ahead: bool = False  # whether a setting's columns say what it makes of each sample's code
    told: bool = True  # whether questions say all of what those columns do
    labels: int = 0  # P; 0 where the target is another

    def is_cautious(self, select: str) -> bool:
        """Whether there are many settings, one column of defaults, kernels enough, and time is what counts."""
        many = self.settings > _FEW_SETTINGS and self.groups >= _ENOUGH_GROUPS
        return self.default is not None and many and select == "speedup"


def menu(shape: Shape, seed: int, select: str) -> Members:
    """Named candidates, the one for few kernels first."""
    if shape.labels:
        return _labels(shape, seed)
    if shape.settings == 0:
        return _numbers(shape, seed)
    if shape.ahead:
        return _ahead(shape, seed, select)
    if shape.shared and shape.is_cautious(select):
        return _cautious(shape, seed)
    if not shape.shared or shape.settings > _FEW_SETTINGS:
        return _pairs(shape, seed, select) + (_ridges(select) if shape.shared else [])
    if shape.samples > _FEW_SAMPLES:
        return _ridges(select) + _pairs(shape, seed, select)
    return _few(shape, seed, select)


def has_mlp(samples: int, settings: int, shared: bool) -> bool:
    """Whether the paper's head is among the candidates for so many samples and settings."""
    return any(name == "mlp" for name, _ in menu(Shape(0, 1, samples, samples, settings, shared), 0, "accuracy"))


def _few(shape: Shape, seed: int, select: str) -> Members:
    """``mlp`` is the paper's head; ``cost`` and ``rbf`` learn from the measured costs; the trees see the winner."""
    context = shape.context
    members: Members = [("cost", heads.CostHead(context, clip=_CLIP[select]))]
    members += [
        (f"rbf scale {scale:g} clip {clip:g}", heads.CostHead(context, length_scale=scale, clip=clip))
        for scale in (1.0, 1.6)
        for clip in (0.75, 2.0)
    ]
    if context:
        members.append(("trees, context", heads.TreesHead(context, use_code=False, share=1.0, random_state=seed)))
    if shape.code:
        members.append(("trees", heads.TreesHead(context, random_state=seed)))
    return [*members, ("mlp", heads.LabelHead(heads.MLPHead(alpha=1e-2, epochs=25, random_state=seed)))]


def _cautious(shape: Shape, seed: int) -> Members:
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
            members.append((f"ratio trees {count}", heads.RatioTreesHead(context, components=count, **common)))
    if context:
        members.append(("ratio trees, context", heads.RatioTreesHead(context, use_code=False, share=1.0, **common)))
    members.append(("ridge 0.1", heads.RidgeHead(0.1, clip=clip)))
    if shape.samples <= _FEW_SAMPLES:
        members.append(("cost", heads.CostHead(context, clip=1.0)))
        members.append(("rbf", heads.CostHead(context, length_scale=1.6, clip=clip)))
    return members


def _ridges(select: str) -> Members:
    return [(f"ridge {penalty:g}", heads.RidgeHead(penalty, clip=_CLIP[select])) for penalty in _PENALTIES]


def _pairs(shape: Shape, seed: int, select: str) -> Members:
    context = shape.context
    common: dict[str, Any] = {"clip": _CLIP[select], "random_state": seed}
    # A pair's columns are few already, so nothing is reduced twice.
    boosted = heads.BoostedRegressor(components=4096, trees=100, random_state=seed)
    slow = heads.BoostedRegressor(components=4096, trees=200, leaves=8, learning_rate=0.05, random_state=seed)
    members: Members = [
        ("pairs, boosted", heads.PairHead(boosted, context, **common)),
        ("pairs, boosted slowly", heads.PairHead(slow, context, **common)),
        ("pairs, ridge", heads.PairHead(heads.RidgeRegressor(0.01), context, components=8, products=True, **common)),
    ]
    if context and shape.code:
        members.append(("pairs, context", heads.PairHead(slow, context, use_code=False, **common)))
    return members


def _ahead(shape: Shape, seed: int, select: str) -> Members:
    """Heads that see what a setting makes of the code: most of it is not in the name of a setting."""
    common: dict[str, Any] = {"clip": _CLIP[select], "random_state": seed, "components": _AHEAD_COMPONENTS}
    boosted = heads.BoostedRegressor(components=4096, trees=100, random_state=seed)
    risks = (0.0,) if shape.default is None else _RISKS
    common |= {"default": shape.default or 0}
    views = [("", 0)] if shape.told else [("", 0), ("no trip count, ", TOLD)]
    return [
        (f"pairs, {name}risk {risk:g}", heads.PairHead(boosted, shape.context, risk=risk, unseen=unseen, **common))
        for name, unseen in views
        for risk in risks
    ]


def _numbers(shape: Shape, seed: int) -> Members:
    context = shape.context
    members: Members = [(f"ridge {penalty:g}", heads.RidgeRegressor(penalty)) for penalty in _PENALTIES]
    members.append(("boosted", heads.BoostedRegressor(context, random_state=seed)))
    if shape.samples <= _HUGE:
        slow = heads.BoostedRegressor(context, trees=300, leaves=8, learning_rate=0.05, random_state=seed)
        members.append(("boosted slowly", slow))
    if shape.samples > _FEW_SAMPLES:
        members += _landmarks(heads.LandmarkRegressor, context, seed)
    return members


def _labels(shape: Shape, seed: int) -> Members:
    """Heads that tell all labels at once, so that many cost about what one does."""
    members: Members = [(f"ridge {penalty:g}", heads.RidgeLabels(penalty)) for penalty in (0.1, 0.01)]
    trees = {"trees": 16, "leaf": 20} if shape.samples > _HUGE else {}
    forest = heads.TreesLabels(shape.context, **trees, random_state=seed)
    return [*members, *_landmarks(heads.LandmarkLabels, shape.context, seed), ("trees", forest)]


def _landmarks(kind: type, context: int, seed: int) -> Members:
    return [(f"landmarks {scale:g}", kind(context, length_scale=scale, random_state=seed)) for scale in _LENGTH_SCALES]


def head_search(
    shape: Shape, seed: int, select: str, only: str = ""
) -> heads.EnsembleHead | heads.NumberEnsembleHead | heads.LabelsEnsembleHead:
    """An unfitted search over the menu, for training rows of a shape; or its member ``only``."""
    members = menu(shape, seed, select)
    if only:
        members = [(name, member) for name, member in members if name == only]
    elif shape.groups < _ENOUGH_GROUPS:
        members = members[:1]
    if shape.labels:
        return heads.LabelsEnsembleHead(members)
    if not shape.settings:
        return heads.NumberEnsembleHead(members)
    if shape.default is not None and shape.is_cautious(select):
        kind = heads.HedgingEnsembleHead if shape.ahead else heads.CautiousEnsembleHead
        return kind(members, default=shape.default)
    return heads.EnsembleHead(members, select=select)


def inner_parts(unit: NDArray[np.generic], labels: Int64, seed: int) -> Int64:
    """Inner fold of each training row: cut by the same unit as the protocol's own folds. (n,) -> (n,)."""
    distinct = len(np.unique(unit))
    if distinct == 1:  # rows by turns are the best there is
        return np.arange(len(unit)) % INNER_FOLDS
    folds = None if distinct <= _FEW_UNITS else _FEWER_FOLDS if len(unit) > _HUGE else INNER_FOLDS
    part = np.zeros(len(unit), dtype=np.int64)
    for number, (_, test) in enumerate(cut(unit, labels, folds, seed)):
        part[test] = number
    return part
