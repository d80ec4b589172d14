"""A run of `mirenc measure`: kernels are built in chunks and timed one at a time, until all are done or time is up."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mirenc import __version__
from mirenc.errors import MirencError, TaskError
from mirenc.ir import parse_ir
from mirenc.ir.regions import Region, regions_of
from mirenc.measure.children import Outcome, Timekeeper
from mirenc.measure.journal import Journal
from mirenc.measure.kernel import Build, Cell, Kernel
from mirenc.measure.machine import compiler_version, describe_machine, machine_title
from mirenc.measure.method import Method, Toolchain
from mirenc.measure.objects import Objects
from mirenc.measure.timing import BATCH
from mirenc.tasks.measured import FORMAT, MeasuredKernel, MeasuredSample, MeasuredTable

__all__ = ["Plan", "Run"]

_CHUNK = 16  # samples that are built before they are timed, a job
_SAVE_EVERY = 180.0  # seconds between two writings of the table
_SPREAD = (50, 75, 90, 95, 100)  # percentiles of the noise that a table tells


@dataclass(frozen=True)
class Plan:
    """What the user asked for.

    Attributes
    ----------
    sources : tuple of Path
        The user's own kernels; () for the project's.
    count : int
        How many of the project's.
    parts : tuple of str
        Parts of the machine; () for all that it has.
    seed, rounds, jobs : int
    minutes : float
        When to stop; infinity: when all are done.
    compile_only : bool
        Build everything and time nothing.
    """

    sources: tuple[Path, ...] = ()
    count: int = 0
    parts: tuple[str, ...] = ()
    seed: int = 0
    rounds: int = 12
    jobs: int = 1
    minutes: float = math.inf
    compile_only: bool = False


class Run:
    """Measuring into one folder.

    Parameters
    ----------
    method : Method
    toolchain : Toolchain
    plan : Plan
    folder : Path
        Made where it is not there.

    Raises
    ------
    ConfigError
        The folder has a run of another setup.
    TaskError
        An unknown part, or two kernels of one name.

    Attributes
    ----------
    samples : list of (Kernel, str)
        All that were asked for: kernel and part.
    built : int
        With ``compile_only``: how many are there.
    not_built : list of str
        With ``compile_only``: kernels that could not be built, and why.
    """

    def __init__(self, method: Method, toolchain: Toolchain, plan: Plan, folder: Path) -> None:
        self.method, self.plan, self.folder = method, plan, folder
        self.parts = _checked_parts(method, plan)
        machine = describe_machine()
        # All there are: whichever of them is measured first, the others may be added to the table.
        devices = {part: dict(facts) for part in method.parts() if (facts := method.describe(part))}
        if devices:
            machine["devices"] = devices
        self.setup: dict[str, Any] = {
            "task": method.task,
            "format": FORMAT,
            "machine": machine,
            "compiler": compiler_version(toolchain.compiler),
            "flags": list(toolchain.cflags),
            "method_flags": {part: list(method.flags(part)) for part in method.parts()},
            "seed": plan.seed,
            "sources": "the user's" if plan.sources else "the project's own",
        }
        work = folder / "work"
        self.objects = Objects(work / "objects", method, toolchain, plan.jobs)
        self.samples = list(self._spread())
        work.mkdir(parents=True, exist_ok=True)  # only now: a source that is wrong leaves no folder behind
        self.journal = Journal(work / "journal.jsonl", self.setup)
        self.built = 0
        self.not_built: list[str] = []
        self._keepers: dict[str, Timekeeper] = {}
        self._saved = time.monotonic()

    def _spread(self) -> Iterator[tuple[Kernel, str]]:
        """All samples: every kernel at one part, the parts of a group's kernels in turns, then at the others.

        So any beginning is spread over the groups as the kernels are, and over the parts.
        """
        plan = self.plan
        kernels = (
            self.method.user_kernels(plan.sources, self.objects.toolchain)
            if plan.sources
            else self.method.own_kernels(plan.count, plan.seed)
        )
        names: set[str] = set()
        places: dict[str, itertools.count[int]] = {}
        turns: list[list[tuple[Kernel, str]]] = [[] for _ in self.parts]
        for kernel in kernels:
            if kernel.name in names:
                raise TaskError(f"two kernels are called {kernel.name!r}. Rename one")
            names.add(kernel.name)
            # A group's first kernel starts at a part that its name decides: else all would start at the same.
            place = next(places.setdefault(kernel.group, itertools.count(zlib.crc32(kernel.group.encode()))))
            parts = [part for part in self.parts if self.method.takes(kernel, part)]
            for turn in range(len(parts)):
                turns[turn].append((kernel, parts[(place + turn) % len(parts)]))
        for turn_samples in turns:
            yield from turn_samples

    @property
    def new(self) -> list[tuple[Kernel, str]]:
        """Samples that are not measured yet."""
        return [sample for sample in self.samples if not self.journal.tries(*sample)]

    @property
    def left(self) -> list[tuple[Kernel, str]]:
        """Samples that are not measured yet, then those that were dropped because the machine was too noisy."""
        return self.new + [sample for sample in self.samples if self.journal.tries_again(*sample)]

    def go(self, advance: Callable[..., None]) -> None:
        """Measure what is left. What was finished is written whatever ends this, Ctrl-C too.

        Raises
        ------
        ToolchainError
            The runner does not start here.
        """
        end = time.monotonic() + 60 * self.plan.minutes
        size = _CHUNK * self.plan.jobs
        try:
            for chunk in _chunks(self.left, size):
                if time.monotonic() > end:
                    break
                with self.objects.built(chunk) as builds:
                    if self.plan.compile_only:
                        for (kernel, _), build in zip(chunk, builds, strict=True):
                            if isinstance(build, MirencError):
                                self.not_built.append(f"{kernel.name}: {_one_line(str(build))}")
                            else:
                                self.built += 1
                            advance(note=kernel.name)
                        continue
                    # All are built before one is timed: a compiler beside it would be noise.
                    ready = list(builds)
                for (kernel, part), build in zip(chunk, ready, strict=True):
                    if time.monotonic() > end:
                        break
                    self._finish(kernel, part, build)
                    advance(note=kernel.name)
                    if time.monotonic() - self._saved > _SAVE_EVERY:
                        self.save()
        finally:
            for keeper in self._keepers.values():
                keeper.close()
            if not self.plan.compile_only:
                self.save()
            self.objects.tidy(self.left)

    def _finish(self, kernel: Kernel, part: str, build: Build | MirencError) -> None:
        """Time one sample and keep it."""
        row = {name: getattr(kernel, name) for name in MeasuredKernel.__dataclass_fields__ if hasattr(kernel, name)}
        row["context"] = dict(kernel.context)
        tries = self.journal.tries(kernel, part) + 1
        try:
            if isinstance(build, MirencError):
                raise build
            region = _region(build)
        except MirencError as error:
            dropped = MeasuredSample(kernel.name, part, dropped=_one_line(f"not built: {error}"), tries=tries)
            self.journal.add(MeasuredKernel(**row), dropped)
        else:
            seed = (self.plan.seed, zlib.crc32(f"{kernel.name} {part}".encode()))
            outcome = self._keeper(part).sample(kernel, build, self.objects.folder(kernel, part), seed)
            sample = _sample(kernel, part, build, outcome, tries)
            self.journal.add(MeasuredKernel(**row, ir=build.ir, region=region), sample)
        self.objects.discard(kernel, part)

    def _keeper(self, part: str) -> Timekeeper:
        runner = self.method.runner_for(part)
        if runner not in self._keepers:
            self._keepers[runner] = Timekeeper(runner, self.plan.rounds, pin=self.method.one_thread)
        return self._keepers[runner]

    def save(self) -> None:
        """Write the table of what is finished."""
        table = self.table()
        if table.samples:
            table.write(self.folder)
        self._saved = time.monotonic()

    def table(self) -> MeasuredTable:
        """What is finished, in the order of the kernels and of the machine's parts."""
        kernel_order = {name: row for row, name in enumerate(dict.fromkeys(kernel.name for kernel, _ in self.samples))}
        part_order = {part: row for row, part in enumerate(self.setup["method_flags"])}
        keys = sorted(
            self.journal.samples,
            key=lambda key: (kernel_order.get(key[0], len(kernel_order)), part_order.get(key[1], len(part_order))),
        )
        samples = [self.journal.samples[key] for key in keys]
        kernels = {name: self.journal.kernels[name] for name, _ in keys}
        record = {
            **self.setup,
            "rounds": self.plan.rounds,
            "title": machine_title(self.setup, self._measured_parts(samples)),
            "version": __version__,
            "knobs": list(self.method.knobs),
            "batch": BATCH,
            **_counts(samples, kernels),
        }
        return MeasuredTable(record, kernels, samples)

    def _measured_parts(self, samples: Sequence[MeasuredSample]) -> list[str]:
        """Those of this run and of all before it, in the machine's order."""
        found = {sample.part for sample in samples} or set(self.parts)
        return [part for part in self.setup["method_flags"] if part in found]


