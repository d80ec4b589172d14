"""Which form functions are searched in: figures to choose by, on projects that models were trained on.

What you get: `OUT.json` and `OUT.md`: recall at 1 of mirenc-search and of the bag of terms and statements, queries and
candidates each brought to several forms, settings as in `function_pools.py`; and what each form costs.
On what: a folder that `compile_pairs.py --training` wrote. `opt-19`: -O2 by that program, read through opt-14.

    python pretrain/choose_form.py TRAINING pretrain/choose_form --work WORK --costs sqlite_O0.ll
"""

from __future__ import annotations

import argparse
import json
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from function_forms import NAMES, Store
from function_pools import (
    BAGS,
    LEVELS,
    MODEL,
    SMALL,
    Bootstrap,
    Pair,
    Scores,
    Sides,
    chosen_programs,
    drawn_of,
    expected,
    owner_ids,
    pairs_of,
    readings_of,
    standing,
    weighted_counts,
)

from mirenc.llvm import ReadOptions, parse_ir
from mirenc.llvm.child.parsing_worker import default_worker
from mirenc.llvm.passes.optimise import FORMS

BAG = "bag of terms and statements"
AS_THEY_ARE = ("plain", "plain")
# Of each setting: the query's form and the candidate's.
FORM_PAIRS: dict[str, list[tuple[str, str]]] = {
    "O0-O2": [
        AS_THEY_ARE, ("light", "plain"), ("O1", "plain"), ("O2", "plain"), ("opt-19", "plain"),
        ("light", "O2"), ("O1", "O1"), ("O1", "O2"), ("O2", "O2"), ("opt-19", "O2"), ("Oz", "O2"),
    ],
    "O0-O1": [AS_THEY_ARE, ("O1", "plain"), ("O1", "O1"), ("O2", "O2")],
    "O0-Os": [AS_THEY_ARE, ("O2", "O2"), ("Os", "O2"), ("Oz", "O2"), ("Oz", "Oz")],
    "O0-Oz": [AS_THEY_ARE, ("O2", "O2"), ("Os", "O2"), ("Oz", "O2"), ("Oz", "plain")],
    "O2-Oz": [AS_THEY_ARE, ("O2", "O2"), ("Oz", "O2")],
}  # fmt: skip


def costs(files: list[Path]) -> dict[str, dict[str, float]]:
    """CPU seconds of reading files in each form, of this process and of the child that runs LLVM."""
    costs_of_form: dict[str, dict[str, float]] = {}
    texts = [path.read_text(encoding="utf-8") for path in files]
    functions = sum(len(parse_ir(text).defined_functions) for text in texts)
    for form in FORMS:
        start, stayed_plain = cpu_seconds(), 0
        for text in texts:
            stayed_plain += parse_ir(text, options=ReadOptions(form=form, timeout=3600)).form != form
        seconds = cpu_seconds() - start
        costs_of_form[form] = {"seconds": round(seconds, 2), "ms_a_function": round(1000 * seconds / functions, 3)}
        costs_of_form[form] |= {"functions": functions, "stayed_plain": stayed_plain}
    return costs_of_form


def cpu_seconds() -> float:
    """Of this process and of its children, after the one that runs LLVM has ended, so that it counts."""
    default_worker().close()
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def figures(scores: Scores, bootstrap: Bootstrap) -> dict[str, list[float]]:
    """Recall at 1 among 100 and among all, with intervals."""
    nearer_count, equal_count = standing(scores)
    others = len(scores) - 1
    return {
        name: bootstrap(expected(nearer_count, equal_count, others, min(pool_size, others))["recall_at_1"])
        for name, pool_size in (("small", SMALL - 1), ("large", others))
    }


