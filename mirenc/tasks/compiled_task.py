"""`CompiledTask`: what tasks over a table of `mirenc measure passes` have in common: pieces, levels, protocols.

A sample is a piece: a function that was compiled by itself, or a module. Sizes are exact and the same every time, so
what a table of them cannot show is not noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import TaskError
from mirenc.ir import Dialect, IRModule
from mirenc.ir.compile import LANGUAGE_FLAGS
from mirenc.ir.regions import Region
from mirenc.tasks.compiled import CompiledTable, Piece, read_compiled, read_piece_ir
from mirenc.tasks.data import TaskData
from mirenc.tasks.protocols import Protocol
from mirenc.tasks.sample import Sample
from mirenc.tasks.task import Task

__all__ = ["BEFORE_OZ", "HELD_OUT", "PROJECT", "CompiledTask"]

_FLAGS = ("-Oz", "-Xclang", "-disable-llvm-passes")
# What -Oz begins with: every function marked minsize and optsize, and no pass run.
BEFORE_OZ = Dialect(
    name="before-oz",
    title="source at -Oz, before any pass",
    triple="",
    data_layout="",
    flags={language: (*own, *_FLAGS) for language, own in LANGUAGE_FLAGS.items()},
)
HELD_OUT = Protocol(
    "held_out", "trained on some projects, tested on projects held out", lambda data: data.group, over="held_out"
)
PROJECT = Protocol(
    "project", "5 folds of whole projects, without those held out", lambda data: data.group, folds=5, over="rest"
)
_LEVELS = ("function", "module")
_DIGITS = 15  # of a count of instructions: what a float64 holds exactly


class CompiledTask(Task):
    """A task whose answers a compiler gave; subclasses say what of a table they ask for (`ask`)."""

    source = "this project's own compilations (mirenc measure passes)"
    context_names = ("instructions", "level")
    context_help: ClassVar[Mapping[str, str]] = {
        "instructions": "how many, before any pass",
        "level": " or ".join(_LEVELS),
    }
    told_by_code = ("instructions", "level")
    level = "function"
    levels = _LEVELS
    alone = True
    more_rows = ("autophase", "statements")
    dialect = BEFORE_OZ
    protocols = (HELD_OUT, PROJECT)

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        """Read a table; its samples have code where the IR is beside it."""
        if data_dir is None:
            raise TaskError(
                f"{self.name} wants a table of passes. Make one: mirenc measure passes SOURCES -o FOLDER, then give "
                "--data FOLDER"
            )
        table = read_compiled(data_dir)
        has_code = (Path(data_dir) / "ir.parquet").exists()
        texts = read_piece_ir(data_dir, table.pieces) if has_code else [None] * len(table.pieces)
        samples = [_sample(piece, text) for piece, text in zip(table.pieces, texts, strict=True)]
        return self.ask(table, samples, self.check_variant(variant))

    def ask(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        """The samples with what the table says of them, less those of which it says nothing.

        Parameters
        ----------
        table : CompiledTable
        samples : list of Sample
            One a piece, without a target.
        variant : str

        Raises
        ------
        TaskError
            The table says nothing about this.
        """
        raise NotImplementedError

    def sizes_after(self, table: CompiledTable, level: str) -> NDArray[np.float64]:
        """(n,) bytes of code after a level, 1 at least; NaN where it failed.

        Raises
        ------
        TaskError
            The table does not have the level.
        """
        if level not in table.levels:
            raise TaskError(
                f"{self.name} wants sizes after {level}; the table has {', '.join(table.levels) or 'none'}. Measure "
                "anew with this release: mirenc measure passes SOURCES -o FOLDER"
            )
        found: NDArray[np.float64] = np.maximum(table.levels[level].code_bytes, 1.0)
        return found

    def parse_feature(self, name: str, text: str) -> Any:
        """Instructions as a number, or the level as a word."""
        if name == "level":
            if text not in _LEVELS:
                raise TaskError(f"context feature 'level' is {text!r}; allowed: {', '.join(_LEVELS)}")
            return text
        if not text.isdecimal() or len(text) > _DIGITS or int(text) == 0:
            raise TaskError(
                f"context feature 'instructions' is {text!r}; it must be a whole number from 1 up, of {_DIGITS} digits "
                "at most"
            )
        return int(text)

    def encode_context(self, context: tuple[Any, ...]) -> NDArray[np.float64]:
        """Logarithm of the instructions, and whether it is a module. (2,)."""
        count, level = context
        return np.array([np.log(count), level == "module"], dtype=np.float64)

    def tell(self, module: IRModule, region: Region | None) -> Mapping[str, Any]:
        """What the code itself says of a function or module: its instructions, and which of the two it is."""
        if region is None:
            return {"instructions": module.instruction_count, "level": "module"}
        header = module.function(region.symbol).header
        return {"instructions": header.last - header.first, "level": "function"}


def _sample(piece: Piece, text: str | None) -> Sample:
    """A piece without its target. The IR may have declarations beside its function, so the region names it."""
    region = None
    if piece.level == "function":
        region = Region("function", piece.symbol, piece.symbol, "", 0, piece.file, 0, piece.symbol)
    return Sample(
        piece.name,
        text,
        piece.project,
        (max(piece.instructions, 1), piece.level),
        region=region,
        part=piece.level,
        kernel=piece.name,
        held_out=piece.held_out,
    )
