"""How often the nearest function is the right one, by what a search knows: a logistic regression, fitted and tested.

What you get: `OUT.json`, coefficients that `probability` explains, with how often answers were right in each fifth of
them, by language, and `OUT.md`, the table of it. Pools are those of `function_pools.py` under its rule ``auto``, cut to
the query's own project, or to that and some others. Fitted on one half of the projects (by a hash of their names) and
tested on the other, and the reverse; what ships is fitted on all. The right one is in every pool: a percentage says
nothing about functions that are not there.

    python pretrain/calibrate.py PAIRS pretrain/calibration --work WORK --training TRAINING

With ``--training``, a folder of projects that the model was trained on, also what a fit on these says of the others.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from function_forms import NAMES, Store
from function_pools import (
    LEVELS,
    MODEL,
    RULES,
    SETTINGS,
    Pair,
    Sides,
    chosen_programs,
    drawn_of,
    hashed,
    numbered,
    pairs_of,
    readings_of,
)
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

FEATURES = ("cosine", "margin", "pool", "instructions", "cpp", "optimised", "hidden")
TRAINING = ("O0-O2", "O0-Oz")  # settings
PROJECTS = (1, 3, 10, None)  # of a pool, the query's own among them; None: all
FIFTHS = 5
_SEED = 44


def transformed(facts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Facts (n, 7) in the order of `FEATURES` as the regression takes them.

    -log(1.01 - cosine), log(0.002 + margin), log(pool), log(instructions), and the last three as they are: 0 or 1.
    """
    cosine, margin, pool, instructions = facts[:, :4].T
    spread = [-np.log(1.01 - np.minimum(cosine, 1)), np.log(0.002 + np.maximum(margin, 0))]
    return np.column_stack([*spread, np.log(pool), np.log(instructions), facts[:, 4:]])


def probability(facts: NDArray[np.float64], coefficients: NDArray[np.float64], intercept: float) -> NDArray[np.float64]:
    """How likely the nearest candidate is the right one: 1 / (1 + exp(-(intercept + transformed . coefficients))).

    ``facts`` (n, 7): cosine of the nearest candidate; that less the next one's; candidates; instructions of the query
    as it is; whether it is C++, whether it was optimised, whether names are hidden.
    """
    found: NDArray[np.float64] = 1 / (1 + np.exp(-(intercept + transformed(facts) @ coefficients)))
    return found


def answers_of(store: Store, pairs: list[Pair]) -> dict[str, NDArray[Any]]:
    """Facts of the answer to each query in pools of few and many projects, and whether it was right."""
    sides = Sides(store, pairs, RULES["auto"])
    scores = sides.scores(store.vectors(sides.places))
    project = numbered([pair.key[0] for pair in pairs])
    known = np.array(
        [
            (pair.places[0].size, pair.language == "C++", pair.builds[0][1] != "O0", store.names == "hidden")
            for pair in pairs
        ],
        dtype=np.float64,
    )
    generator = np.random.default_rng(_SEED)
    facts, right, asked = [], [], []
    for own in range(project.max() + 1):
        rows = np.flatnonzero(project == own)
        for count in PROJECTS:
            others = generator.permutation(np.delete(np.arange(project.max() + 1), own))
            columns = np.flatnonzero(np.isin(project, [own, *others[: count - 1 if count else None]]))
            if len(columns) < 2:
                continue
            block = scores[np.ix_(rows, columns)]
            order = np.argsort(-block, axis=1)[:, :2]
            best, second = np.take_along_axis(block, order, 1).T
            pool = np.full(len(rows), len(columns))
            facts.append(np.column_stack([best, best - second, pool, known[rows]]))
            right.append(columns[order[:, 0]] == rows)
            asked.append(rows)
    at = np.concatenate(asked)
    return {
        "facts": np.concatenate(facts),
        "right": np.concatenate(right),
        "project": np.array([pairs[row].key[0] for row in at]),
        "language": np.array([pairs[row].language for row in at]),
    }


