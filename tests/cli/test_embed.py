"""`mirenc embed`: every output holds the encoder's own vectors and says which model made them from which files."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import zstandard
from command_line import SOURCE, Result, Run
from same_vectors import assert_same_vectors

import mirenc
from mirenc.base.errors import IRFileError
from mirenc.encoder import Encoder
from mirenc.encoder.weights import DEFAULT_MODEL, search_model
from mirenc.llvm import IRModule, ReadOptions, parse_ir
from mirenc.llvm.passes.optimise import Form
from mirenc.search import VECTOR_SUFFIXES, read_vectors

TEXT, GRAPH, BOTH = 32, 16, 48
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
LEVELS = {"module": 1, "function": 2, "instruction": 6}
# 4 statements of the first function that have a value or branch, 2 returns of it, 1 of the second, and the
# declaration and definitions are no instructions.
INSTRUCTIONS = [
    "%y = call i32 @twice(i32 %x)",
    "%c = icmp slt i32 %y, 10",
    "br i1 %c, label %small, label %large",
    "ret i32 %y",
    "ret i32 0",
    "ret void",
]

SUFFIXES = [suffix[1:] for suffix in VECTOR_SUFFIXES]


def rows(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def vectors(records: list[dict]) -> np.ndarray:
    return np.array([row["vector"] for row in records], dtype=np.float32)


# -- JSON lines ----------------------------------------------------------------------------------------
def test_stdout_is_one_json_object_with_all_that_made_it(run: Run, model_dir: Path, encoder: Encoder, ir: Path) -> None:
    (row,) = rows(run("embed", "--no-cache", "--model", model_dir, ir).ok().out)
    assert list(row) == [
        *("file", "file_hash", "content_hash", "own_form", "model", "model_digest", "mirenc", "level", "part", "form"),
        *("counts", "built", "vector"),
    ]
    assert row["file"] == str(ir)
    assert row["content_hash"] == in_form("module").content_hash
    assert row["file_hash"] == hashlib.sha256(ir.read_bytes()).hexdigest()
    assert (row["model"], row["model_digest"]) == ("random", encoder.digest_in("O2"))
    assert (row["mirenc"], row["level"], row["part"]) == (mirenc.__version__, "module", "both")
    assert (row["form"], row["own_form"], row["built"]) == ("O2", "O2", "O0")  # nothing in SOURCE tells of passes
    assert row["counts"] == encoder.embed_parts(ir).counts
    assert (row["counts"]["functions"], row["counts"]["defined"], row["counts"]["blocks"]) == (3, 2, 2)
    assert row["counts"]["instructions"] == 5  # call, icmp, select for the branch, and two returns
    # JSON gives the float32 back to the last bit.
    np.testing.assert_array_equal(vectors([row])[0], encoder.embed(ir))


@pytest.mark.parametrize("level", ["function", "instruction"])
def test_finer_levels_name_their_rows(run: Run, model_dir: Path, encoder: Encoder, ir: Path, level: str) -> None:
    records = rows(run("embed", "--no-cache", "--model", model_dir, "--level", level, ir).ok().out)
    names, functions = [row["name"] for row in records], [row["function"] for row in records]
    if level == "function":
        assert names == functions == ["first", "second"]
    else:
        assert names == INSTRUCTIONS
        assert functions == ["first"] * 5 + ["second"]
    assert {row["level"] for row in records} == {level}
    np.testing.assert_array_equal(vectors(records), encoder.embed(ir, level=level))


@pytest.mark.parametrize(("part", "width"), [("text", TEXT), ("graph", GRAPH), ("both", BOTH)])
def test_parts(run: Run, model_dir: Path, encoder: Encoder, ir: Path, part: str, width: int) -> None:
    (row,) = rows(run("embed", "--no-cache", "--model", model_dir, "--part", part, ir).ok().out)
    assert row["part"] == part
    assert len(row["vector"]) == width
    np.testing.assert_array_equal(vectors([row])[0], encoder.embed(ir, part=part))


def test_features(run: Run, model_dir: Path, encoder: Encoder, ir: Path) -> None:
    (row,) = rows(run("embed", "--no-cache", "--model", model_dir, "--purpose", "features", ir).ok().out)
    assert (row["purpose"], "hide_names" in row) == ("features", False)
    np.testing.assert_array_equal(vectors([row])[0], encoder.embed(ir, purpose="features"))


# -- files ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "model"),
    [
        ((), "mirenc-fast"),
        (("--level", "function"), "mirenc-search"),
        (("--level", "block"), "mirenc-search"),
        (("--level", "function", "--purpose", "features"), "mirenc-fast"),
        (("--level", "function", "--model", "mirenc-fast"), "mirenc-fast"),
    ],
)
def test_functions_are_embedded_by_the_model_that_searches_them(
    run: Run, ir: Path, tmp_path: Path, words: tuple[str, ...], model: str
) -> None:
    output = tmp_path / "x.npz"
    shown, written = run("embed", *words, ir), run("embed", *words, "-o", output, ir)
    chosen = [
        "mirenc: using mirenc-search, which is made for finding functions. For features, give --model mirenc-fast"
    ]
    for result in (shown, written):
        assert (result.code, [line[: len(chosen[0])] for line in result.error_lines]) == (
            0,
            chosen if model == "mirenc-search" else [],
        )
    assert {row["model"] for row in rows(shown.out)} == {model}
    assert read_vectors(output).maker.model == model
    assert_same_vectors(vectors(rows(shown.out)), read_vectors(output).vectors)


def test_the_help_names_both_default_models(run: Run) -> None:
    for verb in ("embed", "compare", "search", "map"):
        help_text = "".join(run(verb, "--help").ok().out.split())  # a line may end at any hyphen
        assert f"[default:{search_model('function')}tosearchfunctionsandsmallerparts,else{DEFAULT_MODEL}]" in help_text


@pytest.fixture
def folder(tmp_path: Path, ir: Path) -> Path:
    """Two modules in a folder, one of them in a folder below, and files that are no IR."""
    top = tmp_path / "project"
    (top / "sub").mkdir(parents=True)
    shutil.copy(ir, top / "sub" / "small.ll")
    shutil.copy(FIXTURES / "handwritten" / "functions.ll", top / "functions.ll")
    (top / "notes.txt").write_text("no IR\n", encoding="utf-8")
    (top / "sub" / "main.md").write_text("no IR\n", encoding="utf-8")
    return top


def expected(encoder: Encoder, folder: Path, level: str = "module") -> tuple[list[str], np.ndarray]:
    files = [str(folder / "functions.ll"), str(folder / "sub" / "small.ll")]
    outcomes = encoder.embed_stream(files, level=level)  # together, as the command does
    return files, np.concatenate([outcome.embedding.vector for outcome in outcomes])


def in_form(level: str) -> IRModule:
    """SOURCE, in the form that vectors of a level are of."""
    return parse_ir(SOURCE, options=ReadOptions(form=form_of(level)))


def form_of(level: str) -> Form:
    return "plain" if level == "instruction" else "O2"


def says_who(head: dict, encoder: Encoder, level: str) -> None:
    assert (head["model"], head["model_digest"]) == ("random", encoder.digest_in(form_of(level)))
    assert head.get("form", "plain") == form_of(level)
    assert ("form" in head) == (level != "instruction")
    assert (head["mirenc"], head["level"], head["part"]) == (mirenc.__version__, level, "both")


def says_what(listed: list[dict], encoder: Encoder, files: list[str], level: str) -> None:
    assert [entry["file"] for entry in listed] == files
    for entry in listed:
        embedding = encoder.embed_parts(entry["file"], level=level)
        assert (entry["content_hash"], entry["counts"]) == (embedding.content_hash, embedding.counts)
        assert entry["own_form"] == form_of(level)


def write(run: Run, model_dir: Path, folder: Path, output: Path, level: str) -> None:
    result = run("embed", "--no-cache", "--model", model_dir, "--level", level, "-o", output, folder).ok()
    assert result.out == ""
    assert not list(output.parent.glob("*.part"))


@pytest.mark.parametrize("level", LEVELS)
def test_npy_and_its_sidecar(run: Run, model_dir: Path, encoder: Encoder, folder: Path, tmp_path: Path, level: str):
    write(run, model_dir, folder, tmp_path / "x.npy", level)
    files, expected_vectors = expected(encoder, folder, level)
    stored = np.load(tmp_path / "x.npy", allow_pickle=False)
    assert stored.dtype == np.float32
    np.testing.assert_array_equal(stored, expected_vectors)
    sidecar = json.loads((tmp_path / "x.npy.json").read_text(encoding="utf-8"))
    says_who(sidecar, encoder, level)
    says_what(sidecar["files"], encoder, files, level)
    assert len(sidecar["names"]) == len(sidecar["functions"]) == len(sidecar["file_row"]) == len(expected_vectors)
    assert len(sidecar["builts"]) == len(expected_vectors)
    assert sidecar["file_row"][-LEVELS[level] :] == [1] * LEVELS[level]
    assert sidecar["file_row"].count(1) == LEVELS[level]


@pytest.mark.parametrize("level", LEVELS)
def test_npz(run: Run, model_dir: Path, encoder: Encoder, folder: Path, tmp_path: Path, level: str) -> None:
    write(run, model_dir, folder, tmp_path / "x.npz", level)
    files, expected_vectors = expected(encoder, folder, level)
    with np.load(tmp_path / "x.npz", allow_pickle=False) as stored:
        assert set(stored) == {
            "vectors",
            "names",
            "functions",
            "symbols",
            "headers",
            "depths",
            "source_files",
            "source_lines",
            "builts",
            "files",
            "file_hash",
            "content_hash",
            "own_form",
            "file_row",
            "meta",
        }
        np.testing.assert_array_equal(stored["vectors"], expected_vectors)
        meta = json.loads(str(stored["meta"]))
        says_who(meta, encoder, level)
        says_what(meta["files"], encoder, files, level)
        assert stored["files"].tolist() == files
        assert stored["content_hash"].tolist() == [entry["content_hash"] for entry in meta["files"]]
        assert stored["own_form"].tolist() == [form_of(level)] * 2
        assert stored["builts"].tolist()[-LEVELS[level] :] == ["O0"] * LEVELS[level]
        assert stored["file_row"].tolist().count(1) == LEVELS[level]
        last = {"module": [files[1]], "function": ["first", "second"], "instruction": INSTRUCTIONS}[level]
        assert stored["names"].tolist()[-LEVELS[level] :] == last


@pytest.mark.parametrize("level", LEVELS)
def test_parquet(run: Run, model_dir: Path, encoder: Encoder, folder: Path, tmp_path: Path, level: str) -> None:
    write(run, model_dir, folder, tmp_path / "x.parquet", level)
    files, expected_vectors = expected(encoder, folder, level)
    table = pq.read_table(tmp_path / "x.parquet")
    says_who(json.loads(table.schema.metadata[b"mirenc"]), encoder, level)
    described = encoder.embed_parts(files[1], level=level)
    counts = described.counts
    labels = ["name", "function", "symbol", "header", "depth", "source_file", "source_line", "built"]
    assert table.column_names == ["file", "file_hash", "content_hash", "own_form", *labels, *counts, "vector"]
    last = table.slice(len(expected_vectors) - LEVELS[level]).to_pylist()
    assert {row["file"] for row in last} == {files[1]}
    assert {row["content_hash"] for row in last} == {in_form(level).content_hash} == {described.content_hash}
    assert {(row["own_form"], row["built"]) for row in last} == {(form_of(level), "O0")}
    assert all(row[name] == count for row in last for name, count in counts.items())
    np.testing.assert_array_equal(np.array(table["vector"].to_pylist(), dtype=np.float32), expected_vectors)


def test_jsonl_is_what_stdout_would_have(run: Run, model_dir: Path, folder: Path, tmp_path: Path) -> None:
    write(run, model_dir, folder, tmp_path / "x.jsonl", "function")
    shown = run("embed", "--no-cache", "--model", model_dir, "--level", "function", folder).ok().out
    assert (tmp_path / "x.jsonl").read_text(encoding="utf-8") == shown


@pytest.mark.parametrize("most", [1 << 26, 1])
def test_npz_has_long_names_whole(
    run: Run, model_dir: Path, encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """An array gives every name the room of the longest; above a bound it is cut, and what was cut stands beside it."""
    monkeypatch.setattr("mirenc.base.arrays._COLUMN", most)
    name = "f" * 300
    cases = "\n".join(f"    i32 {number}, label %end" for number in range(40))
    source = f"define void @{name}(i32 %x) {{\n  switch i32 %x, label %end [\n{cases}\n  ]\nend:\n  ret void\n}}\n"
    (tmp_path / "long.ll").write_text(source, encoding="utf-8")
    for level in ("instruction", "function"):
        run(
            "embed", "--no-cache", "--model", model_dir, "-l", level, "-o", tmp_path / "x.npz", tmp_path / "long.ll"
        ).ok()
        with np.load(tmp_path / "x.npz") as stored:
            assert (max(map(len, stored["names"].tolist())) == 256) == (most == 1)
        table = read_vectors(tmp_path / "x.npz")
        assert table.names == encoder.embed_parts(source, level=level).names
        assert max(map(len, table.names)) > 256
        assert set(table.labels["function"]) == {name}


def test_an_output_is_replaced(run: Run, model_dir: Path, ir: Path, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"old")
    run("embed", "--no-cache", "--model", model_dir, "-o", tmp_path / "x.npy", ir).ok()
    assert np.load(tmp_path / "x.npy").shape == (1, BOTH)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_without_a_row_are_an_empty_output(
    run: Run, model_dir: Path, ir: Path, tmp_path: Path, suffix: str
) -> None:
    """The vectors of an earlier run do not stay: they would pass for those of this one."""
    output = tmp_path / f"x.{suffix}"
    words = ("embed", "--no-cache", "--model", model_dir, "-o", output, ir)
    run(*words).ok()
    run(*words, "-l", "loop").ok()
    if suffix in ("jsonl", "csv"):
        assert output.read_text(encoding="utf-8") == ""
        with pytest.raises(IRFileError, match=rf"x\.{suffix}: has no rows.*Embed the files at another level"):
            read_vectors(output)
    else:
        table = read_vectors(output)
        assert (table.vectors.shape, table.files, table.names, table.level) == ((0, BOTH), [], [], "loop")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_where_every_file_fails_the_output_stays(run: Run, model_dir: Path, tmp_path: Path, suffix: str) -> None:
    output = tmp_path / f"x.{suffix}"
    output.write_bytes(b"of an earlier run")
    run("embed", "--no-cache", "--model", model_dir, "-o", output, tmp_path / "no.ll").failed("no.ll")
    assert output.read_bytes() == b"of an earlier run"


# -- inputs --------------------------------------------------------------------------------------------
def files_of(result: Result) -> list[str]:
    return [row["file"] for row in rows(result.ok().out)]


def test_each_argument_has_its_row_in_their_order(run: Run, model_dir: Path, folder: Path, tmp_path: Path) -> None:
    small, functions = folder / "sub" / "small.ll", folder / "functions.ll"
    words = ("embed", "--no-cache", "--model", model_dir, small, folder, small, functions)
    expected = [str(path) for path in (small, functions, small, small, functions)]
    assert files_of(run(*words)) == expected
    run(*words, "-o", tmp_path / "x.npy").ok()
    vectors = np.load(tmp_path / "x.npy")
    meta = json.loads((tmp_path / "x.npy.json").read_text())
    assert [meta["files"][row]["file"] for row in meta["file_row"]] == expected
    for row, like in ((2, 0), (3, 0), (4, 1)):
        np.testing.assert_array_equal(vectors[row], vectors[like])
    run("embed", "--model", model_dir, "-", "-").refused("standard input can be read once")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_link_stays_and_its_target_is_written(
    run: Run, model_dir: Path, ir: Path, tmp_path: Path, suffix: str
) -> None:
    for place in ("far/target", "far/new"):  # one that is there, one that is to come
        (tmp_path / "far").mkdir(exist_ok=True)
        target, link = tmp_path / place, tmp_path / f"link.{suffix}"
        (tmp_path / "far" / "target").write_bytes(b"of an earlier run")
        link.unlink(missing_ok=True)
        link.symlink_to(Path(place))
        run("embed", "--no-cache", "--model", model_dir, "-o", link, ir).ok()
        assert link.is_symlink()
        assert link.resolve() == target.resolve()
        assert target.stat().st_size > 100
        assert not list(tmp_path.rglob("*.part"))


def test_a_link_to_a_folder_above_is_not_followed(run: Run, model_dir: Path, folder: Path) -> None:
    (folder / "sub" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "loop.ll").symlink_to(folder / "loop.ll")
    assert len(files_of(run("embed", "--no-cache", "--model", model_dir, folder))) == 2


def test_standard_input(run: Run, model_dir: Path, encoder: Encoder) -> None:
    for data in (SOURCE.encode(), gzip.compress(SOURCE.encode())):
        (row,) = rows(run("embed", "--no-cache", "--model", model_dir, "-", stdin=data).ok().out)
        assert row["file"] == "-"
        np.testing.assert_array_equal(vectors([row])[0], encoder.embed(SOURCE))


@pytest.mark.parametrize("parts", [1, 2])
def test_compressed_files_of_one_part_or_several(
    run: Run, model_dir: Path, encoder: Encoder, tmp_path: Path, parts: int
) -> None:
    data = SOURCE.encode()
    cut = len(data) // 2 if parts == 2 else len(data)
    for suffix, compress in (("gz", gzip.compress), ("xz", lzma.compress), ("zst", zstandard.compress)):
        (tmp_path / f"x.ll.{suffix}").write_bytes(b"".join(compress(part) for part in (data[:cut], data[cut:]) if part))
    records = rows(run("embed", "--no-cache", "--model", model_dir, *sorted(tmp_path.glob("x.ll.*"))).ok().out)
    np.testing.assert_array_equal(vectors(records), np.tile(encoder.embed(SOURCE), (3, 1)))


NAMES = [
    "with space.ll",
    "two\nlines.ll",
    "define x.ll",
    "ünï-日本.ll",
    "quote'\".ll",
    "[red]bold.ll",
    "-dash.ll",
]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_file_name(
    run: Run, model_dir: Path, ir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    names = list(NAMES)
    if sys.platform == "linux":
        names.append(os.fsdecode(b"not-utf8-\xff.ll"))
    (tmp_path / "names").mkdir()
    monkeypatch.chdir(tmp_path / "names")
    for name in names:
        shutil.copy(ir, name)
    run("embed", "--no-cache", "--model", model_dir, "-o", f"../x.{suffix}", "--", *names).ok()
    if suffix in ("csv", "parquet"):  # they take valid Unicode only
        names = [name.replace("\udcff", "\\xff") for name in names]
    assert read_vectors(f"../x.{suffix}").files == names


def test_an_input_that_begins_like_ir_is_still_a_file(
    run: Run, model_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("embed", "--no-cache", "--model", model_dir, SOURCE).failed("no such file")


def test_the_cache_answers_with_the_same_vectors(run: Run, model_dir: Path, ir: Path, cache_folder: Path) -> None:
    first = run("embed", "--model", model_dir, "--level", "function", ir).ok().out
    assert list(cache_folder.glob("*.sqlite"))
    assert run("embed", "--model", model_dir, "--level", "function", ir).ok().out == first


def test_the_number_of_jobs_changes_no_byte(run: Run, model_dir: Path, ir: Path, tmp_path: Path) -> None:
    """Of 80 files, which are two batches."""
    files = [shutil.copy(ir, tmp_path / f"{number:02}.ll") for number in range(80)]
    for jobs in (1, 2):
        run("embed", "--no-cache", "--model", model_dir, "--jobs", jobs, "-o", tmp_path / f"{jobs}.npz", *files).ok()
    one, two = (read_vectors(tmp_path / f"{jobs}.npz") for jobs in (1, 2))
    assert one.files == two.files == list(map(str, files))
    np.testing.assert_array_equal(one.vectors, two.vectors)


def test_no_job_is_refused(run: Run, model_dir: Path, ir: Path) -> None:
    result = run("embed", "--model", model_dir, "--jobs", 0, ir)
    assert result.code == 2
    assert "--jobs" in result.err
