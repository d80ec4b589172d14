"""CUDA to PTX through clang, without a CUDA toolkit: the driver of a GPU makes the rest of it, for the GPU it has.

Of NVIDIA's files only ``libdevice.10.bc`` is needed, and only by kernels that call a function such as ``expf``.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mirenc.errors import CompileError, ToolchainError
from mirenc.ir.dialect import names_toolkit
from mirenc.measure.building import Toolchain, compile_problem

# PTX of the oldest GPU that is still common: every later one takes it, and it is the IR that heads see.
PTX_FLAGS = ("-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70")
OPTIMISATION = "-O3"
_LIBDEVICE = Path("nvvm", "libdevice", "libdevice.10.bc")
_WHEELS = ("cuda_nvcc", "cu13")  # folders of NVIDIA's wheels, below `nvidia`
_TIMEOUT = 60.0  # seconds; one build serves all settings, so its time decides nothing


def find_libdevice() -> Path | None:
    """``libdevice.10.bc`` of a toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda) or of NVIDIA's wheels."""
    return next((path for folder in _cuda_folders() if (path := folder / _LIBDEVICE).is_file()), None)


def _cuda_folders() -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    yield Path("/usr/local/cuda")
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield from (Path(folder, wheel) for wheel in _WHEELS)


def build_ptx(source: Path, target: Path, toolchain: Toolchain, flags: Sequence[str] = ()) -> None:
    """Compile the kernels of one CUDA source by a clang that knows CUDA, with ``flags`` beside the toolchain's.

    With ``--cuda-path`` among those that toolkit is used in full.

    Raises
    ------
    CompileError
        clang refuses it; a setting changes nothing about that.
    ToolchainError
        It calls CUDA's mathematical functions, and there is no libdevice.
    """
    command = [toolchain.compiler, *PTX_FLAGS, OPTIMISATION, "-S", "-Wno-unknown-cuda-version", *flags]
    libdevice = find_libdevice()
    if not names_toolkit(toolchain.cflags):
        # A folder without a toolkit: else clang takes one that it finds, and writes PTX that older drivers refuse.
        command += [f"--cuda-path={target.parent}", "-nocudainc", "-nocudalib"]
        if libdevice is not None:
            command += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(libdevice)]
    command += [*toolchain.cflags, "-o", str(target), str(source)]
    if problem := compile_problem(command, _TIMEOUT):
        raise CompileError(f"{source.name} gives no PTX: {problem}")
    missing = re.search(r"\.extern \.func[^;]*?\b(__nv_\w+)", target.read_text(encoding="utf-8"))
    if missing:
        raise ToolchainError(
            f"{source.name} calls {missing[1]}, and CUDA's libdevice.10.bc is not here. "
            "Type: pip install 'mirenc[cuda]', or set CUDA_HOME to the folder of a toolkit"
        )
