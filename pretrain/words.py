"""The table of a model's lexical view, fitted on IR: how many functions and programs have each word.

`mirenc pretrain` fits the table on its corpus, which keeps neither functions nor which globals they take. This script
fits it on folders of IR, each a kind of code, and writes the model with that table, and with the weight that names have
in whole modules (``module_names``), if the recipe gives one; nothing else of it moves. The
card's figure of function retrieval by the whole vector is measured anew, on IR of the projects that the run held out.

What you get: `FOLDER`, a packaged model of the same name, with golden vectors.
How long: two minutes on one core for the folders of `words.toml`, beside compiling them.
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
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from mirenc.config import ModelConfig, load_toml
from mirenc.embedding import prepare
from mirenc.encoder import Encoder, load
from mirenc.errors import MirencError
from mirenc.golden import write_golden
from mirenc.ir.files import find_inputs
from mirenc.model.lexical import Lexicon, idf_of
from mirenc.pretraining.evaluation.retrieval import evaluate_retrieval, find_level_pairs
from mirenc.progress import progress
from mirenc.weights import load_files
from mirenc.weights.store import save_files

CARD = "## Words\n"
RETRIEVAL = re.compile(r"^(\| Function retrieval O0 -> O2 by both: recall at 1, at 10, MRR) .*$", re.MULTILINE)


class Words(BaseModel):
    """A kind of code, as the recipe names it."""

    model_config = ConfigDict(extra="forbid")

    folder: str
    level: Literal["module", "function"] = "module"
    files: int = 2000  # at most, drawn by a fixed seed


def counted(encoder: Encoder, domain: Words) -> tuple[np.ndarray, int]:
    """Documents that have a word of each bucket, and how many documents there are."""
    config = encoder.files.config.lexical
    if config is None:
        raise SystemExit(f"{encoder.name} has no lexical view")
    lexicon = Lexicon(config, np.zeros(config.buckets, np.float32))
    files = find_inputs(domain.folder)
    files = sorted(random.Random(0).sample(files, min(domain.files, len(files))))
    total, documents = np.zeros(config.buckets, np.int64), 0
    with progress(domain.folder, len(files)) as advance:
        for file in files:
            try:
                found = prepare(encoder.read(file), encoder.tokenizer, domain.level, "count")
            except MirencError as error:
                print(error)
            else:
                total += lexicon.document_frequency(found.sample.texts, found.pools)
                documents += found.pools.text.groups
            advance(1)
    if not documents:
        raise SystemExit(f"{domain.folder}: has no {domain.level} that can be read. Give a folder of IR")
    return total, documents


def with_retrieval(card: str, folder: Path, projects: list[Path]) -> str:
    """The card with what the packaged model finds in the projects held out: PROJECT/O0/x.ll and PROJECT/O2/x.ll."""
    files = [path for project in projects for path in project.rglob("*") if path.is_file()]
    found = evaluate_retrieval(load(folder, cache=False), find_level_pairs(projects[0].parent, files))
    both = found["both"]
    shown = f"{100 * both['recall_at_1']:.1f} %, {100 * both['recall_at_10']:.1f} %, {both['mrr']:.3f}"
    return RETRIEVAL.sub(rf"\1 ({found['functions']:,} functions) | {shown} |  |", card)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="name or folder of a packaged model")
    parser.add_argument("recipe", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument(
        "--held-out", type=Path, nargs="+", required=True, help="folders of a corpus's IR, a project each"
    )
    given = parser.parse_args()
    files = load_files(given.model)
    encoder = load(given.model, cache=False)
    recipe = load_toml(given.recipe)
    domains = [Words(**values) for values in recipe["domains"]]
    found = [counted(encoder, domain) for domain in domains]
    facts = [
        f"{domain.folder} ({documents:,} {domain.level}s)"
        for domain, (_, documents) in zip(domains, found, strict=True)
    ]
    card = (files.folder / "MODEL_CARD.md").read_text(encoding="utf-8").partition(CARD)[0].rstrip("\n")
    card += f"\n\n{CARD}How much a word tells was counted in {', '.join(facts)} (`pretrain/words.py`).\n"
    config = files.config.model_dump()
    config["lexical"] |= {"module_names": recipe["module_names"]} if "module_names" in recipe else {}
    save_files(
        given.output,
        name=files.name,
        config=ModelConfig.from_dict(config, where=str(given.recipe)),
        tokenizer=files.tokenizer,
        weights=files.weights | {"lexical_idf": idf_of(found)},
    )
    if (files.folder / "baselines.safetensors").is_file():
        shutil.copy(files.folder / "baselines.safetensors", given.output)
    card = with_retrieval(card, given.output, given.held_out)
    (given.output / "MODEL_CARD.md").write_text(card, encoding="utf-8")
    write_golden(given.output)  # seals the folder
    print("\n".join(facts))


if __name__ == "__main__":
    main()
