"""Counts how often the loops of a table run and take their branches: ``count_runs.py [FOLDER [FLAG...]]``.

It goes into ``runs.json``. `mirenc measure vectorization` does it by itself; this is for a table that is older than
that. What was counted before stays, and no cost is touched.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

from mirenc.base.progress import progress
from mirenc.decide.tables.measured import MeasuredKernel, read_measured
from mirenc.decide.tables.table_folder import write_json
from mirenc.llvm import parse_ir
from mirenc.llvm.analysis.loop_branches import taken_branches
from mirenc.tools.measure.vectorization import VectorizationMethod


def main(folder: Path, *flags: str) -> None:
    """Count, and write the file."""
    method = VectorizationMethod()
    toolchain = replace(method.find_compiler(None), cflags=flags)
    kernels = read_measured(folder, method.task).kernels
    path = folder / "runs.json"
    runs = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    with progress("counting", len(kernels)) as advance:
        for place, (name, kernel) in enumerate(kernels.items()):
            counted = runs.get(name, {})
            new = [one for one in ("run_trip_count", "run_taken") if one not in counted]
            if kernel.region and ("run_trip_count" in new or (new and has_branches(kernel))):
                runs[name] = method.run_context(kernel, toolchain) | counted
            advance()
            if place % 100 == 0:
                write_json(path, runs)  # goes on from here
    write_json(path, {name: runs[name] for name in kernels if runs.get(name)})
    print(json.dumps({"kernels": len(kernels), "counted": len(runs)}))


def has_branches(kernel: MeasuredKernel) -> bool:
    """Whether not every iteration of the loop runs all of its blocks."""
    assert kernel.region is not None
    module = parse_ir(kernel.ir)
    return taken_branches(module, kernel.region, lambda module, block: [1] * 99) is not None


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "table", *sys.argv[2:])
