"""One kernel text, as OpenCL C and as CUDA.

A template is OpenCL C 1.2 without vector types; CUDA is made of it word by word, to what people write there. A head
learns from code, so neither may look as if a program had made it: no macros stand in for either language.

Arguments are lines: ``in x float[n] uniform``, ``io``, ``out`` and ``loc`` likewise, ``val n int n``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mirenc.errors import ConfigError

__all__ = ["GpuArgument", "cuda_source", "driver_text", "opencl_source", "plain_numbers", "read_arguments"]

_ARGUMENT = re.compile(r"(in|io|out|loc) (\w+) (\w+)\[(.+?)\](?: +(.*))?|(val) (\w+) (\w+) (.+)")
_MAX_BLOCK = 4096  # of the device, at most; a kernel of the project's allows any
_WIDEST = 110  # columns of a parameter list that is written in one line
_BYTES = {"uchar": 1, "int": 4, "uint": 4, "float": 4, "long": 8, "ulong": 8, "double": 8}
# The largest value of a uniform fill where the kernel does not say: sums of many must still fit.
_HIGH = {"uchar": 200, "int": 100, "uint": 100, "long": 100, "ulong": 100}

_CUDA_TYPES = {"uchar": "unsigned char", "uint": "unsigned int", "ulong": "unsigned long"}
_AXES = {"0": "x", "1": "y"}
_CUDA_IDS = {
    "get_global_id": "blockIdx.{0} * blockDim.{0} + threadIdx.{0}",
    "get_global_size": "gridDim.{0} * blockDim.{0}",
    "get_local_id": "threadIdx.{0}",
    "get_local_size": "blockDim.{0}",
    "get_group_id": "blockIdx.{0}",
    "get_num_groups": "gridDim.{0}",
}
_CUDA_WORDS = {
    "barrier(CLK_LOCAL_MEM_FENCE)": "__syncthreads()",
    "atomic_add(": "atomicAdd(",
    "atomic_max(": "atomicMax(",
    "atomic_min(": "atomicMin(",
    "__local ": "",
    "__global ": "",
}
_MATH = re.compile(r"\b(sqrt|rsqrt|exp|log|sin|cos|pow|tanh|fabs|fmin|fmax)\(")


@dataclass(frozen=True)
class GpuArgument:
    """A parameter of a kernel.

    Attributes
    ----------
    role : str
        ``in``, ``io``, ``out``: a buffer; ``loc``: local memory; ``val``: a number.
    name, type : str
        ``type`` in OpenCL's words.
    size : str
        Elements, or the number's value: an expression of ``n`` and, for local memory, ``bx`` and ``by``.
    fill : str
    options : dict of str to str
        What the fill is told.
    """

    role: str
    name: str
    type: str
    size: str
    fill: str = ""
    options: dict[str, str] = field(default_factory=dict, hash=False)


def read_arguments(lines: str, where: str) -> list[GpuArgument]:
    """Read argument lines.

    Raises
    ------
    ConfigError
        A line of another form; it is quoted.
    """
    found = []
    for line in lines.strip().splitlines():
        match = _ARGUMENT.fullmatch(line.strip())
        if match is None:
            raise ConfigError(
                f"{where}: argument line {line!r}; write `in NAME TYPE[COUNT] FILL` or `val NAME TYPE VALUE`"
            )
        if match[6]:
            found.append(GpuArgument(match[6], match[7], match[8], match[9]))
            continue
        words = (match[5] or "").split()
        options = dict(word.split("=", 1) for word in words if "=" in word)
        fill = next((word for word in words if "=" not in word), "uniform" if match[1] in ("in", "io") else "")
        if fill == "uniform" and match[3] in _HIGH:
            options.setdefault("high", str(_HIGH[match[3]]))
        found.append(GpuArgument(match[1], match[2], match[3], match[4], fill, options))
    return found


def opencl_source(name: str, arguments: list[GpuArgument], body: str, helpers: str = "") -> str:
    """The kernel as OpenCL C."""
    spelled = []
    for argument in arguments:
        match argument.role:
            case "val":
                spelled.append(f"const {argument.type} {argument.name}")
            case "loc":
                spelled.append(f"__local {argument.type} *{argument.name}")
            case "in":
                spelled.append(f"__global const {argument.type} *{argument.name}")
            case _:
                spelled.append(f"__global {argument.type} *{argument.name}")
    source = f"{_above(helpers)}__kernel void {name}({_listed(spelled)})\n{{\n{_inner(body)}\n}}\n"
    if re.search(r"\bdouble\b", source):
        source = f"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\n{source}"
    return source


def cuda_source(name: str, arguments: list[GpuArgument], body: str, helpers: str = "") -> str:
    """The kernel as CUDA."""
    spelled, shared = [], ""
    for argument in arguments:
        match argument.role:
            case "val":
                spelled.append(f"{argument.type} {argument.name}")
            case "loc":
                shared = f"    extern __shared__ {argument.type} {argument.name}[];\n"
            case "in":
                spelled.append(f"const {argument.type} *__restrict__ {argument.name}")
            case _:
                spelled.append(f"{argument.type} *__restrict__ {argument.name}")
    doubles = any(argument.type == "double" for argument in arguments)
    own = f"__device__ {helpers.strip()}\n" if helpers.strip() else ""
    head = f'extern "C" __global__ void {name}({_listed(spelled)})'
    return _to_cuda(f"{_above(own)}{head}\n{{\n{shared}{_inner(body)}\n}}\n", doubles)


def plain_numbers(text: str) -> str:
    """Numbers that a template casts to its type, as that type's literals: ``(float)0.5`` is ``0.5f``."""
    text = re.sub(r"\(float\)(-?\d+\.\d+)\b", r"\1f", text)
    return re.sub(r"\(double\)(-?\d+\.\d+)\b", r"\1", text)


