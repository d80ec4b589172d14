"""The lexical view of a model, fitted on IR: how many functions and programs have each word, and a whitening map.

`mirenc pretrain` fits the table on its corpus, which keeps neither functions nor which globals they take. This script
fits it on folders of IR, each a kind of code, and writes the model with that table. If the recipe says so, it has also
another weight for the names in whole modules (``module_names``), and a map that whitens lexical vectors (``map_floor``:
how far their covariance is drawn to a sphere, in mean variances). Nothing else of the model moves. The card's figure of
function retrieval by the whole vector is measured anew, on IR of the projects that the run held out.

What you get: `FOLDER`, a packaged model of the same name, with golden vectors.
How long: four minutes on one core for the folders of `words.toml`, beside compiling them.
On what: IR of projects that no figure is measured on:

    python pretrain/compile_pairs.py pretrain/debian-compilers.toml compilers --compilers clang-14 clang-19
    python pretrain/compile_pairs.py pretrain/debian-words.toml small --compilers clang-19
    python pretrain/words.py run/my-model pretrain/words.toml -o words/my-model --held-out corpus/ir/PROJECT ...
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from mirenc.base.config import load_toml
from mirenc.base.errors import MirencError
from mirenc.base.progress import progress
from mirenc.encoder import Encoder, load
from mirenc.encoder.golden import write_golden
from mirenc.encoder.prepare import Prepared, prepare
from mirenc.encoder.weights import Source, ancestry, ir_projects, load_files, save_files, seen_by
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.model.config import LexicalConfig, ModelConfig
from mirenc.model.lexical import Lexicon
from mirenc.model.pooling import Pools
from mirenc.model.whitening import mixed_whitening, moments_of
from mirenc.pretrain.evaluation.retrieval import evaluate_retrieval, find_level_pairs

CARD = "## Words\n"
RETRIEVAL = re.compile(r"^(\| Function retrieval O0 -> O2 by both: recall at 1, at 10, MRR) .*$", re.MULTILINE)


class Words(BaseModel):
    """A kind of code, as the recipe names it."""

    model_config = ConfigDict(extra="forbid")

    folder: str
    level: Literal["module", "function"] = "module"
    files: int = 2000  # at most, drawn by a fixed seed


def sample_files(domain: Words) -> list[Path]:
    """The files of a folder that are read."""
    files = find_inputs(domain.folder)
    return sorted(random.Random(0).sample(files, min(domain.files, len(files))))


def documents(encoder: Encoder, domain: Words) -> Iterator[Prepared]:
    """What of a folder can be read."""
    files = sample_files(domain)
    with progress(domain.folder, len(files)) as advance:
        for file in files:
            try:
                yield prepare(encoder.read(file), encoder.tokenizer, (domain.level,), "count")
            except MirencError as error:
                print(error)
            advance(1)


def count_words(encoder: Encoder, domain: Words, config: LexicalConfig) -> tuple[np.ndarray, int]:
    """Documents that have a word of each bucket, and how many documents there are."""
    lexicon = Lexicon(config, np.zeros(config.buckets, np.float32))
    total, number = np.zeros(config.buckets, np.int64), 0
    for file in documents(encoder, domain):
        total += document_frequency(lexicon, file.sample.texts, file.pools)
        number += file.pools.text.groups
    if not number:
        raise SystemExit(f"{domain.folder}: has no {domain.level} that can be read. Give a folder of IR")
    return total, number


def document_frequency(lexicon: Lexicon, texts: list[str], pools: Pools) -> np.ndarray:
    """How many of the groups have a term of each bucket of the table: (buckets,) int64."""
    terms, row, group, _ = lexicon.memberships(texts, pools)
    buckets = lexicon.config.buckets
    hashes_of_row = [np.unique(hashes) % buckets for hashes in terms]
    present = [hashes_of_row[index] + buckets * owner for index, owner in zip(row, group, strict=True)]
    return np.bincount(np.unique(np.concatenate([np.zeros(0, np.int64), *present])) % buckets, minlength=buckets)


def idf_of(domains: list[tuple[np.ndarray, int]]) -> np.ndarray:
    """How much a term tells, by bucket of its hash, over several kinds of code: -log of the mean P(a document has it).

    What every program of one kind has, such as a library that all of them are built on, tells little there, however
    seldom it is elsewhere. A bucket that no document has is taken to be half as frequent as what one has.

    Each domain is what `document_frequency` counted (buckets,), and the number of groups. -> (buckets,) float32
    """
    share = np.mean([frequency / documents for frequency, documents in domains], axis=0)
    floor = 1 / (2 * len(domains) * max(documents for _, documents in domains))
    return -np.log(np.maximum(share, floor)).astype(np.float32)


def fit_map(encoder: Encoder, domains: list[Words], lexicon: Lexicon, floor: float) -> dict[str, np.ndarray]:
    """The whitening map of lexical vectors, every domain of one weight; about their mean they are ``weight`` long."""
    moments = []
    for domain in domains:
        module = domain.level == "module"
        vectors = [lexicon.vectors(file.sample.texts, file.pools, module=module) for file in documents(encoder, domain)]
        moments.append((moments_of(np.concatenate(vectors)), 1.0))
    mean, matrix = mixed_whitening(moments, floor=floor)
    matrix *= np.float32(lexicon.config.weight / np.sqrt(lexicon.config.width))
    return {"whiten_lexical.mean": mean, "whiten_lexical.matrix": matrix}


def with_retrieval(card: str, folder: Path, projects: list[Path]) -> str:
    """The card with what the packaged model finds in the projects held out: PROJECT/O0/x.ll and PROJECT/O2/x.ll."""
    files = [path for project in projects for path in project.rglob("*") if path.is_file()]
    retrieval = evaluate_retrieval(load(folder, cache=False), find_level_pairs(projects[0].parent, files))
    joint = retrieval["both"]
    cells = f"{100 * joint['recall_at_1']:.1f} %, {100 * joint['recall_at_10']:.1f} %, {joint['mrr']:.3f}"
    return RETRIEVAL.sub(rf"\1 ({retrieval['functions']:,} functions) | {cells} |  |", card)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="name or folder of a packaged model")
    parser.add_argument("recipe", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument(
        "--held-out", type=Path, nargs="+", required=True, help="folders of a corpus's IR, a project each"
    )
    arguments = parser.parse_args()
    files = load_files(arguments.model)
    encoder = load(arguments.model, cache=False)
    recipe = load_toml(arguments.recipe)
    domains = [Words(**values) for values in recipe["domains"]]
    if files.config.lexical is None:
        raise SystemExit(f"{files.name} has no lexical view")
    projects = {project for domain in domains for project in ir_projects(sample_files(domain), domain.folder)}
    sources = (*ancestry(files.name, files.folder), Source(files.name, "words", tuple(sorted(projects))))
    if seen := {project.name for project in arguments.held_out} & seen_by(sources).keys():
        raise SystemExit(f"--held-out: {files.name} learned from {', '.join(sorted(seen))}. Give projects it never saw")
    changes = {"module_names": recipe["module_names"]} if "module_names" in recipe else {}
    values = files.config.model_dump()
    values["lexical"] |= changes | {"whiten": "map_floor" in recipe}
    config = ModelConfig.from_dict(values, where=str(arguments.recipe))
    assert config.lexical is not None
    tables = [count_words(encoder, domain, config.lexical) for domain in domains]
    weights = {name: value for name, value in files.weights.items() if "lexical" not in name}
    weights["lexical_idf"] = idf_of(tables).astype(np.float16).astype(np.float32)  # as it is stored
    if config.lexical.whiten:
        lexicon = Lexicon(config.lexical, weights["lexical_idf"])
        weights |= fit_map(encoder, domains, lexicon, recipe["map_floor"])
    facts = [
        f"{domain.folder} ({number:,} {domain.level}s)" for domain, (_, number) in zip(domains, tables, strict=True)
    ]
    card = (files.folder / "MODEL_CARD.md").read_text(encoding="utf-8").partition(CARD)[0].rstrip("\n")
    card += f"\n\n{CARD}How much a word tells was counted in {', '.join(facts)} (`pretrain/words.py`).\n"
    if config.lexical.module_names < 1:
        card += f"Names count {config.lexical.module_names:g} in the vector of a whole module.\n"
    if config.lexical.whiten:
        card += f"A map fitted on the same folders whitens the words (floor {recipe['map_floor']:g}).\n"
    save_files(
        arguments.output, name=files.name, config=config, tokenizer=files.tokenizer, weights=weights, provenance=sources
    )
    if (files.folder / "baselines.safetensors").is_file():
        shutil.copy(files.folder / "baselines.safetensors", arguments.output)
    card = with_retrieval(card, arguments.output, arguments.held_out)
    (arguments.output / "MODEL_CARD.md").write_text(card, encoding="utf-8")
    write_golden(arguments.output)  # seals the folder
    print("\n".join(facts))


if __name__ == "__main__":
    main()
