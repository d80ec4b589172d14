"""The corpus: modules as compact arrays over one table of distinct texts, kept on disk as shards.

A text that stands in a thousand modules is stored once, with its count, as uint16 token ids. A module is the texts of
its statements with their counts (the text vector is a mean: order does not matter) and its graph. On disk:

    corpus.json                      format, sizes, SHA-256 of every other file
    tokenizer.json
    manifest.csv                     one row a module: project, version, file, language, level, hash, counts
    texts.zst                        token ids, lengths, counts
    shard-00000.zst ...              modules, 512 a shard

A file is safetensors of byte planes (`packing`) under zstd. Format 2 had no positions of edges and no argument numbers,
which are zeros where such a corpus is read.
"""

import csv
import hashlib
import io
import itertools
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Int32, Int64, Integer, UInt16, spread, starts
from mirenc.base.errors import ConfigError
from mirenc.base.writing import delivered
from mirenc.model.sample import GRAPH_ARRAYS, GraphArrays
from mirenc.model.tokenizer import PAD, IRTokenizer
from mirenc.pretrain.corpus.packing import from_bytes, pack, to_bytes, unpack

_FORMAT = 3
_UNORDERED_FORMAT = 2
_SHARD_MODULES = 512
# Columns of a shard; of some, neighbouring values are alike.
_COLUMNS = ("statement_row", "statement_count", "node_row", "node_kind", "node_argument") + (
    *("edge_source", "edge_target", "edge_flow", "edge_position"),
    *("statement_sizes", "node_sizes", "edge_sizes"),
)
_DELTAS = {"statement_row", "edge_source", "edge_target"}
_MAX_NAMED = 12  # projects that an error names
_TYPES = {"node_kind": np.int8, "edge_flow": np.int8}
# Columns that format 2 had not, and are 0, by those of the same length.
_SUBSTITUTES = {"node_argument": "node_kind", "edge_position": "edge_flow"}


class ModuleInfo(NamedTuple):
    """One row of the manifest; text is "" where it is not known.

    ``name`` is the path of the IR below the corpus's root, ``content_hash`` the SHA-256 of its canonical text; nodes
    and edges are those of the whole graph, also where the corpus leaves it out.
    """

    name: str
    project: str
    version: str
    file: str
    language: str
    opt_level: str
    compiler: str
    content_hash: str
    functions: int
    instructions: int
    statements: int
    nodes: int
    edges: int


