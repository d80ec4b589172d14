"""A trained model as a folder to ship: weights, tokenizer, baselines, card with held-out figures, golden vectors."""

import json
import platform
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mirenc import __version__
from mirenc.encoder import load
from mirenc.encoder.golden import write_golden
from mirenc.encoder.weights import save_files, seen_by
from mirenc.encoder.weights.provenance import Source
from mirenc.pretrain.config import MapsConfig
from mirenc.pretrain.evaluation import Baselines, Figures, evaluate_model
from mirenc.pretrain.evaluation.retrieval import evaluate_retrieval, find_level_pairs
from mirenc.pretrain.trainer import Trainer
from mirenc.pretrain.whitening import TRAINING_MODULES, fit_lexicon, fit_maps


def package(
    trainer: Trainer, folder: Path, *, name: str, ir: Path | None = None, maps: MapsConfig | None = None
) -> Path:
    """Write a model folder and the figures it was measured with, of a trainer after its run.

    The weights are rounded to float16 before they are evaluated, so the card speaks of the file that is shipped. ``ir``
    is the folder that the corpus was built from: function retrieval needs more than a corpus keeps. ``maps`` are what
    the whitening maps are fitted on beside training modules, or instead of them.
    """
    state = trainer.model.state_dict()
    for key, value in state.items():
        if not key.startswith("whiten_"):
            value.copy_(value.half().float())
    trained_maps = "contrast" in trainer.stages  # trained along, on the functions
    domains = fit_maps(trainer, maps) if trainer.model_config.pooling.whiten and not trained_maps else []
    if trainer.model_config.lexical is not None and trainer.config.preset != "start":
        fit_lexicon(trainer)
    corpus, config, sources = trainer.corpus, trainer.model_config, _sources(trainer, name, domains)
    weights = {key: value.cpu().numpy() for key, value in state.items()}
    save_files(folder, name=name, config=config, tokenizer=corpus.tokenizer, weights=weights, provenance=sources)
    baselines = Baselines.fit(corpus, trainer.train_modules)
    figures = evaluate_model(
        trainer.model,
        corpus,
        trainer.held_out,
        baselines=baselines,
        known_texts=corpus.text_counts(trainer.train_modules.tolist()) > 0,
        retrieval=None if ir is None else partial(_retrieval, trainer, folder, ir),
    )
    figures |= trainer.figures()
    figures["training"] = _training_facts(trainer) | {"maps": domains, "seen_projects": len(seen_by(sources))}
    (folder / "MODEL_CARD.md").write_text(model_card(name, trainer, figures), encoding="utf-8")
    baselines.save(folder)
    write_golden(folder)  # seals the folder
    (folder.parent / f"{name}.figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return folder


def _sources(trainer: Trainer, name: str, domains: Sequence[dict[str, Any]]) -> tuple[Source, ...]:
    """The sources of the model's ancestors, then its own."""
    project_sets = trainer.learned_from() | {"maps": {project for domain in domains for project in domain["projects"]}}
    sources = [Source(name, kind, tuple(sorted(projects))) for kind, projects in project_sets.items() if projects]
    return (*trainer.ancestry, *sources)


def _retrieval(trainer: Trainer, folder: Path, ir: Path) -> Figures:
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
        "hours": round(trainer.seconds / 3600, 2),
        "modules": len(modules),
        "projects": len(corpus.projects_of(modules)),
        "programs_in_corpus": len(set(corpus.programs)),
        "levels": sorted({info.opt_level for info in corpus.infos if info.opt_level}),
        "languages": dict(Counter(info.language or "unknown" for info in corpus.infos).most_common()),
        "hardware": hardware if trainer.processes.count == 1 else f"{trainer.processes.count} x {hardware}",
        "distinct_statements": int(np.count_nonzero(corpus.text_counts(modules.tolist()))),
        "started_from": trainer.started_from,
        # Figures are published, and the folders of one machine say nothing on another; `started_from` has the model.
        "config": trainer.config.model_dump(
            exclude={"answers": {"corpus", "table"}, "contrast": {"functions"}, "start_from": True}
        ),
    }


