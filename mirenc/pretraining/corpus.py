"""The corpus: modules as compact arrays over one table of distinct texts.

A text that stands in a thousand modules is stored once, with its count, as uint16 token ids; edges are int32. A
corpus of thousands of modules is tens of megabytes and travels as one ``.npz`` beside its tokenizer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mirenc.config import TokenizerConfig
from mirenc.errors import ConfigError, MirencError
from mirenc.graph import build_graph
from mirenc.ir import ReadOptions, read_ir, statements_of
from mirenc.tokenizer import IRTokenizer, train_tokenizer

__all__ = ["Corpus", "CorpusModule", "build_corpus"]

Int32 = NDArray[np.int32]
_FORMAT = 1


@dataclass(frozen=True, eq=False)
class CorpusModule:
    """One module of a corpus; rows count in the corpus's table of texts.

    Shapes: statement_row (S,), node_row (N,), node_kind (N,), edge_index (2, E), edge_flow (E,).
    """

    statement_row: Int32
    node_row: Int32
    node_kind: NDArray[np.int8]
    edge_index: Int32
    edge_flow: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Corpus:
    """M modules over U distinct texts.

    Attributes
    ----------
    tokenizer : IRTokenizer
    text_ids : (T,) uint16
        Token ids of all texts, end to end.
    text_start : (U + 1,) int64
    text_count : (U,) int64
        How often a text is a statement of some module.
    names, projects : list of str, length M
    statement_row, statement_start : flat int32, (M + 1,) int64
    node_row, node_kind, node_start : flat int32, flat int8, (M + 1,) int64
    edge_index, edge_flow, edge_start : (2, E) int32, flat int8, (M + 1,) int64
    """

    tokenizer: IRTokenizer
    text_ids: NDArray[np.uint16]
    text_start: NDArray[np.int64]
    text_count: NDArray[np.int64]
    names: list[str]
    projects: list[str]
    statement_row: Int32
    statement_start: NDArray[np.int64]
    node_row: Int32
    node_kind: NDArray[np.int8]
    node_start: NDArray[np.int64]
    edge_index: Int32
    edge_flow: NDArray[np.int8]
    edge_start: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return (
            f"Corpus(modules={len(self)}, projects={len(set(self.projects))}, "
            f"texts={len(self.text_count)}, statements={len(self.statement_row)})"
        )

    def __getitem__(self, index: int) -> CorpusModule:
        s, n, e = (
            slice(int(start[index]), int(start[index + 1]))
            for start in (self.statement_start, self.node_start, self.edge_start)
        )
        return CorpusModule(
            self.statement_row[s],
            self.node_row[n],
            self.node_kind[n],
            self.edge_index[:, e],
            self.edge_flow[e],
        )

    @property
    def text_length(self) -> NDArray[np.int64]:
        """(U,) tokens of each text."""
        return np.diff(self.text_start)

    def padded_ids(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Token ids of some texts, padded to the longest. Shapes: (B,) -> (B, T)."""
        lengths = self.text_length[rows]
        out = np.full((len(rows), int(lengths.max())), 3, dtype=np.int64)
        inside = np.arange(out.shape[1]) < lengths[:, None]
        first = self.text_start[rows]
        at = np.arange(int(lengths.sum())) + np.repeat(first - (np.cumsum(lengths) - lengths), lengths)
        out[inside] = self.text_ids[at]
        return out

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``corpus.npz``, ``modules.json`` and ``tokenizer.json`` into a folder."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        self.tokenizer.save(target / "tokenizer.json")
        listing = {"format": _FORMAT, "names": self.names, "projects": self.projects}
        (target / "modules.json").write_text(json.dumps(listing), encoding="utf-8")
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        with (target / "corpus.npz.part").open("wb") as stream:
            np.savez_compressed(stream, **arrays)
        os.replace(target / "corpus.npz.part", target / "corpus.npz")

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Corpus:
        """Read what `save` wrote.

        Raises
        ------
        ConfigError
            No corpus there, or one of another format.
        """
        source = Path(folder)
        try:
            listing = json.loads((source / "modules.json").read_text(encoding="utf-8"))
            with np.load(source / "corpus.npz") as arrays:
                values = {name: arrays[name] for name in _ARRAYS}
        except (OSError, ValueError, KeyError) as error:
            raise ConfigError(
                f"{source}: no corpus ({error}). Build one with `mirenc corpus build IR_FOLDER -o {source}`"
            ) from None
        if listing.get("format") != _FORMAT:
            raise ConfigError(f"{source}: corpus format {listing.get('format')}, this mirenc reads {_FORMAT}")
        tokenizer = IRTokenizer.from_file(source / "tokenizer.json")
        return cls(tokenizer=tokenizer, names=listing["names"], projects=listing["projects"], **values)

    def split(self, held_out_share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Module numbers of training and held-out *projects*: no project is on both sides.

        Projects are drawn in random order until the share of modules is reached.
        """
        rng = np.random.default_rng([seed, 11])
        names = np.array(self.projects)
        projects = sorted(set(self.projects))
        held: list[str] = []
        count = 0
        for number in rng.permutation(len(projects)):
            size = int((names == projects[number]).sum())
            # A project of half the corpus would leave too little to train on.
            if count + size <= max(1.5 * held_out_share * len(names), 1):
                held.append(projects[number])
                count += size
            if count >= held_out_share * len(names):
                break
        out = np.isin(names, held)
        if not out.any() or out.all():
            raise ConfigError(
                f"the corpus has {len(projects)} project(s); at least two are needed to hold one out. "
                "Put each project's IR in a folder of its own"
            )
        return np.flatnonzero(~out), np.flatnonzero(out)


_ARRAYS = (
    *("text_ids", "text_start", "text_count", "statement_row", "statement_start"),
    *("node_row", "node_kind", "node_start", "edge_index", "edge_flow", "edge_start"),
)


def build_corpus(
    files: Sequence[Path],
    root: Path,
    config: TokenizerConfig,
    *,
    tokenizer: IRTokenizer | None = None,
    options: ReadOptions | None = None,
    advance: Callable[[], None] | None = None,
    failed: Callable[[Path, MirencError], None] | None = None,
) -> Corpus:
    """Read IR files into a corpus; the first folder below ``root`` is the project.

    Parameters
    ----------
    files : sequence of Path
    root : Path
    config : TokenizerConfig
        For a new tokenizer, trained on the distinct statements of the corpus.
    tokenizer : IRTokenizer, optional
        Use this one instead.
    options : ReadOptions, optional
    advance : callable, optional
        Called after each file.
    failed : callable, optional
        Told of files that cannot be read; they are left out.

    Raises
    ------
    ConfigError
        No file could be read.
    """
    level = tokenizer.config.normalisation if tokenizer else config.normalisation
    rows: dict[str, int] = {}
    counts: list[int] = []
    modules: list[CorpusModule] = []
    names: list[str] = []
    projects: list[str] = []
    seen: set[str] = set()
    for path in files:
        try:
            module = read_ir(path, options=options)
        except MirencError as error:
            if failed is not None:
                failed(path, error)
            continue
        finally:
            if advance is not None:
                advance()
        if module.content_hash in seen:
            continue
        seen.add(module.content_hash)
        statements = statements_of(module, level)
        graph = build_graph(module, normalisation=level)
        local = np.array([rows.setdefault(text, len(rows)) for text in statements.texts], dtype=np.int32)
        used, inverse = np.unique(graph.node_full_text_row, return_inverse=True)
        nodes = np.array([rows.setdefault(graph.texts[row], len(rows)) for row in used], dtype=np.int32)
        counts += [0] * (len(rows) - len(counts))
        statement_row = local[statements.row]
        for row, count in zip(*np.unique(statement_row, return_counts=True), strict=True):
            counts[row] += int(count)
        modules.append(CorpusModule(statement_row, nodes[inverse], graph.node_kind, graph.edge_index, graph.edge_flow))
        relative = path.relative_to(root)
        names.append(relative.as_posix())
        projects.append(relative.parts[0])
    if not modules:
        raise ConfigError(f"{root}: no IR could be read. Give a folder with .ll or .bc files")
    texts = list(rows)
    if tokenizer is None:
        tokenizer = train_tokenizer((text for text, count in zip(texts, counts, strict=True) if count), config)
    ids, length = tokenizer.encode_batch(texts)
    inside = np.arange(ids.shape[1]) < length[:, None]
    return Corpus(
        tokenizer=tokenizer,
        text_ids=ids[inside],
        text_start=_starts(length),
        text_count=np.array(counts, dtype=np.int64),
        names=names,
        projects=projects,
        statement_row=np.concatenate([module.statement_row for module in modules]),
        statement_start=_starts([len(module.statement_row) for module in modules]),
        node_row=np.concatenate([module.node_row for module in modules]),
        node_kind=np.concatenate([module.node_kind for module in modules]),
        node_start=_starts([len(module.node_row) for module in modules]),
        edge_index=np.concatenate([module.edge_index for module in modules], axis=1),
        edge_flow=np.concatenate([module.edge_flow for module in modules]),
        edge_start=_starts([len(module.edge_flow) for module in modules]),
    )


def _starts(counts: Sequence[int] | Int32) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.asarray(counts, dtype=np.int64))])
