"""Old text: what is mended, what is handed to an older clang, and what the advice says."""

import pytest

from mirenc.base.errors import IRParseError
from mirenc.llvm import parse_ir
from mirenc.llvm.ir.old_text import modernise

BYVAL = """
%struct.s = type { i32, i64 }
define i32 @f(%struct.s* byval nocapture readonly align 8 %p, i32 %x) {
  %a = getelementptr %struct.s, %struct.s* %p, i32 0, i32 0
  %v = load i32, i32* %a
  ret i32 %v
}
"""
INRANGE = """
@table = global { [3 x ptr] } zeroinitializer
define ptr @f() {
  ret ptr getelementptr inbounds ({ [3 x ptr] }, ptr @table, i32 0, inrange i32 0, i32 2)
}
"""
OLD_CONSTANT = """
@weak = extern_weak global i32
define i1 @f() {
  ret i1 icmp ne (ptr @weak, ptr null)
}
"""
BEFORE_3_7 = """
define i32 @f(i32* %p) {
  %v = load i32* %p
  ret i32 %v
}
"""


def test_bare_byval_gets_its_type() -> None:
    assert "%struct.s* byval(%struct.s) nocapture readonly align 8 %p" in modernise(BYVAL)
    (function,) = parse_ir(BYVAL).functions
    assert [argument.type for argument in function.arguments] == ["ptr", "i32"]


def test_byval_with_a_type_is_left_alone() -> None:
    text = "define void @f(ptr byval(i32) align 4 %p) { ret void }"
    assert modernise(text) is text


def test_inrange_index_is_dropped() -> None:
    (instruction,) = parse_ir(INRANGE).functions[0].instructions
    assert instruction.operands[0].text == "getelementptr inbounds ({ [3 x ptr] }, ptr @table, i32 0, i32 0, i32 2)"


def test_lines_stay_in_place() -> None:
    assert modernise(BYVAL + INRANGE).count("\n") == (BYVAL + INRANGE).count("\n")


@pytest.mark.needs("clang-15 to 18")
def test_dropped_constant_expression_goes_through_an_older_clang() -> None:
    opcodes = [instruction.opcode for instruction in parse_ir(OLD_CONSTANT).functions[0].instructions]
    assert opcodes == ["icmp", "ret"]


def test_dropped_constant_expression_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(IRParseError, match="Put the clang that wrote it on PATH") as caught:
        parse_ir(OLD_CONSTANT, name="old.ll")
    assert (caught.value.line, str(caught.value).startswith("old.ll: line 4, ")) == (4, True)
    assert "^" in caught.value.diagnostic


def test_text_before_3_7_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(IRParseError, match=r"LLVM 3\.6 or older"):
        parse_ir(BEFORE_3_7)
