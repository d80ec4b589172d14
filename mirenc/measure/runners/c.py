"""C kernels: variants are functions of shared objects, called by a driver that is one too."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import cast

import numpy as np

from mirenc.measure.kernel import Cell
from mirenc.measure.runners import Array, Job, Runner, own_keys

# Letter of `mirenc_types` -> element.
_TYPES = {"f": "f4", "d": "f8", "b": "i1", "h": "i2", "i": "i4", "l": "i8"}


class CRunner(Runner):
    """Calls through the driver; the timing loop is C (``harness.c``)."""

    def load(self, job: Job) -> None:
        self.folder = job.folder
        self.libraries: dict[str, ctypes.CDLL] = {}
        driver = ctypes.CDLL(str(job.folder / job.driver))
        self.reset, self.call = driver.mirenc_reset, driver.mirenc_call
        self.output, self.timed = driver.mirenc_output, driver.mirenc_time
        self.reset.restype = None
        self.call.argtypes, self.call.restype = [ctypes.c_void_p], None
        self.output.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)]
        self.output.restype = ctypes.c_long
        self.timed.argtypes, self.timed.restype = [ctypes.c_void_p, ctypes.c_long], ctypes.c_double
        letters = ctypes.addressof(ctypes.c_char.in_dll(driver, "mirenc_types"))
        self.types = ctypes.string_at(letters).decode("ascii", "replace")
        strange = set(self.types) - set(_TYPES)
        if strange:
            raise RuntimeError(f"mirenc_types has {sorted(strange)[0]!r}; a letter is one of {' '.join(_TYPES)}")
        driver.mirenc_setup.argtypes = [ctypes.c_long]
        if driver.mirenc_setup(job.size) != 0:
            raise RuntimeError(f"mirenc_setup({job.size}) failed")

    def outputs(self, cell: Cell) -> list[Array]:
        function = self._function(cell)
        self.reset()
        self.call(function)
        outputs: list[Array] = []
        place = ctypes.c_void_p()
        while (count := self.output(len(outputs), ctypes.byref(place))) >= 0:
            if len(outputs) >= len(self.types):
                raise RuntimeError(f"the driver has more outputs than letters in mirenc_types ({self.types!r})")
            element = np.dtype(_TYPES[self.types[len(outputs)]])
            outputs.append(np.frombuffer(ctypes.string_at(place, count * element.itemsize), element))
        return outputs

    def time(self, cell: Cell, calls: int) -> float:
        return cast(float, self.timed(self._function(cell), calls))

    def _function(self, cell: Cell) -> int:
        """Address of a variant, made ready to be called."""
        if cell.library not in self.libraries:
            self.libraries[cell.library] = ctypes.CDLL(str(Path(self.folder, cell.library)))
        library = self.libraries[cell.library]
        own_keys(cell.before, ())
        address = ctypes.cast(getattr(library, cell.symbol), ctypes.c_void_p).value
        assert address is not None
        return address
