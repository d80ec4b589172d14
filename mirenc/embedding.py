"""`Embedding`: what a model makes of one module, and how vectors of statements and nodes become those of its parts."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.ir import IRModule
from mirenc.model.pooling import Pools, module_pools, region_pools
from mirenc.model.runtime import Pooled
from mirenc.sample import IRSample

__all__ = ["Embedding", "describe", "pools_of"]

Float32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Embedding:
    """What a model makes of one module, at one level.

    Attributes
    ----------
    level : str
        module, function or instruction.
    text : (n, H) float32
        Mean of the statement vectors of each row, weighted and whitened as the model has it
        (`mirenc.model.pooling`); n = 1 for a module.
    graph : (n, d) float32
        The same of the node vectors.
    names : list of str, length n
        The module's name, function names, or canonical instruction texts.
    functions : list of str, length n
        Function each row belongs to; "" for a module.
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
    names: list[str]
    functions: list[str]
    counts: dict[str, int]
    content_hash: str
    file_hash: str = ""

    @property
    def vector(self) -> Float32:
        """(n, H + d) text beside graph."""
        return np.concatenate([self.text, self.graph], axis=1)

    def to_bytes(self) -> bytes:
        """The embedding as an ``.npz`` in memory, for the cache."""
        meta: dict[str, Any] = {"level": self.level, "names": self.names, "functions": self.functions}
        meta |= {"counts": self.counts, "content_hash": self.content_hash, "file_hash": self.file_hash}
        stream = io.BytesIO()
        packed = np.frombuffer(json.dumps(meta).encode("utf-8"), dtype=np.uint8)
        np.savez(stream, text=self.text, graph=self.graph, meta=packed)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> Embedding:
        """What `to_bytes` wrote; ``name`` is what the file is called now."""
        with np.load(io.BytesIO(data)) as arrays:
            meta = json.loads(arrays["meta"].tobytes())
            if meta["level"] == "module":
                meta["names"] = [name]
            return cls(text=arrays["text"], graph=arrays["graph"], **meta)

    def part(self, part: str) -> Float32:
        """(n, D) text, graph, or both."""
        if part == "text":
            return self.text
        return self.graph if part == "graph" else self.vector


def pools_of(module: IRModule, sample: IRSample, level: str, weighting: str) -> Pools:
    """How the rows of a level are pooled."""
    if level == "module":
        return module_pools(sample, weighting)
    instruction = np.arange(module.instruction_count)
    if level == "instruction":
        return region_pools(sample, instruction, instruction, len(instruction), weighting, reads=False)
    defined, group = np.unique(module.arrays.function, return_inverse=True)
    return region_pools(sample, instruction, group, len(defined), weighting)


def describe(module: IRModule, sample: IRSample, level: str, pooled: Pooled) -> Embedding:
    """Vectors with the names of their rows."""
    if level == "module":
        names, functions = [module.name], [""]
    elif level == "function":
        names = functions = [function.name for function in module.defined_functions]
    else:
        lines = module.lines
        names = [lines[line].strip() for line in module.arrays.line]
        functions = [sample.functions[index] for index in module.arrays.function]
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
    return Embedding(level, *pooled, names, functions, counts, module.content_hash)
