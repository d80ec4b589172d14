"""A stand-in for NVIDIA's driver library: memory is the host's, a kernel is a Python function, errors come when asked.

Its functions are C functions to ctypes, with the types that cuda.h gives them. So what the runner passes goes the
same way as to the real library: a number of a wrong width or a pointer to the wrong thing shows here.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_ulonglong, c_void_p
from typing import Any

import numpy as np

ERRORS = {
    1: (b"CUDA_ERROR_INVALID_VALUE", b"invalid argument"),
    100: (b"CUDA_ERROR_NO_DEVICE", b"no CUDA-capable device is detected"),
    701: (b"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", b"too many resources requested for launch"),
    719: (b"CUDA_ERROR_LAUNCH_FAILED", b"unspecified launch failure"),
}
ATTRIBUTES = {
    10: 32,
    16: 132,
    39: 2048,
    75: 9,
    76: 0,
    81: 233472,
    82: 65536,
    106: 32,
}
# As cuda.h declares them, without the names of parameters.
CUDA_H = """
cuInit(unsigned int)
cuDriverGetVersion(int *)
cuGetErrorName(CUresult, const char **)
cuGetErrorString(CUresult, const char **)
cuDeviceGetCount(int *)
cuDeviceGet(CUdevice *, int)
cuDeviceGetName(char *, int, CUdevice)
cuDeviceTotalMem_v2(size_t *, CUdevice)
cuDeviceGetAttribute(int *, CUdevice_attribute, CUdevice)
cuDevicePrimaryCtxRetain(CUcontext *, CUdevice)
cuCtxSetCurrent(CUcontext)
cuCtxSynchronize(void)
cuStreamCreate(CUstream *, unsigned int)
cuMemAlloc_v2(CUdeviceptr *, size_t)
cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t)
cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t)
cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, size_t)
cuModuleLoadData(CUmodule *, const void *)
cuModuleGetFunction(CUfunction *, CUmodule, const char *)
cuLaunchKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, \
unsigned int, CUstream, void **, void **)
cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode)
cuStreamEndCapture(CUstream, CUgraph *)
cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long)
cuGraphLaunch(CUgraphExec, CUstream)
cuEventCreate(CUevent *, unsigned int)
cuEventRecord(CUevent, CUstream)
cuEventSynchronize(CUevent)
cuEventElapsedTime(float *, CUevent, CUevent)
"""
# Those that are not handles, which are pointers.
TYPES = {
    "int": c_int,
    "unsigned int": c_uint,
    "unsigned long long": c_ulonglong,
    "size_t": c_size_t,
    "float": c_float,
    "char": ctypes.c_char,
    "CUresult": c_int,
    "CUdevice": c_int,
    "CUdeviceptr": c_uint64,
    "CUdevice_attribute": c_int,
    "CUstreamCaptureMode": c_int,
    "const char *": c_char_p,
}
# Seconds that a launch takes on the fake's clock, by the threads of a block.
LAUNCH = {32: 3e-5, 64: 2e-5, 256: 1e-5}

UNKNOWN = 999  # what a test that went wrong returns
Kernel = Callable[..., None]


def prototypes(declared: str) -> dict[str, list[Any]]:
    """The types of each function's parameters."""
    return {
        name: [ctype(one) for one in parameters.split(", ") if one != "void"]
        for name, parameters in re.findall(r"^(\w+)\((.*)\)$", declared, re.MULTILINE)
    }


def ctype(spelled: str) -> Any:
    """``CUdeviceptr *`` is a pointer to 64 bits; ``void *`` and ``CUevent`` are pointers to who knows what."""
    if spelled in TYPES or not spelled.endswith("*"):
        return TYPES.get(spelled, c_void_p)
    inner = spelled[:-1].strip()
    return c_void_p if inner.endswith("void") else POINTER(ctype(inner))


