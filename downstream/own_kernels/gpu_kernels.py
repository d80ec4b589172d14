"""The project's own OpenCL and CUDA kernels: the texts of ``gpu``, each in both languages and at three sizes.

A text is OpenCL C 1.2 without vector types; CUDA is made of it call by call, to what people write there. A head learns
from code, so neither may look as if a program had made it: no macros stand in for either language. Bounds are checked
and tiles take the block's shape, so that any block is right.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kernel_files import HERE, KernelText, fill_words, read_folder

from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.tools.measure.block_size import gpu_kernel

# Three problem sizes for a CPU's few cores and for a GPU, by what a size means.
SIZES = {
    "line": {"cl": (4096, 65536, 1048576), "cuda": (65536, 1048576, 8388608)},
    "plane": {"cl": (64, 256, 1024), "cuda": (256, 1024, 4096)},
    "image": {"cl": (48, 160, 512), "cuda": (256, 1024, 4096)},
    "cube": {"cl": (16, 40, 96), "cuda": (64, 160, 320)},
    "product": {"cl": (32, 96, 224), "cuda": (128, 512, 1536)},
    "pairs": {"cl": (128, 512, 1536), "cuda": (1024, 4096, 16384)},
    "rows": {"cl": (512, 4096, 32768), "cuda": (8192, 65536, 524288)},
}
# What a header says: work-items in each dimension, a name of the sizes or the three for each language.
KEYS = {"items": "n", "sizes": "", "cpu": "", "gpu": "", "power_of_two": "no"}
_SIZE_COUNT = 3
_MAX_BLOCK = 4096  # of the device, at most; a kernel of the project's allows any
_WIDEST = 110  # columns of a parameter list that is written in one line
_BYTES = {"uchar": 1, "int": 4, "uint": 4, "float": 4, "long": 8, "ulong": 8, "double": 8}
# The largest value of a uniform fill where the kernel does not say: sums of many must still fit.
_HIGH = {"uchar": 200, "int": 100, "uint": 100, "long": 100, "ulong": 100}

_CUDA_TYPES = {"uchar": "unsigned char", "uint": "unsigned int", "ulong": "unsigned long"}
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
# With what stands before and after it where that binds less than any operator.
_ID = re.compile(r"([=(,\[] ?|\breturn )?\b(get_\w+)\(([01])\)(?=([;,)\]])?)")
_IDENTIFIER = re.compile(r"[\w.-]+")
_MATH = re.compile(r"\b(sqrt|rsqrt|exp|log|sin|cos|pow|tanh|fabs|fmin|fmax)\(")


def gpu_kernels(language: str, seed: int = 0) -> Iterator[MeasuredKernel]:
    """All kernels in one language (``cl`` or ``cuda``), at each of their sizes, in the order of a seed.

    Any beginning is spread: one kernel of each structure (group) at one of its sizes, then at another, then others.
    """
    families = read_folder(HERE / "gpu", KEYS).values()
    structures = [list(_sized_kernels(text, language)) for texts in families for text in texts]
    random.Random(seed).shuffle(structures)
    for row in itertools.zip_longest(*structures):
        structures_left = [kernels for kernels in row if kernels is not None]
        for turn in range(_SIZE_COUNT):
            yield from (kernels[(turn + place) % _SIZE_COUNT] for place, kernels in enumerate(structures_left))


def _sized_kernels(text: KernelText, language: str) -> Iterator[list[MeasuredKernel]]:
    """For each choice of types and constants, a kernel at each size."""
    numbers = text.keys["cpu" if language == "cl" else "gpu"].split(", ")
    sizes = SIZES[text.keys["sizes"]][language] if text.keys["sizes"] else tuple(map(int, numbers))
    for kernel in variants(text):
        facts = {"group": text.name, "family": text.family, "function": text.name}
        facts["source"] = kernel.opencl() if language == "cl" else kernel.cuda()
        yield [
            gpu_kernel(kernel.name, size, language, len(kernel.items), driver=kernel.driver(size), **facts)
            for size in sizes
        ]


def variants(text: KernelText) -> Iterator[GpuText]:
    """The text with each choice of its words."""
    words = {word: values for word, values in text.words.items() if not word.endswith(" by T")}
    values_by_type = {word: values for word, values in text.words.items() if word not in words}
    for values in itertools.product(*words.values()):
        chosen = dict(zip(words, values, strict=True))
        place = words["T"].index(chosen["T"])
        filled = chosen | {word.partition(" ")[0]: values[place] for word, values in values_by_type.items()}
        name = text.name
        for word, value in chosen.items():  # a formula is named by its place
            name += f"-{value if _IDENTIFIER.fullmatch(value) else words[word].index(value) + 1}"
        yield GpuText(text, name, filled)


@dataclass(frozen=True)
class _Parameter:
    """``role`` is ``in``, ``out``, ``local`` or ``value``; ``data`` what the header says of it."""

    role: str
    type: str
    name: str
    data: str


class GpuText:
    """A kernel whose words are chosen, to be written in either language; ``name`` tells the choice."""

    def __init__(self, text: KernelText, name: str, words: Mapping[str, str]) -> None:
        def filled(template: str) -> str:
            """With numbers that a template casts to its type as that type's literals: ``(float)0.5`` is ``0.5f``."""
            template = re.sub(r"\(float\)(-?\d+\.\d+)\b", r"\1f", fill_words(template, words))
            return re.sub(r"\(double\)(-?\d+\.\d+)\b", r"\1", template)

        self.name, self.function, self.power_of_two = name, text.name, text.keys["power_of_two"] == "yes"
        self.preamble = filled(text.preamble)
        self.body = filled("\n".join(f"    {line}" if line else "" for line in text.body))
        self.items = [filled(item.strip()) for item in text.keys["items"].split(",")]
        self.spelled = [*map(filled, text.parameters)]
        self.parameters = []
        for parameter in self.spelled:
            *qualifiers, kind, spelled = parameter.split()
            pointed = "local" if "__local" in qualifiers else "in" if "const" in qualifiers else "out"
            role, variable = pointed if spelled.startswith("*") else "value", spelled.lstrip("*")
            data = filled(text.data.get(variable, variable if role == "value" else "n"))
            self.parameters.append(_Parameter(role, kind, variable, data))

    def opencl(self) -> str:
        preamble = f"{self.preamble}\n\n" if self.preamble else ""
        source = f"{preamble}__kernel void {self.function}({_parameter_list(self.spelled)})\n{{\n{self.body}\n}}\n"
        enabled = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\n" if re.search(r"\bdouble\b", source) else ""
        return enabled + source

    def cuda(self) -> str:
        """As CUDA; functions of floating numbers get their ``f`` unless the kernel is of doubles."""
        shared_arrays = [
            f"    extern __shared__ {parameter.type} {parameter.name}[];\n"
            for parameter in self.parameters
            if parameter.role == "local"
        ]
        pattern = {"in": "const {} *__restrict__ {}", "out": "{} *__restrict__ {}", "value": "{} {}"}
        spelled = [
            pattern[parameter.role].format(parameter.type, parameter.name)
            for parameter in self.parameters
            if parameter.role != "local"
        ]
        preamble = f"__device__ {self.preamble}\n\n" if self.preamble else ""
        signature = f'extern "C" __global__ void {self.function}({_parameter_list(spelled)})'
        text = f"{preamble}{signature}\n{{\n{''.join(shared_arrays)}{self.body}\n}}\n"
        for word, instead in _CUDA_WORDS.items():
            text = text.replace(word, instead)
        text = _ID.sub(_cuda_id, text)
        text = re.sub(r"\b(uchar|uint|ulong)\b", lambda match: _CUDA_TYPES[match[1]], text)
        return text if any(parameter.type == "double" for parameter in self.parameters) else _MATH.sub(r"\1f(", text)

    def driver(self, size: int) -> str:
        """Its TOML driver (`mirenc.tools.measure.gpu_driver`); inputs are filled by their place as seed."""
        items = ", ".join(f'"{item}"' for item in self.items)
        lines = [f'kernel = "{self.function}"', f"sizes = [{size}]", f"global = [{items}]", f"max_block = {_MAX_BLOCK}"]
        if self.power_of_two:
            lines.append("power_of_two = true")
        for place, parameter in enumerate(self.parameters):
            lines += ["", "[[argument]]", f'name = "{parameter.name}"']
            count, _, fill = parameter.data.partition(": ")
            if parameter.role == "value":
                lines += [f'scalar = "{parameter.type}"', f'value = "{count}"']
            elif parameter.role == "local":
                lines.append(f'local = "({count}) * {_BYTES[parameter.type]}"')
            else:
                lines += [f'buffer = "{parameter.type}"', f'count = "{count}"', *_fill_lines(parameter, fill, place)]
        return "\n".join(lines) + "\n"


