"""A trained model as a folder to ship: weights, tokenizer, baselines, card with held-out figures, golden vectors."""

from __future__ import annotations

import json
import platform
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mirenc.embed import load
from mirenc.golden import write_golden
from mirenc.pretraining.card import model_card
from mirenc.pretraining.config import MapsConfig
from mirenc.pretraining.evaluation import Baselines, Figures, NoFigureError, evaluate_model
from mirenc.pretraining.evaluation.answers import evaluate_answers
from mirenc.pretraining.evaluation.retrieval import evaluate_retrieval, find_level_pairs
from mirenc.pretraining.trainer import Trainer
from mirenc.pretraining.whitening import fit_lexicon, fit_maps
from mirenc.weights import save_files, seen_by
from mirenc.weights.provenance import Kind, Source

__all__ = ["package"]


def package(
    trainer: Trainer, folder: Path, *, name: str, ir: Path | None = None, maps: MapsConfig | None = None
) -> Path:
    """Write a model folder and the figures it was measured with.

    The weights are rounded to float16 before they are evaluated, so the card speaks of the file that is shipped.

    Parameters
    ----------
    trainer : Trainer
        After its run.
    folder : Path
    name : str
    ir : Path, optional
        The folder of IR that the corpus was built from: function retrieval needs more than a corpus keeps.
    maps : MapsConfig, optional
        What the whitening maps are fitted on beside training modules, or instead of them.
    """
    state = trainer.model.state_dict()
    for key, value in state.items():
        if not key.startswith("whiten_"):
            value.copy_(value.half().float())
    domains = fit_maps(trainer, maps) if trainer.model_config.pooling.whiten else []
    if trainer.model_config.lexical is not None:
        fit_lexicon(trainer)
    baselines = Baselines.fit(trainer.corpus, trainer.train_modules)
    sources = _sources(trainer, name, domains)
    save_files(
        folder,
        name=name,
        config=trainer.model_config,
        tokenizer=trainer.corpus.tokenizer,
        weights={key: value.cpu().numpy() for key, value in state.items()},
        provenance=sources,
    )
    figures = evaluate_model(
        trainer.model,
        trainer.corpus,
        trainer.held_out,
        baselines=baselines,
        known_texts=trainer.corpus.text_counts(trainer.train_modules.tolist()) > 0,
        retrieval=lambda: _retrieval(trainer, folder, ir),
        threads=trainer.config.threads,
    )
    if trainer.answers is not None:
        figures["answers"] = evaluate_answers(trainer.teacher())
    figures["training"] = _training_facts(trainer) | {"maps": domains, "seen_projects": len(seen_by(sources))}
    (folder / "MODEL_CARD.md").write_text(model_card(name, trainer, figures), encoding="utf-8")
    baselines.save(folder)
    write_golden(folder)  # seals the folder
    (folder.parent / f"{name}.figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return folder


def _sources(trainer: Trainer, name: str, domains: Sequence[dict[str, Any]]) -> tuple[Source, ...]:
    """What the model learned from, after what its ancestors did."""
    learned: dict[Kind, set[str]] = {
        "corpus": trainer.corpus.projects_of(trainer.train_modules),
        "maps": {project for domain in domains for project in domain["projects"]},
    }
    if trainer.answers is not None:
        learned["answers"] = trainer.answers.projects_of(trainer.answers.training)
    own = [Source(name, kind, tuple(sorted(projects))) for kind, projects in learned.items() if projects]
    return (*trainer.ancestry, *own)


def _retrieval(trainer: Trainer, folder: Path, ir: Path | None) -> Figures:
    """Function retrieval by the packaged model on the held-out projects."""
    if ir is None:
        raise NoFigureError("the IR that the corpus was built from was not given")
    names = trainer.corpus.names
    files = [path for module in trainer.held_out if (path := ir / names[module]).is_file()]
    with tempfile.TemporaryDirectory() as cache:
        return evaluate_retrieval(load(folder, cache=cache), find_level_pairs(ir, files))


def _training_facts(trainer: Trainer) -> dict[str, Any]:
    corpus, modules = trainer.corpus, trainer.train_modules
    hardware = f"{trainer.config.threads} thread(s) of an {platform.machine()} CPU"
    if trainer.device.type == "cuda":
        hardware = torch.cuda.get_device_name(trainer.device)
    return {
        "hours": round(trainer.progress.seconds / 3600, 2),
        "modules": len(modules),
        "projects": len(corpus.projects_of(modules)),
        "programs_in_corpus": len(set(corpus.programs)),
        "levels": sorted({info.opt_level for info in corpus.infos if info.opt_level}),
        "languages": dict(Counter(info.language or "unknown" for info in corpus.infos).most_common()),
        "hardware": hardware if trainer.processes.count == 1 else f"{trainer.processes.count} x {hardware}",
        "distinct_statements": int(np.count_nonzero(corpus.text_counts(modules.tolist()))),
        "started_from": trainer.started_from,
        # Figures are published, and the folders of one machine say nothing on another; `started_from` has the model.
        "config": trainer.config.model_dump(exclude={"answers": {"corpus", "table"}, "start_from": True}),
        "answers": trainer.answers.identity if trainer.answers is not None else None,
    }
