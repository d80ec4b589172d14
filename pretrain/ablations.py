"""Ablations that decide the defaults: small runs of one budget, three seeds, on training projects only.

    python pretrain/ablations.py IR_FOLDER --work WORK -o pretrain/ablations.json [--every 10] [--seeds 0,1,2]

Every tenth program of the IR, without the projects that the shipped model is evaluated on; each seed holds out other
projects of the rest. One MLM run a seed and level; what changes the graph side only starts from its weights. About an
hour on one core; a stopped run goes on.

Variants live here and not in the package: what loses is not shipped.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.llvm.sources.ir_folder import digest
from mirenc.model.config import PRESETS, ModelConfig, declared_layers
from mirenc.model.data import IRData
from mirenc.model.heads import matching_logits
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.tokenizer import PAD, TokenizerConfig
from mirenc.model.torch_layers import Head
from mirenc.model.whitening import fit_whitening
from mirenc.pretrain import encoding
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus, build_corpus
from mirenc.pretrain.evaluation import Baselines
from mirenc.pretrain.evaluation.graphs import evaluate_matching, flow_figures, gae_scores
from mirenc.pretrain.evaluation.mlm import choose_distinct, evaluate_mlm
from mirenc.pretrain.trainer import Trainer

BUDGET = {
    "held_out_share": 0.12,
    "precision": "bfloat16",
    "max_nodes": 2000,
    "matching_modules": 450,
    "mask_share": 0.25,
    "mlm": {"steps": 700, "batch": 64, "learning_rate": 5e-3, "warmup": 50},
    "gae": {"steps": 200, "batch": 8, "learning_rate": 1e-3, "warmup": 30},
    "igm": {"steps": 250, "batch": 16, "learning_rate": 1e-3, "warmup": 30},
}
DEFAULT = PRESETS["tiny"]
# What mirenc-base is evaluated on.
HELD_OUT = {
    *("cddlib", "dlib", "emboss", "flac", "isl", "libsodium"),
    *("mandelbulber2", "ode", "openblas", "velvet", "xz-utils"),
}


def statement_table(model: MIREncoder, corpus: Corpus) -> Tensor:
    """Node features from the text encoder instead of the token embedding. (U, H)."""
    return torch.from_numpy(encoding.statement_vectors(model, corpus, np.arange(len(corpus.text_length))))


def literal_ids(model: MIREncoder, corpus: Corpus) -> Tensor:
    """Node features that are the token ids themselves, as shares of the vocabulary. (U, H)."""
    ids = torch.from_numpy(corpus.padded_ids(np.arange(len(corpus.text_length))))
    features = torch.zeros(len(ids), model.config.text.hidden)
    features[:, : ids.shape[1]] = ids * (ids != PAD) / model.config.tokenizer.vocab_size
    return features


def use_features(trainer: Trainer, make: Callable[[MIREncoder, Corpus], Tensor] | None) -> None:
    """Take node features from a table of all texts, made when the graph stages begin; None: the package's own."""
    tables: list[Tensor] = []

    def lookup(model: MIREncoder, data: IRData) -> Tensor:
        if not tables:
            tables.append(make(trainer.model, trainer.corpus))  # type: ignore[misc]
        return tables[0][data.text_key]

    encoding.node_features = OWN_FEATURES if make is None else lookup


def concatenated(model: MIREncoder) -> MIREncoder:
    """Flows side by side instead of their mean."""
    model.graph.combine = lambda per_flow: torch.cat(per_flow, -1)  # type: ignore[method-assign]
    config = model.config
    new_config = config.model_copy(update={"graph": config.graph.model_copy(update={"out": 3 * config.graph.out})})
    model.matching = Head(declared_layers(new_config)["matching"], matching_logits)
    return model


def largest(model: MIREncoder) -> MIREncoder:
    """The largest of the flows in each component."""
    model.graph.combine = lambda per_flow: torch.stack(per_flow).amax(0)  # type: ignore[method-assign]
    return model


