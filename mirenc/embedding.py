"""`Embedding`: what a model makes of one module at one level, and what it is made from."""

from __future__ import annotations

import io
import json
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mirenc.ir import IRModule, Region, regions_of
from mirenc.model.pooling import Pools, module_pools, region_pools
from mirenc.model.runtime import Pooled
from mirenc.sample import IRSample, make_sample
from mirenc.tokenizer import IRTokenizer

__all__ = ["Embedding", "Prepared", "prepare"]

Float32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Embedding:
    """What a model makes of one module, at one level.

    Attributes
    ----------
    level : str
        One of `mirenc.ir.LEVELS`.
    text : (n, H) float32
        Mean of the statement vectors of each row, weighted and whitened as the model has it
        (`mirenc.model.pooling`); n = 1 for a module.
    graph : (n, d) float32
        The same of the node vectors.
    regions : list of Region, length n
        What each row is: name, function, header, depth, file and line.
    counts : dict
        functions, defined, blocks, instructions, statements, distinct_statements, nodes, edges.
    content_hash : str
        SHA-256 of the canonical text: the same for one module as text and as bitcode.
    file_hash : str
        SHA-256 of the file's bytes, decompressed; "" for IR that came from no file.
    """

    level: str
    text: Float32
    graph: Float32
    regions: list[Region]
    counts: dict[str, int]
    content_hash: str
    file_hash: str = ""

    @property
    def vector(self) -> Float32:
        """(n, H + d) text beside graph."""
        return np.concatenate([self.text, self.graph], axis=1)

    @property
    def names(self) -> list[str]:
        """Name of each row: `Region.name`."""
        return [region.name for region in self.regions]

    @property
    def functions(self) -> list[str]:
        """Function of each row, demangled; "" for a module."""
        return [region.function for region in self.regions]

    def to_bytes(self) -> bytes:
        """The embedding as an ``.npz`` in memory, for the cache."""
        meta = {
            "level": self.level,
            "regions": [astuple(region) for region in self.regions],
            "counts": self.counts,
            "content_hash": self.content_hash,
            "file_hash": self.file_hash,
        }
        stream = io.BytesIO()
        packed = np.frombuffer(json.dumps(meta).encode("utf-8"), dtype=np.uint8)
        np.savez(stream, text=self.text, graph=self.graph, meta=packed)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> Embedding:
        """What `to_bytes` wrote; ``name`` is what the file is called now."""
        with np.load(io.BytesIO(data)) as arrays:
            meta = json.loads(arrays["meta"].tobytes())
            regions = [Region(*values) for values in meta.pop("regions")]
            if meta["level"] == "module":
                regions = [replace(region, name=name) for region in regions]
            return cls(text=arrays["text"], graph=arrays["graph"], regions=regions, **meta)

    def part(self, part: str) -> Float32:
        """(n, D) text, graph, or both."""
        if part == "text":
            return self.text
        return self.graph if part == "graph" else self.vector


@dataclass(frozen=True, eq=False)
class Prepared:
    """One module ready for a model, and its embedding but for the vectors.

    Attributes
    ----------
    sample : IRSample
    pools : Pools
        How the rows come from texts and nodes.
    blank : Embedding
        Without columns.
    key : bytes
        Where the cache keeps the embedding; empty where it does not.
    """

    sample: IRSample
    pools: Pools
    blank: Embedding
    key: bytes = b""

    def filled(self, pooled: Pooled) -> Embedding:
        """The embedding with its vectors, not whitened."""
        return replace(self.blank, text=pooled.text, graph=pooled.graph)


def prepare(
    module: IRModule, tokenizer: IRTokenizer, level: str, weighting: str, *, function: str | None = None
) -> Prepared:
    """Make a module's sample, and say which rows it has.

    Parameters
    ----------
    module : IRModule
    tokenizer : IRTokenizer
    level : str
        One of `mirenc.ir.LEVELS`.
    weighting : str
        `mirenc.config.PoolingConfig`.
    function : str, optional
        Regular expression: rows of such functions only (`mirenc.ir.regions_of`).

    Raises
    ------
    ConfigError
        No regular expression, or no function has such a name.
    """
    regions = regions_of(module, level, function=function)
    sample = make_sample(module, tokenizer)
    if level == "module" and function is None:
        pools = module_pools(sample, weighting)
    else:
        reads = level != "instruction"
        pools = region_pools(sample, regions.instruction, regions.region, len(regions), weighting, reads=reads)
    counts = {
        "functions": len(module.headers),
        "defined": sum(not header.is_declaration for header in module.headers),
        "blocks": module.block_count,
        "instructions": module.instruction_count,
        "statements": len(sample.statement_row),
        "distinct_statements": len(np.unique(sample.statement_row)),
        "nodes": len(sample.node_row),
        "edges": len(sample.edge_flow),
    }
    none = np.zeros((len(regions), 0), dtype=np.float32)
    return Prepared(sample, pools, Embedding(level, none, none, regions.regions, counts, module.content_hash))
