"""A function found among others by what another compiler or level made of it: XO, XC and XM, pools of 100 and 10,000.

The protocol of Marcelli et al., "How Machine Learning Is Solving the Binary Function Similarity Problem" (USENIX
Security 2022), on LLVM IR. What you get: `OUT.json`, and the main rows in `OUT.md`. Four settings, each with names as
written and with all names hidden:

- ``O0-O2``: the query is by the first compiler at -O0, the candidates by the last at -O2;
- ``XO``: one compiler, two levels; ``XC``: two compilers, any levels; ``XM``: any two forms; drawn for each function,
  of programs that are there in every form.

A function counts that has enough instructions in both forms; of those whose candidates have equal statements the first:
no vector could tell them apart. Rows are the blocks of a model's vector; the vector with each block centred by the mean
of its form (compiler and level) and scaled to length 1; that with CSLS (Conneau et al., "Word translation without
parallel data", ICLR 2018: a candidate that is near to many is less near to each), where what a candidate is near to are
queries of projects other than its own and the query's; the vector re-ranked by what else is in the files, as the query
stands and as if it were copied into another's file; and bags without a model, with the pool's frequencies, as they
are and with CSLS. Equals are in an order drawn at random, and smaller pools drawn at random from the large one: figures
are the exact expectations. Differences have 95 % intervals by a bootstrap over projects, and over files.

How long: 0.05 CPU seconds for 1,000 instructions to count words both ways with names, 0.06 each way for the vectors of
mirenc-fast; then 4 to 10 a row and setting with pools of 10,000.
On what: the folder that `compile_pairs.py` wrote, of projects that no model compared here was trained on.

    python pretrain/function_pools.py PAIRS pretrain/function_pools --work WORK --models mirenc-base mirenc-fast

What is read stays in WORK (`function_forms.py`): a run that was stopped goes on, and one more model reads no words.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from function_forms import Form, Key, Place, Program, Store, programs_of
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from mirenc.progress import progress
from mirenc.search.rerank import company, rest_of_file

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
SETTINGS = ("O0-O2", "XO", "XC", "XM")
SMALL = 100
BAGS: dict[str, tuple[str, ...]] = {
    "bag of statements": ("statements",),
    "bag of terms": ("terms",),
    "bag of terms and statements": ("terms", "whole"),
}
CSLS = ", CSLS"
COPIED = "re-ranked, copied into a strange file"
SIZES = {"10-30": (10, 30), "30-100": (30, 100), "over 100": (100, None)}  # instructions of the query
NEAREST = 10
TENTHS = 10
DRAWS = 2000
_SEED = 30
_BLOCK = 1024
# Vectors are float32: the cosine of equal ones is equal up to here.
_EQUAL = 1e-6

Scores = NDArray[np.float32]  # (N, N) of each query with each candidate; a query's own is on the diagonal
Figures = dict[str, NDArray[np.float64]]  # of each query


@dataclass(frozen=True)
class Pair:
    """A function in two forms."""

    key: Key
    forms: tuple[Form, Form]
    query: Place
    candidate: Place


# -- which functions -------------------------------------------------------------------------------------------------
def drawn_forms(setting: str, key: Key, forms: Sequence[Form], main: tuple[Form, Form]) -> tuple[Form, Form] | None:
    """Two of a function's forms, as a setting has them; the same in every run. None: it has no such two."""
    generator = random.Random(f"{_SEED} {setting} {key}")
    if setting == "O0-O2":
        return main if set(main) <= set(forms) else None
    compilers = sorted({compiler for compiler, _ in forms})
    of = {compiler: sorted(form for form in forms if form[0] == compiler) for compiler in compilers}
    if setting == "XO":
        several = [compiler for compiler in compilers if len(of[compiler]) > 1]
        if not several:
            return None
        first, second = generator.sample(of[generator.choice(several)], 2)
    elif setting == "XC":
        if len(compilers) < 2:
            return None
        first, second = (generator.choice(of[compiler]) for compiler in generator.sample(compilers, 2))
    else:
        if len(forms) < 2:
            return None
        first, second = generator.sample(sorted(forms), 2)
    return first, second