def pooled(**changes: Any) -> ModelConfig:
    """The default with another pooling of tokens or statements."""
    values = DEFAULT.model_dump()
    for key, value in changes.items():
        section, _, name = key.partition("__")
        values[section][name] = value
    return ModelConfig.from_dict(values)


Make = Callable[[ModelConfig], MIREncoder]
# name -> (architecture, how the model is made, keys of the run that differ)
VARIANTS: dict[str, tuple[ModelConfig, Make, dict[str, Any]]] = {
    "default": (DEFAULT, MIREncoder, {}),
    "statement vector: [CLS]": (pooled(text__pooling="cls"), MIREncoder, {}),
    "weighting: count": (pooled(pooling__weighting="count"), MIREncoder, {}),
    "node features: statement vector": (DEFAULT, MIREncoder, {}),
    "node features: literal ids": (DEFAULT, MIREncoder, {}),
    "flows: concatenated": (DEFAULT, lambda config: concatenated(MIREncoder(config)), {}),
    "flows: maximum": (DEFAULT, lambda config: largest(MIREncoder(config)), {}),
    "matching: half hard negatives": (DEFAULT, MIREncoder, {"hard_negatives": 0.5}),
    "matching: hard negatives only": (DEFAULT, MIREncoder, {"hard_negatives": 1.0}),
}
FEATURES = {"node features: statement vector": statement_table, "node features: literal ids": literal_ids}
OWN_FEATURES = encoding.node_features


def small_corpus(ir: Path, work: Path, level: str, every: int, held_out: set[str]) -> Corpus:
    """A corpus of every ``every``-th program, all its levels, of the projects that are not held out."""
    folder = work / f"corpus-{level}"
    if (folder / "corpus.json").exists():
        return Corpus.load(folder)
    files = [
        path
        for path in find_inputs(ir)
        if path.relative_to(ir).parts[0] not in held_out and digest(f"{path.parts[-3]}/{path.name}") % every == 0
    ]
    config = TokenizerConfig(vocab_size=4096, normalisation=level)
    return build_corpus(files, ir, folder, config, max_nodes=BUDGET["max_nodes"])[0]


def module_retrieval(model: MIREncoder, corpus: Corpus, train: Any, test: Any) -> dict[str, float]:
    """MRR of the same program's O2 module among all of them, from its O0 module, by whitened vectors."""
    vectors = {}
    for part in ("text", "graph"):
        make = encoding.text_vectors if part == "text" else encoding.graph_vectors
        weighting = model.config.pooling.weighting
        mean, matrix = fit_whitening(make(model, corpus, train, weighting=weighting).numpy())
        vectors[part] = (make(model, corpus, test, weighting=weighting).numpy() - mean) @ matrix
    vectors["both"] = np.concatenate([vectors["text"], vectors["graph"]], 1)
    pos = {(corpus.programs[module], corpus.infos[module].opt_level): row for row, module in enumerate(test.tolist())}
    pairs = [
        (row, pos[program, "O2"]) for (program, level), row in pos.items() if level == "O0" and (program, "O2") in pos
    ]
    query, answer = np.array(pairs).T
    out: dict[str, float] = {"pairs": float(len(pairs))}
    for part, rows in vectors.items():
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        scores = unit[query] @ unit[answer].T
        rank = (scores > np.diag(scores)[:, None]).sum(1) + 1
        out[f"mrr_{part}"] = float((1 / rank).mean())
    return out


def measure(trainer: Trainer, baselines: Baselines) -> dict[str, Any]:
    """Figures of a finished run."""
    model, corpus = trainer.model.eval(), trainer.corpus
    test = trainer.held_out
    test = test[(corpus.node_count[test] > 0) & (corpus.node_count[test] <= trainer.config.max_nodes)]
    counts = corpus.text_counts(trainer.train_modules.tolist())
    unseen = np.where(counts > 0, 0, corpus.text_counts(test.tolist()))
    mlm = evaluate_mlm(model, corpus, choose_distinct(unseen, 4000), baselines)
    scores = gae_scores(model, corpus, test, limit=100)
    matching = evaluate_matching(model, corpus, test, baselines, limit=250)
    return {
        "mlm_accuracy": mlm["accuracy"],
        **{f"auc_{flow.name.lower()}": flow_figures(flow_scores)["auc"] for flow, flow_scores in scores.items()},
        **{key: matching[key] for key in ("accuracy_random", "accuracy_near_size")},
        **module_retrieval(model, corpus, trainer.sampler.matching_graphs, test[:400]),
    }


