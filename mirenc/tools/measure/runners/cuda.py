"""CUDA kernels, on the first GPU (CUDA_VISIBLE_DEVICES says which one that is), through NVIDIA's driver library."""

import ctypes
import re
from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_ulonglong, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.errors import CompileError, ToolchainError
from mirenc.tools.measure.runners import Array, Cell, CellRefusedError, GpuRunner

_NAME = "libcuda.so.1"
_POINTER = POINTER(c_void_p)
# cuda.h: what each function takes. Handles are pointers, addresses on the device are 64 bits. `_v2` is the real name of
# what cuda.h calls without it since CUDA 3.2.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (POINTER(c_int),),
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
    "cuDeviceGetCount": (POINTER(c_int),),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceTotalMem_v2": (POINTER(c_size_t), c_int),
    "cuDeviceGetAttribute": (POINTER(c_int), c_int, c_int),
    "cuDevicePrimaryCtxRetain": (_POINTER, c_int),
    "cuCtxSetCurrent": (c_void_p,),
    "cuCtxSynchronize": (),
    "cuStreamCreate": (_POINTER, c_uint),
    "cuMemAlloc_v2": (POINTER(c_uint64), c_size_t),
    "cuMemcpyHtoD_v2": (c_uint64, c_void_p, c_size_t),
    "cuMemcpyDtoH_v2": (c_void_p, c_uint64, c_size_t),
    "cuMemcpyDtoD_v2": (c_uint64, c_uint64, c_size_t),
    "cuModuleLoadData": (_POINTER, c_char_p),
    "cuModuleGetFunction": (_POINTER, c_void_p, c_char_p),
    "cuLaunchKernel": (c_void_p, *(c_uint,) * 7, c_void_p, _POINTER, _POINTER),
    "cuStreamBeginCapture_v2": (c_void_p, c_int),
    "cuStreamEndCapture": (c_void_p, _POINTER),
    "cuGraphInstantiateWithFlags": (_POINTER, c_void_p, c_ulonglong),
    "cuGraphLaunch": (c_void_p, c_void_p),
    "cuEventCreate": (_POINTER, c_uint),
    "cuEventRecord": (c_void_p, c_void_p),
    "cuEventSynchronize": (c_void_p,),
    "cuEventElapsedTime": (POINTER(c_float), c_void_p, c_void_p),
}
# Numbers of cuda.h; threads and what follows are of one multiprocessor.
_ATTRIBUTES = {"major": 75, "minor": 76, "processors": 16, "warp": 10}
_ATTRIBUTES |= {"threads": 39, "blocks": 106, "registers": 82, "shared": 81}
_NON_BLOCKING = 1  # a stream that does not wait for the one of everybody
_CAPTURE_THREAD = 1  # only this thread's calls are captured
# Python takes longer to launch a small kernel than a GPU to run it. So launches are recorded once as a graph, which
# the GPU plays without waiting for anybody.
_LAUNCHES = 128
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.[bfsu](\d+)\s+[^,\[]*(?:\[(\d+)\])?")


class CudaError(RuntimeError):
    """A call failed; ``name`` is that of cuda.h: ``CUDA_ERROR_OUT_OF_MEMORY``."""

    def __init__(self, function: str, name: str, words: str) -> None:
        super().__init__(f"{function}: {name} ({words})")
        self.name = name


def _open_library() -> Any:
    """NVIDIA's driver library. Loading it starts nothing on the GPU."""
    try:
        return ctypes.CDLL(_NAME)
    except OSError as error:
        problem = f"NVIDIA's driver cannot be loaded ({error}). CUDA kernels are timed on a machine with an NVIDIA GPU"
        raise ToolchainError(f"{problem}; elsewhere build them with --compile-only, or measure OpenCL") from None


class LibCuda:
    """Functions of NVIDIA's driver by their names; an error code that one returns is raised."""

    def __init__(self) -> None:
        library = _open_library()
        for name, argument_types in _FUNCTIONS.items():
            if not hasattr(library, name):
                raise ToolchainError(f"NVIDIA's driver here has no {name}. Install one for CUDA 11.4 or later")
            function = getattr(library, name)
            function.argtypes, function.restype = argument_types, c_int
        self._library = library

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function. Raises CudaError: it failed, or work that was started before did."""
        if code := getattr(self._library, name)(*arguments):
            raise CudaError(name, self._error_text("cuGetErrorName", code), self._error_text("cuGetErrorString", code))

    def ask(self, name: str, kind: Any, *arguments: Any) -> Any:
        """Call a function whose first argument is a pointer to its result, of a ctypes ``kind``; return the result."""
        result = kind()
        self.call(name, ctypes.byref(result), *arguments)
        return result.value

    def _error_text(self, function: str, code: int) -> str:
        words = c_char_p()
        failure = getattr(self._library, function)(code, ctypes.byref(words))
        return f"error {code}" if failure or words.value is None else words.value.decode()


def cuda_device() -> dict[str, Any]:
    """The record of the GPU that kernels are timed on, sizes in bytes. Raises ToolchainError: there is none."""
    cuda, device = _open_driver()
    name = ctypes.create_string_buffer(256)
    cuda.call("cuDeviceGetName", name, len(name), device)
    version = cuda.ask("cuDriverGetVersion", c_int)
    facts = {key: cuda.ask("cuDeviceGetAttribute", c_int, number, device) for key, number in _ATTRIBUTES.items()}
    return {
        "name": name.value.decode(),
        "platform": "CUDA",
        "capability": f"{facts.pop('major')}.{facts.pop('minor')}",
        "driver": f"{version // 1000}.{version % 1000 // 10}",
        "memory": cuda.ask("cuDeviceTotalMem_v2", c_size_t, device),
        **facts,
    }


def _open_driver() -> tuple[LibCuda, int]:
    """The library, started, and the number of its first GPU."""
    cuda = LibCuda()
    try:
        cuda.call("cuInit", 0)
        count = cuda.ask("cuDeviceGetCount", c_int)
    except CudaError as error:
        raise ToolchainError(f"NVIDIA's driver finds no GPU: {error}. See what nvidia-smi says") from None
    if count == 0:
        raise ToolchainError("NVIDIA's driver finds no GPU. See what nvidia-smi says, and CUDA_VISIBLE_DEVICES")
    return cuda, int(cuda.ask("cuDeviceGet", c_int, 0))


class CudaRunner(GpuRunner):
    """Launches PTX; times are CUDA events."""

    @classmethod
    def warm(cls) -> None:
        _open_library()

    def load(self, folder: Path, driver: str, size: int) -> None:
        self.read(folder, driver, size)
        self.cuda, self.device = _open_driver()
        self.cuda.call("cuCtxSetCurrent", self.cuda.ask("cuDevicePrimaryCtxRetain", c_void_p, self.device))
        self.stream = self.cuda.ask("cuStreamCreate", c_void_p, _NON_BLOCKING)
        self.events = [self.cuda.ask("cuEventCreate", c_void_p, 0) for _ in range(2)]
        # Of each parameter its value, as the launch reads it; of each output its address, that of a copy of what it
        # holds before a call, and its array.
        self.values: list[Array] = []
        self.starts: list[tuple[int, int, Array]] = []
        for argument in self.driver.arguments:  # local memory is said beside the parameters
            if argument.kind == "scalar":
                self.values.append(np.array(argument.passed(size)))
            elif argument.kind == "buffer":
                array = argument.array(size)
                address = self._upload(array)
                self.values.append(np.array(address, np.uint64))
                if argument.output:
                    self.starts.append((address, self._upload(array), array))
        self.parameters = (c_void_p * len(self.values))(*(value.ctypes.data for value in self.values))
        self.functions: dict[tuple[str, str], int] = {}
        self.graphs: dict[tuple[int, tuple[int, ...], int], int] = {}

    def _upload(self, array: Array) -> int:
        address = int(self.cuda.ask("cuMemAlloc_v2", c_uint64, array.nbytes))
        self.cuda.call("cuMemcpyHtoD_v2", address, array.ctypes.data, array.nbytes)
        return address

    def outputs(self, cell: Cell) -> list[Array]:
        block, function = self._prepare(cell)
        try:
            self._launch(function, block)
        except CudaError as error:
            # The GPU does not allow such blocks. Nothing was started, so the context is as good as before.
            if error.name in ("CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"):
                raise CellRefusedError(str(error)) from None
            raise
        self.cuda.call("cuCtxSynchronize")
        outputs = []
        for address, _, array in self.starts:
            outputs.append(np.empty_like(array))
            self.cuda.call("cuMemcpyDtoH_v2", outputs[-1].ctypes.data, address, array.nbytes)
        return outputs

    def time(self, cell: Cell, calls: int) -> float:
        """Time whole graphs of launches, and scale the time to ``calls``."""
        block, function = self._prepare(cell)
        launches = min(calls, _LAUNCHES)
        graph = self._graph(function, block, launches)
        graphs = -(-calls // launches)
        start, end = self.events
        self.cuda.call("cuEventRecord", start, self.stream)
        for _ in range(graphs):
            self.cuda.call("cuGraphLaunch", graph, self.stream)
        self.cuda.call("cuEventRecord", end, self.stream)
        self.cuda.call("cuEventSynchronize", end)
        milliseconds = float(self.cuda.ask("cuEventElapsedTime", c_float, start, end))
        return milliseconds * 1e-3 * calls / (graphs * launches)

    def _prepare(self, cell: Cell) -> tuple[tuple[int, ...], int]:
        """Block and function of a cell that can be launched, after a reset."""
        block, function = tuple(cell.before["local"]), self._function(cell)
        for address, start, array in self.starts:
            self.cuda.call("cuMemcpyDtoD_v2", address, start, array.nbytes)
        self.cuda.call("cuCtxSynchronize")
        return block, function

    def _function(self, cell: Cell) -> int:
        key = cell.library, cell.symbol
        if key not in self.functions:
            ptx = (self.folder / cell.library).read_text(encoding="utf-8")
            ptx_sizes, sizes = parameter_bytes(ptx, cell.symbol), [value.nbytes for value in self.values]
            if ptx_sizes != sizes:
                raise RuntimeError(f"{cell.symbol} takes parameters of {ptx_sizes} bytes, and its driver gives {sizes}")
            module = self.cuda.ask("cuModuleLoadData", c_void_p, ptx.encode())
            self.functions[key] = int(self.cuda.ask("cuModuleGetFunction", c_void_p, module, cell.symbol.encode()))
        return self.functions[key]

    def _launch(self, function: int, block: tuple[int, ...]) -> None:
        shape = (*(*self.driver.blocks(self.size, block), 1, 1)[:3], *(*block, 1, 1)[:3])
        shared = self.driver.local_bytes(self.size, block)
        self.cuda.call("cuLaunchKernel", function, *shape, shared, self.stream, self.parameters, None)

    def _graph(self, function: int, block: tuple[int, ...], launches: int) -> int:
        """A graph of so many launches, recorded once."""
        key = function, block, launches
        if key not in self.graphs:
            self.cuda.call("cuStreamBeginCapture_v2", self.stream, _CAPTURE_THREAD)
            for _ in range(launches):
                self._launch(function, block)
            graph = c_void_p()
            self.cuda.call("cuStreamEndCapture", self.stream, ctypes.byref(graph))
            self.graphs[key] = int(self.cuda.ask("cuGraphInstantiateWithFlags", c_void_p, graph, 0))
        return self.graphs[key]


def parameter_bytes(ptx: str, kernel: str) -> list[int]:
    """Bytes of each parameter of a kernel; a `CompileError` where the text has no such kernel."""
    entry = re.search(rf"\.entry\s+{re.escape(kernel)}\s*\((.*?)\)", ptx, re.DOTALL)
    if entry is None:
        names = ", ".join(re.findall(r"\.entry\s+([\w$]+)", ptx)) or "none"
        raise CompileError(f'no kernel {kernel!r}; there is {names}. A C++ name wants extern "C" before it')
    return [int(bits) // 8 * int(count or 1) for bits, count in _PARAMETER.findall(entry[1])]