def _checked_parts(method: Method, plan: Plan) -> tuple[str, ...]:
    """The parts that are asked for, or all that the machine has.

    Raises
    ------
    TaskError, ToolchainError
        There is no such part, or not here.
    """
    here, wanted = method.parts(), plan.parts
    if plan.compile_only:
        here += tuple(part for part in method.elsewhere if part in wanted and part not in here)
    for part in wanted or here or ("",):  # "": the machine has none
        if part not in here:
            method.describe(part)  # a device that others have says why it cannot be used here
            known = ", ".join(filter(None, here)) or "none: leave --part out"
            raise TaskError(f"{method.task} has no part {part!r} on this machine; available: {known}")
    return tuple(part for part in here if part in wanted) if wanted else here


def _chunks(samples: Iterable[tuple[Kernel, str]], size: int) -> Iterator[list[tuple[Kernel, str]]]:
    remaining = iter(samples)
    while chunk := list(itertools.islice(remaining, size)):
        yield chunk


def _region(build: Build) -> Region | None:
    """What of the IR is decided about.

    Raises
    ------
    TaskError
        The IR has no such function or loop.
    MirencError
        It cannot be read.
    """
    if not build.symbol:
        return None
    level = "loop" if build.header else "function"
    for region in regions_of(parse_ir(build.ir), level).regions:
        if (region.symbol, region.header) == (build.symbol, build.header):
            return region
    raise TaskError(f"its IR has no {level} {build.symbol} {build.header}".strip() + ". Mend the method")


