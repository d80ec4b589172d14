"""A function as a module of its own: what it needs is there, what others need is not, and it still is that function."""

from pathlib import Path

import pytest
from ir_views import instructions_of

from mirenc.base.errors import IRParseError
from mirenc.llvm import parse_ir, read_ir
from mirenc.llvm.passes.extract import extract_functions, without_size_attributes

FIXTURES = Path(__file__).parents[2] / "fixtures"
MODULE = """\
; ModuleID = 'a.c'
source_filename = "a.c"
target triple = "x86_64-pc-linux-gnu"

%struct.pair = type { i32, %struct.inner }
%struct.inner = type { i64 }
%struct.unused = type { i8 }

$shared = comdat any

@count = internal global i32 7, align 4
@table = internal constant [2 x ptr] [ptr @helper, ptr @shared], align 8
@text = private unnamed_addr constant [13 x i8] c"@main, #9 %x\\00", align 1
@lonely = global i32 0
@other = alias i32 (i32), ptr @helper
@number = internal alias i32, ptr @count

; Function Attrs: minsize optsize
define dso_local i32 @main(ptr noundef %0) #0 {
  %2 = load i32, ptr @count, align 4, !tbaa !3
  %3 = call i32 @helper(i32 noundef %2) #2
  %4 = getelementptr inbounds %struct.pair, ptr %0, i32 0, i32 1
  %5 = call i32 @other(i32 3)
  %6 = load i32, ptr @number, align 4
  store ptr @text, ptr %4, align 8
  ret i32 %3
}

define internal i32 @helper(i32 noundef %0) #1 personality ptr @shared {
  %2 = load ptr, ptr @table, align 8
  ret i32 %0
}

define linkonce_odr void @shared() comdat {
  ret void
}

attributes #0 = { minsize optsize "key"=" minsize" }
attributes #1 = { nounwind optsize }
attributes #2 = { minsize optsize }

!llvm.module.flags = !{!0}
!llvm.ident = !{!1}

!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{!"clang"}
!2 = !{!"unused"}
!3 = !{!4, !4, i64 0}
!4 = !{!"int", !5, i64 0}
!5 = !{!"root"}
"""


def test_a_function_takes_what_it_reaches_and_nothing_else() -> None:
    modules = dict(extract_functions(MODULE))
    assert list(modules) == ["main", "helper", "shared"]
    assert modules["helper"] == (
        'target triple = "x86_64-pc-linux-gnu"\n'
        "@table = internal constant [2 x ptr] [ptr @helper, ptr @shared], align 8\n"
        "define dso_local i32 @helper(i32 noundef %0) #1 personality ptr @shared {\n"
        "  %2 = load ptr, ptr @table, align 8\n"
        "  ret i32 %0\n"
        "}\n"
        "declare void @shared()\n"
        "attributes #1 = { nounwind optsize }\n"
        "!llvm.module.flags = !{!0}\n"
        '!0 = !{i32 8, !"PIC Level", i32 2}\n'
    )
    main = modules["main"].splitlines()
    assert "@count = external dso_local global i32, align 4" in main
    assert '@text = private unnamed_addr constant [13 x i8] c"@main, #9 %x\\00", align 1' in main
    assert "declare i32 @other(i32)" in main
    assert "@number = external dso_local global i32" in main
    assert "declare dso_local i32 @helper(i32 noundef %0) #1" in main
    assert "%struct.inner = type { i64 }" in main
    assert '!5 = !{!"root"}' in main
    for absent in ("@table", "@lonely", "struct.unused", "comdat", "unused", "clang", "a.c"):
        assert absent not in modules["main"]
    for module in modules.values():
        assert len(parse_ir(module).defined_functions) == 1


def test_what_takes_another_functions_block_is_left_out_or_only_declared() -> None:
    text = """\
@jumps = internal constant [1 x ptr] [ptr blockaddress(@jumper, %1)]
define ptr @jumper() {
  %p = load ptr, ptr @jumps
  indirectbr ptr %p, [label %1]
1:
  ret ptr null
}
define ptr @looker() {
  %p = load ptr, ptr @jumps
  ret ptr %p
}
define ptr @thief() {
  ret ptr blockaddress(@jumper, %1)
}
"""
    modules = dict(extract_functions(text))
    assert list(modules) == ["jumper", "looker"]
    assert "blockaddress" in modules["jumper"]
    assert "@jumps = external dso_local constant [1 x ptr]\n" in modules["looker"]
    assert [len(parse_ir(module).defined_functions) for module in modules.values()] == [1, 1]


def test_typed_pointers_and_functions_of_them() -> None:
    text = """\
@handler = internal global void (i8*, [2 x i32]*)* null, section "a, align 99", align 8
@name = alias i8* (i32*), i8* (i32*)* @target
define i8* @target(i32* %0) {
  ret i8* null
}
define i8* @user() {
  %1 = load void (i8*, [2 x i32]*)*, void (i8*, [2 x i32]*)** @handler
  %2 = call i8* @name(i32* null)
  ret i8* %2
}
"""
    user = dict(extract_functions(text))["user"].splitlines()
    assert user[0] == "@handler = external dso_local global void (i8*, [2 x i32]*)*, align 8"
    assert user[1] == "declare i8* @name(i32*)"


@pytest.mark.parametrize(
    "path", sorted((FIXTURES / "ir").glob("*/O0/*.ll")), ids=lambda path: "-".join(path.parts[-3:])
)
def test_every_function_of_real_modules_stays_itself(path: Path) -> None:
    if path.match("clang-14/*/*") and path.stem in {"functions", "system"}:
        pytest.skip("LLVM 22 refuses such old text")
    original = read_ir(path)
    modules = dict(extract_functions(original.text))
    defined = original.defined_functions
    assert sorted(modules) == sorted(function.name for function in defined)
    for function in defined[:3]:
        alone = parse_ir(modules.get(function.name) or modules[f'"{function.name}"'])
        (itself,) = alone.defined_functions
        assert itself.name == function.name
        opcodes = [instruction.opcode for instruction in instructions_of(itself)]
        assert opcodes == [instruction.opcode for instruction in instructions_of(function)]


def test_size_attributes_go_and_nothing_else() -> None:
    plain = without_size_attributes(MODULE)
    assert 'attributes #0 = { "key"=" minsize" }' in plain
    assert "attributes #1 = { nounwind }" in plain
    # An empty group is an error for LLVM, so it goes with its uses.
    assert "#2" not in plain
    assert "call i32 @helper(i32 noundef %2)\n" in plain
    assert 'c"@main, #9 %x\\00"' in plain
    assert without_size_attributes(plain) == plain
    parse_ir(plain)
    assert without_size_attributes("declare void @f() minsize nounwind\n") == "declare void @f() nounwind\n"


def test_a_function_without_end_is_an_error() -> None:
    with pytest.raises(IRParseError, match=r"'define void @f\(\) \{' has no end"):
        list(extract_functions("define void @f() {\n  ret void\n"))
