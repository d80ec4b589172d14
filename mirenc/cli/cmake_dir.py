"""``mirenc cmake-dir``: where the CMake package lies."""

from pathlib import Path

import typer

import mirenc.tools


def cmake_dir() -> None:
    """Print the folder of mirenc's CMake package, for mirenc_index(TARGET) and mirenc_diff(TARGET).

    cmake -B build -DMirenc_DIR="$(mirenc cmake-dir)"
    """
    typer.echo(Path(mirenc.tools.__file__).parent / "cmake")
