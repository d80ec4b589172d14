"""The CUDA runner on a fake driver library; that a GPU does the same is not shown here."""

import ctypes
import subprocess
import sys
from ctypes import c_float, c_int, c_uint64
from pathlib import Path

import fake_cuda
import numpy as np
import pytest
from fake_cuda import FakeCuda
from tools.measure.toy import SCALED, TILE

from mirenc.base.errors import TaskError, ToolchainError
from mirenc.tools.measure.block_size import BlockSizeMethod
from mirenc.tools.measure.gpu_driver import read_driver
from mirenc.tools.measure.runners import Cell, CellRefusedError
from mirenc.tools.measure.runners.cuda import CudaError, CudaRunner, LibCuda, cuda_device, parameter_bytes
from mirenc.tools.measure.sample_process import COPY, measure
from mirenc.tools.measure.timed import TimedRun
from mirenc.tools.run.compilers import Toolchain
from mirenc.tools.run.run_folder import Plan

PTX = """
.version 6.0
.target sm_70
.address_size 64
.visible .entry scaled(
	.param .u64 scaled_param_0,
	.param .u64 .ptr .global .align 4 scaled_param_1,
	.param .f32 scaled_param_2,
	.param .u32 scaled_param_3
)
{ ret; }
"""
DRIVER = SCALED.format(first=TILE, last="")


def floats(place: int, count: int) -> np.ndarray:
    address = ctypes.cast(place, ctypes.POINTER(c_uint64))[0]
    return np.frombuffer((c_float * count).from_address(address), np.float32)


def scaled(shape: tuple[int, ...], x: int, y: int, a: int, n: int) -> None:
    """What the PTX would do: y += a * x, for as many threads as there are."""
    count = ctypes.cast(n, ctypes.POINTER(c_int))[0]
    assert shape[3:] == (shape[3], 1, 1, 4 * shape[3])
    assert (shape[0] - 1) * shape[3] < count <= shape[0] * shape[3]
    np.add(floats(y, count), ctypes.cast(a, ctypes.POINTER(c_float))[0] * floats(x, count), out=floats(y, count))


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    fake = FakeCuda({"scaled": scaled})
    monkeypatch.setattr("mirenc.tools.measure.runners.cuda._open_library", lambda: fake)
    return fake


@pytest.fixture
def runner(tmp_path: Path, library: FakeCuda) -> CudaRunner:
    return loaded(tmp_path)


def loaded(folder: Path, driver: str = DRIVER, ptx: str = PTX) -> CudaRunner:
    (folder / "kernel.ptx").write_text(ptx)
    (folder / "driver.toml").write_text(driver)
    runner = CudaRunner()
    runner.load(folder, "driver.toml", 1000)
    return runner


def cell(*block: int, **before: object) -> Cell:
    return Cell(block, block, code="1", library="kernel.ptx", symbol="scaled", before={"local": list(block), **before})


def test_outputs_start_anew(runner: CudaRunner) -> None:
    for block in ((64,), (32,), (64,)):
        assert np.array_equal(runner.outputs(cell(*block))[0], 3 * np.arange(1000, dtype=np.float32))


@pytest.mark.parametrize("calls", [1, 100, 128, 1000])
def test_a_batch_is_timed_by_the_gpu(runner: CudaRunner, library: FakeCuda, calls: int) -> None:
    for threads in (32, 64, 256):
        assert runner.time(cell(threads), calls) == pytest.approx(calls * fake_cuda.LAUNCH[threads], rel=1e-3)
    # Recorded once, however often it is played.
    assert library.calls.count("cuLaunchKernel") == 3 * min(calls, 128)
    runner.time(cell(32), calls)
    assert library.calls.count("cuLaunchKernel") == 3 * min(calls, 128)


def test_a_batch_starts_anew(runner: CudaRunner) -> None:
    runner.time(cell(64), 3)
    assert runner.starts[0][0] != runner.starts[0][1]
    assert np.array_equal(runner.outputs(cell(64))[0], 3 * np.arange(1000, dtype=np.float32))


@pytest.mark.parametrize("code", [1, 701])
def test_a_launch_that_is_refused_costs_the_cell(runner: CudaRunner, library: FakeCuda, code: int) -> None:
    library.fail["cuLaunchKernel"] = code
    with pytest.raises(CellRefusedError, match=f"cuLaunchKernel: {fake_cuda.ERRORS[code][0].decode()}"):
        runner.outputs(cell(64))
    del library.fail["cuLaunchKernel"]
    assert runner.outputs(cell(64))[0][1] == 3


def test_a_kernel_that_fails_takes_the_context_along(runner: CudaRunner, library: FakeCuda) -> None:
    """Such an error comes with a later call, and no call after it works: the process must end."""
    runner.outputs(cell(64))
    library.fail["cuCtxSynchronize"] = 719
    with pytest.raises(CudaError, match=r"cuCtxSynchronize: CUDA_ERROR_LAUNCH_FAILED \(unspecified launch failure\)"):
        runner.outputs(cell(32))


