"""`Journal`: what a run has measured, a line a sample, so that it can be stopped anywhere and goes on."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mirenc.errors import ConfigError
from mirenc.ir.regions import Region
from mirenc.measure.kernel import Kernel
from mirenc.tasks.measured import MeasuredKernel, MeasuredSample

__all__ = ["MAX_TRIES", "Journal"]

MAX_TRIES = 3
"""How often a sample is measured: who tries until the noise happens to be small keeps what is noisy."""


class Journal:
    """The finished samples of a folder.

    Parameters
    ----------
    path : Path
        The file, which may be there.
    setup : dict
        What makes samples comparable: task, compiler, flags, seed and machine. A file of another setup is refused;
        what either does not say is not compared.

    Attributes
    ----------
    kernels : dict of str to MeasuredKernel
    samples : dict of (str, str) to MeasuredSample
        By kernel and part.

    Raises
    ------
    ConfigError
        The folder has samples of another setup.
    """

    def __init__(self, path: Path, setup: dict[str, Any]) -> None:
        self.kernels: dict[str, MeasuredKernel] = {}
        self.samples: dict[tuple[str, str], MeasuredSample] = {}
        self._path = path
        complete = self._read(path, setup) if path.exists() else 0
        if complete:
            os.truncate(path, complete)  # without the line that was being written when the run was killed
        else:
            path.unlink(missing_ok=True)
        # Written with the first sample: builds without one may be carried to another machine and timed there.
        self._header = None if complete else {"setup": setup}

    def add(self, kernel: MeasuredKernel, sample: MeasuredSample) -> None:
        """Keep a finished sample; of a kernel with several parts, the first one that has IR tells the kernel's."""
        if self._header is not None:
            self._write(self._header)
            self._header = None
        known = self.kernels.get(kernel.name)
        if known is None or (kernel.ir and not known.ir) or not _same_code(known, kernel):
            self._take(kernel)
            self._write({"kernel": asdict(kernel)})
        self.samples[sample.kernel, sample.part] = sample
        self._write({"sample": asdict(sample)})

    def tries(self, kernel: Kernel, part: str) -> int:
        """How often a sample was measured, with the source and headers that it has now."""
        found = self.samples.get((kernel.name, part))
        return found.tries if found is not None and _same_code(self.kernels[kernel.name], kernel) else 0

    def tries_again(self, kernel: Kernel, part: str) -> bool:
        """Whether a sample was dropped for a noisy machine, and not so often that luck would let it pass."""
        noisy = 0 < self.tries(kernel, part) < MAX_TRIES
        return noisy and self.samples[kernel.name, part].dropped.startswith("noise")

    def _take(self, kernel: MeasuredKernel) -> None:
        """Keep a kernel; what was measured of another source of that name is no longer true."""
        known = self.kernels.get(kernel.name)
        if known is not None and not _same_code(known, kernel):
            self.samples = {key: sample for key, sample in self.samples.items() if key[0] != kernel.name}
        self.kernels[kernel.name] = kernel

    def _write(self, line: dict[str, Any]) -> None:
        with open(self._path, "ab") as file:
            file.write((json.dumps(line) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())

    def _read(self, path: Path, setup: dict[str, Any]) -> int:
        """Take what is there; bytes of its complete lines."""
        data = path.read_bytes()
        complete = data.rfind(b"\n") + 1
        for number, text in enumerate(data[:complete].splitlines(), 1):
            try:
                ((kind, found),) = json.loads(text).items()
                if kind == "kernel":
                    region = found.pop("region")
                    self._take(MeasuredKernel(**found, region=Region(**region) if region else None))
                elif kind == "sample":
                    sample = MeasuredSample(**{name: _tuples(value) for name, value in found.items()})
                    self.samples[sample.kernel, sample.part] = sample
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ConfigError(
                    f"{path}, line {number} is damaged ({error}). Remove the folder, or name another"
                ) from None
            if kind == "setup" and (other := _differences(found, json.loads(json.dumps(setup)))):
                raise ConfigError(
                    f"{path.parent.parent} has samples of another run: {'; '.join(other)}. Name another folder with -o"
                )
        return complete


def _differences(found: dict[str, Any], setup: dict[str, Any]) -> list[str]:
    other = [name for name in setup if name in found and found[name] != setup[name]]
    return [f"{name} {found[name]!r}, not {setup[name]!r}" for name in other]


def _same_code(one: MeasuredKernel | Kernel, other: MeasuredKernel | Kernel) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in ("source", "driver", "headers", "size"))


def _tuples(value: Any) -> Any:
    """JSON's lists as the tuples that they were."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
