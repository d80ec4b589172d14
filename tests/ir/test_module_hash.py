"""What the content hash leaves out: found quickly where LLVM printed it, the same as by the regular expression."""

from __future__ import annotations

import random

import pytest

from mirenc.ir import parse_ir
from mirenc.ir.module import _COMMENTS, without_comments

CASES = {
    "none": "define void @f() {\n  ret void\n}\n",
    "predecessors": "a:\t  ; preds = %x, %y\n  ret void\nb:  ; preds = %a",
    "attributes": "x\n; Function Attrs: nounwind\ndefine\n; Function Attrs: cold\n",
    "attributes at the start": "; Function Attrs: nounwind\ndefine\n",
    "attributes twice": "x\n; Function Attrs: a\n; Function Attrs: b\ny",
    "attributes at the end": "x\n; Function Attrs: a",
    "no space before": "x; preds = y\n ; preds = z\n",
    "twice in a line": "x ; preds = y ; preds = z\n; preds = ",
}


@pytest.mark.parametrize("name", CASES)
def test_as_the_expression_finds_it(name: str) -> None:
    assert without_comments(CASES[name]) == _COMMENTS.sub("", CASES[name])


def test_as_the_expression_finds_it_in_any_order() -> None:
    rng = random.Random(0)
    pieces = ["; preds = ", "\n; Function Attrs:", "; Function Attrs:", " ", "\t", "\n", "a", "x y"]
    for _ in range(20_000):
        text = "".join(rng.choices(pieces, k=rng.randrange(9)))
        assert without_comments(text) == _COMMENTS.sub("", text), text


def test_two_modules_that_differ_in_comments_alone() -> None:
    text = "define i32 @f(i1 %c) {{\n  br i1 %c, label %a, label %b\na:{}\n  ret i32 1\nb:\n  ret i32 2\n}}\n"
    one, other = (parse_ir(text.format(comment)).content_hash for comment in ("", " ; preds = %nothing"))
    assert one == other != parse_ir(text.format("").replace("i32 1", "i32 3")).content_hash
