"""The OpenCL runner, on a device that is really there."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tools.measure.toy import SCALED, TILE

from mirenc.base.errors import ToolchainError
from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.tools.measure.runners import Build, Cell, get_runner
from mirenc.tools.measure.runners.opencl import OpenCLRunner, opencl_devices
from mirenc.tools.measure.timekeeper import Timekeeper

pytestmark = pytest.mark.needs("OpenCL")

SOURCE = """
kernel void scaled(global const float *x, global float *y, float a, int n, local float *tile) {
    int i = get_global_id(0), l = get_local_id(0);
    tile[l] = i < n ? x[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        y[i] += a * tile[l];
}
kernel void wrong(global const float *x, global float *y, float a, int n, local float *tile) {
    if (get_global_id(0) < n)
        y[get_global_id(0)] = get_local_size(0);
}
kernel void stuck(global const float *x, global float *y, float a, int n, local float *tile) {
    volatile global float *z = y;
    while (z[0] < 1e30f)
        ;
}
"""
DRIVER = SCALED.format(first="", last=TILE)


def cell(*block: int, symbol: str = "scaled", **before: object) -> Cell:
    return Cell(block, block, code=symbol, library="kernel.cl", symbol=symbol, before={"local": list(block), **before})


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenCLRunner:
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    (tmp_path / "kernel.cl").write_text(SOURCE)
    (tmp_path / "driver.toml").write_text(DRIVER)
    loaded = get_runner("opencl")()
    assert isinstance(loaded, OpenCLRunner)
    loaded.load(tmp_path, "driver.toml", 1000)
    return loaded


def test_outputs_start_anew_and_partly_used_groups_are_right(runner: OpenCLRunner) -> None:
    for _ in range(2):
        for block in ((64,), (7,), (256,)):
            assert np.array_equal(runner.outputs(cell(*block))[0], 3 * np.arange(1000, dtype=np.float32))


def test_a_batch_starts_anew_and_takes_time(runner: OpenCLRunner) -> None:
    assert 0 < runner.time(cell(64), 1) < 1
    assert 0 < runner.time(cell(64), 100) < 10
    assert np.array_equal(runner.outputs(cell(64))[0], 3 * np.arange(1000, dtype=np.float32))


def test_a_device_is_named_by_its_slug(runner: OpenCLRunner) -> None:
    device = next(iter(opencl_devices().values()))
    assert runner.outputs(cell(64, device=device["slug"]))[0][1] == 3
    assert device["compute_units"] >= 1


def test_options_of_a_build_stand_beside_the_standard_or_for_it(tmp_path: Path, runner: OpenCLRunner) -> None:
    source = SOURCE.replace("a * tile[l]", "FACTOR * (__OPENCL_C_VERSION__ == 120)")
    for number, (options, factor) in enumerate(((["-DFACTOR=3"], 3), (["-DFACTOR=4", "-cl-std=CL1.1"], 0))):
        (tmp_path / f"{number}.cl").write_text(source)
        with_options = replace(cell(64, options=options), library=f"{number}.cl")
        assert np.array_equal(runner.outputs(with_options)[0], np.arange(1000, dtype=np.float32) + factor)


def test_pocl_is_no_device_without_a_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    pocl = "Portable Computing Language"
    others = {device["platform"] for device in opencl_devices().values()} - {pocl}
    monkeypatch.setenv("PATH", "")
    if others:  # a GPU's
        assert {device["platform"] for device in opencl_devices().values()} == others
    else:
        with pytest.raises(ToolchainError, match=r"no ld on PATH\. Type: apt-get install binutils"):
            opencl_devices()


def test_an_unknown_device_lists_those_there_are(runner: OpenCLRunner) -> None:
    with pytest.raises(
        ToolchainError, match=f"no OpenCL device 'abacus' here; there are {next(iter(opencl_devices()))}"
    ):
        runner.outputs(cell(64, device="abacus"))


def test_a_kernel_that_does_not_fit_its_driver_is_refused(tmp_path: Path, runner: OpenCLRunner) -> None:
    (tmp_path / "kernel.cl").write_text("kernel void scaled(global float *y) { y[get_global_id(0)] = 1; }")
    with pytest.raises(RuntimeError, match="scaled has 1 parameters, and its driver 5"):
        runner.outputs(cell(64))


def test_a_sample_is_measured_and_what_fails_costs_its_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POCL_CACHE_DIR", raising=False)  # a runner in this process, of another test, leaves it
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "kernel.cl").write_text(SOURCE)
    (folder / "driver.toml").write_text(DRIVER)
    kernel = MeasuredKernel("scaled 1000", "scaled", "vectors", "cl", "scaled", 0, 1000, {}, SOURCE, DRIVER)
    cells = (cell(64), cell(256), cell(64, symbol="wrong"), cell(1 << 28), cell(64, symbol="stuck"), cell(8))
    with closing(Timekeeper("opencl", 4, pin=False)) as keeper:
        outcome = keeper.sample(kernel, "", Build(cells, cell(64), "driver.toml", ir=""), folder, (0,))
    assert outcome.status == ("ok", "ok", "differs", "crash", "timeout", "ok")
    for half in (outcome.label, outcome.report):
        assert [0 < seconds < 1 for seconds in half] == [True, True, False, False, False, True]
    assert any((tmp_path / "pocl").iterdir())  # compiled for each shape once, for all processes
