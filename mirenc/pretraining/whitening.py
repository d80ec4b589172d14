"""The whitening maps of a trained model: what they are fitted on, and the fit.

By default that is training modules. A map is good for the kind of code it was fitted on, so a run can name other kinds
beside them (`mirenc.pretraining.config.MapsConfig`); ``pretrain/mixture.py`` chooses how much each counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mirenc.embed import Encoder
from mirenc.embed.maps import domain_vectors
from mirenc.errors import ConfigError
from mirenc.ir.files import find_inputs
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.whitening import mixed_whitening, moments_of
from mirenc.pretraining import encoding
from mirenc.pretraining.config import DomainConfig, MapsConfig
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.trainer import Trainer
from mirenc.weights import ModelFiles, ir_projects

__all__ = ["OWN", "choose_modules", "fit_maps"]

Int64 = NDArray[np.int64]
# Of each part, vectors (M, D) and which of them are one program (P, 2); and the projects they are of.
Rows = tuple[dict[str, tuple[NDArray[np.float32], Int64]], set[str]]
OWN = "training modules"
_NO_PAIRS = np.zeros((0, 2), np.int64)
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


def fit_maps(trainer: Trainer, maps: MapsConfig | None = None) -> list[dict[str, Any]]:
    """Fit the maps of text and graph.

    Parameters
    ----------
    trainer : Trainer
        After its run. Of its corpus, the training modules are taken; for the graph, those whose graph the corpus has.
    maps : MapsConfig, optional
        Left out: the training modules alone.

    Returns
    -------
    list of dict
        For the record, what each domain had: ``name``, ``weight``, ``rows``, ``pairs`` and ``projects``.

    Raises
    ------
    ConfigError
        A domain's corpus has another tokenizer, or there is nothing in a domain but what the run holds out.
    """
    maps = maps or MapsConfig()
    found = (
        [_corpus_rows(trainer, trainer.corpus, trainer.train_modules, trainer.sampler.graphs)] if maps.corpus else []
    )
    found += [_domain_rows(trainer, domain) for domain in maps.domains]
    rows = [each for each, _ in found]
    weights = ([maps.corpus] if maps.corpus else []) + [domain.weight for domain in maps.domains]
    for part in ("text", "graph"):
        # Of a text-only model of a corpus without graphs, the graph's map stays the identity.
        domains = [
            (moments_of(*each[part]), weight) for each, weight in zip(rows, weights, strict=True) if len(each[part][0])
        ]
        if not domains:
            continue
        layer = getattr(trainer.model, f"whiten_{part}")
        fitted = mixed_whitening(domains, shrinkage=maps.shrinkage, between=maps.between)
        for buffer, value in zip((layer.mean, layer.matrix), fitted, strict=True):
            buffer.copy_(torch.from_numpy(value))
    names = ([OWN] if maps.corpus else []) + [Path(domain.folder).resolve().name for domain in maps.domains]
    return [
        {
            "name": name,
            "weight": weight,
            "rows": len(each["text"][0]),
            "pairs": len(each["text"][1]),
            "projects": sorted(projects),
        }
        for name, weight, (each, projects) in zip(names, weights, found, strict=True)
    ]


def _corpus_rows(trainer: Trainer, corpus: Corpus, modules: Int64, graphs: Int64) -> Rows:
    """Vectors of a corpus's modules, of some for the text and of some for the graph."""
    model, config = trainer.model, trainer.config
    weighting = trainer.model_config.pooling.weighting
    rows = {}
    projects: set[str] = set()
    for number, (part, allowed) in enumerate((("text", modules), ("graph", graphs))):
        chosen, pairs = choose_modules(corpus, allowed, np.random.default_rng([config.seed, 500 + number]))
        if not len(chosen):
            vectors = torch.zeros(0, 0)
        elif part == "text":
            vectors = encoding.text_vectors(model, corpus, chosen, weighting=weighting, threads=config.threads)
        else:
            vectors = encoding.graph_vectors(model, corpus, chosen, weighting=weighting)
        rows[part] = vectors.numpy(), pairs
        projects |= {corpus.projects[module] for module in chosen.tolist()}
    return rows, projects


def _held_out(trainer: Trainer) -> set[str]:
    """Projects that the run, or its table of answers, holds out: figures are measured on them."""
    projects = {trainer.corpus.projects[module] for module in trainer.held_out.tolist()}
    if trainer.answers is None:
        return projects
    return projects | {trainer.answers.projects[row] for row in trainer.answers.held_out.tolist()}


def _domain_rows(trainer: Trainer, domain: DomainConfig) -> Rows:
    folder, kept_out = Path(domain.folder), _held_out(trainer)
    if (folder / "corpus.json").is_file():
        corpus = Corpus.load(folder)
        if corpus.tokenizer.to_json() != trainer.corpus.tokenizer.to_json():
            raise ConfigError(
                f"domain {folder}: its corpus was not built with the tokenizer of the run's. Build it with: "
                "mirenc corpus build ... --tokenizer MODEL"
            )
        allowed = np.array([project not in kept_out for project in corpus.projects], dtype=bool)
        if not allowed.any():
            raise ConfigError(f"domain {folder}: has no project that the run does not hold out. Give another corpus")
        small = (corpus.node_count > 0) & (corpus.node_count <= trainer.config.max_nodes)
        rows, projects = _corpus_rows(trainer, corpus, np.flatnonzero(allowed), np.flatnonzero(allowed & small))
        return rows if domain.pairs else {part: (vectors, _NO_PAIRS) for part, (vectors, _) in rows.items()}, projects
    state = {name: value.float().cpu().numpy() for name, value in trainer.model.state_dict().items()}
    files = ModelFiles("run", trainer.model_config, trainer.corpus.tokenizer, state, "", trainer.folder)
    encoder = Encoder(files, NumpyRuntime(files.config, state, threads=trainer.config.threads))
    every = find_inputs(folder)
    project_of = dict(zip(every, ir_projects(every, folder), strict=True))
    inputs = [file for file in every if project_of[file] not in kept_out]
    # What cannot be read is left out, as where a corpus is built.
    found, pairs, _ = domain_vectors(
        encoder, inputs, "levels" if domain.pairs else None, level=domain.level, failed=lambda error: None
    )
    if not len(found["text"]):
        raise ConfigError(
            f"domain {folder}: has no {domain.level} that can be read and that the run does not hold out. "
            "Give a folder of IR or a corpus"
        )
    return {part: (vectors, pairs) for part, vectors in found.items()}, {project_of[file] for file in inputs}
