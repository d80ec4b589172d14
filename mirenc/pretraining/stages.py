"""What each stage trains, and its loss on a batch: this process's part of the sum over the batch."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mirenc.arrays import Int64
from mirenc.model.mirencoder import MIREncoder
from mirenc.pretraining import encoding
from mirenc.pretraining.answers import Teacher
from mirenc.pretraining.batches import Batch, Sampler
from mirenc.pretraining.graphs import flow_pairs
from mirenc.pretraining.objectives import gae_loss, igm_loss, mlm_loss


class Losses:
    """The losses of one stage, and the parts of the model that it trains; ``teacher`` is for the stage ``compiler``."""

    def __init__(self, stage: str, model: MIREncoder, sampler: Sampler, teacher: Teacher | None = None) -> None:
        self.stage = stage
        self._model, self._sampler, self._teacher = model, sampler, teacher
        self._corpus, self._config, self._processes = sampler.corpus, sampler.config, sampler.processes
        self._device, low = next(model.parameters()).device, self._config.precision == "bfloat16"
        self._precision = torch.autocast(self._device.type, torch.bfloat16, enabled=low)
        parts: dict[str, list[nn.Module]] = {"mlm": [model.text, model.mlm], "gae": [model.graph], "joint": [model]}
        taught = teacher.trained if teacher is not None else []
        self.trained = parts.get(stage, [model.graph, model.matching, *taught])
        # Where the text encoder stays as it is, everything that comes from it is computed once.
        self._texts: encoding.FrozenTexts | None = None
        if stage in ("gae", "igm", "compiler"):
            modules, weighting = (sampler.graphs, None) if stage == "gae" else (sampler.matching_graphs, "count")
            how: dict[str, Any] = {"processes": self._processes, "weighting": weighting}
            self._texts = encoding.FrozenTexts(model, self._corpus, modules, **how)

    def __call__(self, batch: Batch, step: int) -> Tensor:
        """Loss of one step. Shape: ()."""
        losses = []
        if batch.statements is not None:
            statements = [torch.from_numpy(array).to(self._device) for array in batch.statements]
            with self._precision:
                losses.append(mlm_loss(self._model, *statements, total=batch.chosen))
        if batch.graphs is not None:
            graphs = batch.graphs.data(self._device, self._corpus if self._texts is None else None)
            encoded = encoding.encode_graphs(self._model, graphs, self._texts)
            totals = torch.tensor(graphs.pairs, dtype=torch.float32)
            if self._processes.count > 1:
                totals = self._processes.total(totals.to(self._device))
            losses.append(gae_loss(encoded.flows, flow_pairs(graphs), totals=totals.tolist()))
            if self.stage != "gae":  # reconstruction goes on beside matching, lest that undo it
                losses.append(self._matching(batch, self._processes.join(encoded.graph, len(batch.modules)), step))
        if self._teacher is not None and batch.piece_graphs is not None:
            rows = torch.from_numpy(batch.pieces).to(self._device)
            share = self._processes.share(len(rows))
            losses.append(self._teacher.loss(rows, batch.piece_graphs.data(self._device), share))
        return torch.stack(losses).sum()

    def _matching(self, batch: Batch, graph: Tensor, step: int) -> Tensor:
        """Matching of the graphs (B, D) with their texts.

        Deviation: the paper does not say which encoders move; here the text encoder stays as MLM left it, but in
        ``joint``, where it learns through a sample of each module's statements.
        """
        share = self._processes.share(len(batch.modules))
        if self._texts is not None:
            rows = np.searchsorted(self._sampler.matching_graphs, batch.modules)
            text = self._texts.means[torch.from_numpy(rows).to(self._device)]
        else:
            text = graph.new_zeros(len(batch.modules), self._model.config.text.hidden)
            text[share] = self._sampled_text(batch.modules[share], step)
        return igm_loss(self._model, text, graph, share=share)

    def _sampled_text(self, modules: Int64, step: int) -> Tensor:
        """(B, H) mean vectors of statements drawn from each module, with gradient."""
        count = self._config.matching_statements
        drawn = np.zeros((len(modules), count), dtype=np.int64)  # rows of the corpus's table of texts
        for place, number in enumerate(modules.tolist()):
            module = self._corpus[number]
            ends = np.cumsum(module.statement_count)
            at = np.searchsorted(ends, self._sampler.rng(203, step, number).random(count) * ends[-1], side="right")
            drawn[place] = module.statement_row[np.minimum(at, len(ends) - 1)]
        rows, which = np.unique(drawn, return_inverse=True)
        ids = torch.from_numpy(self._corpus.padded_ids(rows))
        with self._precision:
            vectors = self._model.text.encode_all(ids.to(self._device))
        return vectors[torch.from_numpy(which.reshape(drawn.shape)).to(self._device)].mean(1)