class FakeCuda:
    """One GPU, one context, one stream.

    Parameters
    ----------
    kernels : dict of str to callable
        By name: called with the seven numbers of the launch (grid, block, shared bytes), and then for each parameter
        with the address of its value.
    """

    def __init__(self, kernels: dict[str, Kernel]) -> None:
        self.kernels = kernels
        self.fail: dict[str, int] = {}  # function -> the error that it returns
        self.function_threads = 1024
        self.calls: list[str] = []
        self.clock = 0.0  # milliseconds
        self.memory: dict[int, Any] = {}
        self.things: list[Any] = [None]  # what a handle stands for; 0 is no handle
        self.captured: list[Callable[[], None]] | None = None
        for name, takes in prototypes(CUDA_H).items():
            setattr(self, name, ctypes.CFUNCTYPE(c_int, *takes)(self._checked(name)))

    def _checked(self, name: str) -> Callable[..., int]:
        # cuMemAlloc_v2 -> _mem_alloc
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removeprefix("cu").removesuffix("_v2"))
        do = getattr(self, f"_{words.lower()}")

        def function(*arguments: Any) -> int:
            self.calls.append(name)
            try:
                return self.fail.get(name) or do(*arguments) or 0
            except Exception:  # noqa: BLE001 - from a C callback it would only be printed
                return UNKNOWN

        return function

    def _handle(self, place: Any, thing: Any) -> None:
        self.things.append(thing)
        place[0] = len(self.things) - 1

    # The device

    def _init(self, flags: int) -> None:
        assert flags == 0

    def _driver_get_version(self, place: Any) -> None:
        place[0] = 12040

    def _get_error_name(self, code: int, place: Any) -> int:
        if code not in ERRORS:
            return 1
        place[0] = ERRORS[code][0]
        return 0

    def _get_error_string(self, code: int, place: Any) -> int:
        if code not in ERRORS:
            return 1
        place[0] = ERRORS[code][1]
        return 0

    def _device_get_count(self, place: Any) -> None:
        place[0] = 1

    def _device_get(self, place: Any, ordinal: int) -> None:
        place[0] = 7 + ordinal

    def _device_get_name(self, text: Any, length: int, device: int) -> None:
        assert device == 7
        ctypes.memmove(text, b"Fake GPU\0", min(length, 9))

    def _device_total_mem(self, place: Any, device: int) -> None:
        place[0] = 80 << 30

    def _device_get_attribute(self, place: Any, attribute: int, device: int) -> None:
        assert device == 7
        place[0] = ATTRIBUTES[attribute]

    def _device_primary_ctx_retain(self, place: Any, device: int) -> None:
        self._handle(place, "context")

    def _ctx_set_current(self, context: int) -> None:
        assert self.things[context] == "context"

    def _ctx_synchronize(self) -> None:
        assert self.captured is None  # the real one ends the capture with an error

    def _stream_create(self, place: Any, flags: int) -> None:
        self._handle(place, "stream")

    # Memory

    def _mem_alloc(self, place: Any, size: int) -> int:
        if size == 0:
            return 1
        buffer = (ctypes.c_char * size)()
        place[0] = ctypes.addressof(buffer)
        self.memory[ctypes.addressof(buffer)] = buffer
        return 0

    def _within(self, address: int, size: int) -> bool:
        return address in self.memory and size <= len(self.memory[address])

    def _memcpy_hto_d(self, to: int, source: int, size: int) -> int:
        if not self._within(to, size):
            return 1
        ctypes.memmove(to, source, size)
        return 0

    def _memcpy_dto_h(self, to: int, source: int, size: int) -> int:
        if not self._within(source, size):
            return 1
        ctypes.memmove(to, source, size)
        return 0

    def _memcpy_dto_d(self, to: int, source: int, size: int) -> int:
        if not (self._within(to, size) and self._within(source, size)):
            return 1
        ctypes.memmove(to, source, size)
        return 0

    # Kernels

    def _module_load_data(self, place: Any, image: int) -> int:
        text = ctypes.string_at(image)
        if b".version" not in text:
            return 218
        self._handle(place, text)
        return 0

    def _module_get_function(self, place: Any, module: int, name: bytes) -> None:
        assert name in self.things[module]
        self._handle(place, self.kernels[name.decode()])

    def _launch_kernel(self, function: int, *rest: Any) -> int:
        shape, stream, parameters, extra = rest[:7], rest[7], rest[8], rest[9]
        assert self.things[stream] == "stream"
        assert not extra
        if int(np.prod(shape[3:6])) > self.function_threads:
            return 701  # registers of so many threads
        if shape[1] > 65535 or shape[6] > 49152 - 1024:
            return 1
        kernel = self.things[function]
        addresses = [parameters[index] for index in range(kernel.__code__.co_argcount - 1)]

        def run() -> None:
            threads = int(np.prod(shape[3:6]))
            self.clock += 1e3 * LAUNCH.get(threads, 1e-4)
            kernel(shape, *addresses)

        if self.captured is None:
            run()
        else:
            self.captured.append(run)
        return 0

    def _stream_begin_capture(self, stream: int, mode: int) -> None:
        assert self.captured is None
        self.captured = []

    def _stream_end_capture(self, stream: int, place: Any) -> None:
        self._handle(place, self.captured)
        self.captured = None

    def _graph_instantiate_with_flags(self, place: Any, graph: int, flags: int) -> None:
        self._handle(place, tuple(self.things[graph]))

    def _graph_launch(self, graph: int, stream: int) -> None:
        for launch in self.things[graph]:
            launch()

    # Time

    def _event_create(self, place: Any, flags: int) -> None:
        self._handle(place, [None])

    def _event_record(self, event: int, stream: int) -> None:
        self.things[event][0] = self.clock

    def _event_synchronize(self, event: int) -> None:
        assert self.things[event][0] is not None

    def _event_elapsed_time(self, place: Any, start: int, end: int) -> None:
        place[0] = self.things[end][0] - self.things[start][0]
