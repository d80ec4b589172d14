"""Sizes and counts of a GPU driver: ``n * n + 1``, read with `ast`; nothing in them is ever run as Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from mirenc.errors import ConfigError

__all__ = ["Expression", "read_expression"]

Number = int | float

_BINARY: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
}
_CALLS: Mapping[str, Callable[..., Number]] = {"max": max, "min": min}
# Long enough for any size; short enough that neither the parser nor a product of numbers gets out of hand.
_LONGEST = 200


@dataclass(frozen=True)
class Expression:
    """Arithmetic over a few names.

    Attributes
    ----------
    text : str
        As it was written.
    """

    text: str
    _tree: ast.expr

    def __call__(self, **names: Number) -> Number:
        """Its value; every name that it uses must be given.

        Raises
        ------
        ConfigError
            A division by zero.
        """
        try:
            return _value(self._tree, names)
        except ZeroDivisionError:
            given = ", ".join(f"{name} = {value}" for name, value in names.items())
            raise ConfigError(f"{self.text!r} divides by zero where {given}") from None


def read_expression(text: str | Number, names: tuple[str, ...]) -> Expression:
    """Read numbers, ``names``, ``+ - * // %``, ``max(...)``, ``min(...)`` and parentheses.

    Raises
    ------
    ConfigError
        It has anything else in it.
    """
    text = str(text)
    allowed = f"allowed are numbers, {', '.join(names)}, + - * // %, max(...), min(...) and parentheses"
    if len(text) > _LONGEST:
        raise ConfigError(f"an expression of {len(text)} characters; at most {_LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise ConfigError(f"{text!r} is no expression; {allowed}") from None
    for wrong in _unknown(tree, names):
        raise ConfigError(f"{wrong!r} in {text!r}; {allowed}")
    return Expression(text, tree)


def _unknown(node: ast.expr, names: tuple[str, ...]) -> Iterator[str]:
    """Source of each innermost part that is not allowed."""
    match node:
        case ast.Constant(value=bool()):
            yield ast.unparse(node)
        case ast.Constant(value=int() | float()):
            return
        case ast.Name(id=name) if name in names:
            return
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            yield from _unknown(operand, names)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
            yield from _unknown(left, names)
            yield from _unknown(right, names)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _CALLS and len(args) > 1:
            for arg in args:
                yield from _unknown(arg, names)
        case _:
            yield ast.unparse(node)


def _value(node: ast.expr, names: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(op=operator, operand=operand):
            value = _value(operand, names)
            return -value if isinstance(operator, ast.USub) else value
        case ast.BinOp(left=left, op=operation, right=right):
            return _BINARY[type(operation)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _CALLS[name](*(_value(arg, names) for arg in args))
    raise AssertionError(f"read_expression let {ast.dump(node)} through")
