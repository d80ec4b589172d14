"""How block sizes are measured: one build, launched in each shape, on the OpenCL devices and the GPU of a machine.

CUDA becomes PTX through clang, without a CUDA toolkit: the driver of a GPU makes the rest of it, for the GPU it has. Of
NVIDIA's files only ``libdevice.10.bc`` is needed, and only by kernels that call a function such as ``expf``.
"""

import hashlib
import importlib.util
import itertools
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from mirenc.base.errors import CompileError, ConfigError, MirencError, TaskError, ToolchainError
from mirenc.decide.settings import Space, Value
from mirenc.decide.tables.measured import MeasuredKernel, read_kernels
from mirenc.decide.tasks.block_size import CUDA_THREADS, KNOBS, block_space, nearest_shape
from mirenc.llvm import IRModule, parse_ir
from mirenc.llvm.analysis.block_bounds import BlockBounds, block_bounds
from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.llvm.inputs.dialect import CUDA_WORDS, WITHOUT_CUDA, names_toolkit
from mirenc.llvm.ir.functions import kernels_of
from mirenc.tools.measure.building import KERNELS, headers_digest, ir_of, read_text
from mirenc.tools.measure.gpu_driver import GpuDriver, read_driver
from mirenc.tools.measure.method import Method
from mirenc.tools.measure.runners import Build, Cell
from mirenc.tools.measure.runners.cuda import cuda_device
from mirenc.tools.measure.runners.opencl import opencl_devices
from mirenc.tools.run.compilers import Toolchain, compile_problem

CUDA = "cuda"
"""The part that is the first NVIDIA GPU; the others are OpenCL devices by their names."""

LANGUAGES = ("cl", "cuda")
_SUFFIXES = {".cl": "cl", ".cu": "cuda"}
_DRIVER = "driver.toml"
# Of clang's flags an OpenCL device, whose own compiler builds what is timed, knows few.
_WITH_VALUE = ("-D", "-I")
# What clang alone reads: where CUDA's headers are says nothing to an OpenCL device.
_CUDA_ONLY = ("--cuda-", "-nocudainc", "-nocudalib")
# PTX of the oldest GPU that is still common: every later one takes it, and it is the IR that heads see.
_PTX_FLAGS = ("-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70")
_OPTIMISATION = "-O3"
_LIBDEVICE = Path("nvvm", "libdevice", "libdevice.10.bc")
_WHEELS = ("cuda_nvcc", "cu13")  # folders of NVIDIA's wheels, below `nvidia`


