"""Lists that win, on loops that run: a list that breaks a program is seen."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import executed
import pytest

from mirenc.decide.tables.compiled import PassList, read_compiled
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.size_after_passes import CODEGEN, Optimised
from mirenc.tools.run.compilers import clang_of

TABLE = Path(__file__).parents[2] / "downstream" / "passes" / "table"

pytestmark = [pytest.mark.needs("libLLVM 19"), pytest.mark.needs("clang-19")]


class Breaking(SharedEngine):
    """An LLVM with a pass ``empty`` that throws away what functions do."""

    def run(self, ir: bytes, pipeline: str, *, codegen: int = CODEGEN) -> Optimised:
        if pipeline == "empty":
            ir = re.sub(rb"(?s)(define [^\n]*\{\n).*?\n\}", lambda match: match[1] + b"  ret void\n}", ir)
            pipeline = ""
        return super().run(ir, pipeline, codegen=codegen)


def test_a_list_that_breaks_a_program_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executed, "KERNELS", 1)
    pipelines = ("default<Oz>", "function(sroa)", "no-such", "empty")
    with Breaking(19) as engine:
        counts = executed.execute(engine, clang_of("19.1.7"), [PassList(one, "random") for one in pipelines])
    assert counts == {"compile": 1, "differs": 1, "loops": 1, "same": 1}


def test_the_committed_table_is_counted_as_it_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorded = read_compiled(TABLE).record["executed"]
    monkeypatch.setattr(executed, "KERNELS", 1)
    monkeypatch.setattr(sys, "argv", ["executed.py", str(TABLE), "-o", str(tmp_path / "executed.json")])
    executed.main()
    counts = json.loads((tmp_path / "executed.json").read_text(encoding="utf-8"))
    assert counts == {"lists": recorded["lists"], "loops": 1, "same": len(recorded["lists"])}
