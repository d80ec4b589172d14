"""Train the heads that ship with the default model: one for each table of each task, on all of its samples.

    MIRENC_DATA=... python downstream/ready_heads.py        # writes mirenc/tasks/ready/<task>.<variant>

A head is chosen by the same search as in an evaluation (grouped by kernel, inside the samples). Run it again whenever
the default model, the menu (`mirenc/tasks/menu.py`) or the datasets change; a test refuses heads of another model.
Tasks that mirenc measures itself have their tables in `downstream/<task>/table`.
"""

from __future__ import annotations

from pathlib import Path

import mirenc
from mirenc.tasks.predict import fit_head

HERE = Path(__file__).parent
READY = Path(mirenc.__file__).parent / "tasks" / "ready"
VARIANTS = {"device_mapping": ("nvidia", "amd"), "thread_coarsening": ("",)}
MEASURED = ("block_size", "openmp", "vectorization")  # by `mirenc measure`; their tables are here


def main() -> None:
    """Train and write them all."""
    encoder = mirenc.load()
    for name in (*VARIANTS, *MEASURED):
        task = mirenc.get_task(name)
        for variant in VARIANTS.get(name, ("",)):
            data = task.load(HERE / name / "table" if name in MEASURED else None, variant)
            head = fit_head(task, data, encoder, variant=variant)
            folder = head.save(READY / f"{name}.{variant or 'all'}")
            print(f"{folder.name}: {head.head.weights_}")


if __name__ == "__main__":
    main()
