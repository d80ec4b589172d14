"""`CodeReader`: the code features of modules and of their regions, for training and for questions."""

from collections.abc import Sequence

import numpy as np

from mirenc.base.arrays import Float32
from mirenc.base.errors import TaskError
from mirenc.decide.features.opcode_histogram import opcode_histogram
from mirenc.encoder import Embedding, Encoder, Level, Purpose
from mirenc.llvm import IRModule, Region, regions_of

CODE_ROWS = ("text", "graph", "both", "both_histogram")
"""Rows of a table whose features come from the model, alone or with the histogram."""


class CodeReader:
    """Computes code features, with the opcode ``histogram`` or without."""

    def __init__(self, encoder: Encoder, *, histogram: bool = True) -> None:
        self.encoder = encoder
        self.histogram = histogram

    def __call__(self, module: IRModule, regions: Sequence[Region | None]) -> list[dict[str, Float32]]:
        """``text``, ``graph`` and ``histogram`` of each region; None stands for the whole module.

        With a model that was taught by a compiler, text and graph are those of ``purpose="features"`` (`Encoder.embed`)
        and ``taught`` is added. With other models they are whitened means, which existing heads were fitted on. The
        features of a loop are followed by those of its function, which tell how often the loop is entered and what is
        invariant in it. Raises TaskError: the module has no such region.
        """
        return self.of_modules([(module, regions)])[0]

    def of_modules(self, modules: Sequence[tuple[IRModule, Sequence[Region | None]]]) -> list[list[dict[str, Float32]]]:
        """The same for regions of several modules, whose statements are encoded together."""
        purpose: Purpose = "search" if self.encoder.files.config.taught is None else "features"
        region_levels = (level for _, regions in modules for region in regions for level in _levels(region))
        levels = tuple(dict.fromkeys(region_levels))
        if not levels:
            return [[] for _ in modules]
        # As they were read: heads decide about code as it is, not about a normal form of it.
        inputs = [module for module, _ in modules]
        stream = self.encoder.embed_stream(inputs, level=levels, purpose=purpose, form="plain", jobs=1)
        results = []
        for (module, regions), outcome in zip(modules, stream, strict=True):
            if outcome.embedding is None:
                assert outcome.error is not None
                raise outcome.error
            code = _ModuleCode(module, outcome.embedding, self.histogram)
            results.append([code.features(region) for region in regions])
        return results


class _ModuleCode:
    """The code features of one module and of its regions."""

    def __init__(self, module: IRModule, embedding: Embedding, histogram: bool) -> None:
        self.module, self.histogram = module, histogram
        self.vectors = {part: embedding.part(part) for part in ("text", "graph")}
        if embedding.purpose == "features":
            self.vectors["taught"] = embedding.taught
        self.rows = {(region.level, *_key(region)): row for row, region in enumerate(embedding.regions)}
        levels = {region.level for region in embedding.regions} - {"module"} if histogram else set()
        self.regions = {level: regions_of(module, level) for level in levels}

    def features(self, region: Region | None) -> dict[str, Float32]:
        """Features of a region; those of a loop are followed by those of its function."""
        if region is None:
            return self._features("module", ("", ""))
        features = self._features(region.level, _key(region), region.name)
        if region.level != "loop":
            return features
        function_features = self._features("function", (region.symbol, ""))
        return {name: np.concatenate([vector, function_features[name]]) for name, vector in features.items()}

    def _features(self, level: str, key: tuple[str, str], name: str = "") -> dict[str, Float32]:
        row = self.rows.get((level, *key))
        if row is None:
            raise TaskError(f"{self.module.name} has no {level} {name!r}. Give IR that has it")
        features = {part: vectors[row] for part, vectors in self.vectors.items()}
        if self.histogram:
            instructions = None
            if level in self.regions:
                regions = self.regions[level]
                place = [_key(region) for region in regions.regions].index(key)
                instructions = np.asarray(regions.instruction[regions.region == place])
            features["histogram"] = opcode_histogram(self.module, instructions)
        return features


def _levels(region: Region | None) -> tuple[Level, ...]:
    if region is None:
        return ("module",)
    return ("loop", "function") if region.level == "loop" else ("function",)


def _key(region: Region) -> tuple[str, str]:
    """Identifies a region in its module; places and display names may differ with the debug information."""
    return region.symbol, region.header


def code_vector(row: str, parts: dict[str, Float32]) -> Float32:
    """The code features of a row of `CODE_ROWS`, or of ``histogram``, from what `CodeReader` gave. (D,)."""
    if row not in ("both", "both_histogram"):
        return parts[row]
    names = ["text", "graph", *(["taught"] if "taught" in parts else [])]
    return np.concatenate([parts[name] for name in [*names, *(["histogram"] if row == "both_histogram" else [])]])
