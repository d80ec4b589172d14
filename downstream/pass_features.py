"""Features of all pieces of a table of passes, computed once for every task and script; what is there is kept.

    python downstream/pass_features.py TABLE -o FEATURES --counted --ir2vec --model mirenc-base --jobs 2
    python downstream/pass_features.py TABLE -o FEATURES --model FOLDER --jobs 2      # a model more, beside the others

TABLE is a folder of `mirenc label`, with its IR. Each source (counted: opcodes, AutoPhase's counts and
statements; ir2vec; each model) is a file FEATURES/<source>.npz, by the hash of the IR: pieces that it has are not
computed again, so a run that was stopped goes on, and a table that has grown costs what is new. The files are what
`downstream/pass_tasks.py --features` and the other scripts of pass tables take.

For a machine that has no LLVM of mirenc's version, IR is read here and carried there, as text that needs none:

    python downstream/pass_features.py TABLE --code CODE.parquet --jobs 2
    python downstream/pass_features.py CODE.parquet -o FEATURES --model mirenc-base --device cuda --jobs 8

Pieces that cannot be read are listed at the end, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from counted import COUNTED
from kept_features import KeptFeatures, read_kept

import mirenc
from mirenc.base.errors import MirencError
from mirenc.base.progress import progress
from mirenc.base.writing import delivered
from mirenc.decide.features.code_features import CodeReader
from mirenc.decide.features.ir2vec import ir2vec_text, ir2vec_vectors
from mirenc.decide.tables.compiled import read_compiled, read_piece_ir
from mirenc.llvm import IRModule, parse_ir
from mirenc.llvm.analysis.regions import Region, regions_of
from mirenc.llvm.child.parsing_worker import default_worker
from mirenc.llvm.ir.canonical_reader import read_canonical

CHUNK_PIECES, CHUNK_BYTES = 64, 2_000_000
SAVE_SECONDS = 60.0
LEVEL = 19  # of zstd: this file travels


class Code(NamedTuple):
    """A piece; ``names``: demangled names where the text is LLVM 22's own, None where LLVM is to read it."""

    hash: str
    symbol: str
    text: str
    names: dict[str, str] | None = None

    @property
    def region(self) -> Region | None:
        """What of the module is looked at; None is all of it."""
        return Region("function", self.symbol, self.symbol, "", 0, "", 0, self.symbol) if self.symbol else None

    def module(self) -> IRModule:
        """The module."""
        if self.names is None:
            return parse_ir(self.text)
        lookup = self.names
        return read_canonical(self.text, name=self.hash[:12], demangle=lambda names: [lookup[name] for name in names])


class ChunkFeatures(NamedTuple):
    """What became of a chunk: hashes, parts of each, what could not be read, how many IR2Vec gave nothing for."""

    hashes: list[str]
    parts: dict[str, np.ndarray]
    failures: list[str]
    missing: int = 0


# -- what is read --------------------------------------------------------------------------------------
def read_code(place: Path) -> list[Code]:
    """Each different piece of a table, or of a file of code."""
    if place.is_file():
        return [
            Code(row["ir_hash"], row["symbol"], row["ir"], json.loads(row["names"]))
            for row in pq.read_table(place).to_pylist()
        ]
    pieces = {piece.ir_hash: piece for piece in read_compiled(place).pieces}
    texts = read_piece_ir(place, list(pieces.values()))
    return [Code(name, piece.symbol, text) for (name, piece), text in zip(pieces.items(), texts, strict=True)]


