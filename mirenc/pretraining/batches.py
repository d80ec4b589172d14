"""What each step of a stage is about: which statements and modules it sees, and their arrays.

Everything is drawn by a generator seeded with (seed, what, step): a resumed run, another process of the same run, or a
worker process that is steps ahead draws what the first one drew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from torch.utils.data import DataLoader, Dataset

from mirenc.arrays import Bool, Int64
from mirenc.errors import ConfigError
from mirenc.pretraining.answers import Answers
from mirenc.pretraining.config import PretrainConfig
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.graphs import Graphs, graph_batch, join_graphs
from mirenc.pretraining.objectives import mask_tokens
from mirenc.pretraining.parallel import Processes
from mirenc.tokenizer import PAD

_NONE = np.zeros(0, dtype=np.int64)
# Statements of similar length are batched together: this many batches are drawn at once and sorted.
_POOL = 16
# A batch's length is padded to a multiple of this: on a CPU every new shape of a product costs memory for good.
_LENGTH_STEP = 4


class Sampler:
    """Draws batches from the training modules (M,) of a corpus.

    ``started_from`` is the digest of the model that the run goes on from: a second run draws other statements than the
    first one.
    """

    def __init__(self, corpus: Corpus, modules: Int64, config: PretrainConfig, started_from: str = "") -> None:
        self._corpus = corpus
        self._config = config
        self._seeds = [config.seed] + ([int(started_from[:12], 16)] if started_from else [])
        counts = corpus.text_counts(modules)
        self.statement_rows: Int64 = np.flatnonzero(counts)
        weights = counts[self.statement_rows] ** config.frequency_temper
        self._cumulated = np.cumsum(weights) / weights.sum()
        nodes = corpus.node_count[modules]
        self.graphs: Int64 = modules[(nodes > 0) & (nodes <= config.max_nodes)]
        chosen = np.random.default_rng([config.seed, 300]).permutation(self.graphs)[: config.matching_modules]
        self.matching_graphs: Int64 = np.sort(chosen)
        self._programs = corpus.programs

    def rng(self, stage: int, step: int, *more: int) -> np.random.Generator:
        """The generator of a step, or of a part of it."""
        return np.random.default_rng([*self._seeds, stage, step, *more])

    def statements(self, step: int) -> Int64:
        """(B,) texts of one MLM step: a slice of a pool sorted by length."""
        batch = self._config.mlm.batch
        rng = self.rng(100, step // _POOL)
        pool = self.statement_rows[np.searchsorted(self._cumulated, rng.random(batch * _POOL))]
        pool = pool[np.argsort(self._corpus.text_length[pool], kind="stable")]
        rows: Int64 = pool.reshape(_POOL, batch)[rng.permutation(_POOL)[step % _POOL]]
        return rows

    def padded(self, rows: Int64) -> Int64:
        """Token ids of some texts. Shapes: (B,) -> (B, T), T a multiple of `_LENGTH_STEP`."""
        ids = self._corpus.padded_ids(rows)
        limit = self._corpus.tokenizer.config.max_length
        width = min(-(-ids.shape[1] // _LENGTH_STEP) * _LENGTH_STEP, limit)
        return np.pad(ids, ((0, 0), (0, width - ids.shape[1])), constant_values=PAD)

    def check(self, stages: Iterable[str]) -> None:
        """Refuse a corpus with fewer than two source files with a graph, before the stages in front are trained."""
        for stage in stages:
            if stage != "mlm":
                self._distinct(self.graphs if stage == "gae" else self.matching_graphs, 2)

    def gae_modules(self, step: int) -> Int64:
        """(B,) modules of one GAE step, no two of one program."""
        return self._distinct(self.rng(201, step).permutation(self.graphs), self._config.gae.batch)

    def igm_modules(self, step: int) -> Int64:
        """(B,) modules of one matching step, no two of one program; of nearly equal size in a hard step."""
        rng = self.rng(202, step)
        if rng.random() >= self._config.hard_negatives:
            return self._distinct(rng.permutation(self.matching_graphs), self._config.igm.batch)
        by_size = self.matching_graphs[np.argsort(self._corpus.node_count[self.matching_graphs], kind="stable")]
        start = int(rng.integers(len(by_size)))
        return self._distinct(np.roll(by_size, -start), self._config.igm.batch)

    def pieces(self, training: Int64, step: int) -> Int64:
        """(B,) different ones of the pieces that a compiler's answers are learned from, of one step."""
        batch = min(self._config.compiler.batch, len(training))
        chosen: Int64 = self.rng(204, step).choice(training, batch, replace=False)
        return chosen

    def _distinct(self, candidates: Int64, batch: int) -> Int64:
        chosen: dict[tuple[str, str], int] = {}
        for module in candidates.tolist():
            chosen.setdefault(self._programs[module], module)
            if len(chosen) == batch:
                break
        if len(chosen) < 2:
            raise ConfigError(
                f"{len(chosen)} training module(s) with at most {self._config.max_nodes} nodes; two different source "
                "files are needed. Raise max_nodes or enlarge the corpus"
            )
        return np.array(list(chosen.values()))


