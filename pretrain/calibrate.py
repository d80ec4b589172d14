"""How often the first answer of a function search is right, by what the search knows: a logistic regression.

What you get: `OUT.json`: coefficients for `mirenc.search.confidence`, how often answers were right in each fifth of
them by language, and `OUT.md`, the tables of it.

The protocol is that of the product: all functions of a project's build, whatever their size, are searched for in an
index of another build of it, or of that and builds of nine other projects, with re-ranking; and in the same file of the
other build, as `mirenc compare` does. An answer is right where its symbol is that of the query; functions that the
index does not have are among the queries, and no answer to them is right.

Each language has coefficients of its own. They are fitted on one half of the projects (by a hash of their names) and
tested on the other, and the reverse; those that ship are fitted on all.

How long: a quarter of an hour of one core for 46 projects.
On what: the folder that `compile_pairs.py` wrote, of projects that the model was not trained on.

    python pretrain/calibrate.py PAIRS pretrain/calibration --work WORK
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from mirenc.encoder import Encoder, load
from mirenc.encoder.weights import search_model
from mirenc.search import Maker, VectorTable, nearest, read_vectors, write_vectors
from mirenc.search.confidence import features_of, language_of, probability
from mirenc.search.rerank import rerank

# Builds of the query and of the index: two compilers where a language has two.
SETTINGS = [
    ("clang-14/O0", "clang-19/O2"),
    ("clang-14/O2", "clang-19/Oz"),
    ("clang-19/O1", "clang-14/O2"),
    ("rustc/O0", "rustc/O2"),
]
LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
MOST_BYTES = 3_000_000  # of a file
LANGUAGES = ("C", "C++", "Rust")  # of Fortran there are too few projects
PEERS = 9  # projects
FIFTHS = 5
MOST_QUERIES = 600  # queries of a project and setting: large ones would decide alone
_SEED = 44


class Answers(NamedTuple):
    """Of each answer: features (n, F), whether it was right, the project and the language of the query."""

    features: NDArray[np.float64]
    right: NDArray[np.bool_]
    project: NDArray[np.str_]
    language: NDArray[np.str_]


class Build(NamedTuple):
    """Vectors of a build's functions, and how many instructions (n,) each has in the form of the vectors."""

    table: VectorTable
    instructions: NDArray[np.int64]


def read_build(encoder: Encoder, folder: Path, work: Path) -> Build | None:
    """A build, kept in ``work``; None where nothing in it can be read."""
    table_file = work / f"{'-'.join(folder.parts[-3:])}.npz"
    sizes = table_file.with_suffix(".npy")
    if not sizes.exists():
        files = sorted(path for path in folder.rglob("*.ll") if path.stat().st_size < MOST_BYTES)
        outcomes = encoder.embed_stream(files, level="function", jobs=1)
        embeddings = [(outcome.name, outcome.embedding) for outcome in outcomes if outcome.embedding is not None]
        if not embeddings:
            return None
        write_vectors(table_file, VectorTable.of(Maker.of(encoder, "function"), embeddings))
        np.save(sizes, np.concatenate([embedding.sizes[:, 2] for _, embedding in embeddings]))
    return Build(read_vectors(table_file), np.load(sizes))


def concatenated(tables: list[VectorTable]) -> VectorTable:
    """Tables of one encoder as one."""
    labels = {name: [word for table in tables for word in table.labels[name]] for name in tables[0].labels}
    sources = [source for table in tables for source in table.sources]
    starts = np.cumsum([0, *(len(table.sources) for table in tables)])
    rows = [row + int(start) for table, start in zip(tables, starts, strict=False) for row in table.source_row]
    return VectorTable(tables[0].maker, np.concatenate([table.vectors for table in tables]), labels, sources, rows)


def rows_by_file(table: VectorTable) -> dict[str, NDArray[np.int64]]:
    """Rows of each file, by its path in its build."""
    files = np.asarray(table.source_row)
    return {path_in_build(table.sources[file]["file"]): np.flatnonzero(files == file) for file in np.unique(files)}


def path_in_build(file: str) -> str:
    """A file's path below COMPILER/PROJECT/LEVEL."""
    parts = Path(file).parts
    level = next(position for position, part in enumerate(parts) if part in LEVELS)
    return "/".join(parts[level + 1 :])


def answers_to(query: Build, table: VectorTable, project: str) -> Answers:
    """What a search in ``table`` answers to all functions of a build."""
    rows_of_files = [*rows_by_file(query.table).values()]
    vectors = query.table.vectors
    neighbours = rerank([(vectors[rows], vectors[rows]) for rows in rows_of_files], table, 2)
    rows, cosines = (np.concatenate(parts) for parts in zip(*neighbours, strict=True))
    best = [table.labels["symbol"][row] for row in rows[:, 0]]
    return _answers(query, np.concatenate(rows_of_files), best, cosines, len(table), project)


