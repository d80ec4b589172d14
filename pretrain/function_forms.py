"""Readings of functions for `function_pools.py`: builds of programs in a form, their counted words and vectors, kept.

A function is a symbol of one file of one project; a build of it is what one compiler made of it at one level; a form is
what LLVM's passes make of a build before anything is counted or embedded (`mirenc.llvm.passes.optimise`). The passes
see names as written; where names are hidden, they are hidden in what the passes print. What is kept is made once for
each file and form, and again where the IR is newer.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from compare_functions import folded
from compare_programs import hide_names
from numpy.typing import NDArray

from mirenc.base.errors import MirencError
from mirenc.base.progress import progress
from mirenc.base.writing import delivered
from mirenc.encoder import Encoder, load
from mirenc.encoder.prepare import prepare
from mirenc.llvm import IRModule, ReadOptions, parse_ir
from mirenc.llvm.ir.canonical_reader import read_canonical
from mirenc.llvm.ir.plain_statement import Layout, plain_statement
from mirenc.llvm.passes.optimise import formed
from mirenc.llvm.sources.ir_folder import origins_of
from mirenc.model.lexical import terms_of
from mirenc.model.pooling import Pool

KINDS = ("opcodes", "statements", "terms", "whole")  # what is counted; whole: statements in one spelling
NAMES = ("written", "hidden")
_DEFINED = re.compile(r'^define [^@\n]*@("[^"]*"|[-\w$.]+)', re.MULTILINE)

Program = tuple[str, str]  # project, file below the level
Key = tuple[str, str, str]  # project, file, symbol: a function
Build = tuple[str, str]  # compiler, level


@dataclass(frozen=True)
class Place:
    """Where a function stands in one reading of a file, and how large it is there."""

    file: str  # below the root
    form: str
    row: int  # among the functions that the file defines
    size: int  # instructions
    sequence: bytes  # hash of its statements in order; hidden names are one


def programs_of(root: Path, compilers: Sequence[str], levels: Sequence[str]) -> dict[Program, dict[Build, str]]:
    """Each program's builds, files below ``root``.

    An IR folder keeps equal IR once: what its log calls a duplicate has the file that was kept.
    """
    programs: dict[Program, dict[Build, str]] = defaultdict(dict)
    for compiler in compilers:
        top = root / compiler
        for path in sorted(top.glob("*/*/**/*.ll")):
            project, level, *path_parts = path.relative_to(top).parts
            if level in levels:
                programs[project, "/".join(path_parts)][compiler, level] = path.relative_to(root).as_posix()
        paths = {(row["project"], row["file"], row["opt_level"]): Path(place) for place, row in origins_of(top).items()}
        file_of = {key[:2]: "/".join(place.parts[2:]) for key, place in paths.items()}
        log = top / "log.jsonl"
        records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if paths else []
        row_of_ir = {row["sha256_of_ir"]: row for row in records if row["status"] == "ok"}
        for row in records:
            kept_row = row_of_ir.get(row["sha256_of_ir"]) if row["status"] == "duplicate" else None
            place = kept_row and paths.get((kept_row["project"], kept_row["file"], kept_row["opt_level"]))
            program = row["project"], file_of.get((row["project"], row["file"]), "")
            if place and row["opt_level"] in levels and program in programs:
                programs[program].setdefault((compiler, row["opt_level"]), f"{compiler}/{place.as_posix()}")
    return dict(programs)


# -- reading ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Part:
    """A module of a reading, and what its functions are called where names are hidden."""

    module: IRModule
    names: dict[str, str] | None


def parts_of(path: Path, form: str) -> dict[str, list[Part]]:
    """A file in a form, with names written and hidden: its module, and that of the functions that passes deleted.

    ``opt-19``: -O2 of that program instead of llvmlite's.
    """
    text = path.read_text(encoding="utf-8")
    if form.startswith("opt-"):
        texts = formed(text, "O2", lambda source, _: by_opt(form, source), unoptimised="O0" in path.parts)
        modules = [parse_ir(source, name=path.name) for source in texts if source]
    else:
        module = parse_ir(text, name=path.name, options=ReadOptions(form=form))  # type: ignore[arg-type]
        modules = [module] if module.deleted is None else [replace(module, deleted=None), module.deleted]
    hidden = []
    for module in modules:
        unnamed = hide_names(module.text)
        names = dict(zip(_DEFINED.findall(unnamed), _DEFINED.findall(module.text), strict=True))
        hidden.append(Part(read_canonical(unnamed, name=path.name), names))
    return {"written": [Part(module, None) for module in modules], "hidden": hidden}


def by_opt(program: str, text: str) -> str:
    """What another LLVM's -O2 makes of a module in the text of LLVM 14."""
    assembled = subprocess.run(["opt-14", "-o", "-"], input=text.encode(), capture_output=True, check=True).stdout
    process = subprocess.run([program, "-passes=default<O2>", "-S"], input=assembled, capture_output=True, check=True)
    return process.stdout.decode()


