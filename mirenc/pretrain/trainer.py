"""The training loop: one stage after another, with warm-up, clipping, checkpoints and exact resumption."""

import contextlib
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils.tensorboard import SummaryWriter

from mirenc.base.errors import ConfigError, ModelError
from mirenc.base.writing import only_one
from mirenc.encoder.weights import Source, ancestry, load_files, seen_by
from mirenc.encoder.weights.provenance import Kind
from mirenc.model.config import PRESETS, ModelConfig, preset
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.tokenizer import IRTokenizer
from mirenc.pretrain import checkpoint, encoding
from mirenc.pretrain.batches import Batch, Sampler
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.contrast import ContrastLosses
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.corpus.functions import Functions
from mirenc.pretrain.evaluation.figures import Figures, Row, figure_rows
from mirenc.pretrain.optimiser import Optimiser
from mirenc.pretrain.parallel import Processes
from mirenc.pretrain.stages import Losses

_LOG_EVERY = 20


class StepReport(NamedTuple):
    """One step that is done: ``step`` of the ``steps`` of a stage.

    ``items`` are tokens (mlm) or nodes (other stages) of the batch, padding left out. ``speed`` (items a second) and
    ``seconds_left`` (of the stage) come from the stage's steps so far, without the one that waited for the first batch.
    """

    stage: str
    step: int
    steps: int
    loss: float
    items: int
    seconds: float
    speed: float
    seconds_left: float

    @property
    def unit(self) -> str:
        """The unit of the items: ``tokens`` or ``nodes``."""
        return "tokens" if self.stage == "mlm" else "nodes"


