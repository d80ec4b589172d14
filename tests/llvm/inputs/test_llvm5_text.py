"""`as_llvm5`: each rule by an example, and what it must leave alone."""

import pytest
from ir_views import instructions_of

from mirenc.llvm import parse_ir
from mirenc.llvm.inputs.llvm5_text import as_llvm5


def respelled(arguments: str, body: str) -> list[str]:
    """Instructions of a function after LLVM has read the new spelling."""
    lines = "".join(line if line.endswith(":\n") else f"  {line.lstrip()}" for line in body.splitlines(keepends=True))
    text = f"define i64 @f({arguments}) {{\n{lines}}}\n"
    parse_ir(text)
    (function,) = parse_ir(as_llvm5(text)).functions
    return [instruction.text for instruction in instructions_of(function)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%r = fneg float %x", "%r = fsub float -0.000000e+00, %x"),
        ("%r = fneg nnan float %x", "%r = fsub nnan float -0.000000e+00, %x"),
        ("%r = fneg <2 x float> %v", "%r = fsub <2 x float> splat (float -0.000000e+00), %v"),
        ("%r = select i1 %c, i1 %d, i1 false", "%r = and i1 %c, %d"),
        ("%r = select i1 %c, i1 true, i1 %d", "%r = or i1 %c, %d"),
        ("%r = select i1 %c, i1 false, i1 %d", "%r = select i1 %c, i1 false, i1 %d"),
        ("%r = zext nneg i32 %n to i64", "%r = zext i32 %n to i64"),
        ("%r = or disjoint i32 %n, 1", "%r = or i32 %n, 1"),
        ("%r = icmp samesign ult i32 %n, 1", "%r = icmp ult i32 %n, 1"),
        ("%r = getelementptr inbounds nuw i8, ptr %p, i64 8", "%r = getelementptr inbounds i8, ptr %p, i64 8"),
        ("%r = trunc nuw nsw i32 %n to i8", "%r = trunc i32 %n to i8"),
        (
            "%r = insertelement <2 x float> poison, float %x, i32 0",
            "%r = insertelement <2 x float> undef, float %x, i32 0",
        ),
        ("%r = trunc nuw i32 %n to i8", "%r = trunc i32 %n to i8"),
    ],
)
def test_an_instruction_is_respelled(line: str, expected: str) -> None:
    arguments = "float %x, <2 x float> %v, i1 %c, i1 %d, i32 %n, ptr %p"
    assert respelled(arguments, f"  {line}\n  ret i64 0\n")[0] == expected


COPY = "%v = load double, ptr %p, align 8\nstore double %v, ptr %q, align 8\n"
COUNTER = """%rest = and i64 %n, 3
{end}
br label %loop
loop:
%i = phi i64 [ 0, %entry ], [ %i4, %loop ]
%k = phi i64 [ {start}, %entry ], [ %k4, %loop ]
%a = getelementptr i8, ptr %p, i64 %i
store i8 0, ptr %a, align 1
%i4 = add {flags} i64 %i, 4
%k4 = add i64 %k, {step}
%done = icmp eq i64 %k4, {limit}
br i1 %done, label %out, label %loop
out:
ret i64 %rest
"""
INDEX = """br label %loop
loop:
%k = phi i64 [ 0, %entry ], [ %k1, %loop ]
%a = getelementptr i8, ptr %p, i64 %k
%k1 = add i64 %k, 1
%done = icmp eq i64 %k1, %n
br i1 %done, label %out, label %loop
out:
ret i64 0
"""
MASKS = "%low = and i64 %n, 3\n%odd = and i64 %n, 20\n%r = add i64 %low, %odd\n"
# Instructions, and how LLVM 5 would have written them.
RULES = {
    "a copied double travels as an integer": (
        COPY,
        """%mirenc.v = bitcast ptr %p to ptr
%v = load i64, ptr %mirenc.v, align 8
%mirenc.v.0 = bitcast ptr %q to ptr
store i64 %v, ptr %mirenc.v.0, align 8
""",
    ),
    "a double that is computed with stays one": (f"{COPY}%w = fadd double %v, %v\n",) * 2,
    "sign extension of a low half": (
        "%t = trunc i64 %n to i32\n%s = sext i32 %t to i64\n",
        "%mirenc.s = shl i64 %n, 32\n%s = ashr exact i64 %mirenc.s, 32\n",
    ),
    "a sum of a low half is wide, and a cast is compared second": (
        "%t = trunc i64 %n to i32\n%s = add i32 %t, 1\n%m = add nsw i32 %x, -2\n%c = icmp sgt i32 %s, %m\n",
        """%mirenc.s = add i64 %n, 1
%s = trunc i64 %mirenc.s to i32
%m = add nsw i32 %x, -2
%c = icmp slt i32 %m, %s
""",
    ),
    "the counter of an unrolled loop goes down": (
        COUNTER.format(end="%end = and i64 %n, -4", start="0", flags="nuw nsw", step="4", limit="%end"),
        COUNTER.format(end="%end = sub nsw i64 %n, %rest", start="%end", flags="nsw", step="-4", limit="0"),
    ),
    "a counter that is an index goes up": (INDEX, INDEX),
    "a mask that is no remainder stays": (MASKS, MASKS),
}


