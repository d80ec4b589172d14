"""A head as C99: one function and its tables, for compilers that link no library of ours; and a test of it."""

import json
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from mirenc import __version__
from mirenc.base.arrays import Float64
from mirenc.base.errors import HeadError
from mirenc.decide.estimators.chooser import Settings
from mirenc.decide.estimators.head_state import kind_of_head
from mirenc.decide.estimators.pair_head import PairHead
from mirenc.decide.estimators.trees import Forest
from mirenc.decide.export.formula import Operand, Vector, Writer, pair_head, write

_ROWS = 1000  # of the test
_INTEGERS = {"unsigned char": np.uint8, "short": np.int16, "int": np.int32}
_SETTINGS = """for (int s = 0; s < count; s++) {
    const double *setting = settings + s * %d;
%s    @[s] = %s[0];
}"""
_CHECK = """if (count < %d || count > %d) return -1;
EACH(count * %d) if (!isfinite(settings[i])) return -1;
"""


def _indented(code: str) -> str:
    return textwrap.indent(code, "    ")


class _CWriter(Writer):
    def __init__(self) -> None:
        self.tables: dict[str, str] = {}
        self.known: dict[tuple[int, str], Vector] = {}
        self.code = ""
        self.vectors = 0
        self.exact = False  # whether there must be as many settings as in training

    def table(self, values: Any, *, narrow: bool = True) -> str:
        """The name of an array, which is written once, in the narrowest type that holds it."""
        array = np.asarray(values).ravel()
        if array.dtype.kind == "f":
            with np.errstate(over="ignore"):
                single = narrow and np.array_equal(array, array.astype(np.float32))
            kind, form = ("float", "{:.9g}") if single else ("double", "{:.17g}")
            words = [form.format(one).replace("inf", "INFINITY") for one in array.tolist()]
        else:
            kind = next(name for name, one in _INTEGERS.items() if np.array_equal(array, array.astype(one)))
            words = [str(int(one)) for one in array]
        lines = ",\n".join(", ".join(words[first : first + 16]) for first in range(0, len(words), 16))
        return self.tables.setdefault(f"static const {kind} @[{len(words)}] = {{\n{lines}}};\n", f"t{len(self.tables)}")

    @property
    def declarations(self) -> str:
        return "".join(text.replace("@", name) for text, name in self.tables.items())

    def step(self, code: str, width: int, *, asked: bool = False) -> Vector:
        """Write a step, once; @ is the name of what comes of it."""
        if (width, code) not in self.known:
            made = self.known[width, code] = Vector(self, f"v{self.vectors}", width, asked)
            self.vectors += 1
            self.code += f"double @[{width}];\n{code};\n".replace("@", made.name)
        return self.known[width, code]

    def node(self, operator: str, *operands: Operand, width: int = 0) -> Vector:
        vectors = [one for one in operands if isinstance(one, Vector)]
        first, width = vectors[0], width or max(one.width for one in vectors)
        wide = [one.asked for one in vectors if one.width > 1]
        self.exact |= any(wide) and not all(wide)
        count = "count" if any(wide) else str(width)
        match operator, operands[1:]:
            case "Slice", (start, _):
                return Vector(self, f"({first.name} + {start})", width)
            case "Concat", _:
                at = np.cumsum([0, *(one.width for one in vectors)]).tolist()
                parts = (f"COPY((@ + {at[row]}), {one.width}, {one.name}[i])" for row, one in enumerate(vectors))
                return self.step(";\n".join(parts), width)
            case "Gather", (places,):
                return self.step(f"COPY(@, {width}, {first.name}[{self.table(places)}[i]])", width)
            case "MatMul", (weights,):
                return self.step(f"MATMUL(@, {width}, {first.name}, {first.width}, {self.table(weights)})", width)
            case "ReduceSum", _:
                return self.step(f"SUM(@, {'count' if first.asked else first.width}, {first.name}[i])", width)
            case "Softmax", _:
                return self.step(f"SOFTMAX(@, {count}, {first.name})", width, asked=first.asked)
        words = (
            repr(float(one))
            if isinstance(one, float)
            else f"{self.table(one)}[i]"
            if not isinstance(one, Vector)
            else f"{one.name}[{'i' if one.width > 1 else 0}]"
            for one in operands
        )
        return self.step(f"{operator.upper()}(@, {count}, {', '.join(words)})", width, asked=any(wide))

    def forest(self, x: Vector, forest: Forest, *, single: bool) -> Vector:
        state, width = forest._state(), forest.value.shape[1]
        value = f"{self.table(state['value_'])}[{self.table(forest._leaf)}[node[tree]] * {width} + i]"
        if "levels" in state:  # a byte each
            value = f"{self.table(state['levels'])}[{value} * {width} + i]"
        arrays = (forest._root, forest._column, np.where(forest.column >= 0, forest._cut, 0.0), forest._child)
        words = ("(float)" * single + x.name, len(forest._root), forest._depth, *map(self.table, arrays), value)
        return self.step(f"FOREST(@, {width}, {', '.join(map(str, words))})", width)

    def each_setting(self, x: Vector, head: PairHead, cost: Callable[[Vector, Vector], Vector]) -> Vector:
        outside, known, self.code, columns = self.code, dict(self.known), "", len(head.setting_middle_)
        made = cost(x, Vector(self, "setting", columns))
        body, self.code, self.known = _indented(self.code), outside, known  # what was made inside stays there
        return self.step(_SETTINGS % (columns, body, made.name), head.n_choices_, asked=True)


