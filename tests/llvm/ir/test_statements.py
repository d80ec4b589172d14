"""Statements: what normalisation drops, what it must never drop, and in which order statements come."""

import functools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rewrite_ir import llvm_reads, odd_name, rename_locals, without_groups, without_metadata

from mirenc.llvm import IRModule, parse_ir, statements_of
from mirenc.llvm.ir.old_text import modernise
from mirenc.model.graph import build_graph

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

MODULE = """
%pair = type { i32, %deep }
%deep = type { ptr }
@table = internal unnamed_addr constant [2 x i32] [i32 1, i32 2], align 4
@out = external global i32
declare i32 @twice(i32)
define i32 @f(i32 %x, ptr %p) {
entry:
  %y = call i32 @twice(i32 %x)
  %c = icmp slt i32 %y, 10
  br i1 %c, label %small, label %large
small:
  store i32 %y, ptr %p, align 4
  ret i32 0
large:
  %at = getelementptr inbounds %pair, ptr %p, i64 0, i32 1
  %v = load ptr, ptr %at, align 8
  ret i32 %y
}
define void @g() {
  ret void
}
"""


def texts(ir: str | bytes | IRModule, level: str = "locals") -> list[str]:
    """Text of every statement, in order."""
    module = ir if isinstance(ir, IRModule) else parse_ir(ir)
    statements = statements_of(module, level)
    return [statements[number] for number in range(len(statements))]


def body(*lines: str, before: str = "") -> str:
    """A module with these instructions between ``entry:`` and ``ret void``."""
    return f"{before}\ndefine void @f(i32 %a, i32 %b, ptr %p, float %x) {{\nentry:\n  " + "\n  ".join(
        [*lines, "ret void\n}"]
    )


# -- order and rows ------------------------------------------------------------------------------------
def test_types_then_globals_then_instructions() -> None:
    statements = statements_of(parse_ir(MODULE))
    assert [statements[number] for number in range(len(statements))] == [
        "%pair = type { i32, %deep }",
        "%deep = type { ptr }",
        "@table = constant [2 x i32] [i32 1, i32 2]",
        "@out = external global i32",
        "% = call i32 @twice(i32 %)",
        "% = icmp slt i32 %, 10",
        "br i1 %, label %, label %",
        "store i32 %, ptr %",
        "ret i32 0",
        "% = getelementptr inbounds %pair, ptr %, i64 0, i32 1",
        "% = load ptr, ptr %",
        "ret i32 %",
        "ret void",
    ]
    assert (statements.first_global, statements.first_instruction) == (2, 4)
    assert statements.normalisation == "locals"


def test_equal_statements_share_a_text() -> None:
    module = parse_ir(body("%1 = add i32 %a, 1", "%2 = add i32 %b, 1", "%3 = add i32 %1, 2"))
    statements = statements_of(module)
    assert statements.texts == ["% = add i32 %, 1", "% = add i32 %, 2", "ret void"]
    assert statements.row.tolist() == [0, 0, 1, 2]
    assert len(statements) == 4


@pytest.mark.parametrize("level", ["none", "locals"])
def test_one_statement_for_each_type_global_and_instruction(fixture_modules: dict[str, IRModule], level: str) -> None:
    for name, module in fixture_modules.items():
        statements = statements_of(module, level)
        head = len(module.type_lines) + len(module.global_lines)
        assert statements.first_global == len(module.type_lines), name
        assert statements.first_instruction == head, name
        assert len(statements) == head + module.instruction_count, name
        assert len(set(statements.texts)) == len(statements.texts), name
        assert not [text for text in statements.texts if text != text.strip() or "\n" in text or not text], name


def test_unknown_level() -> None:
    with pytest.raises(ValueError, match="unknown normalisation 'local'; available: none, locals"):
        statements_of(parse_ir(MODULE), "local")