@pytest.mark.parametrize(("body", "expected"), RULES.values(), ids=RULES)
def test_a_rule_respells_several_instructions(body: str, expected: str) -> None:
    body = "entry:\n" + body + "ret i64 0\n" * ("ret " not in body)
    lines = respelled("ptr %p, ptr %q, i64 %n, i32 %x", body)
    assert lines == [
        line for line in (expected + "ret i64 0\n" * ("ret " not in expected)).splitlines() if line[-1] != ":"
    ]


LOW_HALF = "  %h = shl i64 %i, 32\n  %o = ashr exact i64 %h, 30\n"
ARRAY = "  %row = getelementptr inbounds [9 x [5 x double]], ptr %a, i64 %i, i64 %j\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            "  %p = getelementptr inbounds i8, ptr %a, i64 12\n  store float 0.0, ptr %p\n",
            "getelementptr inbounds float, ptr %a, i64 3",
        ),
        (
            ARRAY + "  %p = getelementptr inbounds i8, ptr %row, i64 16\n  store double 0.0, ptr %p\n",
            "getelementptr inbounds [9 x [5 x double]], ptr %a, i64 %i, i64 %j, i64 2",
        ),
        (
            ARRAY + "  %p = getelementptr inbounds i8, ptr %row, i64 16\n  store float 0.0, ptr %p\n",
            "getelementptr inbounds float, ptr %row, i64 4",
        ),
        (
            "  %o = shl nsw i64 %i, 3\n  %p = getelementptr i8, ptr %a, i64 %o\n  store double 0.0, ptr %p\n",
            "getelementptr inbounds double, ptr %a, i64 %i",
        ),
        (
            LOW_HALF + "  %p = getelementptr inbounds i8, ptr %a, i64 %o\n  %v = load i32, ptr %p\n",
            "getelementptr inbounds i32, ptr %a, i64 %mirenc.o",
        ),
        (
            "  %p = getelementptr inbounds i8, ptr %a, i64 3\n  store float 0.0, ptr %p\n",
            "getelementptr inbounds i8, ptr %a, i64 3",
        ),
        (
            "  %p = getelementptr inbounds i8, ptr %a, i64 4\n  store i8 0, ptr %p\n",
            "getelementptr inbounds i8, ptr %a, i64 4",
        ),
    ],
)
def test_a_byte_offset_is_an_element(lines: str, expected: str) -> None:
    text = respelled("ptr %a, i64 %i, i64 %j", lines + "  ret i64 0\n")
    assert f"%p = {expected}" in text
    assert ("%mirenc.o = ashr exact i64 %h, 32" in text) == ("%mirenc.o" in expected)
