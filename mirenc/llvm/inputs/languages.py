"""Languages of source files: by suffix, and the flags that make a clang compile one. Small, for `mirenc cc`."""

from os import PathLike, fspath
from os.path import basename, splitext

SOURCE_LANGUAGES = {".c": "c", ".i": "c", ".cl": "cl", ".cu": "cuda"}
SOURCE_LANGUAGES |= dict.fromkeys((".cc", ".cpp", ".cxx", ".C"), "c++")
_OPENCL = "-x cl -cl-std=CL1.2 -target spir64-unknown-unknown -Xclang -finclude-default-header"
_CUDA = "-x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudalib -Wno-unknown-cuda-version"
LANGUAGE_FLAGS = {"c": ("-x", "c"), "c++": ("-x", "c++"), "cl": tuple(_OPENCL.split()), "cuda": tuple(_CUDA.split())}
"""Flags by language, where no `Dialect` has others: OpenCL C with clang's own header, CUDA for the device only."""
# Languages that mirenc does not compile: suffixes, name, and the command that turns {source} into {ir}.
_FORTRAN = ("Fortran", "flang -S -emit-llvm -O2 {source} -o {ir}")
_OTHER_SOURCES = {
    ".rs": ("Rust", "rustc --emit=llvm-ir --crate-type=lib -O {source} -o {ir}"),
    **dict.fromkeys((".f", ".for", ".f90", ".f95", ".f03", ".f08", ".f18"), _FORTRAN),
    ".swift": ("Swift", "swiftc -emit-ir -O {source} -o {ir}"),
    ".zig": ("Zig", "zig build-obj -O ReleaseFast -fno-emit-bin -femit-llvm-ir={ir} {source}"),
    ".go": ("Go", "tinygo build -o {ir} {source}"),
    ".d": ("D", "ldc2 -O2 --output-ll -of={ir} {source}"),
    ".m": ("Objective-C", "clang -S -emit-llvm -O2 {source} -o {ir}"),
    ".mm": ("Objective-C++", "clang++ -S -emit-llvm -O2 {source} -o {ir}"),
}


def language_of(path: str | PathLike[str]) -> str | None:
    """Source language a file's name says, as clang's ``-x`` wants it; None for IR."""
    return SOURCE_LANGUAGES.get(splitext(path)[1])


def command_for(path: str | PathLike[str]) -> tuple[str, str] | None:
    """Language of a source that mirenc does not compile, and the command that makes IR of it; None for other names."""
    stem, suffix = splitext(path)
    language, command = _OTHER_SOURCES.get(suffix.lower(), ("", ""))
    if not language:
        return None
    from shlex import quote

    return language, command.format(source=quote(fspath(path)), ir=quote(f"{basename(stem)}.ll"))
