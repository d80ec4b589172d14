"""A pre-training run, and what a model's whitening maps are fitted on after it."""

import math
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from mirenc.base.config import Config
from mirenc.model.config import GraphConfig, LexicalConfig, PairedConfig, TextConfig


class StageConfig(Config):
    """One objective's share of a pre-training run."""

    steps: int = Field(ge=0)
    """Optimiser steps; 0 leaves the stage out."""
    batch: int = Field(ge=1)
    """Statements (mlm) or modules (gae, igm) a step."""
    learning_rate: float = Field(gt=0)
    """Peak, reached after ``warmup`` steps; then cosine decay to a tenth."""
    warmup: int = Field(100, ge=0)

    def rate(self, step: int) -> float:
        """Learning rate of a step."""
        if step < self.warmup:
            return self.learning_rate * ((step + 1) / self.warmup)
        progress = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.learning_rate * (0.1 + 0.45 * (1 + math.cos(math.pi * min(progress, 1.0))))


class ContrastWeights(Config):
    """Weight of each loss of the stage ``contrast``: of functions by block, of modules, and of what is kept beside."""

    text: float = Field(0.5, ge=0)
    graph: float = Field(0.5, ge=0)
    both: float = Field(1.0, ge=0)
    module: float = Field(0.2, ge=0)
    matching: float = Field(0.1, ge=0)
    tokens: float = Field(0.1, ge=0)
    edges: float = Field(0.01, ge=0)
    taught: float = Field(1.0, ge=0)


class ContrastConfig(StageConfig):
    """The stage ``contrast``: functions found in other forms, of a model for search (`mirenc.pretrain.contrast`)."""

    steps: int = Field(0, ge=0)
    batch: int = Field(8, ge=1)
    """Programs of each project a step, in two forms each."""
    learning_rate: float = Field(1e-3, gt=0)
    functions: str = ""
    """Folder that ``mirenc corpus functions`` wrote, with the tokenizer of the run's corpus. Projects that the run
    holds out are not learned from; recall at 1 is measured on them."""
    projects: int = Field(12, ge=1)
    """Projects a step."""
    validated: tuple[str, ...] = ()
    """Further projects to measure on instead of learning from them, to choose by: an ancestor may have seen these."""
    unnamed: float = Field(0.5, ge=0, le=1)
    """Share of the programs without names of functions, globals and types."""
    weights: ContrastWeights = ContrastWeights()
    blocks: PairedConfig = PairedConfig()
    """Lengths of the blocks of a search vector."""

    @model_validator(mode="after")
    def _check_functions(self) -> Self:
        if self.steps and not self.functions:
            raise ValueError("contrast.steps needs functions = FOLDER, made by `mirenc corpus functions`")
        return self


