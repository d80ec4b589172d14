"""`bring`: IR of another target becomes the dialect's, and what is the dialect's already stays."""

from pathlib import Path

import pytest
from ir_views import instructions_of

from mirenc.base.errors import ForeignIRError
from mirenc.llvm import OPENCL_X86, IRModule, bring, parse_ir, read_ir

FIXTURES = Path(__file__).parents[2] / "fixtures"
DEVICE_IR = sorted(
    path for stem in ("reduce", "vectors", "device") for path in (FIXTURES / "ir").glob(f"*/*/{stem}.ll")
)

SPIR = """
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"
@tile = internal addrspace(3) global [16 x float] undef
define spir_func void @help(ptr addrspace(1) %p) {
  store float 1.0, ptr addrspace(1) %p
  ret void
}
define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(2) %b) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr inbounds float, ptr addrspace(1) %a, i64 %i
  %g = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)
  %h = addrspacecast ptr addrspace(4) %g to ptr addrspace(1)
  call spir_func void @help(ptr addrspace(1) %h)
  %l = load float, ptr addrspacecast (ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @tile, i64 4) to ptr)
  %m = fadd float %l, 1.0
  store float %m, ptr addrspace(4) %g
  call void @llvm.memcpy.p1.p2.i64(ptr addrspace(1) %a, ptr addrspace(2) %b, i64 %i, i1 false)
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) @tile, ptr addrspace(1) %a, i64 %i, i1 false)
  %old = call spir_func i32 @_Z8atom_addPU3AS1Vii(ptr addrspace(1) %a, i32 1)
  ret void
}
declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func i32 @_Z8atom_addPU3AS1Vii(ptr addrspace(1), i32)
declare void @llvm.memcpy.p1.p2.i64(ptr addrspace(1), ptr addrspace(2), i64, i1)
declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)
"""
X86 = """
target triple = "x86_64-apple-macosx10.13.0"
@tile = internal global [16 x float] undef
define void @help(ptr %p) {
  store float 1.0, ptr %p
  ret void
}
define spir_kernel void @k(ptr %a, ptr %b) {
  %i = call i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr inbounds float, ptr %a, i64 %i
  call void @help(ptr %p)
  %l = load float, ptr getelementptr (i8, ptr @tile, i64 4)
  %m = fadd float %l, 1.0
  store float %m, ptr %p
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %i, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr @tile, ptr %a, i64 %i, i1 false)
  %old = call i32 @_Z8atom_addPU8CLglobalVii(ptr %a, i32 1)
  ret void
}
declare i64 @_Z13get_global_idj(i32)
declare i32 @_Z8atom_addPU8CLglobalVii(ptr, i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def texts(module: IRModule) -> list[str]:
    return module.global_lines + [i.text for function in module.functions for i in instructions_of(function)]


def kernel(body: str, declares: str = "", triple: str = "nvptx64-nvidia-cuda") -> str:
    return (
        f'target triple = "{triple}"\ndefine ptx_kernel void @k(ptr %p, float %x) {{\n{body}  ret void\n}}\n{declares}'
    )


def brought(text: str) -> list[str]:
    return texts(bring(parse_ir(text), OPENCL_X86))


def test_spir_becomes_x86() -> None:
    module, expected = bring(parse_ir(SPIR, name="k.ll"), OPENCL_X86), parse_ir(X86)
    assert texts(module) == texts(expected)
    assert [header.signature for header in module.headers] == [header.signature for header in expected.headers]
    assert 'target triple = "x86_64-apple-macosx10.13.0"' in module.text
    assert "addrspace" not in module.text
    assert "spir_func" not in module.text
    assert module.name == "k.ll"


def test_what_is_in_the_dialect_stays() -> None:
    module = parse_ir(X86)
    assert bring(module, OPENCL_X86) is module


@pytest.mark.parametrize(
    ("writer", "changed"),
    [
        ("Apple LLVM version 9.1.0 (clang-902.0.39.1)", False),
        ("clang version 5.0.1-4", False),
        ("clang version 6.0.0", False),
        ("Debian clang version 14.0.6", True),
        ("Apple clang version 15.0.0 (clang-1500.3.9.4)", True),
    ],
)
def test_ir_of_old_compilers_is_not_rewritten(writer: str, changed: bool) -> None:
    text = kernel("  %y = fneg float %x\n  store float %y, ptr %p\n").replace("ptx_kernel", "spir_kernel")
    module = parse_ir(f'{text}!llvm.ident = !{{!0}}\n!0 = !{{!"{writer}"}}\n')
    assert (bring(module, OPENCL_X86) is not module) == changed


@pytest.mark.parametrize("path", DEVICE_IR, ids=lambda path: "/".join(path.parts[-3:]))
def test_compiled_device_code_can_be_brought(path: Path) -> None:
    module = bring(read_ir(path), OPENCL_X86)
    assert "addrspace" not in module.text
    assert "spirv." not in module.text
    assert bring(module, OPENCL_X86).content_hash == module.content_hash


def test_special_registers_become_queries() -> None:
    text = kernel(
        "  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()\n  store i32 %1, ptr %p\n"
        "  call void @llvm.nvvm.barrier0()\n",
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()\ndeclare void @llvm.nvvm.barrier0()\n",
    )
    assert brought(text) == [
        "%mirenc.1 = call i64 @_Z12get_group_idj(i32 1)",
        "%1 = trunc i64 %mirenc.1 to i32",
        "store i32 %1, ptr %p, align 4",
        "call void @_Z7barrierj(i32 1)",
        "ret void",
    ]


@pytest.mark.parametrize("name", ["get_local_id", "_Z12get_local_idj"])
def test_a_narrow_or_plain_query_becomes_the_wide_one(name: str) -> None:
    text = kernel(f"  %i = call i32 @{name}(i32 0)\n  store i32 %i, ptr %p\n", f"declare i32 @{name}(i32)\n", "spir")
    assert brought(text)[:2] == ["%mirenc.i = call i64 @_Z12get_local_idj(i32 0)", "%i = trunc i64 %mirenc.i to i32"]


def test_text_in_strings_is_not_rewritten() -> None:
    text = '@s = addrspace(2) constant [16 x i8] c"addrspace(1) xyz"\n'
    assert (
        brought(kernel("  store ptr addrspace(2) @s, ptr %p\n", text))[0] == text.replace("addrspace(2) ", "").strip()
    )


@pytest.mark.parametrize(
    ("body", "declares", "construct"),
    [
        (
            "  %v = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 0, i32 1, i32 31)\n",
            "declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)\n",
            "it uses llvm.nvvm.shfl.sync.down.i32 of its target",
        ),
        ('  call void asm sideeffect "bar.sync 1;", ""()\n', "", "it uses assembly text of its target"),
    ],
)
def test_what_has_no_counterpart_is_foreign(body: str, declares: str, construct: str) -> None:
    with pytest.raises(
        ForeignIRError, match=rf"k\.ll: {construct}, which cannot be written in .*\. Give the kernel's OpenCL"
    ):
        bring(parse_ir(kernel(body, declares), name="k.ll"), OPENCL_X86)


def test_cpu_code_is_foreign() -> None:
    with pytest.raises(ForeignIRError, match="no OpenCL or CUDA kernel"):
        bring(read_ir(FIXTURES.parent.parent / "examples" / "saxpy.ll"), OPENCL_X86)
