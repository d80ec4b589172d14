"""`Dialect`: the kind of IR that a trained head knows; sources are compiled to it, other IR is brought to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Dialect:
    """A target and compiler flags, the same for all IR of one data set.

    - ``title``: what messages call it.
    - ``triple``, ``data_layout``: the target that its modules name; "": any, and IR is taken as it is.
    - ``flags`` by language (``c``, ``c++``, ``cl``, ``cuda``): in place of mirenc's own; a user's come after.
    - ``oldest_clang``: sources are compiled by the oldest clang on PATH, the nearest to the one that made the data.
    """

    title: str
    flags: Mapping[str, tuple[str, ...]] = field(hash=False)
    triple: str = ""
    data_layout: str = ""
    oldest_clang: bool = False

    @property
    def before_passes(self) -> bool:
        """Whether it is IR as a front end writes it."""
        return all("-disable-llvm-passes" in flags for flags in self.flags.values())


# The published kernels of both OpenCL tasks: Apple LLVM 9.1.0, x86_64-apple-macosx10.13.0,
# kernels by spir_kernel, builtins mangled and without bodies, no address spaces, loops unrolled but not vectorised.
OPENCL_X86 = Dialect(
    title="OpenCL C compiled for x86-64 (macOS), as in the published data sets",
    triple="x86_64-apple-macosx10.13.0",
    data_layout="e-m:o-i64:64-f80:128-n8:16:32:64-S128",
    flags={
        "cl": (
            *("-x", "cl", "-cl-std=CL1.2", "-target", "x86_64-apple-macosx10.13.0"),
            *("-Xclang", "-finclude-default-header", "-fno-vectorize", "-fno-slp-vectorize"),
            *("-mllvm", "-unroll-partial-threshold=36"),
        )
    },
    oldest_clang=True,
)

_SCALAR = ("-O1", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-gline-tables-only")
# Loops as the vectorizer meets them, for every instruction set. Line numbers are for messages.
SCALAR_LOOPS = Dialect(
    title="C or C++ at -O1, its loops neither unrolled nor vectorised",
    flags={"c": ("-x", "c", *_SCALAR), "c++": ("-x", "c++", *_SCALAR)},
)

CUDA_WORDS = Path(__file__).parent / "cuda_words.h"
"""A header with the keywords of CUDA, included where CUDA's own headers are not there."""

WITHOUT_CUDA = Dialect(
    title="CUDA device code without CUDA's headers",
    flags={
        "cuda": (
            *("-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudalib", "-nocudainc"),
            *("-Wno-unknown-cuda-version", "-include", str(CUDA_WORDS)),
        )
    },
)


def names_toolkit(cflags: Sequence[str]) -> bool:
    """Whether the user's flags say where CUDA's own headers are."""
    return any(flag.startswith("--cuda-path") for flag in cflags)