# -- several printed lines -----------------------------------------------------------------------------
SEVERAL_LINES = """
declare i32 @callee(i32)
declare i32 @personality(...)
@info = external global i8
define i32 @f(i32 %x) personality ptr @personality {
entry:
  switch i32 %x, label %rest [
    i32 1, label %one
    i32 -2, label %rest
  ]
one:
  %r = invoke i32 @callee(i32 %x) #0
          to label %rest unwind label %pad
pad:
  %l = landingpad { ptr, i32 }
          cleanup
          catch ptr @info
          filter [1 x ptr] [ptr @info]
  resume { ptr, i32 } %l
rest:
  ret i32 0
}
attributes #0 = { nounwind }
"""


def test_a_statement_of_several_lines_is_joined() -> None:
    assert texts(SEVERAL_LINES) == [
        "@info = external global i8",
        "switch i32 %, label % [ i32 1, label % i32 -2, label % ]",
        "% = invoke i32 @callee(i32 %) to label % unwind label %",
        "% = landingpad { ptr, i32 } cleanup catch ptr @info filter [1 x ptr] [ptr @info]",
        "resume { ptr, i32 } %",
        "ret i32 0",
    ]


def test_a_statement_of_several_lines_is_joined_at_level_none() -> None:
    assert texts(SEVERAL_LINES, "none")[1:4] == [
        "switch i32 %x, label %rest [ i32 1, label %one i32 -2, label %rest ]",
        "%r = invoke i32 @callee(i32 %x) to label %rest unwind label %pad",
        "%l = landingpad { ptr, i32 } cleanup catch ptr @info filter [1 x ptr] [ptr @info]",
    ]


# -- what must not matter ------------------------------------------------------------------------------
# An access tag, its type and the root of types: LLVM's verifier refuses anything less.
TBAA = """
!0 = !{!1, !1, i64 0}
!1 = !{!"float", !2, i64 0}
!2 = !{!"root"}
"""
ORIGINAL = """
declare float @sqrtf(float)
@s = constant [2 x i8] c"a\\00"
define float @f(ptr %p, i64 %n) {
entry:
  %a = alloca float
  %at = getelementptr float, ptr %p, i64 %n
  %v = load float, ptr %at
  %r = call float @sqrtf(float %v)
  store float %r, ptr %a
  %c = call i1 %p(ptr @s, i64 %n)
  call void %p()
  ret float %r
}
"""
EXPECTED = [
    '@s = constant [2 x i8] c"a\\00"',
    "% = alloca float",
    "% = getelementptr float, ptr %, i64 %",
    "% = load float, ptr %",
    "% = call float @sqrtf(float %)",
    "store float %, ptr %",
    "% = call i1 %(ptr @s, i64 %)",
    "call void %()",
    "ret float %",
]
SAME = {
    "alignment": [
        ("alloca float", "alloca float, align 64"),
        ("load float, ptr %at", "load float, ptr %at, align 1"),
        ("store float %r, ptr %a", "store float %r, ptr %a, align 2"),
        ('c"a\\00"', 'c"a\\00", align 16'),
    ],
    "attributes of parameters and results": [
        ("call float @sqrtf(float %v)", "call noundef nofpclass(nan) float @sqrtf(float noundef %v)"),
        ("call i1 %p(ptr @s, i64 %n)", 'call zeroext i1 %p(ptr nonnull align 8 @s, i64 noundef "kind"="x" %n)'),
        ("@f(ptr %p, i64 %n)", "@f(ptr noalias nocapture readonly %p, i64 range(i64 0, 9) %n)"),
    ],
    "attribute groups": [
        ("call float @sqrtf(float %v)", "call float @sqrtf(float %v) #0"),
        ("call i1 %p(ptr @s, i64 %n)", 'call i1 %p(ptr @s, i64 %n) nounwind "words"="a, b"'),
        ("@f(ptr %p, i64 %n)", '@f(ptr %p, i64 %n) #0 "target-cpu"="x"'),
        ("declare float @sqrtf(float)", "declare float @sqrtf(float) #0\nattributes #0 = { nounwind memory(none) }"),
    ],
    "tail hints": [
        ("%r = call", "%r = tail call"),
        ("%c = call", "%c = notail call"),
        ("call void", "tail call void"),
    ],
    "linkage and visibility": [
        ("@s = constant", "@s = private unnamed_addr constant"),
        ("define float", "define internal fastcc float"),
        ("declare float @sqrtf", "declare dso_local float @sqrtf"),
    ],
    "section, comdat, partition": [
        ('@s = constant [2 x i8] c"a\\00"', '$s = comdat any\n@s = constant [2 x i8] c"a\\00", section ".ro", comdat'),
        ("declare", "; a comment\ndeclare"),
    ],
    "metadata": [
        ("load float, ptr %at", "load float, ptr %at, !tbaa !0, !range.like !1"),
        ("ret float %r\n}", f"ret float %r, !note !1\n}}\n{TBAA}"),
        ('c"a\\00"', 'c"a\\00", !absolute !1'),
    ],
}