def answers_by_file(query: Build, table: VectorTable, project: str) -> Iterator[Answers]:
    """What a comparison of each file of a build with the same file of the other answers."""
    other_rows = rows_by_file(table)
    for file, rows in rows_by_file(query.table).items():
        if file in other_rows:
            neighbours, cosines = nearest(query.table.vectors[rows], table.vectors[other_rows[file]], 2)
            best = [table.labels["symbol"][row] for row in other_rows[file][neighbours[:, 0]]]
            yield _answers(query, rows, best, cosines, len(other_rows[file]), project)


def _answers(query: Build, rows: NDArray[np.int64], best: list[str], cosines: Any, pool: int, project: str) -> Answers:
    symbols = [query.table.labels["symbol"][row] for row in rows]
    features = features_of(cosines, pool, query.instructions[rows])
    is_right = np.array([expected == answer for expected, answer in zip(symbols, best, strict=True)])
    language = np.array([language_of(symbol) for symbol in symbols])
    sample = np.random.default_rng(_SEED).permutation(len(is_right))[:MOST_QUERIES]
    return Answers(features[sample], is_right[sample], np.full(len(sample), project), language[sample])


def answers_of(encoder: Encoder, pairs: Path, work: Path) -> Iterator[Answers]:
    """Answers of all settings."""
    for query_setting, index_setting in SETTINGS:
        compiler, level = index_setting.split("/")
        tables = {}
        for folder in sorted((pairs / compiler).glob(f"*/{level}")):
            if (build := read_build(encoder, folder, work)) is not None:
                tables[folder.parent.name] = build.table
        names = list(tables)
        compiler, level = query_setting.split("/")
        for number, project in enumerate(names):
            query = read_build(encoder, pairs / compiler / project / level, work)
            if query is None:
                continue
            neighbours = [names[(number + step) % len(names)] for step in range(1, min(PEERS, len(names) - 1) + 1)]
            for table in (tables[project], concatenated([tables[project], *(tables[name] for name in neighbours)])):
                yield answers_to(query, table, project)
            yield from answers_by_file(query, tables[project], project)


def fit(answers: Answers, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Coefficients for one language, the intercept last; each project weighs the root of its answers."""
    _, number, count = np.unique(answers.project[rows], return_inverse=True, return_counts=True)
    model = LogisticRegression(C=100, max_iter=2000)
    model.fit(answers.features[rows], answers.right[rows], sample_weight=count[number] ** -0.5)
    return np.append(model.coef_[0], model.intercept_)


def fifths(probabilities: NDArray[np.float64], is_right: NDArray[np.bool_]) -> list[list[float]]:
    """Of each fifth of the answers, in the order of what is shown: how many, shown in the mean, and share right."""
    return [
        [len(fifth), round(float(probabilities[fifth].mean()), 4), round(float(is_right[fifth].mean()), 4)]
        for fifth in np.array_split(np.argsort(probabilities, kind="stable"), FIFTHS)
    ]


def fifths_by_language(probabilities: NDArray[np.float64], answers: Answers) -> dict[str, Any]:
    """Fifths by language."""
    rows_of_language = {name: answers.language == name for name in LANGUAGES}
    return {name: fifths(probabilities[subset], answers.right[subset]) for name, subset in rows_of_language.items()}


def markdown(record: dict[str, Any]) -> str:
    """A table: shown / right in percent, by language and fifth."""
    lines = ["Shown / right in percent, in each fifth of the answers"]
    for title, languages in record["tested"].items():
        lines += ["", f"| {title} | 1 | 2 | 3 | 4 | 5 | answers |", "|---" * (FIFTHS + 2) + "|"]
        for name, rows in languages.items():
            cells = " | ".join(f"{100 * mean:.0f} / {100 * share:.0f}" for _, mean, share in rows)
            lines.append(f"| {name} | {cells} | {sum(row[0] for row in rows):,} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--work", type=Path, required=True, help="folder for vectors")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    parts = list(
        answers_of(load(search_model("function"), cache=arguments.work / "cache"), arguments.pairs, arguments.work)
    )
    answers = Answers(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    first_half = np.array([hashlib.sha256(name.encode()).digest()[0] % 2 == 0 for name in answers.project])
    cross_fitted, as_shipped = np.full(len(first_half), np.nan), np.full(len(first_half), np.nan)
    coefficients = {}
    for name in LANGUAGES:
        in_language = answers.language == name
        for held_out in (first_half & in_language, ~first_half & in_language):
            cross_fitted[held_out] = probability(answers.features[held_out], fit(answers, in_language & ~held_out))
        weights = [round(float(value), 4) for value in fit(answers, in_language)]
        as_shipped[in_language] = probability(answers.features[in_language], weights)
        coefficients[name] = weights
    record = {
        "coefficients": coefficients,
        "projects": len(set(answers.project.tolist())),
        "answers": len(first_half),
        "tested": {
            "fitted on the other half of the projects": fifths_by_language(cross_fitted, answers),
            "as it ships, fitted on all": fifths_by_language(as_shipped, answers),
        },
    }
    arguments.out.with_suffix(".json").write_text(json.dumps(record) + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(markdown(record), encoding="utf-8")
    print(markdown(record), end="")


if __name__ == "__main__":
    main()
