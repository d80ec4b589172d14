"""Which mixture of domains the shipped whitening maps should be fitted on: domains are left out one by one.

What you get: `OUT.json` and `OUT.md`, how well a map finds what belongs together in a domain that it was *not* fitted
on (MAP@R by text and graph side by side, and the lexical view where the model has it), for every setting of weights,
`shrinkage` and `between` (`mirenc.model.whitening.mixed_whitening`), and `OUT.toml`, the setting that is best on the
mean of the domains left out. `mirenc pretrain RECIPE ... --resume --maps OUT.toml` packages the run again with it.
How long: embedding the domains once (the cache keeps them); a quarter of an hour for the rest, on one core.
On what: a model, and folders of IR that are in no held-out project:

    [[domain]]
    folder = "corpus/ir"      # PROJECT/O0/x.ll and PROJECT/O2/x.ll
    level = "module"
    find = "levels"           # what belongs together: the same piece at another level; or "folders", one task a folder
    corpus = true             # stands for the run's training modules in OUT.toml

    python pretrain/mixture.py domains.toml pretrain/mixture --model run/my-model
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from mirenc.base.config import load_toml
from mirenc.encoder import Encoder, load
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.llvm.inputs.level_paths import level_pairs
from mirenc.model.whitening import Moments, mixed_whitening, moments_of

PARTS = ("text", "graph")  # what is mapped
LEXICAL = "lexical"
SHRINKAGES = (0.01, 0.1, 1.0)
BETWEENS = (0.0, 0.1, 1.0)
SHOWN = 8  # settings in the table
SEED = 0
_BLOCK = 512


class Domain(BaseModel):
    """One kind of code, as the recipe names it."""

    model_config = ConfigDict(extra="forbid")

    folder: str
    level: Literal["module", "function"] = "module"
    find: Literal["levels", "folders"] = "levels"
    pairs: bool = True
    corpus: bool = False
    limit: int = 2000  # rows

    @property
    def name(self) -> str:
        return f"{Path(self.folder).name} ({self.level}s)"


@dataclass(frozen=True, eq=False)
class DomainVectors:
    """A domain's vectors, what belongs together, and its moments by part."""

    domain: Domain
    vectors: dict[str, NDArray[np.float32]]
    label: NDArray[np.int64]
    moments: dict[str, Moments]


def embed_domain(encoder: Encoder, domain: Domain) -> DomainVectors:
    """Embed a domain; what cannot be read is left out. Labels that stand alone are kept: they are distractors."""
    files = find_inputs(domain.folder)
    rows: list[tuple[int, str]] = []  # file and symbol
    vectors: dict[str, list[NDArray[np.float32]]] = {part: [] for part in (*PARTS, LEXICAL)}
    outcomes = encoder.embed_stream(files, level=domain.level, form="plain", whiten=False, progress=True)
    for number, outcome in enumerate(outcomes):
        if outcome.embedding is not None:
            rows += [(number, region.symbol) for region in outcome.embedding.regions]
            for part in vectors:
                vectors[part].append(getattr(outcome.embedding, part))
    rows_of_file: dict[int, dict[str, int]] = {}
    for row, (number, symbol) in enumerate(rows):
        rows_of_file.setdefault(number, {})[symbol] = row
    ends = [
        (row, rows_of_file[second][symbol])
        for first, second in level_pairs([str(file) for file in files])
        for symbol, row in rows_of_file.get(first, {}).items()
        if symbol in rows_of_file.get(second, {})
    ]
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    program = labels_of(pairs, len(rows))
    if domain.find == "levels":
        label = program
    else:
        folders = {folder: index for index, folder in enumerate(sorted({file.parent for file in files}))}
        label = np.array([folders[files[file].parent] for file, _ in rows], dtype=np.int64)
    # Whole programs are drawn.
    order = np.random.default_rng(SEED).permutation(program.max(initial=-1) + 1)[program]
    keep = np.sort(np.argsort(order, kind="stable")[: domain.limit])
    new_rows = np.full(len(rows), -1)
    new_rows[keep] = np.arange(len(keep))
    pairs = new_rows[pairs] if domain.pairs else pairs[:0]
    pairs = pairs[(pairs >= 0).all(1)]
    chosen = {part: np.concatenate(blocks)[keep] for part, blocks in vectors.items()}
    moments = {part: moments_of(chosen[part], pairs) for part in PARTS}
    return DomainVectors(domain, chosen, label[keep], moments)


