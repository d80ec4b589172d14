"""One small head of every kind that a folder can hold, and rows to train it on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from mirenc.decide import (
    BoostedChances,
    BoostedRegressor,
    CautiousEnsembleHead,
    CostHead,
    EnsembleHead,
    HedgingEnsembleHead,
    LabelHead,
    LabelsEnsembleHead,
    LandmarkLabels,
    LandmarkRegressor,
    MLPHead,
    NumberEnsembleHead,
    PairHead,
    RatioTreesHead,
    RidgeHead,
    RidgeLabels,
    RidgeRegressor,
    Settings,
    TreesHead,
    TreesLabels,
)

MLP = MLPHead((4,), epochs=2, random_state=0)
CHOOSERS = {
    "cost": CostHead(2),
    "cost of one scale": CostHead(2, length_scale=1.5),
    "trees": TreesHead(2, components=3, trees=4),
    "trees without code": TreesHead(2, use_code=False, share=1.0, components=3, trees=4),
    "ratio trees": RatioTreesHead(2, components=3, trees=4),
    "ratio trees without code": RatioTreesHead(2, use_code=False, share=1.0, trees=3, default=2),
    "label": LabelHead(MLP),
    "ridge": RidgeHead(),
    "pairs, ridge": PairHead(RidgeRegressor(1e-3), 2, components=3, products=True),
    "pairs, boosted": PairHead(BoostedRegressor(components=4096, trees=4), 2, components=3),
    "pairs without code": PairHead(RidgeRegressor(1e-3), 2, use_code=False),
}
NUMBERS = {
    "ridge number": RidgeRegressor(),
    "boosted": BoostedRegressor(2, components=3, trees=4),
    "boosted on all columns": BoostedRegressor(2, trees=4, leaves=6, random_state=3),
    "landmarks": LandmarkRegressor(2, components=3, landmarks=20),
}
LABELS = {
    "ridge labels": RidgeLabels(),
    "trees labels": TreesLabels(2, components=3, trees=4),
    "landmark labels": LandmarkLabels(2, landmarks=20),
    "boosted chances": BoostedChances(trees=4, bags=2),
}
HEADS: dict[str, Any] = {
    **CHOOSERS,
    **NUMBERS,
    **LABELS,
    "mlp": MLP,
    "ensemble": EnsembleHead(list(CHOOSERS.items())),
    "cautious ensemble": CautiousEnsembleHead(list(CHOOSERS.items())[:3], default=1),
    "hedging ensemble": HedgingEnsembleHead(list(CHOOSERS.items())[:3], default=1),
    "number ensemble": NumberEnsembleHead(list(NUMBERS.items())),
    "labels ensemble": LabelsEnsembleHead(list(LABELS.items())[:3]),
}
ROWS = 60
RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.normal(size=(ROWS, 9))
FEATURES[:, 8] = 1.0  # says nothing: its spread is infinite, and that is saved, too
COSTS = np.exp(FEATURES[:, :4] + 0.1 * RANDOM.normal(size=(ROWS, 4)))
SETTINGS = Settings(np.arange(4.0)[:, None], np.tile(np.arange(4), (ROWS, 1)))


def fitted(name: str) -> Any:
    return fit(clone(HEADS[name]), name)


def fit(head: Any, name: str) -> Any:
    """Fit a head to what the kind of this name learns."""
    if name in NUMBERS or name == "number ensemble":
        return head.fit(FEATURES, np.log(COSTS[:, 0]))
    if name == "boosted chances":
        return head.fit(FEATURES, COSTS[:, :3] / COSTS[:, :3].sum(axis=1, keepdims=True))
    if name in LABELS or name == "labels ensemble":
        return head.fit(FEATURES, (COSTS[:, :3] > 1).astype(float))
    if name == "mlp":
        return head.fit(FEATURES, COSTS.argmin(axis=1))
    return head.fit(FEATURES, COSTS, *settings_for(head))


def settings_for(head: Any) -> tuple[Settings, ...]:
    return (SETTINGS,) if getattr(head, "takes_settings", False) else ()


def answer(head: Any, rows: np.ndarray = -FEATURES) -> np.ndarray:
    ask = head.predict_proba if hasattr(head, "predict_proba") else head.predict
    return np.asarray(ask(rows, *settings_for(head)))


def labels_table(rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """A label by the sign of a column, one by a product of two, one that nobody can tell."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, 5))
    labels = (features[:, 0] > 0, features[:, 1] * features[:, 2] > 0, rng.random(rows) < 0.1)
    return features, np.stack(labels, axis=1).astype(np.float64)
