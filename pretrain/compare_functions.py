"""Function retrieval across compilers, with names as written and with all names hidden, with intervals.

What you get: `OUT.json` and `OUT.md`. A query is a function of one compiler at -O0, the candidates are the same
functions of another compiler at -O2; recall at 1 and mean reciprocal rank of each model and of two baselines without a
model, and what a row has over the bag of statements, with a 95 % interval by a bootstrap over source files. A model
with a lexical view also has that view alone, which nothing trained, and the learned rest without it: what the whole
has over the words is what pre-training is worth here.
How long: half an hour on one core for three pairs of compilers, mirenc-base and mirenc-fast.
On what: the folder that `compile_pairs.py` wrote, of projects that no model compared here was trained on.

    python pretrain/compare_functions.py PAIRS pretrain/functions --models mirenc-base mirenc-fast

Hidden names are numbers in the order in which they are met (`compare_programs.hide_names`); the bag of statements then
sees all names as one, and a model's lexical view leaves them out, as with ``mirenc search --hide-names``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from compare_programs import hide_names
from numpy.typing import NDArray

from mirenc.encoder import Encoder, load
from mirenc.pretrain.evaluation.retrieval import (
    FunctionPair,
    FunctionView,
    bag_vectors,
    collect_pairs,
    function_views,
    rank_figures,
    ranks,
)

LEVELS = ("O0", "O2")
BAG = "bag of statements (tf-idf)"
WORDS = ", words alone"
DRAWS = 2000
_HIDDEN = re.compile(r"([@%])[gt]\d+\b")
_DEFINED = re.compile(r'^define [^@\n]*@("[^"]*"|[-\w$.]+)', re.MULTILINE)

Ranks = NDArray[np.float64]
Names = dict[Path, dict[str, str]]  # of a file, hidden name -> name


def level_pairs(root: Path, first: str, second: str, projects: Sequence[str]) -> list[tuple[Path, Path]]:
    """Files that one compiler wrote at -O0 and the other at -O2."""
    files = sorted(path for path in (root / first).glob(f"*/{LEVELS[0]}/**/*") if path.is_file())
    pairs = []
    for file in files:
        project, _, *path_parts = file.relative_to(root / first).parts
        second_file = root / second / Path(project, LEVELS[1], *path_parts)
        if second_file.is_file() and (not projects or project in projects):
            pairs.append((file, second_file))
    return pairs


def hidden_file(file: Path, target: Path) -> dict[str, str]:
    """Write a file's IR with all names hidden, and say what its functions were called."""
    text = file.read_text(encoding="utf-8")
    hidden = hide_names(text)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(hidden, encoding="utf-8")
    return dict(zip(_DEFINED.findall(hidden), _DEFINED.findall(text), strict=True))


def hidden_copy(root: Path, copy: Path) -> Names:
    """The folder's IR with all names hidden, and what each file's functions were called."""
    files = sorted(path for path in root.rglob("*.ll") if path.is_file())
    targets = [copy / file.relative_to(root) for file in files]
    return {target: hidden_file(file, target) for file, target in zip(files, targets, strict=True)}


def pairs_of(
    encoder: Encoder, files: Sequence[tuple[Path, Path]], names: Names | None, limit: int
) -> list[FunctionPair]:
    """Functions that both files have, paired by the names that they had before they were hidden."""

    def named_views(encoder: Encoder, path: Path) -> dict[str, FunctionView]:
        views = function_views(encoder, path)
        return views if names is None else {names[path][name]: unnamed(view) for name, view in views.items()}

    return collect_pairs(encoder, files, limit=limit, views=named_views)


def folded(text: str) -> str:
    """A statement that calls all hidden names alike."""
    return _HIDDEN.sub(r"\1", text)


def unnamed(view: FunctionView) -> FunctionView:
    """A view whose statements call all hidden names alike."""
    statements: Counter[str] = Counter()
    for text, count in view.statements.items():
        statements[folded(text)] += count
    return replace(view, statements=statements)


def baseline_ranks(pairs: list[FunctionPair]) -> dict[str, Ranks]:
    """Opcodes and statements: log(1 + count), statements times log(functions / functions that have it)."""
    count = len(pairs)
    opcodes = bag_vectors([pair.query.opcodes for pair in pairs] + [pair.candidate.opcodes for pair in pairs]).log1p()
    words = bag_vectors([pair.query.statements for pair in pairs] + [pair.candidate.statements for pair in pairs])
    pairs_with_word = np.bincount(words.indices, minlength=words.shape[1])
    weighted = sp.csr_matrix(words.log1p() @ sp.diags(np.log(2 * count / np.maximum(pairs_with_word, 1))))
    return {
        "opcode histogram, log1p": ranks(opcodes[:count], opcodes[count:]),
        BAG: ranks(weighted[:count], weighted[count:]),
    }