def _cuda_id(match: re.Match[str]) -> str:
    """CUDA's expression for a call of OpenCL's, in brackets where an operator beside it would take it apart."""
    prefix, function, dimension, suffix = match.groups()
    expression = _CUDA_IDS[function].format("xy"[int(dimension)])
    is_closed = " " not in expression or (prefix is not None and suffix is not None)
    return (prefix or "") + (expression if is_closed else f"({expression})")


def _fill_lines(parameter: _Parameter, fill: str, seed: int) -> Iterator[str]:
    """What a buffer holds: ``FILL KEY=VALUE ...``, in which ``uniform`` need not be said of an input."""
    options = dict(word.split("=", 1) for word in fill.split() if "=" in word)
    fill_names = [word for word in fill.split() if "=" not in word]
    fill = fill_names[0] if fill_names else "uniform" if parameter.role == "in" else ""
    if fill == "uniform" and parameter.type in _HIGH:
        options.setdefault("high", str(_HIGH[parameter.type]))
    if fill:
        yield from (f'fill = "{fill}"', f"seed = {seed}")
    for key, value in options.items():
        yield f'{key} = "{value}"' if key == "below" else f"{key} = {value}"
    if parameter.role == "out":
        yield "output = true"


def _parameter_list(parameters: list[str]) -> str:
    line = ", ".join(parameters)
    return line if len(line) < _WIDEST else "\n    " + ",\n    ".join(parameters)