def pairs_of(
    setting: str, functions: dict[Key, dict[Form, Place]], main: tuple[Form, Form], least: int, most: int
) -> list[Pair]:
    """Pairs of a setting, at most ``most``, drawn by their names; of those with equal candidates the first."""
    seen: set[bytes] = set()
    pairs = []
    for key, places in sorted(functions.items()):
        forms = drawn_forms(setting, key, [form for form, place in places.items() if place.size >= least], main)
        if forms is not None and places[forms[1]].sequence not in seen:
            seen.add(places[forms[1]].sequence)
            pairs.append(Pair(key, forms, *(places[form] for form in forms)))
    order = sorted(pairs, key=lambda pair: hashlib.sha256(repr(pair.key).encode()).digest())
    return sorted(order[:most], key=lambda pair: pair.key)


def functions_of(store: Store, programs: dict[Program, dict[Form, str]]) -> dict[Key, dict[Form, Place]]:
    """All functions in all forms."""
    found: dict[Key, dict[Form, Place]] = {}
    for (project, file), forms in programs.items():
        for form, path in forms.items():
            for name, place in store.places(path).items():
                found.setdefault((project, file, name), {})[form] = place
    return found


# -- scores and figures ----------------------------------------------------------------------------------------------
def cosines(vectors: Any) -> Scores:
    """Of the first half of some rows, queries, with the second half, candidates. Dense or sparse (2 N, D) -> (N, N)."""
    unit = normalize(vectors.astype(np.float32))
    half = unit.shape[0] // 2
    found = np.empty((half, half), dtype=np.float32)
    for first in range(0, half, _BLOCK):
        block = unit[first : min(first + _BLOCK, half)] @ unit[half:].T
        found[first : first + _BLOCK] = block.toarray() if sp.issparse(block) else block
    return found


def weighed(counts: sp.csr_matrix) -> sp.csr_matrix:
    """log(1 + count) log(rows / rows that have the word)."""
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    return sp.csr_matrix(counts.log1p() @ sp.diags(np.log(counts.shape[0] / np.maximum(having, 1))))


def centred(vectors: NDArray[np.float32], blocks: Sequence[slice], form: NDArray[np.int64]) -> NDArray[np.float32]:
    """Blocks less the mean of their form's rows, of length 1 each, side by side. ``form`` (rows,) numbers the forms."""
    made = []
    for block in blocks:
        part = vectors[:, block].astype(np.float64)
        for number in np.unique(form):
            part[form == number] -= part[form == number].mean(0)
        made.append(normalize(part).astype(np.float32))
    return np.hstack(made)


def with_csls(scores: Scores, project: NDArray[np.int64], nearest: int = NEAREST) -> Scores:
    """Twice the score less how near a candidate is to its nearest queries of other projects, in the mean.

    Those are of projects other than the candidate's and the query's own, so that no right answer is told; ``project``
    (N,) numbers the functions' projects. A candidate for which no query is left stays as near as it is.
    """
    count = int(project.max()) + 1
    own = [np.flatnonzero(project == number) for number in range(count)]
    hub = np.empty((count, len(project)), dtype=np.float32)  # by the query's project
    for first in range(0, len(project), _BLOCK):
        block = scores[:, first : first + _BLOCK]
        # The nearest of each project are enough to find those of all but two.
        near = np.full((count, nearest, block.shape[1]), -np.inf, dtype=np.float32)
        for number, rows in enumerate(own):
            best = np.partition(block[rows], max(len(rows) - nearest, 0), axis=0)[-nearest:]
            near[number, : len(best)] = best
        near[project[first : first + _BLOCK], :, np.arange(block.shape[1])] = -np.inf
        for number in range(count):
            others = np.delete(near, number, axis=0).reshape(-1, block.shape[1])
            best = np.partition(others, len(others) - nearest, axis=0)[-nearest:] if len(others) else others
            there = np.isfinite(best)
            hub[number, first : first + _BLOCK] = np.where(there, best, 0).sum(0) / np.maximum(there.sum(0), 1)
    made = np.empty_like(scores)
    for first in range(0, len(project), _BLOCK):
        rows = slice(first, first + _BLOCK)
        made[rows] = 2 * scores[rows] - hub[project[rows]]
    return made


