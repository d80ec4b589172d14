"""C kernels: variants are functions of shared objects, called by a driver that is one too."""

import ctypes
from pathlib import Path

import numpy as np

from mirenc.tools.measure.runners import Array, Cell, Runner

# Letter of `mirenc_types` -> element.
_TYPES = {"f": "f4", "d": "f8", "b": "i1", "h": "i2", "i": "i4", "l": "i8"}


class CRunner(Runner):
    """Calls through the driver; the timing loop is C (``harness.c``)."""

    def load(self, folder: Path, driver: str, size: int) -> None:
        self.folder = folder
        self.libraries: dict[str, ctypes.CDLL] = {}
        library = ctypes.CDLL(str(folder / driver))
        self.reset, self.call = library.mirenc_reset, library.mirenc_call
        self.output, self.timed = library.mirenc_output, library.mirenc_time
        self.reset.restype = None
        self.call.argtypes, self.call.restype = [ctypes.c_void_p], None
        self.output.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)]
        self.output.restype = ctypes.c_long
        self.timed.argtypes, self.timed.restype = [ctypes.c_void_p, ctypes.c_long], ctypes.c_double
        letters = ctypes.addressof(ctypes.c_char.in_dll(library, "mirenc_types"))
        self.types = ctypes.string_at(letters).decode("ascii", "replace")
        unknown = set(self.types) - set(_TYPES)
        if unknown:
            raise RuntimeError(f"mirenc_types has {sorted(unknown)[0]!r}; a letter is one of {' '.join(_TYPES)}")
        library.mirenc_setup.argtypes = [ctypes.c_long]
        if library.mirenc_setup(size) != 0:
            raise RuntimeError(f"mirenc_setup({size}) failed")

    def outputs(self, cell: Cell) -> list[Array]:
        function = self._function(cell)
        self.reset()
        self.call(function)
        outputs: list[Array] = []
        pointer = ctypes.c_void_p()
        while (count := self.output(len(outputs), ctypes.byref(pointer))) >= 0:
            if len(outputs) >= len(self.types):
                raise RuntimeError(f"the driver has more outputs than letters in mirenc_types ({self.types!r})")
            element = np.dtype(_TYPES[self.types[len(outputs)]])
            outputs.append(np.frombuffer(ctypes.string_at(pointer, count * element.itemsize), element))
        return outputs

    def time(self, cell: Cell, calls: int) -> float:
        return self.timed(self._function(cell), calls)

    def _function(self, cell: Cell) -> int:
        """Address of a variant, made ready to be called."""
        if cell.library not in self.libraries:
            self.libraries[cell.library] = ctypes.CDLL(str(Path(self.folder, cell.library)))
        library = self.libraries[cell.library]
        address = ctypes.cast(getattr(library, cell.symbol), ctypes.c_void_p).value
        assert address is not None
        return address
