"""Pre-training with one more stage, "compiler": what LLVM answered about a piece, read from its taught vector.

    python pretrain/pieces.py TABLE PIECES
    mirenc corpus build PIECES -o ANSWERS --tokenizer corpus/tokenizer.json
    python pretrain/teaching.py RECIPE.toml -c corpus -o run --name my-model

It takes what ``mirenc pretrain`` takes, and RECIPE three more tables: ``[taught]``, ``[answers]`` and ``[compiler]``
(`TeachingConfig`; ``fast.toml`` is one). So `mirenc-fast` was made. It needs the ``train`` extra.

A table of ``mirenc label`` has the answers, and a corpus of its pieces their texts and graphs: a piece is the module
whose file is named after its ``ir_hash``. Answers are exact and free, and none about a project that is held out, by
the table or by the run, is ever learned. The heads are thrown away after training; the trunk
(`mirenc.model.heads.taught_vectors`) and what it moved in the graph encoder stay.

    L = mean over kinds of the mean over columns of the mean over pieces with an answer of
        huber(y - t) [sizes, lists] or -t log sigmoid(y) - (1 - t) log(1 - sigmoid(y)) [fires]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field, model_validator
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from mirenc.base.arrays import Float32, Float64, Floating, Int64
from mirenc.base.config import Config
from mirenc.base.errors import ConfigError
from mirenc.cli.pretrain import run
from mirenc.decide.tables.compiled import CompiledTable, read_compiled
from mirenc.encoder.weights import seen_by
from mirenc.encoder.weights.provenance import Kind
from mirenc.model.config import TaughtConfig
from mirenc.model.data import IRData
from mirenc.model.kinds import COUNTS
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.tokenizer import IRTokenizer
from mirenc.pretrain.batches import Batch, Sampler
from mirenc.pretrain.config import PretrainConfig, StageConfig
from mirenc.pretrain.contrast import ContrastLosses
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.encoding import FrozenTexts, check_order, encode_graphs
from mirenc.pretrain.evaluation.figures import Figures, Row, finite
from mirenc.pretrain.graphs import Graphs, join_graphs
from mirenc.pretrain.parallel import Processes
from mirenc.pretrain.stages import Losses
from mirenc.pretrain.trainer import Trainer

_SLICE = 64  # pieces that are encoded at once where nothing is learned
_CHOOSING = 0.1  # share of the training projects that are not learned from but chosen by
_RARE = 0.01  # a pass that changes nearly everything, or hardly anything, is no question
_CLIP = 0.5  # log ratio beyond which a list did something other than optimise
_SAME = 1e-9  # standard deviation of numbers that differ by rounding alone
# Sizes that are compared: numerator and denominator, ``before`` for the piece before any pass.
_RATIOS = (("Oz", "O0"), ("O3", "Oz"), ("Oz", "before"))


class AnswersConfig(Config):
    """What a compiler answered."""

    corpus: str
    """Folder of a corpus of the table's pieces (``pretrain/pieces.py``), with the tokenizer of the run's corpus."""
    table: str
    """Folder that ``mirenc label`` wrote."""
    kinds: tuple[Literal["sizes", "fires", "lists"], ...] = Field(("sizes", "fires", "lists"), min_length=1)
    """What is learned: ``sizes`` (bytes and instructions after each level), ``fires`` (which passes change the code),
    ``lists`` (bytes under each pass list beside -Oz)."""


class TeachingConfig(PretrainConfig):
    """A run with the stage ``compiler`` after matching.

    Its steps are matching steps, of ``igm.batch`` modules each, that also learn a compiler's answers about
    ``compiler.batch`` pieces. The text encoder stays as it is.
    """

    STAGES: ClassVar[tuple[str, ...]] = ("mlm", "gae", "igm", "compiler", "contrast")
    taught: TaughtConfig | None = None
    """The trunk that a compiler's answers are read from; no preset has one."""
    answers: AnswersConfig | None = None
    """What ``compiler.steps`` needs."""
    compiler: StageConfig = StageConfig(steps=0, batch=64, learning_rate=1e-3)

    @model_validator(mode="after")
    def _teaches(self) -> Self:
        if self.compiler.steps and self.answers is None:
            raise ValueError("compiler.steps needs a compiler's answers: give [answers] corpus = ... and table = ...")
        if self.taught is not None and not self.compiler.steps:
            raise ValueError("stage compiler, which trains [taught], has 0 steps: give steps, or leave [taught] out")
        return self


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
    config: TeachingConfig, tokenizer: IRTokenizer, *, held_out: Iterable[str], weighting: str = "sqrt"
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
    held_out_set = set(held_out) | {piece.project for piece in table.pieces if piece.held_out}
    train_set = sorted(set(projects) - held_out_set)
    if len(train_set) < 2:
        raise ConfigError(
            f"answers: {len(pieces)} of the table's {len(table.pieces)} pieces are in {settings.corpus}. They are of "
            f"{len(train_set)} training project(s); two projects are needed, one to train on, one to compare runs on. "
            f"Make the corpus with: python pretrain/pieces.py {settings.table} PIECES, then mirenc corpus build PIECES"
        )
    order = np.random.default_rng([config.seed, 12]).permutation(len(train_set))
    choosing_set = {train_set[number] for number in order[: max(1, round(_CHOOSING * len(train_set)))].tolist()}
    is_held_out, is_choosing = (
        np.array([project in chosen for project in projects], dtype=bool) for chosen in (held_out_set, choosing_set)
    )
    training = np.flatnonzero(~is_held_out & ~is_choosing & (nodes[modules] <= config.max_nodes))
    make = {"sizes": _sizes, "fires": _fires, "lists": _lists}
    labels: dict[str, Labels] = {kind: make[kind](table, rows, training) for kind in dict.fromkeys(settings.kinds)}
    for kind, answers in labels.items():
        if not answers.names:
            raise ConfigError(
                f"answers.kinds: for {kind!r}, the {len(training)} pieces for training have the same values, or "
                f"none. Leave {kind!r} out of kinds, or label anew where opt is on PATH"
            )
    rows_of_splits = (training, np.flatnonzero(is_choosing), np.flatnonzero(is_held_out))
    missing = len(table.pieces) - len(pieces)
    return Answers(corpus, modules, projects, *rows_of_splits, labels, missing, table.content_hash, weighting)


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
        training_values = values[rows][training]
        if (spread := _spread(training_values)) > _SAME:
            standard[name] = (values[rows] - np.nanmean(training_values)) / spread
    return _labels(standard, len(rows))