def reranked(
    vectors: NDArray[np.float32],
    whole: dict[str, NDArray[np.float32]],
    files: Sequence[str],
    others: Sequence[str],
    *,
    copied: bool,
) -> Scores:
    """Scores of queries and candidates (2 N, D) by what else is in their files, as `mirenc.search.rerank` has them.

    ``files`` are those of the queries, ``others`` of the candidates, and ``whole`` has all functions of each. Every
    candidate is scored, not the best fifty only. ``copied``: each query stands in the file of another, drawn at random.
    """
    unit = {file: normalize(each) for file, each in whole.items()}
    mean = np.concatenate([unit[file] for file in dict.fromkeys(others)]).mean(0)
    rows = normalize(vectors)
    homes = np.random.default_rng(_SEED).permutation(files).tolist() if copied else files
    sums = np.array([unit[file].sum(0) - len(unit[file]) * mean for file in (*homes, *others)])
    if copied:
        sums[: len(files)] += rows[: len(files)] - mean
    rest = rest_of_file(rows, sums, mean)
    return cosines(vectors) + company(rest[: len(files)] @ rest[len(files) :].T)


def standing(scores: Scores) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many other candidates are nearer to each query than its own, and how many as near. (N, N) -> (N,), (N,)."""
    own = scores.diagonal()[:, None]
    nearer = np.concatenate([(each > at + _EQUAL).sum(1) for each, at in _blocks(scores, own)])
    within = np.concatenate([(each >= at - _EQUAL).sum(1) for each, at in _blocks(scores, own)])
    return nearer, within - nearer - 1


def by_cosine(scores: Scores) -> list[list[float]]:
    """How sure a nearest candidate is: by its cosine, from each tenth on, how many queries have one and share right."""
    best, right = scores.max(1), scores.argmax(1) == np.arange(len(scores))
    tenth = np.clip(np.floor(best * TENTHS), 0, TENTHS - 1).astype(np.int64)
    count, hits = np.bincount(tenth, minlength=TENTHS), np.bincount(tenth[right], minlength=TENTHS)
    return [
        [at / TENTHS, int(count[at]), round(float(hits[at] / count[at]), 4)] for at in np.flatnonzero(count).tolist()
    ]


def _blocks(scores: Scores, own: Scores) -> list[tuple[Scores, Scores]]:
    return [(scores[at : at + _BLOCK], own[at : at + _BLOCK]) for at in range(0, len(scores), _BLOCK)]


def expected(nearer: NDArray[np.int64], equal: NDArray[np.int64], others: int, drawn: int) -> Figures:
    """Recall at 1 and reciprocal rank of each query among ``drawn`` of ``others`` candidates drawn at random.

    With b of M nearer and n drawn, K of which are nearer, P(K = 0) = C(M - b, n) / C(M, n), and by Vandermonde's
    identity E[1 / (1 + K)] = ((M + 1) / (n + 1) - C(M - b, n + 1) / C(M, n)) / (b + 1). Equals in random order: the
    mean over b, ..., b + equal.
    """
    b = np.arange(others)
    left = np.maximum(others - b, 1)
    none = np.cumprod(np.concatenate([[1.0], np.maximum(others - b - drawn, 0) / left]))  # (M + 1,)
    start = (others - drawn) / (drawn + 1)
    more = start * np.cumprod(np.concatenate([[1.0], np.maximum(others - b - drawn - 1, 0) / left]))
    reciprocal = ((others + 1) / (drawn + 1) - more) / np.arange(1, others + 2)
    sums = {name: np.concatenate([[0], np.cumsum(each)]) for name, each in (("recall_at_1", none), ("mrr", reciprocal))}
    return {name: (each[nearer + equal + 1] - each[nearer]) / (equal + 1) for name, each in sums.items()}


def pool_figures(scores: Scores) -> dict[str, Figures]:
    """Figures of each query in the small pool and in the large one."""
    others = len(scores) - 1
    nearer, equal = standing(scores)
    return {
        name: expected(nearer, equal, others, min(drawn, others))
        for name, drawn in (("small", SMALL - 1), ("large", others))
    }


class Bootstrap:
    """Means with 95 % intervals, from draws of owners; ``owner`` (N,) numbers them."""

    def __init__(self, owner: NDArray[np.int64]) -> None:
        self._owner = owner
        self._size = np.bincount(owner)
        count = len(self._size)
        drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=DRAWS)
        self._drawn = drawn.astype(np.float64)
        self._sizes = self._drawn @ self._size

    def __call__(self, values: NDArray[np.float64]) -> list[float]:
        """Mean, low, high."""
        total = np.bincount(self._owner, values, len(self._size))
        low, high = np.quantile(self._drawn @ total / self._sizes, (0.025, 0.975))
        return [round(float(each), 5) for each in (values.mean(), low, high)]


# -- rows ------------------------------------------------------------------------------------------------------------
def bag_rows(store: Store, pairs: Sequence[Pair], project: NDArray[np.int64]) -> dict[str, dict[str, Figures]]:
    """Figures of what needs no model."""
    places = [pair.query for pair in pairs] + [pair.candidate for pair in pairs]
    rows = {"opcode histogram": pool_figures(cosines(store.bags(places, ["opcodes"]).log1p()))}
    for title, kinds in BAGS.items():
        scores = cosines(weighed(store.bags(places, kinds)))
        rows[title] = pool_figures(scores)
        rows[title + CSLS] = pool_figures(with_csls(scores, project))
    return rows


def model_rows(
    name: str, vectors: NDArray[np.float32], blocks: dict[str, slice], form: NDArray[np.int64], project: Any
) -> dict[str, dict[str, Figures]]:
    """Figures of a model's vectors (2 N, D), whole and in parts."""
    rest = {title: block for title, block in blocks.items() if title != "words"}
    parts = {"": list(blocks.values())}
    if len(rest) < len(blocks):
        parts[", text and graph"] = list(rest.values())
    rows = {}
    for title, some in parts.items():
        rows[name + title] = pool_figures(cosines(np.hstack([vectors[:, block] for block in some])))
        scores = cosines(centred(vectors, some, form))
        rows[f"{name}{title}, centred"] = pool_figures(scores)
        rows[f"{name}{title}, centred{CSLS}"] = pool_figures(with_csls(scores, project))
    for title, block in blocks.items():
        rows[f"{name}, {title} alone"] = pool_figures(cosines(vectors[:, block]))
    return rows


