"""Which passes fire: those whose work is there to do, and the same as ``opt`` says."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mirenc.base.errors import IRParseError
from mirenc.llvm.passes.extract import extract_functions
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.size_after_passes import Failed

FIXTURES = Path(__file__).parents[2] / "fixtures" / "ir" / "clang-19" / "O0"
pytestmark = pytest.mark.needs("libLLVM")
TEXT = b"""\
define i32 @f(i32 %n) {
  %slot = alloca i32
  store i32 %n, ptr %slot
  %a = load i32, ptr %slot
  %b = add i32 %a, 0
  ret i32 %b
}
"""


def test_a_pass_fires_where_it_has_work() -> None:
    with SharedEngine() as engine:
        fired = engine.fires(
            TEXT, ["function(sroa,instsimplify,gvn)", "function(gvn)", "nonsense", "function(sroa,sroa)"]
        )
        assert fired[0] == {"SROA", "InstSimplify"}
        assert fired[1] == {"GVN"}  # it forwards the store to the load
        assert fired[2] == Failed("pipeline", "unknown pass name 'nonsense'")
        assert fired[3] == {"SROA"}
        assert engine.fires(b"define void @f() {\n  ret void\n}\n", ["function(sroa,gvn)"]) == [frozenset()]
        with pytest.raises(IRParseError):
            engine.fires(b"nonsense", ["function(sroa)"])


def test_a_pass_that_takes_its_loop_away_fires() -> None:
    loop = b"""\
define i32 @f(ptr %p) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  BODY
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 4
  br i1 %more, label %loop, label %out
out:
  ret i32 0
}
"""
    busy = loop.replace(b"BODY", b"store volatile i32 %i, ptr %p")
    deleted, unrolled = "function(loop(loop-deletion))", "function(loop(loop-unroll-full))"
    with SharedEngine() as engine:
        (idle,) = engine.fires(loop.replace(b"BODY", b""), [deleted])
        unrolled_passes, gone = engine.fires(busy, [deleted, unrolled])
    assert not any(isinstance(one, Failed) for one in (idle, unrolled_passes, gone))
    names = [sorted(one) for one in (idle, unrolled_passes, gone) if not isinstance(one, Failed)]
    assert ["LoopDeletion" in names[0], "LoopDeletion" in names[1], "LoopFullUnroll" in names[2]] == [True, False, True]
    assert not [name for pass_names in names for name in pass_names if "Manager" in name or "Adaptor" in name]


@pytest.mark.needs("opt")
@pytest.mark.parametrize("name", ["sorting", "structs", "control_flow"])
def test_passes_that_fire_are_those_of_opt(tmp_path: Path, name: str) -> None:
    with SharedEngine() as engine:
        opt = shutil.which(f"opt-{engine.version.split('.')[0]}")
        if not opt:
            pytest.skip(f"no opt of LLVM {engine.version} is on PATH")
        for function, module in list(extract_functions((FIXTURES / f"{name}.ll").read_text()))[:4]:
            source = tmp_path / "a.ll"
            source.write_text(module)
            flags = ["-relocation-model=pic", "-passes=default<O3>", "-print-changed", "-disable-output"]
            printed = subprocess.run([opt, *flags, source], capture_output=True, text=True, check=True).stderr
            executed = "\n".join(line for line in printed.splitlines() if "omitted" not in line)
            by_opt = set(re.findall(r"^\*\*\* IR Dump After (\S+?)(?:Pass)? on ", executed, re.MULTILINE))
            by_opt |= set(re.findall(r"^\*\*\* IR Pass (\w+)Pass invalidated ", executed, re.MULTILINE))
            assert engine.fires(module.encode(), ["default<O3>"]) == [by_opt], function
            assert by_opt
