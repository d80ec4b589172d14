"""`mirenc suggest --try` over whole projects that no model and no head was trained on, and what a prediction costs.

    python downstream/passes/project_figures.py IR/sqlite3 IR/lua5.4 IR/bzip2 -k 10 -o downstream/passes/projects.json

Each argument is a folder of a project's IR as -Oz begins with it (`mirenc measure passes ... -o TABLE` leaves them in
TABLE/work/ir/<project>), and the folder's name is the project's. For every module the k lists that
`mirenc suggest -k` names are run beside -Oz, each project's bytes are summed: without any pass, by -Oz, by the best of
-Oz and the lists, and by the best of -Oz and the lists where trying was not said to be idle. A list that does not end
in --timeout seconds has failed. Then, for --functions functions: time of `mirenc predict size_after` for each, beside
-Oz in the engine's process and one call of opt (found as opt-19 or opt). Medians; nothing is cached.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mirenc
from mirenc.errors import MirencError
from mirenc.ir.files import find_inputs
from mirenc.passes.engine import Engine
from mirenc.passes.extract import extract_functions
from mirenc.passes.find import find_engine
from mirenc.suggesting import read_code, suggest, try_lists
from mirenc.tasks import TaskHead, get_task, load_task_head
from mirenc.tasks.predict import ready_heads


def head_of(task: str, folder: Path | None) -> TaskHead:
    """The head that was named, or the shipped one."""
    return load_task_head(folder or next(iter(ready_heads(get_task(task)).values())))


def check_model(heads: list[TaskHead], encoder: Any) -> None:
    """Refuse heads of another model before anything runs, or every module would fail."""
    for head in heads:
        if head.model_digest != encoder.features_digest:
            raise SystemExit(
                f"the head for {head.task.name} is of {head.model} ({head.model_digest[:12]}), the model is "
                f"{encoder.name} ({encoder.features_digest[:12]}). Name the head's model by --model, or heads of "
                "one model"
            )


def of_project(folder: Path, head: TaskHead, encoder: Any, engine: Engine, count: int) -> dict[str, Any]:
    """Bytes of a project's modules, and what was said beforehand."""
    modules, failed = [], []
    for path in find_inputs(folder):
        started = time.perf_counter()
        try:
            code = read_code(path, version=engine.version)
            found = suggest(head, encoder, code, count)
            said = time.perf_counter() - started
            tried = try_lists(engine, code.ir, [one.pipeline for one in found.lists], found.default)
        except MirencError as error:
            failed.append(f"{path.name}: {error}")
            continue
        best = tried.winner.code_bytes
        modules.append(
            {
                "file": path.name,
                "before": tried.before,
                "oz": tried.oz.code_bytes,
                "best": best,
                "lists_failed": sum(bool(one.problem) for one in tried.tried),
                "idle": found.is_idle,
                "expected": 100 * (1 - 1 / found.gain) if found.gain else None,
                "distance": round(found.distance, 2),
                "seconds_to_suggest": round(said, 2),
                "seconds_to_try": round(time.perf_counter() - started - said, 2),
            }
        )
        print(modules[-1], flush=True)
    total = {name: sum(one[name] for one in modules) for name in ("before", "oz", "best")}
    careful = sum(one["oz"] if one["idle"] else one["best"] for one in modules)
    return {
        "modules": len(modules),
        **total,
        "saved": 100 * (1 - total["best"] / max(total["oz"], 1)),
        "saved_where_not_idle": 100 * (1 - careful / max(total["oz"], 1)),
        "smaller": sum(one["best"] < one["oz"] for one in modules),
        "idle": sum(one["idle"] for one in modules),
        "failed": failed,
        "each": modules,
    }


def seconds_of(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def times(folders: list[Path], head: TaskHead, encoder: Any, engine: Engine, count: int) -> dict[str, Any]:
    """Median milliseconds a function: a prediction, -Oz in process, and one call of opt."""
    opt = shutil.which(f"opt-{engine.version.partition('.')[0]}") or shutil.which("opt")
    texts: list[str] = []
    for folder in folders:
        for path in find_inputs(folder):
            texts += [text for _, text in extract_functions(path.read_text(encoding="utf-8", errors="surrogateescape"))]
    texts = texts[:: max(1, len(texts) // count)][:count]
    found: dict[str, list[float]] = {"predict": [], "oz": [], "opt": []}
    for text in texts:
        ir = text.encode("utf-8", "surrogateescape")
        found["predict"].append(seconds_of(lambda text=text: head.predict(encoder, text, {}, level="function")))
        found["oz"].append(seconds_of(lambda ir=ir: engine.run_all(ir, ["default<Oz>"])))
        if opt is not None:
            with tempfile.NamedTemporaryFile(suffix=".ll") as file:
                file.write(ir)
                file.flush()
                command = [opt, "-passes=default<Oz>", "-disable-output", file.name]
                found["opt"].append(seconds_of(lambda command=command: subprocess.run(command, check=True)))
    medians = {name: 1000 * statistics.median(values) for name, values in found.items() if values}
    return {"functions": len(texts), "milliseconds": medians}


def main() -> None:
    """Suggest, try, time, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", type=Path, nargs="+", help="folders of IR")
    parser.add_argument("-k", "--lists", type=int, default=10)
    parser.add_argument("--head", type=Path, help="for pass_list [default: the shipped one]")
    parser.add_argument("--sizes", type=Path, help="head for size_after [default: the shipped one]")
    parser.add_argument("--model", help="name or folder [default: the heads' own, by name]")
    parser.add_argument("--functions", type=int, default=100, help="functions that are timed; 0 for none")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one list")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    head = head_of("pass_list", given.head)
    assert head.space is not None
    sizes = head_of("size_after", given.sizes) if given.functions else None
    encoder = mirenc.load(given.model or head.model, cache=False)
    check_model([head] if sizes is None else [head, sizes], encoder)
    lists = [str(pipeline) for (pipeline,) in head.space.settings]
    record: dict[str, Any] = {
        "model": {"name": encoder.name, "digest": encoder.features_digest},
        "head_data": head.data_hash,
        "lists": given.lists,
        "projects": {},
    }
    with find_engine(lists, prefer=head.llvm, timeout=given.timeout) as engine:
        record["engine"] = engine.name
        for folder in given.projects:
            record["projects"][folder.name] = of_project(folder, head, encoder, engine, given.lists)
        if sizes is not None:
            record["time"] = times(given.projects, sizes, encoder, engine, given.functions)
    for name, one in record["projects"].items():
        print(
            f"{name}: {one['modules']} modules, {one['before']:,} bytes before, {one['oz']:,} by -Oz, {one['best']:,} "
            f"by the best of {given.lists} lists ({one['saved']:.2f} % saved)"
        )
    print(record.get("time", ""))
    if given.output is not None:
        given.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