class PretrainConfig(Config):
    """One pre-training run: MLM -> GAE -> IR-graph matching (paper section 3).

    A stage of 0 steps is left out: ``gae.steps = igm.steps = 0`` is the paper's text-only model,
    ``mlm.steps = igm.steps = 0`` its graph-only one.

    After these, ``contrast`` trains a model for search. A recipe with a stage of its own is ``pretrain/teaching.py``.
    """

    STAGES: ClassVar[tuple[str, ...]] = ("mlm", "gae", "igm", "contrast")
    """Names of the stages, in order."""
    preset: Literal["tiny", "small", "base", "fast", "start"] = "tiny"
    """Architecture; ``text`` and ``graph`` are other encoders than its. ``start`` is that of the model in
    ``start_from``, whose table of words is kept, too."""
    text: TextConfig | None = None
    graph: GraphConfig | None = None
    lexical: LexicalConfig | None = None
    """The lexical view of search vectors; no preset has one."""
    start_from: str | None = None
    """Name or folder of a model of that architecture whose weights the run goes on from; the corpus must have been
    built with its tokenizer. Of a model that has only the text encoder in common, that is taken. None: random weights.
    """
    seed: int = Field(0, ge=0, lt=2**63)
    held_out_share: float = Field(0.1, gt=0, lt=0.5)
    """Share of the modules, in whole projects, that training never sees; of projects that no ancestor saw."""
    held_out: tuple[str, ...] = ()
    """These projects instead of drawn ones. One that the model in ``start_from``, or one before it, saw is refused."""
    mask_share: float = Field(0.15, gt=0, lt=1)
    """Share of the tokens MLM predicts."""
    frequency_temper: float = Field(0.5, ge=0, le=1)
    """A distinct statement is drawn with weight count ** temper."""
    max_nodes: int = Field(4000, ge=16)
    """Modules with larger graphs are left out of GAE and matching."""
    matching_modules: int | None = Field(None, ge=2)
    """Matching draws from this many, so that the text encoder has fewer statements to encode; None: from all."""
    hard_negatives: float = Field(0.0, ge=0, le=1)
    """Share of the matching steps whose modules are of nearly equal size."""
    optimiser: Literal["adamw", "muon"] = "muon"
    """``muon`` takes Muon for the matrices of the text encoder's layers and AdamW for everything else."""
    weight_decay: float = Field(0.01, ge=0)
    clip_norm: float = Field(1.0, gt=0)
    """Gradients are scaled down to this norm."""
    checkpoint_every: int = Field(500, ge=1)
    """Steps between checkpoints."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """``auto`` takes a GPU where there is one."""
    threads: int = Field(1, ge=1, le=1024)
    """Of a process, on a CPU."""
    workers: int = Field(0, ge=0, le=1024)
    """Processes that prepare the batches of the next steps, with the same numbers."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Of the text encoder's matrix products; weights stay float32."""
    mlm: StageConfig = StageConfig(steps=20000, batch=256, learning_rate=1e-3, warmup=500)
    gae: StageConfig = StageConfig(steps=3000, batch=8, learning_rate=1e-3)
    igm: StageConfig = StageConfig(steps=3000, batch=16, learning_rate=5e-4)
    contrast: ContrastConfig = ContrastConfig()

    @model_validator(mode="after")
    def _check_stages(self) -> Self:
        if self.igm.batch < 2:
            raise ValueError("igm.batch must be at least 2: a negative is another module's graph")
        if not self.stages:
            raise ValueError(f"nothing to train: the steps of {', '.join(self.STAGES)} are all 0")
        if self.preset == "start" and self.start_from is None:
            raise ValueError("preset 'start' is the architecture of another model: give start_from = NAME or folder")
        return self

    @property
    def stages(self) -> dict[str, StageConfig]:
        """The stages of the run by name, in order."""
        return {name: getattr(self, name) for name in self.STAGES if getattr(self, name).steps}


class DomainConfig(Config):
    """A kind of code beside the corpus's own."""

    folder: str
    """Of IR, or of a corpus with the tokenizer of the run's. Projects that the run holds out are left out; a folder of
    IR tells them by its folders' names (`mirenc.encoder.weights.ir_projects`)."""
    level: Literal["module", "function"] = "module"
    """What counts as one piece of a folder of IR; a corpus has modules."""
    pairs: bool = True
    """Whether pieces that differ in an optimisation level alone are one program: by paths, or a corpus's records."""
    weight: float = Field(1.0, gt=0)


class MapsConfig(Config):
    """Domains that the maps are fitted on; the values are `mirenc.model.whitening.mixed_whitening`'s."""

    corpus: float = Field(1.0, ge=0)
    """Weight of the run's own training modules; 0 leaves them out."""
    shrinkage: float = Field(0.01, gt=0)
    between: float = Field(0.0, ge=0)
    domains: tuple[DomainConfig, ...] = ()

    @model_validator(mode="after")
    def _check_domains(self) -> Self:
        if not self.corpus and not self.domains:
            raise ValueError("nothing to fit maps on: corpus is 0 and there are no domains")
        return self
