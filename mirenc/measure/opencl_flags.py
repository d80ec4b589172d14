"""The user's compiler flags for an OpenCL device, whose own compiler builds what is timed and knows few of clang's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mirenc.errors import ConfigError

__all__ = ["build_options"]

_WITH_VALUE = ("-D", "-I")
# What clang alone reads: where CUDA's headers are says nothing to an OpenCL device.
_CUDA_ONLY = ("--cuda-", "-nocudainc", "-nocudalib")


def build_options(cflags: Sequence[str]) -> tuple[str, ...]:
    """Those for ``clBuildProgram`` (OpenCL 1.2, section 5.6.4); flags about CUDA are left out.

    Raises
    ------
    ConfigError
        A flag that it does not know, or one with a blank, which its one line of options cannot hold.
    """
    return tuple(_checked(cflags))


def _checked(cflags: Sequence[str]) -> Iterator[str]:
    flags = iter(cflags)
    for flag in flags:
        if flag.startswith(_CUDA_ONLY):
            continue
        whole = flag + next(flags, "") if flag in _WITH_VALUE else flag
        if not whole.startswith((*_WITH_VALUE, "-cl-")) and whole not in ("-w", "-Werror"):
            raise ConfigError(
                f"an OpenCL device is given {whole!r}, which its compiler does not know; it knows -D, -I, -w, -Werror "
                "and -cl-... Leave it out of --cflags, or measure what needs it with --part cuda"
            )
        if whole in _WITH_VALUE or any(letter.isspace() for letter in whole):
            raise ConfigError(
                f"an OpenCL device is given {whole!r}, and its options may have no blanks. Write that into the source, "
                "or as -DNAME=VALUE or -IFOLDER without any"
            )
        yield whole
