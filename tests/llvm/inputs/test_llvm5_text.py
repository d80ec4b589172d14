"""`as_llvm5`: each rule by an example, and what it must leave alone."""

import pytest

from mirenc.llvm import parse_ir
from mirenc.llvm.inputs.llvm5_text import as_llvm5


def respelled(arguments: str, body: str) -> list[str]:
    """Instructions of a function after LLVM has read the new spelling."""
    text = f"define i64 @f({arguments}) {{\n{body}}}\n"
    parse_ir(text)
    (function,) = parse_ir(as_llvm5(text)).functions
    return [instruction.text for instruction in function.instructions]


@pytest.mark.parametrize(
    ("line", "wanted"),
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
def test_one_instruction(line: str, wanted: str) -> None:
    arguments = "float %x, <2 x float> %v, i1 %c, i1 %d, i32 %n, ptr %p"
    assert respelled(arguments, f"  {line}\n  ret i64 0\n")[0] == wanted


def test_a_copied_double_travels_as_an_integer() -> None:
    body = "  %v = load double, ptr %p, align 8\n  store double %v, ptr %q, align 8\n  ret i64 0\n"
    assert respelled("ptr %p, ptr %q", body) == [
        "%mirenc.v = bitcast ptr %p to ptr",
        "%v = load i64, ptr %mirenc.v, align 8",
        "%mirenc.v.0 = bitcast ptr %q to ptr",
        "store i64 %v, ptr %mirenc.v.0, align 8",
        "ret i64 0",
    ]


def test_a_double_that_is_computed_with_stays_one() -> None:
    copy = "  %v = load double, ptr %p, align 8\n  store double %v, ptr %q, align 8\n"
    body = copy + "  %w = fadd double %v, %v\n  ret i64 0\n"
    assert respelled("ptr %p, ptr %q", body)[:2] == [
        "%v = load double, ptr %p, align 8",
        "store double %v, ptr %q, align 8",
    ]


def test_sign_extension_of_a_low_half() -> None:
    body = "  %t = trunc i64 %x to i32\n  %s = sext i32 %t to i64\n  ret i64 %s\n"
    assert respelled("i64 %x", body) == [
        "%mirenc.s = shl i64 %x, 32",
        "%s = ashr exact i64 %mirenc.s, 32",
        "ret i64 %s",
    ]


def test_a_sum_of_a_low_half_is_wide_and_a_cast_is_compared_second() -> None:
    body = (
        "  %t = trunc i64 %x to i32\n  %s = add i32 %t, 1\n  %m = add nsw i32 %n, -2\n  %c = icmp sgt i32 %s, %m\n"
        "  %r = sext i1 %c to i64\n  ret i64 %r\n"
    )
    assert respelled("i64 %x, i32 %n", body)[:4] == [
        "%mirenc.s = add i64 %x, 1",
        "%s = trunc i64 %mirenc.s to i32",
        "%m = add nsw i32 %n, -2",
        "%c = icmp slt i32 %m, %s",
    ]


def test_the_counter_of_an_unrolled_loop_goes_down() -> None:
    body = (
        "entry:\n  %rest = and i64 %n, 3\n  %end = and i64 %n, -4\n  br label %loop\n"
        "loop:\n  %i = phi i64 [ 0, %entry ], [ %i4, %loop ]\n  %k = phi i64 [ 0, %entry ], [ %k4, %loop ]\n"
        "  %p = getelementptr i8, ptr %a, i64 %i\n  store i8 0, ptr %p, align 1\n"
        "  %i4 = add nuw nsw i64 %i, 4\n  %k4 = add i64 %k, 4\n  %c = icmp eq i64 %k4, %end\n"
        "  br i1 %c, label %out, label %loop\nout:\n  ret i64 %rest\n"
    )
    assert respelled("ptr %a, i64 %n", body) == [
        "%rest = and i64 %n, 3",
        "%end = sub nsw i64 %n, %rest",
        "br label %loop",
        "%i = phi i64 [ 0, %entry ], [ %i4, %loop ]",
        "%k = phi i64 [ %end, %entry ], [ %k4, %loop ]",
        "%p = getelementptr i8, ptr %a, i64 %i",
        "store i8 0, ptr %p, align 1",
        "%i4 = add nsw i64 %i, 4",
        "%k4 = add i64 %k, -4",
        "%c = icmp eq i64 %k4, 0",
        "br i1 %c, label %out, label %loop",
        "ret i64 %rest",
    ]


def test_a_counter_that_is_an_index_goes_up() -> None:
    body = (
        "entry:\n  br label %loop\nloop:\n  %k = phi i64 [ 0, %entry ], [ %k1, %loop ]\n"
        "  %p = getelementptr i8, ptr %a, i64 %k\n  %k1 = add i64 %k, 1\n  %c = icmp eq i64 %k1, %n\n"
        "  br i1 %c, label %out, label %loop\nout:\n  ret i64 0\n"
    )
    assert "%k1 = add i64 %k, 1" in respelled("ptr %a, i64 %n", body)


def test_a_mask_that_is_no_remainder_stays() -> None:
    body = "  %low = and i64 %x, 3\n  %odd = and i64 %x, 20\n  %r = add i64 %low, %odd\n  ret i64 %r\n"
    assert "%odd = and i64 %x, 20" in respelled("i64 %x", body)


LOW_HALF = "  %h = shl i64 %i, 32\n  %o = ashr exact i64 %h, 30\n"
ARRAY = "  %row = getelementptr inbounds [9 x [5 x double]], ptr %a, i64 %i, i64 %j\n"


@pytest.mark.parametrize(
    ("lines", "wanted"),
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
def test_a_byte_offset_is_an_element(lines: str, wanted: str) -> None:
    found = respelled("ptr %a, i64 %i, i64 %j", lines + "  ret i64 0\n")
    assert f"%p = {wanted}" in found
    assert ("%mirenc.o = ashr exact i64 %h, 32" in found) == ("%mirenc.o" in wanted)
