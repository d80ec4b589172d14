"""CUDA device code where no CUDA is installed: clang brings what kernels need, but for a few names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mirenc.ir.dialect import Dialect

__all__ = ["CUDA_WORDS", "WITHOUT_CUDA", "names_toolkit"]

CUDA_WORDS = Path(__file__).parent / "cuda_words.h"
"""What stands in for CUDA's headers."""

WITHOUT_CUDA = Dialect(
    name="cuda-alone",
    title="CUDA device code without CUDA's headers",
    triple="",  # OpenCL C and IR are taken as they come
    data_layout="",
    flags={
        "cuda": (
            *("-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudalib", "-nocudainc"),
            *("-Wno-unknown-cuda-version", "-include", str(CUDA_WORDS)),
        )
    },
)


def names_toolkit(cflags: Sequence[str]) -> bool:
    """Whether the user's flags say where CUDA's headers are, which then stand for themselves."""
    return any(flag.startswith("--cuda-path") for flag in cflags)
