"""A trained model as a folder that can be shipped: weights, tokenizer, card with held-out figures, golden vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from mirenc import __version__
from mirenc.golden import write_golden
from mirenc.pretraining.evaluation import evaluate_model
from mirenc.pretraining.trainer import Trainer
from mirenc.weights import save_files

__all__ = ["package"]


def package(trainer: Trainer, folder: Path, *, name: str) -> Path:
    """Write a model folder and the figures it was measured with.

    The weights are rounded to float16 before they are evaluated, so the card speaks of the file that is shipped.
    """
    state = trainer.model.state_dict()
    for value in state.values():
        value.copy_(value.half().float())
    figures = evaluate_model(trainer)
    figures["training"] = _training_facts(trainer)
    weights = {key: value.numpy().astype(np.float16) for key, value in state.items()}
    save_files(
        folder,
        name=name,
        config=trainer.model_config,
        tokenizer=trainer.corpus.tokenizer,
        weights=weights,
        card=_card(name, trainer, figures),
    )
    write_golden(folder)
    (folder.parent / f"{name}.figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return folder


def _training_facts(trainer: Trainer) -> dict[str, Any]:
    corpus = trainer.corpus
    levels = sorted({name.split("/")[1] for name in corpus.names if name.count("/") >= 2})
    programs = {(name.split("/")[0], name.split("/")[-1]) for name in corpus.names}
    return {
        "hours": round(trainer.progress.seconds / 3600, 2),
        "modules": len(trainer.train_modules),
        "projects": len({corpus.projects[module] for module in trainer.train_modules}),
        "programs_in_corpus": len(programs),
        "levels": levels,
        "distinct_statements": len(trainer.statement_rows),
        "config": trainer.config.model_dump(),
    }


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _card(name: str, trainer: Trainer, figures: dict[str, Any]) -> str:
    config = trainer.model_config
    training, mlm, matching = figures["training"], figures["mlm"], figures["matching"]
    gae_rows = "\n".join(
        f"| GAE {flow}, ROC AUC | {f['auc']:.3f} (AP {f['average_precision']:.3f}, {f['modules']} modules) | "
        f"common neighbours {f['auc_common_neighbours']:.3f}, degree product {f['auc_degree_product']:.3f} |"
        for flow, f in figures["gae"].items()
    )
    return f"""# {name}

Made with mirenc {__version__}. Text encoder: {config.text.layers} layers, hidden {config.text.hidden}, {config.text.heads} heads;
graph encoder: GCN {config.text.hidden} -> {config.graph.hidden} -> {config.graph.out}; WordPiece vocabulary {config.tokenizer.vocab_size};
{trainer.model.parameter_count():,} parameters, stored as float16. A module's vector has {config.text.hidden} (text) + {config.graph.out} (graph) components.

## Data
{training["programs_in_corpus"]} programs (translation units) of {len(set(trainer.corpus.projects))} projects at optimisation levels {", ".join(training["levels"])}:
{len(trainer.corpus)} modules after removing duplicates, {training["modules"]} of {training["projects"]} projects for training. Statements are normalised at level
`{config.tokenizer.normalisation}`; {training["distinct_statements"]} distinct ones, drawn by count to the power {trainer.config.frequency_temper}.

## Training
MLM ({trainer.config.mlm.steps} steps of {trainer.config.mlm.batch} statements), GAE ({trainer.config.gae.steps} of {trainer.config.gae.batch} graphs), IR-graph matching
({trainer.config.igm.steps} of {trainer.config.igm.batch} pairs; the text encoder stays fixed). {training["hours"]} hours on {trainer.config.threads} CPU thread(s), seed {trainer.config.seed}.
Graphs of more than {trainer.config.max_nodes} nodes were left out of GAE and matching.

## Held-out figures
Measured on the shipped float16 weights, on {figures["held_out"]["modules"]} modules of projects never trained on: {", ".join(figures["held_out"]["projects"])}.
The tokenizer was trained on statements of all projects, these included.

| Figure | Model | Trivial baseline |
|---|---|---|
| MLM accuracy ({mlm["positions"]} masked tokens of statements not in training) | {_percent(mlm["accuracy"])} | most frequent token {_percent(mlm["accuracy_most_frequent"])}, most frequent between the true neighbours {_percent(mlm["accuracy_neighbours"])} |
| MLM perplexity | {mlm["perplexity"]:.2f} | |
{gae_rows}
| Matching accuracy, random negatives ({matching["modules"]} modules) | {_percent(matching["accuracy_random"])} | size difference {_percent(matching["accuracy_random_baseline"])} |
| Matching accuracy, negatives of nearest size | {_percent(matching["accuracy_near_size"])} | size difference {_percent(matching["accuracy_near_size_baseline"])} |

GAE negatives join endpoints of the same flow in the same module, so they cannot be told apart by node kind.

## Limits
A small model: use it to build on the tools, and expect a larger one to be better. Vectors of two modules are alike because both are IR:
rank by cosine, do not threshold it. At level `locals` the order of operands and of branch targets is not seen: `sub %x, %y` and
`sub %y, %x` have one statement, and the GCN takes edges without position or direction. A language absent from the data above embeds, but
was not trained on.
"""