def c_source(head: Any, name: str, features: Sequence[str], choices: Sequence[str] = (), about: str = "") -> str:
    """A head as one file of C99, whose first lines say how to call it: a function ``name``, and its ``features``.

    It answers as `predict` does, with `predict_proba` in its scores where the head chooses, up to rounding in double
    precision. ``choices`` are the names of the settings or labels, ``about`` a line to say of the head. One that is
    told of settings takes at most as many as in training, as rows of the numbers that `PairHead` was trained on.
    Raises HeadError: a head of a kind that is not mirenc's own; more names than features, or fewer.
    """
    if len(features) != head.n_features_in_:
        raise HeadError(f"{len(features)} names of features; the head has {head.n_features_in_}. Give one for each")
    to, pairs = _CWriter(), pair_head(head)
    score = write(head, to, Vector(to, "features", head.n_features_in_))
    settings, check, count = "", "", str(score.width)
    if pairs is not None:
        columns, least, count = len(pairs.setting_middle_), score.width if to.exact else 1, "count"
        settings = f"\n * settings: count rows, {least} to {score.width}, of {columns} numbers each."
        check = _CHECK % (least, score.width, columns)
    said = (f"\n *     {place}: {choice}".replace("*/", "* /") for place, choice in enumerate(choices))
    return Template(_read("head.c")).substitute(
        name=name,
        version=__version__,
        kind=kind_of_head(head),
        about=f"\n * {about}.\n *" if about else "",
        prototype=_prototype(head, name),
        columns=head.n_features_in_,
        settings=settings,
        width=score.width,
        choices="".join(said),
        features="".join(f"    {json.dumps(one)},\n" for one in features),
        tables=to.declarations,
        code=_indented(check + to.code),
        count=count,
        result=score.name,
        choose=f"CHOOSE({count})" if hasattr(head, "predict_proba") else "return 0",
    )


def c_test(head: Any, name: str, low: Float64, high: Float64, settings: Float64 | None = None) -> str:
    """A program in C that compares `c_source` with Python's answers for 1,000 rows, drawn between two rows (D,).

    ``settings`` (K, F), where the head is told of them, are those that all rows are asked about.
    """
    state, drawn = 1, np.empty((_ROWS, head.n_features_in_))
    for place in range(drawn.size):
        state = (state * 1664525 + 1013904223) % 2**32
        drawn.flat[place] = state / 2**32
    rows = (low + (high - low) * drawn) * np.where(np.arange(_ROWS) % 10 == 9, 1000.0, 1.0)[:, None]
    told = () if settings is None else (Settings(settings, np.tile(np.arange(len(settings)), (_ROWS, 1))),)
    chooses = hasattr(head, "predict_proba")
    scores = (head.predict_proba if chooses else head.predict)(rows, *told).reshape(_ROWS, -1)
    to = _CWriter()
    return Template(_read("head_test.c")).substitute(
        name=name,
        prototype=_prototype(head, name),
        rows=_ROWS,
        columns=rows.shape[1],
        scores=scores.shape[1],
        low=to.table(low),
        range=to.table(high - low),
        choices=to.table(scores.argmax(axis=1) * chooses),
        sums=to.table(scores @ np.arange(1.0, scores.shape[1] + 1)),
        passed="" if settings is None else f", {to.table(settings, narrow=False)}, {len(settings)}",
        tables=to.declarations,
    )


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _prototype(head: Any, name: str) -> str:
    settings = "const double *settings, int count, " if pair_head(head) else ""
    return f"int {name}(const double *features, {settings}double *score)"
