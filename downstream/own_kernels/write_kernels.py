"""Write the kernels that `mirenc measure` brings: ``python downstream/own_kernels/write_kernels.py [FOLDER]``.

``loops.json.xz`` has 2,000 loops for vectorization, ``gpu.json.xz`` all OpenCL and CUDA kernels, in the order in which
they are measured. New kernels move the project's tables, which then want a new run.
"""

import sys
from pathlib import Path

from generate_loops import generate
from gpu_kernels import gpu_kernels

from mirenc.decide.tables.measured import write_kernels
from mirenc.tools.measure.block_size import LANGUAGES
from mirenc.tools.measure.building import KERNELS

LOOPS = 2000


def write_all(folder: Path) -> None:
    """Write both files."""
    write_kernels(folder / "loops.json.xz", generate(LOOPS, 0))
    write_kernels(folder / "gpu.json.xz", [kernel for language in LANGUAGES for kernel in gpu_kernels(language)])


if __name__ == "__main__":
    write_all(Path(sys.argv[1]) if sys.argv[1:] else KERNELS)
