"""What LLVM's own vectorizer gains by a profile: ``python pgo.py [-ISOURCES ...]`` writes ``pgo.json``.

Each kernel is run once with counters (`mirenc.tools.measure.count_run`), and the LLVM inside llvmlite is asked for its
width and count twice: for the loop as it is, and with the branch weights of that run. Where the profile changes its
choice, that setting's measured cost counts, else the default's. Of `table/` one loop of each structure, and all loops
of the two other tables. Flags are for the sources of `other_suites/`. How long: a quarter of an hour on one core.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.child_process import EndedError
from mirenc.base.progress import progress
from mirenc.decide.metrics import geometric_mean, group_interval
from mirenc.decide.tables.measured import MeasuredKernel, MeasuredSample, read_measured
from mirenc.decide.tasks.vectorization import Vectorization
from mirenc.llvm import IRModule
from mirenc.llvm.analysis.profile import branch_weights
from mirenc.llvm.analysis.regions import Region
from mirenc.llvm.passes.vectorizer import ask_llvm, marked, widest
from mirenc.tools.measure.count_run import profiled
from mirenc.tools.measure.vectorization import VectorizationMethod
from mirenc.tools.run.compilers import Toolchain

HERE = Path(__file__).parent
TABLES = {
    "table": "one loop of each structure",
    "branches": "branches at seven rates",
    "other_suites": "other suites",
}
_FIRST_NODE = 10**6  # above the numbers that `marked` uses


def with_weights(module: IRModule, text: str) -> str:
    """Text of `marked` with the module's branch weights."""
    arrays, lines = module.arrays, text.split("\n")
    nodes: list[str] = []
    for block in range(module.block_count):
        if weights := branch_weights(module, block):
            node = _FIRST_NODE + len(nodes)
            lines[arrays.line[arrays.block_start[block + 1] - 1]] += f", !prof !{node}"
            nodes.append(f'!{node} = !{{!"branch_weights", {", ".join(f"i32 {weight}" for weight in weights)}}}')
    return "\n".join([*lines, *nodes, ""])


def choice(module: IRModule, region: Region, text: str, bits: int) -> tuple[int, int]:
    """LLVM's width and count for a loop; (0, 0): it does not come to an end with the module."""
    place = marked(module)[1].index((region.symbol, region.header)) + 1
    try:
        ((answer, _),) = ask_llvm(module, text, [""], bits)
    except EndedError:
        return 0, 0
    return max(
        ((width, count) for line, width, count in answer["choices"] if line == place), key=widest, default=(1, 1)
    )


def chosen(kernel: MeasuredKernel, bits: int, toolchain: Toolchain) -> tuple[tuple[int, int], ...] | None:
    """LLVM's choice without a profile and with one; None: the kernel does not run with counters."""
    assert kernel.region is not None
    module = profiled(kernel, toolchain.beside(kernel.include))
    if module is None:
        return None
    text = marked(module)[0]
    return tuple(choice(module, kernel.region, ir, bits) for ir in (text, with_weights(module, text)))


def gain(sample: MeasuredSample, setting: tuple[int, int], default: int) -> float:
    """Logarithm of what a setting saves over the default, in the rounds that gains are reported in; 0: not measured."""
    place = sample.settings.index(setting) if setting in sample.settings else default
    # Settings of one code are one measurement, which stands at the first of them.
    if sample.code and sample.status[place] == "same":
        place = sample.code.index(sample.code[place])
    saved = float(np.log(sample.report[default] / sample.report[place]))
    return saved if np.isfinite(saved) else 0.0


def figures(folder: Path, toolchain: Toolchain) -> dict[str, Any]:
    """Of a table: how often a profile changes LLVM's choice, and what that gains."""
    method = VectorizationMethod()
    task = Vectorization()
    table = read_measured(folder, method.task)
    samples, seen = [], set()
    for sample in table.samples:
        key = table.kernels[sample.kernel].group, sample.part
        if not sample.dropped and (folder.name != "table" or key not in seen):
            samples.append(sample)
            seen.add(key)
    logs, oracle, groups, changed, unknown = [], [], [], 0, 0
    with progress(folder.name, len(samples)) as advance:
        for sample in samples:
            kernel = table.kernels[sample.kernel]
            settings = chosen(kernel, int(task.part_context[sample.part]["vector_bits"]), toolchain)
            advance()
            unknown += settings is None
            default = task.space.default
            differs = settings is not None and settings[0] != settings[1]
            changed += differs
            logs.append(gain(sample, settings[1], default) if settings is not None and differs else 0.0)
            best = int(np.nanargmin(sample.label))
            oracle.append(float(np.log(sample.report[default] / sample.report[best])))
            groups.append(kernel.group)
    mean, low, high = np.mean(logs), *group_interval(np.array(logs), np.unique(groups, return_inverse=True)[1])
    return {
        "samples": len(samples),
        "not_run": unknown,
        "changed": changed,
        "speedup": float(np.exp(mean)),
        "interval": [float(np.exp(low)), float(np.exp(high))],
        "slower_2": float(np.mean(np.array(logs) < -np.log(1.02))),
        "oracle": geometric_mean(np.exp(oracle)),
        "share": float(mean / np.mean(oracle)),
    }


def main(*flags: str) -> None:
    """Compute and write."""
    toolchain = replace(VectorizationMethod().find_compiler(None), cflags=flags)
    figures_of = {name: figures(HERE / name, toolchain) for name in TABLES}
    header = [
        "LLVM with a profile",
        "samples",
        "choice changed",
        "over its choice",
        "slower by 2 %",
        "of oracle's gain",
    ]
    lines = [header]
    for name, row in figures_of.items():
        low, high = row["interval"]
        cells = [f"{row['samples']}", f"{row['changed']}", f"{row['speedup']:.3f} [{low:.3f}, {high:.3f}]"]
        lines.append([TABLES[name], *cells, f"{100 * row['slower_2']:.0f} %", f"{100 * row['share']:.0f} %"])
    record = {**figures_of, "lines": lines}
    (HERE / "pgo.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(*lines, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
