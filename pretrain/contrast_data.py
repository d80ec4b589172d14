"""Functions in the forms that compilers gave them, as arrays for `contrast.py`: a file for each project.

What you get: `OUT/PROJECT.xz`: texts of statements and nodes as token ids, plain, without names and as written; graphs;
and which statements, definitions and nodes each function of at least 5 instructions has.
How long: two hours of one core for 16,000 modules; a file that is there is not made again.
On what: a folder that `compile_pairs.py` wrote, COMPILER/PROJECT/LEVEL/x.ll:

    python pretrain/contrast_data.py FORMS OUT

Modules of more than 3,500 instructions or 8,000 nodes are left out, and what cannot be read.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.base.errors import MirencError
from mirenc.base.progress import progress
from mirenc.base.writing import delivered
from mirenc.encoder import Encoder, load
from mirenc.encoder.prepare import prepare
from mirenc.llvm.ir.plain_statement import spelled
from mirenc.pretrain.evaluation.retrieval import MIN_INSTRUCTIONS

MOST_INSTRUCTIONS, MOST_NODES = 3500, 8000
SPELLINGS = ("plain", "unnamed", "written")  # in the order of `Texts.ids`
# Columns whose neighbours are alike: kept as differences.
ALIKE = ("node_row", "edge_index", "text_row", "text_group", "defined_row", "defined_group", "member", "member_group")

Array = NDArray[Any]


class Texts:
    """Distinct plain texts of a project, with the token ids of each in three spellings: of those as written, one."""

    def __init__(self, encoder: Encoder) -> None:
        self._tokenizer = encoder.tokenizer
        self._row: dict[str, int] = {}
        self.ids: list[list[Array]] = [[] for _ in SPELLINGS]

    def rows(self, written: Sequence[str]) -> Array:
        """Row of each text of a module."""
        plain, unnamed = (spelled(written, spelling) for spelling in ("plain", "unnamed"))  # type: ignore[arg-type]
        fresh: dict[str, tuple[str, str, str]] = {}
        for each in zip(plain, unnamed, written, strict=True):
            if each[0] not in self._row:
                self._row[each[0]] = len(self._row)
                fresh[each[0]] = each
        for made, texts in zip(self.ids, zip(*fresh.values(), strict=True), strict=False):
            ids, length = self._tokenizer.encode_batch(list(texts))
            made += [row[:count] for row, count in zip(ids, length.tolist(), strict=True)]
        return np.array([self._row[text] for text in plain], dtype=np.int32)


def forms(encoder: Encoder, root: Path, project: str) -> tuple[dict[str, Array], dict[str, Any]]:
    """Arrays of a project's modules, end to end, with (M,) sizes; what its modules and functions are."""
    texts, columns = Texts(encoder), dict[str, list[Array]]()
    modules: list[tuple[str, ...]] = []
    functions: list[tuple[int, str, int, int]] = []
    for file in sorted(root.glob(f"*/{project}/*/**/*.ll")):
        try:
            module = encoder.read(file)
            if module.instruction_count > MOST_INSTRUCTIONS:
                continue
            ready = prepare(module, encoder.tokenizer, ("function",), "sqrt")
        except MirencError:
            continue
        sample, pools = ready.sample, ready.pools
        if len(sample.node_row) > MOST_NODES:
            continue
        row = texts.rows(sample.texts)
        defined = [header for header in module.headers if not header.is_declaration]
        size = np.array([header.last - header.first for header in defined], dtype=np.int64)
        kept = np.flatnonzero(size >= MIN_INSTRUCTIONS)
        number = np.full(len(defined), -1)
        number[kept] = np.arange(len(kept))
        assert pools.definitions is not None
        text, definition, node = (number[pool.group] >= 0 for pool in (pools.text, pools.definitions, pools.graph))
        statements, counts = np.unique(row[sample.statement_row], return_counts=True)
        made = {
            "node_row": row[sample.node_row],
            "node_kind": sample.node_kind,
            "node_argument": np.minimum(sample.node_argument, 8),
            "edge_index": sample.edge_index,
            "edge_flow": sample.edge_flow,
            "edge_position": np.minimum(sample.edge_position, 3),
            "statement_row": statements,
            "statement_count": counts,
            "text_row": row[pools.text.item[text]],
            "text_group": number[pools.text.group[text]],
            "text_count": pools.text.count[text],
            "defined_row": row[pools.definitions.item[definition]],
            "defined_group": number[pools.definitions.group[definition]],
            "member": pools.graph.item[node],
            "member_group": number[pools.graph.group[node]],
        }
        for name, array in made.items():
            columns.setdefault(name, []).append(array)
        instructions = row[sample.statement_row[len(sample.statement_row) - module.instruction_count :]]
        for at in kept.tolist():
            header = defined[at]
            sequence = zlib.crc32(instructions[header.first : header.last].tobytes())
            functions.append((len(modules), header.name, int(size[at]), sequence))
        compiler, _, level, *rest = file.relative_to(root).parts
        modules.append((compiler, project, level, "/".join(rest)))
    arrays = {name: np.concatenate(each, axis=-1) for name, each in columns.items()}
    arrays |= {f"{name}_sizes": np.array([one.shape[-1] for one in each]) for name, each in columns.items()}
    for spelling, ids in zip(SPELLINGS, texts.ids, strict=True):
        arrays[spelling] = np.concatenate(ids) if ids else np.zeros(0, np.uint16)
        arrays[f"{spelling}_sizes"] = np.array([len(each) for each in ids])
    return arrays, {"modules": modules, "functions": functions}


