"""Figures of mirenc-fast and mirenc-base on projects that neither, nor a model before them, was trained on.

What you get: `OUT.json`: the projects; for each model what `mirenc models evaluate` measures, on the same modules and
beside the baselines that come with the model; and masked tokens of statements that stand in no training shard.
How long: 21 minutes of one core.
On what: the corpus of `debian-unseen.toml` (with its IR, for function retrieval), and the training shards:

    python pretrain/debian.py pretrain/debian-unseen.toml IR --levels O0 O2
    mirenc corpus build IR -o unseen --tokenizer mirenc-base
    python pretrain/unseen.py unseen pretrain/shards -o pretrain/unseen.json

A project that `provenance.json` of one of the models names is refused.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.encoder import load
from mirenc.encoder.weights import find_model, load_files, read_provenance, seen_by
from mirenc.model.torch_runtime import TorchRuntime
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.evaluation import Baselines, evaluate_model
from mirenc.pretrain.evaluation.retrieval import evaluate_retrieval, find_level_pairs

MODELS = ("mirenc-fast", "mirenc-base")


def texts_of(corpus: Corpus) -> list[bytes]:
    """Token ids of each text of a corpus."""
    bounds = corpus.text_start.tolist()
    return [corpus.text_ids[start:end].tobytes() for start, end in itertools.pairwise(bounds)]


def known_texts(corpus: Corpus, shards: Corpus) -> NDArray[np.bool_]:
    """(U,) which texts stand in the shards, too; both have one tokenizer."""
    if corpus.tokenizer.to_json() != shards.tokenizer.to_json():
        raise SystemExit("the two corpora have two tokenizers. Build the first with --tokenizer mirenc-base")
    texts = set(texts_of(shards))
    return np.array([text in texts for text in texts_of(corpus)])


def check_unseen(corpus: Corpus, shards: Corpus) -> None:
    """Refuse a project that one of the models saw, and a module that stands in the shards under another project."""
    for name in MODELS:
        record = read_provenance(find_model(name))
        if record is None:
            raise SystemExit(f"{name}: has no provenance.json, so nothing says what it was trained on")
        if projects := sorted(seen_by(record).keys() & set(corpus.projects)):
            raise SystemExit(
                f"{name} or a model before it was trained on {', '.join(projects)}. Leave it out of the recipe"
            )
    hashes = {info.content_hash for info in shards.infos}
    if copies := [info.name for info in corpus.infos if info.content_hash in hashes]:
        raise SystemExit(f"the shards have {', '.join(copies)}, too. Exclude it in the recipe")


def measure(name: str, corpus: Corpus, ir: Path, is_known: NDArray[np.bool_]) -> dict[str, Any]:
    """All figures of a model."""
    files = load_files(name)
    baselines = Baselines.load(files.folder, files.tokenizer.vocab_size)
    assert baselines is not None
    with tempfile.TemporaryDirectory() as cache:
        pairs = find_level_pairs(ir, [ir / module for module in corpus.names])
        figures = evaluate_model(
            TorchRuntime(files.config, files.weights).model,
            corpus,
            np.arange(len(corpus)),
            baselines=baselines,
            known_texts=is_known,
            retrieval=lambda: evaluate_retrieval(load(name, cache=cache), pairs),
        )
    return {"digest": files.digest, **figures}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("shards", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    corpus, shards = Corpus.load(arguments.corpus), Corpus.load(arguments.shards)
    check_unseen(corpus, shards)
    is_known = known_texts(corpus, shards)
    record = {
        "versions": dict(sorted({info.project: info.version for info in corpus.infos}.items())),
        "modules": len(corpus),
        "unseen_statements": int((~is_known & (corpus.text_counts(range(len(corpus))) > 0)).sum()),
        "models": {name: measure(name, corpus, arguments.corpus / "ir", is_known) for name in MODELS},
    }
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
