"""`CodeReader`: what a head gets to see of code, of modules and of their regions, for training and for a question."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32, Int32
from mirenc.base.errors import TaskError
from mirenc.decide.features.opcode_histogram import opcode_histogram
from mirenc.encoder import Embedding, Encoder, Level, Purpose
from mirenc.llvm import IRModule, Region, Regions, regions_of

# Rows that look at code through the model, or beside it.
CODE_ROWS = ("text", "graph", "both", "both_histogram")


class CodeReader:
    """Code features of modules and of their regions, with the opcode ``histogram`` or without."""

    def __init__(self, encoder: Encoder, *, histogram: bool = True) -> None:
        self.encoder = encoder
        self.histogram = histogram

    def __call__(self, module: IRModule, regions: Sequence[Region | None]) -> list[dict[str, Float32]]:
        """``text``, ``graph`` and ``histogram`` of each region; None is the module.

        Of a model that a compiler taught, text and graph are features (`Encoder.embed`), and ``taught`` stands beside
        them. Of others they are whitened means, as heads were fitted on before. A loop's are followed by those of its
        function: what is around a loop tells how often it is entered and what of it is invariant. Raises TaskError: the
        module has no such region.
        """
        return self.of_modules([(module, regions)])[0]

    def of_modules(self, modules: Sequence[tuple[IRModule, Sequence[Region | None]]]) -> list[list[dict[str, Float32]]]:
        """The same of regions of several modules, whose statements are encoded together."""
        purpose: Purpose = "search" if self.encoder.files.config.taught is None else "features"
        levels = tuple(dict.fromkeys(level for _, regions in modules for one in regions for level in _levels(one)))
        if not levels:
            return [[] for _ in modules]
        # As they were read: what a head decides on is never normalised by itself.
        how: dict[str, Any] = {"purpose": purpose, "form": "plain", "jobs": 1}
        stream = self.encoder.embed_stream([one for one, _ in modules], level=levels, **how)
        results = []
        for (module, regions), outcome in zip(modules, stream, strict=True):
            if outcome.embedding is None:
                assert outcome.error is not None
                raise outcome.error
            code = _Code(module, outcome.embedding, self.histogram)
            results.append([code.of(region) for region in regions])
        return results


def _levels(region: Region | None) -> tuple[Level, ...]:
    if region is None:
        return ("module",)
    return ("loop", "function") if region.level == "loop" else ("function",)


class _Code:
    def __init__(self, module: IRModule, embedding: Embedding, histogram: bool) -> None:
        self.module, self.histogram = module, histogram
        self.vectors = {"text": embedding.part("text"), "graph": embedding.part("graph")}
        if embedding.purpose == "features":
            self.vectors["taught"] = embedding.taught
        self.rows = {(region.level, *_key(region)): row for row, region in enumerate(embedding.regions)}
        levels = {region.level for region in embedding.regions} if histogram else set()
        self.listed = {level: regions_of(module, level) for level in levels - {"module"}}

    def of(self, region: Region | None) -> dict[str, Float32]:
        """Those of a region, a loop's followed by its function's."""
        if region is None:
            return self._own("module", ("", ""))
        own = self._own(region.level, _key(region), region.name)
        if region.level != "loop":
            return own
        around = self._own("function", (region.symbol, ""))
        return {name: np.concatenate([vector, around[name]]) for name, vector in own.items()}

    def _own(self, level: str, key: tuple[str, str], name: str = "") -> dict[str, Float32]:
        row = self.rows.get((level, *key))
        if row is None:
            raise TaskError(f"{self.module.name} has no {level} {name!r}. Give IR that has it")
        inside = _instructions(self.listed[level], key) if level in self.listed else None
        counts = {"histogram": opcode_histogram(self.module, inside)} if self.histogram else {}
        return {**{name: vectors[row] for name, vectors in self.vectors.items()}, **counts}


def _instructions(listed: Regions, key: tuple[str, str]) -> Int32:
    return np.asarray(listed.instruction[listed.region == [_key(one) for one in listed.regions].index(key)])


def _key(region: Region) -> tuple[str, str]:
    """What finds a region again in its module; places and display names may differ with the debug information."""
    return region.symbol, region.header


def code_vector(row: str, parts: dict[str, Float32]) -> Float32:
    """Code features for a row of `CODE_ROWS`, of what `CodeReader` gave. (D,)."""
    if row not in ("both", "both_histogram"):
        return parts[row]
    blocks = [parts["text"], parts["graph"]] + ([parts["taught"]] if "taught" in parts else [])
    return np.concatenate([*blocks, parts["histogram"]] if row == "both_histogram" else blocks)
