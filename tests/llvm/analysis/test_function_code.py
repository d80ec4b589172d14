"""When a function is the same: every change of the code is seen, and no change of a name or of metadata."""

from pathlib import Path

import pytest
from rewrite_ir import odd_name, rename_locals, without_metadata

from mirenc.llvm import parse_ir, read_ir
from mirenc.llvm.analysis.function_code import FunctionCode, codes_of

IR = Path(__file__).parents[2] / "fixtures" / "ir" / "clang-19"
FILES = [IR / "O2" / "sorting.ll", IR / "O0" / "exceptions.ll", IR / "O2" / "exceptions.ll", IR / "O2" / "numeric.ll"]

SOURCE = """
%pair = type { i32, %inner }
%inner = type { i32, i64 }
@.str = private unnamed_addr constant [3 x i8] c"no\\00"
@.str.1 = private unnamed_addr constant [3 x i8] c"hi\\00"
@words = private unnamed_addr constant [2 x ptr] [ptr @.str, ptr @.str.1]
@calls = private unnamed_addr constant [1 x ptr] [ptr @one]
@limit = global i32 10, align 4
@other = global i32 10, align 4
@jumps = internal constant [2 x ptr] [ptr blockaddress(@jumping, %a), ptr blockaddress(@jumping, %b)]
declare void @one(ptr)
declare void @two(ptr)
declare i32 @llvm.smax.i32(i32, i32)
define i32 @f(i32 %x, i32 noundef %y, ptr %p) #0 {
entry:
  %sum = add nsw i32 %x, 8
  %less = sub i32 %sum, %y
  %flag = icmp slt i32 %less, %x
  br i1 %flag, label %then, label %else
then:
  %at = getelementptr inbounds %pair, ptr %p, i64 0, i32 1
  store volatile i32 %less, ptr %at, align 4, !tbaa !0
  call void @one(ptr @.str.1) #1
  br label %else
else:
  %kept = phi i32 [ %sum, %entry ], [ %less, %then ]
  %value = load i32, ptr @limit, align 4
  %word = load ptr, ptr @words, align 8
  %call = load ptr, ptr @calls, align 8
  %both = add i32 %kept, %value
  %most = call i32 @llvm.smax.i32(i32 %both, i32 3)
  ret i32 %most
}
define void @jumping(i64 %n) {
  %place = getelementptr [2 x ptr], ptr @jumps, i64 0, i64 %n
  %target = load ptr, ptr %place
  indirectbr ptr %target, [label %a, label %b]
a:
  ret void
b:
  call void @one(ptr null)
  ret void
}
attributes #0 = { nounwind memory(argmem: readwrite) "frame-pointer"="all" }
attributes #1 = { cold }
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2}
!2 = !{!"root"}
"""


def codes(text: str) -> dict[str, FunctionCode]:
    module = parse_ir(text)
    return {one.name: code for one, code in zip(module.defined_functions, codes_of(module), strict=True)}


def differing(old: FunctionCode, new: FunctionCode) -> list[str]:
    return [name for name in FunctionCode._fields if getattr(old, name) != getattr(new, name)]


