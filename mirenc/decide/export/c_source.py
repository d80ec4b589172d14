"""A head as C99: one function and its tables, for compilers that link no library of ours; and a test of it."""

import json
import math
import textwrap
from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from mirenc import __version__
from mirenc.base.arrays import Float64
from mirenc.base.errors import HeadError
from mirenc.decide.estimators.base import Reducing
from mirenc.decide.estimators.chooser import SHARPNESS, CostRegressor, Settings
from mirenc.decide.estimators.ensemble import LEAST_PREFERENCE, CautiousEnsembleHead, _Ensemble
from mirenc.decide.estimators.head_state import kind_of_head
from mirenc.decide.estimators.linear import _Ridge
from mirenc.decide.estimators.pair_head import PairHead
from mirenc.decide.estimators.trees import BoostedChances, BoostedRegressor, RatioTreesHead, _Trees
from mirenc.decide.export.c_writer import CWriter, Vector

_TEST_ROWS = 1000
_CHECK_SETTINGS = """if (count < %d || count > %d) return -1;
EACH(count * %d) if (!isfinite(settings[i])) return -1;
"""


def c_source(
    head: Any,
    name: str,
    features: Sequence[str],
    choices: Sequence[str] = (),
    about: str = "",
    setting_features: Sequence[str] = (),
) -> str:
    """A head as one file of C99: a function ``name`` and the names of its ``features``; its first lines document it.

    The function computes what `predict` does (and `predict_proba` in its scores, where the head chooses), up to
    rounding in double precision. ``choices`` are names of the settings or labels, ``about`` is a line for the comment.
    A head that takes settings takes at most as many as in training, as rows of the numbers that `PairHead` was trained
    on, whose names are ``setting_features``. Raises HeadError: a kind other than ridges, trees, pairs without products
    and ensembles of these; more names than features, or fewer.
    """
    if len(features) != head.n_features_in_:
        raise HeadError(f"{len(features)} names of features; the head has {head.n_features_in_}. Give one for each")
    writer, pairs = CWriter(), pair_head(head)
    score = write_formula(head, writer, Vector(writer, "features", head.n_features_in_))
    settings, check, count = "", "", str(score.width)
    if pairs is not None:
        columns, minimum, count = len(pairs.setting_middle_), score.width if writer.needs_all_settings else 1, "count"
        settings = f"\n * settings: count rows, {minimum} to {score.width}, of {columns} numbers each."
        settings += "".join(f"\n *     {place}: {feature}" for place, feature in enumerate(setting_features))
        check = _CHECK_SETTINGS % (minimum, score.width, columns)
    choice_lines = (f"\n *     {place}: {choice}".replace("*/", "* /") for place, choice in enumerate(choices))
    return _template("head.c").substitute(
        name=name,
        version=__version__,
        kind=kind_of_head(head),
        about=f"\n * {about}.\n *" if about else "",
        prototype=prototype(head, name),
        columns=head.n_features_in_,
        settings=settings,
        width=score.width,
        choices="".join(choice_lines),
        features="".join(f"    {json.dumps(feature)},\n" for feature in features),
        tables=writer.declarations,
        code=textwrap.indent(check + writer.code, "    "),
        count=count,
        result=score.name,
        choose=f"CHOOSE({count})" if hasattr(head, "predict_proba") else "return 0",
    )


def c_test(head: Any, name: str, low: Float64, high: Float64, settings: Float64 | None = None) -> str:
    """A program in C that compares `c_source` with Python's answers for 1,000 rows, drawn between two rows (D,).

    ``settings`` (K, F): those that each row is asked about, where the head takes settings.
    """
    state, fractions = 1, np.empty((_TEST_ROWS, head.n_features_in_))
    for index in range(fractions.size):
        state = (state * 1664525 + 1013904223) % 2**32
        fractions.flat[index] = state / 2**32
    rows = (low + (high - low) * fractions) * np.where(np.arange(_TEST_ROWS) % 10 == 9, 1000.0, 1.0)[:, None]
    arguments = () if settings is None else (Settings(settings, np.tile(np.arange(len(settings)), (_TEST_ROWS, 1))),)
    chooses = hasattr(head, "predict_proba")
    scores = (head.predict_proba if chooses else head.predict)(rows, *arguments).reshape(_TEST_ROWS, -1)
    writer = CWriter()
    return _template("head_test.c").substitute(
        name=name,
        prototype=prototype(head, name),
        rows=_TEST_ROWS,
        columns=rows.shape[1],
        scores=scores.shape[1],
        low=writer.table(low),
        range=writer.table(high - low),
        choices=writer.table(scores.argmax(axis=1) * chooses),
        sums=writer.table(scores @ np.arange(1.0, scores.shape[1] + 1)),
        passed="" if settings is None else f", {writer.table(settings, narrow=False)}, {len(settings)}",
        tables=writer.declarations,
    )


