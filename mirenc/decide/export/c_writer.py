"""`CWriter`: collects the steps of a computation on one row as C99 statements, and the tables that they read."""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partialmethod
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from mirenc.decide.estimators.pair_head import PairHead
from mirenc.decide.estimators.trees import Forest

_INTEGERS = {"unsigned char": np.uint8, "short": np.int16, "int": np.int32}
_SETTINGS_LOOP = """for (int s = 0; s < count; s++) {
    const double *setting = settings + s * %d;
%s    @[s] = %s[0];
}"""

Operand = Union["Vector", NDArray[Any], float]


@dataclass(frozen=True)
class Vector:
    """A C array of ``width`` doubles; ``per_setting``: one for each setting that the caller asks about."""

    writer: "CWriter"
    name: str
    width: int
    per_setting: bool = False

    def apply(self, operator: str, *operands: Operand, width: int = 0) -> "Vector":
        """The result of an operation, one of the macros in head.c (without regard to case)."""
        return self.writer.operation(operator, self, *operands, width=width)

    __add__ = partialmethod(apply, "Add")
    __sub__ = partialmethod(apply, "Sub")
    __mul__ = partialmethod(apply, "Mul")
    __truediv__ = partialmethod(apply, "Div")

    def __matmul__(self, matrix: NDArray[Any]) -> "Vector":
        return self.apply("MatMul", matrix, width=matrix.shape[1])


class CWriter:
    """Statements so far (``code``) and ``declarations`` of their constant tables."""

    def __init__(self) -> None:
        self.code = ""
        self.needs_all_settings = False  # whether some table has an entry for each setting of training
        self._tables: dict[str, str] = {}
        self._steps: dict[tuple[int, str], Vector] = {}
        self._vectors = 0

    def table(self, values: Any, *, narrow: bool = True) -> str:
        """The name of a constant array, which is written once, in the narrowest type that holds it exactly."""
        array = np.asarray(values).ravel()
        if array.dtype.kind == "f":
            with np.errstate(over="ignore"):
                single = narrow and np.array_equal(array, array.astype(np.float32))
            kind, form = ("float", "{:.9g}") if single else ("double", "{:.17g}")
            words = [form.format(value).replace("inf", "INFINITY") for value in array.tolist()]
        else:
            kind = next(name for name, dtype in _INTEGERS.items() if np.array_equal(array, array.astype(dtype)))
            words = [str(int(value)) for value in array]
        lines = ",\n".join(", ".join(words[first : first + 16]) for first in range(0, len(words), 16))
        text = f"static const {kind} @[{len(words)}] = {{\n{lines}}};\n"
        return self._tables.setdefault(text, f"t{len(self._tables)}")

    @property
    def declarations(self) -> str:
        return "".join(text.replace("@", name) for text, name in self._tables.items())

    def operation(self, operator: str, *operands: Operand, width: int = 0) -> Vector:
        """Write one operation; ``width`` of its result, where that is not the width of the widest operand."""
        vectors = [operand for operand in operands if isinstance(operand, Vector)]
        first, width = vectors[0], width or max(vector.width for vector in vectors)
        per_setting_flags = [vector.per_setting for vector in vectors if vector.width > 1]
        self.needs_all_settings |= any(per_setting_flags) and not all(per_setting_flags)
        count = "count" if any(per_setting_flags) else str(width)
        match operator, operands[1:]:
            case "Slice", (start, _):
                return Vector(self, f"({first.name} + {start})", width)
            case "Concat", _:
                starts = np.cumsum([0, *(vector.width for vector in vectors)]).tolist()
                parts = zip(starts, vectors, strict=False)
                copies = (f"COPY((@ + {start}), {vector.width}, {vector.name}[i])" for start, vector in parts)
                return self._step(";\n".join(copies), width)
            case "MatMul", (weights,):
                return self._step(f"MATMUL(@, {width}, {first.name}, {first.width}, {self.table(weights)})", width)
            case "ReduceSum", _:
                return self._step(f"SUM(@, {'count' if first.per_setting else first.width}, {first.name}[i])", width)
            case "Softmax", _:
                return self._step(f"SOFTMAX(@, {count}, {first.name})", width, per_setting=first.per_setting)
        words = ", ".join(map(self._element, operands))
        return self._step(f"{operator.upper()}(@, {count}, {words})", width, per_setting=any(per_setting_flags))

    def _element(self, operand: Operand) -> str:
        """Element ``i`` of an operand, in C."""
        if isinstance(operand, Vector):
            return f"{operand.name}[{'i' if operand.width > 1 else 0}]"
        return repr(float(operand)) if isinstance(operand, float) else f"{self.table(operand)}[i]"

    def _step(self, code: str, width: int, *, per_setting: bool = False) -> Vector:
        """Write a statement, or find the equal one that was written before; @ stands for its result."""
        if (width, code) not in self._steps:
            result = self._steps[width, code] = Vector(self, f"v{self._vectors}", width, per_setting)
            self._vectors += 1
            self.code += f"double @[{width}];\n{code};\n".replace("@", result.name)
        return self._steps[width, code]

    def forest(self, x: Vector, forest: Forest, *, single: bool) -> Vector:
        """`Forest.summed`; ``single``: columns of x are compared in single precision."""
        state, width = forest._state(), forest.value.shape[1]
        value = f"{self.table(state['value_'])}[{self.table(forest._leaf)}[node[tree]] * {width} + i]"
        if "levels" in state:  # values are bytes, which number the levels of their column
            value = f"{self.table(state['levels'])}[{value} * {width} + i]"
        arrays = (forest._root, forest._column, np.where(forest.column >= 0, forest._cut, 0.0), forest._child)
        words = ("(float)" * single + x.name, len(forest._root), forest._depth, *map(self.table, arrays), value)
        return self._step(f"FOREST(@, {width}, {', '.join(map(str, words))})", width)

    def per_setting(self, x: Vector, head: PairHead, cost: Callable[[Vector, Vector], Vector]) -> Vector:
        """The cost of row x under each setting that the caller asks about."""
        code, steps, self.code, columns = self.code, dict(self._steps), "", len(head.setting_middle_)
        result = cost(x, Vector(self, "setting", columns))
        body, self.code, self._steps = textwrap.indent(self.code, "    "), code, steps  # the loop's own are local
        return self._step(_SETTINGS_LOOP % (columns, body, result.name), head.n_choices_, per_setting=True)
