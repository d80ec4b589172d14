"""The part of NVIDIA's driver library that a launch needs, through ctypes: every call is checked."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_ulonglong, c_void_p
from typing import Any

from mirenc.errors import ToolchainError

__all__ = ["CudaError", "LibCuda", "open_libcuda"]

Library = Any
"""What `ctypes.CDLL` gives: functions by their names."""

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
    "cuFuncGetAttribute": (POINTER(c_int), c_int, c_void_p),
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


class CudaError(RuntimeError):
    """A call failed.

    Attributes
    ----------
    name : str
        As in cuda.h: ``CUDA_ERROR_OUT_OF_MEMORY``.
    """

    def __init__(self, function: str, name: str, words: str) -> None:
        super().__init__(f"{function}: {name} ({words})")
        self.name = name


def open_libcuda() -> Library:
    """The library. Loading it starts nothing.

    Raises
    ------
    ToolchainError
        It cannot be loaded.
    """
    try:
        return ctypes.CDLL(_NAME)
    except OSError as error:
        raise ToolchainError(
            f"NVIDIA's driver cannot be loaded ({error}). CUDA kernels are timed on a machine with an NVIDIA GPU; "
            "elsewhere build them with --compile-only, or measure OpenCL"
        ) from None


class LibCuda:
    """Functions of the library by their names; each raises what it returns.

    Parameters
    ----------
    library : object
        Of `open_libcuda`.

    Raises
    ------
    ToolchainError
        From the constructor: the driver is too old.
    """

    def __init__(self, library: Library) -> None:
        for name, takes in _FUNCTIONS.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                raise ToolchainError(
                    f"NVIDIA's driver here has no {name}. Install one for CUDA 11.4 or later"
                ) from None
            function.argtypes, function.restype = takes, c_int
        self._library = library

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that gives nothing back.

        Raises
        ------
        CudaError
            It failed, or what was started before it did.
        """
        code = getattr(self._library, name)(*arguments)
        if code:
            raise CudaError(name, self._words("cuGetErrorName", code), self._words("cuGetErrorString", code))

    def ask(self, name: str, kind: Any, *arguments: Any) -> Any:
        """Call a function that writes one thing of a ctypes ``kind`` to where its first argument points; that thing."""
        found = kind()
        self.call(name, ctypes.byref(found), *arguments)
        return found.value

    def _words(self, function: str, code: int) -> str:
        found = c_char_p()
        failed = getattr(self._library, function)(code, ctypes.byref(found))
        return f"error {code}" if failed or found.value is None else found.value.decode()