def test_the_original_worked_by_hand() -> None:
    assert texts(ORIGINAL) == EXPECTED


@pytest.mark.parametrize("noise", SAME)
def test_noise_changes_nothing(noise: str) -> None:
    changed = ORIGINAL
    for old, new in SAME[noise]:
        assert old in changed
        changed = changed.replace(old, new)
    assert texts(changed) == EXPECTED


def test_the_number_of_a_private_string_changes_nothing() -> None:
    def module(name: str) -> str:
        return body(f"%1 = load i8, ptr @{name}", before=f'@{name} = private constant [2 x i8] c"a\\00"')

    assert texts(module(".str.17")) == texts(module(".str"))
    assert texts(module(".str"))[0] == '@.str = constant [2 x i8] c"a\\00"'


@pytest.fixture(scope="module")
def originals(fixture_modules: dict[str, IRModule]) -> dict[str, bytes]:
    """The fixtures that LLVM 22 reads, if need be with mirenc's repairs of old text."""
    data_by_name = {}
    for name in fixture_modules:
        data = (FIXTURES / name).read_bytes()
        if not name.endswith(".bc"):
            data = modernise(data.decode()).encode()
        if llvm_reads(data):
            data_by_name[name] = data
    assert len(data_by_name) > 150
    return data_by_name


# What rewrites a module, what its text has no longer, and what modules have that cannot be rewritten so.
REWRITES: dict[str, tuple[Callable[[bytes], str], str, str]] = {
    "odd names": (lambda data: rename_locals(data, odd_name), "\0", "\0"),
    # LLVM's own reader cannot name a numbered block of another function.
    "numbers": (lambda data: rename_locals(data, lambda number: ""), r"%[a-z]+ = (?!type)", "blockaddress"),
    "no metadata": (without_metadata, r", ![a-z.]+ !\d+$", "\0"),
    "no groups": (without_groups, r" #\d", "preallocated"),  # this must stand at its call
}


@pytest.mark.parametrize("rewriting", REWRITES)
def test_names_metadata_and_groups_change_nothing(
    fixture_modules: dict[str, IRModule], originals: dict[str, bytes], rewriting: str
) -> None:
    rewrite, gone, obstacle = REWRITES[rewriting]
    changed = []
    for name, data in originals.items():
        module = fixture_modules[name]
        if obstacle not in module.text:
            text = rewrite(data)
            assert not re.search(gone, re.sub(r'"[^"]*"', "", text), re.MULTILINE), name
            rewritten = parse_ir(text)
            assert rewriting != "odd names" or rewritten.text != module.text, name
            if texts(rewritten) != texts(module) or build_graph(rewritten).node_full_text != full_texts(module):
                changed.append(name)
    assert changed == []


@functools.cache
def full_texts(module: IRModule) -> list[str]:
    return build_graph(module).node_full_text


