"""The training loop: MLM, then GAE, then matching, or all at once; warm-up, clipping, checkpoints, exact resumption.

A step's randomness comes from a generator seeded with (seed, stage, step), so a resumed run draws what the interrupted
one would have drawn: nothing but weights, optimiser state and the step number needs saving. Started by ``torchrun``,
every process takes a share of each batch (`mirenc.pretraining.parallel`).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

from mirenc.config import ModelConfig, PretrainConfig, StageConfig, preset
from mirenc.errors import ConfigError, ModelError
from mirenc.model.data import join_data, no_data
from mirenc.model.mirencoder import Encoded, MIREncoder
from mirenc.pretraining import checkpoint, encoding
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.corpus.lock import only_one
from mirenc.pretraining.objectives import flow_pairs, gae_loss, igm_loss, mask_tokens, mlm_loss
from mirenc.pretraining.optimiser import Optimiser
from mirenc.pretraining.parallel import Processes
from mirenc.pretraining.sampling import Sampler
from mirenc.pretraining.start import start_from
from mirenc.tokenizer import PAD

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
        Tokens (mlm, joint) or nodes (gae, igm) of the batch, padding left out.
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


def stages_of(config: PretrainConfig) -> dict[str, StageConfig]:
    """The stages a run has, in order; a stage of no steps is left out."""
    if config.schedule == "joint":
        return {"joint": config.mlm}
    stages = {"mlm": config.mlm, "gae": config.gae, "igm": config.igm}
    return {name: stage for name, stage in stages.items() if stage.steps}


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
        The corpus has fewer than two projects or too few graphs, no GPU is there where one is asked for, or the model
        to start from does not belong to the corpus or the preset.
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
        self.model_config = chosen.model_copy(update={"tokenizer": tokenizer, "text": text, "graph": graph})
        encoding.check_order(self.model_config, corpus)
        torch.manual_seed(config.seed)
        self.model = MIREncoder(self.model_config)
        self.started_from = (
            start_from(self.model, corpus.tokenizer, config.start_from) if config.start_from is not None else None
        )
        self.model.to(self.device)
        self.train_modules, self.held_out = corpus.split(config.held_out_share, config.seed)
        digest = self.started_from["digest"] if self.started_from is not None else ""
        self.sampler = Sampler(corpus, self.train_modules, config, digest)
        self.stages = stages_of(config)
        self.sampler.check(self.stages)
        self.progress = _Progress()
        self._text_vectors: Tensor | None = None
        self._items = 0

    @property
    def steps_done(self) -> int:
        """Steps of all stages that are done."""
        before = list(self.stages.values())[: self.progress.stage]
        return sum(stage.steps for stage in before) + self.progress.step

    # -- losses: this process's part of the sum over the batch -------------------------------------------
    def _mlm(self, step: int) -> Tensor:
        ids = self.sampler.padded(self.sampler.statements(step))
        masked, chosen = mask_tokens(
            ids,
            self.sampler.rng(0, step),
            vocab_size=self.model_config.tokenizer.vocab_size,
            share=self.config.mask_share,
        )
        self._items = int((ids != PAD).sum())
        part = self.processes.share(len(ids))
        mine = [torch.from_numpy(array[part]).to(self.device) for array in (ids, masked, chosen)]
        low = torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.precision == "bfloat16")
        with low:
            return mlm_loss(self.model, *mine, total=int(chosen.sum()))

    def _graph_step(self, modules: NDArray[np.int64], rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Encode the graphs of a batch: vectors of all of them (B, d), this share of the GAE loss."""
        batch = encoding.graph_batch(self.corpus, modules, rng, share=self.processes.share(len(modules)))
        self._items = int(self.corpus.node_count[modules].sum())
        encoded = encoding.encode_graphs(self.model, batch)
        pairs = flow_pairs(batch.to(self.device))
        counts = torch.tensor([float(positive.shape[1]) for positive, _ in pairs], device=self.device)
        totals = self.processes.total(counts).tolist()
        return self.processes.join(encoded.graph, len(modules)), gae_loss(encoded.flows, pairs, totals=totals)

    def _gae(self, step: int) -> Tensor:
        return self._graph_step(self.sampler.gae_modules(step), self.sampler.rng(1, step))[1]

    def _igm(self, step: int) -> Tensor:
        # The text encoder stays as MLM left it, so a module's text vector is computed once. The reconstruction loss
        # goes on, lest matching undo it. Deviation: the paper does not say which encoders move.
        if self._text_vectors is None:
            self._text_vectors = self._encode_matching_texts()
        modules = self.sampler.igm_modules(step)
        graph, reconstruction = self._graph_step(modules, self.sampler.rng(2, step))
        rows = np.searchsorted(self.sampler.matching_graphs, modules)
        text = self._text_vectors[torch.from_numpy(rows).to(self.device)]
        share = self.processes.share(len(modules))
        return igm_loss(self.model, text, graph, share=share) + reconstruction

    def _encode_matching_texts(self) -> Tensor:
        """(M, H) text vectors of the modules that matching draws from; each process encodes a share of them."""
        modules = self.sampler.matching_graphs
        mine = modules[self.processes.share(len(modules))]
        vectors = encoding.text_vectors(self.model, self.corpus, mine, threads=self.config.threads)
        return self.processes.join(vectors.to(self.device), len(modules)).detach()

    def _joint(self, step: int) -> Tensor:
        """All three losses; the text encoder learns from matching too, through a sample of each module's statements."""
        mlm = self._mlm(step)
        tokens = self._items
        modules = self.sampler.igm_modules(step)
        graph, reconstruction = self._graph_step(modules, self.sampler.rng(2, step))
        share = self.processes.share(len(modules))
        text = graph.new_zeros(len(modules), self.model_config.text.hidden)
        text[share] = self._sampled_text(modules[share], step)
        self._items = tokens
        return mlm + reconstruction + igm_loss(self.model, text, graph, share=share)

    def _sampled_text(self, modules: NDArray[np.int64], step: int) -> Tensor:
        """(B, H) mean vectors of statements drawn from each module, with gradient."""
        count = self.config.matching_statements
        drawn = []
        for number in modules.tolist():
            module = self.corpus[number]
            rng = self.sampler.rng(203, step, number)
            ends = np.cumsum(module.statement_count)
            at = np.searchsorted(ends, rng.random(count) * ends[-1], side="right")
            row, times = np.unique(module.statement_row[np.minimum(at, len(ends) - 1)], return_counts=True)
            chosen = replace(module, statement_row=row, statement_count=times.astype(np.int32))
            drawn.append(encoding.module_data(self.corpus, chosen, "text"))
        low = torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.precision == "bfloat16")
        with low:
            encoded: Encoded = self.model(join_data(drawn or [no_data()]).to(self.device), "text")
        return encoded.text

    # -- loop ------------------------------------------------------------------------------------------
    def _trained(self, name: str) -> list[nn.Module]:
        """The parts of the model that a stage trains."""
        parts: dict[str, list[nn.Module]] = {
            "mlm": [self.model.text, self.model.mlm],
            "gae": [self.model.graph],
            "igm": [self.model.graph, self.model.matching],
            "joint": [self.model],
        }
        return parts[name]

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
        for number in range(self.progress.stage, len(names)):
            name = names[number]
            stage = self.stages[name]
            optimiser = Optimiser(self._trained(name), self.config)
            if state is not None:
                optimiser.load(state)
                state = None
            else:
                self.progress = _Progress(number, 0, self.progress.seconds)
            self.model.train()
            with SummaryWriter(self.folder) if self.processes.first else _Silent() as board:
                for step in range(self.progress.step, stage.steps):
                    started = time.monotonic()
                    loss = self._step(optimiser, name, stage, step)
                    self.progress.step = step + 1
                    seconds = time.monotonic() - started
                    self.progress.seconds += seconds
                    self._log(board, name, step, loss, stage.learning_rate * self._rate(stage, step))
                    if self.report is not None:
                        self.report(StepReport(name, step + 1, stage.steps, loss, self._items, seconds))
                    if (step + 1) % self.config.checkpoint_every == 0:
                        self._save(optimiser)
            self._text_vectors = None
        self.progress = _Progress(len(names), 0, self.progress.seconds)
        self._save(None)
        self.model.eval()
        return self.model

    def _step(self, optimiser: Optimiser, name: str, stage: StageConfig, step: int) -> float:
        """One optimiser step; the loss of the whole batch."""
        losses = {"mlm": self._mlm, "gae": self._gae, "igm": self._igm, "joint": self._joint}
        # Dropout draws from torch's own generator: another process has another share, so another seed.
        torch.manual_seed(int(self.sampler.rng(400 + self.processes.rank, step).integers(2**62)))
        loss = losses[name](step)
        whole = float(self.processes.total(loss))
        if not math.isfinite(whole):
            raise ModelError(
                f"the {name} loss is {whole} at step {step}; "
                f"the last checkpoint is kept in {self.folder}. Lower the learning rate and start in another folder"
            )
        optimiser.clear()
        loss.backward()  # type: ignore[no-untyped-call]
        self.processes.sum_gradients(optimiser.parameters)
        torch.nn.utils.clip_grad_norm_(optimiser.parameters, self.config.clip_norm)
        optimiser.step(stage.learning_rate * self._rate(stage, step))
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
        }

    def _save(self, optimiser: Optimiser | None) -> None:
        if not self.processes.first:
            return
        progress = {"stage": self.progress.stage, "step": self.progress.step, "seconds": self.progress.seconds}
        state = {"model": self.model.state_dict(), "optimiser": optimiser.state() if optimiser is not None else None}
        checkpoint.write(self._checkpoint, self._identity() | progress | state)

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
