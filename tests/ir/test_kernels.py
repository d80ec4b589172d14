"""`kernels_of`: kernels are found however clang marks them, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirenc.errors import ForeignIRError, MirencError
from mirenc.ir import check_kernels, kernels_of, parse_ir, read_ir

HERE = Path(__file__).parent.parent
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
    found = {}
    for path in others:
        try:
            found[path] = kernels_of(read_ir(path))
        except MirencError:
            continue  # an old text that only an older clang reads
    assert len(found) > 50
    assert {path: names for path, names in found.items() if names} == {}


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


@pytest.mark.parametrize("query", ["get_global_id", "_Z12get_group_idj"])
def test_an_unmarked_function_that_asks_for_its_work_item(query: str) -> None:
    assert kernels_of(parse_ir(LOWERED.format(query=query))) == ["work"]


def test_a_simulator_that_defines_the_question_is_none() -> None:
    text = LOWERED.format(query="get_global_id").replace(
        "declare i64 @get_global_id(i32)", "define i64 @get_global_id(i32 %d) {\n  ret i64 0\n}"
    )
    assert kernels_of(parse_ir(text)) == []


def test_the_list_of_an_old_module() -> None:
    text = "define void @f(ptr %p) {\n  ret void\n}\n!opencl.kernels = !{!0}\n!0 = !{ptr @f}\n"
    assert kernels_of(parse_ir(text)) == ["f"]


def test_an_argument_mark_and_a_quoted_name() -> None:
    text = 'define void @"my kernel"(ptr %p) !kernel_arg_type !0 {\n  ret void\n}\n!0 = !{!"int*"}\n'
    assert kernels_of(parse_ir(text)) == ["my kernel"]


def test_a_declared_kernel_is_none() -> None:
    text = "declare spir_kernel void @k(ptr)\ndefine void @f() {\n  ret void\n}\n"
    assert kernels_of(parse_ir(text)) == []


def test_the_refusal_names_the_functions() -> None:
    with pytest.raises(ForeignIRError, match=r"host\.ll: no OpenCL or CUDA kernel among its 1 functions \(main\)"):
        check_kernels(parse_ir("define i32 @main() {\n  ret i32 0\n}\n", name="host.ll"))
