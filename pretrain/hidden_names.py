"""Functions found by models that see their names, other names, or none (``hide_names``).

What you get: `OUT.json`: for each model and each way of naming, recall at 1 and mean reciprocal rank, of functions at
-O0 among all at -O2, by the whole vector and by text and graph without words; and the gain of hiding names over seeing
other names, with its 95 % interval (a bootstrap over files). In ``renamed`` each file has names of its own for the same
things, as stripped or renamed code has. Functions whose candidates have equal statements without names count once.
How long: 80 seconds of one core for 30 programs.
On what: a folder that `compile_pairs.py` wrote, of projects that no model here was trained on:

    python pretrain/compile_pairs.py pretrain/debian-unseen.toml PAIRS --compilers clang-14 --cap 8
    python pretrain/hidden_names.py PAIRS/clang-14 pretrain/hidden_names.json --cache CACHE
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from compare_functions import gain
from compare_programs import hide_names
from numpy.typing import NDArray

from mirenc.encoder import Encoder, load
from mirenc.llvm import ReadOptions, statements_of
from mirenc.pretrain.evaluation.retrieval import MIN_INSTRUCTIONS, find_level_pairs, rank_figures, ranks

MODELS = ("mirenc-fast", "mirenc-base")
NAMINGS = ("written", "renamed", "hidden")
LARGEST = 160_000  # bytes of IR of a program at -O0
_HIDDEN_NAME = re.compile(r"([@%$])([gt]\d+)\b")
Row = tuple[NDArray[np.float32], int]  # vector, instructions


def rename_symbols(text: str, salt: str) -> str:
    """IR whose functions, globals and types have names that no other salt gives."""

    def name(match: re.Match[str]) -> str:
        number = int(hashlib.sha256(f"{salt} {match[2]}".encode()).hexdigest()[:5], 16)
        return f"{match[1]}{match[2][0]}{number}"

    return _HIDDEN_NAME.sub(name, hide_names(text))


def rows_of(encoder: Encoder, text: str) -> list[Row]:
    """Vector and size of each function that a module defines, in order."""
    module = encoder.read(text)
    defined = [header for header in module.headers if not header.is_declaration]
    vectors = encoder.embed(module, level="function", form="plain")
    return [(vector, header.last - header.first) for vector, header in zip(vectors, defined, strict=True)]


def sequences_of(encoder: Encoder, text: str) -> dict[str, bytes]:
    """Of each function that a module defines a hash of its statements without names."""
    names = [header.name for header in encoder.read(text).headers if not header.is_declaration]
    module = encoder.read(hide_names(text))
    statements = statements_of(module, encoder.tokenizer.config.normalisation)
    start, defined = statements.first_instruction, [item for item in module.headers if not item.is_declaration]
    hashes = (statements.digest(start + header.first, start + header.last) for header in defined)
    return dict(zip(names, hashes, strict=True))


def measure(model: str, pairs: list[tuple[Path, Path]], cache: Path) -> dict[str, Any]:
    """All figures of a model."""
    options = ReadOptions(form="plain")
    as_written, hidden = (load(model, cache=cache, options=options, hide_names=hide) for hide in (False, True))
    pairs_by_naming: dict[str, list[tuple[NDArray[np.float32], ...]]] = {naming: [] for naming in NAMINGS}
    hashes, owner = set[bytes](), list[int]()
    for number, files in enumerate(pairs):
        texts = [file.read_text(encoding="utf-8") for file in files]
        sequences = [sequences_of(as_written, text) for text in texts]
        renamed_texts = [rename_symbols(text, f"{number} {side}") for side, text in enumerate(texts)]
        sources = {"written": (as_written, texts), "renamed": (as_written, renamed_texts), "hidden": (hidden, texts)}
        rows = {
            naming: [
                dict(zip(keys, rows_of(encoder, text), strict=True)) for keys, text in zip(sequences, pair, strict=True)
            ]
            for naming, (encoder, pair) in sources.items()
        }
        for name in sorted(sequences[0].keys() & sequences[1].keys()):
            small = min(side[name][1] for side in rows["written"])
            if small >= MIN_INSTRUCTIONS and sequences[1][name] not in hashes:
                hashes.add(sequences[1][name])
                owner.append(number)
                for naming, sides in rows.items():
                    pairs_by_naming[naming].append(tuple(side[name][0] for side in sides))
    learned = as_written.text_dimension + as_written.graph_dimension
    figures: dict[str, Any] = {"digest": as_written.digest, "functions": len(owner), "files": len(set(owner))}
    for part, columns in {"vector": slice(None), "text and graph": slice(learned)}.items():
        rank_of = {
            naming: ranks(*(np.array(side)[:, columns] for side in zip(*vectors, strict=True)))
            for naming, vectors in pairs_by_naming.items()
        }
        figures[part] = {naming: rank_figures(rank) for naming, rank in rank_of.items()}
        figures[part]["hidden over renamed"] = gain(rank_of["hidden"], rank_of["renamed"], np.array(owner))
    return figures


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder of one compiler")
    parser.add_argument("output", type=Path)
    parser.add_argument("--cache", type=Path, required=True, help="folder for what was encoded")
    parser.add_argument("--programs", type=int, default=30)
    arguments = parser.parse_args()
    pairs = find_level_pairs(arguments.root, arguments.root.rglob("*.ll"))
    pairs = [files for files in pairs if files[0].stat().st_size < LARGEST]
    sample = [pairs[row] for row in np.random.default_rng(7).permutation(len(pairs))][: arguments.programs]
    record = {model: measure(model, sample, arguments.cache) for model in MODELS}
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
