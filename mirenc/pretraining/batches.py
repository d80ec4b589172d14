"""What each step of a stage is about, made when its step comes or ahead of it by worker processes.

A step's randomness is seeded by its number (`mirenc.pretraining.sampling`), so a batch is the same whoever makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset

from mirenc.pretraining.answers import Answers
from mirenc.pretraining.config import PretrainConfig
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.graphs import Graphs, graph_batch, join_graphs
from mirenc.pretraining.objectives import mask_tokens
from mirenc.pretraining.parallel import Processes
from mirenc.pretraining.sampling import Sampler
from mirenc.tokenizer import PAD

__all__ = ["Batch", "Batches"]

Int64 = NDArray[np.int64]
_NONE = np.zeros(0, dtype=np.int64)


class Batch(NamedTuple):
    """One step's data; what a stage does not take is empty or None.

    Attributes
    ----------
    items : int
        Tokens or nodes of the whole batch (`StepReport`).
    statements : tuple of (B', T) arrays
        Token ids, the same masked, and which are to be predicted; of this process's share.
    chosen : int
        Tokens to be predicted in the whole batch.
    modules : (B,) int64
        All of the batch.
    graphs : Graphs
        Of this process's share of the modules.
    pieces : (P,) int64
        Pieces of the answers, all of the batch.
    piece_graphs : Graphs
        Of this process's share of the pieces.
    """

    items: int
    statements: tuple[Int64, Int64, NDArray[np.bool_]] | None = None
    chosen: int = 0
    modules: Int64 = _NONE
    graphs: Graphs | None = None
    pieces: Int64 = _NONE
    piece_graphs: Graphs | None = None


@dataclass(frozen=True, eq=False)
class Batches(Dataset[Batch]):
    """A stage's batches by step number.

    Attributes
    ----------
    stage : str
    corpus : Corpus
    sampler : Sampler
    config : PretrainConfig
    processes : Processes
    weighting : str
        Of the nodes of a piece: `mirenc.model.config.PoolingConfig`.
    answers : Answers, optional
        For the stage ``compiler``.
    """

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
