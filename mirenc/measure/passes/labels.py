"""The labels of one piece: sizes at every level and under every list, what fires, what the verifier says."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mirenc.ir.process import run_limited
from mirenc.measure.run import one_line
from mirenc.passes.engine import CODEGEN, Failed, Optimised, code_bytes
from mirenc.passes.engines import SharedEngine
from mirenc.passes.extract import without_size_attributes
from mirenc.tasks.compiled import PassList, hash_of_ir

Figures = tuple[int, int, str]
"""Instructions, bytes of code (`mirenc.passes.engine.code_bytes`), and what became of it (one of
`mirenc.tasks.compiled.STATUSES`); 0 where it failed."""

_SECONDS = 60.0  # of the verifier
_MEMORY = 4 * 2**30  # bytes of its address space


@dataclass(frozen=True, slots=True)
class Level:
    """A compiler's level: passes, code generation, and whether it gets the code without minsize and optsize."""

    pipeline: str
    codegen: int
    plain: bool


LEVELS: Mapping[str, Level] = {
    "O0": Level("default<O0>", 0, plain=True),
    "Oz": Level("default<Oz>", CODEGEN, plain=False),
    "Oz_plain": Level("default<Oz>", CODEGEN, plain=True),
    "O2": Level("default<O2>", CODEGEN, plain=True),
    "O3": Level("default<O3>", 3, plain=True),
}
"""``Oz_plain`` is the weak baseline: ``opt -Oz`` on code whose functions do not say that they should be small."""

_WATCHED = ("Oz", "O3")  # levels whose passes are asked whether they change a piece


def label(engine: SharedEngine, opt: str | None, text: str, lists: Sequence[PassList]) -> dict[str, Any]:
    """Compile a piece in every way: fields of `mirenc.measure.passes.records.Record`.

    ``opt`` verifies what the best list makes; the first of ``lists`` is -Oz. An `IRParseError` where LLVM refuses it.
    """
    marked, plain = text.encode(), without_size_attributes(text).encode()
    (before,) = engine.run_all(marked, [""], codegen=0)
    results: dict[str, Optimised | Failed] = {}
    # One call for all lists of one IR and code generation: equal results are made into code once.
    names = [name for name, level in LEVELS.items() if not level.plain]
    pipelines = [*(LEVELS[name].pipeline for name in names), *(one.pipeline for one in lists)]
    made = engine.run_all(marked, pipelines)
    results.update(zip(names, made, strict=False))
    for codegen in sorted({level.codegen for level in LEVELS.values()}):
        plains = [name for name, level in LEVELS.items() if level.plain and level.codegen == codegen]
        levels = engine.run_all(plain, [LEVELS[name].pipeline for name in plains], codegen=codegen)
        results.update(zip(plains, levels, strict=True))

    def figures(result: Optimised | Failed) -> Figures:
        """With the size beside what there was before any pass."""
        if isinstance(result, Failed):
            return 0, 0, result.status
        return result.instructions, code_bytes(result, result if isinstance(before, Failed) else before), "ok"

    facts: dict[str, Any] = {
        "ir_hash": hash_of_ir(text),
        "before": figures(before),
        "levels": {name: figures(results[name]) for name in LEVELS},
        "lists": tuple(map(figures, made[len(names) :])),
    }
    for name, (_, size, status) in (("code generation", facts["before"]), ("-Oz", facts["levels"]["Oz"])):
        if not size:
            return facts | {"dropped": f"{name}: {status if status != 'ok' else 'no machine code'}"}
    facts["fires"] = {}
    for name in _WATCHED:
        (passes,) = engine.fires(plain if LEVELS[name].plain else marked, [LEVELS[name].pipeline])
        if not isinstance(passes, Failed):
            facts["fires"][name] = tuple(sorted(passes))
    sizes = [(size, number) for number, (_, size, status) in enumerate(facts["lists"]) if status == "ok"]
    size, best = min(sizes, default=(0, 0))
    if opt is not None and best and size < facts["lists"][0][1]:
        facts["winner"] = verify(opt, engine.run(marked, lists[best].pipeline).ir)
    return facts


def find_opt(version: str) -> str | None:
    """The opt of an LLVM's version (``19.1.7``); None where it is not on PATH."""
    return shutil.which(f"opt-{version.partition('.')[0]}")


def verify(opt: str, ir: bytes) -> str:
    """What ``opt -passes=verify`` says of a text or bitcode: ``ok``, or why not."""
    command = [opt, "-passes=verify", "-disable-output", "-"]
    try:
        done = run_limited(command, timeout=_SECONDS, memory_limit=_MEMORY, data=ir)
    except subprocess.TimeoutExpired:
        return f"longer than {_SECONDS:g} s"
    if done.code == 0:
        return "ok"
    return one_line(done.words) or f"exit {done.code}"
