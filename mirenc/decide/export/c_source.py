"""A head as C99: one function and its tables, for compilers that link no library of ours; and a test of it."""

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from mirenc import __version__
from mirenc.base.arrays import Float64
from mirenc.base.errors import HeadError
from mirenc.decide.estimators.chooser import Settings
from mirenc.decide.estimators.head_state import kind_of_head
from mirenc.decide.export.c_writer import CWriter, Vector
from mirenc.decide.export.formula import pair_head, write_formula

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
    on, whose names are ``setting_features``. Raises HeadError: a head of a kind that is not mirenc's own; more names
    than features, or fewer.
    """
    if len(features) != head.n_features_in_:
        raise HeadError(f"{len(features)} names of features; the head has {head.n_features_in_}. Give one for each")
    writer, pairs = CWriter(), pair_head(head)
    score = write_formula(head, writer, Vector(writer, "features", head.n_features_in_))
    settings, check, count = "", "", str(score.width)
    if pairs is not None:
        columns, least, count = len(pairs.setting_middle_), score.width if writer.needs_all_settings else 1, "count"
        settings = f"\n * settings: count rows, {least} to {score.width}, of {columns} numbers each."
        settings += "".join(f"\n *     {place}: {feature}" for place, feature in enumerate(setting_features))
        check = _CHECK_SETTINGS % (least, score.width, columns)
    listed = (f"\n *     {place}: {choice}".replace("*/", "* /") for place, choice in enumerate(choices))
    return _template("head.c").substitute(
        name=name,
        version=__version__,
        kind=kind_of_head(head),
        about=f"\n * {about}.\n *" if about else "",
        prototype=prototype(head, name),
        columns=head.n_features_in_,
        settings=settings,
        width=score.width,
        choices="".join(listed),
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
    state, drawn = 1, np.empty((_TEST_ROWS, head.n_features_in_))
    for place in range(drawn.size):
        state = (state * 1664525 + 1013904223) % 2**32
        drawn.flat[place] = state / 2**32
    rows = (low + (high - low) * drawn) * np.where(np.arange(_TEST_ROWS) % 10 == 9, 1000.0, 1.0)[:, None]
    asked = () if settings is None else (Settings(settings, np.tile(np.arange(len(settings)), (_TEST_ROWS, 1))),)
    chooses = hasattr(head, "predict_proba")
    scores = (head.predict_proba if chooses else head.predict)(rows, *asked).reshape(_TEST_ROWS, -1)
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
