"""Counts how often the loops of a table run, into its ``runs.json``: ``python count_runs.py [FOLDER]``.

`mirenc measure vectorization` does it by itself; this is for a table that is older than that. No cost is touched.
"""

import json
import sys
from pathlib import Path

from mirenc.base.progress import progress
from mirenc.decide.tables.measured import read_measured
from mirenc.decide.tables.table_folder import write_json
from mirenc.tools.measure.vectorization import VectorizationMethod


def main(folder: Path) -> None:
    """Count, and write the file."""
    method = VectorizationMethod()
    toolchain, kernels = method.find_compiler(None), read_measured(folder, method.task).kernels
    runs = {}
    with progress("counting", len(kernels)) as advance:
        for name, kernel in kernels.items():
            if told := method.run_context(kernel, toolchain):
                runs[name] = told
            advance()
    write_json(folder / "runs.json", runs)
    print(json.dumps({"kernels": len(kernels), "counted": len(runs)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "table")