WITH_DEBUG = """
define i32 @f(i32 %x) !dbg !4 {
entry:
    #dbg_value(i32 %x, !8, !DIExpression(), !9)
  %y = add nsw i32 %x, 1, !dbg !9
    #dbg_value(i32 %y, !8, !DIExpression(DW_OP_plus_uconst, 1, DW_OP_stack_value), !9)
  ret i32 %y, !dbg !10
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "p", isOptimized: true, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !5, spFlags: DISPFlagDefinition, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!8 = !DILocalVariable(name: "x", scope: !4, file: !1, line: 1)
!9 = !DILocation(line: 2, column: 3, scope: !4)
!10 = !DILocation(line: 3, column: 3, scope: !4)
"""


@pytest.mark.parametrize("level", ["none", "locals"])
def test_debug_information_changes_nothing(level: str) -> None:
    plain = "define i32 @f(i32 %x) {\nentry:\n  %y = add nsw i32 %x, 1\n  ret i32 %y\n}"
    assert texts(WITH_DEBUG, level) == texts(plain, level)


def test_debug_intrinsics_of_old_clang_change_nothing() -> None:
    declare = "declare void @llvm.dbg.value(metadata, metadata, metadata)\n"
    call = r"call void @llvm.dbg.value(metadata i32 \1, metadata !8, metadata !DIExpression(\2)), !dbg !9"
    old, count = re.subn(r"#dbg_value\(i32 (%\w), !8, !DIExpression\((.*?)\), !9\)", call, declare + WITH_DEBUG)
    assert count == 2
    assert texts(old) == ["% = add nsw i32 %, 1", "ret i32 %"]


def test_the_number_of_a_metadata_operand_changes_nothing() -> None:
    # Numbers count over the whole module, debug information included: they say nothing about the call.
    def module(number: int) -> str:
        filler = "\n".join(f"!{each} = !{{i32 {each}}}" for each in range(number))
        used = "!names = !{" + ", ".join(f"!{each}" for each in range(number)) + "}"
        return f"""
declare void @llvm.experimental.noalias.scope.decl(metadata)
define void @f() {{
  call void @llvm.experimental.noalias.scope.decl(metadata !{number})
  ret void
}}
{used if number else ""}
{filler}
!{number} = !{{!{number + 1}}}
!{number + 1} = distinct !{{!{number + 1}, !{number + 2}}}
!{number + 2} = distinct !{{!{number + 2}}}
"""

    assert texts(module(0)) == texts(module(5))


def test_a_block_address_does_not_name_its_block() -> None:
    def module(block: str) -> str:
        return f"""
@a = global ptr blockaddress(@f, %{block})
define i64 @f(ptr %p) {{
  br label %{block}
{block}:
  store ptr blockaddress(@f, %{block}), ptr %p
  ret i64 ptrtoint (ptr blockaddress(@f, %{block}) to i64)
}}
"""

    for level_of_nesting in range(4):
        assert texts(module("second"))[level_of_nesting] == texts(module("b.2"))[level_of_nesting]
    assert build_graph(module("second")).node_full_text == build_graph(module("b.2")).node_full_text


# -- what must matter ----------------------------------------------------------------------------------
TYPES = "%t = type { i32 }\n%u = type { i32, i32 }\n"


