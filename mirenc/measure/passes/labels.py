"""The labels of one piece: sizes at every level and under every pass list, and the passes that fire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mirenc.measure.passes.journal import Figures
from mirenc.passes.engine import CODEGEN, Engine, Failed, Optimised, code_bytes
from mirenc.passes.extract import without_size_attributes
from mirenc.tasks.compiled import PassList

__all__ = ["LEVELS", "WATCHED", "Labels", "Level", "Watcher", "figures", "fires", "label"]


@dataclass(frozen=True, slots=True)
class Level:
    """What a compiler does at a level.

    Attributes
    ----------
    pipeline : str
    codegen : int
        Level of code generation.
    plain : bool
        Without minsize and optsize, as clang gives the code to this level.
    """

    pipeline: str
    codegen: int
    plain: bool


LEVELS: Mapping[str, Level] = {
    "O0": Level("default<O0>", 0, plain=True),
    "Oz": Level("default<Oz>", CODEGEN, plain=False),
    "Oz_plain": Level("default<Oz>", CODEGEN, plain=True),
    "O2": Level("default<O2>", CODEGEN, plain=True),
    "O3": Level("default<O3>", 3, plain=True),
}
"""``Oz_plain`` is the weak baseline: ``opt -Oz`` on code whose functions do not say that they should be small."""


WATCHED = ("Oz", "O3")
"""Levels whose passes are asked whether they change a piece."""


class Watcher(Protocol):
    """Says which passes change a module; `mirenc.passes.shared.PassWatcher` is one."""

    def fires(self, ir: bytes, pipelines: Iterable[str]) -> list[frozenset[str] | Failed]:
        """For each list the passes that change the module."""

    def close(self) -> None:
        """End what it runs."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Sizes of one piece.

    Attributes
    ----------
    before : Optimised or Failed
        Before any pass, by the code generation of -O0.
    levels : dict of str to Optimised or Failed
    lists : list of Optimised or Failed
    """

    before: Optimised | Failed
    levels: dict[str, Optimised | Failed]
    lists: list[Optimised | Failed]


def label(engine: Engine, text: str, lists: Sequence[PassList]) -> Labels:
    """Compile a piece in every way.

    Parameters
    ----------
    engine : Engine
    text : str
        IR before any pass.
    lists : sequence of PassList

    Raises
    ------
    IRParseError
        The engine's LLVM refuses the piece.
    ToolchainError
        The engine cannot start.
    """
    given = text.encode()
    plain = without_size_attributes(text).encode()
    (before,) = engine.run_all(given, [""], codegen=0)
    levels: dict[str, Optimised | Failed] = {}
    # One call for all lists of one IR and code generation: equal results are made into code once.
    own = [name for name, level in LEVELS.items() if not level.plain]
    results = engine.run_all(given, [*(LEVELS[name].pipeline for name in own), *(one.pipeline for one in lists)])
    levels.update(zip(own, results, strict=False))
    for codegen in sorted({level.codegen for level in LEVELS.values()}):
        names = [name for name, level in LEVELS.items() if level.plain and level.codegen == codegen]
        found = engine.run_all(plain, [LEVELS[name].pipeline for name in names], codegen=codegen)
        levels.update(zip(names, found, strict=True))
    return Labels(before, {name: levels[name] for name in LEVELS}, results[len(own) :])


def fires(watcher: Watcher, text: str) -> dict[str, tuple[str, ...]]:
    """The passes of each watched level that change a piece; without the levels that failed.

    Raises
    ------
    IRParseError
        LLVM refuses the piece.
    ToolchainError
        LLVM cannot start.
    """
    plain = without_size_attributes(text)
    found = {}
    for name in WATCHED:
        level = LEVELS[name]
        (passes,) = watcher.fires((plain if level.plain else text).encode(), [level.pipeline])
        if not isinstance(passes, Failed):
            found[name] = tuple(sorted(passes))
    return found


def figures(result: Optimised | Failed, before: Optimised | Failed) -> Figures:
    """A result as the journal keeps it, with the size beside what there was before any pass."""
    if isinstance(result, Failed):
        return 0, 0, result.status
    return result.instructions, code_bytes(result, result if isinstance(before, Failed) else before), "ok"
