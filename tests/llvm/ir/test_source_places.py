"""Source places: worked by hand, and no part of anything else."""

import re
from pathlib import Path

import pytest

from mirenc.llvm import IRModule, Regions, parse_ir, read_ir, regions_of, statements_of
from mirenc.llvm.ir.source_places import Places, source_name

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
PLACES = FIXTURES / "loops" / "places.ll"


@pytest.fixture(scope="module")
def module() -> IRModule:
    return read_ir(PLACES)


def places(regions: Regions) -> dict[str, tuple[str, int]]:
    return {region.name: (region.file, region.line) for region in regions.regions}


def test_places_of_loops(module: IRModule) -> None:
    assert places(regions_of(module, "loop")) == {
        "nest:%outer": ("nest.c", 5),
        "nest:%inner": ("nest.c", 7),
        "no_preheader:%head": ("café/other.h", 15),
        "unknown:%head": ("", 0),
    }


def test_places_of_functions(module: IRModule) -> None:
    assert places(regions_of(module, "function")) == {
        "nest": ("nest.c", 3),
        "no_preheader": ("café/other.h", 13),
        "unknown": ("nest.c", 0),
        "without_debug_information": ("", 0),
    }


def test_places_of_blocks_and_instructions(module: IRModule) -> None:
    blocks = places(regions_of(module, "block", function="nest|no_pre"))
    assert [line for _, line in blocks.values()] == [4, 4, 7, 8, 8, 0, 14, 14, 15, 14, 0]
    assert blocks["nest:%done"] == ("", 0)  # line 0 is no line
    instructions = regions_of(module, "instruction", function="no_pre").regions
    lines = [0, 14, 14, 0, 0, 15, 14, 0]  # what looks like an attachment of the fourth stands in a string
    assert [(one.file, one.line) for one in instructions] == [("café/other.h" if line else "", line) for line in lines]


def without_debug_information(text: str) -> str:
    text = re.sub(r"(?:, !dbg !\d+)?(?:, !llvm\.loop !\d+)?$", "", text, flags=re.MULTILINE)
    return re.sub(r" !dbg !\d+(?= \{$)|\n![^\n]*", "", text, flags=re.MULTILINE)


def test_nothing_else_depends_on_them(module: IRModule) -> None:
    plain = parse_ir(without_debug_information(PLACES.read_text(encoding="utf-8")), name=module.name)
    assert plain.annotated == ""
    assert module.annotated != ""
    assert [form.statement for form in plain.forms] == [form.statement for form in module.forms]
    assert statements_of(plain).texts == statements_of(module).texts
    for level in ("function", "loop", "block", "instruction"):
        bare, full = regions_of(plain, level), regions_of(module, level)
        assert {(region.file, region.line) for region in bare.regions} == {("", 0)}
        assert [region.name for region in bare.regions] == [region.name for region in full.regions]
        assert bare.instruction.tolist() == full.instruction.tolist()
        assert bare.region.tolist() == full.region.tolist()


def test_metadata_without_places_and_weights_is_not_kept(fixture_modules: dict[str, IRModule]) -> None:
    texts = {name: (FIXTURES / name).read_text(encoding="utf-8") for name in fixture_modules if name.endswith(".ll")}
    having = {name for name, text in texts.items() if "!DILocation(" in text or "!prof !" in text}
    assert {name for name in texts if fixture_modules[name].annotated} == having
    assert 10 < len(having) < len(texts) / 5


INLINED = """
define void @f() !dbg !4 {
  call void asm sideeffect "nop", ""(), !dbg !8
  call void asm sideeffect "nop", ""(), !dbg !9
  ret void, !dbg !12
}
define void @g() {
  ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!1}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !2, emissionKind: FullDebug)
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = !DIFile(filename: "name: \\22no\\22.c", directory: "")
!3 = !DISubroutineType(types: !{})
!4 = distinct !DISubprogram(name: "f", file: !2, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = distinct !DISubprogram(name: "inner", scope: !2, file: !2, line: 2, type: !3, unit: !0, spFlags: 8)
!6 = distinct !DISubprogram(name: "between", file: !2, line: 3, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!7 = distinct !DILexicalBlock(scope: !5, file: !2, line: 2)
!8 = !DILocation(line: 2, scope: !7, inlinedAt: !10)
!9 = !DILocation(line: 1, scope: !4)
!10 = distinct !DILocation(line: 3, scope: !6, inlinedAt: !11)
!11 = distinct !DILocation(line: 1, scope: !4)
!12 = !DILocation(line: 1, scope: !4)
"""


