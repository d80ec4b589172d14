"""Kinds of the pieces of statements, against pieces marked by hand."""

from __future__ import annotations

import pytest

from mirenc.pretraining.evaluation.mlm import token_kinds
from mirenc.tokenizer import TokenizerConfig, train_tokenizer

# g grammar, n name or string, d digits; one letter a piece.
CASES = [
    (["%", " =", " load", " i32", ",", " ptr", " %"], "ggggggg"),
    ([" call", " void", " @", "foo", "_", "bar", ".", "1", "(", "ptr", " %", ")"], "gggnnnnngggg"),
    (["%", "struct", ".", "point", " =", " type", " {", " i32", " }"], "gnnnggggg"),
    ([" add", " i32", " %", ",", " 1"], "ggggd"),
    ([" mul", " i64", " %", ",", " -", "31"], "gggggd"),
    ([" fadd", " double", " %", ",", " 1", ".", "500000e", "+", "03"], "ggggddddd"),
    ([" double", " 0x", "3fe", "abc"], "gddd"),
    ([" [", "16", " x", " i", "8", "]"], "gdgggg"),
    (["@", ".", "str", " =", " c", '"', "hello", "\\", "00", '"', ",", " align", " 1"], "gnngggnnngggd"),
    (["@", '"', "my", " function", '"', "(", ")"], "ggnnggg"),
    ([" c", '"', "a", " <", " b", "<", '"', ",", " align", " 1"], "ggnnnngggd"),
    ([" br", " label", " %", ",", "!", "prof"], "gggggn"),
    (
        ["@", "std", ":", ":", "min", "<", "int", " *", ",", "a", "<", "b", ">", ">", "(", "ptr", " %", ")"],
        "gnnnnnnnnnnnnngggg",
    ),
    (["@", "operator", "<", "(", "ptr", ")"], "gngggg"),
    ([" fcmp", " olt", " <", "4", " x", " float", ">"], "gggdggg"),
    (["", " ret", " void", "", ""], "ggggg"),
]


@pytest.mark.parametrize(("pieces", "kinds"), CASES)
def test_kinds(pieces: list[str], kinds: str) -> None:
    assert "".join("gnd"[kind] for kind in token_kinds(pieces)) == kinds


def test_of_a_real_tokenizer() -> None:
    """Whatever its pieces are: what stands in names is names, and the rest is not."""
    statement = "call void @cblas_dgemm(i32 %, double 1.000000e+00, ptr %)"
    tokenizer = train_tokenizer([statement, "ret i32 0"] * 3, TokenizerConfig(vocab_size=256))
    pieces = tokenizer.pieces(tokenizer.encode(statement))
    by_kind = ["", "", ""]
    for piece, kind in zip(pieces, token_kinds(pieces), strict=True):
        by_kind[kind] += piece
    assert by_kind == ["call void @(i32 %, double, ptr %)", "cblas_dgemm", " 1.000000e+00"]
