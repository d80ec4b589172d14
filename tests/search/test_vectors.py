"""What `mirenc embed -o` wrote is read again to the last bit; what nobody can vouch for is refused in words."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from mirenc.base.errors import IRFileError, ModelError
from mirenc.encoder import Encoder, load
from mirenc.search import VECTOR_SUFFIXES, Maker, VectorTable, VectorWriter, index, read_vectors, vectors, write_vectors

IR = Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19" / "O2"
FILES = [str(IR / "numeric.ll"), str(IR / "sorting.ll")]


def write(encoder: Encoder, path: Path, level: str = "function", part: str = "both", whiten: bool = True) -> Path:
    with VectorWriter(path, Maker.of(encoder, level, part, whiten=whiten)) as writer:
        for file in FILES:
            writer.add(file, encoder.embed_parts(file, level=level))
    return path


@pytest.fixture(params=VECTOR_SUFFIXES)
def suffix(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize(
    ("level", "part"), [("module", "both"), ("function", "both"), ("function", "graph"), ("loop", "both")]
)
def test_vectors_that_were_written_are_read_to_the_bit(
    encoder: Encoder, tmp_path: Path, suffix: str, level: str, part: str
) -> None:
    table = read_vectors(write(encoder, tmp_path / f"x{suffix}", level, part))
    singles = [encoder.embed_parts(file, level=level) for file in FILES]
    assert np.array_equal(table.vectors, np.concatenate([single.part(part) for single in singles]))
    assert table.vectors.dtype == np.float32
    assert table.files == [file for file, single in zip(FILES, singles, strict=True) for _ in single.names]
    assert table.names == [name for single in singles for name in single.names]
    assert (table.maker.model, table.maker.model_digest) == (
        "random",
        encoder.digest_in("plain" if level == "loop" else "O2"),
    )
    assert (table.level, table.maker.part, table.maker.whiten) == (level, part, True)
    complete = VectorTable.of(table.maker, zip(FILES, singles, strict=True))
    write_vectors(tmp_path / f"again{suffix}", complete)
    for stored in (table, read_vectors(tmp_path / f"again{suffix}")):
        assert (stored.maker, stored.sources, stored.source_row) == (
            complete.maker,
            complete.sources,
            complete.source_row,
        )
        assert stored.labels == complete.labels
        np.testing.assert_array_equal(stored.vectors, complete.vectors)


def test_a_table_of_nothing_is_written_too(encoder: Encoder, tmp_path: Path) -> None:
    for suffix in (".npy", ".npz", ".parquet"):  # text without a row does not say who made it
        write_vectors(tmp_path / f"x{suffix}", index(encoder, []))
        assert read_vectors(tmp_path / f"x{suffix}").vectors.shape == (0, encoder.dimension)


def test_options_are_marked(encoder: Encoder, model_folder: Path, tmp_path: Path, suffix: str) -> None:
    usual = read_vectors(write(encoder, tmp_path / f"usual{suffix}"))
    assert (usual.maker.purpose, usual.maker.hide_names) == ("search", False)
    assert not read_vectors(write(encoder, tmp_path / f"plain{suffix}", whiten=False)).maker.whiten
    hidden = load(model_folder, cache=False, hide_names=True)
    path = tmp_path / f"x{suffix}"
    with VectorWriter(path, Maker.of(hidden, "module", purpose="features")) as writer:
        for file in FILES:
            writer.add(file, hidden.embed_parts(file, purpose="features"))
    table = read_vectors(path)
    assert (table.maker.purpose, table.maker.hide_names) == ("features", True)
    assert table.vectors.shape == (len(FILES), encoder.width("features"))


@pytest.mark.parametrize("most", [1, 5, 4096])
def test_parquet_is_written_as_rows_come(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    # Computed as what is written is: in a batch of files the last bit may differ.
    parts = [(file, encoder.embed_parts(file, level="loop")) for file in FILES]
    complete = VectorTable.of(Maker.of(encoder, "loop"), parts, encoder.dimension)
    assert len(complete) > 5
    monkeypatch.setattr(vectors, "_ROW_GROUP", most)
    stored = read_vectors(write(encoder, tmp_path / "x.parquet", "loop"))
    assert pq.read_metadata(tmp_path / "x.parquet").num_row_groups == (1 if most > 5 else 2)
    assert np.array_equal(stored.vectors, complete.vectors)
    assert (stored.labels, stored.files, stored.sources) == (complete.labels, complete.files, complete.sources)
    # What ends with an error is no file, however much of it was written.
    writer = VectorWriter(tmp_path / "y.parquet", complete.maker)
    writer.add(FILES[0], encoder.embed_parts(FILES[0], level="loop"))
    writer.__exit__(KeyError, KeyError(), None)
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]


def test_a_file_of_two_models_is_refused(encoder: Encoder, tmp_path: Path) -> None:
    path = write(encoder, tmp_path / "x.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    other = json.loads(lines[1]) | {"model_digest": "0" * 64}
    path.write_text("\n".join([lines[0], json.dumps(other)]), encoding="utf-8")
    with pytest.raises(IRFileError, match=r"row 2 was made by .*0000.*, row 1 by"):
        read_vectors(path)


def test_numbers_without_their_sidecar_are_refused(encoder: Encoder, tmp_path: Path) -> None:
    path = write(encoder, tmp_path / "x.npy")
    path.with_name("x.npy.json").unlink()
    with pytest.raises(
        IRFileError, match=r"the file .*x\.npy\.json, which names the model of these vectors, is missing"
    ):
        read_vectors(path)


def test_a_sidecar_of_another_file_is_refused(encoder: Encoder, tmp_path: Path) -> None:
    write(encoder, tmp_path / "module.npy", "module")
    write(encoder, tmp_path / "function.npy", "function")
    shutil.copy(tmp_path / "module.npy.json", tmp_path / "function.npy.json")
    with pytest.raises(IRFileError, match=r"2 names for vectors of shape"):
        read_vectors(tmp_path / "function.npy")


@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_nobody_is_told_to_unpickle_what_a_stranger_sent(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"garbage")
    with pytest.raises(IRFileError, match=r"or is damaged \(no file of numpy's\). Make one"):
        read_vectors(tmp_path / name)


def test_whatever_the_damage_it_is_refused_or_read(encoder: Encoder, tmp_path: Path, suffix: str) -> None:
    path = write(encoder, tmp_path / f"x{suffix}", level="module")
    random, refused = np.random.default_rng(0), 0
    for part in [path, *path.parent.glob("*.json")]:
        good = part.read_bytes()
        cuts = [good[:size] for size in np.linspace(0, len(good) - 1, 20, dtype=int)]
        flipped = np.tile(np.frombuffer(good, np.uint8), (80, 1))
        places = random.integers(len(good), size=80)
        flipped[range(80), places] ^= random.integers(1, 256, 80, dtype=np.uint8)
        for bad in (*cuts, *map(bytes, flipped)):
            part.write_bytes(bad)
            try:
                table = read_vectors(path)
            except IRFileError as error:
                refused += 1
                assert "mirenc embed FOLDER " in str(error)  # noqa: PT017 - some are read
            else:
                assert len(table) == len(table.files) == len(table.names) == 2
                assert all(isinstance(file, str) for file in table.files)
        part.write_bytes(good)
    assert refused >= 20  # all that are cut


def test_text_that_is_cut_in_a_number_is_refused(encoder: Encoder, tmp_path: Path) -> None:
    path = write(encoder, tmp_path / "x.csv")
    path.write_bytes(path.read_bytes()[:-4])  # of the last number, and the end of the line
    with pytest.raises(IRFileError, match="its last line is incomplete"):
        read_vectors(path)


def test_a_pointer_of_git_lfs(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n")
    with pytest.raises(IRFileError, match=rf"x{suffix}: is a Git LFS pointer, .*\. Type: git lfs pull$"):
        read_vectors(path)


def foreign(path: Path) -> None:
    """A file of the right format that somebody else wrote."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    vectors = np.ones((2, 3), dtype=np.float32)
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"vector": vectors.tolist()}), path)
    elif path.suffix == ".npz":
        np.savez(path, vectors=vectors)
    elif path.suffix == ".jsonl":
        path.write_text('{"vector": [1, 2, 3]}\n', encoding="utf-8")
    elif path.suffix == ".npy":
        np.save(path, vectors)
        path.with_name(f"{path.name}.json").write_text("[]", encoding="utf-8")
    else:
        path.write_text("v0,v1,v2\n1,2,3\n", encoding="utf-8")


