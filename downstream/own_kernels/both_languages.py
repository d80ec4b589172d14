"""The project's GPU kernels on the CPU in both languages: OpenCL by its device, CUDA by a C++ compiler and a header."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gpu_kernels import GpuText

from mirenc.tools.measure.gpu_driver import read_driver
from mirenc.tools.run.compilers import compile_or_raise

_HEADER = Path(__file__).with_name("host_cuda.h")
_LOCAL_BYTES = 1 << 16
# No sum of a product is rounded once in one language and twice in the other.
_ZIG = ("-m", "ziglang", "c++", "-nostdlib++", "-O1", "-shared", "-fPIC", "-ffp-contract=off")
_UNCONTRACTED = "#pragma OPENCL FP_CONTRACT OFF\n"


def _concatenate(texts: Sequence[GpuText], codes: Sequence[str]) -> str:
    """Codes one after the other: each name that several kernels define gets the kernel's place behind it."""
    source = ""
    for place, (text, code) in enumerate(zip(texts, codes, strict=True)):
        local = [parameter.name for parameter in text.parameters if parameter.role == "local"]
        names = [text.function, *local, *re.findall(r"(\w+)\(.*\)\n\{", text.preamble)]
        source += re.sub(rf"\b({'|'.join(names)})\b", rf"\1_{place}", code)
    return source


class Call:
    """What a kernel is called with: an array for a buffer, a number for a scalar, None for local memory."""

    def __init__(self, kernel: GpuText, size: int) -> None:
        self.driver, self.size = read_driver(kernel.driver(size), kernel.name), size
        kinds = {"buffer": lambda argument: argument.array(size), "scalar": lambda argument: argument.passed(size)}
        self.values = [kinds.get(argument.kind, lambda _: None)(argument) for argument in self.driver.arguments]
        self.outputs = [index for index, argument in enumerate(self.driver.arguments) if argument.output]


class OpenCLKernels:
    """Texts, built as one program for the first OpenCL device."""

    def __init__(self, texts: Sequence[GpuText]) -> None:
        import pyopencl

        self.cl: Any = pyopencl
        self.texts = texts
        self.context = self.cl.Context(self.cl.get_platforms()[0].get_devices()[:1])
        self.queue = self.cl.CommandQueue(self.context)
        source = _UNCONTRACTED + _concatenate(texts, [text.opencl() for text in texts])
        self.program = self.cl.Program(self.context, source).build(["-cl-std=CL1.2"], cache_dir=False)

    def outputs(self, place: int, call: Call, block: tuple[int, ...]) -> list[np.ndarray]:
        flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.COPY_HOST_PTR
        arguments = list(call.values)  # a kernel does not hold its buffers: they are needed until the call has ended
        for index, value in enumerate(call.values):
            if isinstance(value, np.ndarray):
                arguments[index] = self.cl.Buffer(self.context, flags, hostbuf=value)
            elif value is None:
                arguments[index] = self.cl.LocalMemory(call.driver.local_bytes(call.size, block))
        kernel = self.cl.Kernel(self.program, f"{self.texts[place].function}_{place}")
        kernel.set_args(*arguments)
        items = tuple(np.multiply(call.driver.blocks(call.size, block), block).tolist())
        self.cl.enqueue_nd_range_kernel(self.queue, kernel, items, block)
        outputs = []
        for index in call.outputs:
            outputs.append(np.empty_like(call.values[index]))
            self.cl.enqueue_copy(self.queue, outputs[-1], arguments[index])
        return outputs


class CudaKernels:
    """Texts, compiled as one library of the host with ``host_cuda.h``, by zig."""

    def __init__(self, texts: Sequence[GpuText], folder: Path) -> None:
        self.codes = [text.cuda() for text in texts]
        callable_codes = []
        for place, (text, code) in enumerate(zip(texts, self.codes, strict=True)):
            for kind, name in re.findall(r"extern __shared__ (.*) (\w+)\[\]", code):
                code += f"{kind} {name}[{_LOCAL_BYTES}];\n"
            parameters = [parameter for parameter in text.parameters if parameter.role != "local"]
            values = ", ".join(f"values[{index}]" for index in range(len(parameters)))
            code += f'extern "C" void call_{place}(Argument *values) {{ {text.function}({values}); }}\n'
            callable_codes.append(code)
        source, library = folder / "kernels.cpp", folder / "kernels.so"
        source.write_text(f'#include "{_HEADER}"\n{_concatenate(texts, callable_codes)}')
        compile_or_raise([sys.executable, *_ZIG, "-o", str(library), str(source)], timeout=600)
        self.library = ctypes.CDLL(str(library))

    def outputs(self, place: int, call: Call, block: tuple[int, ...]) -> list[np.ndarray]:
        assert call.driver.local_bytes(call.size, block) <= _LOCAL_BYTES
        values = {index: np.copy(value) for index, value in enumerate(call.values) if value is not None}
        arguments = [np.array(value.ctypes.data) if value.ndim else value for value in values.values()]
        addresses = (ctypes.c_void_p * len(arguments))(*(value.ctypes.data for value in arguments))
        grid_and_block = (call.driver.blocks(call.size, block), block)
        grid, shape = ((ctypes.c_uint * 2)(*(*lengths, 1)[:2]) for lengths in grid_and_block)
        barriers = "__syncthreads" in self.codes[place]
        self.library.launch(getattr(self.library, f"call_{place}"), addresses, grid, shape, barriers)
        return [values[index] for index in call.outputs]