def labels_of(pairs: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """A number for each row, equal for rows that pairs join."""
    adjacency = sp.coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return sp.csgraph.connected_components(adjacency, directed=False)[1].astype(np.int64)


def map_at_r(vectors: NDArray[np.float32], label: NDArray[np.int64]) -> float:
    """Mean over rows that have others of their label, R of them: precision at each hit among the R nearest, over R."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    matches = np.bincount(label)[label] - 1
    queries = np.flatnonzero(matches)
    precisions = []
    for first in range(0, len(queries), _BLOCK):
        rows = queries[first : first + _BLOCK]
        distance = -(unit[rows] @ unit.T)
        distance[np.arange(len(rows)), rows] = np.inf
        depth = int(matches[rows].max())
        order = np.argpartition(distance, depth - 1, axis=1)[:, :depth]
        order = np.take_along_axis(order, np.argsort(np.take_along_axis(distance, order, 1), axis=1, kind="stable"), 1)
        place = np.arange(1, depth + 1)
        hit = (label[order] == label[rows, None]) & (place <= matches[rows, None])
        precisions.append((np.cumsum(hit, 1) / place * hit).sum(1) / matches[rows])
    return float(np.concatenate(precisions).mean())


def score(data: DomainVectors, maps: dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]]) -> float:
    """MAP@R in a domain by vectors under some maps; without any, as the encoders made them."""
    blocks = [(data.vectors[part] - maps[part][0]) @ maps[part][1] if maps else data.vectors[part] for part in PARTS]
    return map_at_r(np.hstack([*blocks, data.vectors[LEXICAL]]), data.label)


def mixed_maps(reads: list[DomainVectors], weights: list[float], **options: float) -> dict[str, Any]:
    """Maps by part."""
    weighted = list(zip(reads, weights, strict=True))
    return {
        part: mixed_whitening([(data.moments[part], weight) for data, weight in weighted], **options) for part in PARTS
    }


def settings(count: int) -> Iterator[tuple[list[float], dict[str, float]]]:
    """All domains alike, or one of them three times as much; each with every shrinkage and share between them."""
    uneven = [[3.0 if index == heavy else 1.0 for index in range(count)] for heavy in range(count)]
    for weights, shrinkage, between in itertools.product([[1.0] * count, *uneven], SHRINKAGES, BETWEENS):
        yield weights, {"shrinkage": shrinkage, "between": between}


def study(encoder: Encoder, domains: list[Domain]) -> dict[str, Any]:
    """Figures of every setting, the best first."""
    reads = [embed_domain(encoder, domain) for domain in domains]
    rows = []
    for weights, options in settings(len(reads)):
        scores = [
            score(data, mixed_maps(reads[:i] + reads[i + 1 :], weights[:i] + weights[i + 1 :], **options))
            for i, data in enumerate(reads)
        ]
        rows.append({"weights": weights, **options, "left_out": scores, "mean": float(np.mean(scores))})
    rows.sort(key=lambda row: -row["mean"])
    best = rows[0]
    options = {key: best[key] for key in ("shrinkage", "between")}
    model_map = {}
    if encoder.files.config.pooling.whiten:
        weights = encoder.files.weights
        model_map = {part: (weights[f"whiten_{part}.mean"], weights[f"whiten_{part}.matrix"]) for part in PARTS}
    return {
        "model": encoder.name,
        "digest": encoder.digest,
        "domains": [
            {
                **data.domain.model_dump(),
                "folder": Path(data.domain.folder).name,
                "name": data.domain.name,
                "rows": len(data.label),
                "no_map": score(data, {}),
                "model_map": score(data, model_map),
                "all": score(data, mixed_maps(reads, best["weights"], **options)),
                "itself": score(data, mixed_maps([data], [1.0], **options)),
            }
            for data in reads
        ],
        "settings": rows,
    }


def maps_toml(figures: dict[str, Any], domains: list[Domain]) -> str:
    """The best setting as a MapsConfig: what ``mirenc pretrain --maps`` takes."""
    best = figures["settings"][0]
    weighted_domains = list(zip(domains, best["weights"], strict=True))
    corpus = sum(weight for domain, weight in weighted_domains if domain.corpus)
    lines = [f"corpus = {corpus}", f"shrinkage = {best['shrinkage']}", f"between = {best['between']}"]
    for domain, weight in weighted_domains:
        if not domain.corpus:
            lines += ["", "[[domains]]", f"folder = {json.dumps(domain.folder)}", f'level = "{domain.level}"']
            lines += [f"pairs = {json.dumps(domain.pairs)}", f"weight = {weight}"]
    return "\n".join(lines) + "\n"


def markdown(figures: dict[str, Any]) -> str:
    """The figures as two tables."""
    domains = figures["domains"]
    names = [domain["name"] for domain in domains]
    lines = ["MAP@R in each domain by the best setting of the second table.", ""]
    lines += ["| Map | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    scores = dict(zip(names, figures["settings"][0]["left_out"], strict=True))
    titles = {"no_map": "none", "model_map": "the model's", "left_out": "of the other domains", "all": "of all domains"}
    for key, title in {**titles, "itself": "of the domain itself"}.items():
        cells = [f"{scores[entry['name']] if key == 'left_out' else entry[key]:.3f}" for entry in domains]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    count = f"the best {SHOWN} of {len(figures['settings'])} settings; the record has all"
    lines += ["", f"MAP@R in each domain by maps of the other domains: {count}.", ""]
    lines += ["| Weights | Shrinkage | Between | " + " | ".join(names) + " | Mean |", "|---" * (len(names) + 4) + "|"]
    for row in figures["settings"][:SHOWN]:
        weights = " : ".join(f"{weight:g}" for weight in row["weights"])
        cells = [f"{value:.3f}" for value in (*row["left_out"], row["mean"])]
        lines.append(f"| {weights} | {row['shrinkage']:g} | {row['between']:g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("domains", type=Path, help="TOML with two or more tables [[domain]]")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--model", default="mirenc-base", help="mirenc model name or folder")
    arguments = parser.parse_args()
    domains = [Domain(**values) for values in load_toml(arguments.domains)["domain"]]
    figures = study(load(arguments.model), domains)
    chosen = maps_toml(figures, domains)
    arguments.out.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(markdown(figures), encoding="utf-8")
    arguments.out.with_suffix(".toml").write_text(chosen, encoding="utf-8")
    print(markdown(figures), end="")


if __name__ == "__main__":
    main()
