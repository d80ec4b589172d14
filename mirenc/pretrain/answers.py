"""The objective "compiler": what a compiler answered about a piece, read from its taught vector by linear heads.

A table of ``mirenc label`` has the answers, and a corpus of its pieces (``pretrain/pieces.py``) their texts
and graphs: a piece is the module whose file is named after its ``ir_hash``. Answers are exact and free, and no answer
about a project that is held out, by the table or by the run, is ever learned. The heads are thrown away after training;
the trunk (`mirenc.model.heads.taught_vectors`) and what it moved in the graph encoder stay.

    L = mean over kinds of the mean over columns of the mean over pieces with an answer of
        huber(y - t) [sizes, lists] or -t log sigmoid(y) - (1 - t) log(1 - sigmoid(y)) [fires]
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from mirenc.base.arrays import Float32, Float64, Floating, Int64
from mirenc.base.errors import ConfigError
from mirenc.decide.tables.compiled import CompiledTable, read_compiled
from mirenc.model.data import IRData
from mirenc.model.kinds import COUNTS
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.tokenizer import IRTokenizer
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.encoding import FrozenTexts, encode_graphs
from mirenc.pretrain.evaluation.figures import Figures, finite
from mirenc.pretrain.graphs import Graphs, join_graphs
from mirenc.pretrain.parallel import Processes

_SLICE = 64  # pieces that are encoded at once where nothing is learned
_CHOOSING = 0.1  # share of the training projects that are not learned from but chosen by
_RARE = 0.01  # a pass that changes nearly everything, or hardly anything, is no question
_CLIP = 0.5  # log ratio beyond which a list did something other than optimise
_SAME = 1e-9  # standard deviation of numbers that differ by rounding alone
# Sizes that are compared: numerator and denominator, ``before`` for the piece before any pass.
_RATIOS = (("Oz", "O0"), ("O3", "Oz"), ("Oz", "before"))


class Labels(NamedTuple):
    """Answers of one kind about n pieces: 0 or 1 for ``fires``, in standard deviations of the training pieces else."""

    names: tuple[str, ...]
    values: Float32  # (n, C), NaN where not known


@dataclass(frozen=True, eq=False)
class Answers:
    """n pieces that a table and a corpus have in common."""

    corpus: Corpus
    modules: Int64  # (n,) the piece's module in the corpus
    projects: tuple[str, ...]
    training: Int64  # (k,) pieces that are learned from
    choosing: Int64  # (k,) those of training projects that are kept out
    held_out: Int64  # (k,) those of projects held out
    labels: dict[str, Labels]  # by kind
    missing: int  # pieces of the table that the corpus does not have
    content_hash: str  # of the table
    weighting: str  # of a user's vectors, not the plain mean of matching: the trunk takes what an encoder gives it

    def graphs(self, rows: Int64) -> Graphs:
        return join_graphs(self.corpus, self.modules[rows], weighting=self.weighting)

    def projects_of(self, rows: Int64) -> set[str]:
        return {self.projects[row] for row in rows.tolist()}

    @property
    def identity(self) -> dict[str, str]:
        """What a checkpoint must have been made with."""
        return {"corpus": self.corpus.digest, "table": self.content_hash}


def read_answers(
    config: PretrainConfig, tokenizer: IRTokenizer, *, held_out: Iterable[str], weighting: str = "sqrt"
) -> Answers:
    """Read a run's table and the corpus of its pieces; those ``held_out`` by the run are held out, too.

    Raises ConfigError: another tokenizer, too few pieces, or nothing about a kind. Raises TaskError: no table.
    """
    settings = config.answers
    assert settings is not None
    table, corpus = read_compiled(settings.table), Corpus.load(settings.corpus)
    if corpus.tokenizer.to_json() != tokenizer.to_json():
        problem = (
            f"answers.corpus: {settings.corpus} was built with another tokenizer than the run's corpus. Build it with"
        )
        raise ConfigError(f"{problem}: mirenc corpus build PIECES -o FOLDER --tokenizer CORPUS/tokenizer.json")
    nodes = corpus.node_count
    module_of = {PurePosixPath(name).stem: number for number, name in enumerate(corpus.names) if nodes[number]}
    rows = np.array([row for row, piece in enumerate(table.pieces) if piece.ir_hash in module_of], dtype=np.int64)
    pieces = [table.pieces[row] for row in rows.tolist()]
    modules = np.array([module_of[piece.ir_hash] for piece in pieces], dtype=np.int64)
    projects = tuple(piece.project for piece in pieces)
    kept_out = set(held_out) | {piece.project for piece in table.pieces if piece.held_out}
    learned = sorted(set(projects) - kept_out)
    if len(learned) < 2:
        raise ConfigError(
            f"answers: {len(pieces)} of the table's {len(table.pieces)} pieces are in {settings.corpus}. They are of "
            f"{len(learned)} training project(s); two projects are needed, one to train on, one to compare runs on. "
            f"Make the corpus with: python pretrain/pieces.py {settings.table} PIECES, then mirenc corpus build PIECES"
        )
    drawn = np.random.default_rng([config.seed, 12]).permutation(len(learned))
    chosen_by = {learned[number] for number in drawn[: max(1, round(_CHOOSING * len(learned)))].tolist()}
    held, choosing = (
        np.array([project in chosen for project in projects], dtype=bool) for chosen in (kept_out, chosen_by)
    )
    training = np.flatnonzero(~held & ~choosing & (nodes[modules] <= config.max_nodes))
    make = {"sizes": _sizes, "fires": _fires, "lists": _lists}
    labels: dict[str, Labels] = {kind: make[kind](table, rows, training) for kind in dict.fromkeys(settings.kinds)}
    for kind, answers in labels.items():
        if not answers.names:
            raise ConfigError(
                f"answers.kinds: for {kind!r}, the {len(training)} pieces for training have the same values, or "
                f"none. Leave {kind!r} out of kinds, or label anew where opt is on PATH"
            )
    parts = (training, np.flatnonzero(choosing), np.flatnonzero(held))
    missing = len(table.pieces) - len(pieces)
    return Answers(corpus, modules, projects, *parts, labels, missing, table.content_hash, weighting)


def _sizes(table: CompiledTable, rows: Int64, training: Int64) -> Labels:
    """Logarithms of bytes and instructions after each level, and of what levels make of each other's bytes."""
    code = {"before": _log(np.array([piece.code_bytes for piece in table.pieces], dtype=np.float64))}
    columns = {}
    for level, sizes in table.levels.items():
        code[level] = columns[f"bytes {level}"] = _log(sizes.code_bytes)
        columns[f"instructions {level}"] = _log(sizes.instructions)
    columns |= {f"{a} over {b}": code[a] - code[b] for a, b in _RATIOS if a in code and b in code}
    standard = {}
    for name, values in columns.items():
        known = values[rows][training]
        if (spread := _spread(known)) > _SAME:
            standard[name] = (values[rows] - np.nanmean(known)) / spread
    return _labels(standard, len(rows))