class Trainer:
    """One pre-training run in one folder, which takes its checkpoint, configuration, metrics and TensorBoard's files.

    ``model_config`` is another architecture than the run's, and gets the corpus's tokenizer. ``report`` is called after
    every step.

    Raises ConfigError: the corpus has fewer than two projects, none that the model to start from did not see, or too
    few graphs; what is to be held out was seen; no GPU is there where one is asked for; or the model to start from does
    not belong to the corpus or the preset.
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
        self.config, self.corpus, self.report = config, corpus, report
        self.folder = Path(folder)
        self._checkpoint = self.folder / "checkpoint.pt"
        torch.set_num_threads(config.threads)
        self.device = _device(config.device)
        self.processes = Processes(self.device)
        # The vocabulary is the corpus's: a small corpus may not fill the preset's.
        tokenizer = corpus.tokenizer.config.model_copy(update={"vocab_size": corpus.tokenizer.vocab_size})
        self.model_config = (model_config or _architecture(config)).model_copy(update={"tokenizer": tokenizer})
        encoding.check_order(self.model_config, corpus)
        torch.manual_seed(config.seed)
        self.model = MIREncoder(self.model_config)
        self.started_from: dict[str, str] | None = None
        self.ancestry: tuple[Source, ...] = ()
        if config.start_from is not None:
            self.started_from, self.ancestry = _start_from(self.model, corpus.tokenizer, config)
        self.model.to(self.device)
        self.train_modules, self.held_out = corpus.split(
            config.held_out_share, config.seed, seen=seen_by(self.ancestry), named=config.held_out
        )
        self.stages, self.kept_out = config.stages, corpus.projects_of(self.held_out)
        self.functions: Functions | None = None
        if "contrast" in self.stages:
            if self.processes.count > 1:
                raise ConfigError("contrast compares all functions of a step: it takes one process. Leave torchrun out")
            self.kept_out.update(config.contrast.validated)
            self.functions = Functions.load(config.contrast.functions, corpus.tokenizer)
        self.recall: Figures | None = None  # of functions held out, as the stage contrast left it
        self.sampler = self.make_sampler()
        self.stage, self.step, self.seconds = 0, 0, 0.0  # where the run stands

    @property
    def steps_done(self) -> int:
        """Steps of all stages that are done."""
        return sum(stage.steps for stage in list(self.stages.values())[: self.stage]) + self.step

    # What a recipe with a stage of its own overrides (``pretrain/teaching.py``): the next six.
    def make_sampler(self, sampler: type[Sampler] = Sampler) -> Sampler:
        """The sampler that draws the batches of the run."""
        digest = self.started_from["digest"] if self.started_from is not None else ""
        parts = (self.corpus, self.train_modules, self.config, self.processes)
        return sampler(*parts, functions=self.functions, held_out=self.kept_out, started_from=digest)

    def make_losses(self, stage: str) -> Losses | ContrastLosses:
        """The losses of a stage that begins."""
        if stage == "contrast":
            return ContrastLosses(self.model, self.sampler, self.config.contrast, self.kept_out)
        return Losses(stage, self.model, self.sampler)

    def learned_from(self) -> dict[Kind, set[str]]:
        """The projects of everything that is learned from, by kind."""
        projects: dict[Kind, set[str]] = {"corpus": self.corpus.projects_of(self.train_modules)}
        if self.functions is not None:
            projects["pairs"] = self.functions.programs.keys() - self.kept_out
        return projects

    def figures(self) -> Figures:
        """Figures beside those of `mirenc.pretrain.evaluation.evaluate_model`."""
        return {} if self.recall is None else {"functions": self.recall}

    def rows(self, figures: Figures) -> list[Row]:
        """The rows of figures that the model card shows."""
        return figure_rows(figures)

    def stage_words(self) -> str:
        """The model card's text on the stages after matching."""
        contrast = self.config.contrast
        if not contrast.steps:
            return ""
        return (
            f"; then {contrast.steps} steps of {contrast.projects} projects, up to {contrast.batch} programs "
            f"of each in two forms: functions found in their other form (`mirenc.pretrain.contrast`)"
        )

    def run(self, *, resume: bool = False) -> MIREncoder:
        """Train to the end and return the model; with ``resume`` from the folder's checkpoint on.

        Raises ConfigError: the folder holds another run, or none to resume, or another process trains in it. Raises
        ModelError: the loss is not a number, or a checkpoint cannot be read or written; the last checkpoint stays.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with only_one(self.folder) if self.processes.first else contextlib.nullcontext():
            state = self._open(resume)
            self.processes.wait()
            for name in list(self.stages)[self.stage :]:
                self._run_stage(name, state)
                self.stage, self.step, state = self.stage + 1, 0, None
            self._save(None, None)
        self.model.eval()
        return self.model

    def _run_stage(self, name: str, state: dict[str, Any] | None) -> None:
        """Train one stage, from its beginning or from the ``state`` in a checkpoint."""
        stage, start_time = self.stages[name], time.monotonic()
        self.model.eval()  # what is computed once of texts that stay as they are has no dropout in it
        losses = self.make_losses(name)
        contrast = losses if isinstance(losses, ContrastLosses) else None
        optimiser = Optimiser(losses.trained, self.config, contrast.extra if contrast is not None else ())
        if state is not None:
            optimiser.load(state["optimiser"])
            if contrast is not None:
                contrast.load_state_dict(state["contrast"])
        self.model.train()
        with SummaryWriter(self.folder) if self.processes.first else contextlib.nullcontext() as board:
            steps = range(self.step, stage.steps)
            checkpoints = range(self.config.checkpoint_every, stage.steps + 1, self.config.checkpoint_every)
            timed_steps, all_items, all_seconds = 0, 0, 0.0
            for step, batch in zip(steps, self.sampler.batches(name, steps), strict=True):
                rate = stage.rate(step)
                loss = self._step(optimiser, losses, rate, step, batch)
                self.step = step + 1
                seconds, start_time = time.monotonic() - start_time, time.monotonic()
                self.seconds += seconds
                timed_steps, all_items, all_seconds = timed_steps + 1, all_items + batch.items, all_seconds + seconds
                speed, remaining = all_items / all_seconds, all_seconds / timed_steps * (stage.steps - self.step)
                if step == steps.start:  # it waited for the first batch: no later step counts it
                    timed_steps, all_items, all_seconds = 0, 0, 0.0
                if board is not None and step % _LOG_EVERY == 0:
                    board.add_scalar(f"{name}/loss", loss, step)
                    board.add_scalar(f"{name}/learning_rate", rate, step)
                    times = {"seconds": round(self.seconds, 1), "items_per_second": round(speed)}
                    self._log({"stage": name, "step": step, "loss": round(loss, 5), **times})
                if self.report is not None:
                    self.report(StepReport(name, self.step, stage.steps, loss, batch.items, seconds, speed, remaining))
                if contrast is not None and self.step in (stage.steps, *checkpoints):
                    self.recall = contrast.validate()
                    self._log({"stage": name, "step": step, "recall_at_1": self.recall})
                if self.step in checkpoints:
                    self._save(optimiser, contrast)

    def _log(self, line: dict[str, Any]) -> None:
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")

    def _step(
        self, optimiser: Optimiser, losses: Losses | ContrastLosses, rate: float, step: int, batch: Batch
    ) -> float:
        """Take one optimiser step; returns the loss of the whole batch."""
        # Dropout draws from torch's own generator: another process has another share, so another seed.
        torch.manual_seed(int(self.sampler.rng(400 + self.processes.rank, step).integers(2**62)))
        loss = losses(batch)
        loss.backward()
        self.processes.sum_gradients(optimiser.parameters)
        torch.nn.utils.clip_grad_norm_(optimiser.parameters, self.config.clip_norm)
        optimiser.step(rate)
        # Last of all: a GPU is waited for here, when it has all of the step to do.
        if math.isfinite(total := float(self.processes.total(loss))):
            return total
        problem = f"the {losses.stage} loss is {total} at step {step}; the last checkpoint is kept in {self.folder}"
        raise ModelError(f"{problem}. Lower the learning rate and start in another folder")

    def identity(self) -> dict[str, Any]:
        """The values that a checkpoint must have for this run to go on from it."""
        return {
            "config": self.config.model_dump(),
            "model_config": self.model_config.model_dump(),
            "corpus": self.corpus.digest,
            "started_from": self.started_from,
            "functions": self.functions.digest if self.functions is not None else None,
        }

    def _save(self, optimiser: Optimiser | None, contrast: ContrastLosses | None) -> None:
        if self.processes.first:
            state: dict[str, Any] = {name: getattr(self, name) for name in ("stage", "step", "seconds", "recall")}
            state["model"] = self.model.state_dict()
            state["optimiser"] = optimiser.state() if optimiser is not None else None
            state["contrast"] = contrast.state_dict() if contrast is not None else None
            checkpoint.write(self._checkpoint, self.identity() | state | self.more_state())

    def more_state(self) -> dict[str, Any]:
        """State of a recipe's own stage for a checkpoint, which `load_state` gets back."""
        return {}

    def load_state(self, payload: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.model.load_state_dict(payload["model"])
        for name in ("stage", "step", "seconds", "recall"):
            setattr(self, name, payload[name])

    def _open(self, resume: bool) -> dict[str, Any] | None:
        """Load the folder's checkpoint if asked to; returns it if it is of a stage that was begun, else None."""
        if resume:
            payload = checkpoint.read(self._checkpoint, self.identity(), device=self.device)
            self.load_state(payload)
            return payload if payload["optimiser"] is not None else None
        if self._checkpoint.exists():
            advice = "Type --resume to go on with it, or name another folder"
            raise ConfigError(f"{self.folder}: holds a run already. {advice}")
        if self.processes.first:
            (self.folder / "config.json").write_text(f"{self.config.model_dump_json(indent=1)}\n", encoding="utf-8")
        return None


def _device(name: str) -> torch.device:
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError('device \'cuda\': no GPU that torch can use. Set device = "cpu" or "auto"')
    if name == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


def _architecture(config: PretrainConfig) -> ModelConfig:
    """The preset's, with the parts that the run names; through its values, so that what does not fit is refused."""
    parts = {name: getattr(config, name, None) for name in ("text", "graph", "taught", "lexical")}
    if config.preset == "start" and config.start_from is not None:
        architecture = load_files(config.start_from).config
    else:
        architecture = preset(config.preset)
    architecture = architecture.model_copy(update={name: part for name, part in parts.items() if part is not None})
    if config.contrast.steps:
        architecture = architecture.model_copy(update={"paired": config.contrast.blocks})
    return ModelConfig.from_dict(architecture.model_dump())


def _start_from(
    model: MIREncoder, tokenizer: IRTokenizer, config: PretrainConfig
) -> tuple[dict[str, str], tuple[Source, ...]]:
    """Put a packaged model's weights into a new model; its maps are trained on by contrast, else fitted anew.

    Of one that has the text encoder alone in common, as a distilled one (pretrain/distil.py), that and its MLM head are
    taken. Returned are its ``name`` and ``digest``, ``part`` where only one was taken, and what it and its line saw.
    """
    assert config.start_from is not None
    files = load_files(config.start_from)
    if tokenizer.to_json() != files.tokenizer.to_json():
        cause = f"start_from: the corpus was not built with the tokenizer of {files.name}, whose pieces that model"
        raise ConfigError(f"{cause} knows. Build it with: mirenc corpus build ... --tokenizer {config.start_from}")
    target, source = model.config, files.config
    if target.text != source.text:
        presets = [key for key, config in PRESETS.items() if config.text == source.text]
        hint = f'Set preset = "{presets[0]}"' if presets else "Give the run its [text] table"
        raise ConfigError(f"start_from: {files.name} has another text encoder than this run. {hint}")
    prefixes, part = ["text", "mlm"], {"part": "text"}
    if (target.graph, target.matching) == (source.graph, source.matching):
        # A trunk takes the graph's vectors; a model without one is a start for a model with one.
        prefixes, part = [*prefixes, "graph", "matching", *(["taught"] if target.taught == source.taught else [])], {}
        if config.contrast.steps and target.pooling.whiten and source.pooling.whiten:
            prefixes += ["whiten_text", "whiten_graph"]
        if config.preset == "start" and target.lexical == source.lexical:
            prefixes += ["lexical_idf", "whiten_lexical"]
    state = {name: torch.tensor(value) for name, value in files.weights.items() if name.partition(".")[0] in prefixes}
    model.load_state_dict(state, strict=False)
    return {"name": files.name, "digest": files.digest} | part, ancestry(files.name, files.folder)
