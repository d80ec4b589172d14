"""Code as -Oz meets it: what is read, what is made of a function, and which IR is warned of or refused."""

from __future__ import annotations

import gzip
import shlex
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from command_line import archive
from llvmlite import binding

from mirenc.base.errors import ForeignIRError, TaskError
from mirenc.llvm import ReadOptions, parse_ir
from mirenc.llvm.inputs.compile_source import find_compiler, ir_compiler
from mirenc.tools.suggest import read_code

SMALL = """\
@counter = internal global i32 0
define internal i32 @helper(i32 %x) #0 {
  %y = mul i32 %x, 3
  ret i32 %y
}
define i32 @_Z4mainv(i32 %x) #0 {
  %y = call i32 @helper(i32 %x)
  store i32 %y, ptr @counter
  ret i32 %y
}
attributes #0 = { minsize nounwind optsize "no-trapping-math"="true" }
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "in put.ll"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_module_is_taken_as_it_is(tmp_path: Path) -> None:
    code = read_code(written(tmp_path, SMALL))
    assert code.ir.decode() == SMALL
    assert (code.symbol, code.remarks, code.preparation()) == ("", (), "")
    assert (
        code.command("function(sroa)")
        == f"opt -relocation-model=pic -passes='function(sroa)' '{code.name}' -o 'in put.opt.bc'"
    )


@pytest.mark.parametrize("name", ["lib.a(x.o)", "lib.a(y.o)", "one.o", "packed.ll.gz"])
def test_what_is_not_itself_a_module_is_unpacked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    bitcode = bytes(binding.parse_assembly(SMALL).as_bitcode())
    wrapped = struct.pack("<5I", 0x0B17C0DE, 0, 20, len(bitcode), 0) + bitcode
    Path("lib.a").write_bytes(archive(("x.o", bitcode), ("y.o", wrapped)))
    Path("one.o").write_bytes(archive(("only.o", bitcode)))
    Path("packed.ll.gz").write_bytes(gzip.compress(SMALL.encode()))
    code = read_code(name)
    subprocess.run(["sh", "-c", code.preparation()], check=True)
    unpacked = shlex.split(code.preparation())[-1]
    assert unpacked == {"lib.a(x.o)": "lib-x.ll", "lib.a(y.o)": "lib-y.ll"}.get(name, f"{name.split('.')[0]}.ll")
    assert Path(unpacked).read_bytes() == code.ir
    assert code.command("dce").endswith(f" {unpacked} -o {unpacked.removesuffix('.ll')}.opt.bc")


@pytest.mark.parametrize("name", ["_Z4mainv", "main"])
def test_a_function_becomes_a_module(tmp_path: Path, name: str) -> None:
    code = read_code(written(tmp_path, SMALL), function=name)
    assert code.symbol == "_Z4mainv"
    alone = parse_ir(code.ir)
    assert [function.name for function in alone.defined_functions] == ["_Z4mainv"]
    assert "declare dso_local i32 @helper(i32 %x)" in code.ir.decode()
    assert code.module.text.split("\n", 1)[1] == alone.text.split("\n", 1)[1]
    assert code.command("dce").startswith("llvm-extract --func=_Z4mainv ")
    assert code.command("dce").endswith(" | opt -relocation-model=pic -passes=dce -o 'in put._Z4mainv.opt.bc'")


def test_a_function_is_warned_of_for_itself(tmp_path: Path) -> None:
    other = SMALL.replace("@helper(i32 %x) #0 {", "@helper(i32 %x) noinline optnone {")
    path = written(tmp_path, other)
    assert read_code(path).remarks == ("1 of 2 functions are marked optnone: passes leave them alone",)
    assert read_code(path, function="main").remarks == ()
    with pytest.raises(ForeignIRError, match="every function is marked optnone"):
        read_code(path, function="helper")


def test_an_unknown_function_is_told_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"no function 'other' with a body; it has helper, main"):
        read_code(written(tmp_path, SMALL), function="other")


def test_a_weak_baseline_is_told(tmp_path: Path) -> None:
    plain = SMALL.replace(" minsize", "").replace(" optsize", "")
    (remark,) = read_code(written(tmp_path, plain)).remarks
    assert remark.startswith("2 of 2 functions say neither minsize nor optsize: -Oz of this IR is the weak baseline")
    # What is in quotes and what something is called says nothing.
    named = plain.replace("@helper", "@minsize").replace('"no-trapping-math"', '"optsize"')
    assert read_code(written(tmp_path, named)).remarks == (remark,)
    half = SMALL.replace("@_Z4mainv(i32 %x) #0", "@_Z4mainv(i32 %x)")
    assert read_code(written(tmp_path, half)).remarks[0].startswith("1 of 2 functions say neither")


def test_code_of_os_is_told_from_that_of_oz(tmp_path: Path) -> None:
    (remark,) = read_code(written(tmp_path, SMALL.replace("minsize ", ""))).remarks
    assert remark.startswith("2 of 2 functions say optsize without minsize, as at -Os. Compile with: clang -Oz ")
    assert read_code(written(tmp_path, SMALL.replace("optsize ", ""))).remarks == ()


def test_a_word_of_its_own_line_counts(tmp_path: Path) -> None:
    inline = "define i32 @f(i32 %x) minsize {\n  ret i32 %x\n}\n"
    assert read_code(written(tmp_path, inline)).remarks == ()


def test_code_that_passes_leave_alone_is_refused(tmp_path: Path) -> None:
    unoptimised = SMALL.replace("minsize nounwind optsize", "noinline nounwind optnone")
    with pytest.raises(ForeignIRError, match=r"every function is marked optnone, as -O0 does.*Compile with: clang -Oz"):
        read_code(written(tmp_path, unoptimised))
    without_passes = SMALL.replace("@helper(i32 %x) #0", "@helper(i32 %x) noinline optnone")
    assert read_code(written(tmp_path, without_passes)).remarks == (
        "1 of 2 functions are marked optnone: passes leave them alone",
    )


@pytest.mark.parametrize(
    ("added", "flag"),
    [
        ("attributes #1 = { sanitize_address }", "-fsanitize"),
        ('attributes #1 = { "instrument-function-entry"="__cyg_profile_func_enter" }', "-finstrument-functions"),
        ("declare void @llvm.instrprof.increment(ptr, i64, i32, i32)", "-fprofile-generate"),
        ("!llvm.gcov = !{!0}\n!0 = !{}", "--coverage"),
    ],
)
def test_what_clang_has_still_to_instrument_is_refused(tmp_path: Path, added: str, flag: str) -> None:
    text = SMALL.replace("@_Z4mainv(i32 %x) #0", "@_Z4mainv(i32 %x) #0 #1") if "#1" in added else SMALL
    with pytest.raises(ForeignIRError, match=f"passes that no list contains.* Compile without {flag}$"):
        read_code(written(tmp_path, f"{text}{added}\n"))


def test_what_only_names_a_sanitizer_is_taken(tmp_path: Path) -> None:
    named_only = SMALL.replace("nounwind", "nosanitize_bounds").replace("@counter", "@sanitize_address")
    assert read_code(written(tmp_path, named_only + '@s = constant [5 x i8] c"!llvm"\n')).remarks == ()


@pytest.mark.needs("clang")  # zig cc's -Oz is -Os
def test_c_is_compiled_to_what_oz_begins_with(tmp_path: Path) -> None:
    source = tmp_path / "sum.c"
    source.write_text("int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n", encoding="utf-8")
    code = read_code(source)
    text = code.ir.decode()
    assert "alloca" in text
    assert "minsize" in text
    assert code.remarks == ()
    assert code.preparation() == (
        f"{shlex.join(ir_compiler('c'))} -Oz -Xclang -disable-llvm-passes -S -emit-llvm {source} -o sum.ll"
    )
    assert code.command("dce") == "opt -relocation-model=pic -passes=dce sum.ll -o sum.opt.bc"


@pytest.mark.needs("C compiler")
def test_the_preparation_makes_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is pasted into a shell, quotes included."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in clude").mkdir()
    (tmp_path / "in clude" / "word.h").write_text('#define WORD "$HOME"\n', encoding="utf-8")
    source = tmp_path / "-say it.c"
    source.write_text("#include <word.h>\nconst char *say(void) { return WORD AND; }\n", encoding="utf-8")
    flags = ("-Iin clude", '-DAND="it\'s"')
    code = read_code(source.name, function="say", options=ReadOptions(cflags=flags))
    subprocess.run(["sh", "-c", code.preparation()], check=True)
    assert read_code("-say it.ll", function="say").ir == code.ir
    assert " './-say it.ll' -o " in code.command("dce")
    assert " './-say it.ll' -o " in read_code("-say it.ll").command("dce")
    assert "$HOMEit's" in parse_ir((tmp_path / "-say it.ll").read_bytes()).text


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("name", "text", "flags"),
    [
        ("twice.cl", "kernel void twice(global int *p) { p[get_global_id(0)] *= 2; }\n", ()),
        ("half.cu", 'extern "C" __attribute__((global)) void half(int *p) { *p /= 2; }\n', ("-nocudainc",)),
    ],
)
def test_kernels_too_are_what_oz_begins_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, flags: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text, encoding="utf-8")
    code = read_code(name, options=ReadOptions(cflags=flags))
    assert code.remarks == ()
    assert "alloca" in code.ir.decode()
    subprocess.run(["sh", "-c", code.preparation()], check=True)
    assert read_code(f"{Path(name).stem}.ll").ir == code.ir


@pytest.mark.needs("clang")
def test_the_compiler_that_was_asked_for_is_told(tmp_path: Path) -> None:
    source = tmp_path / "one.c"
    source.write_text("int one(void) { return 1; }\n", encoding="utf-8")
    (compiler,) = find_compiler("cl")
    path = str(shutil.which(compiler))
    assert read_code(source, options=ReadOptions(compiler=path)).preparation().startswith(f"{path} -Oz ")


@pytest.mark.needs("clang-19")
def test_a_clang_that_the_llvm_reads_is_told(tmp_path: Path) -> None:
    source = tmp_path / "one.c"
    source.write_text("int one(void) { return 1; }\n", encoding="utf-8")
    assert read_code(source, version="19.1.0").preparation().startswith("clang-19 -Oz ")


def test_the_tools_of_the_llvm_that_runs_the_lists_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "one.ll"
    file.write_text("define i32 @one() minsize {\n  ret i32 1\n}\n", encoding="utf-8")
    (tmp_path / "opt-77").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_code(file, version="77.0.1").command("dce").startswith("opt-77 -relocation-model=pic ")
    one = read_code(file, version="77.0.1", function="one").command("dce")
    assert one.startswith("llvm-extract-77 --func=one ")
    assert " | opt-77 " in one
    assert read_code(file, version="76.0.0").command("dce").startswith("opt -relocation-model=pic ")  # not installed