class BlockSizeMethod(Method):
    """Work-group or block shapes of OpenCL C and CUDA kernels, in one or two dimensions, on each device."""

    task = "block_size"
    elsewhere = (CUDA,)
    default_count = 357  # a kernel of each structure at three sizes
    one_thread = False  # a CPU's device runs work groups on all cores
    one_size = True  # a driver may refuse blocks for some sizes

    @property
    def knobs(self) -> tuple[str, ...]:
        return KNOBS

    def parts(self) -> tuple[str, ...]:
        """OpenCL devices by name, and ``cuda`` where NVIDIA's driver has a GPU; () where there is neither."""
        parts = []
        with suppress(ToolchainError):  # most machines have none
            cuda_device()
            parts.append(CUDA)
        with suppress(MirencError):  # `describe` says why there is none
            parts += opencl_devices()
        return tuple(parts)

    def runner_for(self, part: str) -> str:
        return "cuda" if part == CUDA else "opencl"

    def describe(self, part: str) -> Mapping[str, Any]:
        """The device's own description. Raises ToolchainError, which says how to get an OpenCL device."""
        return cuda_device() if part == CUDA else opencl_devices().get(part, {})

    def flags(self, part: str) -> tuple[str, ...]:
        """Flags that the PTX is compiled with; an OpenCL device compiles the source itself."""
        return (*_PTX_FLAGS, _OPTIMISATION) if part == CUDA else ()

    def takes(self, kernel: MeasuredKernel, part: str) -> bool:
        return (kernel.language == "cuda") == (part == CUDA)

    def find_compiler(self, compiler: str | None) -> Toolchain:
        return Toolchain(find_compiler("cl", compiler)[0])

    def own_kernels(self, count: int) -> Iterator[MeasuredKernel]:
        """``count`` kernels in each language; those that no part of the machine takes are skipped."""
        kernels = read_kernels(KERNELS / "gpu.json.xz")
        for language in LANGUAGES:
            yield from itertools.islice((kernel for kernel in kernels if kernel.language == language), count)

    def user_kernels(self, paths: Sequence[Path], toolchain: Toolchain) -> Iterator[MeasuredKernel]:
        for path in paths:
            if path.suffix not in _SUFFIXES:
                raise TaskError(f"{path} is not an OpenCL or CUDA source. Name a file NAME.cl or NAME.cu")
            driver_path = path.with_name(f"{path.stem}.{_DRIVER}")
            if not driver_path.is_file():
                raise TaskError(
                    f"{path} has no driver {driver_path.name} beside it. Write one: the kernel's name, problem sizes, "
                    "work-items, and what each argument holds (mirenc.tools.measure.gpu_driver shows all keys)"
                )
            language, source, text = _SUFFIXES[path.suffix], read_text(path), read_text(driver_path)
            is_cuda = language == "cuda"
            driver = read_driver(text, str(driver_path))
            # Flags that make a preprocessor find what a build finds.
            arm = ("--cuda-device-only", "-nocudalib", *_cuda_flags(toolchain)) if is_cuda else ()
            headers = headers_digest([path], toolchain, [arm])
            name = f"{path.stem}:{driver.kernel}"
            facts = {"group": name, "family": path.stem, "function": driver.kernel, "source": source, "driver": text}
            # OpenCL C is compiled by the device's driver, from its text alone.
            facts |= {"include": str(path.absolute().parent) if is_cuda else "", "headers": headers}
            for size in driver.sizes:
                yield gpu_kernel(name, size, language, driver.dimensions, **facts)

    def build(self, kernel: MeasuredKernel, part: str, folder: Path, toolchain: Toolchain) -> Build:
        driver = read_driver(kernel.driver, "its driver")
        (folder / _DRIVER).write_text(kernel.driver, encoding="utf-8")
        source = folder / f"kernel.{'cu' if part == CUDA else 'cl'}"
        source.write_text(kernel.source, encoding="utf-8")
        toolchain = toolchain.beside(kernel.include)
        ir, module, symbol = _kernel_ir(kernel, source, toolchain)
        library = source.name
        if part == CUDA:
            library = "kernel.ptx"
            build_ptx(source, folder / library, toolchain, _cuda_flags(toolchain))
        space, content = block_space(kernel.language, driver.dimensions), (folder / library).read_bytes()
        problems = self._problems(kernel, part, driver, block_bounds(module, symbol), space)
        code = hashlib.sha256(content).hexdigest()
        device: dict[str, Any] = {} if part == CUDA else {"device": part}
        # No key where there are none: it is part of what tells one measurement from another.
        if part != CUDA and (options := list(build_options(toolchain.cflags))):
            device["options"] = options
        cells = []
        for setting in space.settings:
            runner_settings = {"local": [int(side) for side in setting[: driver.dimensions]], **device}
            cells.append(Cell(setting, setting, code, library, kernel.function, runner_settings, problems[setting]))
        copy = f"copy{Path(library).suffix}"
        (folder / copy).write_bytes(content)
        width, height = map(int, space.settings[space.default])
        allowed_shapes = [(int(x), int(y)) for (x, y), problem in problems.items() if not problem]
        default = space.settings.index(nearest_shape(allowed_shapes, (width, height)))
        copy_cell = replace(cells[default], library=copy)
        return Build(tuple(cells), copy_cell, _DRIVER, ir, symbol, default=default)

    def _problems(
        self, kernel: MeasuredKernel, part: str, driver: GpuDriver, bounds: BlockBounds, space: Space
    ) -> dict[tuple[Value, ...], str]:
        """For each shape why the kernel, its driver or the device refuses it, or "".

        Raises CompileError: fewer than two shapes are left, and there is nothing to compare.
        """
        max_items: float = CUDA_THREADS if part == CUDA else math.inf
        if part != CUDA:
            with suppress(MirencError):  # one that is built for elsewhere has no word here
                max_items = self.describe(part).get("max_block", math.inf)
        device, problems = BlockBounds(most=max_items), {}
        for setting in space.settings:
            block = tuple(int(side) for side in setting[: driver.dimensions])
            problems[setting] = driver.refusal(kernel.size, block) or bounds.refusal(block) or device.refusal(block)
        if len(refusals := [problem for problem in problems.values() if problem]) > len(space) - 2:
            allowed = f"{kernel.function} can be launched in {len(space) - len(refusals)} of the {len(space)} shapes"
            reason = bounds.text or refusals[0]
            raise CompileError(f"{allowed} ({reason}). There is nothing to compare: leave the kernel out")
        return problems