@pytest.mark.parametrize(
    ("old", "new", "before"),
    [
        ("%1 = add i32 %a, 1", "%1 = add i32 %a, 2", ""),  # constant
        ("%1 = add i32 %a, 1", "%1 = add i32 %a, -1", ""),
        ("%1 = fadd float %x, 1.0", "%1 = fadd float %x, 2.0", ""),
        ("store ptr null, ptr %p", "store ptr undef, ptr %p", ""),
        (
            "%1 = getelementptr [2 x i32], ptr %p, i64 0, i64 1",
            "%1 = getelementptr [2 x i32], ptr %p, i64 1, i64 0",
            "",
        ),
        ('store [2 x i8] c"ab", ptr %p', 'store [2 x i8] c"ba", ptr %p', ""),
        ("switch i32 %a, label %n [ i32 1, label %n ]\nn:", "switch i32 %a, label %n [ i32 2, label %n ]\nn:", ""),
        ("%1 = icmp slt i32 %a, %b", "%1 = icmp ult i32 %a, %b", ""),  # predicate
        ("%1 = icmp eq i32 %a, %b", "%1 = icmp ne i32 %a, %b", ""),
        ("%1 = fcmp olt float %x, %x", "%1 = fcmp ult float %x, %x", ""),
        ("%1 = add i32 %a, %b", "%1 = sub i32 %a, %b", ""),  # opcode
        ("%1 = lshr i32 %a, 1", "%1 = ashr i32 %a, 1", ""),
        ("%1 = zext i32 %a to i64", "%1 = sext i32 %a to i64", ""),
        ("%1 = atomicrmw add ptr %p, i32 %a seq_cst", "%1 = atomicrmw sub ptr %p, i32 %a seq_cst", ""),
        ("%1 = load i32, ptr %p", "%1 = load i64, ptr %p", ""),  # type
        ("%1 = alloca [2 x i32]", "%1 = alloca [3 x i32]", ""),
        ("%1 = trunc i32 %a to i8", "%1 = trunc i32 %a to i16", ""),
        ("%1 = load %t, ptr %p", "%1 = load %u, ptr %p", f"{TYPES}@g = global {{ %t, %u }} zeroinitializer"),
        ("call void @g()", "call void @h()", "declare void @g()\ndeclare void @h()"),  # callee
        ("call void @g()", "call void %p()", "declare void @g()"),
        ('call void asm "nop", ""()', 'call void asm "pause", ""()', ""),
        ("store i32 0, ptr @g", "store i32 0, ptr @h", "@g = global i32 0\n@h = global i32 0"),  # global
        ("%1 = add nsw i32 %a, %b", "%1 = add i32 %a, %b", ""),  # flags
        ("%1 = fadd fast float %x, %x", "%1 = fadd float %x, %x", ""),
        ("%1 = getelementptr inbounds i32, ptr %p, i64 1", "%1 = getelementptr i32, ptr %p, i64 1", ""),
        ("%1 = load volatile i32, ptr %p", "%1 = load i32, ptr %p", ""),
        ("store atomic i32 0, ptr %p release, align 4", "store atomic i32 0, ptr %p seq_cst, align 4", ""),
        ("call fastcc void %p()", "call void %p()", ""),  # calling convention
        ("call void %p(i32 1)", "call void %p(i32 1, i32 1)", ""),  # arguments
        ('call void %p() [ "deopt"(i32 1) ]', 'call void %p() [ "deopt"(i32 2) ]', ""),
    ],
)
@pytest.mark.parametrize("level", ["none", "locals"])
def test_meaning_changes_the_statement_and_no_other(level: str, old: str, new: str, before: str) -> None:
    one, other = texts(body(old, before=before), level), texts(body(new, before=before), level)
    assert len(one) == len(other)
    differing = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    assert len(differing) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@g = global i32 1", "@g = global i32 2"),
        ("@g = global i32 1", "@g = constant i32 1"),
        ("@g = global i32 1", "@g = global i64 1"),
        ("@g = global i32 1", "@g = thread_local global i32 1"),
        ("@g = global i32 1", "@g = addrspace(1) global i32 1"),
        ("@g = global i32 1", "@h = global i32 1"),
        ("@g = global i32 1", "@g = external global i32"),
        ("%t = type { i32 }", "%t = type { i64 }"),
        ("%t = type { i32 }", "%t = type <{ i32 }>"),
        # Inside a string all text is data, whatever it looks like.
        ('@g = constant [7 x i8] c"a #1 b\\00"', '@g = constant [7 x i8] c"a #2 b\\00"'),
        ('@g = constant [11 x i8] c"x, align 4\\00"', '@g = constant [11 x i8] c"x, align 8\\00"'),
        ('@g = constant [10 x i8] c"a, !b !1,\\00"', '@g = constant [10 x i8] c"a, !b !2,\\00"'),
        ('@g = constant [9 x i8] c"@.str.1\\00\\00"', '@g = constant [9 x i8] c"@.str.2\\00\\00"'),
        ('@g = constant [9 x i8] c"private \\00"', '@g = constant [9 x i8] c"privatE \\00"'),
    ],
)
def test_meaning_changes_a_type_s_or_global_s_statement(old: str, new: str) -> None:
    rest = "\n@.str.1 = private constant i8 1\n@.str.2 = private constant i8 2\n"
    # A type is printed only where it is used.
    rest += (
        "define void @f() {\n  %1 = alloca %t\n  ret void\n}" if "%t" in old else "define void @f() {\n  ret void\n}"
    )
    one, other = texts(old + rest), texts(new + rest)
    assert one[1:] == other[1:]
    assert one[0] != other[0]


