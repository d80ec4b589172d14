"""Shards: what is written is read again, whole or not at all."""

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from mirenc.base.errors import ConfigError
from mirenc.llvm import read_ir
from mirenc.model.config import DirectedGraphConfig, ModelConfig
from mirenc.model.graph import build_graph
from mirenc.model.tokenizer import TokenizerConfig
from mirenc.pretrain.corpus import Corpus, build_corpus, store
from mirenc.pretrain.corpus.packing import from_bytes, pack, to_bytes, unpack
from mirenc.pretrain.encoding import check_order

LATER = ("edge_position", "node_argument")  # columns that came with format 3


@pytest.fixture(scope="module")
def folder(ir_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus in several shards."""
    target = tmp_path_factory.mktemp("stored")
    files = sorted((ir_folder / "alpha").rglob("*.ll"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_SHARD_MODULES", 3)
        build_corpus(files, ir_folder, target, TokenizerConfig(vocab_size=300))
    return target


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A copy of it to damage."""
    return Path(shutil.copytree(folder, tmp_path / "copy"))


@pytest.mark.parametrize("differences", [True, False])
@pytest.mark.parametrize(
    ("values", "planes"),
    [([], 1), ([0, 0], 1), ([5, 3, 1_000_000, -7], 3), ([2**40, -(2**40)], 6), ([127, 128], None)],
)
def test_packing_is_exact(values: list[int], planes: int | None, differences: bool) -> None:
    array = np.array(values, dtype=np.int64)
    packed = pack(array, differences=differences)
    assert np.array_equal(unpack(packed, differences=differences), array)
    if planes is not None:
        assert packed.shape == (planes, len(values))


def test_packed_bytes_are_checked() -> None:
    data = to_bytes({"a": np.arange(5)})
    assert np.array_equal(from_bytes(data)["a"], np.arange(5))
    with pytest.raises(ValueError, match=r"."):
        from_bytes(data[:-3])


def test_shards_hold_every_module(folder: Path, ir_folder: Path, tmp_path: Path) -> None:
    corpus = Corpus.load(folder)
    assert len(list(folder.glob("shard-*.zst"))) == -(-len(corpus) // 3) > 1
    listing = json.loads((folder / "corpus.json").read_text())
    assert (listing["modules"], listing["texts"]) == (len(corpus), len(corpus.text_length))
    one, _ = build_corpus(
        [ir_folder / name for name in corpus.names], ir_folder, tmp_path, TokenizerConfig(vocab_size=300)
    )
    for number in range(len(corpus)):
        for name in (field.name for field in fields(corpus[number])):
            actual, expected = getattr(corpus[number], name), getattr(one[number], name)
            assert actual.dtype == expected.dtype
            assert np.array_equal(actual, expected), name


def test_the_order_of_operands_and_arguments_is_kept(folder: Path, ir_folder: Path) -> None:
    corpus = Corpus.load(folder)
    assert corpus.ordered
    for number, name in enumerate(corpus.names):
        graph = build_graph(read_ir(ir_folder / name))
        np.testing.assert_array_equal(corpus[number].edge_position, graph.edge_position)
        np.testing.assert_array_equal(corpus[number].node_argument, graph.node_argument)
    assert corpus.edge_position.max() > 1
    assert corpus.node_argument.max() > 1


@pytest.fixture
def old(copy: Path) -> Corpus:
    """The corpus as it was written before operands had an order."""
    listing = json.loads((copy / "corpus.json").read_text())
    for name in list(listing["files"]):
        if name.startswith("shard-"):
            columns = from_bytes((copy / name).read_bytes())
            data = to_bytes({key: value for key, value in columns.items() if key not in LATER})
            (copy / name).write_bytes(data)
            listing["files"][name] = hashlib.sha256(data).hexdigest()
    (copy / "corpus.json").write_text(json.dumps(listing | {"format": 2}))
    return Corpus.load(copy)


def test_a_corpus_of_format_2_is_read_without_an_order(folder: Path, old: Corpus) -> None:
    new = Corpus.load(folder)
    assert not old.ordered
    assert old.digest == new.digest
    for number in range(len(new)):
        for field in fields(new[number]):
            actual, expected = getattr(old[number], field.name), getattr(new[number], field.name)
            assert actual.dtype == expected.dtype
            np.testing.assert_array_equal(actual, np.zeros_like(expected) if field.name in LATER else expected)


def test_an_encoder_that_sees_the_order_refuses_a_corpus_without(folder: Path, old: Corpus) -> None:
    ordered, unordered = (ModelConfig(graph=DirectedGraphConfig(positions=positions)) for positions in (True, False))
    with pytest.raises(ConfigError, match=r"has no operand positions.*positions = false in \[graph\]"):
        check_order(ordered, old)
    for config, corpus in ((unordered, old), (ModelConfig(), old), (ordered, Corpus.load(folder))):
        check_order(config, corpus)


def test_a_damaged_or_missing_shard_is_named(copy: Path) -> None:
    shard = copy / "shard-00001.zst"
    data = bytearray(shard.read_bytes())
    data[20] ^= 1
    shard.write_bytes(data)
    with pytest.raises(ConfigError, match=r"shard-00001\.zst: damaged"):
        Corpus.load(copy)
    shard.unlink()
    with pytest.raises(ConfigError, match=r"shard-00001\.zst: No such file"):
        Corpus.load(copy)


@pytest.mark.parametrize(
    ("listing", "complaint"),
    [
        (None, "mirenc corpus build"),
        ('{"format": 99}', "format 99.* Build it again"),
        *((text, r"corpus.json .*[Bb]uild") for text in ("[]", '{"format": 2, "files": []}')),
        *((text, r"corpus.json .*[Bb]uild") for text in ('{"format": 2}', '{"format": 2, "files": {}}')),
    ],
)
def test_a_folder_without_a_listing_that_can_be_read_is_refused(
    listing: str | None, complaint: str, tmp_path: Path
) -> None:
    if listing is not None:
        (tmp_path / "corpus.json").write_text(listing)
    with pytest.raises(ConfigError, match=complaint):
        Corpus.load(tmp_path)


def test_a_half_written_corpus_is_refused(copy: Path) -> None:
    tokenizer = Corpus.load(copy).tokenizer
    killed = (1 / 0 for _ in [0])  # a build that is killed right after it began to write
    with pytest.raises(ZeroDivisionError):
        store.write_corpus(copy, killed, tokenizer, np.zeros(0, np.uint16), np.zeros(0, np.int32))
    with pytest.raises(ConfigError, match="is not a corpus"):
        Corpus.load(copy)


def test_split_keeps_projects_apart(corpus: Corpus) -> None:
    train, held = corpus.split(0.3, seed=0)
    assert len(train) + len(held) == len(corpus)
    assert len(held) > 0
    assert not {corpus.projects[module] for module in train} & {corpus.projects[module] for module in held}


def test_another_corpus_has_another_digest(corpus: Corpus, folder: Path) -> None:
    assert corpus.digest != Corpus.load(folder).digest == Corpus.load(folder).digest


def test_stats_add_up(folder: Path, tmp_path: Path) -> None:
    script = Path(__file__).resolve().parents[3] / "pretrain" / "corpus_stats.py"
    words = [sys.executable, script, folder, "--json", tmp_path / "stats.json", "--plot", tmp_path / "stats.svg"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    corpus = Corpus.load(folder)
    stats = json.loads((tmp_path / "stats.json").read_text())
    for group in ("language", "opt_level", "compiler", "project"):
        for count in ("modules", "instructions"):
            assert sum(by_project[count] for by_project in stats[group].values()) == stats["total"][count]
    assert stats["total"]["modules"] == len(corpus)
    assert set(stats["opt_level"]) == {"O0", "O2"}
    assert stats["total"]["programs"] == len(set(corpus.programs)) < len(corpus)
    assert stats["total"]["statements"] == corpus.statement_total.sum()
    assert f"{stats['total']['statements']:,}" in done.stdout
    assert "<svg" in (tmp_path / "stats.svg").read_text()
