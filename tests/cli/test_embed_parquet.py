"""`mirenc embed --column`: a row of a Parquet file is a module; and the same for engines that hand over batches."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import SOURCE, Run
from same_vectors import assert_same_vectors

from mirenc.encoder import Encoder
from mirenc.search import Maker, read_vectors
from mirenc.search.batches import SPARK_SCHEMA, BatchEmbedder, embed_frames

IR = Path(__file__).resolve().parents[1] / "fixtures" / "ir" / "clang-19" / "O2"
GOOD = {"numeric": (IR / "numeric.ll").read_bytes(), "sorting": (IR / "sorting.ll").read_bytes()}
ROWS = [
    ("numeric", GOOD["numeric"]),
    ("elf", b"\x7fELF"),
    (None, SOURCE.encode()),
    ("none", None),
    *list(GOOD.items())[1:],
]


def table(kind: pa.DataType | None = None) -> pa.Table:
    return pa.table(
        {"code": pa.array([code for _, code in ROWS], kind or pa.binary()), "id": [name for name, _ in ROWS]}
    )


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three good modules and two bad rows, two to a row group."""
    pq.write_table(table(), tmp_path / "corpus.parquet", row_group_size=2)
    return tmp_path / "corpus.parquet"


@pytest.mark.parametrize("level", ["module", "function"])
def test_rows_are_modules_and_bad_ones_are_listed(
    run: Run, model_dir: Path, encoder: Encoder, corpus: Path, level: str
) -> None:
    out = corpus.with_name("out.parquet")
    columns = ("--column", "code", "--names", "id")
    result = run("embed", "--model", model_dir, "--no-cache", "--level", level, corpus, *columns, "-o", out)
    assert result.code == 1
    assert "warning: elf: is an ELF" in result.err
    assert "warning: none: is empty" in result.err
    assert "2 of 5 files failed" in result.err
    table_read = read_vectors(out)
    assert list(dict.fromkeys(table_read.files)) == ["numeric", f"{corpus}/00000002.bc", "sorting"]
    expected = [encoder.embed_parts(code, level=level) for code in (GOOD["numeric"], SOURCE, GOOD["sorting"])]
    assert_same_vectors(table_read.vectors, np.concatenate([one.vector for one in expected]))
    assert [source["content_hash"] for source in table_read.sources] == [one.content_hash for one in expected]


def test_without_names_a_row_has_its_number_in_a_folder_too(run: Run, model_dir: Path, corpus: Path) -> None:
    result = run("embed", "--model", model_dir, "--no-cache", corpus.parent, "--column", "code")
    numbers = [json.loads(line)["file"] for line in result.out.splitlines()]
    assert numbers == [f"{corpus}/{row:08d}.bc" for row in (0, 2, 4)]


def test_what_is_refused(run: Run, model_dir: Path, corpus: Path) -> None:
    model = ("embed", "--model", model_dir, "--no-cache")
    run(*model, corpus, "--column", "cod").failed("no column 'cod'; found: code, id")
    run(*model, corpus, "--names", "id").refused("--column")
    run(*model, corpus, "--ray", "local").refused("--column")
    run(*model, corpus, "--column", "code", "--ray", "local", "-o", corpus.with_name("x.npz")).refused("--ray")
    corpus.write_bytes(b"none")
    run(*model, corpus, "--column", "code").failed("cannot be read as parquet")
    corpus.unlink()
    run(*model, corpus.parent, "--column", "code").failed("the given .parquet files have no rows")


# -- batches -------------------------------------------------------------------------------------------
def test_a_batch_says_what_failed_and_who_made_it(model_dir: Path, encoder: Encoder) -> None:
    embedder = BatchEmbedder(column="code", names="id", level="function", loading={"name_or_dir": model_dir})
    rows = embedder(table())
    good = rows.filter(rows["error"].is_null())
    assert Maker.from_json(json.loads(rows["mirenc"][0].as_py())) == Maker.of(encoder, "function")
    assert dict.fromkeys(good["file"].to_pylist()) == dict.fromkeys(
        ["numeric", hashlib.sha256(SOURCE.encode()).hexdigest(), "sorting"]
    )
    parts = [encoder.embed_parts(code, level="function") for code in (GOOD["numeric"], SOURCE, GOOD["sorting"])]
    assert_same_vectors(np.array(good["vector"].to_pylist(), np.float32), np.concatenate([one.vector for one in parts]))
    assert good["name"].to_pylist() == [name for one in parts for name in one.names]
    bad = rows.filter(rows["error"].is_valid()).select(["file", "error", "vector"]).to_pylist()
    assert [(row["file"], row["vector"]) for row in bad] == [("elf", None), ("none", None)]
    assert bad[0]["error"].startswith("elf: is an ELF")
    empty = embedder({"code": ["declare void @f()"], "id": ["data"]}).select(["file", "error_type"]).to_pylist()
    assert empty == [{"file": "data", "error_type": "NoFunctionBodyError"}]


def test_a_batch_without_a_model_takes_the_one_of_the_command_line() -> None:
    for options, model in (
        ({"level": "function"}, "mirenc-search"),
        ({"level": "function", "purpose": "features"}, "mirenc-fast"),
        ({}, "mirenc-fast"),
        ({"level": "function", "loading": {"name_or_dir": "mirenc-tiny"}}, "mirenc-tiny"),
    ):
        assert BatchEmbedder(**options).maker.model == model


def test_batches_have_one_schema_whatever_failed(model_dir: Path) -> None:
    embedder = BatchEmbedder(column="code", loading={"name_or_dir": model_dir})
    good, bad, none = (embedder(table()[rows]) for rows in (slice(0, 1), slice(1, 2), slice(0, 0)))
    assert good.schema == bad.schema == none.schema
    assert [len(rows) for rows in (good, bad, none)] == [1, 1, 0]
    declared = dict(column.rsplit(" ", 1) for column in SPARK_SCHEMA.split(", "))
    kinds = {"string": "string", "bigint": "int64", "array<float>": "fixed_size_list<item: float>[48]"}
    assert {name: kinds[kind] for name, kind in declared.items()} == {one.name: str(one.type) for one in good.schema}


def test_frames_and_arrays_are_batches_too(model_dir: Path) -> None:
    options = {"column": "code", "names": "id", "loading": {"name_or_dir": model_dir}}
    expected = BatchEmbedder(**options)(table()).drop_columns(["vector"]).to_pylist()
    arrays = {name: np.array(table()[name].to_pylist(), dtype=object) for name in ("code", "id")}
    assert BatchEmbedder(**options)(arrays).drop_columns(["vector"]).to_pylist() == expected
    pandas = pytest.importorskip("pandas", reason="pandas, which Spark hands over, is not installed")
    frames = list(embed_frames(iter([table().to_pandas(), table()[:0].to_pandas()]), **options))
    assert frames[0]["file"].tolist() == [row["file"] for row in expected]
    assert frames[0]["vector"].map(np.shape).tolist()[:3] == [(48,)] * 3
    assert pandas.isna(frames[0]["vector"]).sum() == 2
    assert len(frames[1]) == 0
