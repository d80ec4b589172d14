"""``downstream/profile``: figures of predictions on counts that are known."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mirenc.decide import load_head

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
        loops += [{**place, "header": 1, "entries": 10, "executions": count} for count in (39, 300)]
    for name, rows in (("branches", branches), ("loops", loops)):
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    record = tmp_path / "record.json"
    more = ("--said", str(tmp_path / "said.parquet"), "--head", str(tmp_path / "head"))
    monkeypatch.setattr(sys, "argv", ["evaluate.py", str(tmp_path), "-o", str(record), *more])
    script("evaluate").main()
    figures = json.loads(record.read_text(encoding="utf-8"))
    assert (figures["projects"], figures["branches"], figures["loops"]) == (2, 4, 4)
    perfect, llvm, hand, shipped = (figures["rows"][name] for name in ("perfect", "llvm", "hand", "vectors"))
    assert perfect["missed"] == [pytest.approx(10 / 69, abs=1e-4)] * 3
    assert perfect["error"] == [0, 0, 0]
    # LLVM foresees both: loops go on, and nobody calls abort.
    assert llvm["missed"] == perfect["missed"]
    assert llvm["fewer"] == [0, 0, 0]
    assert perfect["trips"] == [0.5, 0.5, 0.5]  # 3.9 headers each time, not 30
    assert figures["commonest"] == figures["seen"] == [0.5, 0.5, 0.5]
    assert figures["unseen"] == ["one", "two"]
    # Of two branches trees learn no more than the mean, which is below a half: the second way, of 30 and of 1.
    assert hand["missed"] == shipped["missed"] == [pytest.approx(31 / 69, abs=1e-4)] * 3
    predictions = pq.read_table(tmp_path / "said.parquet").to_pylist()
    assert [(row["project"], row["block"]) for row in predictions] == [
        (name, block) for name in ("one", "two") for block in (1, 2)
    ]
    assert all(0 < row["first"] < 0.5 for row in predictions)
    head, about = load_head(tmp_path / "head")
    assert about["projects"] == ["one", "two"]
    assert head.worth["trip_count"] == "of 2 projects, each unseen: 50 % [50, 50] of loops right, always 2 to 7: 50 %"
