"""``mirenc cmake-dir``: where the CMake package lies."""

from pathlib import Path

import typer

import mirenc.tools


def cmake_dir() -> None:
    """Print the folder of the CMake package (for -DMirenc_DIR): it has mirenc_index(TARGET) and mirenc_diff(TARGET).

    mirenc cmake-dir
    """
    typer.echo(Path(mirenc.tools.__file__).parent / "cmake")
