"""A run of kernels: build them in chunks and time one after another, until all are done or the time is up."""

import hashlib
import itertools
import json
import math
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from mirenc import __version__
from mirenc.base.errors import CompileError, ConfigError, MirencError, TaskError
from mirenc.base.writing import delivered
from mirenc.decide.tables.measured import FORMAT, MeasuredKernel, MeasuredSample, MeasuredTable
from mirenc.llvm import parse_ir
from mirenc.llvm.analysis.regions import Region, regions_of
from mirenc.tools.measure.machine import describe_machine, machine_title
from mirenc.tools.measure.method import Method
from mirenc.tools.measure.runners import Build, Cell
from mirenc.tools.measure.sample_process import BATCH, first_of_code
from mirenc.tools.measure.timekeeper import Timekeeper
from mirenc.tools.run.compilers import Toolchain, compiler_version
from mirenc.tools.run.run_folder import Journal, Plan, Run, one_line

MAX_TRIES = 3
"""How often a sample is measured at most: to repeat it until the noise happens to be small would keep noisy samples."""

_CHUNK = 16  # samples that are built before they are timed, a job
_SPREAD = (50, 75, 90, 95, 100)  # percentiles of the noise that a table tells


class Objects:
    """The builds of a run, cached in folders below ``root`` for each version of compiler and mirenc."""

    def __init__(self, root: Path, method: Method, toolchain: Toolchain) -> None:
        self.method, self.toolchain = method, toolchain
        self.root = root / _digest((compiler_version(toolchain.compiler), __version__))
        self._locks: dict[Path, Lock] = {}
        self._uses: Counter[Path] = Counter()
        self._errors: dict[Path, CompileError] = {}  # a kernel that does not build is tried for one of its sizes

    def folder(self, kernel: MeasuredKernel, part: str) -> Path:
        """The folder of a sample's build; it changes with sources, headers, compiler and flags."""
        code = (kernel.source, kernel.driver, kernel.headers, kernel.function, kernel.line)
        compiler = (Path(self.toolchain.compiler).name, self.toolchain.cflags, self.toolchain.timeout)
        settings = self.method.space.settings if self.method.space else ()
        return self.root / _digest((part, *code, *compiler, settings, kernel.size if self.method.one_size else 0))

    def keep_for(self, samples: Iterable[tuple[MeasuredKernel, str]]) -> None:
        """Keep the builds of these samples until each was passed to `discard`."""
        self._uses = Counter(self.folder(*sample) for sample in samples)

    def discard(self, kernel: MeasuredKernel, part: str) -> None:
        folder = self.folder(kernel, part)
        self._uses[folder] -= 1
        if self._uses[folder] <= 0:  # no other size of the kernel is left
            shutil.rmtree(folder, ignore_errors=True)

    def build(self, kernel: MeasuredKernel, part: str) -> Build:
        """The cached build of a sample, or a new one. Raises CompileError."""
        folder = self.folder(kernel, part)
        record_path = folder / "build.json"
        with self._locks.setdefault(folder, Lock()):
            if record_path.exists():
                values = json.loads(record_path.read_text(encoding="utf-8"))
                return Build(**values | {"cells": tuple(map(_cell, values["cells"])), "copy": _cell(values["copy"])})
            if folder in self._errors:
                raise self._errors[folder]
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            try:
                build = self.method.build(kernel, part, folder, self.toolchain)
            except CompileError as error:
                self._errors[folder] = error
                raise
            # Debug information may name the folder, and a table says nothing of the machine's paths.
            build = replace(build, ir=build.ir.replace(str(folder), "."))
            # Shared objects of cells that are measured as another are most of the disk.
            libraries = {build.cells[row].library for row in first_of_code(build.cells)}
            for library in {cell.library for cell in build.cells} - libraries - {build.copy.library, build.driver, ""}:
                (folder / library).unlink(missing_ok=True)
            with delivered(record_path) as part_file:
                part_file.write_text(json.dumps(asdict(build)), encoding="utf-8")
            return build


def _digest(facts: object) -> str:
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def _cell(values: dict[str, Any]) -> Cell:
    return Cell(**values | {name: tuple(values[name]) for name in ("setting", "effective")})


