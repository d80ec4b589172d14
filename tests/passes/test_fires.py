"""Which passes fire: those whose work is there to do, and the same as ``opt`` says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mirenc.errors import IRParseError
from mirenc.passes.engine import Failed
from mirenc.passes.extract import extract_functions
from mirenc.passes.fires import PassWatcher

FIXTURES = Path(__file__).parent.parent / "fixtures" / "ir" / "clang-19" / "O0"
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
    with PassWatcher() as watcher:
        found = watcher.fires(
            TEXT, ["function(sroa,instsimplify,gvn)", "function(gvn)", "nonsense", "function(sroa,sroa)"]
        )
        assert found[0] == {"SROA", "InstSimplify"}
        assert found[1] == {"GVN"}  # it forwards the store to the load
        assert found[2] == Failed("pipeline", "unknown pass name 'nonsense'")
        assert found[3] == {"SROA"}
        assert watcher.fires(b"define void @f() {\n  ret void\n}\n", ["function(sroa,gvn)"]) == [frozenset()]
        with pytest.raises(IRParseError):
            watcher.fires(b"nonsense", ["function(sroa)"])


@pytest.mark.needs("opt")
@pytest.mark.parametrize("name", ["sorting", "structs", "control_flow"])
def test_it_says_what_opt_says(tmp_path: Path, name: str) -> None:
    with PassWatcher() as watcher:
        opt = shutil.which(f"opt-{watcher.version.split('.')[0]}")
        if not opt:
            pytest.skip(f"no opt of LLVM {watcher.version} is on PATH")
        for function, module in list(extract_functions((FIXTURES / f"{name}.ll").read_text()))[:4]:
            source = tmp_path / "a.ll"
            source.write_text(module)
            command = [
                opt,
                "-relocation-model=pic",
                "-passes=default<O3>",
                "-print-changed=quiet",
                "-disable-output",
                source,
            ]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stderr
            by_opt = set(re.findall(r"^\*\*\* IR Dump After (\S+?)(?:Pass)? on ", printed, re.MULTILINE))
            assert watcher.fires(module.encode(), ["default<O3>"]) == [by_opt], function
            assert by_opt