def _fires(table: CompiledTable, rows: Int64, training: Int64) -> Labels:
    columns = {}
    for level, fires in table.fires.items():
        changed = np.where(fires.known[:, None], fires.changed, np.nan)[rows]
        training_changes = changed[training][fires.known[rows][training]]
        for column, name in enumerate(fires.passes if len(training_changes) else ()):
            if _RARE <= training_changes[:, column].mean() <= 1 - _RARE:
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
    finite_values = values[np.isfinite(values)]
    return float(finite_values.std()) if len(finite_values) else 0.0


def answers_loss(
    predictions: Mapping[str, Tensor], truth: Mapping[str, Tensor], *, share: slice = slice(None)
) -> Tensor:
    """Loss of a batch of pieces; with a ``share`` of the pieces, its part of the sum.

    Shapes: ``predictions`` (B', C) of the share, ``truth`` (B, C) of all, NaN where an answer is not known -> ()
    """
    parts = []
    for kind, prediction in predictions.items():
        is_known = ~truth[kind].isnan()  # (B, C)
        target = truth[kind].nan_to_num()[share]
        if kind == "fires":
            losses = F.binary_cross_entropy_with_logits(prediction, target, reduction="none")
        else:
            losses = F.huber_loss(prediction, target, reduction="none")
        count = is_known.sum(0)  # of the whole batch
        columns = (losses * is_known[share]).sum(0) / count.clamp(min=1)  # (C,)
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
        for block in (pieces[first : first + _SLICE] for first in range(0, len(pieces), _SLICE)):
            graphs = self.answers.graphs(block).data(self._device)
            taught.append(self.taught(torch.from_numpy(block).to(self._device), graphs))
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
            outputs = {"model": teacher.predict(rows), "counts": _from_counts(answers, rows)}
            scores = {who: answers_figures(answers, rows, predictions) for who, predictions in outputs.items()}
            figures[name] = {"pieces": len(rows), "projects": len(answers.projects_of(rows)), **scores}
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
    is_known = np.isfinite(truth)
    mean = np.where(is_known, truth, 0).sum(0) / np.maximum(is_known.sum(0), 1)
    error, deviation = (np.square(np.where(is_known, truth - estimate, 0)).sum() for estimate in (predicted, mean))
    return float(1 - error / deviation) if deviation > 0 else float("nan")


