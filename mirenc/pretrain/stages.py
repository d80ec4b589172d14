"""What each stage trains, and its loss on a batch: this process's part of the sum over the batch."""

import numpy as np
import torch
from torch import Tensor, nn

from mirenc.model.mirencoder import MIREncoder
from mirenc.pretrain import encoding
from mirenc.pretrain.batches import Batch, Sampler
from mirenc.pretrain.graphs import flow_pairs
from mirenc.pretrain.objectives import gae_loss, igm_loss, mlm_loss


class Losses:
    """The losses of one stage, and the parts of the model that it trains."""

    def __init__(self, stage: str, model: MIREncoder, sampler: Sampler) -> None:
        self.stage = stage
        self._model, self._sampler, self._processes = model, sampler, sampler.processes
        self._device, use_bfloat16 = next(model.parameters()).device, sampler.config.precision == "bfloat16"
        self._precision = torch.autocast(self._device.type, torch.bfloat16, enabled=use_bfloat16)
        parts: dict[str, list[nn.Module]] = {"mlm": [model.text, model.mlm], "gae": [model.graph]}
        self.trained = parts.get(stage, [model.graph, model.matching])
        if stage != "mlm":  # the text encoder stays as it is, and everything that comes from it is computed once
            modules, weighting = (sampler.graphs, None) if stage == "gae" else (sampler.matching_graphs, "count")
            corpus, processes = sampler.corpus, self._processes
            with self._precision:
                self._texts = encoding.FrozenTexts(model, corpus, modules, processes=processes, weighting=weighting)

    def __call__(self, batch: Batch) -> Tensor:
        """Loss of one step. Shape: ()."""
        losses = []
        if batch.statements is not None:
            statements = [torch.from_numpy(array).to(self._device) for array in batch.statements]
            with self._precision:
                losses.append(mlm_loss(self._model, *statements, total=batch.chosen))
        if batch.graphs is not None:
            graphs = batch.graphs.data(self._device)
            encoded = encoding.encode_graphs(self._model, graphs, self._texts)
            totals = torch.tensor(graphs.pairs, dtype=torch.float32)
            if self._processes.count > 1:
                totals = self._processes.total(totals.to(self._device))
            losses.append(gae_loss(encoded.flows, flow_pairs(graphs), totals=totals.tolist()))
            if self.stage != "gae":  # reconstruction goes on beside matching, lest that undo it
                losses.append(self._matching(batch, self._processes.join(encoded.graph, len(batch.modules))))
        return torch.stack(losses).sum()

    def _matching(self, batch: Batch, graph: Tensor) -> Tensor:
        """Matching of the graphs (B, D) with their texts.

        Deviation: the paper does not say which encoders move; here the text encoder stays as MLM left it.
        """
        rows = np.searchsorted(self._sampler.matching_graphs, batch.modules)
        text = self._texts.means[torch.from_numpy(rows).to(self._device)]
        return igm_loss(self._model, text, graph, share=self._processes.share(len(batch.modules)))