def pack(arrays: dict[str, Array], facts: dict[str, Any]) -> bytes:
    """Arrays of integers in few bytes: differences where neighbours are alike, and byte planes."""
    out = {"facts": np.frombuffer(json.dumps(facts).encode(), np.uint8)}
    for name, array in arrays.items():
        wide = array.astype(np.int64)
        if name in ALIKE:
            wide = np.diff(wide, axis=-1, prepend=0)
        narrow = next(
            kind
            for kind in (np.int8, np.int16, np.int32, np.int64)
            if np.iinfo(kind).min <= wide.min(initial=0) and wide.max(initial=0) <= np.iinfo(kind).max
        )
        planes = np.ascontiguousarray(wide.astype(narrow)).view(np.uint8).reshape(-1, np.dtype(narrow).itemsize)
        out["/".join([name, np.dtype(narrow).str, *map(str, array.shape)])] = planes.T.copy()
    stream = io.BytesIO()
    np.savez(stream, **out)  # type: ignore[arg-type]
    return lzma.compress(stream.getvalue())


def unpack(data: bytes) -> tuple[dict[str, Array], dict[str, Any]]:
    """What `pack` packed."""
    arrays: dict[str, Array] = {}
    with np.load(io.BytesIO(lzma.decompress(data))) as stored:
        facts = json.loads(stored["facts"].tobytes())
        for key in stored.files:
            if key == "facts":
                continue
            name, kind, *shape = key.split("/")
            values = np.ascontiguousarray(stored[key].T).view(kind).reshape([int(size) for size in shape])
            arrays[name] = np.cumsum(values.astype(np.int64), axis=-1) if name in ALIKE else values
    return arrays, facts


def projects_of(root: Path) -> Iterator[str]:
    """Projects of which a compiler wrote something."""
    yield from sorted({path.name for path in root.glob("*/*") if path.is_dir() and any(path.glob("*/**/*.ll"))})


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("forms", type=Path, help="folder with COMPILER/PROJECT/LEVEL/x.ll")
    parser.add_argument("out", type=Path)
    parser.add_argument("--projects", nargs="*", help="these only")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    encoder = load("mirenc-fast", cache=False)
    projects = given.projects or list(projects_of(given.forms))
    with progress("projects", len(projects)) as advance:
        for project in projects:
            target = given.out / f"{project}.xz"
            if not target.is_file():
                arrays, facts = forms(encoder, given.forms, project)
                if facts["functions"]:
                    with delivered(target) as part:
                        part.write_bytes(pack(arrays, facts))
            advance(1)


if __name__ == "__main__":
    main()
