"""The corpus keeps what was read: texts, counts, graphs, projects."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from mirenc.config import TokenizerConfig
from mirenc.errors import ConfigError
from mirenc.ir import read_ir, statements_of
from mirenc.pretraining.corpus import Corpus, build_corpus
from mirenc.sample import make_sample


def test_modules_are_what_make_sample_makes(corpus: Corpus, ir_folder: Path) -> None:
    for number in (0, len(corpus) - 1):
        module = read_ir(ir_folder / corpus.names[number])
        sample = make_sample(module, corpus.tokenizer)
        stored = corpus[number]
        assert np.array_equal(stored.edge_index, sample.edge_index)
        assert np.array_equal(stored.edge_flow, sample.edge_flow)
        assert np.array_equal(stored.node_kind, sample.node_kind)
        for rows, own in ((stored.statement_row, sample.statement_row), (stored.node_row, sample.node_row)):
            width = corpus.padded_ids(rows).shape[1]
            assert np.array_equal(corpus.padded_ids(rows), sample.text_ids[own][:, :width])


def test_counts_are_statements(corpus: Corpus, ir_folder: Path) -> None:
    total = sum(len(statements_of(read_ir(ir_folder / name))) for name in corpus.names)
    assert corpus.text_count.sum() == total == len(corpus.statement_row)


def test_duplicates_and_bad_files_are_left_out(ir_folder: Path, tmp_path: Path) -> None:
    source = next(iter(sorted((ir_folder / "alpha").rglob("*.ll"))))
    for name in ("one/a.ll", "two/copy.ll"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(source, tmp_path / name)
    (tmp_path / "one" / "bad.ll").write_text("define i32 @f( {\n")
    failed: list[str] = []
    found = build_corpus(
        sorted(tmp_path.rglob("*.ll")),
        tmp_path,
        TokenizerConfig(vocab_size=300),
        failed=lambda path, error: failed.append(path.name),
    )
    assert found.names == ["one/a.ll"]
    assert failed == ["bad.ll"]


def test_save_and_load(corpus: Corpus, tmp_path: Path) -> None:
    corpus.save(tmp_path / "corpus")
    loaded = Corpus.load(tmp_path / "corpus")
    assert loaded.names == corpus.names
    assert np.array_equal(loaded.text_ids, corpus.text_ids)
    assert np.array_equal(loaded.edge_index, corpus.edge_index)
    assert loaded.tokenizer.vocab == corpus.tokenizer.vocab


def test_load_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="mirenc corpus build"):
        Corpus.load(tmp_path)


def test_split_keeps_projects_apart(corpus: Corpus) -> None:
    train, held = corpus.split(0.3, seed=0)
    assert len(train) + len(held) == len(corpus)
    assert not {corpus.projects[module] for module in train} & {corpus.projects[module] for module in held}


def test_split_needs_two_projects(ir_folder: Path) -> None:
    files = sorted((ir_folder / "alpha").rglob("*.ll"))[:2]
    one = build_corpus(files, ir_folder, TokenizerConfig(vocab_size=300))
    with pytest.raises(ConfigError, match="1 project"):
        one.split(0.1, seed=0)
