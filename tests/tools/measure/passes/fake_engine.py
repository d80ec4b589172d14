"""An engine without LLVM: it counts lines, and crashes where it is told to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from mirenc.base.errors import IRParseError
from mirenc.llvm.passes.size_after_passes import CODEGEN, Failed, Optimised


class FakeEngine:
    """Every pass of a list takes one byte off; ``crash`` in a list crashes, ``; unreadable`` in the IR is refused."""

    name = "LLVM 19.1.7 (made)"
    version = "19.1.7"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def run_all(self, ir: bytes, pipelines: Iterable[str], *, codegen: int = CODEGEN) -> list[Optimised | Failed]:
        text = ir.decode()
        self.texts.append(text)
        if "; unreadable" in text:
            raise IRParseError("LLVM refuses it: expected top-level entity. Mend it")
        results: list[Optimised | Failed] = []
        for pipeline in pipelines:
            if "crash" in pipeline:
                results.append(Failed("crash", "it said nothing"))
            else:
                lines = text.count("\n")
                results.append(Optimised(lines, 100 + lines + codegen - pipeline.count(","), pipeline))
        return results

    def fires(self, ir: bytes, pipelines: Iterable[str]) -> list[frozenset[str] | Failed]:
        """``SROA`` changes everything, ``LICM`` what says minsize."""
        changed = frozenset({"SROA", "LICM"} if b"minsize" in ir else {"SROA"})
        return [Failed("crash", "") if b"mul i32 %a, 3\n" in ir else changed for _ in pipelines]

    def knows(self, pipeline: str) -> bool:
        return "unknown" not in pipeline

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
