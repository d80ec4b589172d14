"""What kernels say of their blocks: as three clangs write it, and as other compilers and other LLVMs do."""

import math
from pathlib import Path

import pytest

from mirenc.llvm import parse_ir, read_ir
from mirenc.llvm.analysis.block_bounds import BlockBounds, block_bounds

BOUNDS = Path(__file__).parents[2] / "fixtures" / "bounds"
CLANGS = ("clang-14", "clang-16", "clang-19")


def bounds(module: str, kernel: str) -> BlockBounds:
    return block_bounds(read_ir(BOUNDS / f"{module}.ll"), kernel)


@pytest.mark.parametrize("clang", CLANGS)
def test_bounds_that_clang_writes_for_opencl(clang: str) -> None:
    of = {name: bounds(f"{clang}.spir", name) for name in ("anything", "hinted", "required", "plane", "cube")}
    assert of["anything"] == of["hinted"] == BlockBounds()  # a hint forbids nothing
    assert [of[name].required for name in ("required", "plane", "cube")] == [(64, 1, 1), (48, 2, 1), (4, 4, 4)]
    assert of["required"].text == "reqd_work_group_size(64, 1, 1): no other shape can be launched"


@pytest.mark.parametrize("clang", CLANGS)
def test_bounds_that_clang_writes_for_amd(clang: str) -> None:
    anything, required = (bounds(f"{clang}.amdgcn", name) for name in ("anything", "required"))
    assert (anything.least, anything.most, anything.required) == (1, 256, ())  # what AMD's compiler takes for granted
    assert (required.least, required.most, required.required) == (64, 64, (64, 1, 1))


@pytest.mark.parametrize("clang", CLANGS)
def test_bounds_that_clang_writes_for_cuda(clang: str) -> None:
    anything, bounded, both_bounds = (bounds(f"{clang}.cuda", name) for name in ("anything", "bounded", "both"))
    assert anything == BlockBounds()
    assert (bounded.most, bounded.blocks, bounded.required) == (64, 0, ())
    # The second number is about registers: as many shapes as without it.
    assert (both_bounds.most, both_bounds.blocks) == (512, 2)
    assert both_bounds.refusal((512, 1)) == both_bounds.refusal((16, 32)) == ""
    assert both_bounds.text == (
        "__launch_bounds__(512): at most 512 threads a block; "
        "2 blocks or more at once on a multiprocessor: fewer registers a thread, any shape"
    )


def written(attributes: str = "", attached: str = "", nodes: str = "") -> BlockBounds:
    """Of a kernel with such attributes, such metadata, and such nodes of its module."""
    group = f"attributes #0 = {{ {attributes} }}\n" if attributes else ""
    text = f"define ptx_kernel void @k(ptr %x) {'#0 ' if group else ''}{attached}{{\n  ret void\n}}\n{group}{nodes}\n"
    return block_bounds(parse_ir(f'target triple = "nvptx64-nvidia-cuda"\n{text}'), "k")


SPIRV = "!spirv.ExecutionMode = !{!0}\n!0 = "
ANNOTATED = "!nvvm.annotations = !{!0}\n!0 = "
TWO_SIDES = """!nvvm.annotations = !{!0, !1}
!0 = !{ptr @k, !"maxntidy", i32 8}
!1 = !{ptr @k, !"maxntidx", i32 16}"""
ALL_SIDES = (
    f"""{ANNOTATED}!{{ptr @k, !"reqntidx", i32 32, !"reqntidy", i32 4, !"reqntidz", i32 1, !"minctasm", i32 2}}"""
)
OPENCL = """!opencl.kernels = !{!0}
!0 = !{ptr @k, !1, !2}
!1 = !{!"kernel_arg_type", !"float*"}
!2 = !{!"reqd_work_group_size", i32 64, i32 2, i32 1}"""


@pytest.mark.parametrize(
    ("attributes", "most", "required", "blocks"),
    [
        ('"nvvm.maxntid"="64"', 64, (), 0),
        ('"nvvm.maxntid"="32,4,2"', 256, (), 0),  # of the product
        ('"nvvm.maxntid"="256" "nvvm.minctasm"="4" "nvvm.maxnreg"="32"', 256, (), 4),
        ('"nvvm.reqntid"="64"', math.inf, (64, 1, 1), 0),
        ('"nvvm.reqntid"="16,8,2" "nvvm.maxntid"="1024"', 1024, (16, 8, 2), 0),
        ('"amdgpu-flat-work-group-size"="1,512"', 512, (), 0),
    ],
)
def test_bounds_in_attributes(attributes: str, most: float, required: tuple[int, ...], blocks: int) -> None:
    kernel_bounds = written(attributes)
    assert (kernel_bounds.most, kernel_bounds.required, kernel_bounds.blocks) == (most, required, blocks)


