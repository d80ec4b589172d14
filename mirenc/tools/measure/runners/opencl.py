"""OpenCL kernels, on the first device of the machine or a named one: pocl makes one of the CPU.

One build serves all work groups: their shape is said at launch. pocl compiles a kernel anew for each shape at its
first launch, which is never one that is timed.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mirenc.base.errors import ToolchainError, needs
from mirenc.tools.measure.runners import Array, Cell, CellRefusedError, GpuRunner

if TYPE_CHECKING:
    import pyopencl as cl

_STANDARD = "-cl-std=CL1.2"
_POCL = "Portable Computing Language"


def opencl_devices() -> dict[str, dict[str, Any]]:
    """The record of each device of this machine, by name, in the platforms' order.

    They go by their names in small letters and hyphens; a second of the same name is left out. An error says what to
    install: pyopencl, a device, or for pocl alone ``ld``.
    """
    return {
        slug: {
            "slug": slug,
            "name": device.name.strip(),
            "platform": device.platform.name,
            "version": device.version,
            "driver": device.driver_version,
            "compute_units": device.max_compute_units,
            "max_block": device.max_work_group_size,
            "local_bytes": device.local_mem_size,
        }
        for slug, device in _devices().items()
    }


def _devices() -> dict[str, cl.Device]:
    with needs("opencl", "an OpenCL kernel is run by pyopencl"):
        import pyopencl as cl
    try:
        devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except cl.Error:  # the loader's way to say that it found no platform
        devices = []
    if not devices:
        advice = "pip install 'mirenc[opencl]', which brings pocl on x86-64, or: apt-get install pocl-opencl-icd"
        raise ToolchainError(f"this machine has no OpenCL device. For its CPU type: {advice}")
    if shutil.which("ld") is None:  # pocl would end the process at the first kernel
        devices = [device for device in devices if device.platform.name != _POCL]
        if not devices:
            problem = "pocl, the OpenCL of this machine, needs a linker, and there is no ld on PATH"
            raise ToolchainError(f"{problem}. Type: apt-get install binutils")
    by_slug: dict[str, cl.Device] = {}
    for device in devices:
        by_slug.setdefault(re.sub(r"[^a-z0-9]+", "-", device.name.lower()).strip("-"), device)
    return by_slug


class OpenCLRunner(GpuRunner):
    """Launches OpenCL C through pyopencl; times are the device's own.

    A cell may be told ``device``, a name of `opencl_devices`, and ``options`` of the build; all of a sample the same.
    """

    @classmethod
    def warm(cls) -> None:
        with needs("opencl", "an OpenCL kernel is run by pyopencl"):
            import pyopencl  # noqa: F401 - it opens no device before it is asked for one

    def load(self, folder: Path, driver: str, size: int) -> None:
        import pyopencl

        self.cl: Any = pyopencl
        self.read(folder, driver, size)
        # pocl's own cache, for the next process and for the other sizes of a kernel: what it made for each shape.
        os.environ.setdefault("POCL_CACHE_DIR", str(folder.parent / "pocl"))
        self.kernels: dict[tuple[str, str], cl.Kernel] = {}
        self.device: Any = None

    def outputs(self, cell: Cell) -> list[Array]:
        launch = self._prepare(cell)
        try:
            launch()
        except self.cl.LogicError as error:  # a block that the device or the kernel does not allow
            raise CellRefusedError(str(error)) from None
        outputs = []
        for argument, array in self.starts.items():
            outputs.append(np.empty_like(array))
            self.cl.enqueue_copy(self.queue, outputs[-1], self.memory[argument])
        self.queue.finish()
        return outputs

    def time(self, cell: Cell, calls: int) -> float:
        """The median time of a launch, times ``calls``: some launches of a batch wait for other work of the machine."""
        launch = self._prepare(cell)
        events = [launch() for _ in range(calls)]
        self.queue.finish()
        return statistics.median(float(event.profile.end - event.profile.start) for event in events) * 1e-9 * calls

    def _prepare(self, cell: Cell) -> Any:
        """A function that launches a cell, after a reset."""
        block = tuple(cell.before["local"])
        self._open(cell)
        kernel = self._kernel(cell)
        local = self.driver.local_bytes(self.size, block)
        if local > (available := self.device.local_mem_size):
            raise CellRefusedError(f"the kernel needs {local} bytes of local memory, and the device has {available}")
        for index, argument in enumerate(self.driver.arguments):
            if argument.kind == "local":
                kernel.set_arg(index, self.cl.LocalMemory(max(local, 1)))
            else:
                kernel.set_arg(index, self.memory[index] if argument.kind == "buffer" else argument.passed(self.size))
        for index, array in self.starts.items():
            self.cl.enqueue_copy(self.queue, self.memory[index], array)
        self.queue.finish()
        items = tuple(count * side for count, side in zip(self.driver.blocks(self.size, block), block, strict=True))
        return lambda: self.cl.enqueue_nd_range_kernel(self.queue, kernel, items, block)

    def _open(self, cell: Cell) -> None:
        """Open the device and its buffers, once."""
        if self.device is not None:
            return
        devices = _devices()
        slug = str(cell.before.get("device", next(iter(devices))))
        if slug not in devices:
            raise ToolchainError(f"there is no OpenCL device {slug!r} here; there are {', '.join(devices)}")
        self.device = devices[slug]
        self.context = self.cl.Context([self.device])
        self.queue = self.cl.CommandQueue(self.context, properties=self.cl.command_queue_properties.PROFILING_ENABLE)
        # By an argument's place: its memory, and what an output holds before a call.
        self.memory: dict[int, cl.Buffer] = {}
        self.starts: dict[int, Array] = {}
        for index, argument in enumerate(self.driver.arguments):
            if argument.kind == "buffer":
                array = argument.array(self.size)
                flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.COPY_HOST_PTR
                self.memory[index] = self.cl.Buffer(self.context, flags, hostbuf=array)
                if argument.output:
                    self.starts[index] = array

    def _kernel(self, cell: Cell) -> cl.Kernel:
        """A kernel of a built program, whose parameters are as many as its driver says."""
        key = cell.library, cell.symbol
        if key not in self.kernels:
            text = (self.folder / cell.library).read_text(encoding="utf-8")
            options: Any = cell.before.get("options", ())  # the user's, whose standard of the language stands for ours
            if not any(option.startswith("-cl-std=") for option in options):
                options = [_STANDARD, *options]
            # Else pyopencl fills a folder in the user's home.
            program = self.cl.Program(self.context, text).build([*options], cache_dir=str(self.folder / "opencl"))
            kernel, expected = self.cl.Kernel(program, cell.symbol), len(self.driver.arguments)
            if kernel.num_args != expected:
                raise RuntimeError(f"{cell.symbol} has {kernel.num_args} parameters, and its driver {expected}")
            self.kernels[key] = kernel
        return self.kernels[key]