def _mean_auc(truth: Floating, predicted: Floating) -> float:
    aucs = []
    for labels, scores in zip(truth.T, predicted.T, strict=True):
        is_known = np.isfinite(labels)
        if 0 < labels[is_known].sum() < is_known.sum():
            aucs.append(roc_auc_score(labels[is_known], scores[is_known]))
    return float(np.mean(aucs)) if aucs else float("nan")


def _from_counts(answers: Answers, rows: Int64) -> dict[str, Floating]:
    """Linear regression of every column on log(1 + counts), fitted on the pieces for training."""
    counts, training = np.log1p(piece_counts(answers).astype(np.float64)), answers.training
    predictions: dict[str, Floating] = {}
    for kind, labels in answers.labels.items():
        columns = []
        for column in labels.values.T.astype(np.float64):
            fit_rows = training[np.isfinite(column[training])]
            columns.append(LinearRegression().fit(counts[fit_rows], column[fit_rows]).predict(counts[rows]))
        predictions[kind] = np.stack(columns, axis=1)
    return predictions


def answers_rows(figures: Figures) -> list[Row]:
    """What the model card shows of `evaluate_answers`."""
    titles = {"fires": "Passes that change the code, mean ROC AUC", "lists": "Sizes under pass lists, R2"}
    rows = []
    for key, title in (("held_out", "held out"), ("choosing", "of training projects that were kept out")):
        if (split := figures.get(key)) is None:
            continue
        model, counts, pieces = split["model"], split["counts"], f"{split['pieces']:,} pieces {title}"
        if "sizes" in model:
            r2s = ([r2 for r2 in side["sizes"].values() if r2 is not None] for side in (model, counts))
            learned, baseline = (_number(float(np.mean(values))) for values in r2s)
            name = f"Compiler's sizes, mean R2 of {len(model['sizes'])} ({pieces})"
            rows.append((name, learned, f"counts alone {baseline}"))
        for kind, name in titles.items():
            if kind in model:
                rows.append((f"{name} ({pieces})", _number(model[kind]), f"counts alone {_number(counts[kind])}"))
    return rows


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


class TeachingSampler(Sampler):
    """Batches that have pieces beside modules in the stage ``compiler``: rows of the answers, and their graphs."""

    answers: Answers

    def batch(self, stage: str, step: int) -> Batch:
        batch = super().batch(stage, step)
        if stage != "compiler":
            return batch
        answers, config = self.answers, self.config
        assert isinstance(config, TeachingConfig)
        size = min(config.compiler.batch, len(answers.training))
        pieces = self.rng(204, step).choice(answers.training, size, replace=False)
        graphs = answers.graphs(pieces[self.processes.share(size)])
        items = batch.items + int(answers.corpus.node_count[answers.modules[pieces]].sum())
        return batch._replace(items=items, beside=(pieces, graphs))


class TeachingLosses(Losses):
    """Matching, reconstruction, and the answers."""

    def __init__(self, model: MIREncoder, sampler: Sampler, teacher: Teacher) -> None:
        super().__init__("compiler", model, sampler)
        self.trained = [*self.trained, *teacher.trained]
        self._teacher = teacher

    def __call__(self, batch: Batch) -> Tensor:
        pieces, graphs = batch.beside
        rows = torch.from_numpy(pieces).to(self._device)
        share = self._processes.share(len(rows))
        return super().__call__(batch) + self._teacher.loss(rows, graphs.data(self._device), share)


