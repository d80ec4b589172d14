"""What `mirenc embed` costs on real modules, and what that makes of ComPile and of all of Debian.

Bitcode of a folder of IR goes into one Parquet file, as ComPile has it, and through one process of the command line,
with nothing cached. CPU seconds are those of all its processes. Two things are not measured: that other code costs the
same by its size, and Debian's size (Debian 12's 11,341 programs of `debian.toml` by their packages, at one level).

What you get: `FILE.json`: modules, instructions, bytes in and out, CPU seconds, memory; CPU hours and bytes of vectors
of ComPile (602 GB of bitcode) by bytes, and of Debian by instructions.
How long: two minutes of one core for 1,200 modules. The record's are programs of Debian packages, by clang 14 and 19 at
-O0, -O2 and -Os, on a machine that had six times the work it has cores: on a quiet one it costs less.
On what: a folder of IR, and Debian's `llvm-as-19`:

    python pretrain/embedding_slope.py corpus/ir --modules 1200 -o pretrain/embedding_slope.json
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mirenc.llvm.inputs.file_kind import find_inputs

COMPILE_BYTES = 602e9
# Source packages of Debian 12 of which a binary of amd64 depends on libc6 (apt-cache dumpavail), and instructions at
# one of the two levels by package of debian.toml (pretrain/README.md).
DEBIAN_PACKAGES = 13_747
INSTRUCTIONS_A_PACKAGE = 21.8e6 / 2 / 125


def pack(folder: Path, count: int, target: Path) -> None:
    """Some modules of a folder, drawn by a fixed seed, as a Parquet file of bitcode."""
    files = find_inputs(folder)
    codes, names = [], []
    for path in random.Random(0).sample(files, len(files)):
        process = subprocess.run(["llvm-as-19", "-o", "-", path], capture_output=True, check=False)
        if process.returncode == 0 and len(codes) < count:
            codes.append(process.stdout)
            names.append(path.relative_to(folder).as_posix())
        if len(codes) == count:
            break
    pq.write_table(pa.table({"content": pa.array(codes, pa.binary()), "name": names}), target, row_group_size=250)


def embed(source: Path, target: Path, level: str) -> dict[str, Any]:
    """Embed a Parquet file; what it cost."""
    words = ["embed", source, "--column", "content", "--names", "name", "--level", level, "--form", "plain"]
    words += ["--no-cache", "-o", target]
    usage_before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, "-m", "mirenc", *words], check=False)
    usage_after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = usage_after.ru_utime + usage_after.ru_stime - usage_before.ru_utime - usage_before.ru_stime
    rows = pq.read_table(target, columns=["file", "instructions"])
    counts = dict(zip(rows["file"].to_pylist(), rows["instructions"].to_pylist(), strict=True))
    bitcode = pq.read_table(source, columns=["content"])["content"].combine_chunks()
    record = {"modules": len(counts), "rows": len(rows), "instructions": sum(counts.values())}
    record |= {"bitcode": bitcode.nbytes, "bytes_out": target.stat().st_size, "peak_kilobytes": usage_after.ru_maxrss}
    return {**record, "cpu": round(cpu, 2), "seconds": round(time.monotonic() - start, 2)}


def extrapolate(cost: dict[str, Any]) -> dict[str, Any]:
    """CPU hours and bytes of vectors, by bytes of bitcode and by instructions."""
    factors = {"compile": COMPILE_BYTES / cost["bitcode"]}
    factors["debian"] = DEBIAN_PACKAGES * INSTRUCTIONS_A_PACKAGE / cost["instructions"]
    return {
        name: {
            "cpu_hours": cost["cpu"] * factor / 3600,
            "modules": cost["modules"] * factor,
            "bytes": cost["bytes_out"] * factor,
        }
        for name, factor in factors.items()
    }


def main() -> None:
    """Measure, and extrapolate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--modules", type=int, default=2000)
    parser.add_argument("--levels", nargs="+", default=["module"])
    parser.add_argument("-o", dest="output", type=Path, required=True)
    arguments = parser.parse_args()
    record: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        pack(arguments.folder, arguments.modules, source := Path(folder, "corpus.parquet"))
        for level in arguments.levels:
            cost = embed(source, Path(folder, f"{level}.parquet"), level)
            record[level] = {**cost, "cpu_a_thousand_instructions": cost["cpu"] / cost["instructions"] * 1000}
            record[level] |= extrapolate(cost)
            arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