class Samples(Journal):
    """Finished samples by kernel and part, and their kernels by name."""

    def __init__(self, path: Path, setup: dict[str, Any]) -> None:
        self.kernels: dict[str, MeasuredKernel] = {}
        self.samples: dict[tuple[str, str], MeasuredSample] = {}
        super().__init__(path, setup)

    def take(self, values: dict[str, Any]) -> None:
        ((kind, fields),) = values.items()
        if kind == "kernel":
            region = fields.pop("region")
            self._keep_kernel(MeasuredKernel(**fields, region=Region(**region) if region else None))
        elif kind == "sample":
            sample = MeasuredSample(**{name: _tuples(value) for name, value in fields.items()})
            self.samples[sample.kernel, sample.part] = sample

    def _keep_kernel(self, kernel: MeasuredKernel) -> None:
        """Keep a kernel; drop the samples of another source with that name."""
        old = self.kernels.get(kernel.name)
        if old is not None and not _same_code(old, kernel):
            self.samples = {key: sample for key, sample in self.samples.items() if key[0] != kernel.name}
        self.kernels[kernel.name] = kernel

    def add(self, kernel: MeasuredKernel, sample: MeasuredSample) -> None:
        """Keep a finished sample; the first sample of a kernel that has IR defines the kernel's IR."""
        old = self.kernels.get(kernel.name)
        lines = [{"sample": asdict(sample)}]
        if old is None or (kernel.ir and not old.ir) or not _same_code(old, kernel):
            self._keep_kernel(kernel)
            lines.insert(0, {"kernel": asdict(replace(kernel, include=""))})
        self.samples[sample.kernel, sample.part] = sample
        self.write(*lines)

    def tries(self, kernel: MeasuredKernel, part: str) -> int:
        """How often a sample was measured with its current source and headers."""
        sample = self.samples.get((kernel.name, part))
        return sample.tries if sample is not None and _same_code(self.kernels[kernel.name], kernel) else 0

    def tries_again(self, kernel: MeasuredKernel, part: str) -> bool:
        """Whether a sample that was dropped for noise is tried again, at most `MAX_TRIES` times in all."""
        tries = self.tries(kernel, part)
        return 0 < tries < MAX_TRIES and self.samples[kernel.name, part].dropped.startswith("noise")


class TimedRun(Run):
    """Measures ``samples``, each a kernel and a part; or only builds them, and ``not_built`` says which failed.

    A `ConfigError`: the folder has a run of another setup; a `TaskError`: an unknown part, or kernels of one name.
    """

    def __init__(self, method: Method, toolchain: Toolchain, plan: Plan, folder: Path) -> None:
        super().__init__(plan, folder)
        self.method = method
        self.parts = _select_parts(method, plan)
        machine = describe_machine()
        # All there are: whichever of them is measured first, the others may be added to the table.
        if devices := {part: dict(facts) for part in method.parts() if (facts := method.describe(part))}:
            machine["devices"] = devices
        self.setup: dict[str, Any] = {
            "task": method.task,
            "format": FORMAT,
            "machine": machine,
            "compiler": compiler_version(toolchain.compiler),
            "flags": list(toolchain.cflags),
            "method_flags": {part: list(method.flags(part)) for part in method.parts()},
            "sources": "the user's" if plan.sources else "the project's own",
        }
        self.objects = Objects(self.work / "objects", method, toolchain)
        self.samples = list(self._all_samples())
        self.work.mkdir(parents=True, exist_ok=True)  # only now: a source that is wrong leaves no folder behind
        self.journal = Samples(self.work / "journal.jsonl", self.setup)
        self.built = 0
        self.not_built: list[str] = []
        self._keepers: dict[str, Timekeeper] = {}

    def _all_samples(self) -> Iterator[tuple[MeasuredKernel, str]]:
        """All samples: every kernel at one part, then at the others, so that any beginning is spread over the parts."""
        plan, method = self.plan, self.method
        if plan.sources:
            kernels = method.user_kernels(plan.sources, self.objects.toolchain)
        else:
            kernels = method.own_kernels(plan.count)
        names: set[str] = set()
        places: dict[str, itertools.count[int]] = {}
        turns: list[list[tuple[MeasuredKernel, str]]] = [[] for _ in self.parts]
        for kernel in kernels:
            if kernel.name in names:
                raise TaskError(f"two kernels are called {kernel.name!r}. Rename one")
            names.add(kernel.name)
            # A group's first kernel starts at a part that its name decides: else all would start at the same.
            start = next(places.setdefault(kernel.group, itertools.count(zlib.crc32(kernel.group.encode()))))
            parts = [part for part in self.parts if method.takes(kernel, part)]
            for turn in range(len(parts)):
                turns[turn].append((kernel, parts[(start + turn) % len(parts)]))
        yield from itertools.chain.from_iterable(turns)

    @property
    def new(self) -> list[tuple[MeasuredKernel, str]]:
        """Samples that are not measured yet."""
        return [sample for sample in self.samples if not self.journal.tries(*sample)]

    @property
    def left(self) -> list[tuple[MeasuredKernel, str]]:
        """Samples that are not measured yet, then those that were dropped because the machine was too noisy."""
        return self.new + [sample for sample in self.samples if self.journal.tries_again(*sample)]

    def measure(self, advance: Callable[..., None]) -> None:
        samples, size = self.left, _CHUNK * self.plan.jobs
        self.objects.keep_for(samples)
        if self.plan.compile_only:
            for (kernel, _), build in self.beside(self._build, self.in_time(samples), size):
                if isinstance(build, MirencError):
                    self.not_built.append(f"{kernel.name}: {one_line(str(build))}")
                else:
                    self.built += 1
                advance(note=kernel.name)
            return
        for start in self.in_time(range(0, len(samples), size)):
            # All are built before one is timed: a compiler beside it would be noise.
            builds = list(self.beside(self._build, samples[start : start + size], size))
            for (kernel, part), build in self.in_time(builds):
                self._finish(kernel, part, build)
                advance(note=kernel.name)

    def close(self) -> None:
        for keeper in self._keepers.values():
            keeper.close()
        if not self.plan.compile_only and (table := self.table()).samples:
            table.write(self.folder)

    def _build(self, sample: tuple[MeasuredKernel, str]) -> Build | MirencError:
        try:
            return self.objects.build(*sample)
        except ConfigError:  # the user's flags are wrong, and not this kernel
            raise
        except MirencError as error:
            return error

    def _finish(self, kernel: MeasuredKernel, part: str, build: Build | MirencError) -> None:
        try:
            if isinstance(build, MirencError):
                raise build
            old = self.journal.kernels.get(kernel.name)
            is_same = old is not None and _same_code(old, kernel)
            new_kernel = replace(kernel, ir=build.ir, region=_region(build))
            context = old.context if old and is_same else self.method.run_context(new_kernel, self.objects.toolchain)
            new_kernel = replace(new_kernel, context={**context, **kernel.context})
        except MirencError as error:
            new_kernel, sample = kernel, MeasuredSample(kernel.name, part, dropped=one_line(f"not built: {error}"))
        else:
            seed = (0, zlib.crc32(f"{kernel.name} {part}".encode()))
            runner = self.method.runner_for(part)
            if runner not in self._keepers:
                self._keepers[runner] = Timekeeper(runner, self.plan.rounds, pin=self.method.one_thread)
            sample = self._keepers[runner].sample(kernel, part, build, self.objects.folder(kernel, part), seed)
        self.journal.add(new_kernel, replace(sample, tries=self.journal.tries(kernel, part) + 1))
        self.objects.discard(kernel, part)

    def table(self) -> MeasuredTable:
        """The table of finished samples, in the order of kernels and parts."""
        rows = {name: row for row, name in enumerate(dict.fromkeys(kernel.name for kernel, _ in self.samples))}
        part_order = {part: row for row, part in enumerate(self.setup["method_flags"])}
        keys = sorted(self.journal.samples, key=lambda key: (rows.get(key[0], len(rows)), part_order[key[1]]))
        samples = [self.journal.samples[key] for key in keys]
        kernels = {name: self.journal.kernels[name] for name, _ in keys}
        measured_parts = {sample.part for sample in samples} or set(self.parts)  # of this run and of all before it
        record = {
            **self.setup,
            "rounds": self.plan.rounds,
            "title": machine_title(self.setup, [part for part in part_order if part in measured_parts]),
            "version": __version__,
            "knobs": list(self.method.knobs),
            "batch": BATCH,
            **_counts(samples, kernels),
        }
        return MeasuredTable(record, kernels, samples)


