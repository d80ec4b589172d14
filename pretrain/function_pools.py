"""A function found among others by what another compiler or level made of it, each side brought to a form by LLVM.

The protocol of Marcelli et al., "How Machine Learning Is Solving the Binary Function Similarity Problem" (USENIX
Security 2022), on LLVM IR. What you get: `OUT.json`, and its tables in `OUT.md`. Settings, each with names as written
and with all names hidden:

- ``A-B``, two levels: queries by the first compiler of a program's group at A, candidates by the last at B;
- ``XM``: any two builds, drawn for each program of all that there can be.

Of each project at most ``--programs`` are read, those whose hash is least, each in all settings of which it has both
builds. A function counts that has enough instructions in both, once for each symbol of C++ in a project (files share
inline functions); of those whose candidates have equal statements the first: no vector could tell them apart.

Which form each side is brought to is a rule: ``plain`` (none), ``auto`` (both in O2, as `mirenc search` has them).

Rows are a model's vector, its text and graph without words, the vector re-ranked by what else is in the files, and
bags without a model, with the pool's frequencies. Smaller pools are drawn at random from the large one: figures are the
exact expectations, with equals in random order. Intervals are 95 %, by a bootstrap over projects.

How long: half a CPU second for a file and form of 2,000 instructions; 2 a row and setting of 2,000 functions.
On what: the folder that `compile_pairs.py` wrote, of projects that no model compared here was trained on.

    python pretrain/function_pools.py PAIRS pretrain/function_pools --work WORK

What is read stays in WORK (`function_forms.py`): a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from function_forms import NAMES, Build, Key, Place, Program, Store, programs_of
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from mirenc.search.rerank import file_bonus, rest_of_file

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
FOR_SIZE = ("Os", "Oz")
SETTINGS = ("O0-O2", "O0-Oz", "XM", "O2-Oz", "O3-Os")
Rule = tuple[str, str]  # forms of the query and of the candidate
RULES: dict[str, Rule] = {"plain": ("plain", "plain"), "auto": ("O2", "O2")}
SMALL = 100
BAGS: dict[str, tuple[str, ...]] = {
    "bag of statements": ("statements",),
    "bag of terms": ("terms",),
    "bag of terms and statements": ("terms", "whole"),
}
HISTOGRAM = "opcode histogram"
MODEL, NO_WORDS, RERANKED = "mirenc-search", "mirenc-search, text and graph", "mirenc-search, re-ranked"
SIZES = {"10-30": (10, 30), "30-100": (30, 100), "over 100": (100, None)}  # instructions of the query as it is
LANGUAGES = {"rustc": "Rust", "flang": "Fortran", ".c": "C"}  # by compiler, by suffix; else C++
DRAWS = 2000
_SEED = 30
_BLOCK = 1024
_COMMON = 0.02  # of the rows
# Vectors are float32: the cosine of equal ones is equal up to here.
_EQUAL = 1e-6

Scores = NDArray[np.float32]  # (N, N) of each query with each candidate; a query's own is on the diagonal
Figures = dict[str, NDArray[np.float64]]  # of each query


@dataclass(frozen=True)
class Pair:
    """A function in two builds: their levels, the files that hold them, and where they stand as they are."""

    key: Key
    builds: tuple[Build, Build]
    places: tuple[Place, Place]

    @property
    def language(self) -> str:
        """Of the source."""
        compiler = self.builds[0][0].split("-")[0]
        return LANGUAGES.get(compiler) or LANGUAGES.get(Path(self.key[1].removesuffix(".ll")).suffix, "C++")


# -- which functions -------------------------------------------------------------------------------------------------
def sort_key(key: object) -> bytes:
    """An order that is the same in every run and has nothing to do with names."""
    return hashlib.sha256(repr(key).encode()).digest()


def sample_programs(programs: dict[Program, dict[Build, str]], limit: int) -> dict[Program, dict[Build, str]]:
    """At most so many programs of each project."""
    groups: dict[str, list[Program]] = defaultdict(list)
    for program in sorted(programs, key=sort_key):
        groups[program[0]].append(program)
    return {program: programs[program] for group in groups.values() for program in group[:limit]}


def drawn_builds(
    setting: str, program: Program, group: Sequence[str], levels: Sequence[str] = LEVELS
) -> tuple[Build, Build]:
    """The query's build and the candidate's of a program that a group of compilers builds; the same in every run."""
    if setting == "XM":
        pool = [(name, level) for name in group for level in levels if not (is_flang(name) and level in FOR_SIZE)]
        return tuple(random.Random(f"{_SEED} {program}").sample(sorted(pool), 2))
    first, last = setting.split("-")
    return (group[0], first), (group[-1], last)


def is_flang(compiler: str) -> bool:
    """Whether a compiler has no levels for size."""
    return compiler.startswith("flang")


def drawn_of(
    setting: str, programs: dict[Program, dict[Build, str]], compilers: Sequence[str], levels: Sequence[str] = LEVELS
) -> dict[Program, tuple[Build, Build]]:
    """The two builds of each program that has them; ``compilers`` are groups, ``first+last``."""
    chosen = {}
    for program, builds in programs.items():
        for group in (names.split("+") for names in compilers):
            builds_drawn = drawn_builds(setting, program, group, levels)
            if set(builds_drawn) <= builds.keys():
                chosen[program] = builds_drawn
                break
    return chosen


def pairs_of(
    store: Store, chosen: dict[Program, tuple[Build, Build]], programs: dict[Program, dict[Build, str]], minimum: int
) -> list[Pair]:
    """Pairs of a setting: of those with equal candidates, and of the files that share a symbol of C++, the first."""
    sequences: set[bytes] = set()
    symbols: set[tuple[str, str]] = set()
    pairs = []
    for program, builds in sorted(chosen.items()):
        query, candidate = (store.places(programs[program][build], "plain") for build in builds)
        for name in sorted(query.keys() & candidate.keys()):
            places = query[name], candidate[name]
            symbol = program[0], name
            if min(place.size for place in places) < minimum or places[1].sequence in sequences:
                continue
            if name.startswith("_Z") and symbol in symbols:
                continue
            sequences.add(places[1].sequence)
            symbols.add(symbol)
            pairs.append(Pair((*program, name), builds, places))
    return pairs


def readings_of(
    chosen: dict[Program, tuple[Build, Build]], programs: dict[Program, dict[Build, str]], rules: Sequence[Rule]
) -> set[tuple[str, str]]:
    """Files and forms that a setting needs: as they are, and as the rules have each side."""
    forms = [{"plain", *side} for side in zip(*rules, strict=True)]
    sides = ((program, *side) for program, builds in chosen.items() for side in zip(builds, forms, strict=True))
    return {(programs[program][build], form) for program, build, side_forms in sides for form in side_forms}


# -- scores and figures ----------------------------------------------------------------------------------------------
class Sides:
    """The rows of a setting's pairs under a rule, and the scores of each query with each candidate."""

    def __init__(self, store: Store, pairs: Sequence[Pair], rule: Rule) -> None:
        number: dict[Place, int] = {}
        rows: list[list[int]] = [[], []]  # of each side
        for side, form in enumerate(rule):
            for pair in pairs:
                place = pair.places[side]
                # A function that a form lacks, of a module that passes could not take, stays as it is.
                place = store.places(place.file, form).get(pair.key[2], place)
                rows[side].append(number.setdefault(place, len(number)))
        self.places = list(number)
        self.candidates = sorted(set(rows[1]))
        self._rows = [np.array(side, dtype=np.int64) for side in rows]

    def scores(self, rows: Any, company: Any = None) -> Scores:
        """Cosines (N, N) of rows (places, D), dense or sparse, and what the company adds of ``company`` (places, D)."""
        parts = [normalize(rows.astype(np.float32))]
        if sp.issparse(rows):  # words that many rows have are multiplied faster as dense columns
            common = np.bincount(rows.indices, minlength=rows.shape[1]) > _COMMON * len(self.places)
            parts = [parts[0][:, ~common], parts[0][:, common].toarray()]
        query, candidate = self._rows
        scores = np.empty((len(query), len(candidate)), dtype=np.float32)
        for first in range(0, len(query), _BLOCK):
            block_rows = query[first : first + _BLOCK]
            products = [part[block_rows] @ part[candidate].T for part in parts]
            block = sum(product.toarray() if sp.issparse(product) else product for product in products)
            scores[first : first + _BLOCK] = (
                block if company is None else block + file_bonus(company[block_rows] @ company[candidate].T)
            )
        return scores