# -- level none ----------------------------------------------------------------------------------------
NOISY = (
    TBAA
    + """
@g = internal global i32 1, align 4, !note !0
declare i32 @h(ptr)
define i32 @f(ptr noundef %p) #0 {
entry:
  %v = load i32, ptr %p, align 4, !tbaa !0, !range !3
  %r = tail call noundef i32 @h(ptr noundef nonnull %p) #0, !note !0
  ret i32 %r
}
attributes #0 = { nounwind }
!3 = !{i32 0, i32 9}
"""
)


def test_level_none_keeps_names_and_drops_metadata_and_groups() -> None:
    assert texts(NOISY, "none") == [
        "@g = internal global i32 1, align 4",
        "%v = load i32, ptr %p, align 4",
        "%r = tail call noundef i32 @h(ptr noundef nonnull %p)",
        "ret i32 %r",
    ]


@pytest.mark.parametrize(
    ("line", "statement"),
    [
        ('call void asm sideeffect "nop #7", ""() #0', 'call void asm sideeffect "nop #7", ""()'),
        ('call void @"a name"() #0', 'call void @"a name"()'),
        ('%"v w" = call i32 @h(ptr %p) #0', '%"v w" = call i32 @h(ptr %p)'),
        ('call void %p(target("spirv.Sampler") poison) #0', 'call void %p(target("spirv.Sampler") poison)'),
        ('call void %p() #0 [ "deopt"(i32 1) ]', 'call void %p() [ "deopt"(i32 1) ]'),
    ],
)
def test_level_none_drops_groups_beside_quotes(line: str, statement: str) -> None:
    before = 'declare i32 @h(ptr)\ndeclare void @"a name"()'
    ir = body(line, before=before) + "\nattributes #0 = { nounwind }"
    assert texts(ir, "none")[0] == statement


def test_level_none_drops_the_group_of_a_global() -> None:
    ir = body(before='@g = global i32 1 #0\nattributes #0 = { "bss-section"="x" }')
    assert texts(ir, "none")[0] == "@g = global i32 1"


def test_level_none_of_the_fixtures_has_no_attachment_and_no_group(fixture_modules: dict[str, IRModule]) -> None:
    remaining = []
    for name, module in fixture_modules.items():
        for text in statements_of(module, "none").texts:
            bare = re.sub(r'"[^"]*"', '""', text)
            if re.search(r" #\d+|, ![a-zA-Z][\w.]* !\d+", bare):
                remaining.append((name, text))
    assert remaining == []


def test_a_percent_sign_in_a_string_is_no_placeholder() -> None:
    """Named types are put back into a template by number: what stands in its strings must not be counted."""
    text = (FIXTURES / "handwritten" / "percent_in_strings.ll").read_text(encoding="utf-8")
    statements = statements_of(parse_ir(text))
    assert [statements[number] for number in range(statements.first_instruction, len(statements))] == [
        'call void asm sideeffect "movl $0, %eax; movl %ebx, %ecx", "*m,~{memory}"(ptr %)',
        '% = insertvalue { %struct.s, [3 x i8] } { %struct.s zeroinitializer, [3 x i8] c"a%b" }, %struct.s %, 0',
        "store { %struct.s, [3 x i8] } %, ptr %",
        "ret void",
    ]
