"""Built samples on disk: made once, and kept only until they are timed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mirenc import __version__
from mirenc.errors import ConfigError
from mirenc.measure.building import Toolchain
from mirenc.measure.kernel import Build, Cell, Kernel
from mirenc.measure.machine import compiler_version
from mirenc.measure.method import Method
from mirenc.measure.timing import first_of_code

_DONE = "build.json"


class Objects:
    """The folders of a run's builds, below ``root`` in one for each version of compiler and mirenc."""

    def __init__(self, root: Path, method: Method, toolchain: Toolchain) -> None:
        self.method, self.toolchain = method, toolchain
        self.root = root / _short(f"{compiler_version(toolchain.compiler)}\0{__version__}")

    def folder(self, kernel: Kernel, part: str) -> Path:
        """The folder of a sample; a source, a header, a compiler or flags that were changed have another."""
        built_by = (Path(self.toolchain.compiler).name, *self.toolchain.cflags)
        made_of = (kernel.name, part, str(kernel.size), kernel.source, kernel.driver, kernel.headers, *built_by)
        return self.root / _short("\0".join(made_of))

    def discard(self, kernel: Kernel, part: str) -> None:
        shutil.rmtree(self.folder(kernel, part), ignore_errors=True)

    def tidy(self, left: Sequence[tuple[Kernel, str]]) -> None:
        """Remove what samples share and none of those left needs."""
        waiting = [kernel for kernel, part in left if not (self.folder(kernel, part) / _DONE).exists()]
        self.method.tidy(self.root, waiting, self.toolchain)

    def build(self, kernel: Kernel, part: str) -> Build:
        """What was built before, or a new build.

        A `ConfigError` where its cells are not the task's settings: it would be measured for hours, and refused by the
        reader then. Any other error: the default or the driver cannot be built.
        """
        folder = self.folder(kernel, part)
        done = folder / _DONE
        if done.exists():
            return _from_json(json.loads(done.read_text(encoding="utf-8")))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        build = self.method.build(kernel, part, folder, self.toolchain)
        space, settings = self.method.space, tuple(cell.setting for cell in build.cells)
        if space is not None and (settings != space.settings or build.default != space.default):
            raise ConfigError(f"{kernel.name}: its cells are not the settings of {self.method.task}. Mend its method")
        # Debug information may name the folder, and a table says nothing of the machine's paths.
        build = replace(build, ir=build.ir.replace(str(folder), "."))
        # Shared objects of cells that are measured as another are most of the disk.
        needed = {build.copy.library, build.driver, *(build.cells[row].library for row in first_of_code(build.cells))}
        for cell in build.cells:
            if cell.library and cell.library not in needed:
                (folder / cell.library).unlink(missing_ok=True)
        part_file = folder / f"{_DONE}.part"
        part_file.write_text(json.dumps(asdict(build)), encoding="utf-8")
        part_file.replace(done)
        return build


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _from_json(values: dict[str, Any]) -> Build:
    def cell(of: dict[str, Any]) -> Cell:
        return Cell(**{**of, "setting": tuple(of["setting"]), "effective": tuple(of["effective"])})

    return Build(**{**values, "cells": tuple(map(cell, values["cells"])), "copy": cell(values["copy"])})
