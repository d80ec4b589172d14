"""CUDA to PTX, without a toolkit and without a GPU."""

from pathlib import Path

import pytest

from mirenc.base.errors import CompileError, ToolchainError
from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.tools.measure import block_size
from mirenc.tools.measure.block_size import build_ptx, find_libdevice
from mirenc.tools.measure.runners.cuda import parameter_bytes
from mirenc.tools.run.compilers import Toolchain

SOURCE = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
extern "C" __device__ float __nv_expf(float);
extern "C" __global__ void plain(float *y, float a, unsigned char c, long m) { *y = a + c + m; }
extern "C" __global__ void exponent(double *x, short n) { *x = __nv_expf(*x) + n; }
"""


def build(folder: Path, source: str, *cflags: str) -> str:
    (clang,) = find_compiler("cuda")
    (folder / "kernel.cu").write_text(source)
    build_ptx(folder / "kernel.cu", folder / "kernel.ptx", Toolchain(clang, cflags))
    return (folder / "kernel.ptx").read_text()


@pytest.mark.needs("clang")
def test_parameters_have_their_widths(tmp_path: Path) -> None:
    text = build(tmp_path, SOURCE.replace("__nv_expf(*x)", "*x"))
    assert parameter_bytes(text, "plain") == [8, 4, 1, 8]
    assert parameter_bytes(text, "exponent") == [8, 2]
    with pytest.raises(CompileError, match="no kernel 'plane'; there is plain, exponent"):
        parameter_bytes(text, "plane")


def test_newer_spellings_of_parameters() -> None:
    parameters = (".u64 .ptr .global .align 4 f_param_0", ".align 8 .b8 f_param_1[24]", ".b32 f_param_2")
    text = f".entry f({','.join(f' .param {parameter}' for parameter in parameters)} )"
    assert parameter_bytes(text, "f") == [8, 24, 4]
    assert parameter_bytes(".entry g()", "g") == []


@pytest.mark.needs("clang")
def test_any_gpu_since_2017_and_any_driver_takes_it(tmp_path: Path) -> None:
    """Whatever toolkit is installed beside: clang would write for the newest driver."""
    text = build(tmp_path, SOURCE.replace("__nv_expf(*x)", "*x"))
    assert ".version 6.0" in text
    assert ".target sm_70" in text


@pytest.mark.needs("clang")
def test_a_mathematical_function_needs_libdevice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_size, "find_libdevice", lambda: None)
    with pytest.raises(ToolchainError, match=r"kernel.cu calls __nv_expf, and .* pip install 'mirenc\[cuda\]'"):
        build(tmp_path, SOURCE)


@pytest.mark.needs("clang")
@pytest.mark.needs("libdevice")
def test_libdevice_is_linked_in(tmp_path: Path) -> None:
    assert "__nv_expf" not in build(tmp_path, SOURCE)


@pytest.mark.needs("clang")
def test_what_clang_refuses_is_said(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"kernel.cu gives no PTX: compile: error: .*undeclared identifier 'z'"):
        build(tmp_path, SOURCE.replace("a + c", "a + z"))


def test_a_toolkit_is_found_by_its_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    libdevice = tmp_path / "nvvm" / "libdevice" / "libdevice.10.bc"
    libdevice.parent.mkdir(parents=True)
    libdevice.touch()
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setenv("CUDA_PATH", str(tmp_path))
    assert find_libdevice() == libdevice
