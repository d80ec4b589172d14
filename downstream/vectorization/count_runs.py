"""Counts how often the loops of a table run and take their branches, into its ``runs.json``: ``count_runs.py [FOLDER]``.

`mirenc measure vectorization` does it by itself; this is for a table that is older than that. What was counted before
stays, and no cost is touched.
"""

import json
import sys
from pathlib import Path

from mirenc.base.progress import progress
from mirenc.decide.tables.measured import MeasuredKernel, read_measured
from mirenc.decide.tables.table_folder import write_json
from mirenc.llvm import parse_ir
from mirenc.llvm.analysis.loop_branches import taken_branches
from mirenc.tools.measure.vectorization import VectorizationMethod


def main(folder: Path) -> None:
    """Count, and write the file."""
    method = VectorizationMethod()
    toolchain, kernels = method.find_compiler(None), read_measured(folder, method.task).kernels
    path = folder / "runs.json"
    runs = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    with progress("counting", len(kernels)) as advance:
        for name, kernel in kernels.items():
            if name not in runs or ("run_taken" not in runs[name] and has_branches(kernel)):
                if told := method.run_context(kernel, toolchain) | runs.get(name, {}):
                    runs[name] = told
            advance()
    write_json(path, {name: runs[name] for name in kernels if name in runs})
    print(json.dumps({"kernels": len(kernels), "counted": len(runs)}))


def has_branches(kernel: MeasuredKernel) -> bool:
    """Whether not every iteration of the loop runs all of its blocks."""
    assert kernel.region is not None
    module = parse_ir(kernel.ir)
    return taken_branches(module, kernel.region, lambda module, block: [1] * 99) is not None


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "table")
