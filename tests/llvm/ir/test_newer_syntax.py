"""Syntax that LLVM 20 to 23 brought, one small module each: read, or refused by a message that names what is new."""

import re
from pathlib import Path

import pytest

from mirenc.base.errors import IRParseError
from mirenc.llvm import parse_ir
from mirenc.llvm.ir.float_literals import older_literals

SYNTAX = Path(__file__).resolve().parents[2] / "fixtures" / "ir" / "syntax"
ARGUMENTS = "ptr %p, ptr %q, i32 %i, i32 %j, i64 %l, float %x, float %y, double %d, "
ARGUMENTS += "<4 x i32> %v, <4 x float> %w, <4 x i1> %m, i1 %b"


def modules(name: str) -> list[object]:
    """The heading and the module of each entry of a file."""
    parameters = []
    for entry in re.split("^;; ", (SYNTAX / name).read_text(), flags=re.MULTILINE)[1:]:
        heading, body = entry.split("\n", 1)
        if not re.search("^define ", body, re.MULTILINE):
            body = f"define void @f({ARGUMENTS}) {{\n{body}ret void\n}}\n!0 = !{{}}\n"
        parameters.append(pytest.param(heading, body, id=heading))
    assert len({one.id for one in parameters}) == len(parameters)
    return parameters


READ, NEWER = modules("llvm20_to_22.txt"), modules("llvm23_and_later.txt")


def test_there_are_more_than_200() -> None:
    assert len(READ) + len(NEWER) > 200


@pytest.fixture(autouse=True)
def no_other_llvm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.parametrize(("heading", "text"), READ)
def test_what_llvm_20_to_22_brought_is_read(heading: str, text: str, caplog: pytest.LogCaptureFixture) -> None:
    assert parse_ir(text).instruction_count > 0
    assert bool(caplog.records) == heading.endswith("which LLVM 22 crashes on")


@pytest.mark.parametrize(("heading", "text"), NEWER)
def test_what_is_newer_is_read_or_refused_by_name(heading: str, text: str, caplog: pytest.LogCaptureFixture) -> None:
    version, word = heading.split(" ")[:2]
    if word == "read":
        assert parse_ir(text).instruction_count > 0
        warnings = " ".join(record.getMessage() for record in caplog.records)
        assert "left out" in warnings or re.search("literal|metadata|in quotes|that is declared", heading)
        return
    with pytest.raises(IRParseError) as caught:
        parse_ir(text, name="x.ll")
    message = str(caught.value)
    assert message.startswith("x.ll: line ")
    assert re.search(rf"'{re.escape(word)}\b", message)
    if re.search("brand|byte", word):
        assert "another LLVM wrote it: put its clang or opt on PATH (as clang-23)" in message
    else:
        assert f"is of LLVM {version}; this mirenc reads LLVM 10 to 22. Put a clang or opt of LLVM {version}" in message


BODY = "define float @f(i32 %i, ptr %p) {\n  %r = sitofp i32 %i to float\n  store float %r, ptr %p\n  ret float %r\n}\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sitofp i32", "sitofp nnan ninf i32"),
        ("i32 %i, ptr", "i32 brand_new(1, x(2)) %i, ptr other_new"),
        (") {", ") brand_new other_new(3) {"),
        ("define float", "define brand_new float"),
        ("store float", "store brand_new float"),
    ],
)
def test_without_what_is_unknown_it_is_the_module_without_it(old: str, new: str) -> None:
    assert parse_ir(BODY.replace(old, new)).content_hash == parse_ir(BODY).content_hash


# Bits by hand: 3.14 in a float is 0x4048F5C3, whose 8 bits of exponent become 11 and 23 of mantissa 52.
@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("float 3.140000e+00", "float 0x40091EB860000000"),
        ("float f0x4048F5C3", "float 0x40091EB860000000"),
        ("float 0x1.8p+1", "float 0x4008000000000000"),
        ("float -inf", "float 0xFFF0000000000000"),
        ("float +qnan", "float 0x7FF8000000000000"),
        ("float -snan(0x1)", "float 0xFFF0000020000000"),
        ("float 1.401298e-45", "float 0x36A0000000000000"),  # the smallest
        ("float -0.0", "float 0x8000000000000000"),
        ("double 0.1", "double 0x3FB999999999999A"),
        ("double +nan(0x123)", "double 0x7FF8000000000123"),
        ("half 1.0", "half 0xH3C00"),
        ("half 65504.0", "half 0xH7BFF"),  # the largest
        ("bfloat f0x3F81", "bfloat 0xR3F81"),
        ("x86_fp80 -1.5", "x86_fp80 0xKBFFFC000000000000000"),
        ("x86_fp80 f0x3FFFC000000000000001", "x86_fp80 0xK3FFFC000000000000001"),
        ("x86_fp80 +inf", "x86_fp80 0xK7FFF8000000000000000"),
        ("fp128 1.5", "fp128 0xL00000000000000003FFF800000000000"),
        ("fp128 +qnan", "fp128 0xL00000000000000007FFF800000000000"),
        ("ppc_fp128 +inf", "ppc_fp128 +inf"),
        ("float %x, +inf", "float %x, 0x7FF0000000000000"),
        ('c"float 0.1" float @"+inf" %f0x1 ; 0.1', 'c"float 0.1" float @"+inf" %f0x1 ; 0.1'),
        ("%half.1 = load i32, ptr %f.2.5", "%half.1 = load i32, ptr %f.2.5"),
    ],
)
def test_literals_are_the_same_numbers(newer: str, older: str) -> None:
    assert older_literals(newer) == older


@pytest.mark.parametrize("kind", ["half", "bfloat", "float", "double", "x86_fp80", "fp128"])
@pytest.mark.parametrize("number", ["1.5", "-2.0", "0.0", "+inf", "-inf", "+qnan", "0x1.8p-3"])
def test_llvm_reads_them(kind: str, number: str) -> None:
    text = f"define {kind} @f({kind} %x) {{\n  %r = fadd {kind} %x, {number}\n  ret {kind} %r\n}}\n"
    assert parse_ir(text).instruction_count == 2


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("float 1.0e99999999", "float 0x7FF0000000000000"),
        ("double -0x1p-9999999999", "double 0x8000000000000000"),
        ("float 0.0e99999999999", "float 0x0000000000000000"),
    ],
)
def test_an_exponent_far_out_of_range_is_not_computed(newer: str, older: str) -> None:
    assert older_literals(newer) == older
