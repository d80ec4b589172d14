"""The table of a model's lexical view: how rare a term is in the training modules (`mirenc.model.lexical`)."""

from __future__ import annotations

import numpy as np
import torch

from mirenc.model.lexical import fit_idf
from mirenc.pretraining.trainer import Trainer

__all__ = ["fit_lexicon"]


def fit_lexicon(trainer: Trainer) -> None:
    """Fit the table on the statements of the training modules, as their tokens give them back."""
    corpus, config = trainer.corpus, trainer.model_config.lexical
    assert config is not None
    counts = corpus.text_counts(trainer.train_modules.tolist())
    rows = np.flatnonzero(counts)
    starts, ends = corpus.text_start[rows].tolist(), corpus.text_start[rows + 1].tolist()
    texts = (
        corpus.tokenizer.decode(corpus.text_ids[start:end].tolist()) for start, end in zip(starts, ends, strict=True)
    )
    table = trainer.model.get_buffer("lexical_idf")
    table.copy_(torch.from_numpy(fit_idf(texts, counts[rows], config)))
