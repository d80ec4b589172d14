"""The model card: what a model was made from and how, what it scored, and what it cannot do."""

from __future__ import annotations

from typing import Any

from mirenc import __version__
from mirenc.pretraining.evaluation import Figures, figure_rows
from mirenc.pretraining.trainer import Trainer
from mirenc.pretraining.whitening import OWN

__all__ = ["model_card"]


def model_card(name: str, trainer: Trainer, figures: Figures) -> str:
    """Markdown text; every figure in it is in ``figures``."""
    return "\n".join(
        [
            f"# {name}\n",
            _architecture(trainer),
            "## Data",
            _data(trainer, figures),
            "## Training",
            _training(trainer, figures),
            "## Held-out figures",
            _figures(name, figures),
            "## Limits",
            _limits(trainer),
        ]
    )


def _architecture(trainer: Trainer) -> str:
    config = trainer.model_config
    text, graph = config.text, config.graph
    trunk = "" if config.taught is None else f" Its taught vector has {config.taught.width}."
    words = f" + {config.lexical.width} (words, untrained)" if config.lexical is not None else ""
    return f"""Made with mirenc {__version__}. Text encoder: {text.card}; graph encoder: {graph.card(text.token_width)}; WordPiece vocabulary {config.tokenizer.vocab_size}; {trainer.model.parameter_count():,} parameters, stored as
float16. A module's vector has {text.hidden} (text) + {graph.width} (graph: {graph.readout} of the nodes){words} components.{trunk}
"""


def _data(trainer: Trainer, figures: Figures) -> str:
    training = figures["training"]
    languages = ", ".join(f"{language} {count}" for language, count in training["languages"].items())
    ancestors = ", its ancestors included," if trainer.ancestry else ""
    unknown = sorted({source.model for source in trainer.ancestry if source.kind == "unknown"})
    besides = f" What {' and '.join(unknown)} saw is not recorded." if unknown else ""
    return f"""{training["programs_in_corpus"]} programs (translation units) of {len(set(trainer.corpus.projects))} projects at optimisation levels
{", ".join(training["levels"])}: {len(trainer.corpus)} modules after removing duplicates ({languages}), {training["modules"]} of {training["projects"]} projects
for training. Statements are normalised at level `{trainer.model_config.tokenizer.normalisation}`; {training["distinct_statements"]} distinct ones, drawn by
count to the power {trainer.config.frequency_temper}. The model{ancestors} learned from {training["seen_projects"]} projects (`provenance.json`).{besides}
"""


def _training(trainer: Trainer, figures: Figures) -> str:
    config, training = trainer.config, figures["training"]
    if config.schedule == "joint":
        stages = f"MLM, GAE and matching together, {config.mlm.steps} steps of {config.mlm.batch} statements and {config.igm.batch} graphs"
    else:
        stages = (
            f"MLM ({config.mlm.steps} steps of {config.mlm.batch} statements, {config.mask_share:.0%} of the tokens masked), "
            f"GAE ({config.gae.steps} of {config.gae.batch} graphs),\nIR-graph matching ({config.igm.steps} of {config.igm.batch} "
            f"pairs, {config.hard_negatives:.0%} of the steps with graphs of nearly equal size; the text encoder stays fixed)"
        )
    if config.compiler.steps and trainer.answers is not None:
        answers, kinds = trainer.answers, ", ".join(trainer.answers.labels)
        stages += (
            f"; then {config.compiler.steps} steps of {config.igm.batch} pairs and of a compiler's answers ({kinds}) about "
            f"{config.compiler.batch}\nof {len(answers.training):,} pieces of {len(answers.projects_of(answers.training))} projects"
        )
    start = trainer.started_from
    if start is not None:
        weights = "text encoder" if "part" in start else "weights"
        stages = f"From the {weights} of {start['name']} (digest {start['digest'][:12]}): {stages}"
    whitened = _whitened(training["maps"])
    return f"""{stages}.
Optimiser {config.optimiser}, {config.precision} matrix products, seed {config.seed}; {training["hours"]} hours on {training["hardware"]}. Graphs of more than
{config.max_nodes} nodes were left out of GAE and matching.{whitened}
"""


def _whitened(domains: list[dict[str, Any]]) -> str:
    """What the maps were fitted on; nothing of a model without maps."""
    if not domains:
        return ""
    if [each["name"] for each in domains] == [OWN]:
        return " Pooled vectors are whitened by a map fitted on training modules, programs at two levels first."
    each = ", ".join(
        f"{one['name']} ({one['rows']:,} pieces, {one['pairs']:,} pairs of levels, weight {one['weight']:g})"
        for one in domains
    )
    return f" Pooled vectors are whitened by a map fitted on several kinds of code: {each}."


def _figures(name: str, figures: Figures) -> str:
    data = figures["data"]
    rows = "\n".join(f"| {' | '.join(row)} |" for row in figure_rows(figures))
    return f"""Measured on the shipped float16 weights, on {data["modules"]} modules of projects never trained on: {", ".join(data["projects"])}.
15 % of the tokens are masked. The tokenizer was trained on statements of all projects, these included. The baselines were
{figures["baselines"]} and come with the model (`baselines.safetensors`): `mirenc models evaluate {name} --ir FOLDER` gives
the same figures for other IR.

| Figure | Model | Baselines |
|---|---|---|
{rows}

GAE and matching are measured on some of the {data["graphs"]:,} modules whose graph the corpus keeps (up to {data["largest_graph"]:,} nodes).
GAE negatives join endpoints of the same flow in the same module, so they cannot be told apart by node kind.
"""


def _limits(trainer: Trainer) -> str:
    alike = (
        ""
        if trainer.model_config.pooling.whiten
        else "Vectors of two modules are alike because both are IR: rank by cosine, do not threshold it. "
    )
    reason = trainer.model_config.graph.blind
    if not reason:
        order = """At level `locals` the text encoder does not see the order of operands and of branch targets: `sub %x, %y` and
`sub %y, %x` have one statement. The graph encoder does, up to the fourth operand."""
    else:
        order = f"""At level `locals` the order of operands and of branch targets is not seen: `sub %x, %y` and `sub %y, %x`
have one statement, and {reason}."""
    return f"""{alike}{order} A language absent from the data above embeds, but was
not trained on.
"""
