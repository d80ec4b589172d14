"""Read one chunk of IR files into one part on disk: the work of each process of a build.

A part holds its texts once, with a 64-bit hash each: so the merge numbers the texts of all parts without holding them.
"""

import hashlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import UInt64
from mirenc.base.errors import MirencError, NoFunctionBodyError, one_input
from mirenc.base.writing import delivered
from mirenc.llvm import IRModule, ReadOptions, Statements, read_ir, statements_of
from mirenc.model.graph import build_graph
from mirenc.model.sample import GRAPH_ARRAYS
from mirenc.pretrain.corpus.packing import from_bytes, to_bytes
from mirenc.pretrain.corpus.store import CorpusModule

# Shorter functions (wrappers, getters) are alike in unrelated programs: they tell nothing about copies.
MIN_FUNCTION = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class PartModule(CorpusModule):
    """One module as it was read, its graph whatever its size; rows count in its part's texts."""

    path: str
    facts: dict[str, Any]  # those of `ModuleInfo` that the IR tells
    statements_hash: str  # of the normalised statements in order: equal for one program under two file names
    function_hash: UInt64  # (F,) one for each function of at least `MIN_FUNCTION` instructions


_LISTING_FIELDS = ("path", "facts", "statements_hash")
PART_ARRAYS = tuple(column.name for column in fields(PartModule) if column.name not in _LISTING_FIELDS)


@dataclass(frozen=True, eq=False)
class Part:
    """The content of one chunk of files: its distinct texts (U) and their hashes; failures are (path, message).

    ``empty`` are the paths of files without a function body.
    """

    texts: list[str]
    text_hash: UInt64
    modules: list[PartModule]
    failures: list[tuple[str, str]]
    empty: list[str]

    def save(self, path: Path) -> None:
        """Write the part; it appears whole or not at all."""
        arrays: dict[str, NDArray[Any]] = {"text_hash": self.text_hash}
        for number, module in enumerate(self.modules):
            arrays |= {f"{number}.{name}": getattr(module, name) for name in PART_ARRAYS}
        modules = [{name: getattr(module, name) for name in _LISTING_FIELDS} for module in self.modules]
        problems = {"failures": self.failures, "empty": self.empty}
        listing = json.dumps({"texts": self.texts, "modules": modules, **problems})
        arrays["listing"] = np.frombuffer(listing.encode("utf-8"), dtype=np.uint8)
        with delivered(path) as part:
            part.write_bytes(to_bytes(arrays, level=1))

    @classmethod
    def load(cls, path: Path) -> Self:
        arrays = from_bytes(path.read_bytes())
        listing = json.loads(arrays["listing"].tobytes())
        modules = []
        for number, entry in enumerate(listing["modules"]):
            module_arrays: dict[str, Any] = {name: arrays[f"{number}.{name}"] for name in PART_ARRAYS}
            modules.append(PartModule(**entry, **module_arrays))
        failures = list(map(tuple, listing["failures"]))
        return cls(listing["texts"], arrays["text_hash"], modules, failures, listing["empty"])


def read_chunk(paths: Sequence[str], target: Path, normalisation: str, options: ReadOptions | None) -> None:
    """Read some files and write their part; a file that cannot be read is listed there."""
    rows: dict[str, int] = {}
    modules: list[PartModule] = []
    failures: list[tuple[str, str]] = []
    empty: list[str] = []
    for path in paths:
        try:
            with one_input(path, "read"):
                modules.append(_read_module(path, rows, normalisation, options))
        except NoFunctionBodyError:
            empty.append(path)
        except MirencError as error:
            failures.append((path, str(error)))
    digests = (hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).digest() for text in rows)
    Part(list(rows), np.frombuffer(b"".join(digests), dtype="<u8")[::2], modules, failures, empty).save(target)


def _read_module(path: str, rows: dict[str, int], normalisation: str, options: ReadOptions | None) -> PartModule:
    """Read one module and number its texts in ``rows``."""
    module = read_ir(path, options=options)
    statements = statements_of(module, normalisation)
    graph = build_graph(module, normalisation=normalisation)
    row_of = np.array([rows.setdefault(text, len(rows)) for text in statements.texts], dtype=np.int32)
    distinct_rows, inverse = np.unique(graph.node_full_text_row, return_inverse=True)
    nodes = np.array([rows.setdefault(graph.texts[row], len(rows)) for row in distinct_rows], dtype=np.int32)
    statement_row, statement_count = np.unique(row_of[statements.row], return_counts=True)
    sizes = {"functions": len(module.defined_functions), "instructions": module.instruction_count}
    sizes |= {"statements": len(statements), "nodes": len(graph.node_kind), "edges": len(graph.edge_flow)}
    return PartModule(
        path=path,
        facts={"content_hash": module.content_hash, **sizes},
        statements_hash=statements.content_hash.hex(),
        function_hash=function_hashes(module, statements),
        statement_row=statement_row,
        statement_count=statement_count.astype(np.int32),
        **{name: getattr(graph, name) for name in GRAPH_ARRAYS if name != "node_row"},
        node_row=nodes[inverse],
    )


def function_hashes(module: IRModule, statements: Statements) -> UInt64:
    """Hashes of the normalised statements of each function of at least `MIN_FUNCTION` instructions. Shape: (F,)."""
    ends = np.flatnonzero(np.diff(module.arrays.function, append=-1, prepend=-1))
    start = statements.first_instruction
    spans = ((first, end) for first, end in itertools.pairwise(ends.tolist()) if end - first >= MIN_FUNCTION)
    digests = [statements.digest(start + first, start + end)[:8] for first, end in spans]
    return np.frombuffer(b"".join(digests), dtype="<u8")