def _fires(table: CompiledTable, rows: Int64, training: Int64) -> Labels:
    columns = {}
    for level, fires in table.fires.items():
        changed = np.where(fires.known[:, None], fires.changed, np.nan)[rows]
        known = changed[training][fires.known[rows][training]]
        for column, name in enumerate(fires.passes if len(known) else ()):
            if _RARE <= known[:, column].mean() <= 1 - _RARE:
                columns[f"{name} {level}"] = changed[:, column]
    return _labels(columns, len(rows))


def _lists(table: CompiledTable, rows: Int64, training: Int64) -> Labels:
    """Logarithm of the bytes under each list over those under -Oz, which is list 0."""
    code = _log(table.sizes.code_bytes)
    ratio = np.clip(code[:, 1:] - code[:, :1], -_CLIP, _CLIP)[rows]
    # By one number: a list that hardly matters must not weigh as much as one that does.
    spread = _spread(ratio[training].ravel())
    names = tuple(entry.pipeline for entry in table.lists[1:]) if spread > _SAME else ()
    return Labels(names, (ratio[:, : len(names)] / max(spread, _SAME)).astype(np.float32))


def _labels(columns: Mapping[str, Floating], count: int) -> Labels:
    return Labels(tuple(columns), np.array(list(columns.values()), dtype=np.float32).reshape(-1, count).T.copy())


def _log(sizes: Float64) -> Float64:
    """Logarithms of sizes, 1 at least; NaN stays."""
    return np.log(np.maximum(sizes, 1.0))


