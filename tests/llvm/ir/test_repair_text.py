"""Fragments and IR of newer LLVMs: what is completed or left out, what the warning says, and what stays refused."""

import logging
import subprocess
from pathlib import Path

import pytest
from ir_views import instructions_of

from mirenc import load
from mirenc.base.errors import IRParseError
from mirenc.llvm import parse_ir

BODY = "define i32 @f(i32 %a) {\n  ret i32 %a\n}\n"
LINK_ONCE = BODY.replace("define", "define linkonce_odr")
CALLS = "define i32 @f(i32 %a) {\n  %b = call i32 @g(i32 %a)\n  ret i32 %b\n}\n"
# As LLVM 19 has it; from 20 on it is of target("riscv.vector.tuple", ...).
_TWO = "{ <vscale x 1 x i8>, <vscale x 1 x i8> }"
SEGMENTS = f"""define void @f(<vscale x 1 x i8> %v, ptr %p, i64 %n) {{
  %r = call {_TWO} @llvm.riscv.vlseg2.nxv1i8.i64(<vscale x 1 x i8> %v, <vscale x 1 x i8> %v, ptr %p, i64 %n)
  ret void
}}
declare {_TWO} @llvm.riscv.vlseg2.nxv1i8.i64(<vscale x 1 x i8>, <vscale x 1 x i8>, ptr, i64)
"""
KERNEL = "declare spir_kernel void @k()\n"
MEMORY_PROFILE = "declare i32 @g(i32)\n" + '!0 = !{!1}\n!1 = !{!2, !"notcold", i64 100}\n!2 = !{i64 1}\n'
SPLICE = """define <2 x i1> @f(<2 x i1> %a, <2 x i1> %b, i32 %n) {
  %v = call <2 x i1> @llvm.experimental.vp.splice.v2i1(<2 x i1> %a, <2 x i1> %b, i32 5, <2 x i1> %a, i32 %n, i32 %n)
  ret <2 x i1> %v
}
declare <2 x i1> @llvm.experimental.vp.splice.v2i1(<2 x i1>, <2 x i1>, i32 immarg, <2 x i1>, i32, i32)
"""
BLOCKS = """define void @"f\\22"() {{
  br label %l
l:
  call void asm sideeffect "b ${{0:l}}", "X"({})
  ret void
}}
"""
FLAGS = '!llvm.module.flags = !{!0}\n!0 = !{i32 2, !"Debug Info Version", i32 3}\n'
DEBUG = """define i32 @f(i32 %a) !dbg !4 {
    #dbg_value(i32 %a, !7, !DIExpression(), !5)
  ret i32 %a, !dbg !5
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, field_of_tomorrow: !1)
!1 = !DIFile(filename: "a.c", directory: "/")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "f", unit: !0)
!5 = !DILocation(line: 1, scope: !4)
!6 = !{!7}
!7 = !DILocalVariable(name: "a", scope: !4)
@v = external global i32, !dbg !7
"""


