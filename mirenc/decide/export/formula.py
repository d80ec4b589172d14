"""What a head computes of one row, in steps that a `Writer` writes down: as C, or as ONNX."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partialmethod, reduce
from operator import add
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from mirenc.base.errors import HeadError
from mirenc.decide.estimators.chooser import SHARPNESS, CostRegressor
from mirenc.decide.estimators.cost_head import CostHead
from mirenc.decide.estimators.ensemble import CautiousEnsembleHead, _Ensemble
from mirenc.decide.estimators.head_state import kind_of_head
from mirenc.decide.estimators.linear import _Landmarks, _Ridge
from mirenc.decide.estimators.mlp import LabelHead, MLPHead
from mirenc.decide.estimators.pair_head import PairHead
from mirenc.decide.estimators.reduce_columns import Reducing
from mirenc.decide.estimators.trees import BoostedChances, BoostedRegressor, Forest, RatioTreesHead, _Trees

_LEAST = 1e-300  # of a preference that is raised

Operand = Union["Vector", NDArray[Any], float]


@dataclass(frozen=True)
class Vector:
    """So many numbers, under a name that a writer gave them; ``asked``: one for each setting that is asked about."""

    to: "Writer"
    name: str
    width: int
    asked: bool = False

    def apply(self, operator: str, *others: Operand, width: int = 0) -> "Vector":
        """An operator of ONNX."""
        return self.to.node(operator, self, *others, width=width)

    __add__ = partialmethod(apply, "Add")
    __sub__ = partialmethod(apply, "Sub")
    __mul__ = partialmethod(apply, "Mul")
    __truediv__ = partialmethod(apply, "Div")

    def __matmul__(self, other: NDArray[Any]) -> "Vector":
        return self.apply("MatMul", other, width=other.shape[1])

    def __getitem__(self, places: NDArray[Any]) -> "Vector":
        return self.apply("Gather", places, width=len(places))


class Writer(ABC):
    """Writes steps down."""

    @abstractmethod
    def node(self, operator: str, *operands: Operand, width: int = 0) -> Vector:
        """An operator of ONNX; ``width`` where it is not that of the widest operand."""

    @abstractmethod
    def forest(self, x: Vector, forest: Forest, *, single: bool) -> Vector:
        """`Forest.summed`; ``single``: x is compared in single precision."""

    @abstractmethod
    def each_setting(self, x: Vector, head: PairHead, cost: Callable[[Vector, Vector], Vector]) -> Vector:
        """The cost of x under each setting that is asked about."""


def write(head: Any, to: Writer, x: Vector) -> Vector:
    """What a head answers of a row (`predict_proba` of heads that choose, `predict` of others), in steps.

    Raises HeadError: a head of a kind that is not mirenc's own.
    """
    raw = _raw(head, to, x)
    return (raw * -SHARPNESS).apply("Softmax") if isinstance(head, CostRegressor) else raw


def pair_head(head: Any) -> PairHead | None:
    """What of a head is told of settings."""
    parts = (head, *getattr(head, "members_", {}).values())
    return next((one for one in parts if isinstance(one, PairHead)), None)


def _raw(head: Any, to: Writer, x: Vector) -> Vector:
    """`Head._answer`."""
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
            # The inner product is linear, so that its sum over the landmarks is one matrix.
            return near @ head.weights_ + row @ (head.landmarks_.T @ head.weights_ / row.width) + head.mean_
        case CostHead():
            return _cost(head, x)
        case MLPHead():
            return _mlp(head, x)
        case LabelHead():
            return write(head.classifier_, to, x) @ np.eye(head.n_choices_)[head.classifier_.classes_]
        case PairHead():
            return _pairs(head, to, x)
        case _Ensemble():
            mean = reduce(add, [write(head.members_[name], to, x) * weight for name, weight in head.weights_.items()])
            if not isinstance(head, CautiousEnsembleHead):
                return mean
            default = np.arange(head.n_choices_) == head.default
            raised = mean.apply("Max", np.where(default, _LEAST, 0.0))
            raised *= np.where(default, math.exp(SHARPNESS * head.margin_), 1.0)
            return raised / raised.apply("ReduceSum", width=1)
    raise HeadError(f"a head of kind {kind_of_head(head)!r} cannot be exported. Export one of mirenc's own kinds")


def _softmax(x: Vector) -> Vector:
    """Of one number: it is the second outcome's, and the first is at 0."""
    return (x if x.width > 1 else x @ np.array([[0.0, 1.0]])).apply("Softmax")


def _part(x: Vector, first: int, last: int) -> Vector:
    return x if (first, last) == (0, x.width) else x.apply("Slice", first, last, width=last - first)


def _joined(to: Writer, parts: Sequence[Vector]) -> Vector:
    return to.node("Concat", *parts, width=sum(part.width for part in parts))


def _products(x: Vector, y: Vector) -> Vector:
    return x[np.repeat(np.arange(x.width), y.width)] * y[np.tile(np.arange(y.width), x.width)]


def _distance(x: Vector, rows: NDArray[Any]) -> Vector:
    """Squared distance from each row."""
    others = rows.astype(np.float64)
    square = x @ (-2 * others.T) + (others**2).sum(axis=1) + (x * x).apply("ReduceSum", width=1)
    return square.apply("Max", 0.0)


def _reduced(head: Reducing, to: Writer, x: Vector) -> Vector:
    context = head.context_columns
    if not head.axes_.shape[1]:
        return x if getattr(head, "use_code", True) else _part(x, 0, context)
    code = (_part(x, context, x.width) - head.center_) @ head.axes_
    return _joined(to, [_part(x, 0, context), code]) if context else code


def _cost(head: CostHead, x: Vector) -> Vector:
    context, scaled = head.context_columns, (x - head.center_) / head.spread_
    distances = [_distance(_part(scaled, one, one + 1), head.context_[:, [one]]) for one in range(context)]
    if x.width > context:
        distances.append(_distance(_part(scaled, context, x.width), head.code_)[head.code_row_])
    terms, at = [], 0
    for used, scales in head._terms():
        amplitude, *logs = head.theta_[at : at + 1 + len(scales)].tolist()
        exponent = [distances[one] * (-0.5 * math.exp(-2 * log)) for one, log in zip(used, logs, strict=True)]
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


def _pairs(head: PairHead, to: Writer, x: Vector) -> Vector:
    def cost(row: Vector, setting: Vector) -> Vector:
        columns = (setting - head.setting_middle_) / head.setting_spread_
        if not head.products:
            return write(head.regressor_, to, _joined(to, [row, columns]))
        first, second = np.triu_indices(columns.width)
        columns = _joined(to, [columns, columns[first] * columns[second]])
        return write(head.regressor_, to, _joined(to, [row, columns, _products(row, columns)]))

    seen = x if head.use_code else _part(x, 0, head.context_columns)
    return to.each_setting(_reduced(head, to, (seen - head.middle_) / head.spread_), head, cost)