def test_parameters_must_have_the_kernels_widths(tmp_path: Path, library: FakeCuda) -> None:
    runner = loaded(tmp_path, DRIVER.replace('scalar = "int"', 'scalar = "long"'))
    with pytest.raises(RuntimeError, match=r"takes parameters of \[8, 8, 4, 4\] bytes, and its driver gives .*4, 8\]"):
        runner.outputs(cell(64))


def test_an_error_without_a_name_keeps_its_number(library: FakeCuda) -> None:
    library.fail["cuInit"] = 12345
    with pytest.raises(CudaError, match=r"cuInit: error 12345 \(error 12345\)"):
        LibCuda().call("cuInit", 0)


def test_the_gpu_is_described(library: FakeCuda) -> None:
    device = cuda_device()
    assert (device["name"], device["capability"], device["driver"]) == ("Fake GPU", "9.0", "12.4")
    assert (device["memory"], device["processors"], device["warp"]) == (80 << 30, 132, 32)
    assert [device[name] for name in ("threads", "blocks", "registers", "shared")] == [2048, 32, 65536, 233472]


def test_a_missing_gpu_is_reported(library: FakeCuda) -> None:
    library.fail["cuInit"] = 100
    with pytest.raises(ToolchainError, match="finds no GPU: cuInit: CUDA_ERROR_NO_DEVICE"):
        cuda_device()


def test_an_old_driver_is_reported(library: FakeCuda) -> None:
    del library.cuGraphInstantiateWithFlags  # type: ignore[attr-defined]
    with pytest.raises(ToolchainError, match=r"has no cuGraphInstantiateWithFlags. Install one for CUDA 11\.4"):
        cuda_device()


def test_the_process_that_measures_needs_numpy_alone() -> None:
    """So kernels that were built elsewhere can be timed on a machine that has a GPU and little else."""
    heavy = {"llvmlite", "pyarrow", "pydantic", "scipy", "typer"}
    program = "import sys, mirenc.tools.measure.sample_process, mirenc.tools.measure.runners.cuda\n"
    program += f"print({heavy} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_machine_without_a_gpu_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mirenc.tools.measure.runners.cuda._NAME", "libno-such-cuda.so.1")
    monkeypatch.setattr(BlockSizeMethod, "parts", lambda _: ("cpu",))
    with pytest.raises(ToolchainError, match=r"NVIDIA's driver cannot be loaded"):
        TimedRun(BlockSizeMethod(), Toolchain("clang"), Plan(count=1, parts=("cuda",)), tmp_path)
    monkeypatch.setattr("mirenc.tools.measure.block_size.opencl_devices", dict)
    with pytest.raises(TaskError, match="block_size has no part 'gpu' on this machine; available: cpu"):
        TimedRun(BlockSizeMethod(), Toolchain("clang"), Plan(count=1, parts=("gpu",)), tmp_path)


@pytest.mark.needs("clang")
@pytest.mark.needs("libdevice")
def test_kernels_are_built_where_no_gpu_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is carried to a machine with one, and says nothing of this one."""
    monkeypatch.setattr("mirenc.tools.measure.runners.cuda._NAME", "libno-such-cuda.so.1")
    monkeypatch.setattr(BlockSizeMethod, "parts", lambda _: ())
    method = BlockSizeMethod()
    run = TimedRun(method, method.find_compiler(None), Plan(count=2, parts=("cuda",), compile_only=True), tmp_path)
    reported: list[str] = []
    run.go(lambda note: reported.append(note))
    assert reported == [kernel.name for kernel, _ in run.samples]
    for kernel, part in run.samples:
        text = (run.objects.folder(kernel, part) / "kernel.ptx").read_text()
        arguments = read_driver(kernel.driver, kernel.name).arguments
        passed = [each for each in arguments if each.kind != "local"]
        sizes = [8 if each.kind == "buffer" else each.dtype.itemsize for each in passed]
        assert parameter_bytes(text, kernel.function) == sizes
    assert not (tmp_path / "work" / "journal.jsonl").exists()


def test_the_rules_of_timing_hold_for_it(runner: CudaRunner, tmp_path: Path, library: FakeCuda) -> None:
    """Checked, calibrated and timed by the code that measures C: the fake GPU's clock comes out as costs."""
    library.function_threads = 512
    cells = {0: cell(64), 1: cell(32), 2: cell(256), 3: cell(1024), COPY: cell(64)}
    place = {"folder": str(tmp_path), "driver": "driver.toml", "size": 1000}
    ask = {**place, "default": 0, "rounds": 4, "seed": [0], "limit": 10.0, "max_noise": 0.03}
    answer = measure(runner, cells, ask, lambda *_: None)
    refused = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
    assert answer["failed"] == {3: f"crash: cuLaunchKernel: {refused} (too many resources requested for launch)"}
    assert answer["dropped"] == ""
    assert answer["noise"] < 1e-3
    for half in ("label", "report"):
        expected = {index: fake_cuda.LAUNCH[cells[index].setting[0]] for index in (0, 1, 2, COPY)}
        assert answer[half] == pytest.approx(expected, rel=1e-3)
