"""Weights in the text of a module: LLVM's verifier and mirenc itself read them back."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from mirenc.base.errors import IRFileError
from mirenc.llvm import parse_ir
from mirenc.llvm.analysis.profile import profiled_flow
from mirenc.tools.profile import with_weights
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
    text, written = with_weights(TEXT, module, block, np.array([0.75, 0.5, 1e-6]))
    assert written == 2  # one had some
    lines = text.splitlines()
    assert lines[3] == '  br i1 %c, label %left, label %right, !prof !1 ; "said" by hand'
    assert "  br i1 %d, label %right, label %out, !prof !0" in lines
    assert lines[-3:] == [
        '!0 = !{!"branch_weights", i32 1, i32 99}',
        '!1 = !{!"branch_weights", i32 768, i32 256}',
        '!2 = !{!"branch_weights", i32 1, i32 1023}',  # never is too much
    ]
    assert with_weights(text, parse_ir(text), block, np.full(3, 0.5)) == (text, 0)
    windows = TEXT.replace("\n", "\r\n")
    assert with_weights(windows, module, block, np.array([0.75, 0.5, 1e-6]))[0].replace("\r\n", "\n") == text


def test_mirenc_reads_what_was_written() -> None:
    text = TEXT.replace("define i32 @f(i1 %c, i1 %d) {", "define i32 @f(i1 %c, i1 %d) !prof !9 {")
    text += '!9 = !{!"function_entry_count", i64 1024}\n'
    module = parse_ir(text)
    flow = profiled_flow(parse_ir(with_weights(text, module, branches_of(module).block, np.array([0.75, 0.5, 0.5]))[0]))
    assert flow is not None
    np.testing.assert_allclose(flow.blocks[:4], [1024, 768, 256 + 7.68, 1024])


def test_a_text_of_other_branches_is_refused() -> None:
    module = parse_ir(TEXT)
    with pytest.raises(IRFileError, match="0 lines are branches in function 2, and LLVM sees 1"):
        with_weights(
            TEXT.replace("  br i1 %c, label %1", "  br  i1 %c, label %1"), module, np.zeros(0, int), np.zeros(0)
        )


@pytest.mark.needs("opt-19")
def test_the_verifier_takes_it() -> None:
    module = parse_ir(TEXT)
    text, _ = with_weights(TEXT, module, branches_of(module).block, np.array([0.1, 0.5, 0.9]))
    said = subprocess.run(
        ["opt-19", "-passes=verify,print<branch-prob>", "-disable-output"],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    assert b"edge %entry -> %left probability is 0x0cc00000 / 0x80000000 = 9.96%" in said.stderr
