"""The training loop: one stage after another, with warm-up, clipping, checkpoints and exact resumption.

MLM, then GAE, then matching, or all at once; then a compiler's answers (`mirenc.pretraining.stages`). A step's
randomness comes from a generator seeded with (seed, stage, step), so a resumed run draws what the interrupted one would
have drawn: nothing but weights, optimiser state and the step number needs saving. Started by ``torchrun``, every
process takes a share of each batch (`mirenc.pretraining.parallel`).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils.tensorboard import SummaryWriter

from mirenc.errors import ConfigError, ModelError
from mirenc.model.config import ModelConfig, preset
from mirenc.model.mirencoder import MIREncoder
from mirenc.pretraining import checkpoint, encoding
from mirenc.pretraining.answers import Answers, read_answers
from mirenc.pretraining.batches import Batch, Batches
from mirenc.pretraining.compiler import Heads, Teacher
from mirenc.pretraining.config import PretrainConfig, StageConfig
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.optimiser import Optimiser
from mirenc.pretraining.parallel import Processes
from mirenc.pretraining.sampling import Sampler
from mirenc.pretraining.stages import Losses, stages_of
from mirenc.pretraining.start import start_from
from mirenc.weights import Source, seen_by
from mirenc.writing import only_one

__all__ = ["StepReport", "Trainer", "stages_of"]

_LOG_EVERY = 20


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step that is done.

    Attributes
    ----------
    stage : str
    step, steps : int
        Steps done and steps of the stage.
    loss : float
    items : int
        Tokens (mlm, joint) or nodes (gae, igm, compiler) of the batch, padding left out.
    seconds : float
    """

    stage: str
    step: int
    steps: int
    loss: float
    items: int
    seconds: float

    @property
    def unit(self) -> str:
        """What the items are."""
        return "tokens" if self.stage in ("mlm", "joint") else "nodes"


@dataclass(slots=True)
class _Progress:
    """Where a run stands."""

    stage: int = 0
    step: int = 0
    seconds: float = 0.0