def _sample(kernel: Kernel, part: str, build: Build, outcome: Outcome, tries: int) -> MeasuredSample:
    cells = range(len(build.cells))
    label, report = (tuple(of.get(index, math.nan) for index in cells) for of in (outcome.label, outcome.report))
    return MeasuredSample(
        kernel.name,
        part,
        outcome.noise,
        outcome.rounds,
        outcome.calls,
        _one_line(outcome.dropped),
        tuple(cell.setting for cell in build.cells),
        tuple(cell.effective for cell in build.cells),
        tuple(outcome.status),
        tuple(map(_digest, build.cells)),
        label,
        report,
        tries,
    )


def _digest(cell: Cell) -> str:
    """Of the code and of what the runner is told: cells of one digest are one measurement."""
    if not cell.code or cell.problem:
        return ""
    return hashlib.sha256(f"{cell.code} {json.dumps(cell.before, sort_keys=True)}".encode()).hexdigest()[:8]


def _counts(samples: Sequence[MeasuredSample], kernels: dict[str, MeasuredKernel]) -> dict[str, Any]:
    """What became of samples and cells, and how far the default was from its copy."""
    cells = Counter(status for sample in samples if not sample.dropped for status in sample.status)
    noise = np.array([sample.noise for sample in samples if math.isfinite(sample.noise)])
    for_noise = sum(sample.dropped.startswith("noise") for sample in samples)
    return {
        "kernels": len(kernels),
        "groups": len({kernel.group for kernel in kernels.values()}),
        "samples": sum(not sample.dropped for sample in samples),
        "dropped_for_noise": for_noise,
        "dropped_otherwise": sum(bool(sample.dropped) for sample in samples) - for_noise,
        "tried_again": sum(sample.tries > 1 for sample in samples),
        "cells": dict(sorted(cells.items())),
        "noise": {f"p{q}": round(float(np.percentile(noise, q)), 5) for q in _SPREAD} if len(noise) else {},
    }


def _one_line(text: str) -> str:
    """The first 200 characters, without breaks."""
    return " ".join(text.split())[:200]