class Batch(NamedTuple):
    """One step's data; what a stage does not take is empty or None. A share is this process's.

    Attributes
    ----------
    items : int
        Tokens or nodes of the whole batch (`StepReport`).
    statements : three (B', T) arrays
        Token ids, the same masked, and which are to be predicted; of a share.
    chosen : int
        Tokens to be predicted in the whole batch.
    modules, pieces : (B,) and (P,) int64
        Modules of the corpus and pieces of the answers, all of the batch.
    graphs, piece_graphs : Graphs
        Of a share of them.
    """

    items: int
    statements: tuple[Int64, Int64, Bool] | None = None
    chosen: int = 0
    modules: Int64 = _NONE
    graphs: Graphs | None = None
    pieces: Int64 = _NONE
    piece_graphs: Graphs | None = None


@dataclass(frozen=True, eq=False)
class Batches(Dataset[Batch]):
    """A stage's batches by step number; ``weighting`` is of a piece's nodes, ``answers`` are for ``compiler``."""

    stage: str
    corpus: Corpus
    sampler: Sampler
    config: PretrainConfig
    processes: Processes
    weighting: str
    answers: Answers | None = None

    def __getitem__(self, step: int) -> Batch:
        """The batch of one step."""
        stage, sampler = self.stage, self.sampler
        batch = self._statements(step) if stage in ("mlm", "joint") else Batch(0)
        if stage != "mlm":
            modules = sampler.gae_modules(step) if stage == "gae" else sampler.igm_modules(step)
            rng = sampler.rng(1 if stage == "gae" else 2, step)
            graphs = graph_batch(self.corpus, modules, rng, share=self.processes.share(len(modules)))
            items = batch.items or int(self.corpus.node_count[modules].sum())
            batch = batch._replace(items=items, modules=modules, graphs=graphs)
        if stage == "compiler":
            assert self.answers is not None
            pieces = sampler.pieces(self.answers.training, step)
            numbers, corpus = self.answers.modules[pieces], self.answers.corpus
            graphs = join_graphs(corpus, numbers[self.processes.share(len(pieces))], weighting=self.weighting)
            items = batch.items + int(corpus.node_count[numbers].sum())
            batch = batch._replace(items=items, pieces=pieces, piece_graphs=graphs)
        return batch

    def _statements(self, step: int) -> Batch:
        ids, rng = self.sampler.padded(self.sampler.statements(step)), self.sampler.rng(0, step)
        vocabulary = self.corpus.tokenizer.vocab_size
        masked, chosen = mask_tokens(ids, rng, vocab_size=vocabulary, share=self.config.mask_share)
        part = self.processes.share(len(ids))
        return Batch(int((ids != PAD).sum()), (ids[part], masked[part], chosen[part]), int(chosen.sum()))

    def of(self, steps: range) -> Iterator[Batch]:
        """The batches of some steps in order, ``config.workers`` processes ahead of whoever takes them."""
        workers = self.config.workers
        if not workers:
            return map(self.__getitem__, steps)
        return iter(DataLoader(self, batch_size=None, sampler=steps, num_workers=workers, collate_fn=_as_it_is))


def _as_it_is(batch: Any) -> Any:
    return batch