@pytest.mark.parametrize(
    ("before", "after", "differ"),
    [
        # Instructions.
        ("%x, 8", "%x, 9", "statements"),
        ("sub i32 %sum, %y", "sub i32 %y, %sum", "operands"),
        ("%then, label %else", "%else, label %then", "operands"),
        ("icmp slt", "icmp sle", "statements"),
        ("add nsw", "add", "statements"),
        ("getelementptr inbounds", "getelementptr", "statements"),
        ("store volatile", "store", "statements"),
        ("ptr %at, align 4", "ptr %at, align 2", "statements"),
        (
            "store volatile i32 %less, ptr %at, align 4",
            "store atomic i32 %less, ptr %at release, align 4",
            "statements",
        ),
        ("[ %sum, %entry ], [ %less, %then ]", "[ %less, %entry ], [ %sum, %then ]", "operands"),
        ("add i32 %kept, %value", "add i32 %kept, %value\n  fence seq_cst", "statements"),
        ("add i32 %kept, %value", "add i32 %value, %kept", "operands"),
        # What stands elsewhere in the file.
        ("%inner = type { i32, i64 }", "%inner = type { i64, i64 }", "statements"),
        ('c"hi\\00"', 'c"ho\\00"', "statements"),  # and by way of @words
        ("[ptr @.str, ptr @.str.1]", "[ptr @.str.1, ptr @.str]", "statements"),
        ("[1 x ptr] [ptr @one]", "[1 x ptr] [ptr @two]", "functions"),
        ("@limit = global i32 10", "@limit = global i32 11", "globals"),
        ("@limit = global i32 10", "@limit = constant i32 10", "globals"),
        ("ptr @limit", "ptr @other", "statements globals"),
        ("call void @one(ptr @.str.1)", "call void @two(ptr @.str.1)", "functions"),
        ("llvm.smax", "llvm.umax", "statements"),  # an operation, and no function that is referred to
        # Attributes and the like.
        ("attributes #0 = { nounwind", "attributes #0 = { noinline nounwind", "signature"),
        ("argmem: readwrite", "argmem: read", "signature"),
        ('"frame-pointer"="all"', '"frame-pointer"="none"', "signature"),
        ("attributes #1 = { cold }", "attributes #1 = { hot }", "statements"),
        ("i32 noundef %y", "i32 %y", "signature"),
        ("i32 noundef %y, ptr %p", "i32 noundef %y, ptr noalias %p", "signature"),
        ("define i32 @f", "define fastcc i32 @f", "signature"),
        ("define i32 @f", "define internal i32 @f", "signature"),
        ("#0 {", '#0 section "fast" {', "signature"),
        ("#0 {", "#0 align 32 {", "signature"),
    ],
)
def test_a_change_of_code_changes_its_field_alone(before: str, after: str, differ: str) -> None:
    assert SOURCE.count(before) >= 1
    old, new = codes(SOURCE), codes(SOURCE.replace(before, after))
    assert differing(old["f"], new["f"]) == differ.split()
    assert old["jumping"] == new["jumping"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("%sum", "%other"),
        ("entry:", "start:"),
        ("%x", "%first"),
        ("then", "block.7"),
        ("pair", "struct.pair"),  # a type, known by its fields
        ("@.str.1 ", "@.str.77 "),
        ("@words", "@anon.0"),
        ("#1", "#5"),
        (", !tbaa !0", ""),
        ("define i32 @f", "define dso_local i32 @f"),
        ("ptr %p) #0", "ptr %p) local_unnamed_addr #0"),
        ("@f", "@g"),
        ("@f", '@"a name"'),
    ],
)
def test_names_and_metadata_change_no_code(before: str, after: str) -> None:
    text = SOURCE.replace("[ %sum, %entry ]", "[ %sum, %start ]") if before == "entry:" else SOURCE
    changed = text.replace(before, after).replace("@.str.1)", "@.str.77)" if ".77" in after else "@.str.1)")
    changed = changed.replace("@.str.1]", "@.str.77]") if ".77" in after else changed
    assert changed != SOURCE
    assert list(codes(changed).values()) == list(codes(SOURCE).values())


def test_blocks_of_a_jump_table_are_known_by_their_place() -> None:
    old = codes(SOURCE)["jumping"]
    renamed = SOURCE.replace("%a)", "%left)").replace("%a,", "%left,").replace("\na:", "\nleft:")
    assert codes(renamed)["jumping"] == old
    swapped = SOURCE.replace("@jumping, %a)", "@jumping, %c)").replace("@jumping, %b)", "@jumping, %a)")
    assert differing(codes(swapped.replace("%c)", "%b)"))["jumping"], old) == ["globals"]


def test_an_entry_without_a_label_is_an_entry() -> None:
    body = "  br label %loop\nloop:\n  %i = phi i32 [ 0, %ENTRY ], [ 1, %loop ]\n  br label %loop\n}\n"
    unnamed = codes("define void @f(i32 %0, i32 %n) {\n" + body.replace("ENTRY", "1"))["f"]
    assert codes("define void @f(i32 %m, i32 %n) {\nentry:\n" + body.replace("ENTRY", "entry"))["f"] == unnamed
    assert codes('define void @f(i32 %0, i32 %n) {\n"1":\n' + body.replace("ENTRY", '"1"'))["f"] == unnamed


def test_the_order_of_functions_and_of_variables_does_not_matter() -> None:
    start, end = SOURCE.index("define i32 @f"), SOURCE.index("define void @jumping")
    stop = SOURCE.index("attributes #0")
    swapped = SOURCE[:start] + SOURCE[end:stop] + SOURCE[start:end] + SOURCE[stop:]
    swapped = swapped.replace("@other = global i32 10, align 4\n", "").replace(
        "@limit =", "@other = global i32 1\n@limit ="
    )
    assert codes(swapped) == codes(SOURCE)