@lru_cache(maxsize=1 << 18)
def _hash(word: str) -> int:
    # Words are told apart by 64 bits: among a million two seldom share them.
    digest = hashlib.blake2b(word.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


@cache
def _encoder(model: str | None, statements: Path | None, *, hidden: bool = False) -> Encoder:
    return load(model, cache=statements or False, hide_names=hidden)


def counts_of(parts: Sequence[Part]) -> dict[str, NDArray[Any]]:
    """What functions are called, their sizes and hashes, and of each kind of words (function, hash), count.

    Where names are hidden, they are no terms, and one in whole statements.
    """
    names: list[str] = []
    sizes: list[int] = []
    sequences: list[bytes] = []
    bags_by_kind: dict[str, list[Counter[int]]] = {kind: [] for kind in KINDS}
    for part in parts:
        _count(part, names, sizes, sequences, bags_by_kind)
    counts = {
        "names": np.frombuffer("\n".join(names).encode(), np.uint8),
        "sizes": np.array(sizes, np.int64),
        "sequences": np.frombuffer(b"".join(sequences), np.uint8).reshape(-1, 16),
    }
    for kind, bags in bags_by_kind.items():
        counts[f"{kind}_owner"] = np.repeat(np.arange(len(bags), dtype=np.int32), [len(bag) for bag in bags])
        counts[f"{kind}_word"] = np.array([word for bag in bags for word in bag], np.int64)
        counts[f"{kind}_count"] = np.array([count for bag in bags for count in bag.values()], np.int32)
    return counts


def _count(
    part: Part,
    names: list[str],
    sizes: list[int],
    sequences: list[bytes],
    bags_by_kind: dict[str, list[Counter[int]]],
) -> None:
    """Add the functions of one module."""
    module, unnamed = part.module, part.names is not None
    prepared = prepare(module, _encoder(None, None).tokenizer, ("function",), "count")
    texts, pools = prepared.sample.texts, prepared.pools
    spellings = [folded(text) if unnamed else text for text in texts]
    layout = Layout(texts)
    headers = [header for header in module.headers if not header.is_declaration]  # one row each, in this order
    first = len(names)
    for bags in bags_by_kind.values():
        bags += [Counter() for _ in headers]
    row = prepared.sample.statement_row[len(prepared.sample.statement_row) - len(prepared.sample.instruction_node) :]
    sequence = np.array([_hash(text) for text in spellings], dtype=np.int64)[row]
    for number, header in enumerate(headers, first):
        forms = module.arrays.form[header.first : header.last].tolist()
        bags_by_kind["opcodes"][number].update(_hash(module.forms[form].opcode) for form in forms)
        names.append((header.name if part.names is None else part.names[header.name]).strip('"'))
        sizes.append(header.last - header.first)
        sequences.append(hashlib.blake2b(sequence[header.first : header.last].tobytes(), digest_size=16).digest())
    plain_texts: dict[int, str] = {}
    for item, group, count in memberships(pools.text):
        if item not in plain_texts:
            plain_texts[item] = plain_statement(texts[item], layout)
        bags_by_kind["statements"][first + group][_hash(spellings[item])] += count
        spelled = folded(plain_texts[item]) if unnamed else plain_texts[item]
        bags_by_kind["whole"][first + group][_hash(f"= {spelled.lower()}")] += count
        for term, _ in terms_of(plain_texts[item], hide_names=unnamed):
            bags_by_kind["terms"][first + group][_hash(term)] += count
    if pools.definitions is not None:
        for item, group, count in memberships(pools.definitions):
            for term, _ in terms_of(texts[item], hide_names=unnamed, defines=True):
                bags_by_kind["terms"][first + group][_hash(term)] += count


def memberships(pool: Pool) -> Iterable[tuple[int, int, int]]:
    """Item, group and count of each."""
    return zip(pool.item.tolist(), pool.group.tolist(), pool.count.tolist(), strict=True)


@dataclass(frozen=True)
class Store:
    """What is kept in ``work`` of the IR below ``root``, with names as ``names`` says and vectors of ``model``."""

    root: Path
    work: Path
    model: str
    names: str = "written"
    jobs: int = 1
    _places: dict[tuple[str, str], dict[str, Place]] = field(default_factory=dict, init=False, repr=False)

    def encoder(self, names: str) -> Encoder:
        """The model."""
        return _encoder(self.model, self.work / "statements", hidden=names == "hidden")

    def _target(self, names: str, file: str, form: str) -> Path:
        encoder = self.encoder(names)
        return self.work / f"{encoder.name}-{encoder.digest[:8]}" / names / form / f"{file}.npz"

    def read(self, readings: Iterable[tuple[str, str]]) -> list[str]:
        """Read files in forms that are not kept yet, both ways with names; what was wrong with those that cannot be."""
        missing = [reading for reading in sorted(set(readings)) if self._is_missing(*reading)]
        problems = []
        with progress("reading", len(missing)) as advance, ProcessPoolExecutor(self.jobs) as pool:
            run = pool.map if self.jobs > 1 else map
            for problem in run(_write, repeat(self), missing):
                problems += [problem] if problem else []
                advance()
        return problems

    def _is_missing(self, file: str, form: str) -> bool:
        stamp = (self.root / file).stat().st_mtime_ns
        targets = [self._target(names, file, form) for names in NAMES]
        return any(not path.exists() or path.stat().st_mtime_ns < stamp for path in targets)

    def write(self, file: str, form: str) -> str:
        """Keep the counts and vectors of a file in a form; what is wrong with a file that cannot be read."""
        arrays_by_naming: dict[str, dict[str, NDArray[Any]]] = {names: {} for names in NAMES}
        problem = ""
        try:
            for names, parts in parts_of(self.root / file, form).items():
                encoder = self.encoder(names)
                rows = [encoder.embed_parts(part.module, level="function", form="plain").vector for part in parts]
                arrays_by_naming[names] = counts_of(parts) | {"vectors": np.concatenate(rows)}
        except (MirencError, subprocess.CalledProcessError) as error:
            problem = f"{file}: {str(error).splitlines()[0]}"
        for names, arrays in arrays_by_naming.items():
            target = self._target(names, file, form)
            target.parent.mkdir(parents=True, exist_ok=True)
            with delivered(target) as part, part.open("wb") as stream:
                np.savez(stream, **(arrays if not problem else {}))  # type: ignore[arg-type]  # arrays by name
        return problem

    def places(self, file: str, form: str) -> dict[str, Place]:
        """The functions of a file in a form, by name."""
        if (file, form) not in self._places:
            with np.load(self._target(self.names, file, form)) as arrays:
                names = arrays["names"].tobytes().decode().split("\n") if arrays.files else []
                functions = zip(names, arrays["sizes"].tolist(), arrays["sequences"], strict=True) if names else ()
                place_of: dict[str, Place] = {}
                for row, (name, size, key) in enumerate(functions):
                    place_of.setdefault(name, Place(file, form, row, size, key.tobytes()))
                self._places[file, form] = place_of
        return self._places[file, form]

    def bags(self, places: Sequence[Place], kinds: Sequence[str]) -> sp.csr_matrix:
        """Counts of words of some kinds, side by side: (places, words) float64."""
        rows_of_reading: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for number, place in enumerate(places):
            rows_of_reading[place.file, place.form].append((number, place.row))
        owners, words, counts = [], [], []
        for reading, numbered_rows in rows_of_reading.items():
            with np.load(self._target(self.names, *reading)) as arrays:
                for kind in kinds:
                    owner, word, count = (arrays[f"{kind}_{name}"] for name in ("owner", "word", "count"))
                    for number, row in numbered_rows:
                        low, high = np.searchsorted(owner, (row, row + 1))
                        owners.append(np.full(high - low, number))
                        words.append(word[low:high])
                        counts.append(count[low:high])
        distinct, column = np.unique(np.concatenate(words), return_inverse=True)
        entries = np.concatenate(counts).astype(np.float64), (np.concatenate(owners), column)
        return sp.csr_matrix(entries, shape=(len(places), len(distinct)))

    @property
    def words_from(self) -> int:
        """The column at which a vector's words begin."""
        encoder = self.encoder(self.names)
        return encoder.text_dimension + encoder.graph_dimension

    def all_vectors(self, readings: Iterable[tuple[str, str]]) -> dict[tuple[str, str], NDArray[np.float32]]:
        """Vectors of all functions in some files and forms: (functions, D) float32."""
        vectors = {}
        for reading in readings:
            with np.load(self._target(self.names, *reading)) as arrays:
                vectors[reading] = arrays["vectors"][[place.row for place in self.places(*reading).values()]]
        return vectors

    def vectors(self, places: Sequence[Place]) -> NDArray[np.float32]:
        """Vectors of some functions: (places, D) float32."""
        numbers_of_reading: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, place in enumerate(places):
            numbers_of_reading[place.file, place.form].append(number)
        vectors: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(places)
        for reading, numbers in numbers_of_reading.items():
            with np.load(self._target(self.names, *reading)) as arrays:
                rows = arrays["vectors"]
            for number in numbers:
                vectors[number] = rows[places[number].row]
        return np.array(vectors)


def _write(store: Store, reading: tuple[str, str]) -> str:
    return store.write(*reading)
