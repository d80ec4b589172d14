r"""What each part of a taught model is worth: small runs of one budget with one part missing, over several seeds.

    python pretrain/teaching_study.py RECIPE CORPUS -o STUDY --seeds 0,1,2 [--variant "no direction" ...]
    python downstream/pass_tasks.py TABLE -o STUDY/heads --records STUDY/records --features STUDY/features \
        --protocol held_out --seeds 1
    python pretrain/teaching_study.py --table STUDY

RECIPE is that of the whole run (`pretrain/fast.toml`), with as many steps as the study can afford. Each run leaves
STUDY/<variant>-<seed>.json (MLM, GAE and matching on the projects held out) and features of the pieces, which the
second line trains the same heads on for all, and is not made again. Answers about the projects held out are seen by
none.

"only KIND" learns one kind of the compiler's answers, "without KIND" all but one: what they gain on tasks of a kind
that they did not learn is transfer. Variants live
here and not in the package: what loses is not shipped.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import torch
from teaching import Answers, AnswersConfig, TeachingConfig, TeachingTrainer, piece_counts, read_answers
from torch import Tensor

from mirenc.base.config import load_toml
from mirenc.base.progress import progress
from mirenc.model.encoders.directed import RELATION_OF
from mirenc.model.torch_layers import Neighbours, TorchLayers
from mirenc.pretrain import encoding
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.encoding import FrozenTexts
from mirenc.pretrain.evaluation import Baselines, evaluate_model
from mirenc.pretrain.graphs import join_graphs
from mirenc.pretrain.trainer import Trainer

sys.path.append(str(Path(__file__).parents[1] / "downstream"))  # what scripts share
from kept_features import KeptFeatures

Values = dict[str, Any]
DEFAULT = "whole"
SLICE = 64
MLM_STEPS = 700
KINDS = ("sizes", "fires", "lists")


def without_compiler(values: Values) -> None:
    """Matching steps instead of those that learn answers; no trunk."""
    values["igm"]["steps"] += values["compiler"]["steps"]
    values["compiler"] = values["compiler"] | {"steps": 0}
    values.pop("taught")


def without_distillation(values: Values) -> None:
    """A text encoder that learned masked tokens in a run of the study's size, instead of a large encoder's vectors."""
    values.pop("start_from")
    values["mlm"] = {"steps": MLM_STEPS, "batch": 64, "learning_rate": 5e-3, "warmup": 50}


def without_positions(values: Values) -> None:
    """Edges without direction, operand number and successor number (`undirected` does the first)."""
    values["graph"] = values["graph"] | {"positions": False}


def without_sums(values: Values) -> None:
    """The mean of the nodes alone."""
    values["graph"] = values["graph"] | {"readout": "mean"}


def only_kind(kind: str) -> Callable[[Values], None]:
    """One kind of answers."""

    def change(values: Values) -> None:
        values["answers"] = values["answers"] | {"kinds": (kind,)}

    return change


def without(kind: str) -> Callable[[Values], None]:
    """All kinds of answers but one."""

    def change(values: Values) -> None:
        values["answers"] = values["answers"] | {"kinds": tuple(name for name in KINDS if name != kind)}

    return change


VARIANTS: dict[str, Callable[[Values], None]] = {
    DEFAULT: lambda values: None,
    "no compiler": without_compiler,
    "no direction": without_positions,
    "no distillation": without_distillation,
    "no sums": without_sums,
    **{f"only {kind}": only_kind(kind) for kind in KINDS},
    **{f"without {kind}": without(kind) for kind in KINDS},
}


def undirected_neighbours(
    layers: TorchLayers, edges: Tensor, relation: Tensor, relations: int, nodes: int
) -> Neighbours:
    """Neighbours by flow alone: neither the direction nor the position of an edge counts."""
    flow_of = np.array([row[0] for row in RELATION_OF for _ in np.unique(row)] * 2)
    return _OWN_NEIGHBOURS(layers, edges, layers.constant(flow_of)[relation], relations, nodes)


_OWN_NEIGHBOURS = TorchLayers.neighbours


@contextlib.contextmanager
def as_variant(name: str) -> Iterator[None]:
    """What a variant changes in the model's code, for the time of a run."""
    if name == "no direction":
        TorchLayers.neighbours = undirected_neighbours  # type: ignore[method-assign]
    try:
        yield
    finally:
        TorchLayers.neighbours = _OWN_NEIGHBOURS  # type: ignore[method-assign]


@torch.no_grad()
def features_of(trainer: Trainer, answers: Answers, source: str) -> KeptFeatures:
    """Vectors of all pieces, as ``purpose="features"`` gives them: means, readout, trunk, logarithms of sizes."""
    model, corpus, modules = trainer.model.eval(), answers.corpus, answers.modules
    weighting = trainer.model_config.pooling.weighting
    texts = FrozenTexts(model, corpus, modules, processes=trainer.processes, weighting=weighting)
    counts = torch.from_numpy(piece_counts(answers))
    features: dict[str, list[np.ndarray]] = {"text": [], "graph": [], "taught": []}
    for first in range(0, len(modules), SLICE):
        block = slice(first, first + SLICE)
        graphs = join_graphs(corpus, modules[block], weighting=weighting).data(torch.device("cpu"))
        graph = encoding.encode_graphs(model, graphs, texts).graph
        features["text"].append(torch.cat([texts.means[block], torch.log1p(counts[block])], -1).numpy())
        features["graph"].append(graph.numpy())
        if model.taught is not None:
            features["taught"].append(model.taught(texts.means[block], graph, counts[block]).numpy())
    hashes = np.array([PurePosixPath(corpus.names[number]).stem for number in modules.tolist()])
    parts = {name: np.concatenate(rows) for name, rows in features.items() if rows}
    return KeptFeatures(source, source, hashes, parts)


