"""The index beside a Parquet file: what exact search finds, made again when the file is another one."""

from pathlib import Path

import numpy as np
import pytest

from mirenc.base.errors import ConfigError, IRFileError
from mirenc.encoder import Encoder
from mirenc.search import Maker, VectorTable, nearest, read_vectors, write_vectors

pytest.importorskip("usearch", reason="usearch, of the `ann` extra, is not installed")
from mirenc.search.approximate import nearest_approximate
from mirenc.search.self_match import own_first, own_rows


def table_at(path: Path, seed: int = 0, rows: int = 300) -> VectorTable:
    vectors = np.random.default_rng(seed).normal(size=(rows, 24)).astype(np.float32)
    labels = {name: [""] * rows for name in ("function", "symbol", "header", "source_file", "built")}
    labels |= {"name": [f"f{row}" for row in range(rows)], "depth": [0] * rows, "source_line": [0] * rows}
    source = {"file_hash": "", "content_hash": "", "own_form": "plain", "counts": {"blocks": 1}}
    sources = [{"file": f"{half}.ll", **source} for half in "ab"]
    table = VectorTable(
        Maker("m", "d" * 64, "function"), vectors, labels, sources, [row * 2 // rows for row in range(rows)]
    )
    write_vectors(path, table)
    return table


@pytest.mark.parametrize("queries", [1, 7])
def test_it_finds_what_exact_search_finds(tmp_path: Path, queries: int) -> None:
    table = table_at(tmp_path / "x.parquet")
    read = read_vectors(tmp_path / "x.parquet", approximate=True)
    rows, cosines = nearest_approximate(table.vectors[:queries], read.vectors, k=5)
    exact, exact_cosines = nearest(table.vectors[:queries], table.vectors, k=5)
    assert rows.dtype == exact.dtype
    assert cosines.dtype == exact_cosines.dtype
    assert (rows == exact).mean() >= 0.9
    np.testing.assert_allclose(cosines, exact_cosines, atol=0.02)
    assert (read.maker, len(read)) == (table.maker, 300)
    assert [read.files[row] for row in (0, 299)] == ["a.ll", "b.ll"]
    assert [read.names[row] for row in rows[0].tolist()] == [table.names[row] for row in rows[0]]
    assert 290 <= nearest_approximate(table.vectors[:queries], read.vectors, k=1000)[0].shape[1] <= 300


def test_a_row_of_zeros_is_no_neighbour(tmp_path: Path) -> None:
    table = table_at(tmp_path / "x.parquet")
    table.vectors[3] = 0
    write_vectors(tmp_path / "x.parquet", table)
    index = read_vectors(tmp_path / "x.parquet", approximate=True).vectors
    assert 3 not in nearest_approximate(table.vectors[:3], index, k=10)[0]


def test_it_is_made_once_and_again_for_another_file(tmp_path: Path) -> None:
    path, index = tmp_path / "x.parquet", tmp_path / "x.usearch"
    first = table_at(path)
    read_vectors(path, approximate=True)
    before = index.stat().st_mtime_ns
    read_vectors(path, approximate=True)
    assert index.stat().st_mtime_ns == before
    second = table_at(path, seed=1)
    read = read_vectors(path, approximate=True)
    assert index.stat().st_mtime_ns != before
    assert nearest_approximate(second.vectors[:9], read.vectors, k=1)[0][:, 0].tolist() == list(range(9))
    assert nearest_approximate(first.vectors[:1], read.vectors, k=1)[1][0, 0] < 0.9
    index.unlink()
    assert len(read_vectors(path, approximate=True)) == 300
    assert not list(tmp_path.glob("*.part"))


def test_a_damaged_or_foreign_index_is_refused_in_words(tmp_path: Path) -> None:
    path, index = tmp_path / "x.parquet", tmp_path / "x.usearch"
    table_at(path)
    read_vectors(path, approximate=True)
    good, graph = index.read_bytes(), 300 * 24
    flipped = bytearray(good)
    flipped[(graph + len(good)) // 2] ^= 64
    cuts = [good[:size] for size in (0, 8, graph, len(good) - 1)]
    for bad in (*cuts, bytes(flipped), bytes(len(good)), good + b"more"):
        index.write_bytes(bad)
        with pytest.raises(IRFileError, match=r"x\.usearch: is damaged.* type: rm \S*x\.usearch$"):
            read_vectors(path, approximate=True)
    index.write_bytes(good)
    assert len(read_vectors(path, approximate=True)) == 300


def test_an_index_that_is_not_ours_stays(tmp_path: Path) -> None:
    path, index, sidecar = (tmp_path / f"x.{suffix}" for suffix in ("parquet", "usearch", "usearch.json"))
    table_at(path)
    index.write_bytes(b"somebody else's")
    with pytest.raises(IRFileError, match=r"x\.usearch: mirenc did not make it.* move this file away"):
        read_vectors(path, approximate=True)
    assert index.read_bytes() == b"somebody else's"
    index.unlink()
    read_vectors(path, approximate=True)
    for words in ("", "[]", "{"):
        sidecar.write_text(words)
        with pytest.raises(IRFileError, match=r"x\.usearch\.json, which says of what it was made, is lost"):
            read_vectors(path, approximate=True)
    index.unlink()
    index.mkdir()
    with pytest.raises(IRFileError, match=r"or type: rm -r \S*x\.usearch$"):
        read_vectors(path, approximate=True)


def test_of_another_table_it_is_made_anew(tmp_path: Path) -> None:
    table_at(tmp_path / "x.parquet")
    read_vectors(tmp_path / "x.parquet", approximate=True)
    other = table_at(tmp_path / "y.parquet", seed=1, rows=200)
    for name in ("usearch", "usearch.json"):
        (tmp_path / f"x.{name}").rename(tmp_path / f"y.{name}")
    read = read_vectors(tmp_path / "y.parquet", approximate=True)
    assert nearest_approximate(other.vectors[:9], read.vectors, k=1)[0][:, 0].tolist() == list(range(9))


def test_what_is_no_number_is_refused(tmp_path: Path) -> None:
    table = table_at(tmp_path / "x.parquet")
    table.vectors[3, 2] = np.nan
    write_vectors(tmp_path / "x.parquet", table)
    with pytest.raises(ConfigError, match="are not finite"):
        read_vectors(tmp_path / "x.parquet", approximate=True)
    assert not list(tmp_path.glob("*.usearch*"))


def test_equals_are_in_the_order_of_their_rows(tmp_path: Path) -> None:
    table = table_at(tmp_path / "x.parquet")
    twins = [5, 40, 41, 250]
    table.vectors[twins] = table.vectors[7]
    write_vectors(tmp_path / "x.parquet", table)
    read = read_vectors(tmp_path / "x.parquet", approximate=True)
    neighbours = nearest_approximate(table.vectors[7:8], read.vectors, k=5)
    assert neighbours[0].tolist() == [[5, 7, 40, 41, 250]]
    assert own_first(neighbours, [41], table.vectors[7:8], read.vectors)[0].tolist() == [[41, 5, 7, 40, 250]]
    assert own_rows(read, "b.ll", [""], neighbours[0][0].tolist()) == [250]


def test_only_parquet_of_ours_has_one(encoder: Encoder, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    write_vectors(tmp_path / "x.npz", table_at(tmp_path / "x.parquet"))
    with pytest.raises(IRFileError, match=r"only \.parquet has an approximate index"):
        read_vectors(tmp_path / "x.npz", approximate=True)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "y.parquet")
    with pytest.raises(IRFileError, match="is not a file of vectors"):
        read_vectors(tmp_path / "y.parquet", approximate=True)
    with pytest.raises(IRFileError, match="does not exist"):
        read_vectors(tmp_path / "z.parquet", approximate=True)