def _manifest_csv(infos: Sequence[ModuleInfo]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([ModuleInfo._fields, *infos])
    return stream.getvalue()


@dataclass(frozen=True, eq=False, kw_only=True)
class CorpusModule(GraphArrays):
    """One module of a corpus; its texts are rows of the corpus's table. N = 0 where the graph was too large to keep."""

    statement_row: Int32
    """(K,) distinct texts of its statements, ascending."""
    statement_count: Int32
    """(K,) how often each occurs."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Corpus(CorpusModule):
    """M modules over U distinct texts; the modules' own arrays are end to end, and begin at (M + 1,) ``..._start``."""

    tokenizer: IRTokenizer
    infos: list[ModuleInfo]
    text_ids: UInt16
    """(T,) token ids of all texts, end to end."""
    text_start: Int64
    """(U + 1,) where each text begins."""
    statement_start: Int64
    node_start: Int64
    edge_start: Int64
    ordered: bool = True
    """False for a corpus of format 2: its positions and argument numbers are all 0."""

    def __len__(self) -> int:
        return len(self.infos)

    def __repr__(self) -> str:
        return (
            f"Corpus(modules={len(self)}, projects={len(set(self.projects))}, texts={len(self.text_start) - 1}, "
            f"statements={int(self.statement_total.sum())})"
        )

    def __getitem__(self, index: int) -> CorpusModule:
        columns: dict[str, Any] = {}
        for name in ("statement_row", "statement_count", *GRAPH_ARRAYS):
            start: Int64 = getattr(self, f"{name.partition('_')[0]}_start")
            columns[name] = getattr(self, name)[..., int(start[index]) : int(start[index + 1])]
        return CorpusModule(**columns)

    @property
    def names(self) -> list[str]:
        return [info.name for info in self.infos]

    @property
    def projects(self) -> list[str]:
        return [info.project for info in self.infos]

    @property
    def programs(self) -> list[tuple[str, str]]:
        """Project and source file of each module: two with the same are one program at two levels."""
        return [(info.project, info.file) for info in self.infos]

    @property
    def digest(self) -> str:
        """SHA-256 of the manifest and the tokenizer: another corpus has another one."""
        return hashlib.sha256((_manifest_csv(self.infos) + self.tokenizer.to_json()).encode("utf-8")).hexdigest()

    @property
    def text_length(self) -> Int64:
        """(U,) tokens of each text."""
        return np.diff(self.text_start)

    @property
    def node_count(self) -> Int64:
        """(M,) nodes kept of each module; 0 where the graph was left out."""
        return np.diff(self.node_start)

    @property
    def statement_total(self) -> Int64:
        """(M,) statements of each module."""
        return np.array([info.statements for info in self.infos], dtype=np.int64)

    def projects_of(self, modules: Iterable[int]) -> set[str]:
        """The projects of some modules."""
        return {self.infos[module].project for module in modules}

    def text_counts(self, modules: Iterable[int]) -> Int64:
        """(U,) how often each text is a statement of these modules."""
        counts = np.zeros(len(self.text_start) - 1, dtype=np.int64)
        for module in map(self.__getitem__, modules):
            counts[module.statement_row] += module.statement_count
        return counts

    def token_places(self, rows: Integer, *, inner: bool = False) -> Int64:
        """Positions in ``text_ids`` of the tokens of some texts, end to end; ``inner``: without each first and last."""
        first = self.text_start[rows] + int(inner)
        return spread(first, np.maximum(self.text_start[rows + 1] - int(inner), first))[0]

    def padded_ids(self, rows: Integer, width: int | None = None) -> Int64:
        """Token ids of some texts, padded to ``width`` or the longest. Shapes: (B,) -> (B, T)."""
        lengths = self.text_start[rows + 1] - self.text_start[rows]
        out = np.full((len(rows), int(lengths.max(initial=0)) if width is None else width), PAD, dtype=np.int64)
        out[np.arange(out.shape[1]) < lengths[:, None]] = self.text_ids[self.token_places(rows)]
        return out

    def split(
        self, held_out_share: float, seed: int, *, seen: Mapping[str, str] | None = None, named: Sequence[str] = ()
    ) -> tuple[Int64, Int64]:
        """Module numbers of training and held-out *projects* (`hold_out`)."""
        out = np.isin(self.projects, hold_out(self.projects, held_out_share, seed, seen=seen or {}, named=named))
        return np.flatnonzero(~out), np.flatnonzero(out)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a corpus from its folder. Raises ConfigError: none there, one of another format, or a damaged one."""
        source = Path(folder)
        data, ordered = _read_files(source)
        texts = from_bytes(data["texts.zst"])
        shards = [from_bytes(data[name]) for name in sorted(data) if name.startswith("shard-")]
        columns: dict[str, NDArray[Any]] = {}
        for name in _COLUMNS:
            source_name = name if ordered else _SUBSTITUTES.get(name, name)
            parts = [unpack(shard[source_name], differences=name in _DELTAS) for shard in shards]
            columns[name] = np.concatenate(parts, dtype=_TYPES.get(name, np.int32), casting="unsafe")
            if source_name != name:
                columns[name].fill(0)
        columns["edge_index"] = np.stack([columns.pop("edge_source"), columns.pop("edge_target")])
        for name in ("statement", "node", "edge"):
            columns[f"{name}_start"] = starts(columns.pop(f"{name}_sizes"))
        numbers = ModuleInfo._fields.index("functions")  # the first of them
        rows: list[list[Any]] = list(csv.reader(io.StringIO(data["manifest.csv"].decode())))[1:]
        return cls(
            tokenizer=IRTokenizer.from_json(data["tokenizer.json"].decode(), where=str(source / "tokenizer.json")),
            infos=[ModuleInfo(*row[:numbers], *map(int, row[numbers:])) for row in rows],
            text_ids=texts["text_ids"].astype(np.uint16),
            text_start=starts(texts["text_length"].astype(np.int64)),
            ordered=ordered,
            **columns,
        )


def _read_files(source: Path) -> tuple[dict[str, bytes], bool]:
    """Read and check the files that a corpus lists; returns also whether it keeps the order of operands."""
    try:
        listing = json.loads((source / "corpus.json").read_text(encoding="utf-8"))
        digests, version = dict(listing.get("files", {})), listing.get("format")
    except (OSError, ValueError, TypeError, AttributeError) as error:
        problem = f"{source} is not a corpus: its corpus.json cannot be read ({error})"
        raise ConfigError(f"{problem}. Build one with `mirenc corpus build IR_FOLDER -o {source}`") from None
    if version not in (_FORMAT, _UNORDERED_FORMAT):
        formats = f"this mirenc reads {_UNORDERED_FORMAT} and {_FORMAT}"
        raise ConfigError(f"{source}: corpus format {version}, {formats}. Build it again")
    data = {}
    for name, digest in digests.items():
        path = source / name
        try:
            data[name] = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}; the corpus is not whole. Build it again") from None
        if hashlib.sha256(data[name]).hexdigest() != digest:
            raise ConfigError(f"{path}: damaged (SHA-256 differs from corpus.json). Copy or build the corpus again")
    if missing := {"manifest.csv", "texts.zst", "tokenizer.json", "shard-00000.zst"} - set(data):
        raise ConfigError(f"{source}: corpus.json does not name {min(missing)}; the corpus is damaged. Build it again")
    return data, version == _FORMAT


def write_corpus(
    folder: str | os.PathLike[str],
    modules: Iterable[tuple[ModuleInfo, CorpusModule]],
    tokenizer: IRTokenizer,
    text_ids: UInt16,
    text_length: Integer,
) -> None:
    """Write a corpus shard by shard, holding one shard in memory; the folder is emptied of an earlier corpus."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    # Without its listing, written last of all, a folder is no corpus: one that is half written is never read.
    (target / "corpus.json").unlink(missing_ok=True)
    for path in target.glob("shard-*.zst"):
        path.unlink()
    files: dict[str, str] = {}

    def write(name: str, data: bytes) -> None:
        (target / name).write_bytes(data)
        files[name] = hashlib.sha256(data).hexdigest()

    infos: list[ModuleInfo] = []
    remaining = iter(modules)
    while shard := list(itertools.islice(remaining, _SHARD_MODULES)):
        write(f"shard-{len(infos) // _SHARD_MODULES:05d}.zst", _shard([module for _, module in shard]))
        infos += [info for info, _ in shard]
    write("texts.zst", to_bytes({"text_ids": text_ids, "text_length": text_length.astype(np.uint16)}))
    write("manifest.csv", _manifest_csv(infos).encode("utf-8"))
    write("tokenizer.json", tokenizer.to_json().encode("utf-8"))
    listing = {"format": _FORMAT, "modules": len(infos), "texts": len(text_length), "files": files}
    with delivered(target / "corpus.json") as part:
        part.write_text(json.dumps(listing, indent=1) + "\n", encoding="utf-8")


def _shard(modules: Sequence[CorpusModule]) -> bytes:
    columns: dict[str, Integer] = {}
    for name in ("statement_row", "statement_count", *GRAPH_ARRAYS):
        parts = [getattr(module, name) for module in modules]
        columns[name] = np.concatenate(parts, -1)
        columns[f"{name.partition('_')[0]}_sizes"] = np.array([part.shape[-1] for part in parts])
    columns["edge_source"], columns["edge_target"] = columns.pop("edge_index")
    return to_bytes({name: pack(columns[name], differences=name in _DELTAS) for name in _COLUMNS})


def hold_out(
    projects: Sequence[str], share: float, seed: int, *, seen: Mapping[str, str], named: Sequence[str]
) -> list[str]:
    """Projects to hold out, from the project of each module.

    They are drawn in random order until the ``share`` of modules is reached; where none is that small, the smallest is
    held out. Those ``seen`` by an ancestor of the model (`mirenc.encoder.weights.seen_by`, its name for each) never
    are; of ``named`` ones these are, and none drawn.

    Raises ConfigError: fewer than two projects, all of them seen, or a named one that was seen or is not there.
    """
    sizes = Counter(projects)
    order = sorted(sizes)
    unseen = [project for project in order if project not in seen]
    examples = ", ".join(order[:_MAX_NAMED]) + (", ..." if len(order) > _MAX_NAMED else "")
    if not unseen:
        models = " and ".join(sorted({seen[project] for project in order}))
        problem = f"no project is left to hold out: all {len(order)} of the corpus ({examples}) were in the training"
        problem = f"{problem} of {models}, from which the run starts"
        raise ConfigError(f"{problem}. Add a project to the corpus that was in no such training")
    for project in named:
        if project in seen:
            problem = f"held_out: {project} was in the training of {seen[project]}, from which the run starts"
            raise ConfigError(f"{problem}, so it cannot be held out. Leave {project} out of held_out")
        if project not in sizes:
            raise ConfigError(f"held_out: no project {project!r} in the corpus; it has {examples}")
    chosen, count, target = list(named), 0, share * len(projects)
    # Drawn among all, so that projects that were seen do not change which of the others are drawn.
    for number in () if named else np.random.default_rng([seed, 11]).permutation(len(order)):
        # A project of half the corpus would leave too little to train on.
        if (project := order[number]) not in seen and count + sizes[project] <= max(1.5 * target, 1):
            chosen.append(project)
            count += sizes[project]
        if count >= target:
            break
    # Where all are larger than the share, the smallest is the nearest to it.
    chosen = chosen or [min(unseen, key=sizes.__getitem__)]
    if len(chosen) == len(order):
        advice = "one at least must be left to train on. Put each project's IR in a folder of its own"
        raise ConfigError(f"the corpus has {len(order)} project(s), and {len(chosen)} would be held out; {advice}")
    return chosen