def _spread(values: Float64) -> float:
    known = values[np.isfinite(values)]
    return float(known.std()) if len(known) else 0.0


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
    """Answers about pieces, and what does not move, on the device: the text encoder stays as it is from here.

    ``heads`` are a linear map a kind of answer: to logits of ``fires``, to standardised numbers of others.
    """

    def __init__(self, answers: Answers, heads: nn.ModuleDict, model: MIREncoder, *, processes: Processes) -> None:
        assert model.taught is not None
        self.answers = answers
        self.trained: list[nn.Module] = [model.taught, heads]
        self._heads, self._trunk, self._model = heads, model.taught, model
        weighting = answers.weighting
        self._texts = FrozenTexts(model, answers.corpus, answers.modules, processes=processes, weighting=weighting)
        self._device = device = self._texts.means.device
        self._counts = torch.from_numpy(piece_counts(answers)).to(device)
        self._labels = {kind: torch.from_numpy(labels.values).to(device) for kind, labels in answers.labels.items()}

    def taught(self, rows: Tensor, graphs: IRData) -> Tensor:
        """Taught vectors of some pieces from their graphs. (B,) -> (B, width)."""
        graph = encode_graphs(self._model, graphs, self._texts).graph
        return self._trunk(self._texts.means[rows], graph, self._counts[rows])

    def loss(self, rows: Tensor, graphs: IRData, share: slice) -> Tensor:
        """Loss of a batch of pieces (B,); ``graphs`` are those of the share."""
        truth = {kind: values[rows] for kind, values in self._labels.items()}
        taught = self.taught(rows[share], graphs)
        return answers_loss({kind: head(taught) for kind, head in self._heads.items()}, truth, share=share)

    @torch.no_grad()
    def predict(self, pieces: Int64) -> dict[str, Float32]:
        """What the heads say of some pieces: (n, C) of each kind."""
        taught = []
        for part in (pieces[first : first + _SLICE] for first in range(0, len(pieces), _SLICE)):
            graphs = self.answers.graphs(part).data(self._device)
            taught.append(self.taught(torch.from_numpy(part).to(self._device), graphs))
        return {kind: head(torch.cat(taught)).cpu().numpy() for kind, head in self._heads.items()}


def piece_counts(answers: Answers) -> Float32:
    """Size of each piece as the trunk takes it: `mirenc.model.pooling.Pools.counts`. (n, COUNTS)."""
    modules = [answers.corpus[number] for number in answers.modules.tolist()]
    rows = [[*np.bincount(module.node_kind, minlength=COUNTS - 1), len(module.statement_row)] for module in modules]
    return np.array(rows, dtype=np.float32)


def evaluate_answers(teacher: Teacher) -> Figures:
    """Figures on the pieces held out, and on the training projects kept out to choose by; None without pieces.

    Beside the ``model``'s are those of ``counts``: linear regression on log counts of nodes and statements.
    """
    answers = teacher.answers
    figures: Figures = {"missing": answers.missing, "training": len(answers.training)}
    for name, rows in (("held_out", answers.held_out), ("choosing", answers.choosing)):
        figures[name] = None
        if len(rows):
            by = {"model": teacher.predict(rows), "counts": _from_counts(answers, rows)}
            by_predictor = {who: answers_figures(answers, rows, predictions) for who, predictions in by.items()}
            figures[name] = {"pieces": len(rows), "projects": len(answers.projects_of(rows)), **by_predictor}
    return finite(figures)


def answers_figures(answers: Answers, rows: Int64, predictions: dict[str, Floating]) -> Figures:
    """Figures of some pieces (n,), from what is predicted of each kind (n, C); of ``fires`` anything that ranks.

    ``sizes``: R2 of each column; ``fires``: mean AUC of the passes that change some of the pieces and leave others;
    ``lists``: R2 over all lists, each about its own mean.
    """
    figures: Figures = {}
    for kind, labels in answers.labels.items():
        truth, predicted = labels.values[rows].astype(np.float64), predictions[kind].astype(np.float64)
        if kind == "fires":
            figures[kind] = _mean_auc(truth, predicted)
        elif kind == "lists":
            figures[kind] = _r2(truth, predicted)
        else:
            figures[kind] = dict(zip(labels.names, map(_r2, truth.T, predicted.T), strict=True))
    return figures


def _r2(truth: Floating, predicted: Floating) -> float:
    """1 - squared errors over squared deviations from each column's mean; NaN where nothing deviates. Two (n, ...)."""
    known = np.isfinite(truth)
    mean = np.where(known, truth, 0).sum(0) / np.maximum(known.sum(0), 1)
    error, deviation = (np.square(np.where(known, truth - other, 0)).sum() for other in (predicted, mean))
    return float(1 - error / deviation) if deviation > 0 else float("nan")


def _mean_auc(truth: Floating, predicted: Floating) -> float:
    aucs = []
    for labels, scores in zip(truth.T, predicted.T, strict=True):
        known = np.isfinite(labels)
        if 0 < labels[known].sum() < known.sum():
            aucs.append(roc_auc_score(labels[known], scores[known]))
    return float(np.mean(aucs)) if aucs else float("nan")


def _from_counts(answers: Answers, rows: Int64) -> dict[str, Floating]:
    """Linear regression of every column on log(1 + counts), fitted on the pieces for training."""
    counts, training = np.log1p(piece_counts(answers).astype(np.float64)), answers.training
    predictions: dict[str, Floating] = {}
    for kind, labels in answers.labels.items():
        columns = []
        for column in labels.values.T.astype(np.float64):
            known = training[np.isfinite(column[training])]
            columns.append(LinearRegression().fit(counts[known], column[known]).predict(counts[rows]))
        predictions[kind] = np.stack(columns, axis=1)
    return predictions
