"""What a decision costs: the shipped heads as C (-O2), by onnxruntime and in Python, and how large the C is.

    python tests/benchmarks/bench_exported_heads.py --record tests/benchmarks/exported_heads.json

Processor time of one decision at a time, on one thread, features at hand; of Python also in rows of 1,000. Before C
is timed, its 1,000 choices and scores are compared with Python's. Needs a C compiler, onnx and onnxruntime.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

import mirenc
from mirenc.decide import Settings
from mirenc.decide.export.formula import pair_head
from mirenc.decide.task_head import TaskHead
from mirenc.tools.profile import StaticProfile

HEADS = (
    *("device_mapping.nvidia", "device_mapping.amd", "thread_coarsening", "vectorization", "vectorization.look_ahead"),
    *("openmp", "block_size", "size_after.O0", "size_after.Oz", "pass_list"),
    *("branch_probability", "trip_count"),
)
ROWS = 1000
SECONDS = 0.5


def nanoseconds(ask: Callable[[], Any], decisions: int = 1) -> float:
    """Processor time of a decision, of so many that are asked at once."""
    ask()
    start, times = time.process_time(), 0
    while time.process_time() - start < SECONDS:
        ask()
        times += 1
    return 1e9 * (time.process_time() - start) / times / decisions


def cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))


def measured(name: str, compiler: str, folder: Path) -> dict[str, Any]:
    """One head."""
    subprocess.run([sys.executable, "-m", "mirenc", "export", name, "--c", folder, "--onnx", folder], check=True)
    stem = name.replace(".", "_")
    common = [compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run([*common, "-c", f"{stem}.c"], cwd=folder, check=True)
    subprocess.run([*common, f"{stem}_test.c", f"{stem}.o", "-lm", "-o", stem], cwd=folder, check=True)
    said = subprocess.run([folder / stem], capture_output=True, text=True, check=True).stdout
    sections = subprocess.run(["size", f"{stem}.o"], cwd=folder, capture_output=True, text=True, check=True).stdout

    profile = {"branch_probability": "branches", "trip_count": "loops"}.get(name)
    head = TaskHead.load(name).head if profile is None else getattr(StaticProfile.load(), profile)
    rows, told, one = np.random.default_rng(0).normal(size=(ROWS, head.n_features_in_)), (), ()
    given = {"features": rows[:1]}
    if (pairs := pair_head(head)) is not None:
        settings = np.random.default_rng(0).normal(size=(head.n_choices_, len(pairs.setting_middle_)))
        given["settings"] = settings
        told = (Settings(settings, np.tile(np.arange(len(settings)), (ROWS, 1))),)
        one = (told[0].take(slice(1)),)
    ask = head.predict_proba if hasattr(head, "predict_proba") else head.predict
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(folder / f"{stem}.onnx", options)
    return {
        "features": head.n_features_in_,
        "scores": ask(rows[:1], *one).size,
        "compared": said.rpartition(",")[0],
        "c_ns": float(said.rpartition(",")[2].split()[0]),
        "onnxruntime_ns": round(nanoseconds(lambda: session.run(None, given))),
        "python_ns": round(nanoseconds(lambda: ask(rows[:1], *one))),
        "python_1000_ns": round(nanoseconds(lambda: ask(rows, *told), ROWS)),
        "c_bytes": (folder / f"{stem}.c").stat().st_size,
        "object_bytes": sum(map(int, sections.splitlines()[1].split()[:3])),
        "onnx_bytes": (folder / f"{stem}.onnx").stat().st_size,
    }


def main() -> None:
    """Measure them all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, help="JSON to write [default: stdout]")
    parser.add_argument("--compiler", default="gcc")
    given = parser.parse_args()
    version = subprocess.run([given.compiler, "--version"], capture_output=True, text=True, check=True).stdout
    record: dict[str, Any] = {
        "command": f"python tests/benchmarks/bench_exported_heads.py --compiler {given.compiler}",
        "machine": cpu(),
        "compiler": version.splitlines()[0],
        "python": platform.python_version(),
        "versions": {"mirenc": mirenc.__version__, "numpy": np.__version__, "onnxruntime": onnxruntime.__version__},
        "heads": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in HEADS:
            record["heads"][name] = measured(name, given.compiler, Path(folder))
            print(name, record["heads"][name], file=sys.stderr)
    text = json.dumps(record, indent=1) + "\n"
    if given.record is None:
        print(text, end="")
    else:
        given.record.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
