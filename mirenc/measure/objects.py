"""Built samples on disk: made once, beside each other, and kept only until they are timed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mirenc import __version__
from mirenc.errors import ConfigError, MirencError
from mirenc.measure.kernel import Build, Cell, Kernel
from mirenc.measure.machine import compiler_version
from mirenc.measure.method import Method, Toolchain
from mirenc.measure.timing import first_of_code

__all__ = ["Objects"]

_DONE = "build.json"


class Objects:
    """The folders of a run's builds.

    Parameters
    ----------
    root : Path
        Where they lie, in a folder for each version of compiler and mirenc: neither uses what another built.
    method : Method
    toolchain : Toolchain
    jobs : int
        How many are built at once.
    """

    def __init__(self, root: Path, method: Method, toolchain: Toolchain, jobs: int) -> None:
        self.method, self.toolchain, self.jobs = method, toolchain, jobs
        versions = f"{compiler_version(toolchain.compiler)}\0{__version__}"
        self.root = root / hashlib.sha256(versions.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def folder(self, kernel: Kernel, part: str) -> Path:
        """The folder of a sample; a source, a header, a compiler or flags that were changed have another."""
        built_by = (Path(self.toolchain.compiler).name, *self.toolchain.cflags)
        said = "\0".join((kernel.name, part, str(kernel.size), kernel.source, kernel.driver, kernel.headers, *built_by))
        return self.root / hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def discard(self, kernel: Kernel, part: str) -> None:
        shutil.rmtree(self.folder(kernel, part), ignore_errors=True)

    def has(self, kernel: Kernel, part: str) -> bool:
        """Whether it is built."""
        return (self.folder(kernel, part) / _DONE).exists()

    def tidy(self, left: Sequence[tuple[Kernel, str]]) -> None:
        """Remove what samples share and none of those left needs."""
        waiting = [kernel for kernel, part in left if not self.has(kernel, part)]
        self.method.tidy(self.root, waiting, self.toolchain)

    def build(self, kernel: Kernel, part: str) -> Build:
        """What was built before, or a new build.

        Raises
        ------
        MirencError
            The default or the driver cannot be built.
        """
        folder = self.folder(kernel, part)
        if self.has(kernel, part):
            return _from_json(json.loads((folder / _DONE).read_text(encoding="utf-8")))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        build = self.method.build(kernel, part, folder, self.toolchain)
        self._check(kernel, build)
        # Debug information may name the folder, and a table says nothing of the machine's paths.
        build = replace(build, ir=build.ir.replace(str(folder), "."))
        _keep_needed(folder, build)
        part_file = folder / f"{_DONE}.part"
        part_file.write_text(json.dumps(asdict(build)), encoding="utf-8")
        part_file.replace(folder / _DONE)
        return build

    def _check(self, kernel: Kernel, build: Build) -> None:
        """Refuse what is not the task's: it would be measured for hours, and refused by the reader then."""
        space = self.method.space
        if space is None:
            return
        settings = tuple(cell.setting for cell in build.cells)
        if settings != space.settings or build.default != space.default:
            raise ConfigError(f"{kernel.name}: its cells are not the settings of {self.method.task}. Mend its method")

    @contextmanager
    def built(self, samples: Sequence[tuple[Kernel, str]]) -> Iterator[Iterator[Build | MirencError]]:
        """Build some samples beside each other: each one's build, or why there is none, in their order."""

        def one(sample: tuple[Kernel, str]) -> Build | MirencError:
            try:
                return self.build(*sample)
            except ConfigError:  # a method that is wrong, and not this kernel
                raise
            except MirencError as error:
                return error

        threads = ThreadPoolExecutor(self.jobs)
        try:
            waiting: list[Future[Build | MirencError]] = [threads.submit(one, sample) for sample in samples]
            yield (future.result() for future in waiting)
        finally:
            threads.shutdown(wait=True, cancel_futures=True)


def _keep_needed(folder: Path, build: Build) -> None:
    """Remove shared objects of cells that are measured as another: most of the disk."""
    first = first_of_code(build.cells)
    needed = {build.copy.library, build.driver} | {build.cells[index].library for index in first}
    for cell in build.cells:
        if cell.library and cell.library not in needed:
            (folder / cell.library).unlink(missing_ok=True)


def _from_json(found: dict[str, Any]) -> Build:
    def cell(of: dict[str, Any]) -> Cell:
        return Cell(**{**of, "setting": tuple(of["setting"]), "effective": tuple(of["effective"])})

    return Build(**{**found, "cells": tuple(map(cell, found["cells"])), "copy": cell(found["copy"])})
