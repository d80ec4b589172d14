"""A pre-training run, and what a model's whitening maps are fitted on after it."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import Field, model_validator

from mirenc.config import Config
from mirenc.model.config import GraphConfig, LexicalConfig, TaughtConfig, TextConfig


class StageConfig(Config):
    """One objective's share of a pre-training run.

    Attributes
    ----------
    steps : int
        Optimiser steps; 0 leaves the stage out.
    batch : int
        Statements (mlm), modules (gae, igm) or pieces (compiler) a step.
    learning_rate, warmup : float, int
        Peak, reached after ``warmup`` steps; then cosine decay to a tenth.
    """

    steps: int = Field(ge=0)
    batch: int = Field(ge=1)
    learning_rate: float = Field(gt=0)
    warmup: int = Field(100, ge=0)

    def rate(self, step: int) -> float:
        """Learning rate of a step."""
        if step < self.warmup:
            return self.learning_rate * ((step + 1) / self.warmup)
        done = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.learning_rate * (0.1 + 0.45 * (1 + math.cos(math.pi * min(done, 1.0))))


class AnswersConfig(Config):
    """What a compiler answered, for the stage ``compiler``: `mirenc.pretraining.answers`.

    Attributes
    ----------
    corpus : str
        Folder of a corpus of the table's pieces, built with the tokenizer of the run's corpus from what
        ``pretrain/pieces.py`` writes.
    table : str
        Folder that ``mirenc measure passes`` wrote.
    kinds : tuple of str
        What is learned: ``sizes`` (bytes and instructions after each level), ``fires`` (which passes change the code),
        ``lists`` (bytes under each pass list beside -Oz).
    """

    corpus: str
    table: str
    kinds: tuple[Literal["sizes", "fires", "lists"], ...] = Field(("sizes", "fires", "lists"), min_length=1)


class PretrainConfig(Config):
    """One pre-training run (paper section 3).

    ``schedule = "sequential"`` is the paper's MLM -> GAE -> IR-graph matching. ``"joint"`` takes all three losses at
    each of ``mlm.steps`` steps, on ``mlm.batch`` statements and ``igm.batch`` modules, at ``mlm``'s learning rate. A
    sequential stage of 0 steps is left out: ``gae.steps = igm.steps = 0`` is the paper's text-only model,
    ``mlm.steps = igm.steps = 0`` its graph-only one.

    ``compiler`` comes last, with either schedule: matching steps, of ``igm.batch`` modules each, that also learn a
    compiler's answers about ``compiler.batch`` pieces. The text encoder stays as it is.

    Attributes
    ----------
    preset, text, graph : str, optional tables
        Architecture, and other encoders than its.
    taught, lexical : optional tables
        The trunk that a compiler's answers are read from, and the lexical view of search vectors; no preset has one.
    answers : optional table
        What ``compiler.steps`` needs.
    start_from : str or None
        Name or folder of a model of that architecture whose weights the run goes on from; the corpus must have
        been built with its tokenizer. Of a model that has only the text encoder in common, that is taken. None: random
        weights.
    held_out_share : float
        Share of the modules, in whole projects, that training never sees; drawn among projects that no ancestor saw.
    held_out : tuple of str
        These projects instead of drawn ones. One that the model in ``start_from``, or one before it, saw is refused.
    mask_share : float
        Share of the tokens MLM predicts.
    frequency_temper : float
        A distinct statement is drawn with weight count ** temper.
    max_nodes : int
        Modules with larger graphs are left out of GAE and matching.
    matching_modules : int or None
        Matching draws from this many modules, so that the text encoder has fewer statements to encode; None: from all.
    matching_statements : int
        Statements of a module drawn for its text vector in ``joint``, where the text encoder moves.
    hard_negatives : float
        Share of the matching steps whose modules are of nearly equal size.
    optimiser : str
        ``muon`` takes Muon for the matrices of the text encoder's layers and AdamW for everything else.
    clip_norm : float
        Gradients are scaled down to this norm.
    checkpoint_every : int
        Steps between checkpoints.
    device : str
        ``auto`` takes a GPU where there is one.
    threads, workers : int
        Of a process, on a CPU; and processes that prepare the batches of the next steps, with the same numbers.
    precision : str
        Of the text encoder's matrix products; weights stay float32.
    """

    preset: Literal["tiny", "small", "base", "fast"] = "tiny"
    text: TextConfig | None = None
    graph: GraphConfig | None = None
    taught: TaughtConfig | None = None
    lexical: LexicalConfig | None = None
    answers: AnswersConfig | None = None
    start_from: str | None = None
    schedule: Literal["sequential", "joint"] = "sequential"
    seed: int = Field(0, ge=0, lt=2**63)
    held_out_share: float = Field(0.1, gt=0, lt=0.5)
    held_out: tuple[str, ...] = ()
    mask_share: float = Field(0.15, gt=0, lt=1)
    frequency_temper: float = Field(0.5, ge=0, le=1)
    max_nodes: int = Field(4000, ge=16)
    matching_modules: int | None = Field(None, ge=2)
    matching_statements: int = Field(64, ge=1)
    hard_negatives: float = Field(0.0, ge=0, le=1)
    optimiser: Literal["adamw", "muon"] = "muon"
    weight_decay: float = Field(0.01, ge=0)
    clip_norm: float = Field(1.0, gt=0)
    checkpoint_every: int = Field(500, ge=1)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int = Field(1, ge=1, le=1024)
    workers: int = Field(0, ge=0, le=1024)
    precision: Literal["float32", "bfloat16"] = "float32"
    mlm: StageConfig = StageConfig(steps=20000, batch=256, learning_rate=1e-3, warmup=500)
    gae: StageConfig = StageConfig(steps=3000, batch=8, learning_rate=1e-3)
    igm: StageConfig = StageConfig(steps=3000, batch=16, learning_rate=5e-4)
    compiler: StageConfig = StageConfig(steps=0, batch=64, learning_rate=1e-3)

    @model_validator(mode="after")
    def _runs(self) -> Self:
        if self.igm.batch < 2:
            raise ValueError("igm.batch must be at least 2: a negative is another module's graph")
        if not any(stage.steps for stage in (self.mlm, self.gae, self.igm, self.compiler)):
            raise ValueError("nothing to train: mlm.steps, gae.steps, igm.steps and compiler.steps are all 0")
        if self.compiler.steps and self.answers is None:
            raise ValueError("compiler.steps wants a compiler's answers: give [answers] corpus = ... and table = ...")
        if self.taught is not None and not self.compiler.steps:
            raise ValueError("nothing trains the trunk of [taught]: give [compiler] steps = ..., or leave [taught] out")
        if self.schedule == "joint" and not self.mlm.steps:
            raise ValueError("a joint run takes mlm.steps steps, and they are 0")
        return self

    @property
    def stages(self) -> dict[str, StageConfig]:
        """The stages of the run by name, in order."""
        parts = (
            {"mlm": self.mlm, "gae": self.gae, "igm": self.igm}
            if self.schedule == "sequential"
            else {"joint": self.mlm}
        )
        return {name: stage for name, stage in (parts | {"compiler": self.compiler}).items() if stage.steps}


class DomainConfig(Config):
    """A kind of code beside the corpus's own.

    Attributes
    ----------
    folder : str
        Of IR, or of a corpus with the tokenizer of the run's. Projects that the run holds out are left out; a folder of
        IR tells them by its folders' names (`mirenc.weights.ir_projects`).
    level : str
        What counts as one piece of a folder of IR: a ``module`` or a ``function``. A corpus has modules.
    pairs : bool
        Whether pieces that differ in an optimisation level alone are one program: by paths, or a corpus's records.
    weight : float
    """

    folder: str
    level: Literal["module", "function"] = "module"
    pairs: bool = True
    weight: float = Field(1.0, gt=0)


class MapsConfig(Config):
    """Domains that the maps are fitted on; the values are `mirenc.model.whitening.mixed_whitening`'s.

    Attributes
    ----------
    corpus : float
        Weight of the run's own training modules; 0 leaves them out.
    shrinkage, between : float
    domains : tuple of DomainConfig
    """

    corpus: float = Field(1.0, ge=0)
    shrinkage: float = Field(0.01, gt=0)
    between: float = Field(0.0, ge=0)
    domains: tuple[DomainConfig, ...] = ()

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.corpus and not self.domains:
            raise ValueError("nothing to fit maps on: corpus is 0 and there are no domains")
        return self