class Trainer:
    """One pre-training run in one folder.

    Parameters
    ----------
    config : PretrainConfig
    corpus : Corpus
    folder : path-like
        Takes ``checkpoint.pt``, ``config.json``, ``metrics.jsonl`` and TensorBoard's files.
    model_config : ModelConfig, optional
        Another architecture than the run's; its tokenizer must be the corpus's.
    report : callable, optional
        Called after every step.

    Raises
    ------
    ConfigError
        The corpus has fewer than two projects, none that the model to start from did not see, or too few graphs; what
        is to be held out was seen; no GPU is there where one is asked for; or the model to start from does not belong
        to the corpus or the preset.
    """

    def __init__(
        self,
        config: PretrainConfig,
        corpus: Corpus,
        folder: str | os.PathLike[str],
        *,
        model_config: ModelConfig | None = None,
        report: Callable[[StepReport], None] | None = None,
    ) -> None:
        self.config = config
        self.corpus = corpus
        self.folder = Path(folder)
        self.report = report
        torch.set_num_threads(config.threads)
        self.device = _device(config.device)
        self.processes = Processes(self.device)
        # The vocabulary is the corpus's: a small corpus may not fill the preset's.
        tokenizer = corpus.tokenizer.config.model_copy(update={"vocab_size": corpus.tokenizer.vocab_size})
        chosen = model_config or preset(config.preset)
        text = config.text if model_config is None and config.text is not None else chosen.text
        graph = config.graph if model_config is None and config.graph is not None else chosen.graph
        taught = config.taught if model_config is None and config.taught is not None else chosen.taught
        lexical = config.lexical if model_config is None and config.lexical is not None else chosen.lexical
        parts = {"text": text, "graph": graph, "taught": taught, "lexical": lexical}
        # Through its values, so that what does not go together is refused; a corpus's vocabulary may be of any size.
        checked = ModelConfig.from_dict(chosen.model_copy(update=parts).model_dump())
        self.model_config = checked.model_copy(update={"tokenizer": tokenizer})
        encoding.check_order(self.model_config, corpus)
        torch.manual_seed(config.seed)
        self.model = MIREncoder(self.model_config)
        self.started_from: dict[str, str] | None = None
        self.ancestry: tuple[Source, ...] = ()
        if config.start_from is not None:
            self.started_from, self.ancestry = start_from(self.model, corpus.tokenizer, config.start_from)
        self.model.to(self.device)
        seen = seen_by(self.ancestry)
        self.train_modules, self.held_out = corpus.split(
            config.held_out_share, config.seed, seen=seen, named=config.held_out
        )
        digest = self.started_from["digest"] if self.started_from is not None else ""
        self.sampler = Sampler(corpus, self.train_modules, config, digest)
        self.stages = stages_of(config)
        self.sampler.check(self.stages)
        self.answers, self.heads = self._read_answers()
        self.progress = _Progress()

    @property
    def steps_done(self) -> int:
        """Steps of all stages that are done."""
        before = list(self.stages.values())[: self.progress.stage]
        return sum(stage.steps for stage in before) + self.progress.step

    def _read_answers(self) -> tuple[Answers | None, Heads | None]:
        """What the stage ``compiler`` learns, and the heads it does it with."""
        config = self.config
        if "compiler" not in self.stages:
            return None, None
        if self.model_config.taught is None:
            raise ConfigError("compiler.steps wants a trunk that a compiler's answers are read from: add [taught]")
        assert config.answers is not None
        projects = {self.corpus.projects[module] for module in self.held_out.tolist()}
        tokenizer = self.corpus.tokenizer
        answers = read_answers(
            config.answers, tokenizer, held_out=projects, max_nodes=config.max_nodes, seed=config.seed
        )
        encoding.check_order(self.model_config, answers.corpus)
        learned = {self.corpus.projects[module]: "this run" for module in self.train_modules.tolist()}
        known = learned | seen_by(self.ancestry)
        for project in sorted({answers.projects[row] for row in answers.held_out.tolist()} & known.keys()):
            raise ConfigError(
                f"answers: the table holds out {project}, which is in the training of {known[project]}, so no figure "
                "on it is held out. Hold it out here, too (held_out = [...]), or start from a model that did not see it"
            )
        columns = {kind: len(labels.names) for kind, labels in answers.labels.items()}
        return answers, Heads(self.model_config.taught.width, columns).to(self.device)

    def teacher(self) -> Teacher:
        """The answers and their heads, with what the text encoder, as it is now, says of their pieces."""
        assert self.answers is not None
        assert self.heads is not None
        return Teacher(self.answers, self.heads, self.model, processes=self.processes, threads=self.config.threads)

    # -- loop ------------------------------------------------------------------------------------------
    @staticmethod
    def _rate(stage: StageConfig, step: int) -> float:
        """Share of the peak learning rate: linear warm-up, cosine decay to a tenth."""
        if step < stage.warmup:
            return (step + 1) / stage.warmup
        done = (step - stage.warmup) / max(1, stage.steps - stage.warmup)
        return 0.1 + 0.45 * (1 + math.cos(math.pi * min(done, 1.0)))

    def run(self, *, resume: bool = False) -> MIREncoder:
        """Train to the end and return the model.

        Parameters
        ----------
        resume : bool
            Go on from the folder's checkpoint.

        Raises
        ------
        ConfigError
            The folder holds another run, or none to resume, or another process trains in it.
        ModelError
            The loss is not a number, or a checkpoint cannot be read or written; the last checkpoint stays.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with only_one(self.folder) if self.processes.first else contextlib.nullcontext():
            return self._run(resume)

    def _run(self, resume: bool) -> MIREncoder:
        state = self._open(resume)
        self.processes.wait()
        names = list(self.stages)
        weighting = self.model_config.pooling.weighting
        batches = Batches(self.corpus, self.sampler, self.config, self.processes, weighting, self.answers)
        for number in range(self.progress.stage, len(names)):
            name = names[number]
            stage = self.stages[name]
            started = time.monotonic()
            self.model.eval()  # what is computed once of texts that stay as they are has no dropout in it
            losses = self._losses(name)
            optimiser = Optimiser(losses.trained, self.config)
            if state is not None:
                optimiser.load(state)
                state = None
            else:
                self.progress = _Progress(number, 0, self.progress.seconds)
            self.model.train()
            with SummaryWriter(self.folder) if self.processes.first else _Silent() as board:
                steps = range(self.progress.step, stage.steps)
                for step, batch in zip(steps, batches.of(name, steps), strict=True):
                    loss = self._step(optimiser, losses, stage, step, batch)
                    self.progress.step = step + 1
                    seconds, started = time.monotonic() - started, time.monotonic()
                    self.progress.seconds += seconds
                    self._log(board, name, step, loss, stage.learning_rate * self._rate(stage, step))
                    if self.report is not None:
                        self.report(StepReport(name, step + 1, stage.steps, loss, batch.items, seconds))
                    if (step + 1) % self.config.checkpoint_every == 0:
                        self._save(optimiser)
        self.progress = _Progress(len(names), 0, self.progress.seconds)
        self._save(None)
        self.model.eval()
        return self.model

    def _losses(self, name: str) -> Losses:
        teacher = self.teacher() if name == "compiler" else None
        parts = (self.model, self.corpus, self.sampler, self.config, self.processes)
        return Losses(name, *parts, teacher=teacher)

    def _step(self, optimiser: Optimiser, losses: Losses, stage: StageConfig, step: int, batch: Batch) -> float:
        """One optimiser step; the loss of the whole batch."""
        # Dropout draws from torch's own generator: another process has another share, so another seed.
        torch.manual_seed(int(self.sampler.rng(400 + self.processes.rank, step).integers(2**62)))
        loss = losses(batch, step)
        optimiser.clear()
        loss.backward()  # type: ignore[no-untyped-call]
        self.processes.sum_gradients(optimiser.parameters)
        torch.nn.utils.clip_grad_norm_(optimiser.parameters, self.config.clip_norm)
        optimiser.step(stage.learning_rate * self._rate(stage, step))
        # Last of all: a GPU is waited for here, when it has all of the step to do.
        whole = float(self.processes.total(loss))
        if not math.isfinite(whole):
            raise ModelError(
                f"the {losses.stage} loss is {whole} at step {step}; "
                f"the last checkpoint is kept in {self.folder}. Lower the learning rate and start in another folder"
            )
        return whole

    def _log(self, board: Any, stage: str, step: int, loss: float, rate: float) -> None:
        if step % _LOG_EVERY or not self.processes.first:
            return
        board.add_scalar(f"{stage}/loss", loss, step)
        board.add_scalar(f"{stage}/learning_rate", rate, step)
        line = {"stage": stage, "step": step, "loss": round(loss, 5), "seconds": round(self.progress.seconds, 1)}
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")

    # -- checkpoints -----------------------------------------------------------------------------------
    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def _identity(self) -> dict[str, Any]:
        """What a checkpoint must have been made with for this run to go on from it."""
        return {
            "config": self.config.model_dump(),
            "model_config": self.model_config.model_dump(),
            "corpus": self.corpus.digest,
            "started_from": self.started_from,
            "answers": self.answers.identity if self.answers is not None else None,
        }

    def _save(self, optimiser: Optimiser | None) -> None:
        if not self.processes.first:
            return
        progress = {"stage": self.progress.stage, "step": self.progress.step, "seconds": self.progress.seconds}
        state = {"model": self.model.state_dict(), "optimiser": optimiser.state() if optimiser is not None else None}
        heads = {"heads": self.heads.state_dict() if self.heads is not None else None}
        checkpoint.write(self._checkpoint, self._identity() | progress | state | heads)

    def _open(self, resume: bool) -> list[dict[str, Any]] | None:
        """Load the folder's checkpoint if asked to; the optimiser's state."""
        if not resume:
            if self._checkpoint.exists():
                raise ConfigError(
                    f"{self.folder}: holds a run already. Type --resume to go on with it, or name another folder"
                )
            if self.processes.first:
                text = self.config.model_dump_json(indent=1) + "\n"
                (self.folder / "config.json").write_text(text, encoding="utf-8")
            return None
        payload = checkpoint.read(self._checkpoint, self._identity(), device=self.device)
        self.model.load_state_dict(payload["model"])
        if self.heads is not None:
            self.heads.load_state_dict(payload["heads"])
        self.progress = _Progress(payload["stage"], payload["step"], payload["seconds"])
        state: list[dict[str, Any]] | None = payload["optimiser"]
        return state


class _Silent:
    """Stands in for TensorBoard's writer in processes that write nothing."""

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _device(name: str) -> torch.device:
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError('device \'cuda\': no GPU that torch can use. Set device = "cpu" or "auto"')
    if name == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
