"""IR2Vec's vectors, for the row of a table that a peer deserves.

The wheel (``pip install IR2Vec==2.1.1``) is no dependency: where it is absent, the row is. It reads what LLVM <= 16
wrote, ends the Python process on IR it does not like, and keeps the memory of the files before; so a child process
computes each vector.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import TaskError
from mirenc.ir.old_text import modernise

__all__ = ["DIMENSION", "ir2vec_available", "ir2vec_vectors"]

DIMENSION = 300
_SECONDS = 60  # for one file


def ir2vec_available() -> bool:
    """Whether the IR2Vec wheel is installed beside mirenc."""
    return importlib.util.find_spec("ir2vec") is not None


def ir2vec_vectors(texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
    """Flow-aware module vectors.

    Parameters
    ----------
    texts : sequence of str
        IR text as its LLVM wrote it. What mirenc mends for LLVM 22 (`mirenc.ir.old_text.modernise`) is mended for
        IR2Vec, too: both get the same chance.

    Returns
    -------
    vectors : (n, 300) float32
        Zeros where IR2Vec gave none, or numbers that are none.
    failed : int
        How many those are.

    Raises
    ------
    TaskError
        The wheel does not run at all.
    """
    vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    found = 0
    with tempfile.TemporaryDirectory(prefix="mirenc-ir2vec-") as folder:
        for row, text in enumerate(texts):
            Path(folder, f"{row}.ll").write_text(modernise(text), encoding="utf-8")
        output = Path(folder, "vectors.jsonl")
        # As a file, so that the child does not load the package's heads; -P, so that `ir2vec` is not this file.
        command = [sys.executable, "-P", __file__, folder, str(len(texts))]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
            raise TaskError(f"IR2Vec does not run ({said}). Leave out row 'ir2vec', or install the wheel again")
        for line in output.read_text(encoding="utf-8").splitlines():
            row, vector = json.loads(line)
            if np.isfinite(vector).all():  # its flow may run in circles until numbers end
                vectors[row] = vector
                found += 1
    return vectors, len(texts) - found


def _write_all(folder: str, count: int) -> None:
    """Append ``[row, vector]`` to vectors.jsonl for each file that IR2Vec reads. Runs in a process of its own."""
    import ir2vec

    with Path(folder, "vectors.jsonl").open("w", encoding="utf-8") as stream:
        for row in range(count):
            stream.flush()
            child = os.fork()
            if child == 0:
                signal.alarm(_SECONDS)  # ends this child only
                try:
                    module = ir2vec.initEmbedding(str(Path(folder, f"{row}.ll")), "fa", "p")
                    stream.write(json.dumps([row, list(ir2vec.getProgramVector(module))]) + "\n")
                    stream.flush()
                finally:
                    os._exit(0)
            os.waitpid(child, 0)


if __name__ == "__main__":
    _write_all(sys.argv[1], int(sys.argv[2]))
