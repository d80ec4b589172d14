"""The formula of each kind of head, written step by step for one row by a `CWriter`."""

import math
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.base.errors import HeadError
from mirenc.decide.estimators.chooser import SHARPNESS, CostRegressor
from mirenc.decide.estimators.cost_head import CostHead
from mirenc.decide.estimators.ensemble import LEAST_PREFERENCE, CautiousEnsembleHead, _Ensemble
from mirenc.decide.estimators.head_state import kind_of_head
from mirenc.decide.estimators.linear import _Landmarks, _Ridge
from mirenc.decide.estimators.mlp import LabelHead, MLPHead
from mirenc.decide.estimators.pair_head import PairHead
from mirenc.decide.estimators.reduce_columns import Reducing
from mirenc.decide.estimators.trees import BoostedChances, BoostedRegressor, RatioTreesHead, _Trees
from mirenc.decide.export.c_writer import CWriter, Vector


def write_formula(head: Any, to: CWriter, x: Vector) -> Vector:
    """Write what a head answers for row x: `predict_proba` of heads that choose, `predict` of others.

    Raises HeadError: a head of a kind that is not mirenc's own.
    """
    raw = _raw(head, to, x)
    return (raw * -SHARPNESS).apply("Softmax") if isinstance(head, CostRegressor) else raw


def pair_head(head: Any) -> PairHead | None:
    """The head, or the member of an ensemble, that takes settings as numbers; None where there is none."""
    parts = (head, *getattr(head, "members_", {}).values())
    return next((part for part in parts if isinstance(part, PairHead)), None)


def _raw(head: Any, to: CWriter, x: Vector) -> Vector:
    """What `Head._answer` computes, for one row."""
    match head:
        case _Ridge():
            return (x - head.center_) / head.spread_ @ head.weights_ + head.mean_
        case BoostedRegressor():
            return to.forest(_reduced(head, to, x), head.forest_, single=False) + head.start_
        case BoostedChances():
            return _softmax(to.forest(x, head.forest_, single=False) + head.start_)
        case _Trees():
            mean = to.forest(_reduced(head, to, x), head.forest_, single=True) / float(len(head.forest_._root))
            return mean @ head.directions_ + head.mean_ if isinstance(head, RatioTreesHead) else mean
        case _Landmarks():
            row = (_reduced(head, to, x) - head.middle_) / head.spread_
            scale = 2 * head.length_scale**2 * max(2 * min(head.context_columns, row.width), 2)
            near = (_distance(row, head.landmarks_) / -scale).apply("Exp")
            # The inner product is linear, so its sum over the landmarks is one matrix.
            return near @ head.weights_ + row @ (head.landmarks_.T @ head.weights_ / row.width) + head.mean_
        case CostHead():
            return _cost(head, x)
        case MLPHead():
            return _mlp(head, x)
        case LabelHead():
            return write_formula(head.classifier_, to, x) @ np.eye(head.n_choices_)[head.classifier_.classes_]
        case PairHead():
            return _pairs(head, to, x)
        case _Ensemble():
            members, weights = head.members_, head.weights_.items()
            mean = reduce(add, [write_formula(members[name], to, x) * weight for name, weight in weights])
            if not isinstance(head, CautiousEnsembleHead):
                return mean
            default = np.arange(head.n_choices_) == head.default
            raised = mean.apply("Max", np.where(default, LEAST_PREFERENCE, 0.0))
            raised *= np.where(default, math.exp(SHARPNESS * head.margin_), 1.0)
            return raised / raised.apply("ReduceSum", width=1)
    raise HeadError(f"a head of kind {kind_of_head(head)!r} cannot be exported. Export one of mirenc's own kinds")


def _softmax(x: Vector) -> Vector:
    """A single number is the score of the second of two outcomes; that of the first is 0."""
    return (x if x.width > 1 else x @ np.array([[0.0, 1.0]])).apply("Softmax")


def _part(x: Vector, first: int, last: int) -> Vector:
    return x if (first, last) == (0, x.width) else x.apply("Slice", first, last, width=last - first)


def _joined(to: CWriter, parts: Sequence[Vector]) -> Vector:
    return to.operation("Concat", *parts, width=sum(part.width for part in parts))


def _products(x: Vector, y: Vector) -> Vector:
    return x[np.repeat(np.arange(x.width), y.width)] * y[np.tile(np.arange(y.width), x.width)]


def _distance(x: Vector, rows: NDArray[Any]) -> Vector:
    """Squared distance of x from each row. (m, D) -> m numbers."""
    others = rows.astype(np.float64)
    square = x @ (-2 * others.T) + (others**2).sum(axis=1) + (x * x).apply("ReduceSum", width=1)
    return square.apply("Max", 0.0)


def _reduced(head: Reducing, to: CWriter, x: Vector) -> Vector:
    context = head.context_columns
    if not head.axes_.shape[1]:
        return x if getattr(head, "use_code", True) else _part(x, 0, context)
    code = (_part(x, context, x.width) - head.center_) @ head.axes_
    return _joined(to, [_part(x, 0, context), code]) if context else code


def _cost(head: CostHead, x: Vector) -> Vector:
    context, scaled = head.context_columns, (x - head.center_) / head.spread_
    distances = [_distance(_part(scaled, column, column + 1), head.context_[:, [column]]) for column in range(context)]
    if x.width > context:
        distances.append(_distance(_part(scaled, context, x.width), head.code_)[head.code_row_])
    terms, at = [], 0
    for used, scales in head._terms():
        amplitude, *logs = head.theta_[at : at + 1 + len(scales)].tolist()
        exponent = [distances[place] * (-0.5 * math.exp(-2 * log)) for place, log in zip(used, logs, strict=True)]
        terms.append(reduce(add, exponent).apply("Exp") * math.exp(amplitude))
        at += 1 + len(scales)
    return reduce(add, terms) @ head.dual_ + head.mean_


def _mlp(head: MLPHead, x: Vector) -> Vector:
    out = (x - head.mean_) / head.scale_
    if not head.coefs_:  # one class
        return _part(out, 0, 1) * 0.0 + 1.0
    for layer, (weights, bias) in enumerate(zip(head.coefs_, head.intercepts_, strict=True)):
        out = (out.apply("Max", 0.0) if layer else out) @ weights + bias
    return _softmax(out)


def _pairs(head: PairHead, to: CWriter, x: Vector) -> Vector:
    def cost(row: Vector, setting: Vector) -> Vector:
        columns = (setting - head.setting_middle_) / head.setting_spread_
        if not head.products:
            return write_formula(head.regressor_, to, _joined(to, [row, columns]))
        first, second = np.triu_indices(columns.width)
        columns = _joined(to, [columns, columns[first] * columns[second]])
        return write_formula(head.regressor_, to, _joined(to, [row, columns, _products(row, columns)]))

    seen = x if head.use_code else _part(x, 0, head.context_columns)
    return to.per_setting(_reduced(head, to, (seen - head.middle_) / head.spread_), head, cost)
