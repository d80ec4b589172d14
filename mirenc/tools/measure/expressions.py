"""Sizes and counts of a GPU driver, trip counts of a loop: ``n * n + 1``, which may be arithmetic and nothing else."""

import ast
from dataclasses import dataclass, field
from types import CodeType

from mirenc.base.errors import ConfigError

Number = int | float

# Long enough for any size; short enough that neither the parser nor a product of numbers gets out of hand.
_MAX_LENGTH = 200


@dataclass(frozen=True)
class Expression:
    """Arithmetic over a few names; ``text`` is as it was written."""

    text: str
    _code: CodeType = field(repr=False, compare=False)

    def __call__(self, **names: Number) -> Number:
        """Its value; every name that it uses must be given. A division by zero is a `ConfigError`."""
        try:
            return eval(self._code, {"__builtins__": {"max": max, "min": min}}, names)
        except ZeroDivisionError:
            values = ", ".join(f"{name} = {value}" for name, value in names.items())
            raise ConfigError(f"{self.text!r} divides by zero where {values}") from None


def read_expression(text: str | Number, names: tuple[str, ...]) -> Expression:
    """Read numbers, ``names``, ``+ - * // %``, ``max(...)``, ``min(...)`` and parentheses; else a `ConfigError`."""
    text = str(text)
    allowed = f"allowed are numbers, {', '.join(names)}, + - * // %, max(...), min(...) and parentheses"
    if len(text) > _MAX_LENGTH:
        raise ConfigError(f"an expression of {len(text)} characters; at most {_MAX_LENGTH}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        raise ConfigError(f"{text!r} is not an expression; {allowed}") from None

    def check(node: ast.expr) -> None:
        operands: list[ast.expr] = []
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                pass
            case ast.Name(id=name) if name in names:
                pass
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                operands = [operand]
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right=right):
                operands = [left, right]
            case ast.Call(func=ast.Name(id="max" | "min"), args=operands, keywords=[]) if len(operands) > 1:
                pass
            case _:
                raise ConfigError(f"{ast.unparse(node)!r} in {text!r}; {allowed}")
        for operand in operands:
            check(operand)

    check(tree.body)
    return Expression(text, compile(tree, "<expression>", "eval"))
