"""How block sizes are measured: what is built, which shapes are refused, and a user's own kernels."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mirenc.base.errors import CompileError, ConfigError, TaskError, ToolchainError
from mirenc.decide.settings import Space
from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.decide.tasks import block_size as block_shapes
from mirenc.decide.tasks.block_size import block_space
from mirenc.llvm.inputs.dialect import CUDA_WORDS, WITHOUT_CUDA
from mirenc.tools.measure import block_size
from mirenc.tools.measure.block_size import CUDA, BlockSizeMethod, build_options
from mirenc.tools.measure.building import ir_of
from mirenc.tools.measure.method import get_method
from mirenc.tools.measure.timed import TimedRun
from mirenc.tools.run.compilers import Toolchain
from mirenc.tools.run.run_folder import Plan

SOURCE = "__kernel void twice(__global float *y, const int n)\n{\n    if (get_global_id(0) < n)\n        y[0] = 2;\n}\n"
ANY = Toolchain("clang")  # where nothing is compiled
DRIVER = """kernel = "twice"
sizes = [100, 1000]
global = ["n"]
[[argument]]
name = "y"
buffer = "float"
count = "n"
output = true
[[argument]]
name = "n"
scalar = "int"
value = "n"
"""


def written(folder: Path, source: str = SOURCE, driver: str = DRIVER, suffix: str = "cl") -> Path:
    (folder / "twice.driver.toml").write_text(driver)
    path = folder / f"twice.{suffix}"
    path.write_text(source)
    return path


def own_kernel(group: str, language: str = "cl") -> MeasuredKernel:
    return next(one for one in BlockSizeMethod().own_kernels(10**6) if (one.language, one.group) == (language, group))


@pytest.mark.needs("clang")
def test_one_build_serves_all_shapes(tmp_path: Path) -> None:
    method = get_method("block_size")
    build = method.build(own_kernel("transpose_tiled"), "a-cpu", tmp_path, method.find_compiler(None))
    assert [cell.setting for cell in build.cells] == list(block_space("cl", 2).settings)
    assert build.cells[4].before == {"local": [16, 4], "device": "a-cpu"}
    assert len({(cell.code, cell.library) for cell in build.cells}) == 1
    assert build.copy.before == build.cells[build.default].before == {"local": [16, 16], "device": "a-cpu"}
    assert build.copy.library != build.cells[0].library
    assert build.symbol == "transpose_tiled"
    assert "spir64" in build.ir


@pytest.mark.needs("clang")
def test_a_refused_shape_is_no_candidate(tmp_path: Path) -> None:
    method = BlockSizeMethod()
    path = written(tmp_path, driver="max_block = 64\npower_of_two = true\n" + DRIVER)
    kernel = next(method.user_kernels([path], ANY))
    build = method.build(kernel, "a-cpu", tmp_path, method.find_compiler(None))
    refused = {cell.setting[0] for cell in build.cells if cell.problem}
    assert refused == {128, 256, 512, 1024, 2048, 4096}
    assert build.cells[build.default].setting == (64, 1)  # else nothing could be compared
    assert build.copy.setting == (64, 1)


@pytest.mark.needs("clang")
def test_a_device_has_bounds_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BlockSizeMethod, "describe", lambda self, part: {"max_block": 128})
    method = BlockSizeMethod()
    build = method.build(own_kernel("transpose_tiled"), "a-gpu", tmp_path, method.find_compiler(None))
    able = [cell.setting for cell in build.cells if not cell.problem]
    assert able == [one for one in block_space("cl", 2).settings if int(one[0]) * int(one[1]) <= 128]
    assert build.cells[build.default].setting == (8, 8)  # of 64 items, as square as 16 x 16


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("suffix", "attribute", "most"),
    [
        ("cl", "__attribute__((reqd_work_group_size(64, 1, 1)))", 0),
        ("cl", "__attribute__((work_group_size_hint(64, 1, 1)))", 4096),
        ("cu", "__launch_bounds__(96)", 96),
        ("cu", "__launch_bounds__(512, 2)", 512),
        ("cu", "__launch_bounds__(32)", 0),
    ],
)
def test_a_kernels_own_bounds_are_kept(tmp_path: Path, suffix: str, attribute: str, most: int) -> None:
    source = SOURCE.replace("__kernel", f"__kernel {attribute}")
    if suffix == "cu":
        source = f'extern "C" __global__ void {attribute} twice(float *y, const int n)\n{{\n    y[0] = n;\n}}\n'
    method = BlockSizeMethod()
    toolchain = method.find_compiler(None)
    path = written(tmp_path, source, "max_block = 4096\n" + DRIVER, suffix)
    kernel = next(method.user_kernels([path], toolchain))
    part = CUDA if suffix == "cu" else "a-cpu"
    if not most:
        with pytest.raises(
            CompileError,
            match=r"twice can be launched in 1 of the 1\d shapes \((reqd_work_group_size\(64|__launch_bounds__\(32)",
        ):
            method.build(kernel, part, tmp_path, toolchain)
        return
    build = method.build(kernel, part, tmp_path, toolchain)
    assert max(cell.setting[0] for cell in build.cells if not cell.problem) == min(most, 1024 if part == CUDA else 4096)
    assert build.cells[build.default].setting[0] == min(most, 256)


def test_own_kernels_are_for_the_parts_that_take_them() -> None:
    method = BlockSizeMethod()
    kernels = list(method.own_kernels(4))
    assert [kernel.language for kernel in kernels] == ["cl"] * 4 + ["cuda"] * 4
    assert [method.takes(kernel, CUDA) for kernel in kernels] == [False] * 4 + [True] * 4
    assert [method.runner_for(part) for part in (CUDA, "a-cpu")] == ["cuda", "opencl"]


def test_a_users_kernel_has_a_driver_beside_it(tmp_path: Path) -> None:
    source = tmp_path / "twice.cl"
    source.write_text(SOURCE)
    with pytest.raises(TaskError, match=r"twice\.cl has no driver twice\.driver\.toml beside it"):
        list(BlockSizeMethod().user_kernels([source], ANY))
    (tmp_path / "twice.driver.toml").write_text(DRIVER)
    kernels = list(BlockSizeMethod().user_kernels([source], ANY))
    assert [kernel.name for kernel in kernels] == ["twice:twice cl 100", "twice:twice cl 1000"]
    assert kernels[1].context == {"n": 1000, "dimensions": 1, "cuda": 0}
    with pytest.raises(TaskError, match=r"a\.c is not an OpenCL or CUDA source"):
        list(BlockSizeMethod().user_kernels([tmp_path / "a.c"], ANY))


@pytest.mark.needs("clang")
def test_headers_beside_a_cuda_source_are_found(tmp_path: Path) -> None:
    (tmp_path / "two.h").write_text("#define TWO 2\n")
    cuda = SOURCE.replace("__kernel", '#include "two.h"\nextern "C" __global__').replace("__global float", "float")
    cuda = cuda.replace("get_global_id(0)", "threadIdx.x").replace("= 2", "= TWO")
    path = written(tmp_path, cuda, suffix="cu")
    method, folder = BlockSizeMethod(), tmp_path / "build"
    folder.mkdir()
    toolchain = method.find_compiler(None)
    build = method.build(next(method.user_kernels([path], toolchain)), CUDA, folder, toolchain)
    assert (folder / build.cells[0].library).name == "kernel.ptx"
    assert str(tmp_path) not in build.ir


@pytest.mark.parametrize("toolkit", [True, False])
def test_a_toolkit_that_the_flags_name_is_used_for_ir_and_ptx(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toolkit: bool
) -> None:
    seen: dict[str, Any] = {}

    def compiled(*_: Any, dialect: Any, cflags: Any, **__: Any) -> bytes:
        seen["ir"] = dialect, cflags[: len(flags)]
        return (
            b'target triple = "nvptx64-nvidia-cuda"\ndefine ptx_kernel void @twice(ptr %y, i32 %n) {\n  ret void\n}\n'
        )

    def built(source: Path, target: Path, toolchain: Toolchain, flags: Any) -> None:
        seen["ptx"] = flags
        target.write_text("//")

    monkeypatch.setattr("mirenc.tools.measure.building.compile_source", compiled)
    monkeypatch.setattr(block_size, "build_ptx", built)
    ir_of.cache_clear()
    flags = ("--cuda-path=/opt/cuda",) if toolkit else ("-DX=1",)
    kernel = MeasuredKernel("twice 100", "twice", "user", "cuda", "twice", 0, 100, {}, "made up", DRIVER)
    try:
        BlockSizeMethod().build(kernel, CUDA, tmp_path, Toolchain("clang", flags))
    finally:
        ir_of.cache_clear()
    assert seen["ir"] == (None if toolkit else WITHOUT_CUDA, flags)
    assert seen["ptx"] == (() if toolkit else ("-nocudainc", "-include", str(CUDA_WORDS)))


@pytest.mark.needs("clang")
def test_without_any_device_cuda_is_built_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> tuple[()]:
        raise ToolchainError("there is no device. Get pocl")

    monkeypatch.setattr(block_size, "cuda_device", none)
    monkeypatch.setattr(block_size, "opencl_devices", none)
    method = BlockSizeMethod()
    toolchain = method.find_compiler(None)
    run = TimedRun(method, toolchain, Plan(count=1, parts=(CUDA,), compile_only=True), tmp_path)
    run.go(lambda **_: None)
    assert [part for _, part in run.samples] == [CUDA]
    assert len(list((tmp_path / "work" / "objects").glob("*/*/kernel.ptx"))) == 1
    for plan in (Plan(count=1), Plan(count=1, compile_only=True), Plan(count=1, parts=(CUDA,))):
        with pytest.raises(ToolchainError, match="Get pocl"):
            TimedRun(method, toolchain, plan, tmp_path)


@pytest.mark.needs("clang")
def test_a_driver_for_another_kernel_is_refused(tmp_path: Path) -> None:
    method = BlockSizeMethod()
    kernel = next(method.user_kernels([written(tmp_path, SOURCE.replace("twice", "thrice"))], ANY))
    with pytest.raises(CompileError, match="has no kernel 'twice'"):
        method.build(kernel, "a-cpu", tmp_path, method.find_compiler(None))


@pytest.mark.needs("clang")
@pytest.mark.needs("OpenCL")
def test_measured_in_miniature_and_read_as_a_task(tmp_path: Path) -> None:
    method = BlockSizeMethod()
    part = next(part for part in method.parts() if part != CUDA)
    plan = Plan(sources=(written(tmp_path),), parts=(part,), rounds=4)
    run = TimedRun(method, method.find_compiler(None), plan, tmp_path)
    run.go(lambda **_: None)
    sample = run.table().samples[0]
    assert set(sample.status) <= {"ok", "compile"}
    assert sample.status[8] == "ok"
    assert len(sample.settings) == 13


@pytest.mark.needs("clang")
@pytest.mark.needs("OpenCL")
def test_flags_of_the_user_reach_the_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = Space(block_shapes.KNOBS, ((32, 1), (64, 1)), default=1, missing="default")
    for module in (block_shapes, block_size):
        monkeypatch.setattr(module, "block_space", lambda *_: few)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "two.h").write_text("#define TWO 2 * ONE\n")
    path = written(tmp_path, '#include "two.h"\n' + SOURCE.replace("= 2", "= TWO"))
    method = BlockSizeMethod()
    part = next(part for part in method.parts() if part != CUDA)
    plan = Plan(sources=(path,), parts=(part,), rounds=4)
    toolchain = replace(method.find_compiler(None), cflags=("-DONE=1", f"-I{tmp_path / 'own'}"))
    run = TimedRun(method, toolchain, plan, tmp_path)
    run.go(lambda **_: None)
    assert [sample.status for sample in run.table().samples] == [("ok", "ok")] * 2
    plain = replace(toolchain, cflags=("-O3", *toolchain.cflags))
    kernel = next(method.user_kernels(plan.sources, plain))
    with pytest.raises(ConfigError, match=r"is given '-O3', which its compiler does not know.* with --part cuda"):
        method.build(kernel, part, tmp_path, plain)


def test_options_of_an_opencl_build() -> None:
    assert tuple(build_options(("-D", "N=2", "-Iown", "-cl-mad-enable", "-w"))) == (
        "-DN=2",
        "-Iown",
        "-cl-mad-enable",
        "-w",
    )
    assert tuple(build_options(("--cuda-path=/opt/cuda", "-nocudainc"))) == ()
    for flags in (("-DT=unsigned int",), ("-D",), ("-I", "my own")):
        with pytest.raises(ConfigError, match="may not contain blanks"):
            list(build_options(flags))
    for flags in (("-march=native",), ("-std=c99",), ("-include", "a.h")):
        with pytest.raises(ConfigError, match=f"is given '{flags[0]}', which its compiler does not know"):
            list(build_options(flags))
