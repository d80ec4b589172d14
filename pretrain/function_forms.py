"""Forms of functions for `function_pools.py`: which there are, their counted words and their vectors, kept in a folder.

A function is a symbol of one file of one project, a form of it what one compiler made of it at one level. What is kept
is made once for each form and way with names, and again where the IR is newer; another model adds its vectors alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from compare_functions import folded, hidden_file
from numpy.typing import NDArray

from mirenc.embed import Encoder, load
from mirenc.embed.reading import prepare
from mirenc.errors import MirencError
from mirenc.ir import read_ir
from mirenc.ir.plain import Layout, plain_statement
from mirenc.model.lexical import terms_of
from mirenc.model.pooling import Pool
from mirenc.progress import progress
from mirenc.sources.ir_folder import origins_of
from mirenc.writing import delivered

KINDS = ("opcodes", "statements", "terms", "whole")  # what is counted; whole: statements in one spelling

Program = tuple[str, str]  # project, file below the level
Key = tuple[str, str, str]  # project, file, symbol: a function
Form = tuple[str, str]  # compiler, level


@dataclass(frozen=True)
class Place:
    """Where one form of a function stands, and how large it is."""

    file: str  # below the root
    row: int  # among the functions that the file defines
    size: int  # instructions
    sequence: bytes  # hash of its statements in order; hidden names are one


def programs_of(root: Path, compilers: Sequence[str], levels: Sequence[str]) -> dict[Program, dict[Form, str]]:
    """Each program's forms, files below ``root``.

    An IR folder keeps equal IR once: what its log calls a duplicate has the file that was kept.
    """
    programs: dict[Program, dict[Form, str]] = defaultdict(dict)
    for compiler in compilers:
        top = root / compiler
        for path in sorted(top.glob("*/*/**/*.ll")):
            project, level, *rest = path.relative_to(top).parts
            if level in levels:
                programs[project, "/".join(rest)][compiler, level] = path.relative_to(root).as_posix()
        kept = {(each["project"], each["file"], each["opt_level"]): Path(at) for at, each in origins_of(top).items()}
        file_of = {key[:2]: "/".join(at.parts[2:]) for key, at in kept.items()}
        log = top / "log.jsonl"
        records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if kept else []
        of_ir = {each["sha256_of_ir"]: each for each in records if each["status"] == "ok"}
        for each in records:
            same = of_ir.get(each["sha256_of_ir"]) if each["status"] == "duplicate" else None
            at = same and kept.get((same["project"], same["file"], same["opt_level"]))
            program = each["project"], file_of.get((each["project"], each["file"]), "")
            if at and each["opt_level"] in levels and program in programs:
                programs[program].setdefault((compiler, each["opt_level"]), f"{compiler}/{at.as_posix()}")
    return dict(programs)


# -- words -----------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=1 << 18)
def _hash(word: str) -> int:
    # Words are told apart by 64 bits: among a million two seldom share them.
    digest = hashlib.blake2b(word.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


@cache
def _default() -> Encoder:
    return load(cache=False)


def counts_of(path: Path, names: dict[str, str] | None) -> dict[str, NDArray[Any]]:
    """What a file's functions are called, their sizes and hashes, and of each kind of words (function, hash), count.

    ``names`` says what hidden functions were called: then names are no terms, and one in whole statements.
    """
    module = read_ir(path)
    ready = prepare(module, _default().tokenizer, ("function",), "count")
    texts, pools, unnamed = ready.sample.texts, ready.pools, names is not None
    shown = [folded(text) if unnamed else text for text in texts]
    layout = Layout(texts)
    headers = [header for header in module.headers if not header.is_declaration]  # one row each, in this order
    counted: dict[str, list[Counter[int]]] = {kind: [Counter() for _ in headers] for kind in KINDS}
    row = ready.sample.statement_row[len(ready.sample.statement_row) - len(ready.sample.instruction_node) :]
    sequence = np.array([_hash(text) for text in shown], dtype=np.int64)[row]
    for number, header in enumerate(headers):
        forms = module.arrays.form[header.first : header.last].tolist()
        counted["opcodes"][number].update(_hash(module.forms[form].opcode) for form in forms)
    plain: dict[int, str] = {}
    for item, group, count in memberships(pools.text):
        if item not in plain:
            plain[item] = plain_statement(texts[item], layout)
        counted["statements"][group][_hash(shown[item])] += count
        spelled = folded(plain[item]) if unnamed else plain[item]
        counted["whole"][group][_hash(f"= {spelled.lower()}")] += count
        for term, _ in terms_of(plain[item], hide_names=unnamed):
            counted["terms"][group][_hash(term)] += count
    if pools.definitions is not None:
        for item, group, count in memberships(pools.definitions):
            for term, _ in terms_of(texts[item], hide_names=unnamed, defines=True):
                counted["terms"][group][_hash(term)] += count
    called = [header.name if names is None else names[header.name] for header in headers]
    digests = [hashlib.blake2b(sequence[each.first : each.last].tobytes(), digest_size=16).digest() for each in headers]
    found = {
        "names": np.frombuffer("\n".join(name.strip('"') for name in called).encode(), np.uint8),
        "sizes": np.array([header.last - header.first for header in headers], np.int64),
        "sequences": np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 16),
    }
    for kind, bags in counted.items():
        found[f"{kind}_owner"] = np.repeat(np.arange(len(bags), dtype=np.int32), [len(bag) for bag in bags])
        found[f"{kind}_word"] = np.array([word for bag in bags for word in bag], np.int64)
        found[f"{kind}_count"] = np.array([count for bag in bags for count in bag.values()], np.int32)
    return found


def memberships(pool: Pool) -> Iterable[tuple[int, int, int]]:
    """Item, group and count of each."""
    return zip(pool.item.tolist(), pool.group.tolist(), pool.count.tolist(), strict=True)


def _write_counts(job: tuple[Path, Path | None, Path]) -> str:
    """Keep the counts of a file, with a hidden copy where one is wanted; what is wrong with a file that is none."""
    source, copy, target = job
    target.parent.mkdir(parents=True, exist_ok=True)
    names = None if copy is None else hidden_file(source, copy)
    found: dict[str, NDArray[Any]] = {}
    wrong = ""
    try:
        found = counts_of(source if copy is None else copy, names)
    except MirencError as error:
        wrong = str(error).splitlines()[0]
    with delivered(target) as part, part.open("wb") as stream:
        np.savez(stream, **found)  # type: ignore[arg-type]  # arrays by name
    return wrong


@dataclass(frozen=True)
class Store:
    """What is kept of the IR below ``root``, in ``work``, with names ``written`` or ``hidden``."""

    root: Path
    work: Path
    names: str
    jobs: int = 1

    def ir(self, file: str) -> Path:
        """The file to be read."""
        return (self.root if self.names == "written" else self.work / "hidden") / file

    def _kept(self, kind: str, file: str) -> Path:
        return self.work / kind / self.names / file

    def _missing(self, files: Iterable[str], kind: str, suffix: str) -> list[tuple[str, Path]]:
        """Files of which nothing is kept that is as new as they are, and where it belongs."""
        targets = [(file, self._kept(kind, file + suffix)) for file in sorted(set(files))]
        stamp = {file: (self.root / file).stat().st_mtime_ns for file, _ in targets}
        return [(file, at) for file, at in targets if not at.exists() or at.stat().st_mtime_ns < stamp[file]]

    def count(self, files: Iterable[str]) -> list[str]:
        """Count the words of files that are not counted yet; what was wrong with those that cannot be read."""
        jobs = [
            (self.root / file, None if self.names == "written" else self.ir(file), target)
            for file, target in self._missing(files, "counts", ".npz")
        ]
        wrong = []
        with progress(f"words, names {self.names}", len(jobs)) as advance, ProcessPoolExecutor(self.jobs) as pool:
            for said in pool.map(_write_counts, jobs, chunksize=4) if self.jobs > 1 else map(_write_counts, jobs):
                wrong += [said] if said else []
                advance()
        return wrong

    def places(self, file: str) -> dict[str, Place]:
        """The functions of a file, by name."""
        with np.load(self._kept("counts", file + ".npz")) as kept:
            if not kept.files:
                return {}
            names = kept["names"].tobytes().decode().split("\n")
            each = zip(names, kept["sizes"].tolist(), kept["sequences"], strict=True)
            return {name: Place(file, row, size, key.tobytes()) for row, (name, size, key) in enumerate(each)}

    def bags(self, places: Sequence[Place], kinds: Sequence[str]) -> sp.csr_matrix:
        """Counts of words of some kinds, side by side: (places, words) float64."""
        at: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, place in enumerate(places):
            at[place.file].append((number, place.row))
        owners, words, counts = [], [], []
        for file, wanted in at.items():
            with np.load(self._kept("counts", file + ".npz")) as kept:
                for kind in kinds:
                    owner, word, count = (kept[f"{kind}_{name}"] for name in ("owner", "word", "count"))
                    for number, row in wanted:
                        low, high = np.searchsorted(owner, (row, row + 1))
                        owners.append(np.full(high - low, number))
                        words.append(word[low:high])
                        counts.append(count[low:high])
        distinct, column = np.unique(np.concatenate(words), return_inverse=True)
        entries = np.concatenate(counts).astype(np.float64), (np.concatenate(owners), column)
        return sp.csr_matrix(entries, shape=(len(places), len(distinct)))

    def vectors(self, model: str, places: Sequence[Place]) -> tuple[dict[str, NDArray[np.float32]], dict[str, slice]]:
        """Vectors for search of all functions in the files of some places, by file: (functions, D) float32.

        And which columns are text, graph and, with a lexical view, words. They are kept by the model's digest.
        """
        encoder = load(model, cache=self.work / "statements", hide_names=self.names == "hidden")
        kind = f"vectors/{encoder.name}-{encoder.digest[:12]}"
        missing = dict(self._missing((place.file for place in places), kind, ".npy"))
        files, workers = (self.ir(file) for file in missing), self.jobs if self.jobs > 1 else 0
        outcomes = encoder.embed_stream(files, level="function", form="plain", workers=workers)
        with progress(f"{encoder.name}, names {self.names}", len(missing)) as advance:
            for target, outcome in zip(missing.values(), outcomes, strict=True):
                embedding = outcome.embedded()
                assert embedding is not None
                target.parent.mkdir(parents=True, exist_ok=True)
                with delivered(target) as part, part.open("wb") as stream:
                    np.save(stream, embedding.vector, allow_pickle=False)
                advance()
        whole = {place.file: np.load(self._kept(kind, place.file + ".npy")) for place in places}
        text, graph = encoder.text_dimension, encoder.text_dimension + encoder.graph_dimension
        blocks = {"text": slice(text), "graph": slice(text, graph)}
        return whole, blocks | ({"words": slice(graph, None)} if graph < encoder.dimension else {})
