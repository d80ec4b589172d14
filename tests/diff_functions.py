"""A function of a build, as `mirenc.search.builds` describes it, for tests of the diff and its report."""

from __future__ import annotations

from mirenc.llvm.analysis.function_code import FunctionCode
from mirenc.search.builds import Function

CODE = FunctionCode("type", "statements", "operands", (), {})


def function(symbol: str, file: str = "a.ll", size: int | None = 10, *calls: str, **facts: object) -> Function:
    counts = {"instructions": 5, "blocks": 1, "loops": 0, "vector_instructions": 0, "inlined": frozenset()}
    place = {"source": "", "line": 0, "code": CODE._replace(functions=calls)}
    return Function(
        **place | counts | {"file": file, "name": symbol, "symbol": symbol, "bytes": size} | facts,  # type: ignore[arg-type]
        calls=dict(zip(calls, calls, strict=True)),
    )