def test_constants_that_hold_each_other_and_types_that_nest_deep() -> None:
    """Neither a circle of constants nor 3,000 levels of types is too deep."""
    circle = "@a = private unnamed_addr constant ptr @b\n@b = private unnamed_addr constant ptr @a\n"
    text = "%t0 = type { i32 }\n" + "".join(f"%t{n} = type {{ %t{n - 1} }}\n" for n in range(1, 3000))
    body = (
        "define ptr @f(ptr %p) {\n  %q = getelementptr %t2999, ptr %p, i64 1\n  store ptr @a, ptr %q\n  ret ptr %q\n}\n"
    )
    old = codes(circle + text + body)["f"]
    assert codes(circle + text + body)["f"] == old
    assert differing(codes(circle + text.replace("i32", "i64") + body)["f"], old) == ["statements"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_a_compiler_writes(path: Path) -> None:
    """Odd names, no names and no metadata leave all functions of real modules alone."""
    expected = list(codes_of(read_ir(path)))
    data = path.read_bytes()
    for text in (rename_locals(data, odd_name), rename_locals(data, lambda number: ""), without_metadata(data)):
        assert list(codes_of(parse_ir(text))) == expected


def test_text_and_bitcode_of_an_older_llvm_are_the_same() -> None:
    """LLVM 22 adds to the attribute in bitcode only."""
    text = SOURCE.replace(
        "memory(argmem: readwrite)", "memory(argmem: readwrite, target_mem0: none, target_mem1: none)"
    )
    assert text != SOURCE
    assert list(codes_of(parse_ir(text))) == list(codes_of(parse_ir(SOURCE)))


def test_metadata_that_is_an_operand_is_code() -> None:
    text = (
        "declare i64 @llvm.read_register.i64(metadata)\ndefine i64 @f() {{\n"
        '  %r = call i64 @llvm.read_register.i64(metadata !0)\n  ret i64 %r\n}}\n!0 = !{{!"{}"}}\n'
    )
    stack, base = (list(codes_of(parse_ir(text.format(register)))) for register in ("rsp", "rbp"))
    assert stack != base
    renumbered = text.replace("!0", "!1") + '!named = !{{!0}}\n!0 = !{{!"x"}}\n'
    assert list(codes_of(parse_ir(renumbered.format("rsp")))) == stack


def test_shared_constants_are_counted_once() -> None:
    """Each of 60 tables has the one before it twice: 2**60 paths lead to the function."""
    tables = "".join(
        f"@d{i} = private unnamed_addr constant [2 x ptr] [ptr @{'d' if i else 'h'}{i - 1 if i else ''}, "
        f"ptr @{'d' if i else 'h'}{i - 1 if i else ''}]\n"
        for i in range(60)
    )
    text = f"{tables}define i32 @h(ptr %x) {{\n  ret i32 0\n}}\ndefine ptr @f() {{\n  ret ptr @d59\n}}\n"
    _, code = codes_of(parse_ir(text))
    assert code.functions == ("h",)


def test_which_functions_a_table_has_where() -> None:
    declared = "declare void @f()\ndeclare void @g()\n"
    codes = set()
    for second in ("[ptr @f, ptr @g]", "[ptr @g, ptr @f]", "[ptr @f, ptr @f]"):
        contents = {"a": "[ptr @f, ptr @g]", "b": second, "both": "[ptr @a, ptr @b]"}
        tables = "".join(f"@{name} = private unnamed_addr constant [2 x ptr] {of}\n" for name, of in contents.items())
        (code,) = codes_of(parse_ir(f"{tables}{declared}define ptr @h() {{\n  ret ptr @both\n}}\n"))
        codes.add((code.statements, code.functions))
    assert len(codes) == 3


def test_a_variable_that_a_variable_points_to_is_followed() -> None:
    text = (
        "@value = internal global i32 {}\n@pointer = global ptr @value\n@ring = global ptr @ring\n"
        "define ptr @f() {{\n  %p = load ptr, ptr @pointer\n  %r = load ptr, ptr @ring\n  ret ptr %p\n}}\n"
    )
    (eight,), (nine,) = (codes_of(parse_ir(text.format(value))) for value in (8, 9))
    assert eight.globals.keys() == nine.globals.keys() == {"@pointer", "@ring"}
    assert eight.globals["@pointer"] != nine.globals["@pointer"]
    assert eight.globals["@ring"] == nine.globals["@ring"]
