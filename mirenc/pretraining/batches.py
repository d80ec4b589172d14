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
# Generators of a stage's graphs.
_GENERATOR = {"gae": 1, "igm": 2, "joint": 2, "compiler": 2}


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
class Batches:
    """Makes the batch of any step of any stage.

    Attributes
    ----------
    corpus : Corpus
    sampler : Sampler
    config : PretrainConfig
    processes : Processes
    weighting : str
        Of the nodes of a piece: `mirenc.model.config.PoolingConfig`.
    answers : Answers, optional
        For the stage ``compiler``.
    """

    corpus: Corpus
    sampler: Sampler
    config: PretrainConfig
    processes: Processes
    weighting: str
    answers: Answers | None = None

    def make(self, stage: str, step: int) -> Batch:
        """The batch of one step."""
        batch = self._statements(step) if stage in ("mlm", "joint") else Batch(0)
        if stage != "mlm":
            modules = self.sampler.gae_modules(step) if stage == "gae" else self.sampler.igm_modules(step)
            rng = self.sampler.rng(_GENERATOR[stage], step)
            graphs = graph_batch(self.corpus, modules, rng, share=self.processes.share(len(modules)))
            batch = batch._replace(
                items=batch.items or int(self.corpus.node_count[modules].sum()), modules=modules, graphs=graphs
            )
        if stage == "compiler":
            assert self.answers is not None
            pieces = self.sampler.pieces(self.answers.training, step)
            own = self.answers.modules[pieces[self.processes.share(len(pieces))]]
            nodes = int(self.answers.corpus.node_count[self.answers.modules[pieces]].sum())
            graphs = join_graphs(self.answers.corpus, own, weighting=self.weighting)
            batch = batch._replace(items=batch.items + nodes, pieces=pieces, piece_graphs=graphs)
        return batch

    def _statements(self, step: int) -> Batch:
        ids = self.sampler.padded(self.sampler.statements(step))
        masked, chosen = mask_tokens(
            ids,
            self.sampler.rng(0, step),
            vocab_size=self.corpus.tokenizer.vocab_size,
            share=self.config.mask_share,
        )
        part = self.processes.share(len(ids))
        return Batch(int((ids != PAD).sum()), (ids[part], masked[part], chosen[part]), int(chosen.sum()))

    def of(self, stage: str, steps: range) -> Iterator[Batch]:
        """The batches of some steps in order, ``config.workers`` processes ahead of whoever takes them."""
        if not self.config.workers:
            return (self.make(stage, step) for step in steps)
        return iter(
            DataLoader(
                _Steps(self, stage),
                batch_size=None,
                sampler=steps,
                num_workers=self.config.workers,
                collate_fn=_as_it_is,
            )
        )


class _Steps(Dataset[Batch]):
    """A stage's batches by step number."""

    def __init__(self, batches: Batches, stage: str) -> None:
        self._batches = batches
        self._stage = stage

    def __getitem__(self, step: int) -> Batch:
        return self._batches.make(self._stage, step)


def _as_it_is(batch: Any) -> Any:
    return batch
