"""The objective "compiler": what a compiler answered about a piece, read from its taught vector by linear heads.

The heads are thrown away after training; the trunk (`mirenc.model.mirencoder.Trunk`) and what it moved in the graph
encoder stay.

    L = mean over kinds of the mean over columns of the mean over pieces with an answer of
        huber(y - t) [sizes, lists] or -t log sigmoid(y) - (1 - t) log(1 - sigmoid(y)) [fires]
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from mirenc.model.data import IRData
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.pooling import COUNTS
from mirenc.pretraining.answers import Answers
from mirenc.pretraining.encoding import FrozenTexts, encode_graphs
from mirenc.pretraining.graphs import join_graphs
from mirenc.pretraining.parallel import Processes

__all__ = ["Heads", "Teacher", "answers_loss", "piece_counts"]

# Pieces that are encoded at once where nothing is learned.
_SLICE = 64


class Heads(nn.Module):
    """A linear map a kind of answer, from the taught vector to its columns."""

    def __init__(self, width: int, columns: Mapping[str, int]) -> None:
        super().__init__()
        self.kinds = nn.ModuleDict({kind: nn.Linear(width, count) for kind, count in columns.items()})

    def forward(self, taught: Tensor) -> dict[str, Tensor]:
        """Each kind's columns: logits of ``fires``, standardised numbers of others. (B, width) -> (B, C) each."""
        return {kind: head(taught) for kind, head in self.kinds.items()}


def answers_loss(
    predictions: Mapping[str, Tensor], truth: Mapping[str, Tensor], *, share: slice = slice(None)
) -> Tensor:
    """Loss of a batch of pieces; with a ``share`` of the pieces, its part of the sum.

    Shapes: ``predictions`` (B', C) of the share, ``truth`` (B, C) of all, NaN where an answer is not known -> ()
    """
    parts = []
    for kind, prediction in predictions.items():
        known = ~truth[kind].isnan()  # (B, C)
        target = truth[kind].nan_to_num()[share]
        if kind == "fires":
            losses = F.binary_cross_entropy_with_logits(prediction, target, reduction="none")
        else:
            losses = F.huber_loss(prediction, target, reduction="none")
        count = known.sum(0)  # of the whole batch
        columns = (losses * known[share]).sum(0) / count.clamp(min=1)  # (C,)
        parts.append(columns.sum() / (count > 0).sum().clamp(min=1))
    return torch.stack(parts).mean()


class Teacher:
    """Answers about the pieces of a corpus, and everything about the pieces that training does not move, on the device.

    ``model`` is one whose text encoder no longer moves; ``threads`` are for its statement vectors on a CPU.
    """

    def __init__(
        self, answers: Answers, heads: Heads, model: MIREncoder, *, processes: Processes, threads: int = 1
    ) -> None:
        assert model.taught is not None
        self.answers = answers
        self.trained: list[nn.Module] = [model.taught, heads]
        self._heads, self._trunk, self._model = heads, model.taught, model
        # Of a user's vectors, not the plain mean of matching: the trunk takes what an encoder gives it.
        self._weighting = weighting = model.config.pooling.weighting
        self._texts = FrozenTexts(
            model, answers.corpus, answers.modules, processes=processes, weighting=weighting, threads=threads
        )
        device = self._texts.means.device
        self._counts = torch.from_numpy(piece_counts(answers)).to(device)
        self._labels = {kind: torch.from_numpy(labels.values).to(device) for kind, labels in answers.labels.items()}

    def taught(self, rows: Tensor, graphs: IRData) -> Tensor:
        """Taught vectors of some pieces from their graphs. (B,) -> (B, width)."""
        graph = encode_graphs(self._model, graphs, self._texts).graph
        taught: Tensor = self._trunk(self._texts.means[rows], graph, self._counts[rows])
        return taught

    def loss(self, rows: Tensor, graphs: IRData, share: slice) -> Tensor:
        """Loss of a batch of pieces (B,); ``graphs`` are those of the share."""
        truth = {kind: values[rows] for kind, values in self._labels.items()}
        return answers_loss(self._heads(self.taught(rows[share], graphs)), truth, share=share)

    @torch.no_grad()
    def predict(self, pieces: NDArray[np.int64]) -> dict[str, NDArray[np.float32]]:
        """What the heads say of some pieces: (n, C) of each kind."""
        parts: list[dict[str, Tensor]] = []
        device = self._texts.means.device
        for first in range(0, len(pieces), _SLICE):
            some = pieces[first : first + _SLICE]
            graphs = join_graphs(self.answers.corpus, self.answers.modules[some], weighting=self._weighting)
            parts.append(self._heads(self.taught(torch.from_numpy(some).to(device), graphs.data(device))))
        return {kind: torch.cat([part[kind] for part in parts]).cpu().numpy() for kind in self.answers.labels}


def piece_counts(answers: Answers) -> NDArray[np.float32]:
    """Size of each piece as the trunk takes it: `mirenc.model.pooling.Pools.counts`. (n, COUNTS)."""
    rows = []
    for number in answers.modules.tolist():
        module = answers.corpus[number]
        rows.append([*np.bincount(module.node_kind, minlength=COUNTS - 1).tolist(), len(module.statement_row)])
    return np.array(rows, dtype=np.float32)