def _to_cuda(text: str, doubles: bool) -> str:
    """OpenCL's words to CUDA's; functions of floating numbers get their ``f`` unless the kernel is of doubles."""
    for word, instead in _CUDA_WORDS.items():
        text = text.replace(word, instead)
    text = re.sub(r"\b(get_\w+)\(([01])\)", lambda match: _CUDA_IDS[match[1]].format(_AXES[match[2]]), text)
    text = re.sub(r"\b(uchar|uint|ulong)\b", lambda match: _CUDA_TYPES[match[1]], text)
    return text if doubles else _MATH.sub(r"\1f(", text)


def _above(helpers: str) -> str:
    return f"{helpers.strip()}\n\n" if helpers.strip() else ""


def _inner(body: str) -> str:
    return body.strip("\n")


def _listed(parameters: list[str]) -> str:
    joined = ", ".join(parameters)
    return joined if len(joined) < _WIDEST else "\n    " + ",\n    ".join(parameters)


def driver_text(
    name: str, arguments: list[GpuArgument], items: list[str], sizes: list[int], *, power_of_two: bool = False
) -> str:
    """The TOML driver of a kernel (`mirenc.measure.gpu_driver`); inputs are filled by their place as seed."""
    lines = [f'kernel = "{name}"', f"sizes = {sizes}", "global = [" + ", ".join(f'"{one}"' for one in items) + "]"]
    lines.append(f"max_block = {_MAX_BLOCK}")
    if power_of_two:
        lines.append("power_of_two = true")
    for place, argument in enumerate(arguments):
        lines += ["", "[[argument]]", f'name = "{argument.name}"']
        match argument.role:
            case "val":
                lines += [f'scalar = "{argument.type}"', f'value = "{argument.size}"']
            case "loc":
                lines.append(f'local = "({argument.size}) * {_BYTES[argument.type]}"')
            case _:
                lines += [f'buffer = "{argument.type}"', f'count = "{argument.size}"']
                if argument.fill:
                    lines += [f'fill = "{argument.fill}"', f"seed = {place}"]
                for key, value in argument.options.items():
                    lines.append(f'{key} = "{value}"' if key == "below" else f"{key} = {value}")
                if argument.role != "in":
                    lines.append("output = true")
    return "\n".join(lines) + "\n"