def chosen_rows(store: Store, setting: str, pairs: list[Pair]) -> dict[str, Any]:
    """Figures of one setting by the forms of query and candidate, and of the best of two forms of the query."""
    bootstrap = Bootstrap(owner_ids([pair.key[0] for pair in pairs]))
    rows: dict[str, Any] = {}
    scores: dict[str, Scores] = {}
    for query, candidate in FORM_PAIRS[setting]:
        sides = Sides(store, pairs, (query, candidate))
        scores[query] = sides.scores(store.vectors(sides.places))
        bag = sides.scores(weighted_counts(store.bags(sides.places, BAGS[BAG])))
        rows[f"{query} / {candidate}"] = {MODEL: figures(scores[query], bootstrap), BAG: figures(bag, bootstrap)}
    if {"O2", "Oz"} <= scores.keys():
        rows["nearer of O2 and Oz / O2"] = {MODEL: figures(np.maximum(scores["O2"], scores["Oz"]), bootstrap)}
    return {"functions": len(pairs), "projects": len({pair.key[0] for pair in pairs}), "rows": rows}


def markdown(record: dict[str, Any]) -> str:
    """A table for each setting, and one of costs."""
    lines = ["Recall at 1 in percent, pool of 100 / all, names written; then hidden. Training projects."]
    for setting, table in record["names"]["written"].items():
        lines += ["", f"| {setting} ({table['functions']}; {table['projects']} projects): query / candidate | {MODEL}"]
        lines[-1] += f" | hidden | {BAG} | hidden |"
        lines.append("|---|---|---|---|---|")
        for title, row in table["rows"].items():
            hidden = record["names"]["hidden"][setting]["rows"][title]
            cells = [
                "/".join(f"{100 * line[method][pool][0]:.1f}" for pool in ("small", "large")) if method in line else ""
                for method in (MODEL, BAG)
                for line in (row, hidden)
            ]
            lines.append(f"| {title} | {' | '.join(cells)} |")
    for title, forms in record["costs"].items():
        lines += ["", f"| {title} | CPU s | ms a function | stayed plain |", "|---|---|---|---|"]
        lines += [
            f"| {form} | {cost['seconds']} | {cost['ms_a_function']} | {cost['stayed_plain']} |"
            for form, cost in forms.items()
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="folder with COMPILER/PROJECT/LEVEL/x.ll")
    parser.add_argument("out", type=Path, help="name of the results, without suffix")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is read")
    parser.add_argument("--compilers", nargs="+", default=["clang-14+clang-19"], help="groups")
    parser.add_argument("--levels", nargs="+", default=LEVELS)
    parser.add_argument("--programs", type=int, default=3, help="at most so many of a project")
    parser.add_argument("--bytes", type=int, default=400_000, help="files larger than this are left out")
    parser.add_argument("--least", type=int, default=10, help="instructions of a function in both builds")
    parser.add_argument("--costs", nargs="*", type=Path, default=[], help="IR at -O0 to be timed, beside the programs'")
    parser.add_argument("--jobs", type=int, default=1, help="processes that read")
    arguments = parser.parse_args()
    programs = chosen_programs(arguments, FORM_PAIRS)
    chosen = {setting: drawn_of(setting, programs, arguments.compilers) for setting in FORM_PAIRS}
    needed: set[tuple[str, str]] = set()
    for setting, forms in FORM_PAIRS.items():
        needed |= readings_of(chosen[setting], programs, forms)
    store = Store(arguments.pairs, arguments.work / arguments.pairs.name, MODEL, jobs=arguments.jobs)
    unread = store.read(needed)
    names: dict[str, Any] = {}
    for naming in NAMES:
        named_store = replace(store, names=naming)
        pairs = {setting: pairs_of(named_store, draws, programs, arguments.least) for setting, draws in chosen.items()}
        names[naming] = {setting: chosen_rows(named_store, setting, group) for setting, group in pairs.items()}
    first = arguments.compilers[0].split("+")[0], "O0"
    plain = [arguments.pairs / builds[first] for builds in programs.values() if first in builds]
    timed = {"the programs at -O0": costs(plain)} | {path.name: costs([path]) for path in arguments.costs}
    record = {"programs": len(programs), "unread": unread, "names": names, "costs": timed}
    arguments.out.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(markdown(record), encoding="utf-8")
    print(markdown(record), end="")


if __name__ == "__main__":
    main()