def weighted_counts(counts: sp.csr_matrix) -> sp.csr_matrix:
    """log(1 + count) log(rows / rows that have the word)."""
    rows_with_word = np.bincount(counts.indices, minlength=counts.shape[1])
    return sp.csr_matrix(counts.log1p() @ sp.diags(np.log(counts.shape[0] / np.maximum(rows_with_word, 1))))


def rest_of_files(store: Store, sides: Sides, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """What else is in the file of each place, as `mirenc.search.rerank` has it. (places, D)."""
    files = dict.fromkeys((place.file, place.form) for place in sides.places)
    vectors_of_files = {file: normalize(rows).astype(np.float64) for file, rows in store.all_vectors(files).items()}
    candidate_files = dict.fromkeys((sides.places[row].file, sides.places[row].form) for row in sides.candidates)
    mean = np.concatenate([vectors_of_files[file] for file in candidate_files]).mean(0)
    sums = {file: rows.sum(0) - len(rows) * mean for file, rows in vectors_of_files.items()}
    sums_of_places = np.array([sums[place.file, place.form] for place in sides.places])
    return rest_of_file(normalize(vectors), sums_of_places, mean).astype(np.float32)


def standing(scores: Scores) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many other candidates are nearer to each query than its own, and how many as near. (N, N) -> (N,), (N,)."""
    own_score = scores.diagonal()[:, None]
    nearer = np.concatenate([(block > own + _EQUAL).sum(1) for block, own in _blocks(scores, own_score)])
    within = np.concatenate([(block >= own - _EQUAL).sum(1) for block, own in _blocks(scores, own_score)])
    return nearer, within - nearer - 1


def _blocks(scores: Scores, own_score: Scores) -> list[tuple[Scores, Scores]]:
    return [(scores[low : low + _BLOCK], own_score[low : low + _BLOCK]) for low in range(0, len(scores), _BLOCK)]


def expected(nearer: NDArray[np.int64], equal: NDArray[np.int64], count: int, size: int) -> Figures:
    """Recall at 1 and reciprocal rank of each query among ``size`` of ``count`` candidates drawn at random.

    With b of M nearer and n drawn, K of which are nearer, P(K = 0) = C(M - b, n) / C(M, n), and by Vandermonde's
    identity E[1 / (1 + K)] = ((M + 1) / (n + 1) - C(M - b, n + 1) / C(M, n)) / (b + 1). Equals in random order: the
    mean over b, ..., b + equal.
    """
    b = np.arange(count)
    left = np.maximum(count - b, 1)
    none = np.cumprod(np.concatenate([[1.0], np.maximum(count - b - size, 0) / left]))  # (M + 1,)
    start = (count - size) / (size + 1)
    tail = start * np.cumprod(np.concatenate([[1.0], np.maximum(count - b - size - 1, 0) / left]))
    reciprocal = ((count + 1) / (size + 1) - tail) / np.arange(1, count + 2)
    sums = {name: np.concatenate([[0], np.cumsum(row)]) for name, row in (("recall_at_1", none), ("mrr", reciprocal))}
    return {name: (row[nearer + equal + 1] - row[nearer]) / (equal + 1) for name, row in sums.items()}


def pool_figures(scores: Scores, limit: int) -> dict[str, Figures]:
    """Figures of each query in the small pool and in the large one."""
    count = len(scores) - 1
    nearer, equal = standing(scores)
    return {
        name: expected(nearer, equal, count, min(size - 1, count))
        for name, size in (("small", SMALL), ("large", limit))
    }


class Bootstrap:
    """Means with 95 % intervals, from draws of owners; ``owner`` (N,) numbers them."""

    def __init__(self, owner: NDArray[np.int64]) -> None:
        self._owner = owner
        self._size = np.bincount(owner)
        count = len(self._size)
        draws = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=DRAWS)
        self._draws = draws.astype(np.float64)
        self._sizes = self._draws @ self._size

    def __call__(self, values: NDArray[np.float64]) -> list[float]:
        """Mean, low, high."""
        total = np.bincount(self._owner, values, len(self._size))
        low, high = np.quantile(self._draws @ total / self._sizes, (0.025, 0.975))
        return [round(float(value), 4) for value in (values.mean(), low, high)]


# -- rows ------------------------------------------------------------------------------------------------------------
def rows_of(store: Store, pairs: Sequence[Pair], rule: Rule, limit: int) -> dict[str, dict[str, Figures]]:
    """Figures of all methods over the same forms."""
    sides = Sides(store, pairs, rule)
    rows = {HISTOGRAM: pool_figures(sides.scores(store.bags(sides.places, ["opcodes"]).log1p()), limit)}
    for title, kinds in BAGS.items():
        rows[title] = pool_figures(sides.scores(weighted_counts(store.bags(sides.places, kinds))), limit)
    vectors = store.vectors(sides.places)
    rows[NO_WORDS] = pool_figures(sides.scores(vectors[:, : store.words_from]), limit)
    rows[MODEL] = pool_figures(sides.scores(vectors), limit)
    rows[RERANKED] = pool_figures(sides.scores(vectors, rest_of_files(store, sides, vectors)), limit)
    return rows


def summary(rows: dict[str, dict[str, dict[str, Figures]]], pairs: Sequence[Pair]) -> dict[str, Any]:
    """Means of all rows, by language and by size of the query, and what the model has over the best bag."""
    project = owner_ids([pair.key[0] for pair in pairs])
    bootstrap = Bootstrap(project)
    size = np.array([pair.places[0].size for pair in pairs])
    groups = {title: (size >= low) & (size < (high or np.inf)) for title, (low, high) in SIZES.items()}
    language = np.array([pair.language for pair in pairs])
    groups = {name: language == name for name in sorted(set(language.tolist()))} | groups
    boots = {name: Bootstrap(owner_ids(project[mask].tolist())) for name, mask in groups.items() if mask.any()}
    figures_of_rules: dict[str, Any] = {}
    for rule, methods in rows.items():
        figures_of_rules[rule] = {}
        for title, pools in methods.items():
            entry = figures_of_rules[rule][title] = {}
            for pool, figures in pools.items():
                recall = figures["recall_at_1"]
                entry[pool] = {"recall_at_1": bootstrap(recall), "mrr": round(float(figures["mrr"].mean()), 4)}
                entry[pool]["by"] = {name: boots[name](recall[mask]) for name, mask in groups.items() if mask.any()}
                if title in (MODEL, NO_WORDS, RERANKED):
                    bags = {bag: methods[bag][pool]["recall_at_1"] for bag in (HISTOGRAM, *BAGS)}
                    best = max(bags, key=lambda bag: bags[bag].mean())
                    entry[pool]["best_bag"], entry[pool]["over_best_bag"] = best, bootstrap(recall - bags[best])
    projects = {
        name: len({pair.key[0] for pair in pairs if pair.language == name}) for name in sorted(set(language.tolist()))
    }
    return {
        "functions": len(pairs),
        "projects": projects,
        "projects_in_all": int(project.max()) + 1,
        "files": len({pair.key[:2] for pair in pairs}),
        "by": {name: int(mask.sum()) for name, mask in groups.items()},
        "rows": figures_of_rules,
    }


def owner_ids(owners: Sequence[Any]) -> NDArray[np.int64]:
    """Each owner's number, in the order in which they are met."""
    number = {owner: index for index, owner in enumerate(dict.fromkeys(owners))}
    return np.array([number[owner] for owner in owners], dtype=np.int64)


# -- tables ----------------------------------------------------------------------------------------------------------
def markdown(record: dict[str, Any]) -> str:
    """One table of all rows for each way with names, then the model by language and size."""
    lines = [
        "Recall at 1 in percent, pool of 100 / all of the setting. `*`: above the best bag over the same forms by more",
        "than the 95 % interval over projects. Rows without a rule's name: `auto`.",
    ]
    for names, settings in record["names"].items():
        titles = [f"{setting} ({figures['functions']:,})" for setting, figures in settings.items()]
        lines += ["", f"| Names {names} | {' | '.join(titles)} |", "|---" * (len(titles) + 1) + "|"]
        for rule, method in itertools.product(RULES, (RERANKED, MODEL, NO_WORDS, *reversed(BAGS), HISTOGRAM)):
            cells = [cell(figures["rows"].get(rule, {}).get(method)) for figures in settings.values()]
            title = method if rule == "auto" else f"{method}; {rule}"
            lines += [f"| {title} | {' | '.join(cells)} |"] if any(cells) else []
    groups = list(
        dict.fromkeys(
            name for comparisons in record["names"].values() for entry in comparisons.values() for name in entry["by"]
        )
    )
    for method in (RERANKED, MODEL):
        lines += ["", f"{method}, `auto`, all of the setting; functions in brackets", ""]
        columns = [f"{setting}, {names}" for setting in record["settings"] for names in record["names"]]
        lines += [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
        for group in groups:
            cells = [
                by_group(record["names"][names][setting], method, group)
                for setting in record["settings"]
                for names in record["names"]
            ]
            lines.append(f"| {group} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cell(row: dict[str, Any] | None) -> str:
    """Of a table; empty: there is no such row."""
    if row is None:
        return ""
    is_better = all(pool.get("over_best_bag", [0, 0])[1] > 0 for pool in row.values())
    return "/".join(f"{100 * row[pool]['recall_at_1'][0]:.1f}" for pool in ("small", "large")) + "*" * is_better


def by_group(figures: dict[str, Any], method: str, group: str) -> str:
    """Recall with its interval, and of how many functions."""
    if not figures["by"].get(group):
        return ""
    mean, low, high = (100 * value for value in figures["rows"]["auto"][method]["large"]["by"][group])
    return f"{mean:.1f} [{low:.1f}, {high:.1f}] ({figures['by'][group]})"


def chosen_programs(arguments: argparse.Namespace, settings: Iterable[str]) -> dict[Program, dict[Build, str]]:
    """Programs of the command line that have both builds of a setting, without files that are too large."""
    compilers = [name for group in arguments.compilers for name in group.split("+")]
    programs = programs_of(arguments.pairs, compilers, arguments.levels)
    for builds in programs.values():
        for build, path in list(builds.items()):
            crate = 4 if build[0] == "rustc" else 1  # a whole crate is one file
            if (arguments.pairs / path).stat().st_size > crate * arguments.bytes:
                del builds[build]
    draws = (drawn_of(setting, programs, arguments.compilers, arguments.levels) for setting in settings)
    return sample_programs({program: programs[program] for program in dict.fromkeys(chain(*draws))}, arguments.programs)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="folder with COMPILER/PROJECT/LEVEL/x.ll")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is read")
    parser.add_argument("--compilers", nargs="+", default=["clang-14+clang-19", "flang-19", "rustc"], help="groups")
    parser.add_argument("--levels", nargs="+", default=LEVELS)
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    parser.add_argument("--rules", nargs="+", choices=list(RULES), default=list(RULES))
    parser.add_argument("--programs", type=int, default=10, help="at most so many of a project")
    parser.add_argument("--bytes", type=int, default=400_000, help="larger files are left out; of Rust 4 times")
    parser.add_argument("--least", type=int, default=10, help="instructions of a function in both builds")
    parser.add_argument("--pool", type=int, default=10_000, help="candidates of the large pool")
    parser.add_argument("--jobs", type=int, default=1, help="processes that read")
    arguments = parser.parse_args()
    programs = chosen_programs(arguments, arguments.settings)
    store = Store(arguments.pairs, arguments.work / arguments.pairs.name, MODEL, jobs=arguments.jobs)
    chosen = {
        setting: drawn_of(setting, programs, arguments.compilers, arguments.levels) for setting in arguments.settings
    }
    rules = {name: RULES[name] for name in arguments.rules}
    needed = [readings_of(builds, programs, list(rules.values())) for builds in chosen.values()]
    unread = store.read(set().union(*needed))
    names: dict[str, Any] = {}
    for naming in NAMES:
        named_store = replace(store, names=naming)
        names[naming] = {}
        for setting, builds in chosen.items():
            pairs = pairs_of(named_store, builds, programs, arguments.least)
            if len(pairs) < 2:
                raise SystemExit(f"{arguments.pairs}: {setting}: fewer than two functions in two builds")
            rows = {name: rows_of(named_store, pairs, rule, arguments.pool) for name, rule in rules.items()}
            names[naming][setting] = summary(rows, pairs)
    record = {
        "settings": list(arguments.settings),
        "compilers": arguments.compilers,
        "programs": len(programs),
        "programs_of_a_project": arguments.programs,
        "largest_file": arguments.bytes,
        "unread": unread,
        "least": arguments.least,
        "pool": arguments.pool,
        "names": names,
    }
    # Three numbers on one line, not on five.
    text = re.sub(r"\[\s+([-\d.e]+),\s+([-\d.e]+),\s+([-\d.e]+)\s+\]", r"[\1, \2, \3]", json.dumps(record, indent=1))
    arguments.out.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(markdown(record), encoding="utf-8")
    print(markdown(record), end="")


if __name__ == "__main__":
    main()
