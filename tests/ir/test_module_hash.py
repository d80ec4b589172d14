"""What the content hash leaves out, and what it does not."""

from __future__ import annotations

import pytest

from mirenc.ir import parse_ir
from mirenc.ir.module import _without_comments


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("define void @f() {\n  ret void\n}\n", "define void @f() {\n  ret void\n}\n"),
        ("a:   \t  ; preds = %x, %y\n  ret void\nb:  ; preds = %a\n", "a:\n  ret void\nb:\n"),
        ("x\n; Function Attrs: nounwind\ndefine\n; Function Attrs: cold\n", "x\ndefine\n"),
    ],
)
def test_remarks_of_llvm_go(text: str, rest: str) -> None:
    assert _without_comments(text) == rest


def test_two_modules_that_differ_in_comments_alone() -> None:
    text = "define i32 @f(i1 %c) {{\n  br i1 %c, label %a, label %b\na:{}\n  ret i32 1\nb:\n  ret i32 2\n}}\n"
    one, other = (parse_ir(text.format(comment)).content_hash for comment in ("", " ; preds = %nothing"))
    assert one == other != parse_ir(text.format("").replace("i32 1", "i32 3")).content_hash