@pytest.mark.parametrize(
    ("fragment", "repaired", "warning"),
    [
        pytest.param(CALLS, f"{CALLS}declare i32 @g(i32)\n", "uses @g without a declaration", id="undeclared function"),
        pytest.param(
            "define i32 @f() {\n  %v = load i32, ptr @x, !tbaa !5\n  ret i32 %v\n}\n",
            "@x = external global i8\ndefine i32 @f() {\n  %v = load i32, ptr @x\n  ret i32 %v\n}\n",
            "without a declaration",
            id="undeclared variable and metadata",
        ),
        pytest.param(
            LINK_ONCE.replace(") {", ") comdat align 2 {") + 'declare i32 @"o\\22\\C3\\A9"()\n',
            "$f = comdat any\n" + LINK_ONCE.replace(") {", ") comdat align 2 {") + 'declare i32 @"o\\22\\C3\\A9"()\n',
            "comdats without a definition",
            id="comdat",
        ),
        pytest.param(
            BODY.replace(") {", ") #0 {") + "attributes #0 = { nounwind brand_new(a, b(c)) other_new cold }\n",
            BODY.replace(") {", ") #0 {") + "attributes #0 = { nounwind cold }\n",
            "attribute brand_new(a, b(c)) is unknown",
            id="unknown attributes",
        ),
        pytest.param(
            SEGMENTS,
            SEGMENTS.replace("@llvm.riscv", "@llvm.old.riscv"),
            "intrinsics that LLVM 22 has in another form are read as functions (@llvm.riscv.vlseg2.nxv1i8.i64)",
            id="intrinsic of another signature",
        ),
        pytest.param(
            KERNEL + "define void @h() {\n  tail call spir_kernel void @k()\n  ret void\n}\n",
            KERNEL + "define void @h() {\n  tail call void @k()\n  ret void\n}\n",
            "it calls kernels",
            id="call of a kernel",
        ),
        pytest.param(
            BODY.replace(") {", ") naked nounwind {"),
            BODY.replace(") {", ') "none" nounwind {'),
            "arguments of naked functions",
            id="argument of a naked function",
        ),
        pytest.param(
            BODY.replace(") {", ") #0 {") + "attributes #0 = { naked }\n",
            BODY.replace(") {", ") #0 {") + 'attributes #0 = { "none" }\n',
            "arguments of naked functions",
            id="argument of a naked function, attribute in a group",
        ),
        pytest.param(
            CALLS.replace("%a)\n  ret", "%a), !memprof !0\n  ret") + MEMORY_PROFILE,
            CALLS + MEMORY_PROFILE,
            "its memory profile is left out",
            id="memory profile of LLVM 19",
        ),
        pytest.param(
            BODY.replace(") {", ') "target-features"=",+avx" {'),
            BODY.replace(") {", ') "target-features"="+avx" {'),
            "empty features of the target",
            id="empty feature of the target",
        ),
        pytest.param(
            SPLICE,
            SPLICE.replace("@llvm.", "@llvm.old."),
            "intrinsics that LLVM 22 has in another form are read as functions",
            id="splice beyond its vector",
        ),
        pytest.param(
            BLOCKS.format("label %l"),
            BLOCKS.format(r'ptr blockaddress(@"f\22", %l)'),
            "blocks that it passes to assembly",
            id="block passed to assembly",
        ),
        pytest.param(
            BODY.replace(") {", ") #0 {") + "attributes #0 = { brand_new }\n",
            BODY.replace(") {", ") #0 {") + 'attributes #0 = { "none" }\n',
            "attribute brand_new is unknown",
            id="group of one unknown attribute",
        ),
        pytest.param(
            BODY.replace(") {", ") #0 {") + 'attributes #0 = { "author"="é" brand_new cold }\n',
            BODY.replace(") {", ") #0 {") + 'attributes #0 = { "author"="é" cold }\n',
            "attribute brand_new is unknown",
            id="unknown attribute after other bytes than ASCII",
        ),
        pytest.param(
            DEBUG[: DEBUG.index("!llvm.dbg.cu")].replace(" !dbg !4", ""),
            BODY,
            "metadata that it refers to is not there",
            id="record of debug information without its nodes",
        ),
        pytest.param(
            DEBUG,
            BODY + FLAGS + "@v = external global i32\n",
            "debug information is left out",
            id="unknown field of debug information",
        ),
    ],
)
def test_repaired_text_is_the_module_that_was_meant(
    fragment: str, repaired: str, warning: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        read = parse_ir(fragment, name="part.ll")
    assert read.content_hash == parse_ir(repaired).content_hash
    assert "part.ll" in caplog.text
    assert warning in caplog.text


@pytest.mark.needs("opt-19")
def test_bitcode_with_an_intrinsic_of_another_signature_is_the_same() -> None:
    bitcode = subprocess.run(
        ["opt-19", "-o", "-", "-"], input=SEGMENTS.encode(), capture_output=True, check=True
    ).stdout
    repaired, expected = parse_ir(bitcode), parse_ir(SEGMENTS)
    assert [one.text for one in instructions_of(repaired.defined_functions[0])] == [
        one.text for one in instructions_of(expected.defined_functions[0])
    ]


def test_whole_text_after_a_fragment_is_still_checked(caplog: pytest.LogCaptureFixture) -> None:
    parse_ir(CALLS)
    caplog.clear()
    with pytest.raises(IRParseError, match="undefined value '%c'"):
        parse_ir(BODY.replace("ret i32 %a", "ret i32 %c"))
    assert not caplog.records


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("  %y = load i32, ptr %p\n", "The text has no whole function"),
        ("loop:  ; preds = %entry\n  br label %loop\n", "The text has no whole function"),
        (f'source_filename = "a"\n{BODY}source_filename = "b"\n{BODY}', "several modules"),
        (
            "define ptr @f(ptr %s) {\n  %p = getelementptr %struct.S, ptr %s, i32 0, i32 1\n  ret ptr %p\n}\n",
            "A type that it uses is not defined",
        ),
        (
            f'{BODY.replace("i32 %a)", "brand_new %a)")}!llvm.ident = !{{!0}}\n!0 = !{{!"clang version 99.1.0"}}\n',
            "written by LLVM 99, whose 'brand_new' LLVM 22 does not know; this mirenc reads LLVM 10 to 22",
        ),
    ],
    ids=["instruction", "block", "two modules", "type", "newer LLVM"],
)
def test_refusal_says_what_to_give(text: str, advice: str) -> None:
    with pytest.raises(IRParseError, match=advice):
        parse_ir(text)


def test_text_with_many_blank_lines_is_refused_at_once() -> None:
    with pytest.raises(IRParseError, match="check it with `opt"):
        parse_ir("\n" * 200_000 + "x")


def test_what_was_mended_is_said_each_time_and_not_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "part.ll"
    file.write_text(CALLS)
    encoder = load("mirenc-tiny", cache=tmp_path / "cache")
    for _ in range(2):
        caplog.clear()
        encoder.embed(file)
        assert "uses @g without a declaration" in caplog.text
