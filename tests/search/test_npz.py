"""Tables as .npz: one long name does not decide what all names take."""

import json
from pathlib import Path

import numpy as np
import pytest

from mirenc.base.errors import IRFileError
from mirenc.search import Maker, VectorTable, read_vectors, write_vectors

NAMES = ["f", "a" * 300, "", "ends with NUL\0", "\udcff, as a file's name may be"]


def table(names: list[str]) -> VectorTable:
    count = len(names)
    texts = dict.fromkeys(("header", "source_file", "built"), [""] * count) | dict.fromkeys(
        ("name", "function", "symbol"), names
    )
    numbers = {"depth": [0] * count, "source_line": [7] * count}
    labels = {name: list(column) for name, column in (texts | numbers).items()}
    source = {
        "file": "b" * 300,
        "file_hash": "0",
        "content_hash": "1",
        "own_form": "plain",
        "counts": {"functions": count},
    }
    vectors = np.arange(2.0 * count, dtype=np.float32).reshape(count, 2)
    return VectorTable(Maker("one", "1" * 64, "function"), vectors, labels, [source], [0] * count)


def assert_same(actual: VectorTable, expected: VectorTable) -> None:
    assert (actual.maker, actual.labels) == (expected.maker, expected.labels)
    assert (actual.sources, actual.source_row) == (expected.sources, expected.source_row)
    np.testing.assert_array_equal(actual.vectors, expected.vectors)


@pytest.mark.parametrize(("most", "width"), [(1 << 26, 300), (4 * 5 * 300, 300), (4 * 5 * 300 - 1, 256)])
def test_long_names_are_whole_however_wide_the_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, width: int
) -> None:
    """Five names of up to 300 characters take 6,000 bytes padded: above the bound 256 characters are left of one."""
    monkeypatch.setattr("mirenc.base.arrays._COLUMN", most)
    write_vectors(tmp_path / "x.npz", table(NAMES))
    with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
        assert arrays["names"].dtype.itemsize == 4 * width
        assert arrays["names"].tolist() == [name[:width].rstrip("\0") for name in NAMES]
        long_names = {"3": NAMES[3]} if width == 300 else {"1": NAMES[1], "3": NAMES[3]}
        assert json.loads(arrays["whole"].tobytes()) == dict.fromkeys(("names", "functions", "symbols"), long_names)
    assert_same(read_vectors(tmp_path / "x.npz"), table(NAMES))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_formats_that_take_unicode_alone_have_other_bytes_written_out(tmp_path: Path, suffix: str) -> None:
    write_vectors(tmp_path / f"x{suffix}", table(["\udcff"]))
    assert read_vectors(tmp_path / f"x{suffix}").names == [r"\xff"]


def test_a_name_of_10_000_characters_among_20_000(tmp_path: Path) -> None:
    """Padded, each of three columns would be 800 MB."""
    names = [f"f{number}" for number in range(20_000)]
    names[77] = "x" * 10_000
    write_vectors(tmp_path / "x.npz", table(names))
    with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
        assert arrays["names"].nbytes == 4 * 256 * 20_000
    assert read_vectors(tmp_path / "x.npz").names == names


def test_a_row_that_is_not_there_is_refused(tmp_path: Path) -> None:
    write_vectors(tmp_path / "x.npz", table(["f"]))
    with np.load(tmp_path / "x.npz") as arrays:
        more = np.frombuffer(b'{"names": {"1": "g"}}', dtype=np.uint8)
        np.savez(tmp_path / "y.npz", **arrays, whole=more)
    with pytest.raises(IRFileError, match=r"y\.npz: is not a file of vectors that `mirenc embed` wrote, or is damaged"):
        read_vectors(tmp_path / "y.npz")
