"""What other inlining saves over -Oz, alone and under pass lists, in 20 and in 200 compilations a file.

    python downstream/inlining/saved.py IR WORK --part held_out --files 6 -o downstream/inlining/saved_20.json

IR is what ``pretrain/debian.py`` made of ``downstream/passes/corpus.toml``: Debian's packages as -Oz begins with them.
Of each project so many files are drawn. Every row has the same number of compilations in all, -Oz the first of them;
loaded bytes are counted, and no result is larger than that of -Oz. Files that are done are kept in
WORK/inlining.jsonl, and the same command goes on.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from asking import CallSite, compile_asking
from numpy.typing import NDArray
from rich.progress import track

from mirenc.base.config import load_toml
from mirenc.base.errors import MirencError
from mirenc.decide.metrics import group_interval
from mirenc.decide.registry import get_task
from mirenc.decide.task_head import TaskHead, ready_heads
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.object_file import elf_sections, sums
from mirenc.llvm.passes.pass_lists import level
from mirenc.llvm.passes.size_after_passes import Failed
from mirenc.tools.inline import calls_of, try_inlining
from mirenc.tools.inline.calls import Calls
from mirenc.tools.inline.search_decisions import State, by_size
from mirenc.tools.measure.passes.inputs import find_ir
from mirenc.tools.suggest import fixed_lists

RECIPE = Path(__file__).parents[1] / "passes" / "corpus.toml"
THRESHOLDS = (-60, -30, -15, -5, 20, 35, 50, 80)  # and LLVM's own, 5
Row = dict[str, Any]
TITLES = {
    "thresholds": "best of nine thresholds of cost, by clang",
    "random": "inlining, in random order",
    "inlining": "inlining, what promises most first",
    "lists": "pass lists",
    "both": "pass lists, then inlining",
}
IDEAS = 6  # lists that people try
MOST_BYTES = 600_000  # of IR text
# Compilations in all -> training's lists among them, beside six that people try; chosen on projects for training.
LISTS = {20: 7, 200: 49}


def random_order(calls: Calls, state: State, changes: Sequence[tuple[int, ...]]) -> list[float]:
    """A promise that knows nothing: any single decision is as good as another."""
    rng = random.Random(len(state.decisions) + len(changes))
    return [rng.random() - len(rows) for rows in changes]


def sizes_of(engine: SharedEngine, text: str, pipelines: Sequence[str]) -> list[int]:
    """Loaded bytes under -Oz and each list; those of -Oz where a list fails."""
    oz, *sizes = engine.run_all(text.encode("utf-8", "surrogateescape"), [level("Oz"), *pipelines])
    assert not isinstance(oz, Failed)
    return [oz.loaded_bytes, *(oz.loaded_bytes if isinstance(run, Failed) else run.loaded_bytes for run in sizes)]


def threshold_bytes(path: Path, threshold: float, scratch: Path) -> int:
    """Loaded bytes of clang -Oz that inlines what costs less, by LLVM's estimate."""

    def advise(site: CallSite) -> bool:
        return site.features["cost_estimate"] < threshold

    words = ["clang-19", "-Oz", "-w", "-c", str(path), "-o", str(scratch)]
    compile_asking(words, advise)
    return sums(elf_sections(scratch.read_bytes()))["loaded_bytes"]


def measure_file(engine: SharedEngine, path: Path, lists: Sequence[str], budgets: Sequence[int]) -> dict[str, Any]:
    """Of each row and budget, bytes; of -Oz; and how many calls there are."""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    trained = len(lists) - IDEAS
    sizes = sizes_of(engine, text, lists)
    oz = sizes[0]
    record: dict[str, Any] = {"oz": oz, "calls": len(calls_of(text).calls), "saved": {}}

    def inlined(pipeline: str, builds: int, promise: Any = by_size) -> int:
        return try_inlining(
            engine, text.encode("utf-8", "surrogateescape"), pipeline, builds, promise
        ).after.loaded_bytes

    scratch = path.with_suffix(".scratch.o")
    default_bytes = threshold_bytes(path, 5, scratch)
    swept = min([threshold_bytes(path, threshold, scratch) for threshold in THRESHOLDS])
    scratch.unlink()
    for budget in budgets:
        number = LISTS[budget]
        first = [*range(1, number + 1), *range(trained + 1, len(lists) + 1)]
        best = min([0, *first], key=lambda row: sizes[row])
        pipeline = [level("Oz"), *lists][best]
        record["saved"][str(budget)] = {
            "thresholds": min(default_bytes, swept) / default_bytes * oz,
            "random": inlined(level("Oz"), budget - 1, random_order),
            "inlining": inlined(level("Oz"), budget - 1),
            "lists": min(sizes[: budget - IDEAS] + sizes[-IDEAS:]),
            "both": min(oz, inlined(pipeline, budget - 1 - len(first))),
        }
    return record


