"""How far vectors and decisions of one source move with the compiler, the level and the CPU it is compiled for.

The question is DeltaNN's (Louloudakis et al., 2023), asked of a model that reads code. Sources are the small programs
in C; each is read as the tools read a source, by one compiler and its flags and by another, and vectors and
answers of the two are compared: of modules (the default model) and functions (the one for search) in the form
``plain``, what to do with each loop (by file, function and line) and sizes after -Oz.

What you get: `FILE.json`, a row a change: median cosines, the share of loops with the same answer, and how far
predicted sizes move in the median, in per cent.
How long: 10 minutes of a core.
On what: Debian's clang 14, 16 and 19:

    python downstream/drift.py -o downstream/drift.json
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import mirenc
from mirenc.base.errors import MirencError
from mirenc.base.progress import progress
from mirenc.decide.registry import get_task
from mirenc.decide.task_head import TaskHead, ready_heads
from mirenc.llvm.ir.read import ReadOptions

PROGRAMS = Path(__file__).parents[1] / "pretrain" / "small_programs"
BASE = "clang-19"
CHANGES: dict[str, tuple[str, ...]] = {
    "clang 16": ("clang-16",),
    "clang 14": ("clang-14",),
    "for a CPU with AVX2": (BASE, "-march=x86-64-v3"),
    "for a CPU with AVX-512": (BASE, "-march=x86-64-v4"),
    "-O1": (BASE, "-O1"),
    "-O3": (BASE, "-O3"),
}


class Reader:
    """What the tools say of a source, by one compiler and its flags."""

    def __init__(self, compiler: str, *cflags: str) -> None:
        self.options = ReadOptions(compiler=compiler, cflags=cflags)
        self.modules = mirenc.load(options=self.options)
        self.functions = mirenc.load("mirenc-search", options=self.options)
        loops, sizes = get_task("vectorization"), get_task("size_after")
        self.loops = self._head(ready_heads(loops, look_ahead=False)[""], loops)
        self.sizes = self._head(ready_heads(sizes)["Oz"], sizes)

    def _head(self, folder: Path, task: mirenc.Task) -> TaskHead:
        return replace(TaskHead.load(folder, task), encoder=self.modules)

    def __call__(self, source: Path) -> dict[str, dict[Any, Any]]:
        """By kind: vectors and answers, by what they are of."""
        parts = self.functions.embed_parts(source, level="function", form="plain")
        names = [region.symbol for region in parts.regions]
        loops = self.loops.predict(source, {"vector_bits": 256})
        return {
            "module": {"": self.modules.embed(source, form="plain")},
            "function": dict(zip(names, parts.vector, strict=True)),
            "loop": {(prediction.region.symbol, prediction.region.line): prediction.setting for prediction in loops},
            "size": {prediction.region.symbol: prediction.value for prediction in self.sizes.predict(source)},
        }


def cosine(left: np.ndarray, right: np.ndarray) -> float:
    """Of two vectors."""
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))


def compare_readings(base: list[dict[str, dict[Any, Any]]], changed: list[dict[str, dict[Any, Any]]]) -> dict[str, Any]:
    """Figures of one change."""
    pairs_of: dict[str, list[tuple[Any, Any]]] = {kind: [] for kind in ("module", "function", "loop", "size")}
    for old, new in zip(base, changed, strict=True):
        for kind, pairs in pairs_of.items():
            pairs += [(old[kind][key], new[kind][key]) for key in old[kind].keys() & new[kind].keys()]
    similarities: dict[str, Any] = {kind: [cosine(*pair) for pair in pairs_of[kind]] for kind in ("module", "function")}
    similarities = {
        kind: {"count": len(values), "median": np.median(values), "low": np.quantile(values, 0.05)}
        for kind, values in similarities.items()
    }
    is_same = [old == new for old, new in pairs_of["loop"]]
    changes = [abs(np.expm1(new - old)) for old, new in pairs_of["size"]]
    return similarities | {
        "loop": {"count": len(is_same), "same": np.mean(is_same)},
        "size": {"count": len(changes), "median": np.median(changes), "mean": np.mean(changes)},
    }


def main() -> None:
    """Read everything in all ways, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", dest="output", type=Path, required=True)
    arguments = parser.parse_args()
    sources = sorted(PROGRAMS.glob("*/*.c"))
    answers: dict[str, list[dict[str, dict[Any, Any]]]] = {}
    with progress("reading", (1 + len(CHANGES)) * len(sources)) as advance:
        for name, words in {BASE: (BASE,), **CHANGES}.items():
            reader, answers[name] = Reader(*words), []
            for source in sources:
                try:
                    answers[name].append(reader(source))
                except MirencError as error:
                    raise SystemExit(f"{name}: {error}") from None
                advance(note=name)
    rows = {name: compare_readings(answers[BASE], answers[name]) for name in CHANGES}
    record = {"sources": len(sources), "base": f"{BASE}, as the tools compile a source", "rows": rows}
    arguments.output.write_text(json.dumps(record, indent=1, default=float) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
