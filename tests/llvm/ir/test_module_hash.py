"""What the content hash leaves out, and what it does not."""

import subprocess
from pathlib import Path

import pytest

from mirenc.llvm import parse_ir, read_ir
from mirenc.llvm.inputs.compile_source import ir_compiler
from mirenc.llvm.ir.module import _without_comments


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("define void @f() {\n  ret void\n}\n", "define void @f() {\n  ret void\n}\n"),
        ("a:   \t  ; preds = %x, %y\n  ret void\nb:  ; preds = %a\n", "a:\n  ret void\nb:\n"),
        ("x\n; Function Attrs: nounwind\ndefine\n; Function Attrs: cold\n", "x\ndefine\n"),
    ],
)
def test_remarks_of_llvm_go(text: str, rest: str) -> None:
    assert _without_comments(text) == rest


def test_two_modules_that_differ_in_comments_alone() -> None:
    text = "define i32 @f(i1 %c) {{\n  br i1 %c, label %a, label %b\na:{}\n  ret i32 1\nb:\n  ret i32 2\n}}\n"
    one, other = (parse_ir(text.format(comment)).content_hash for comment in ("", " ; preds = %nothing"))
    assert one == other != parse_ir(text.format("").replace("i32 1", "i32 3")).content_hash


LIFETIMES = """
declare void @g(ptr) #{g}
{declarations}
define i32 @f(i32 %n) #{f} {{
  %s = alloca i32
  call void @llvm.lifetime.start.p0(i64 4, ptr %s)
  call void @g(ptr %s) #2
  call void @llvm.lifetime.end.p0(i64 4, ptr %s)
  ret i32 %n
}}
attributes #{f} = {{ nounwind }}
attributes #{g} = {{ cold memory(read{added}) }}
attributes #2 = {{ nomerge }}
"""
DECLARATIONS = [f"declare void @llvm.lifetime.{which}.p0(i64, ptr)" for which in ("start", "end")]


def test_what_reading_text_or_bitcode_decides_is_left_out() -> None:
    left_over = "declare void @llvm.lifetime.start.i64(i64)"
    one = LIFETIMES.format(f=0, g=1, declarations="\n".join(DECLARATIONS), added="")
    other = LIFETIMES.format(
        f=1,
        g=0,
        declarations="\n".join([left_over, *DECLARATIONS[::-1]]),
        added=", target_mem0: none, target_mem1: none",
    )
    assert parse_ir(one).content_hash == parse_ir(other).content_hash


@pytest.mark.parametrize(("old", "new"), [("nounwind", "noreturn"), ("cold", "noinline"), ("nomerge", "cold")])
def test_an_attribute_is_part_of_the_content(old: str, new: str) -> None:
    text = LIFETIMES.format(f=0, g=1, declarations="\n".join(DECLARATIONS), added="")
    assert parse_ir(text).content_hash != parse_ir(text.replace(old, new)).content_hash


def test_a_string_keeps_what_looks_like_a_group() -> None:
    text = '@s = constant [4 x i8] c"a #{}"\ndefine void @f() #0 {{\n  ret void\n}}\n'
    hashes = {parse_ir(text.format(number)).content_hash for number in range(3)}
    assert len(hashes) == 3


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.needs("C compiler")
def test_text_and_bitcode_of_one_source(level: str, tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(
        "void g(int *);\nint f(int n) {\n  int s = n, t[4] = {1, 2, 3, n};\n  g(&s);\n  g(t);\n"
        "  return s + __builtin_popcount(t[1]);\n}\n"
    )
    compiler = ir_compiler("c")
    for suffix, flag in (("ll", "-S"), ("bc", "-c")):
        output = tmp_path / f"f.{suffix}"
        subprocess.run([*compiler, level, flag, "-emit-llvm", source, "-o", output], check=True, cwd=tmp_path)
    assert read_ir(tmp_path / "f.ll").content_hash == read_ir(tmp_path / "f.bc").content_hash
