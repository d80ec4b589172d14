"""`mirenc suggest --try` over whole projects that nothing was trained on, and whether what it claims is written.

    python downstream/passes/project_figures.py bzip2=BUILD/compile_commands.json \
        sqlite3=OTHER/compile_commands.json:6 -k 10 -o downstream/passes/projects.json

Each argument is NAME=SOURCE, where a source is what `mirenc sizes` takes for a project; :6 takes every
sixth file of it. For every module the lists that `mirenc suggest -k` names are run beside -Oz, and each project's
loaded bytes are summed: without any pass, by -Oz, by the best. Then the module that -Oz made and the one that won are
compiled by ``llc`` (of the engine's version) and weighed by binutils' ``size``: text and data are all that is loaded. A
module counts as exact where that difference is the claimed one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from mirenc.base.errors import MirencError
from mirenc.decide.registry import get_task
from mirenc.decide.task_head import TaskHead, ready_heads
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.llvm.passes.find_llvm import find_engine, major_of
from mirenc.llvm.passes.pass_lists import level
from mirenc.llvm.passes.size_after_passes import Engine
from mirenc.llvm.sources.compile_programs import Choices
from mirenc.llvm.sources.prepare import prepare_ir
from mirenc.tools.suggest import FixedList, fixed_lists, read_code, try_lists

OZ = level("Oz")


def loaded_bytes(bitcode: bytes, version: str, folder: Path) -> int:
    """Text and data of the object of a module, by ``llc`` and ``size``."""
    (folder / "code.bc").write_bytes(bitcode)
    words = [f"llc-{major_of(version)}", "-filetype=obj", "-relocation-model=pic", "code.bc", "-o", "code.o"]
    subprocess.run(words, cwd=folder, check=True)
    output = subprocess.run(["size", "code.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
    text, data, *_ = output.splitlines()[1].split()
    return int(text) + int(data)


def measure_project(paths: list[Path], lists: tuple[FixedList, ...], engine: Engine, scratch: Path) -> dict[str, Any]:
    """Bytes of a project's modules."""
    modules, failures = [], []
    winners: Counter[str] = Counter()
    for path in paths:
        try:
            code = read_code(path, version=engine.version)
            trial = try_lists(engine, code.ir, [entry.pipeline for entry in lists], OZ)
        except MirencError as error:
            failures.append(f"{path.name}: {error}")
            continue
        object_sizes = [loaded_bytes(ir, engine.version, scratch) for ir in (engine.run(code.ir, OZ).ir, trial.ir)]
        claimed = [trial.oz.loaded_bytes, trial.winner.loaded_bytes]
        winners["-Oz" if trial.best < 0 else lists[trial.best].origin] += 1
        modules.append(
            {
                "file": path.name,
                "before": trial.before,
                "oz": claimed[0],
                "best": claimed[1],
                "really_saved": object_sizes[0] - object_sizes[1],
                "lists_failed": sum(bool(attempt.problem) for attempt in trial.tried),
            }
        )
        print(modules[-1], flush=True)
    total = {name: sum(module[name] for module in modules) for name in ("before", "oz", "best")}
    return {
        "modules": len(modules),
        **total,
        "saved": 100 * (1 - total["best"] / max(total["oz"], 1)),
        "smaller": sum(module["best"] < module["oz"] for module in modules),
        "exact": sum(module["oz"] - module["best"] == module["really_saved"] for module in modules),
        "won_by": dict(winners.most_common()),
        "failed": failures,
        "each": modules,
    }


def main() -> None:
    """Try, weigh, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="+", metavar="NAME=SOURCE[:EVERY]")
    parser.add_argument("-k", "--lists", type=int, default=10)
    parser.add_argument("--head", type=Path, help="for pass_list [default: the shipped one]")
    parser.add_argument("--compiler", help="a clang [default: the first on PATH]")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one list")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    head = TaskHead.load(arguments.head or ready_heads(get_task("pass_list"))[""])
    lists = fixed_lists(head, arguments.lists)
    record: dict[str, Any] = {"lists": arguments.lists, "ideas": len(lists) - arguments.lists, "projects": {}}
    with (
        find_engine([entry.pipeline for entry in lists], prefer=head.llvm, timeout=arguments.timeout) as engine,
        tempfile.TemporaryDirectory() as folder,
    ):
        record["engine"] = engine.name
        for number, project in enumerate(arguments.projects):
            name, _, place = project.partition("=")
            source, _, step = place.partition(":")
            root = prepare_ir(
                Path(source),
                Path(folder) / str(number),
                Choices(("Oz-start",), arguments.compiler, with_reserved=True),
                jobs=1,
                report=print,
            )
            paths = find_inputs(root)[:: int(step or 1)]
            record["projects"][name] = measure_project(paths, lists, engine, Path(folder))
    for name, row in record["projects"].items():
        print(
            f"{name}: {row['modules']} modules, {row['before']:,} bytes before, {row['oz']:,} by -Oz, {row['best']:,} "
            f"by the best of {len(lists)} lists ({row['saved']:.2f} % saved); {row['exact']} exactly as claimed"
        )
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
