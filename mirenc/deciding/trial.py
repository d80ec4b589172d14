"""`try_lists`: run lists of passes and keep the smallest result, which -Oz itself may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mirenc.errors import PassError
from mirenc.passes.engine import Engine, Failed

__all__ = ["Outcome", "Tried", "try_lists"]

_UNOPTIMISED = 0  # level of code generation


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one list.

    Attributes
    ----------
    pipeline : str
    loaded_bytes : int or None
        Of the object file: all that is loaded with the program (`mirenc.passes.Optimised`); None where the list failed.
    instructions : int or None
    problem : str
        Why it failed; "" where it did not.
    """

    pipeline: str
    loaded_bytes: int | None
    instructions: int | None
    problem: str = ""


@dataclass(frozen=True)
class Outcome:
    """What trying was worth.

    Attributes
    ----------
    engine : str
        The LLVM that ran the lists.
    before : int
        Loaded bytes without any pass, by the code generation of -O0.
    oz : Tried
        -Oz itself.
    tried : tuple of Tried
        In the order in which they were given.
    best : int
        Place of the best in ``tried``; -1 where that is -Oz.
    ir : bytes
        The best module, as bitcode of the engine's LLVM; its verifier accepts it.
    """

    engine: str
    before: int
    oz: Tried
    tried: tuple[Tried, ...]
    best: int
    ir: bytes

    @property
    def winner(self) -> Tried:
        """The best of the lists and -Oz."""
        return self.oz if self.best < 0 else self.tried[self.best]

    @property
    def saved(self) -> int:
        """Bytes less than -Oz; never below 0."""
        assert self.oz.loaded_bytes is not None
        assert self.winner.loaded_bytes is not None
        return self.oz.loaded_bytes - self.winner.loaded_bytes


def try_lists(engine: Engine, ir: bytes, pipelines: Sequence[str], default: str) -> Outcome:
    """Run every list and -Oz on the same module; the engine verifies every result.

    Parameters
    ----------
    engine : Engine
    ir : bytes
        Text or bitcode that the engine's LLVM reads.
    pipelines : sequence of str
        One that fails is told, and the others are tried all the same.
    default : str
        -Oz; it is kept unless another is smaller.

    Raises
    ------
    IRParseError
        The engine's LLVM refuses the module.
    PassError
        -Oz itself fails on it, or no machine code can be made of it.
    ToolchainError
        The engine cannot start.
    """
    (before,) = engine.run_all(ir, [""], codegen=_UNOPTIMISED)
    if isinstance(before, Failed):
        raise PassError(f"{engine.name} makes no machine code of the module: {before.problem}", failed=before.status)
    oz, *tried = (
        Tried(pipeline, None, None, f"{result.status}: {result.problem}")
        if isinstance(result, Failed)
        else Tried(pipeline, result.loaded_bytes, result.instructions)
        for pipeline, result in zip([default, *pipelines], engine.run_all(ir, [default, *pipelines]), strict=True)
    )
    if oz.loaded_bytes is None:
        raise PassError(f"{engine.name} fails on {default} itself ({oz.problem})")
    smallest = min(range(-1, len(tried)), key=lambda place: _size(oz if place < 0 else tried[place]))
    winner = oz if smallest < 0 else tried[smallest]
    # Once more for the IR: to keep that of every list costs more than one list of all, and lists of one result share
    # their machine code only where they run together.
    best = engine.run(ir, winner.pipeline).ir
    return Outcome(engine.name, before.loaded_bytes, oz, tuple(tried), smallest, best)


def _size(one: Tried) -> float:
    return float("inf") if one.loaded_bytes is None else one.loaded_bytes
