"""The whitening maps of a trained model: which training modules they are fitted on, and the fit."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from mirenc.model.pooling import fit_whitening
from mirenc.pretraining import encoding
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.trainer import Trainer

__all__ = ["choose_modules", "fit_maps"]

Int64 = NDArray[np.int64]
# More pairs of levels are better, to the last one tried; more modules without a pair are not (pretrain/README.md).
_PAIRS = 2000
_MODULES = 1000
# Statements. Shorter modules, wrappers mostly, vary in other directions than programs do; longer ones take too long.
_SHORT, _LONG = 100, 4000


def choose_modules(corpus: Corpus, modules: Int64, rng: np.random.Generator) -> tuple[Int64, Int64]:
    """Modules to fit a map on: programs at two levels first, others where there are too few.

    Short and very long ones are left out, unless fewer than half a map's modules would be left.

    Parameters
    ----------
    corpus : Corpus
    modules : (M,) int64
        Those that may be taken.
    rng : Generator

    Returns
    -------
    (K,) int64
        Modules.
    (P, 2) int64
        Rows of the modules that are one program.
    """
    size = corpus.statement_total[modules]
    fit = modules[(size >= _SHORT) & (size <= _LONG)]
    drawn = rng.permutation(fit if len(fit) >= _MODULES // 2 else modules)
    programs = corpus.programs
    by_program: dict[tuple[str, str], list[int]] = {}
    for module in drawn.tolist():
        by_program.setdefault(programs[module], []).append(module)
    pairs = [found[:2] for found in by_program.values() if len(found) > 1][:_PAIRS]
    chosen = [module for pair in pairs for module in pair]
    paired = set(chosen)
    alone = [module for module in drawn.tolist() if module not in paired]
    chosen += alone[: max(_MODULES - len(chosen), 0)]
    return np.array(chosen, dtype=np.int64), np.arange(2 * len(pairs), dtype=np.int64).reshape(-1, 2)


def fit_maps(trainer: Trainer) -> None:
    """Fit the maps of text and graph on training modules; the graph's on those whose graph the corpus has."""
    model, corpus, config = trainer.model, trainer.corpus, trainer.config
    weighting = trainer.model_config.pooling.weighting
    for number, part in enumerate(("text", "graph")):
        modules = trainer.train_modules if part == "text" else trainer.sampler.graphs
        chosen, pairs = choose_modules(corpus, modules, np.random.default_rng([config.seed, 500 + number]))
        if not len(chosen):
            continue  # a text-only model of a corpus without graphs: the map stays the identity
        if part == "text":
            vectors = encoding.text_vectors(model, corpus, chosen, weighting=weighting, threads=config.threads)
        else:
            vectors = encoding.graph_vectors(model, corpus, chosen, weighting=weighting)
        layer = getattr(model, f"whiten_{part}")
        for buffer, value in zip((layer.mean, layer.matrix), fit_whitening(vectors.numpy(), pairs), strict=True):
            buffer.copy_(torch.from_numpy(value))
