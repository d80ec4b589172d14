"""Old text: what is mended, what is handed to an older clang, and what the advice says."""

from pathlib import Path

import pytest
from ir_views import instructions_of

from mirenc.base.errors import IRParseError
from mirenc.llvm import parse_ir
from mirenc.llvm.inputs.other_llvm import lower_by_other_llvm
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
    assert [argument.type for argument in function.header.arguments] == ["ptr", "i32"]


def test_byval_with_a_type_is_left_alone() -> None:
    text = "define void @f(ptr byval(i32) align 4 %p) { ret void }"
    assert modernise(text) is text


def test_inrange_index_is_dropped() -> None:
    (instruction,) = instructions_of(parse_ir(INRANGE).functions[0])
    assert instruction.operands[0].text == "getelementptr inbounds ({ [3 x ptr] }, ptr @table, i32 0, i32 0, i32 2)"


def test_types_and_layouts_that_llvm_dropped_are_what_bitcode_has() -> None:
    old = """target datalayout = "e-p:64:64-S0"
define x86_mmx @f(x86_mmx %x, ptr %x86_mmx) {
  store x86_mmx %x, ptr %x86_mmx
  ret x86_mmx %x
}
"""
    new = old.replace("-S0", "").replace(" x86_mmx", " <1 x i64>").replace("(x86_mmx", "(<1 x i64>")
    assert parse_ir(old).content_hash == parse_ir(new).content_hash


def test_lines_stay_in_place() -> None:
    assert modernise(BYVAL + INRANGE).count("\n") == (BYVAL + INRANGE).count("\n")


@pytest.mark.needs("clang-15 to 18")
def test_dropped_constant_expression_goes_through_an_older_clang() -> None:
    opcodes = [instruction.opcode for instruction in instructions_of(parse_ir(OLD_CONSTANT).functions[0])]
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


COROUTINE = """
define void @f(ptr %frame) presplitcoroutine {
  %id = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)
  %h = call ptr @llvm.coro.begin(token %id, ptr %frame)
  END
  br i1 %r, label %resumed, label %ramp
resumed:
  ret void
ramp:
  ret void
}
declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare ptr @llvm.coro.begin(token, ptr)
declare DECLARED
"""
OLD_ENDS = [("i1 @llvm.coro.end(ptr %h, i1 false, token none)", "i1 @llvm.coro.end(ptr, i1, token)")]
OLD_ENDS += [("i1 @llvm.coro.end(ptr %h, i1 false)", "i1 @llvm.coro.end(ptr, i1)")]  # before LLVM 18
OLD_ENDS += [("i1 (ptr, i1, ...) @llvm.coro.end(ptr %h, i1 false)", "i1 @llvm.coro.end(ptr, i1, ...)")]


@pytest.mark.parametrize("name", ["r", '"a b"'])
@pytest.mark.parametrize(("end", "declared"), OLD_ENDS, ids=["LLVM 18 to 21", "before LLVM 18", "any number"])
def test_value_of_a_coroutine_end_is_whether_it_is_not_in_the_ramp(end: str, declared: str, name: str) -> None:
    text = COROUTINE.replace("END", f"%r = call {end}").replace("DECLARED", declared)
    read = parse_ir(text.replace("%r ", f"%{name} ").replace("%r,", f"%{name},"))
    instructions = {instruction.result: instruction for instruction in instructions_of(read.functions[0])}
    instructions["r"] = instructions[name.strip('"')]
    in_ramp = instructions["r"].operands[0].text
    assert instructions["r"].opcode == "xor"
    assert instructions["r"].operands[1].text == "true"
    assert "@llvm.coro.is_in_ramp()" in instructions[in_ramp.strip('%"')].text
    assert "call void @llvm.coro.end(ptr %h, i1 false, token none)" in read.text


@pytest.mark.needs("clang-19")
def test_coroutine_of_an_older_clang_is_the_same_as_text_and_bitcode(tmp_path: Path) -> None:
    source = tmp_path / "coroutine.ll"
    source.write_text(COROUTINE.replace("END", "%r = call " + OLD_ENDS[0][0]).replace("DECLARED", OLD_ENDS[0][1]))
    lowered = lower_by_other_llvm(source.read_bytes())
    assert lowered is not None
    statements = [
        [instruction.statement for instruction in instructions_of(parse_ir(ir).functions[0])]
        for ir in (lowered[0], source.read_bytes())
    ]
    assert statements[0] == statements[1]