def run(corpus: Corpus, name: str, seed: int, texts: dict[str, Any], baselines: dict[int, Baselines]) -> dict[str, Any]:
    """Train one variant; the MLM weights of a seed are trained once."""
    architecture, make, changes = VARIANTS[name]
    level = corpus.tokenizer.config.normalisation
    key = f"{level}-{seed}"
    values = BUDGET | {"seed": seed} | changes
    if key in texts:
        values = values | {"mlm": {**BUDGET["mlm"], "steps": 0}}  # type: ignore[dict-item]
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(PretrainConfig.from_dict(values), corpus, folder, model_config=architecture)
        torch.manual_seed(seed)
        trainer.model = make(trainer.model_config)
        if key in texts:
            trainer.model.load_state_dict(texts[key], strict=False)
        use_features(trainer, FEATURES.get(name))
        trainer.run()
        texts.setdefault(key, {n: v for n, v in trainer.model.state_dict().items() if n.startswith(("text.", "mlm."))})
        baselines.setdefault(seed, Baselines.fit(corpus, trainer.train_modules))
        return measure(trainer, baselines[seed])


COLUMNS = {
    "mlm_accuracy": "MLM",
    "auc_control": "AUC control",
    "auc_data": "AUC data",
    "auc_call": "AUC call",
    "accuracy_random": "matching, random",
    "accuracy_near_size": "matching, near size",
    "mrr_text": "MRR text",
    "mrr_graph": "MRR graph",
    "mrr_both": "MRR both",
}


def table(record: dict[str, Any]) -> str:
    """Mean and spread (standard deviation) as markdown, over the seeds that all variants of a level have."""
    variants = dict.fromkeys(key.rpartition(" | ")[0] for key in record)
    lines = [f"| Variant | {' | '.join(COLUMNS.values())} | Seeds |", f"|{'---|' * (len(COLUMNS) + 2)}"]
    for variant in variants:
        level = variant.partition(" | ")[0]
        seed_sets = [
            {key.rpartition(" | ")[2] for key in record if key.rpartition(" | ")[0] == peer} for peer in variants
        ]
        sets = [seeds for peer, seeds in zip(variants, seed_sets, strict=True) if peer.partition(" | ")[0] == level]
        runs = [record[f"{variant} | {seed}"] for seed in sorted(set.intersection(*sets))]
        level, _, name = variant.partition(" | ")
        cells = [f"{np.mean([r[c] for r in runs]):.3f} ± {np.std([r[c] for r in runs]):.3f}" for c in COLUMNS]
        title = name if level == "locals" else f"normalisation: {level}"
        lines.append(f"| {title} | {' | '.join(cells)} | {len(runs)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, write the record after each run, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("ir", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for the small corpora")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--seeds", default="0,1,2")
    args = parser.parse_args()
    record: dict[str, Any] = json.loads(args.output.read_text()) if args.output.exists() else {}
    for level, names in (("locals", list(VARIANTS)), ("none", ["default"])):
        corpus = small_corpus(args.ir, args.work, level, args.every, HELD_OUT)
        print(level, corpus, flush=True)
        for seed in [int(seed) for seed in args.seeds.split(",")]:
            texts: dict[str, Any] = {}
            baselines: dict[int, Baselines] = {}
            for name in names:
                key = f"{level} | {name} | {seed}"
                if key in record and name != "default":
                    continue
                if all(f"{level} | {variant} | {seed}" in record for variant in names):
                    continue
                start = time.monotonic()
                record[key] = run(corpus, name, seed, texts, baselines) | {"seconds": 0.0}
                record[key]["seconds"] = round(time.monotonic() - start, 1)
                args.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
                print(key, {k: round(v, 3) for k, v in record[key].items()}, flush=True)
    print(table(record))


if __name__ == "__main__":
    main()