def chunks_of(code: Sequence[Code]) -> Iterator[list[Code]]:
    """A few pieces at a time."""
    chunk: list[Code] = []
    size = 0
    for piece in code:
        if chunk and (len(chunk) == CHUNK_PIECES or size + len(piece.text) > CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(piece)
        size += len(piece.text)
    if chunk:
        yield chunk


def prepare_rows(chunk: list[Code]) -> tuple[list[dict[str, str]], list[str]]:
    """Pieces as text that needs no LLVM to be read, as rows of a file; and what could not be read."""
    rows, failures = [], []
    for piece in chunk:
        names: dict[str, str] = {}

        def note(mangled: list[str], names: dict[str, str] = names) -> list[str]:
            demangled = default_worker().demangle(mangled)
            names |= zip(mangled, demangled, strict=True)
            return demangled

        try:
            text = default_worker().canonicalise(piece.text.encode("utf-8", "surrogateescape"))
            read_canonical(text, name=piece.hash[:12], demangle=note)
        except MirencError as error:
            failures.append(f"{piece.hash[:12]}: {error}")
            continue
        rows.append({"ir_hash": piece.hash, "symbol": piece.symbol, "ir": text, "names": json.dumps(names)})
    return rows, failures


def write_code(code: Sequence[Code], path: Path, jobs: int) -> list[str]:
    """Read all pieces and write them; what could not be read."""
    failures: list[str] = []
    schema = pa.schema([(name, pa.large_string()) for name in ("ir_hash", "symbol", "ir", "names")])
    options: dict[str, Any] = {"compression": "zstd", "compression_level": LEVEL, "use_dictionary": False}
    with (
        delivered(path) as part,
        pq.ParquetWriter(part, schema, **options) as writer,
        progress("reading", len(code)) as advance,
    ):
        rows: list[dict[str, str]] = []
        for chunk, (new_rows, new_failures) in run(prepare_rows, code, jobs):
            rows += new_rows
            failures += new_failures
            advance(len(chunk))
        # In few groups: what is like something before it costs next to nothing.
        for first in range(0, len(rows), 4096):
            writer.write_table(pa.Table.from_pylist(rows[first : first + 4096], schema=schema))
    return failures


# -- what is computed ----------------------------------------------------------------------------------
@functools.cache
def encoder_of(model: str, device: str, threads: int) -> Any:
    """The model, once a process."""
    encoder = mirenc.load(model, device=device)
    if threads and hasattr(encoder.runtime, "threads"):
        encoder.runtime.threads = threads
    return encoder


def counted_features(module: IRModule, region: Region | None) -> dict[str, np.ndarray]:
    """The rows that no model takes part in, of a region or a whole module."""
    instructions = None
    if region is not None:
        regions = regions_of(module, region.level)
        keys = [(item.symbol, item.header) for item in regions.regions]
        instructions = regions.instruction[regions.region == keys.index((region.symbol, region.header))]
    return {name: count(module, instructions) for name, count in COUNTED.items()}


def features_of_chunk(chunk: list[Code], source: str, model: str, device: str, threads: int) -> ChunkFeatures:
    """What a source says of some pieces."""
    pairs: list[tuple[Code, IRModule]] = []
    failures: list[str] = []
    for piece in chunk:
        try:
            pairs.append((piece, piece.module()))
        except MirencError as error:
            failures.append(f"{piece.hash[:12]}: {error}")
    parts_of_code: list[dict[str, np.ndarray]] = []
    missing = 0
    if source == "ir2vec":
        vectors, missing = ir2vec_vectors([ir2vec_text(piece.text, module, piece.region) for piece, module in pairs])
        # A flow that runs in circles makes numbers up to 7e10, which would hide all others. As logarithms it does best.
        parts_of_code = [{"ir2vec": np.sign(vector) * np.log1p(np.abs(vector))} for vector in vectors]
    elif source == "counted":
        parts_of_code = [counted_features(module, piece.region) for piece, module in pairs]
    else:
        reader = CodeReader(encoder_of(model, device, threads), histogram=False)
        try:
            parts_of_code = [parts for (parts,) in reader.of_modules([(module, [c.region]) for c, module in pairs])]
        except MirencError:  # of one of them: alone, each is told
            readable = []
            for piece, module in pairs:
                try:
                    parts_of_code += reader(module, [piece.region])
                    readable.append((piece, module))
                except MirencError as error:
                    failures.append(f"{piece.hash[:12]}: {error}")
            pairs = readable
    names = list(parts_of_code[0]) if parts_of_code else []
    parts = {name: np.stack([code_parts[name] for code_parts in parts_of_code]) for name in names}
    return ChunkFeatures([piece.hash for piece, _ in pairs], parts, failures, missing)


def run(function: Callable[..., Any], code: Sequence[Code], jobs: int, *extra: Any) -> Iterator[tuple[list[Code], Any]]:
    """Each chunk with what became of it, in order."""
    chunks = list(chunks_of(code))
    if jobs == 1:
        yield from ((chunk, function(chunk, *extra)) for chunk in chunks)
        return
    # spawn: a forked child would share the parent's connection to LLVM.
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from zip(chunks, pool.map(function, chunks, *map(itertools.repeat, extra)), strict=True)


def add(code: Sequence[Code], folder: Path, source: str, model: str, device: str, jobs: int) -> list[str]:
    """Compute what a source's file lacks; what could not be read."""
    digest = mirenc.load(model).features_digest if model else ""
    name = mirenc.load(model).name if model else source
    path = folder / f"{name}.npz"
    features = read_kept(path) if path.is_file() else None
    if features is not None and features.digest != digest:
        raise SystemExit(
            f"{path} is of another model of that name ({features.digest[:12]}). Move it away, or name a folder"
        )
    have = set() if features is None else set(features.hashes.tolist())
    lacking = [piece for piece in code if piece.hash not in have]
    zeros = 0 if features is None or source != "ir2vec" else int((~features.parts["ir2vec"].any(axis=1)).sum())
    failures: list[str] = []
    pending: list[KeptFeatures] = []
    saved = time.monotonic()

    def save() -> None:
        nonlocal features, saved
        for addition in pending:
            features = addition if features is None else features.joined(addition)
        pending.clear()
        if features is not None:
            features.save(path)
        saved = time.monotonic()

    threads = 1 if jobs > 1 else 0
    with progress(name, len(lacking)) as advance:
        for chunk, computed in run(features_of_chunk, lacking, jobs, source, model, device, threads):
            zeros += computed.missing
            failures += computed.failures
            note = f"IR2Vec gave no vector for {zeros} files: zeros" if source == "ir2vec" and zeros else ""
            if computed.hashes:
                pending.append(KeptFeatures(name, digest, np.array(computed.hashes), computed.parts, note))
            if time.monotonic() - saved > SAVE_SECONDS:
                save()
            advance(len(chunk))
    save()
    count = 0 if features is None else len(features.hashes)
    print(f"{path}: {count} pieces, {len(lacking) - len(failures)} of them new")
    return failures


def main() -> None:
    """Read, compute, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="folder of a table with its IR, or a file of code")
    parser.add_argument("-o", "--output", type=Path, help="folder of the features")
    parser.add_argument("--code", type=Path, help="write the pieces there, to be read without LLVM")
    parser.add_argument("--counted", action="store_true")
    parser.add_argument("--ir2vec", action="store_true")
    parser.add_argument("--model", action="append", default=[], help="name or folder; may be repeated")
    parser.add_argument("--device", default="cpu", help="of the models")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.output is None and (arguments.counted or arguments.ir2vec or arguments.model):
        parser.error("name the folder of the features: -o FEATURES")
    code = read_code(arguments.table)
    failures: list[str] = []
    if arguments.code is not None:
        failures += write_code(code, arguments.code, arguments.jobs)
    if arguments.output is not None:
        arguments.output.mkdir(parents=True, exist_ok=True)
    for source in ("counted", "ir2vec"):
        if getattr(arguments, source):
            failures += add(code, arguments.output, source, "", "cpu", arguments.jobs)
    for model in arguments.model:
        failures += add(code, arguments.output, "model", model, arguments.device, arguments.jobs)
    for failure in sorted(set(failures)):
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