def test_vectors_of_nobody_are_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    foreign(path)
    with pytest.raises(IRFileError, match=r"Make one: mirenc embed FOLDER -o vectors"):
        read_vectors(path)


def test_missing_empty_and_unknown_files_are_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(IRFileError, match="does not exist"):
        read_vectors(tmp_path / f"x{suffix}")
    (tmp_path / f"y{suffix}").touch()
    with pytest.raises(IRFileError, match=rf"y{suffix}"):
        read_vectors(tmp_path / f"y{suffix}")
    with pytest.raises(IRFileError, match=f"allowed: {re.escape(', '.join(VECTOR_SUFFIXES))}\\. Make one"):
        read_vectors(tmp_path / "x.txt")


def test_another_models_vectors_do_not_compare() -> None:
    table = VectorTable(Maker("one", "1" * 64, "module"), np.ones((1, 2), dtype=np.float32))

    def encoder(name: str, digest: str) -> Any:
        return SimpleNamespace(name=name, digest_in={"plain": digest}.__getitem__)

    table.check_model(encoder("renamed", "1" * 64), "x.npz")  # the weights decide, not the name
    with pytest.raises(
        ModelError, match=r"x\.npz holds vectors of one \(digest 111111111111\)\. They .*one \(digest 222"
    ):
        table.check_model(encoder("one", "2" * 64), "x.npz")


def test_a_header_without_options_has_the_defaults_of_old_files() -> None:
    header = {"model": "m", "model_digest": "d", "level": "module", "part": "both"}
    assert Maker.from_json(header) == Maker("m", "d", "module", "both", "search", True, False, "", "plain")
    assert Maker("m", "d", "module") == Maker.from_json(header)