def model_ranks(pairs: list[FunctionPair], name: str) -> dict[str, Ranks]:
    """The whole vector, text and graph alone; of a model with a lexical view that alone, and the vector without it."""
    text, graph = len(pairs[0].query.text), len(pairs[0].query.graph)
    parts = {"": slice(None), ", text alone": slice(text), ", graph alone": slice(text, text + graph)}
    if len(pairs[0].query.both) > text + graph:
        parts |= {WORDS: slice(text + graph, None), ", text and graph": slice(text + graph)}
    vectors_of_sides = [np.array([getattr(pair, side).both for pair in pairs]) for side in ("query", "candidate")]
    return {name + title: ranks(*(vectors[:, part] for vectors in vectors_of_sides)) for title, part in parts.items()}


def gain(model: Ranks, peer: Ranks, owner: NDArray[np.int64]) -> list[float]:
    """Recall at 1 over that of a peer, and its 95 % interval by a bootstrap over source files."""
    difference = (model <= 1).astype(np.float64) - (peer <= 1)
    files = int(owner.max()) + 1
    total, size = np.bincount(owner, difference, files), np.bincount(owner, minlength=files)
    draws = np.random.default_rng(0).integers(files, size=(DRAWS, files))
    low, high = np.quantile(total[draws].sum(1) / size[draws].sum(1), (0.025, 0.975))
    return [float(difference.mean()), float(low), float(high)]


def compare(
    files: list[tuple[Path, Path]], models: list[str], cache: str, hidden: Names | None, limit: int
) -> dict[str, Any]:
    """Figures of all rows on the functions of some pairs of files."""
    methods: dict[str, Ranks] = {}
    names: list[tuple[tuple[Path, Path], str]] = []
    for model in models:
        encoder = load(model, cache=cache, hide_names=hidden is not None)
        pairs = pairs_of(encoder, files, hidden, limit)
        pair_names = [(pair.files, pair.name) for pair in pairs]
        if not names:
            names = pair_names
            methods |= baseline_ranks(pairs)
        if pair_names != names:
            raise SystemExit(f"{encoder.name}: other functions than {models[0]}'s; their statements differ")
        methods |= model_ranks(pairs, encoder.name)
    number = {file: row for row, file in enumerate(dict.fromkeys(files for files, _ in names))}
    owner = np.array([number[files] for files, _ in names])
    rows = {
        title: {**rank_figures(rank), "over_bag": gain(rank, methods[BAG], owner)} for title, rank in methods.items()
    }
    for title, rank in methods.items():
        rows[title] |= {
            f"over_{peer}": gain(rank, methods[peer], owner) for peer in models if peer in methods and peer != title
        }
        if title + WORDS in methods:
            rows[title]["over_words"] = gain(rank, methods[title + WORDS], owner)
    return {"functions": len(names), "files": len(number), "rows": rows}


def markdown(record: dict[str, Any]) -> str:
    """A table for names as written, one for names hidden."""
    lines = []
    settings = record["settings"]
    for names in ("written", "hidden"):
        chosen = {key: value for key, value in settings.items() if value["names"] == names}
        if not chosen:
            continue
        titles = [f"{pair['first']} -O0 to {pair['second']} -O2 ({pair['functions']:,})" for pair in chosen.values()]
        lines += [f"Names {names}: recall at 1 / MRR in percent, over the bag of statements [95 % over files]", ""]
        lines += ["| Row | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
        for row in next(iter(chosen.values()))["rows"]:
            cells = []
            for pair in chosen.values():
                figures = pair["rows"][row]
                cell = f"{100 * figures['recall_at_1']:.1f} / {100 * figures['mrr']:.1f}"
                if row != BAG:
                    middle, low, high = (100 * value for value in figures["over_bag"])
                    cell += f", {middle:+.1f} [{low:+.1f}, {high:+.1f}]"
                cells.append(cell)
            lines.append(f"| {row} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="folder with COMPILER/PROJECT/O0 and COMPILER/PROJECT/O2")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--models", nargs="+", default=["mirenc-base", "mirenc-fast"], help="names or folders")
    parser.add_argument("--compilers", nargs="+", default=["clang-14", "clang-16", "clang-19"])
    parser.add_argument("--names", nargs="+", choices=["written", "hidden"], default=["written", "hidden"])
    parser.add_argument("--projects", nargs="*", default=[], help="these only")
    parser.add_argument("--limit", type=int, default=3000, help="functions")
    arguments = parser.parse_args()
    settings: dict[str, Any] = {}
    for names in arguments.names:
        with tempfile.TemporaryDirectory() as folder:
            root: Path = arguments.pairs
            hidden: Names | None = None
            if names == "hidden":
                root, hidden = Path(folder, "ir"), {}
                for compiler in arguments.compilers:
                    hidden |= hidden_copy(arguments.pairs / compiler, root / compiler)
            for first, second in itertools.combinations(arguments.compilers, 2):
                files = level_pairs(root, first, second, arguments.projects)
                if not files:
                    raise SystemExit(f"{root}: no program that {first} wrote at -O0 and {second} at -O2")
                comparison = compare(files, arguments.models, str(Path(folder, "cache")), hidden, arguments.limit)
                settings[f"{first} {second} {names}"] = {"first": first, "second": second, "names": names, **comparison}
    record = {"models": arguments.models, "settings": settings}
    arguments.out.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(markdown(record), encoding="utf-8")
    print(markdown(record), end="")


if __name__ == "__main__":
    main()