def gpu_kernel(name: str, size: int, language: str, dimensions: int, **facts: Any) -> MeasuredKernel:
    """A kernel at one problem size; ``facts`` are the rest of `MeasuredKernel`."""
    context = {"n": size, "dimensions": dimensions, "cuda": int(language == "cuda")}
    name = f"{name} {language} {size}"
    return MeasuredKernel(name=name, language=language, line=0, size=size, context=context, **facts)


def _cuda_flags(toolchain: Toolchain) -> tuple[str, ...]:
    return () if names_toolkit(toolchain.cflags) else ("-nocudainc", "-include", str(CUDA_WORDS))


def _kernel_ir(kernel: MeasuredKernel, source: Path, toolchain: Toolchain) -> tuple[str, IRModule, str]:
    """A kernel's IR as `mirenc predict` compiles it, as text and as module, and the kernel's symbol in it."""
    dialect = None if names_toolkit(toolchain.cflags) else WITHOUT_CUDA
    ir = ir_of(source.name, kernel.source, kernel.language, toolchain, dialect)
    module = parse_ir(ir, name=kernel.name)
    display_names = {function.name: function.display_name for function in module.defined_functions}
    names = [name for name in kernels_of(module) if display_names[name] == kernel.function]
    if not names:
        raise CompileError(f"its source has no kernel {kernel.function!r}. Mend `kernel` in its driver")
    return ir, module, names[0]


def build_options(cflags: Sequence[str]) -> Iterator[str]:
    """The user's compiler flags for ``clBuildProgram`` (OpenCL 1.2, section 5.6.4), but for those about CUDA.

    A `ConfigError` names a flag that a device's own compiler does not know, or that has a blank.
    """
    flags = iter(cflags)
    for flag in flags:
        if flag.startswith(_CUDA_ONLY):
            continue
        option = flag + next(flags, "") if flag in _WITH_VALUE else flag
        if not option.startswith((*_WITH_VALUE, "-cl-")) and option not in ("-w", "-Werror"):
            raise ConfigError(
                f"an OpenCL device is given {option!r}, which its compiler does not know; it knows -D, -I, -w, -Werror "
                "and -cl-... Leave this flag out of --cflags, or measure with --part cuda"
            )
        if option in _WITH_VALUE or any(letter.isspace() for letter in option):
            raise ConfigError(
                f"an OpenCL device is given {option!r}, but its options may not contain blanks. Write the definition "
                "into the source, or give -DNAME=VALUE or -IFOLDER without blanks"
            )
        yield option


def find_libdevice() -> Path | None:
    """``libdevice.10.bc`` of a toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda) or of NVIDIA's wheels."""
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    spec = importlib.util.find_spec("nvidia")
    wheels = [Path(folder, wheel) for folder in (spec and spec.submodule_search_locations) or () for wheel in _WHEELS]
    paths = (Path(folder, _LIBDEVICE) for folder in (*toolkits, *wheels) if folder)
    return next((path for path in paths if path.is_file()), None)


def build_ptx(source: Path, target: Path, toolchain: Toolchain, flags: Sequence[str] = ()) -> None:
    """Compile the kernels of one CUDA source, with ``flags`` beside the toolchain's, or with a toolkit named in those.

    A `CompileError`: clang refuses it; a `ToolchainError`: it calls CUDA's mathematics, and there is no libdevice.
    """
    command = [toolchain.compiler, *_PTX_FLAGS, _OPTIMISATION, "-S", "-Wno-unknown-cuda-version", *flags]
    if not names_toolkit(toolchain.cflags):
        # A folder without a toolkit: else clang takes one that it finds, and writes PTX that older drivers refuse.
        command += [f"--cuda-path={target.parent}", "-nocudainc", "-nocudalib"]
        if (libdevice := find_libdevice()) is not None:
            command += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(libdevice)]
    command += [*toolchain.cflags, "-o", str(target), str(source)]
    if problem := compile_problem(command):
        raise CompileError(f"{source.name} gives no PTX: {problem}")
    missing = re.search(r"\.extern \.func[^;]*?\b(__nv_\w+)", target.read_text(encoding="utf-8"))
    if missing:
        cause = f"{source.name} calls {missing[1]}, and CUDA's libdevice.10.bc is not here"
        raise ToolchainError(f"{cause}. Type: pip install 'mirenc[cuda]', or set CUDA_HOME to the folder of a toolkit")
