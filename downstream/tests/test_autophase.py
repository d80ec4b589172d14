"""AutoPhase's counts, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from counted import autophase_counts, autophase_features

from mirenc import read_ir
from mirenc.llvm import parse_ir
from mirenc.llvm.analysis.regions import regions_of

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.ll"))

# Both edges of each branch are critical, because both of their ends are branched or joined.
LOOP = """
define i32 @f(i32 %n, ptr %p) {
entry:
  %c = icmp sgt i32 %n, 0
  br i1 %c, label %loop, label %exit
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %v = load i32, ptr %p
  %w = add i32 %v, 1
  store i32 %w, ptr %p
  %r = call i32 @g(i64 1)
  %j = add i32 %i, %r
  %d = icmp slt i32 %j, %n
  br i1 %d, label %loop, label %exit
exit:
  ret i32 0
}
declare i32 @g(i64)
"""
COUNTS = {
    "blocks where the phis have 1 to 5 arguments": 1,
    "blocks with 2 predecessors": 2,
    "blocks with 2 predecessors and 2 successors": 1,
    "blocks with 2 successors": 2,
    "blocks with 1 to 3 phis": 1,
    "blocks without phis": 2,
    "blocks that begin with a phi": 1,
    "branches": 2,
    "calls that return an integer": 1,
    "critical edges": 4,
    "edges": 4,
    "32-bit integer constants": 4,  # of icmp, phi, add and ret
    "64-bit integer constants": 1,
    "constants 0": 3,
    "constants 1": 2,
    "binary operations with a constant operand": 1,
    "blocks of fewer than 15 instructions": 3,
    "basic blocks": 3,
    "instructions": 11,
    "memory instructions": 3,  # the call is one, as LLVM counts
    "functions with a body": 1,
    "arguments of phis": 2,
    "unary operations": 1,  # the load
    **{f"{name} instructions": 2 for name in ("Add", "Br", "ICmp")},
    **{f"{name} instructions": 1 for name in ("Call", "Load", "PHI", "Ret", "Store")},
}


def counts(text: str) -> dict[str, int]:
    counted = autophase_counts(parse_ir(text)).items()
    return {name: count for name, count in counted if count}


def test_there_are_as_many_as_published() -> None:
    assert len(autophase_counts(parse_ir(LOOP))) == 56


def test_a_loop_by_hand() -> None:
    assert counts(LOOP) == COUNTS


def test_a_diamond_has_no_critical_edge() -> None:
    text = """
define i64 @f(i1 %c, i8 %x) {
  br i1 %c, label %a, label %b
a:
  %v = zext i8 %x to i64
  br label %end
b:
  br label %end
end:
  %r = phi i64 [ %v, %a ], [ 1, %b ]
  %s = phi i1 [ true, %a ], [ %c, %b ]
  %t = phi i1 [ false, %a ], [ %c, %b ]
  %q = select i1 %s, i64 %r, i64 64
  ret i64 %q
}
"""
    counted = counts(text)
    assert "critical edges" not in counted
    assert counted["edges"] == 4
    assert counted["blocks with 1 predecessor"] == counted["blocks with 1 predecessor and 1 successor"] == 2
    assert counted["blocks with 1 successor"] == counted["unconditional branches"] == 2
    assert counted["blocks where the phis have more than 5 arguments"] == 1
    assert (counted["arguments of phis"], counted["blocks that begin with a phi"], counted["PHI instructions"]) == (
        6,
        1,
        3,
    )
    assert (counted["constants 0"], counted["constants 1"], counted["64-bit integer constants"]) == (1, 2, 2)
    assert counted["unary operations"] == counted["ZExt instructions"] == 1


def test_what_has_one_operand_and_what_is_memory() -> None:
    text = """
define i32 @f({ i32, ptr } %s) {
  %v = extractvalue { i32, ptr } %s, 0
  %z = freeze i32 %v
  fence seq_cst
  ret i32 %z
}
"""
    counted = counts(text)
    assert counted["unary operations"] == 2
    assert "memory instructions" not in counted


def test_features_are_logarithms() -> None:
    module = parse_ir(LOOP)
    features = autophase_features(module)
    assert (features.shape, features.dtype) == ((56,), np.float32)
    np.testing.assert_allclose(np.expm1(features), list(autophase_counts(module).values()), rtol=1e-5)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_module_counts_what_its_functions_do(path: Path) -> None:
    module = read_ir(path)
    regions = regions_of(module, "function")
    parts = [
        list(autophase_counts(module, regions.instruction[regions.region == row]).values())
        for row in range(len(regions.regions))
    ]
    np.testing.assert_array_equal(np.sum(parts, axis=0), list(autophase_counts(module).values()))