def summary(rows: dict[str, dict[str, Figures]], pairs: Sequence[Pair], project: NDArray[np.int64]) -> dict[str, Any]:
    """Means of all rows, by size of the query, and what rows have over the bags."""
    file = numbered([pair.key[:2] for pair in pairs])
    over = {"projects": Bootstrap(project), "files": Bootstrap(file)}
    size = np.array([pair.query.size for pair in pairs])
    sizes = {title: (size >= low) & (size < (high or np.inf)) for title, (low, high) in SIZES.items()}
    other = np.array([pair.query.sequence != pair.candidate.sequence for pair in pairs])
    peers = [title + more for more in ("", CSLS) for title in BAGS]
    bags = {"opcode histogram", *peers}
    found = {}
    for title, pools in rows.items():
        found[title] = {
            pool: {name: round(float(each.mean()), 5) for name, each in figures.items()}
            | {
                "by_size": {name: mean(figures["recall_at_1"], at) for name, at in sizes.items()},
                "where_statements_differ": mean(figures["recall_at_1"], other),
            }
            for pool, figures in pools.items()
        }
        for peer in [peer for peer in peers if title not in bags and (CSLS in title or CSLS not in peer)]:
            for pool, figures in pools.items():
                found[title][pool].setdefault("over", {})[peer] = {
                    name: {owner: interval(each - rows[peer][pool][name]) for owner, interval in over.items()}
                    for name, each in figures.items()
                }
    return {
        "functions": len(pairs),
        "projects": int(project.max()) + 1,
        "files": int(file.max()) + 1,
        "sizes": {name: int(at.sum()) for name, at in sizes.items()},
        "statements_differ": int(other.sum()),
        "rows": found,
    }


