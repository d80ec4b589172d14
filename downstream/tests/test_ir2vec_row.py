"""IR2Vec's vectors: one for each file it reads, zeros for each that ends it. A stand-in plays the wheel."""

from __future__ import annotations

import re
from pathlib import Path

import ir2vec_row as ir2vec
import numpy as np
import pytest
from ir2vec_row import DIMENSION, ir2vec_available, ir2vec_vectors, read_piece, vectors_of

from mirenc.llvm import parse_ir, regions_of

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


PAIR = "".join(f"define i32 @{name}(i32 %x) {{\n  %y = {name} i32 %x, 3\n  ret i32 %y\n}}\n" for name in ("mul", "add"))


def test_a_regions_row_is_of_its_function_and_files_without_vectors_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def vectors(texts: list[str]) -> tuple[np.ndarray, int]:
        asked.extend(texts)
        return np.arange(len(texts), dtype=np.float32)[:, None], 1

    monkeypatch.setattr(ir2vec, "ir2vec_vectors", vectors)
    module = parse_ir(PAIR)
    first, second = regions_of(module, "function").regions
    # The published IR is bytes, and IR2Vec reads what LLVM wrote, not mirenc's canonical text.
    pieces = [read_piece(PAIR.encode(), module, region) for region in (None, first, second, first)]
    matrix, note = vectors_of(pieces)
    assert asked[0] == PAIR
    assert [re.findall(r"^define .*@(\w+)", text, re.MULTILINE) for text in asked[1:]] == [["mul"], ["add"]]
    assert matrix.tolist() == [[0], [1], [2], [1]]
    assert note == (
        "IR2Vec gave no vector for 1 of 3 files: zeros. "
        "IR2Vec has no vectors of loops: its row is of the function around each region"
    )