@pytest.mark.parametrize(
    ("attached", "nodes", "most", "required", "blocks"),
    [
        # Before LLVM 20: one annotation a side, in any order.
        ("", ANNOTATED + '!{ptr @k, !"kernel", i32 1, !"maxntidx", i32 96}', 96, (), 0),
        ("", TWO_SIDES, 128, (), 0),
        ("", ALL_SIDES, math.inf, (32, 4, 1), 2),
        ("!reqd_work_group_size !0 ", "!0 = !{i32 8, i32 8, i32 1}", math.inf, (8, 8, 1), 0),
        ("!work_group_size_hint !0 ", "!0 = !{i32 8, i32 8, i32 1}", math.inf, (), 0),
        ("", OPENCL, math.inf, (64, 2, 1), 0),
        ("", SPIRV + "!{ptr @k, i32 17, i32 128, i32 1, i32 1}", math.inf, (128, 1, 1), 0),
        # SPIR-V's mode 18 is a hint; and what another kernel says is not this one's.
        ("", SPIRV + "!{ptr @k, i32 18, i32 128, i32 1, i32 1}", math.inf, (), 0),
        ("", "define void @kk() {\n  ret void\n}\n" + SPIRV + "!{ptr @kk, i32 17, i32 128, i32 1}", math.inf, (), 0),
    ],
)
def test_bounds_in_metadata(attached: str, nodes: str, most: float, required: tuple[int, ...], blocks: int) -> None:
    kernel_bounds = written(attached=attached, nodes=nodes)
    assert (kernel_bounds.most, kernel_bounds.required, kernel_bounds.blocks) == (most, required, blocks)


def test_ir_of_llvm_3() -> None:
    text = """target triple = "spir64-unknown-unknown"
define void @k(float addrspace(1)* %x) {
  ret void
}
!opencl.kernels = !{!0}
!0 = metadata !{void (float addrspace(1)*)* @k, metadata !1}
!1 = metadata !{metadata !"reqd_work_group_size", i32 64, i32 1, i32 1}
"""
    with_bounds = block_bounds(parse_ir(text.replace("metadata ", "")), "k")
    assert with_bounds.required == (64, 1, 1)


@pytest.mark.parametrize(
    ("bounds", "shape", "refusal"),
    [
        (BlockBounds(required=(64, 1, 1)), (64,), ""),
        (BlockBounds(required=(64, 1, 1)), (32, 2), "32 x 2 x 1, where 64 x 1 x 1 is required"),
        (BlockBounds(most=64), (8, 8), ""),
        (BlockBounds(most=64), (65,), "65 work-items, and at most 64 are allowed"),
        (BlockBounds(least=64, most=128), (32,), "32 work-items, and 64 to 128 are allowed"),
        (BlockBounds(widest=(16, 16, 1)), (16, 16), ""),
        (BlockBounds(widest=(16, 16, 1)), (8, 32), "8 x 32 x 1 is too long in y"),
    ],
)
def test_refusals(bounds: BlockBounds, shape: tuple[int, ...], refusal: str) -> None:
    assert bounds.refusal(shape) == refusal


def test_sides_have_bounds_of_their_own() -> None:
    kernel_bounds = written(attached="!max_work_group_size !0 ", nodes="!0 = !{i32 32, i32 8, i32 1}")
    assert kernel_bounds.widest == (32, 8, 1)
    assert kernel_bounds.refusal((32, 8)) == ""
    assert kernel_bounds.refusal((64, 1)) == "64 x 1 x 1 is too long in x"


@pytest.mark.parametrize(
    ("head", "items", "allowed"),
    [
        ('"omp_target_thread_limit"="64"', 64, True),
        ('"omp_target_thread_limit"="64"', 65, False),
        ('"amdgpu-flat-work-group-size"="128,256" !reqd_work_group_size !0', 64, False),
        ("!max_work_group_size !0", 64, True),
        ("!max_work_group_size !0", 128, False),
        ('section "x#1"', 1024, True),
    ],
)
def test_work_items_that_bounds_allow(head: str, items: int, allowed: bool) -> None:
    text = (
        f"define amdgpu_kernel void @k(ptr %p) {head} {{\n  ret void\n}}\n"
        "define void @other() #1 {\n  ret void\n}\n"
        'attributes #1 = { "amdgpu-flat-work-group-size"="1,2" }\n!0 = !{i32 64, i32 1, i32 1}\n'
    )
    assert (not block_bounds(parse_ir(text), "k").items_refusal(items)) is allowed