def mean(values: NDArray[np.float64], at: NDArray[np.bool_]) -> float | None:
    """Of some; None of none."""
    return round(float(values[at].mean()), 5) if at.any() else None


def numbered(owners: Sequence[Any]) -> NDArray[np.int64]:
    """Each owner's number, in the order in which they are met."""
    number = {owner: at for at, owner in enumerate(dict.fromkeys(owners))}
    return np.array([number[owner] for owner in owners], dtype=np.int64)


def compare(store: Store, chosen: dict[str, list[Pair]], models: Sequence[str]) -> dict[str, Any]:
    """Figures of all rows in all settings, one way with names."""
    rows: dict[str, dict[str, dict[str, Figures]]] = {}
    sure: dict[str, dict[str, list[list[float]]]] = defaultdict(dict)
    projects = {setting: numbered([pair.key[0] for pair in pairs]) for setting, pairs in chosen.items()}
    with progress(f"rows, names {store.names}", len(chosen) * (len(models) + 1)) as advance:
        for setting, pairs in chosen.items():
            rows[setting] = bag_rows(store, pairs, projects[setting])
            advance(note=setting)
        places = list(
            dict.fromkeys(p for pairs in chosen.values() for each in pairs for p in (each.query, each.candidate))
        )
        at = {place: number for number, place in enumerate(places)}
        for model in models:
            whole, blocks = store.vectors(model, places)
            vectors = np.array([whole[place.file][place.row] for place in places])
            name = Path(model).name
            for setting, pairs in chosen.items():
                both = [at[pair.query] for pair in pairs] + [at[pair.candidate] for pair in pairs]
                form = numbered([pair.forms[side] for side in (0, 1) for pair in pairs])
                rows[setting] |= model_rows(name, vectors[both], blocks, form, projects[setting])
                files = [[getattr(pair, side).file for pair in pairs] for side in ("query", "candidate")]
                for title in ("re-ranked", COPIED):
                    scores = reranked(vectors[both], whole, *files, copied=title == COPIED)
                    rows[setting][f"{name}, {title}"] = pool_figures(scores)
                sure[setting][name] = by_cosine(cosines(vectors[both]))
                advance(note=f"{name} {setting}")
    return {
        setting: summary(each, chosen[setting], projects[setting]) | {"by_cosine": sure[setting]}
        for setting, each in rows.items()
    }


def markdown(record: dict[str, Any]) -> str:
    """The main rows, one table for each way with names."""
    lines = [
        "Recall at 1 in percent, pool of 100 / all; `*`: in all above the three bags by the interval over projects"
    ]
    parts = ("", ", re-ranked", f", centred{CSLS}", ", text and graph")
    main = [*BAGS, *(f"{model}{part}" for model in record["models"] for part in parts)]
    for names, settings in record["names"].items():
        titles = [f"{setting} ({found['functions']:,})" for setting, found in settings.items()]
        lines += ["", f"| Names {names} | {' | '.join(titles)} |", "|---" * (len(titles) + 1) + "|"]
        for row in main:
            cells = [cell(found["rows"][row]) for found in settings.values() if row in found["rows"]]
            lines += [f"| {row} | {' | '.join(cells)} |"] if cells else []
    return "\n".join(lines) + "\n"