def model_card(name: str, trainer: Trainer, figures: Figures) -> str:
    """Markdown text; every figure in it is in ``figures``."""
    config, training, data = trainer.model_config, figures["training"], figures["data"]
    text, graph = config.text, config.graph
    trunk_note = "" if config.taught is None else f" Its taught vector has {config.taught.width}."
    lexical_note = f" + {config.lexical.width} (words, untrained)" if config.lexical is not None else ""
    languages = ", ".join(f"{language} {count}" for language, count in training["languages"].items())
    ancestors = ", its ancestors included," if trainer.ancestry else ""
    unknown = sorted({source.model for source in trainer.ancestry if source.kind == "unknown"})
    unknown_note = f" What {' and '.join(unknown)} saw is not recorded." if unknown else ""
    rows = "\n".join(f"| {' | '.join(row)} |" for row in trainer.rows(figures))
    cosine_note = "Vectors of two modules are alike because both are IR: rank by cosine, do not threshold it. "
    order_note = f"""At level `locals` the order of operands and of branch targets is not seen: `sub %x, %y` and `sub %y, %x`
have one statement, and {graph.order}."""
    if graph.positions:
        order_note = f"""At level `locals` the text encoder does not see the order of operands and of branch targets: `sub %x, %y` and
`sub %y, %x` have one statement. The graph encoder does, {graph.order}."""
    return f"""# {name}

Made with mirenc {__version__}. Text encoder: {text.card}; graph encoder: {graph.card(text.token_width)}; WordPiece vocabulary {config.tokenizer.vocab_size}; {trainer.model.parameter_count():,} parameters, stored as
float16. A module's vector has {text.hidden} (text) + {graph.width} (graph: {graph.readout} of the nodes){lexical_note} components.{trunk_note}

## Data
{training["programs_in_corpus"]} programs (translation units) of {len(set(trainer.corpus.projects))} projects at optimisation levels
{", ".join(training["levels"])}: {len(trainer.corpus)} modules after removing duplicates ({languages}), {training["modules"]} of {training["projects"]} projects
for training. Statements are normalised at level `{config.tokenizer.normalisation}`; {training["distinct_statements"]} distinct ones, drawn by
count to the power {trainer.config.frequency_temper}. The model{ancestors} learned from {training["seen_projects"]} projects (`provenance.json`).{unknown_note}

## Training
{_training(trainer, training)}

## Held-out figures
Measured on the shipped float16 weights, on {data["modules"]} modules of projects never trained on: {", ".join(data["projects"])}.
15 % of the tokens are masked. The tokenizer was trained on statements of all projects, these included. The baselines were
{figures["baselines"]} and come with the model (`baselines.safetensors`): `mirenc models evaluate {name} --ir FOLDER` gives
the same figures for other IR.

| Figure | Model | Baselines |
|---|---|---|
{rows}

GAE and matching are measured on some of the {data["graphs"]:,} modules whose graph the corpus keeps (up to {data["largest_graph"]:,} nodes).
GAE negatives join endpoints of the same flow in the same module, so they cannot be told apart by node kind.

## Limits
{"" if config.pooling.whiten else cosine_note}{order_note} A language absent from the data above embeds, but was
not trained on.
"""


def _training(trainer: Trainer, training: dict[str, Any]) -> str:
    config = trainer.config
    stages = (
        f"MLM ({config.mlm.steps} steps of {config.mlm.batch} statements, {config.mask_share:.0%} of the tokens masked), "
        f"GAE ({config.gae.steps} of {config.gae.batch} graphs),\nIR-graph matching ({config.igm.steps} of {config.igm.batch} "
        f"pairs, {config.hard_negatives:.0%} of the steps with graphs of nearly equal size; the text encoder stays fixed)"
    )
    stages += trainer.stage_words()
    if (start := trainer.started_from) is not None:
        weights = "text encoder" if "part" in start else "weights"
        stages = f"From the {weights} of {start['name']} (digest {start['digest'][:12]}): {stages}"
    return f"""{stages}.
Optimiser {config.optimiser}, {config.precision} matrix products, seed {config.seed}; {training["hours"]} hours on {training["hardware"]}. Graphs of more than
{config.max_nodes} nodes were left out of GAE and matching.{_maps_text(training["maps"])}"""


def _maps_text(domains: list[dict[str, Any]]) -> str:
    """The card's sentence on what the maps were fitted on; "" without maps."""
    if not domains:
        return ""
    if [domain["name"] for domain in domains] == [TRAINING_MODULES]:
        return " Pooled vectors are whitened by a map fitted on training modules, programs at two levels first."
    template = "{name} ({rows:,} pieces, {pairs:,} pairs of levels, weight {weight:g})"
    domain_list = ", ".join(template.format(**domain) for domain in domains)
    return f" Pooled vectors are whitened by a map fitted on several kinds of code: {domain_list}."
