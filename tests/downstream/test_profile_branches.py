"""``downstream/profile``: what is written about a branch, by hand; figures of predictions on counts that are known."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mirenc.ir import parse_ir

FOLDER = Path(__file__).resolve().parents[2] / "downstream" / "profile"
# The loop is entered 10 times and runs 3 rounds each; one round in the 30 ends the program.
CODE = """
declare void @abort()
define i32 @sum(ptr %p, i32 %n) !prof !0 {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %next ]
  %s = phi i32 [ 0, %entry ], [ %t, %next ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %body, label %out, !prof !1
body:
  %a = getelementptr i32, ptr %p, i32 %i
  %v = load i32, ptr %a
  %e = icmp slt i32 %v, 0
  br i1 %e, label %bad, label %next, !prof !2
bad:
  call void @abort()
  unreachable
next:
  %j = add i32 %i, 1
  %t = add i32 %s, %v
  br label %head
out:
  ret i32 %s
}
define i32 @pick(i32 %n) {
  %c = icmp eq i32 %n, 7
  br i1 %c, label %same, label %same
same:
  ret i32 %n
}
!0 = !{!"function_entry_count", i64 10}
!1 = !{!"branch_weights", i32 30, i32 9}
!2 = !{!"branch_weights", i32 1, i32 29}
"""


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"profile_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_features_by_hand() -> None:
    branches = script("branches")
    found = branches.branches_of(parse_ir(CODE))
    assert found.block.tolist() == [1, 2]  # where both ways are one there is nothing to tell
    assert found.features.shape == (2, len(branches.FEATURES))
    head, body = (dict(zip(branches.FEATURES, row, strict=True)) for row in found.features.tolist())
    of_head = ("depth", "is_header", "slt", "is_icmp", "first_phi", "second_argument", "counter", "two_values")
    assert [head[name] for name in (*of_head, "second_leaves", "second_returns")] == [1] * 10
    assert head["loop_exits"] == 2  # and where the program ends
    assert [head[name] for name in ("first_leaves", "constant", "first_dead", "entry", "expected")] == [0] * 5
    of_body = ("first_dead", "first_unreachable", "second_to_latch", "constant", "zero", "width", "first_load")
    assert [body[name] for name in of_body] == [1, 1, 1, 1, 1, 32, 1]
    assert body["first_calls"] == body["first_end"] == np.float32(np.log1p(1))
    assert [body[name] for name in ("second_calls", "second_dead", "first_to_latch", "is_header")] == [0] * 4
    assert branches.branches_of(parse_ir("define void @f() {\n  ret void\n}\n")).features.shape[0] == 0


@pytest.mark.needs("opt-19")
def test_figures_of_known_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    branches, loops = [], []
    for project in ("one", "two"):
        target = tmp_path / "SSA" / project / "x.c.ll"
        target.parent.mkdir(parents=True)
        target.write_text(CODE, encoding="utf-8")
        place = {"project": project, "file": "x.c", "function": "sum"}
        for block, taken, other in ((1, 30, 9), (2, 1, 29)):
            branches.append({**place, "block": block, "taken_first": taken, "other": other, "saturated": False})
        loops.append({**place, "header": 1, "entries": 10, "executions": 39})
    for name, rows in (("branches", branches), ("loops", loops)):
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    record = tmp_path / "record.json"
    monkeypatch.setattr(sys, "argv", ["evaluate.py", str(tmp_path), "-o", str(record)])
    script("evaluate").main()
    found = json.loads(record.read_text(encoding="utf-8"))
    assert (found["projects"], found["branches"], found["loops"]) == (2, 4, 2)
    perfect, llvm, hand = (found["rows"][name] for name in ("perfect", "llvm", "hand"))
    assert perfect["missed"] == [pytest.approx(10 / 69, abs=1e-4)] * 3
    assert perfect["error"] == [0, 0, 0]
    # LLVM foresees both: loops go on, and nobody calls abort.
    assert llvm["missed"] == perfect["missed"]
    assert llvm["fewer"] == [0, 0, 0]
    assert perfect["trips"] == [1, 1, 1]  # 3.9 headers each time
    # Of two branches trees learn no more than the mean, which is below a half: the second way, of 30 and of 1.
    assert hand["missed"] == [pytest.approx(31 / 69, abs=1e-4)] * 3
