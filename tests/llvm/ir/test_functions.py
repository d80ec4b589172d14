"""Kernels are found however clang marks them, and nothing else is; a linker keeps one of several copies."""

from pathlib import Path

import pytest

from mirenc.base.errors import ForeignIRError, MirencError
from mirenc.llvm import IRModule, check_kernels, kernels_of, parse_ir, read_ir
from mirenc.llvm.ir.functions import Linker, linkages_of, object_name

HERE = Path(__file__).parents[2]
SOURCES = HERE / "fixtures" / "sources"
KERNELS_OF = {"reduce": ["reduce", "blur", "tally"], "vectors": ["integrate", "pack", "resample"]}
KERNELS_OF["device"] = ["evaluate", "transpose", "count"]
COMPILED = sorted((HERE / "fixtures" / "ir").glob("*/*/*.ll"))


def stem(path: Path) -> str:
    return path.name.partition(".")[0]


@pytest.mark.parametrize("path", [path for path in COMPILED if stem(path) in KERNELS_OF], ids=str)
def test_every_compiled_kernel_is_found(path: Path) -> None:
    names = kernels_of(read_ir(path))
    assert names == KERNELS_OF[stem(path)]


def test_no_compiled_cpu_code_has_one() -> None:
    others = [path for path in COMPILED if stem(path) not in KERNELS_OF]
    others += [path for path in (HERE.parent / "examples").glob("*.ll") if path.stem != "vector_add"]
    kernels_by_file = {}
    for path in others:
        try:
            kernels_by_file[path] = kernels_of(read_ir(path))
        except MirencError:
            continue  # an old text that only an older clang reads
    assert len(kernels_by_file) > 50
    assert {path: names for path, names in kernels_by_file.items() if names} == {}


LOWERED = """
declare i64 @{query}(i32)
define i64 @where() {{
  %i = call i64 @{query}(i32 0)
  ret i64 %i
}}
define void @work(ptr %p) {{
  %i = call i64 @where()
  %q = getelementptr i32, ptr %p, i64 %i
  store i32 0, ptr %q
  ret void
}}
define void @idle(ptr %p) {{
  store i32 0, ptr %p
  ret void
}}
"""


SIMULATOR = "define i64 @get_global_id(i32 %d) {\n  ret i64 0\n}"


@pytest.mark.parametrize(
    ("text", "kernels"),
    [
        # Unmarked functions that ask for their work item; a simulator that defines the question has none.
        (LOWERED.format(query="get_global_id"), ["work"]),
        (LOWERED.format(query="_Z12get_group_idj"), ["work"]),
        (LOWERED.format(query="get_global_id").replace("declare i64 @get_global_id(i32)", SIMULATOR), []),
        # The list of an old module; an argument's mark and a quoted name; a declared kernel.
        ("define void @f(ptr %p) {\n  ret void\n}\n!opencl.kernels = !{!0}\n!0 = !{ptr @f}\n", ["f"]),
        ('define void @"my k"(ptr %p) !kernel_arg_type !0 {\n  ret void\n}\n!0 = !{!"int*"}\n', ["my k"]),
        ("declare spir_kernel void @k(ptr)\ndefine void @f() {\n  ret void\n}\n", []),
    ],
)
def test_kernels_of_a_module(text: str, kernels: list[str]) -> None:
    assert kernels_of(parse_ir(text)) == kernels


def test_the_refusal_names_the_functions() -> None:
    with pytest.raises(ForeignIRError, match=r"host\.ll: no OpenCL or CUDA kernel among its 1 functions \(main\)"):
        check_kernels(parse_ir("define i32 @main() {\n  ret i32 0\n}\n", name="host.ll"))


def module(**linkages: str) -> IRModule:
    return parse_ir("".join(f"define {word} i32 @{name}() {{\n  ret i32 1\n}}\n" for name, word in linkages.items()))


def test_each_linkage_is_read() -> None:
    words = ("linkonce", "linkonce_odr", "weak", "weak_odr", "internal", "private", "available_externally")
    assert linkages_of(module(**{word: word for word in words})) == {word: word for word in words}
    assert linkages_of(module(a="", b="external")) == {"a": "external", "b": "external"}


def test_what_stands_around_a_linkage_does_not_matter() -> None:
    text = """\
declare i32 @seen()
define linkonce_odr hidden noundef nonnull align 8 ptr @"an odd (name)"(ptr returned %linkonce) #0 {
  %x = call i32 @seen()
  ret ptr %linkonce
}
define dso_local i32 @weak(ptr byref(i32) %weak) personality ptr @seen {
  ret i32 1
}
attributes #0 = { "weak" }
"""
    assert linkages_of(parse_ir(text)) == {"an odd (name)": "linkonce_odr", "weak": "external"}


def test_names_are_those_of_an_object_file() -> None:
    assert object_name('"an odd (name)"') == "an odd (name)"
    assert object_name(r'"\01_\C3\A9t\C3\A9\22"') == '_été"'


@pytest.mark.parametrize("word", ["linkonce", "linkonce_odr", "weak", "weak_odr"])
def test_the_first_of_many_is_kept(word: str) -> None:
    linker = Linker()
    assert linker.add({"f": word, "own": "internal"}, ["f", "own"]) == ["f", "own"]
    # What has no code in one file may have it in the next.
    assert linker.add({"f": word, "own": "internal", "g": word}, ["own", "f"]) == ["own"]
    assert linker.add({"g": word}, ["g", "made by a pass"]) == ["g", "made by a pass"]
    assert linker.add({"g": word}, ["g"]) == []
    assert linker.copies == 2
