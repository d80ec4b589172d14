"""IR2Vec's vectors: one for each file it reads, zeros for each that ends it. A stand-in plays the wheel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mirenc.decide.features import ir2vec
from mirenc.decide.features.ir2vec import DIMENSION, ir2vec_available, ir2vec_vectors

# As the wheel: an object of a file, then its vector; some files end the process, some raise.
STAND_IN = """
import os
from pathlib import Path


def initEmbedding(path, kind, level):
    assert (kind, level) == ("fa", "p")
    text = Path(path).read_text()
    if "crash" in text:
        os.abort()
    if "refuse" in text:
        raise RuntimeError(text)
    return text


def getProgramVector(text):
    return [float("nan") if "endless" in text else float(len(text))] * 300
"""
TEXTS = ["define void @a() {\n  ret void\n}\n", "; crash\n", "; refuse\n", "define void @longer() {\n  ret void\n}\n"]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ir2vec.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_files_that_end_it_get_zeros_and_are_counted(stand_in: Path) -> None:
    vectors, failed = ir2vec_vectors([*TEXTS, "; endless\n"])
    assert vectors.dtype == np.float32
    assert vectors.shape == (5, DIMENSION)
    lengths = [float(len(TEXTS[0])), 0.0, 0.0, float(len(TEXTS[3])), 0.0]
    np.testing.assert_array_equal(vectors, np.repeat(np.array(lengths)[:, None], DIMENSION, axis=1))
    assert failed == 3


@pytest.mark.parametrize("there", [True, False])
def test_the_wheel_is_there_or_not(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ir2vec.importlib.util, "find_spec", lambda name: name if there and name == "ir2vec" else None)
    assert ir2vec_available() is there


@pytest.mark.needs("IR2Vec")
def test_the_wheel_tells_kernels_apart_and_equal_ones_alike() -> None:
    multiply, add = (
        f"define i32 @f(i32 %x) {{\nentry:\n  %y = {operation} i32 %x, 3\n  ret i32 %y\n}}\n"
        for operation in ("mul", "add")
    )
    vectors, failed = ir2vec_vectors([multiply, add, multiply])
    assert failed == 0
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert np.abs(vectors[0] - vectors[1]).max() > 0