def figures_of(trainer: Trainer) -> dict[str, float]:
    """Masked tokens, graph reconstruction and matching on the modules held out."""
    baselines = Baselines.fit(trainer.corpus, trainer.train_modules)
    evaluation = evaluate_model(trainer.model, trainer.corpus, trainer.held_out, baselines=baselines)
    return {
        "MLM, as they occur": evaluation["mlm"]["occurring"]["accuracy"],
        **{f"AUC {flow}": evaluation["gae"][flow]["auc"] for flow in ("control", "data", "call")},
        "matching, random": evaluation["matching"]["accuracy_random"],
        "matching, near size": evaluation["matching"]["accuracy_near_size"],
    }


def run(recipe: Values, corpus: Corpus, name: str, seed: int, study: Path) -> None:
    """Train one variant, measure it and keep its features."""
    values = {**recipe, "seed": seed}
    VARIANTS[name](values)
    config = TeachingConfig.from_dict(values)
    source = source_of(name, seed)
    start = time.monotonic()
    with as_variant(name), tempfile.TemporaryDirectory() as folder:
        trainer = TeachingTrainer(config, corpus, folder)
        with progress(source, sum(stage.steps for stage in trainer.stages.values())) as advance:
            trainer.report = lambda step: advance()
            trainer.run()
        figures = figures_of(trainer) | {"minutes": round((time.monotonic() - start) / 60, 2)}
        recipe_config = config.model_copy(update={"answers": AnswersConfig(**recipe["answers"])})
        answers = read_answers(recipe_config, corpus.tokenizer, held_out=corpus.projects_of(trainer.held_out))
        features_of(trainer, answers, source).save(study / "features" / f"{source}.npz")
    (study / f"{source}.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def source_of(name: str, seed: int) -> str:
    """Name of a run, which its files and its row of the heads' records have."""
    return f"{name.replace(' ', '_')}-{seed}"


# Columns of heads: title, record of downstream/pass_tasks.py, figure.
HEADS = (
    ("size_after Oz, MAPE", "size_after.Oz", "mape"),
    ("Oz over O0, R2", "oz_benefit.Oz_over_O0", "r2"),
    ("O3 over Oz, R2", "oz_benefit.O3_over_Oz", "r2"),
    ("fires Oz, AUC", "pass_fires.Oz", "auc"),
    ("fires O3, AUC", "pass_fires.O3", "auc"),
    ("pass_list, gain", "pass_list", "speedup_geometric"),
)


def table(study: Path) -> str:
    """Mean and standard deviation over the seeds that all variants have, as markdown."""
    run_seeds = {name: {seed_of(path) for path in study.glob(f"{source_of(name, 0)[:-2]}-*.json")} for name in VARIANTS}
    run_seeds = {name: seeds for name, seeds in run_seeds.items() if seeds}
    seeds = sorted(set.intersection(*run_seeds.values())) if run_seeds else []
    if not seeds:
        raise SystemExit(f"{study}: no seed that all variants have. Run the study first")
    heads = {record: read_json(study / "heads" / f"{record}.held_out.json") for _, record, _ in HEADS}
    rows: dict[str, dict[str, list[float]]] = {}
    for name in run_seeds:
        runs = [read_json(study / f"{source_of(name, seed)}.json") for seed in seeds]
        cells = {key: [figures[key] for figures in runs] for key in runs[0] if key != "minutes"}
        for title, record, figure in HEADS:
            if heads[record]:
                cells[title] = [row_of(heads[record], source_of(name, seed))[figure] for seed in seeds]
        rows[name] = cells
    titles = list(rows[DEFAULT])
    lines = [f"| Variant | {' | '.join(titles)} |", f"|---|{' ---: |' * len(titles)}"]
    for name, cells in rows.items():
        entries = (f"{np.mean(cells[title]):.3f} ± {np.std(cells[title]):.3f}" for title in titles)
        lines.append(f"| {name} | {' | '.join(entries)} |")
    return "\n".join([*lines, "", f"{len(seeds)} seed(s)."])


def row_of(record: Values, source: str) -> dict[str, float]:
    """Figures of a run's row: the first source of the features has the plain name."""
    figures: dict[str, dict[str, float]] = record["figures"]
    return figures[f"both:{source}" if f"both:{source}" in figures else "both"]


def seed_of(path: Path) -> int:
    """Seed of a run's file."""
    return int(path.stem.rpartition("-")[2])


def read_json(path: Path) -> Values:
    """A file of JSON, or nothing where there is none."""
    values: Values = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return values


def main() -> None:
    """Run what is missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path, nargs="?")
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("-o", "--output", type=Path, help="folder of the study")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--variant", action="append", choices=list(VARIANTS), help="may be repeated [default: all]")
    parser.add_argument("--table", type=Path, help="print the table of a study that is done")
    arguments = parser.parse_args()
    if arguments.table is not None:
        print(table(arguments.table))
        return
    if arguments.recipe is None or arguments.corpus is None or arguments.output is None:
        parser.error("give RECIPE CORPUS -o STUDY, or --table STUDY")
    recipe = load_toml(arguments.recipe)
    corpus = Corpus.load(arguments.corpus)
    (arguments.output / "features").mkdir(parents=True, exist_ok=True)
    for seed in map(int, arguments.seeds.split(",")):
        for name in arguments.variant or VARIANTS:
            if not (arguments.output / f"{source_of(name, seed)}.json").is_file():
                run(recipe, corpus, name, seed, arguments.output)


if __name__ == "__main__":
    main()