def test_inlined_functions_are_named_through_blocks_and_calls() -> None:
    inlined = Places(parse_ir(INLINED)).inlined
    assert (inlined(0), inlined(1)) == ({"inner", "between"}, frozenset())
    assert (
        Places(parse_ir(re.sub(", !dbg !\\d+|!dbg !4 ", "", INLINED.partition("!llvm")[0]))).inlined(0) == frozenset()
    )


# Debug information's name and folder, what the input is called, and what an answer says; TOP is a folder that holds
# src/, inc/, link -> src and work/, which is the working folder.
NAMES = [
    # The input itself, as clang names it from another folder: without what both folders have in common.
    ("src/x.c", "TOP", "TOP/src/x.c", "TOP/src/x.c"),
    ("../src/x.c", "TOP/work", "../src/x.c", "../src/x.c"),
    ("TOP/src/x.c", "TOP/work", "../src/x.c", "../src/x.c"),
    ("src/x.c", "TOP", "../link/x.c", "../link/x.c"),
    ("x.c", "TOP/work", "./x.c", "./x.c"),
    ("x.c", "TOP/work", "TOP/work/x.c", "TOP/work/x.c"),
    # A header below the input's folder.
    ("src/h.h", "TOP", "TOP/src/x.c", "TOP/src/h.h"),
    ("src/sub/h.h", "TOP", "../link/x.c", "../link/sub/h.h"),
    ("TOP/work/h.h", "/", "x.c", "h.h"),
    ("h.h", "TOP/work", "./x.c", "./h.h"),
    # One beside it: relative where the input is, and no further up than what was typed.
    ("inc/h.h", "TOP", "TOP/src/x.c", "TOP/inc/h.h"),
    ("inc/h.h", "TOP", "../src/x.c", "../inc/h.h"),
    ("../inc/h.h", "TOP/work", "x.c", "../inc/h.h"),
    ("./../link/../inc/h.h", "TOP/work", "x.c", "../inc/h.h"),
    ("inc/h.h", "TOP", "x.c", "TOP/inc/h.h"),
    ("TOP/link/../inc/h.h", "", "TOP/src/x.c", "TOP/inc/h.h"),
    ("/usr/include/stdio.h", "TOP/work", "x.c", "/usr/include/stdio.h"),
    ("TOP/link/h.h", "", "TOP/work/x.c", "TOP/link/h.h"),
    # IR, of a source elsewhere, here, or nobody knows where.
    ("src/x.c", "/a/build", "x.ll", "/a/build/src/x.c"),
    ("src/x.c", "TOP/work", "x.ll", "src/x.c"),
    ("src/x.c", "TOP/work", "TOP/work/x.ll", "TOP/work/src/x.c"),
    ("src/x.c", "TOP/work", "<stdin>", "src/x.c"),
    ("src/x.c", ".", "x.ll", "src/x.c"),
    ("src/x.c", "", "x.ll", "src/x.c"),
    ("", "TOP", "x.ll", ""),
    ("a\0b/x.c", "TOP", "x.ll", "a\0b/x.c"),
]


@pytest.mark.parametrize(("name", "folder", "input_name", "expected"), NAMES)
def test_a_source_is_called_as_it_was_given(
    name: str, folder: str, input_name: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for below in ("src/sub", "inc", "work"):
        (tmp_path / below).mkdir(parents=True)
    (tmp_path / "link").symlink_to("src")
    monkeypatch.chdir(tmp_path / "work")
    name, folder, input_name, expected = (
        word.replace("TOP", str(tmp_path)) for word in (name, folder, input_name, expected)
    )
    assert source_name(name, folder, input_name) == expected


def test_a_compiled_source_is_the_input_whatever_flags_made_of_its_name() -> None:
    ir = "define void @f() !dbg !4 {\n  ret void, !dbg !12\n}\n" + INLINED[INLINED.index("!llvm.dbg") :]
    for name, expected in (("TOP/work.c", "TOP/work.c"), ("work.ll", 'name: "no".c')):
        assert Places(parse_ir(ir, name=name)).of_function(0) == (expected, 1)