def prototype(head: Any, name: str) -> str:
    """The declaration of a head's function."""
    settings = "const double *settings, int count, " if pair_head(head) else ""
    return f"int {name}(const double *features, {settings}double *score)"


def _template(name: str) -> Template:
    return Template((Path(__file__).parent / name).read_text(encoding="utf-8"))


def pair_head(head: Any) -> PairHead | None:
    """The head, or the member of an ensemble, that takes settings as numbers; None where there is none."""
    parts = (head, *getattr(head, "members_", {}).values())
    return next((part for part in parts if isinstance(part, PairHead)), None)


# -- the formula of each kind, written step by step for one row ----------------------------------------
def write_formula(head: Any, writer: CWriter, x: Vector) -> Vector:
    """Write what a head answers for row x: `predict_proba` of heads that choose, `predict` of others."""
    answer = _raw_answer(head, writer, x)
    return (answer * -SHARPNESS).apply("Softmax") if isinstance(head, CostRegressor) else answer


def _raw_answer(head: Any, writer: CWriter, x: Vector) -> Vector:
    """What `Head._answer` computes, for one row."""
    match head:
        case _Ridge():
            return (x - head.center_) / head.spread_ @ head.weights_ + head.mean_
        case BoostedRegressor():
            return writer.forest(_reduce(head, writer, x), head.forest_, single=False) + head.start_
        case BoostedChances():
            scores = writer.forest(x, head.forest_, single=False) + head.start_
            # A single number is the score of the second of two outcomes; that of the first is 0.
            return (scores if scores.width > 1 else scores @ np.array([[0.0, 1.0]])).apply("Softmax")
        case _Trees():
            mean = writer.forest(_reduce(head, writer, x), head.forest_, single=True) / float(len(head.forest_._root))
            return mean @ head.directions_ + head.mean_ if isinstance(head, RatioTreesHead) else mean
        case PairHead(products=False):
            return _pair_costs(head, writer, x)
        case _Ensemble():
            members, weights = head.members_, head.weights_.items()
            mean = reduce(add, [write_formula(members[name], writer, x) * weight for name, weight in weights])
            if not isinstance(head, CautiousEnsembleHead):
                return mean
            default = np.arange(head.n_choices_) == head.default
            preference = mean.apply("Max", np.where(default, LEAST_PREFERENCE, 0.0))
            preference *= np.where(default, math.exp(SHARPNESS * head.margin_), 1.0)
            return preference / preference.apply("ReduceSum", width=1)
    raise HeadError(
        f"a head of kind {kind_of_head(head)!r} cannot be exported; available: ridge heads, tree heads, pair heads "
        "that do not multiply features (products=False), and ensembles of these"
    )


def _slice(x: Vector, first: int, last: int) -> Vector:
    return x if (first, last) == (0, x.width) else x.apply("Slice", first, last, width=last - first)


def _concatenate(writer: CWriter, *parts: Vector) -> Vector:
    return writer.operation("Concat", *parts, width=sum(part.width for part in parts))


def _reduce(head: Reducing, writer: CWriter, x: Vector) -> Vector:
    context = head.context_columns
    if not head.axes_.shape[1]:
        return x if getattr(head, "use_code", True) else _slice(x, 0, context)
    code = (_slice(x, context, x.width) - head.center_) @ head.axes_
    return _concatenate(writer, _slice(x, 0, context), code) if context else code


def _pair_costs(head: PairHead, writer: CWriter, x: Vector) -> Vector:
    def cost(row: Vector, setting: Vector) -> Vector:
        columns = (setting - head.setting_middle_) / head.setting_spread_
        return write_formula(head.regressor_, writer, _concatenate(writer, row, columns))

    inputs = x if head.use_code else _slice(x, 0, head.context_columns)
    return writer.per_setting(_reduce(head, writer, (inputs - head.middle_) / head.spread_), head, cost)
