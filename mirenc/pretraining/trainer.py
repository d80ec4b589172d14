"""The training loop: MLM, then GAE, then matching, each with warm-up, clipping, checkpoints and exact resumption.

A step's randomness comes from a generator seeded with (seed, stage, step), so a resumed run draws what the interrupted
one would have drawn: nothing but weights, optimiser state and the step number needs saving.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mirenc.config import ModelConfig, PretrainConfig, StageConfig, preset
from mirenc.errors import ConfigError, ModelError
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.objectives import (
    GraphBatch,
    gae_loss,
    igm_loss,
    make_graph_batch,
    mask_tokens,
    mlm_loss,
)

__all__ = ["STAGES", "Trainer"]

STAGES = ("mlm", "gae", "igm")
# Statements of similar length are batched together: this many batches are drawn at once and sorted.
_POOL = 16


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
        Takes ``checkpoint.pt``, ``config.json`` and ``metrics.jsonl``.
    report : callable, optional
        Called after every step with stage, step, steps of the stage, and loss.
    """

    def __init__(
        self,
        config: PretrainConfig,
        corpus: Corpus,
        folder: str | os.PathLike[str],
        *,
        report: Callable[[str, int, int, float], None] | None = None,
    ) -> None:
        self.config = config
        self.corpus = corpus
        self.folder = Path(folder)
        self.report = report
        torch.set_num_threads(config.threads)
        base = preset(config.preset)
        # The vocabulary is the corpus's: a small corpus may not fill the preset's.
        tokenizer = corpus.tokenizer.config.model_copy(update={"vocab_size": corpus.tokenizer.vocab_size})
        self.model_config: ModelConfig = base.model_copy(update={"tokenizer": tokenizer})
        torch.manual_seed(config.seed)
        self.model = MIREncoder(self.model_config)
        self.train_modules, self.held_out = corpus.split(config.held_out_share, config.seed)
        self.progress = _Progress()
        self.statement_rows, self._cumulated = self._training_statements()
        sizes = np.diff(corpus.node_start)
        self._graphs = self.train_modules[sizes[self.train_modules] <= config.max_nodes]
        self._text_vectors: Tensor | None = None

    # -- data ------------------------------------------------------------------------------------------
    def _training_statements(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Texts of the training modules and their cumulated sampling weights (count ** temper)."""
        corpus = self.corpus
        counts = np.zeros(len(corpus.text_count), dtype=np.int64)
        for module in self.train_modules:
            np.add.at(counts, corpus[int(module)].statement_row, 1)
        rows: NDArray[np.int64] = np.flatnonzero(counts)
        weights = counts[rows] ** self.config.frequency_temper
        return rows, np.cumsum(weights) / weights.sum()

    def _rng(self, stage: int, step: int) -> np.random.Generator:
        return np.random.default_rng([self.config.seed, stage, step])

    def _mlm_rows(self, step: int, batch: int) -> NDArray[np.int64]:
        """Texts of one step: a slice of a pool sorted by length."""
        rng = self._rng(100, step // _POOL)
        pool = self.statement_rows[np.searchsorted(self._cumulated, rng.random(batch * _POOL))]
        pool = pool[np.argsort(self.corpus.text_length[pool], kind="stable")]
        rows: NDArray[np.int64] = pool.reshape(_POOL, batch)[rng.permutation(_POOL)[step % _POOL]]
        return rows

    def _graph_modules(self, stage: int, step: int, batch: int) -> NDArray[np.int64]:
        """Modules of one step, no two from the same source file."""
        rng = self._rng(stage + 200, step)
        chosen: dict[str, int] = {}
        for module in rng.permutation(self._graphs):
            chosen.setdefault(os.path.basename(self.corpus.names[module]), int(module))
            if len(chosen) == batch:
                break
        if len(chosen) < 2:
            raise ConfigError(
                f"{len(chosen)} training module(s) with at most {self.config.max_nodes} nodes; two different source "
                "files are needed. Raise max_nodes or enlarge the corpus"
            )
        return np.array(list(chosen.values()))

    # -- losses ----------------------------------------------------------------------------------------
    def _mlm(self, step: int) -> Tensor:
        ids = self.corpus.padded_ids(self._mlm_rows(step, self.config.mlm.batch))
        masked, chosen = mask_tokens(
            ids,
            self._rng(0, step),
            vocab_size=self.model_config.tokenizer.vocab_size,
            share=self.config.mask_share,
        )
        return mlm_loss(self.model, torch.from_numpy(ids), torch.from_numpy(masked), torch.from_numpy(chosen))

    def encode_graphs(self, graphs: GraphBatch) -> list[Tensor]:
        """Node vectors of a batch, one (N, d) matrix a flow, by the present graph encoder."""
        features = self._features(graphs.features_row)
        per_flow: list[Tensor] = self.model.graph(features, graphs.node_kind, graphs.edge_index, graphs.edge_flow)
        return per_flow

    def _features(self, rows: Tensor) -> Tensor:
        """Node features of some texts; the token embedding stays as MLM left it."""
        distinct, inverse = torch.unique(rows, return_inverse=True)
        ids = torch.from_numpy(self.corpus.padded_ids(distinct.numpy()))
        with torch.no_grad():
            features = self.model.text_features(ids)
        return features[inverse]

    def _graph_step(self, stage: int, step: int, batch: int) -> tuple[NDArray[np.int64], Tensor, Tensor]:
        """Encode the graphs of one step: module numbers, graph vectors (B, d), GAE loss."""
        numbers = self._graph_modules(stage, step, batch)
        graphs = make_graph_batch([self.corpus[number] for number in numbers], self._rng(stage, step))
        per_flow = self.encode_graphs(graphs)
        nodes = self.model.graph.combine(per_flow)  # (N, d)
        sums = nodes.new_zeros(len(numbers), nodes.shape[1]).index_add(0, graphs.graph_of, nodes)
        sizes = torch.bincount(graphs.graph_of, minlength=len(numbers)).unsqueeze(-1)
        return numbers, sums / sizes, gae_loss(per_flow, graphs.pairs)

    def _gae(self, step: int) -> Tensor:
        return self._graph_step(1, step, self.config.gae.batch)[2]

    def _igm(self, step: int) -> Tensor:
        # The text encoder stays as MLM left it, so a module's text vector is computed once. The reconstruction loss
        # goes on, lest matching undo it. Deviation: the paper does not say which encoders move.
        if self._text_vectors is None:
            self._text_vectors = torch.zeros(len(self.corpus), self.model_config.text.hidden)
            self._text_vectors[torch.from_numpy(self._graphs)] = self.text_vectors(self._graphs)
        numbers, graph, reconstruction = self._graph_step(2, step, self.config.igm.batch)
        return igm_loss(self.model, self._text_vectors[torch.from_numpy(numbers)], graph) + reconstruction

    def text_vectors(self, modules: NDArray[np.int64]) -> Tensor:
        """(M, H) mean statement vector of some modules, by the present text encoder."""
        used = [np.unique(self.corpus[int(module)].statement_row, return_counts=True) for module in modules]
        rows = np.unique(np.concatenate([texts for texts, _ in used])).astype(np.int64)
        vectors = self._statement_vectors(rows)
        means = [
            (vectors[np.searchsorted(rows, texts)] * counts[:, None]).sum(0) / counts.sum() for texts, counts in used
        ]
        return torch.from_numpy(np.array(means, dtype=np.float32))

    def _statement_vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """(U, H) vectors of some texts, by the numpy runtime: it needs no padding."""
        weights = {name: value.numpy() for name, value in self.model.state_dict().items()}
        runtime = NumpyRuntime(self.model_config, weights, threads=self.config.threads)
        lengths = self.corpus.text_length[rows].astype(np.int32)
        slices = [slice(first, first + 65536) for first in range(0, len(rows), 65536)]
        return np.concatenate(
            [
                runtime.encode_texts(self.corpus.padded_ids(rows[part]).astype(np.uint16), lengths[part])
                for part in slices
            ]
        )

    # -- loop ------------------------------------------------------------------------------------------
    def _optimiser(self, stage: StageConfig, name: str) -> torch.optim.AdamW:
        trained: dict[str, list[nn.Module]] = {
            "mlm": [self.model.text, self.model.mlm],
            "gae": [self.model.graph],
            "igm": [self.model.graph, self.model.matching],
        }
        named = [parameter for part in trained[name] for parameter in part.parameters()]
        matrices = [parameter for parameter in named if parameter.ndim >= 2]
        vectors = [parameter for parameter in named if parameter.ndim < 2]
        groups = [
            {"params": matrices, "weight_decay": self.config.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=stage.learning_rate, betas=(0.9, 0.98))

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
            The folder holds another run, or none to resume.
        ModelError
            The loss is not a number; the last checkpoint stays.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        state = self._open(resume)
        losses = {"mlm": self._mlm, "gae": self._gae, "igm": self._igm}
        for number in range(self.progress.stage, len(STAGES)):
            name = STAGES[number]
            stage: StageConfig = getattr(self.config, name)
            optimiser = self._optimiser(stage, name)
            if state is not None:
                optimiser.load_state_dict(state)
                state = None
            else:
                self.progress = _Progress(number, 0, self.progress.seconds)
            self.model.train()
            parameters = [p for group in optimiser.param_groups for p in group["params"]]
            for step in range(self.progress.step, stage.steps):
                started = time.monotonic()
                for group in optimiser.param_groups:
                    group["lr"] = stage.learning_rate * self._rate(stage, step)
                low = self.config.precision == "bfloat16" and name == "mlm"
                with torch.autocast("cpu", torch.bfloat16, enabled=low):
                    loss = losses[name](step)
                if not torch.isfinite(loss):
                    raise ModelError(
                        f"the {name} loss is {loss.item()} at step {step}; "
                        f"the last checkpoint is kept in {self.folder}. Lower the learning rate and type --resume"
                    )
                optimiser.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(parameters, self.config.clip_norm)
                optimiser.step()
                self.progress.step = step + 1
                self.progress.seconds += time.monotonic() - started
                self._log(name, step, loss.item())
                if self.report is not None:
                    self.report(name, step + 1, stage.steps, loss.item())
                if (step + 1) % self.config.checkpoint_every == 0:
                    self._save(optimiser)
            self._text_vectors = None
        self.progress = _Progress(len(STAGES), 0, self.progress.seconds)
        self._save(None)
        self.model.eval()
        return self.model

    def _log(self, stage: str, step: int, loss: float) -> None:
        if step % 20 == 0:
            with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({"stage": stage, "step": step, "loss": round(loss, 5)}) + "\n")

    # -- checkpoints -----------------------------------------------------------------------------------
    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def _save(self, optimiser: torch.optim.AdamW | None) -> None:
        """Write a checkpoint; the old one is replaced only when the new one is complete."""
        payload: dict[str, Any] = {
            "config": self.config.model_dump(),
            "stage": self.progress.stage,
            "step": self.progress.step,
            "seconds": self.progress.seconds,
            "model": self.model.state_dict(),
            "optimiser": optimiser.state_dict() if optimiser is not None else None,
        }
        part = self._checkpoint.with_suffix(".part")
        torch.save(payload, part)
        os.replace(part, self._checkpoint)

    def _open(self, resume: bool) -> dict[str, Any] | None:
        """Load the folder's checkpoint if asked to; the optimiser's state."""
        if not resume:
            if self._checkpoint.exists():
                raise ConfigError(
                    f"{self.folder}: holds a run already. Type --resume to go on with it, or name another folder"
                )
            (self.folder / "config.json").write_text(self.config.model_dump_json(indent=1) + "\n", encoding="utf-8")
            return None
        if not self._checkpoint.exists():
            raise ConfigError(f"{self.folder}: no checkpoint to resume. Leave --resume out to start a run")
        payload = torch.load(self._checkpoint, weights_only=True)
        if payload["config"] != self.config.model_dump():
            raise ConfigError(
                f"{self.folder}: its checkpoint is of another configuration. "
                f"Resume with the run's own: {self.folder}/config.json"
            )
        self.model.load_state_dict(payload["model"])
        self.progress = _Progress(payload["stage"], payload["step"], payload["seconds"])
        state: dict[str, Any] | None = payload["optimiser"]
        return state
