"""Which training modules the whitening map should be fitted on, and how: function retrieval by a dozen maps.

What you get: `OUT.json` and `OUT.md`, recall at 1 and mean reciprocal rank of -O0 functions among -O2 ones by text,
graph and both, for maps fitted on modules of other projects (`mirenc.model.whitening.fit_whitening`).
How long: a quarter of an hour on one core, most of it for the statements of some 3,000 modules.
On what: a model, the corpus it was trained on, and IR as `PROJECT/O0/x.ll` and `PROJECT/O2/x.ll` of some of the
projects it was trained on; these are kept out of the fit, and the model's held-out projects are not looked at.

    python pretrain/debian.py pretrain/debian-study.toml IR
    mirenc corpus build IR -o corpus --tokenizer mirenc-base
    python pretrain/whitening_study.py corpus/ir pretrain/whitening --corpus pretrain/shards
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mirenc.encoder import load
from mirenc.encoder.weights import load_files, save_files
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.whitening import fit_whitening
from mirenc.pretrain import encoding
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.evaluation.retrieval import collect_pairs, find_level_pairs, rank_figures, ranks, retrieval_figures
from mirenc.pretrain.whitening import choose_modules

HELD_OUT = 0.1  # share and seed of the shipped recipes
SEED = 0
MODULES = 500
PAIRS = 800
SHORT, LONG = 100, 4000  # statements


def function_vectors(model: str, root: Path, limit: int) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Vectors of the functions at both levels, as the encoders pool them; the figures of the baselines."""
    files = load_files(model)
    weights = dict(files.weights)
    for name, value in weights.items():
        if name.startswith("whiten_"):
            weights[name] = np.eye(len(value), dtype=np.float32) if value.ndim == 2 else np.zeros_like(value)
    with tempfile.TemporaryDirectory() as folder:
        model_folder = Path(folder, "model")
        save_files(model_folder, name=files.name, config=files.config, tokenizer=files.tokenizer, weights=weights)
        pairs = collect_pairs(load(model_folder, cache=folder), find_level_pairs(root, find_inputs(root)), limit=limit)
    out = {
        side: {part: np.array([getattr(getattr(pair, side), part) for pair in pairs]) for part in ("text", "graph")}
        for side in ("query", "candidate")
    }
    return out, retrieval_figures(pairs)


def plans(corpus: Corpus, modules: Any) -> Iterator[tuple[str, Any, Any, float]]:
    """Name, modules, pairs (rows of the modules) and shrinkage of each map; of modules that may be taken."""
    rng = np.random.default_rng(SEED)
    nothing = np.zeros((0, 2), np.int64)
    size = corpus.statement_total[modules]
    small = modules[(corpus.node_count[modules] > 0) & (corpus.node_count[modules] <= 1000)]
    yield f"{MODULES} modules with a graph of up to 1,000 nodes", rng.permutation(small)[:MODULES], nothing, 0
    yield f"{MODULES} modules", rng.permutation(modules[size <= LONG])[:MODULES], nothing, 0
    fit = modules[(size >= SHORT) & (size <= LONG)]
    yield f"{MODULES} modules of 100 statements and more", rng.permutation(fit)[:MODULES], nothing, 0
    chosen, pairs = choose_modules(corpus, modules, rng)
    pairs = pairs[:PAIRS]
    for count in (PAIRS // 4, PAIRS // 2, PAIRS):
        yield f"{count:,} programs of 100 statements and more, two levels", chosen[: 2 * count], pairs[:count], 0.01
    for shrinkage in (0.001, 0.1, 1.0):
        yield f"{PAIRS:,} programs, shrinkage {shrinkage:g}", chosen[: 2 * PAIRS], pairs, shrinkage


def study(root: Path, corpus: Corpus, model_name: str, limit: int) -> dict[str, Any]:
    """Figures of every map."""
    functions, baselines = function_vectors(model_name, root, limit)
    files = load_files(model_name)
    model = MIREncoder(files.config)
    model.load_state_dict({name: torch.from_numpy(np.float32(value)) for name, value in files.weights.items()})
    model.eval()
    pool_projects = sorted(path.name for path in root.iterdir() if path.is_dir())
    train, _ = corpus.split(HELD_OUT, SEED)
    projects = np.array(corpus.projects)
    train = train[~np.isin(projects[train], pool_projects)]
    # The same plan for both parts, each among the modules it can take.
    parts = {"text": train, "graph": train[corpus.node_count[train] > 0]}
    maps: dict[str, dict[str, Any]] = {}
    for part, modules in parts.items():
        planned = list(plans(corpus, modules))
        all_modules = np.unique(np.concatenate([chosen for _, chosen, _, _ in planned]))
        weighting = files.config.pooling.weighting
        if part == "text":
            vectors = encoding.text_vectors(model, corpus, all_modules, weighting=weighting).numpy()
        else:
            vectors = encoding.graph_vectors(model, corpus, all_modules, weighting=weighting).numpy()
        for name, chosen, pairs, shrinkage in planned:
            rows = vectors[np.searchsorted(all_modules, chosen)]
            maps.setdefault(name, {})[part] = fit_whitening(rows, pairs, shrinkage=shrinkage)
    rows = []
    for name, map_of_part in {"no map": {}, **maps}.items():
        mapped_vectors: dict[str, dict[str, Any]] = {}
        for side, vectors_of_part in functions.items():
            mapped_vectors[side] = {
                part: (vectors - map_of_part[part][0]) @ map_of_part[part][1] if map_of_part else vectors
                for part, vectors in vectors_of_part.items()
            }
            mapped_vectors[side]["both"] = np.hstack(list(mapped_vectors[side].values()))
        figures = {
            part: rank_figures(ranks(mapped_vectors["query"][part], mapped_vectors["candidate"][part]))
            for part in ("text", "graph", "both")
        }
        rows.append({"map": name, **figures})
    return {
        "model": files.name,
        "digest": files.digest,
        "projects": pool_projects,
        "functions": len(functions["query"]["text"]),
        "rows": rows,
        "baselines": {name: baselines[name] for name in ("bag_of_statements", "opcode_histogram")},
    }


def markdown(figures: dict[str, Any]) -> str:
    """The figures as a table."""
    lines = [
        f"{figures['functions']:,} functions of {', '.join(figures['projects'])}; recall at 1 / MRR.",
        "",
        "| Map fitted on | Text | Graph | Both |",
        "|---|---|---|---|",
    ]
    for row in figures["rows"]:
        cells = [f"{row[part]['recall_at_1']:.3f} / {row[part]['mrr']:.3f}" for part in ("text", "graph", "both")]
        lines.append(f"| {row['map']} | {' | '.join(cells)} |")
    for name, baseline in figures["baselines"].items():
        lines.append(f"| ({name.replace('_', ' ')}) | {baseline['recall_at_1']:.3f} / {baseline['mrr']:.3f} | | |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ir", type=Path, help="folder with PROJECT/O0 and PROJECT/O2 of training projects")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--corpus", type=Path, required=True, help="the corpus the model was trained on")
    parser.add_argument("--model", default="mirenc-base", help="mirenc model name or folder")
    parser.add_argument("--limit", type=int, default=3000, help="functions")
    arguments = parser.parse_args()
    figures = study(arguments.ir, Corpus.load(arguments.corpus), arguments.model, arguments.limit)
    arguments.out.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(markdown(figures), encoding="utf-8")
    print(markdown(figures), end="")


if __name__ == "__main__":
    main()