def cell(row: dict[str, Any]) -> str:
    """Of a table."""
    over = row["large"].get("over", {})
    above = bool(over) and all(over[bag]["recall_at_1"]["projects"][1] > 0 for bag in BAGS)
    return "/".join(f"{100 * row[pool]['recall_at_1']:.1f}" for pool in ("small", "large")) + "*" * above


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="folder with COMPILER/PROJECT/LEVEL/x.ll")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is read")
    parser.add_argument("--models", nargs="*", default=["mirenc-base", "mirenc-fast"], help="names or folders")
    parser.add_argument("--compilers", nargs="+", default=["clang-14", "clang-19"])
    parser.add_argument("--levels", nargs="+", default=LEVELS)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=SETTINGS)
    parser.add_argument("--names", nargs="+", choices=["written", "hidden"], default=["written", "hidden"])
    parser.add_argument("--projects", nargs="*", default=[], help="these only")
    parser.add_argument("--least", type=int, default=10, help="instructions of a function in both forms")
    parser.add_argument("--pool", type=int, default=10_000, help="candidates of the large pool")
    parser.add_argument("--jobs", type=int, default=1, help="processes that read")
    given = parser.parse_args()
    models = [Path(model).name for model in given.models]
    if len(set(models)) < len(models):
        raise SystemExit(f"--models: two are called alike, and so would their rows be: {' '.join(models)}")
    programs = programs_of(given.pairs, given.compilers, given.levels)
    programs = {key: forms for key, forms in programs.items() if not given.projects or key[0] in given.projects}
    every = {form for forms in programs.values() for form in forms}
    complete = {key: forms for key, forms in programs.items() if forms.keys() == every}
    main_forms = ((given.compilers[0], "O0"), (given.compilers[-1], "O2"))
    wanted = {form for form in main_forms if "O0-O2" in given.settings}
    names: dict[str, Any] = {}
    unread: list[str] = []
    for way in given.names:
        store = Store(given.pairs, given.work, way, given.jobs)
        needed = {
            key: forms
            if key in complete and set(given.settings) - {"O0-O2"}
            else {form: path for form, path in forms.items() if form in wanted}
            for key, forms in programs.items()
        }
        unread += store.count(path for forms in needed.values() for path in forms.values())
        functions = functions_of(store, needed)
        whole = {key: places for key, places in functions.items() if key[:2] in complete}
        chosen = {
            setting: pairs_of(setting, functions if setting == "O0-O2" else whole, main_forms, given.least, given.pool)
            for setting in given.settings
        }
        if few := [setting for setting, pairs in chosen.items() if len(pairs) < 2]:
            raise SystemExit(f"{given.pairs}: {few[0]}: fewer than two functions in two forms")
        names[way] = compare(store, chosen, given.models)
    record = {
        "models": models,
        "compilers": given.compilers,
        "forms": sorted(" -".join(form) for form in every),
        "programs": len(programs),
        "programs_in_every_form": len(complete),
        "unread": unread,
        "least": given.least,
        "pool": given.pool,
        "names": names,
    }
    # Three numbers on one line, not on five.
    text = re.sub(r"\[\s+([-\d.e]+),\s+([-\d.e]+),\s+([-\d.e]+)\s+\]", r"[\1, \2, \3]", json.dumps(record, indent=1))
    given.out.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    given.out.with_suffix(".md").write_text(markdown(record), encoding="utf-8")
    print(markdown(record), end="")


if __name__ == "__main__":
    main()