def _same_code(kernel: MeasuredKernel, other: MeasuredKernel) -> bool:
    return all(getattr(kernel, name) == getattr(other, name) for name in ("source", "driver", "headers", "size"))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _select_parts(method: Method, plan: Plan) -> tuple[str, ...]:
    """The parts that are asked for, or all that the machine has."""
    machine_parts, requested = method.parts(), plan.parts
    if plan.compile_only:
        machine_parts += tuple(part for part in method.elsewhere if part in requested and part not in machine_parts)
    for part in requested or machine_parts or ("",):  # "": the machine has none
        if part not in machine_parts:
            method.describe(part)  # a device that others have says why it cannot be used here
            available = ", ".join(filter(None, machine_parts)) or "none: leave --part out"
            raise TaskError(f"{method.task} has no part {part!r} on this machine; available: {available}")
    return tuple(part for part in machine_parts if part in requested) if requested else machine_parts


def _region(build: Build) -> Region | None:
    """The region of the IR that is decided about, or None for all of it. Raises TaskError: there is no such region."""
    if not build.symbol:
        return None
    level = "loop" if build.header else "function"
    for region in regions_of(parse_ir(build.ir), level).regions:
        if (region.symbol, region.header) == (build.symbol, build.header):
            return region
    problem = f"the kernel's IR has no {level} {build.symbol} {build.header}".strip()
    raise TaskError(f"{problem}, which the `build` of the task's method names. Mend that method")


def _counts(samples: Sequence[MeasuredSample], kernels: dict[str, MeasuredKernel]) -> dict[str, Any]:
    """Counts of samples and cells by their fate, and percentiles of the noise."""
    cells = Counter(status for sample in samples if not sample.dropped for status in sample.status)
    noise = np.array([sample.noise for sample in samples if math.isfinite(sample.noise)])
    noisy_count = sum(sample.dropped.startswith("noise") for sample in samples)
    return {
        "kernels": len(kernels),
        "groups": len({kernel.group for kernel in kernels.values()}),
        "samples": sum(not sample.dropped for sample in samples),
        "dropped_for_noise": noisy_count,
        "dropped_otherwise": sum(bool(sample.dropped) for sample in samples) - noisy_count,
        "tried_again": sum(sample.tries > 1 for sample in samples),
        "cells": dict(sorted(cells.items())),
        "noise": {f"p{q}": round(float(np.percentile(noise, q)), 5) for q in _SPREAD} if len(noise) else {},
    }
