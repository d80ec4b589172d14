"""What the runners of GPU kernels share: a driver in TOML, and blocks whose shape each cell tells."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from mirenc.measure.gpu_driver import read_driver
from mirenc.measure.runners import Cell, CellRefusedError, Runner, own_keys


class GpuRunner(Runner):
    """Launches a kernel of `Cell.library` in blocks that the cell tells: ``{"local": [x, y]}``."""

    memory_limit = None  # a GPU's library maps all of its memory
    known: ClassVar[tuple[str, ...]] = ("local",)

    def read(self, folder: Path, driver: str, size: int) -> None:
        """Read the driver (`mirenc.measure.gpu_driver`)."""
        self.folder, self.size = folder, size
        self.driver = read_driver((folder / driver).read_text(encoding="utf-8"), str(folder / driver))

    def block_of(self, cell: Cell) -> tuple[int, ...]:
        """The shape of a cell's blocks, which the driver allows."""
        own_keys(cell.before, self.known)
        block = self.driver.block(cell.before["local"])
        if refusal := self.driver.refusal(self.size, block):
            raise CellRefusedError(refusal)
        return block