def joined(each: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Answers of several settings."""
    return {name: np.concatenate([one[name] for one in each]) for name in each[0]}


def fitted(answers: dict[str, NDArray[Any]], at: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    """Coefficients and intercept; each project weighs the root of its answers."""
    project = answers["project"][at]
    _, number, count = np.unique(project, return_inverse=True, return_counts=True)
    model = LogisticRegression(C=100, max_iter=2000)
    model.fit(transformed(answers["facts"][at]), answers["right"][at], sample_weight=count[number] ** -0.5)
    return model.coef_[0], float(model.intercept_[0])


def fifths(shown: NDArray[np.float64], right: NDArray[np.bool_]) -> list[list[float]]:
    """Of each fifth of the answers, in the order of what is shown: how many, shown in the mean, and share right."""
    return [
        [len(some), round(float(shown[some].mean()), 4), round(float(right[some].mean()), 4)]
        for some in np.array_split(np.argsort(shown, kind="stable"), FIFTHS)
    ]


def tested(shown: NDArray[np.float64], answers: dict[str, NDArray[Any]], at: NDArray[np.bool_]) -> dict[str, Any]:
    """Fifths of all and by language."""
    of = {"all": at} | {each: at & (answers["language"] == each) for each in sorted(set(answers["language"].tolist()))}
    return {name: fifths(shown[some], answers["right"][some]) for name, some in of.items() if some.sum() >= FIFTHS}


def read(given: argparse.Namespace, root: Path, settings: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Answers of all settings, both ways with names."""
    each = []
    levels = [level for level in LEVELS if "XM" in settings or any(level in setting for setting in settings)]
    programs = chosen_programs(argparse.Namespace(**{**vars(given), "pairs": root, "levels": levels}))
    drawn = [drawn_of(setting, programs, given.compilers) for setting in settings]
    store = Store(root, given.work / root.name, MODEL, jobs=given.jobs)
    store.read(set().union(*(readings_of(one, programs, [RULES["auto"]]) for one in drawn)))
    for names in NAMES:
        of_names = replace(store, names=names)
        each += [answers_of(of_names, pairs_of(of_names, one, programs, given.least)) for one in drawn]
    return joined(each)


def markdown(record: dict[str, Any]) -> str:
    """A table: shown / right in percent, by language and fifth."""
    lines = ["Shown / right in percent, in each fifth of the answers"]
    for title, by in record["tested"].items():
        lines += ["", f"| {title} | 1 | 2 | 3 | 4 | 5 | answers |", "|---" * (FIFTHS + 2) + "|"]
        for name, rows in by.items():
            cells = " | ".join(f"{100 * shown:.0f} / {100 * right:.0f}" for _, shown, right in rows)
            lines.append(f"| {name} | {cells} | {sum(row[0] for row in rows):,} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--work", type=Path, required=True, help="that of function_pools.py")
    parser.add_argument("--training", type=Path)
    parser.add_argument("--compilers", nargs="+", default=["clang-14+clang-19", "flang-19", "rustc"], help="groups")
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    parser.add_argument("--programs", type=int, default=10)
    parser.add_argument("--bytes", type=int, default=400_000)
    parser.add_argument("--least", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    answers = read(given, given.pairs, given.settings)
    every = np.ones(len(answers["right"]), dtype=bool)
    first = np.array([hashed(project)[0] % 2 == 0 for project in answers["project"]])
    halves = np.empty(len(every))
    for half in (first, ~first):
        halves[half] = probability(answers["facts"][half], *fitted(answers, ~half))
    coefficients, intercept = fitted(answers, every)
    results = {"fitted on the other half of the projects": tested(halves, answers, every)}
    for number, half in enumerate((first, ~first), start=1):
        results[f"half {number}, fitted on the other"] = tested(halves, answers, half)
    if given.training:
        training = read(given, given.training, TRAINING)
        fit = fitted(training, np.ones(len(training["right"]), dtype=bool))
        results["fitted on training projects"] = tested(probability(answers["facts"], *fit), answers, every)
    results["as it ships, fitted on all"] = tested(
        probability(answers["facts"], coefficients, intercept), answers, every
    )
    record = {
        "features": FEATURES,
        "coefficients": [round(float(each), 4) for each in coefficients],
        "intercept": round(intercept, 4),
        "answers": len(every),
        "projects": len(set(answers["project"].tolist())),
        "tested": results,
    }
    given.out.with_suffix(".json").write_text(json.dumps(record) + "\n", encoding="utf-8")
    given.out.with_suffix(".md").write_text(markdown(record), encoding="utf-8")
    print(markdown(record), end="")


if __name__ == "__main__":
    main()
