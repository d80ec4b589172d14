"""Weights in the text of a module: LLVM's verifier and mirenc itself read them back."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from mirenc.base.errors import IRFileError
from mirenc.llvm import parse_ir
from mirenc.llvm.analysis.profile import Flow, profiled_flow
from mirenc.tools.profile import counted_weights, predicted_weights, with_profile
from mirenc.tools.profile.branches import branches_of

TEXT = """; br i1 in a comment is none
define i32 @f(i1 %c, i1 %d) {
entry:
  br i1 %c, label %left, label %right ; "said" by hand
left:
  br i1 %d, label %right, label %out, !prof !0
right:
  br label %out
out:
  %r = phi i32 [ 0, %left ], [ 1, %right ]
  ret i32 %r
}

define void @g(i1 %c) {
  br i1 %c, label %1, label %2
1:
  ret void
2:
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 99}
"""


def test_weights_by_hand() -> None:
    module = parse_ir(TEXT)
    block = branches_of(module).block
    weights = predicted_weights(block, np.array([0.75, 0.5, 1e-6]))
    text, written = with_profile(TEXT, module, weights)
    assert written == 2  # one had some
    lines = text.splitlines()
    assert lines[3] == '  br i1 %c, label %left, label %right, !prof !1 ; "said" by hand'
    assert "  br i1 %d, label %right, label %out, !prof !0" in lines
    assert lines[-3:] == [
        '!0 = !{!"branch_weights", i32 1, i32 99}',
        '!1 = !{!"branch_weights", i32 768, i32 256}',
        '!2 = !{!"branch_weights", i32 1, i32 1023}',  # never is too much
    ]
    assert with_profile(text, parse_ir(text), weights) == (text, 0)
    windows = TEXT.replace("\n", "\r\n")
    assert with_profile(windows, module, weights)[0].replace("\r\n", "\n") == text


def test_a_flow_is_read_back_from_weights_and_entry_counts() -> None:
    text = TEXT.replace(", !prof !0", "").replace(
        "br i1 %c, label %left, label %right",
        "switch i32 0, label %left [\n    i32 1, label %right\n    i32 2, label %right\n  ]",
    )
    module = parse_ir(text)
    edges = np.array([700.0, 100, 200, 600, 100, 400, 7e10, 3e10])
    flow = Flow(np.zeros(module.block_count), edges, np.ones(module.block_count, np.bool_))
    counted, written = with_profile(text, module, counted_weights(module, flow), {0: 1000, 1: 10**11})
    assert written == 3
    assert '"branch_weights", i32 700, i32 100, i32 200}' in counted
    read_back = profiled_flow(parse_ir(counted))
    assert read_back is not None
    np.testing.assert_allclose(read_back.edges[:5], edges[:5])
    np.testing.assert_allclose(read_back.edges[-2:], edges[-2:], rtol=1e-8)  # weights have 32 bits


def test_a_text_of_other_branches_is_refused() -> None:
    module = parse_ir(TEXT)
    with pytest.raises(IRFileError, match="function 2 has 0 lines with branches, but LLVM finds 1 in it"):
        with_profile(TEXT.replace("  br i1 %c, label %1", "  br  i1 %c, label %1"), module, {})


@pytest.mark.needs("opt-19")
def test_the_verifier_takes_it() -> None:
    module = parse_ir(TEXT)
    weights = predicted_weights(branches_of(module).block, np.array([0.1, 0.5, 0.9]))
    text, _ = with_profile(TEXT, module, weights, {0: 5})
    printed = subprocess.run(
        ["opt-19", "-passes=verify,print<branch-prob>", "-disable-output"],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    assert b"edge %entry -> %left probability is 0x0cc00000 / 0x80000000 = 9.96%" in printed.stderr
