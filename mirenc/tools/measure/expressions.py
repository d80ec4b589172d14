"""Sizes and counts of a GPU driver, trip counts of a loop: ``n * n + 1``, read with `ast` and never run as Python."""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mirenc.base.errors import ConfigError

Number = int | float
_Value = Callable[[Mapping[str, Number]], Number]

_BINARY: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_CALLS: Mapping[str, Callable[..., Number]] = {"max": max, "min": min}
# Long enough for any size; short enough that neither the parser nor a product of numbers gets out of hand.
_LONGEST = 200


@dataclass(frozen=True)
class Expression:
    """Arithmetic over a few names; ``text`` is as it was written."""

    text: str
    _value: _Value = field(repr=False, compare=False)

    def __call__(self, **names: Number) -> Number:
        """Its value; every name that it uses must be given. A division by zero is a `ConfigError`."""
        try:
            return self._value(names)
        except ZeroDivisionError:
            values = ", ".join(f"{name} = {value}" for name, value in names.items())
            raise ConfigError(f"{self.text!r} divides by zero where {values}") from None


def read_expression(text: str | Number, names: tuple[str, ...]) -> Expression:
    """Read numbers, ``names``, ``+ - * // %``, ``max(...)``, ``min(...)`` and parentheses; else a `ConfigError`."""
    text = str(text)
    allowed = f"allowed are numbers, {', '.join(names)}, + - * // %, max(...), min(...) and parentheses"
    if len(text) > _LONGEST:
        raise ConfigError(f"an expression of {len(text)} characters; at most {_LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise ConfigError(f"{text!r} is no expression; {allowed}") from None

    def value_of(node: ast.expr) -> _Value:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return lambda values: number
            case ast.Name(id=name) if name in names:
                return lambda values: values[name]
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                inner = value_of(operand)
                return (lambda values: -inner(values)) if isinstance(sign, ast.USub) else inner
            case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _BINARY:
                first, second, function = value_of(left), value_of(right), _BINARY[type(operation)]
                return lambda values: function(first(values), second(values))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _CALLS and len(args) > 1:
                parts = [value_of(arg) for arg in args]
                return lambda values: _CALLS[name](*(part(values) for part in parts))
        raise ConfigError(f"{ast.unparse(node)!r} in {text!r}; {allowed}")

    return Expression(text, value_of(tree))