def main() -> None:
    """Measure what is left, and write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("ir", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--part", choices=("training", "held_out"), required=True)
    parser.add_argument("--files", type=int, default=6, help="of each project")
    parser.add_argument("--budgets", type=int, nargs="+", default=[20])
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    files = find_ir([arguments.ir], arguments.work, lambda: "clang-19", print, held_out=load_toml(RECIPE)["held_out"])
    pool: dict[str, list[Any]] = defaultdict(list)
    for file in files:
        if file.held_out == (arguments.part == "held_out") and file.path.stat().st_size <= MOST_BYTES:
            pool[file.project].append(file)
    rng = random.Random(0)
    chosen = [file for _, group in sorted(pool.items()) for file in rng.sample(group, min(arguments.files, len(group)))]
    task = get_task("pass_list")
    lists = [entry.pipeline for entry in fixed_lists(TaskHead.load(ready_heads(task)[""], task), 100)]
    journal = arguments.work / "inlining.jsonl"
    setup = [sorted(LISTS.items()), arguments.budgets]
    lines = [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
    results = {line["stamp"]: line for line in lines if line["setup"] == json.loads(json.dumps(setup))}
    with SharedEngine(19) as engine:
        for file in track(chosen, "files"):
            if file.stamp not in results:
                facts = {"stamp": file.stamp, "setup": setup, "project": file.project, "file": file.file}
                try:
                    results[file.stamp] = facts | measure_file(engine, file.path, lists, arguments.budgets)
                except MirencError as error:
                    results[file.stamp] = facts | {"problem": str(error)[:200]}
                with journal.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(results[file.stamp]) + "\n")
        version = engine.version
    rows = [results[file.stamp] for file in chosen]
    finished = [row for row in rows if "saved" in row]
    record = {
        "llvm": version,
        "part": arguments.part,
        "lists": LISTS,
        "files": len(finished),
        "problems": sorted(row["problem"] for row in rows if "problem" in row),
        "lines": table(finished, arguments.budgets),
        "by project": {str(budget): shares_by_project(finished, str(budget)) for budget in arguments.budgets},
    }
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def table(rows: Sequence[Row], budgets: Sequence[int]) -> list[list[str]]:
    """Per cent saved in the geometric mean over files, with intervals over projects."""
    projects = sorted({row["project"] for row in rows})
    header = [f"{len(rows)} files of {len(projects)} projects", "all files", "files with calls", "without lz4"]
    lines = [[*header, "more than lists alone", "of all bytes"]]
    with_calls = [row for row in rows if row["calls"]]
    without = [row for row in rows if row["project"] != "lz4"]
    for budget in map(str, budgets):
        oz = sum(row["oz"] for row in rows)
        for name, title in TITLES.items():
            parts = [interval(part, logs(part, budget, name)) for part in (rows, with_calls, without)]
            gain = interval(rows, logs(rows, budget, name) - logs(rows, budget, "lists")) if name == "both" else ""
            total = 100 * (1 - sum(row["saved"][budget][name] for row in rows) / oz)
            lines.append([f"{title}, {budget} compilations", *parts, gain, f"{total:.2f}"])
    return lines


def shares_by_project(rows: Sequence[Row], budget: str) -> dict[str, dict[str, float]]:
    """Per cent saved of each project."""
    rows_of_project: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        rows_of_project[row["project"]].append(row)
    return {
        project: {name: round(100 * (1 - float(np.exp(-logs(group, budget, name).mean()))), 2) for name in TITLES}
        for project, group in sorted(rows_of_project.items())
    }


def logs(rows: Sequence[Row], budget: str, name: str) -> NDArray[np.float64]:
    """Logarithm of what a row saves of each file."""
    return np.array([-np.log(row["saved"][budget][name] / row["oz"]) for row in rows])


def interval(rows: Sequence[Row], saved: NDArray[np.float64]) -> str:
    """Per cent, and its interval over projects."""
    group = np.array([row["project"] for row in rows])
    low, high = group_interval(saved, group, statistic=lambda means: 1 - np.exp(-means))
    return f"{100 * (1 - np.exp(-saved.mean())):.2f} [{100 * low:.2f}, {100 * high:.2f}]"


if __name__ == "__main__":
    main()
