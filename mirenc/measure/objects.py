"""Built samples on disk: made once for all sizes of a kernel, and kept only until they are timed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import Any

from mirenc import __version__
from mirenc.errors import ConfigError
from mirenc.measure.building import Toolchain
from mirenc.measure.kernel import Build, Cell
from mirenc.measure.machine import compiler_version
from mirenc.measure.method import Method
from mirenc.measure.timing import first_of_code
from mirenc.tasks.measured import MeasuredKernel
from mirenc.writing import delivered


class Objects:
    """The folders of a run's builds, below ``root`` in one for each version of compiler and mirenc."""

    def __init__(self, root: Path, method: Method, toolchain: Toolchain) -> None:
        self.method, self.toolchain = method, toolchain
        self.root = root / _short((compiler_version(toolchain.compiler), __version__))
        self._locks: dict[Path, Lock] = {}
        self._wanted: Counter[Path] = Counter()

    def folder(self, kernel: MeasuredKernel, part: str) -> Path:
        """The folder of a sample; a source, a header, a compiler or flags that were changed have another."""
        of_code = (kernel.source, kernel.driver, kernel.headers, kernel.function, kernel.line)
        built_by = (Path(self.toolchain.compiler).name, self.toolchain.cflags, self.toolchain.timeout)
        settings = self.method.space.settings if self.method.space else ()
        size = kernel.size if self.method.one_size else 0
        return self.root / _short((part, *of_code, *built_by, settings, size))

    def keep_for(self, samples: Iterable[tuple[MeasuredKernel, str]]) -> None:
        """Keep what is built until `discard` was told of all of these."""
        self._wanted = Counter(self.folder(*sample) for sample in samples)

    def discard(self, kernel: MeasuredKernel, part: str) -> None:
        """A sample is through: remove its folder, unless another size of the kernel is left."""
        folder = self.folder(kernel, part)
        self._wanted[folder] -= 1
        if self._wanted[folder] <= 0:
            shutil.rmtree(folder, ignore_errors=True)

    def build(self, kernel: MeasuredKernel, part: str) -> Build:
        """What was built before, or a new build.

        A `ConfigError` where its cells are not the task's settings: it would be measured for hours, and refused by the
        reader then. Any other error: the default or the driver cannot be built.
        """
        folder = self.folder(kernel, part)
        done = folder / "build.json"
        with self._locks.setdefault(folder, Lock()):
            if done.exists():
                return _from_json(json.loads(done.read_text(encoding="utf-8")))
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            build = self.method.build(kernel, part, folder, self.toolchain)
            space, settings = self.method.space, tuple(cell.setting for cell in build.cells)
            if space is not None and (settings != space.settings or build.default != space.default):
                raise ConfigError(
                    f"{kernel.name}: its cells are not the settings of {self.method.task}. Mend its method"
                )
            # Debug information may name the folder, and a table says nothing of the machine's paths.
            build = replace(build, ir=build.ir.replace(str(folder), "."))
            # Shared objects of cells that are measured as another are most of the disk.
            needed = {build.copy.library, build.driver}
            needed.update(build.cells[row].library for row in first_of_code(build.cells))
            for cell in build.cells:
                if cell.library and cell.library not in needed:
                    (folder / cell.library).unlink(missing_ok=True)
            with delivered(done) as unfinished:
                unfinished.write_text(json.dumps(asdict(build)), encoding="utf-8")
            return build


def _short(made_of: object) -> str:
    return hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]


def _from_json(values: dict[str, Any]) -> Build:
    def cell(of: dict[str, Any]) -> Cell:
        return Cell(**{**of, "setting": tuple(of["setting"]), "effective": tuple(of["effective"])})

    return Build(**{**values, "cells": tuple(map(cell, values["cells"])), "copy": cell(values["copy"])})