class TeachingTrainer(Trainer):
    """A run with the stage ``compiler``. Raises ConfigError: no trunk, or the table holds out what an ancestor saw."""

    config: TeachingConfig
    answers: Answers | None = None
    heads: nn.ModuleDict | None = None

    def make_sampler(self, sampler: type[Sampler] = Sampler) -> Sampler:
        if "compiler" not in self.stages:
            return super().make_sampler()
        self.answers, self.heads = self._read_answers()
        self.kept_out |= self.answers.projects_of(self.answers.held_out)
        teaching_sampler = super().make_sampler(TeachingSampler)
        assert isinstance(teaching_sampler, TeachingSampler)
        teaching_sampler.answers = self.answers
        return teaching_sampler

    def _read_answers(self) -> tuple[Answers, nn.ModuleDict]:
        config, corpus = self.config, self.corpus
        if self.model_config.taught is None:
            raise ConfigError(
                "compiler.steps needs layers that learn a compiler's answers: add [taught] to the settings"
            )
        held_out, weighting = corpus.projects_of(self.held_out), self.model_config.pooling.weighting
        answers = read_answers(config, corpus.tokenizer, held_out=held_out, weighting=weighting)
        check_order(self.model_config, answers.corpus)
        learned = dict.fromkeys(corpus.projects_of(self.train_modules), "this run") | seen_by(self.ancestry)
        for project in sorted(answers.projects_of(answers.held_out) & learned.keys()):
            problem = f"answers: the table holds out {project}, which is in the training of {learned[project]}"
            advice = f"Hold out {project} here, too (held_out = [...]), or start from a model that did not see it"
            raise ConfigError(f"{problem}, so it cannot be held out. {advice}")
        width = self.model_config.taught.width
        heads = {kind: nn.Linear(width, len(labels.names)) for kind, labels in answers.labels.items()}
        return answers, nn.ModuleDict(heads).to(self.device)

    def teacher(self) -> Teacher:
        """The answers and their heads, with what the text encoder, as it is now, says of their pieces."""
        assert self.answers is not None
        assert self.heads is not None
        return Teacher(self.answers, self.heads, self.model, processes=self.processes)

    def make_losses(self, stage: str) -> Losses | ContrastLosses:
        if stage != "compiler":
            return super().make_losses(stage)
        return TeachingLosses(self.model, self.sampler, self.teacher())

    def learned_from(self) -> dict[Kind, set[str]]:
        learned = super().learned_from()
        return (
            learned if self.answers is None else learned | {"answers": self.answers.projects_of(self.answers.training)}
        )

    def figures(self) -> Figures:
        extra = {} if self.answers is None else {"answers": evaluate_answers(self.teacher())}
        return super().figures() | extra

    def rows(self, figures: Figures) -> list[Row]:
        return super().rows(figures) + answers_rows(figures.get("answers") or {})

    def stage_words(self) -> str:
        config, answers, words = self.config, self.answers, super().stage_words()
        if answers is None:
            return words
        return (
            f"; then {config.compiler.steps} steps of {config.igm.batch} pairs and of a compiler's answers "
            f"({', '.join(answers.labels)}) about {config.compiler.batch}\nof {len(answers.training):,} pieces of "
            f"{len(answers.projects_of(answers.training))} projects{words}"
        )

    def identity(self) -> dict[str, Any]:
        return super().identity() | {"answers": self.answers.identity if self.answers is not None else None}

    def more_state(self) -> dict[str, Any]:
        return {"heads": self.heads.state_dict() if self.heads is not None else None}

    def load_state(self, payload: dict[str, Any]) -> None:
        super().load_state(payload)
        if self.heads is not None:
            self.heads.load_state_dict(payload["heads"])


def main() -> None:
    """Train, evaluate and package, as ``mirenc pretrain`` does."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("config", type=Path)
    options.add_argument("-c", "--corpus", type=Path, required=True)
    options.add_argument("-o", "--output", type=Path, required=True)
    options.add_argument("--name", default="my-model")
    options.add_argument("--resume", action="store_true")
    options.add_argument("--ir", type=Path)
    options.add_argument("--maps", type=Path)
    run(TeachingConfig, TeachingTrainer, **vars(options.parse_args()))


if __name__ == "__main__":
    main()
