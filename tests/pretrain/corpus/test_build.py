"""A build keeps what was read: texts, counts, graphs, origins; it goes on after a stop, and leaves out what it must."""

import json
import os
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirenc.base.errors import ConfigError, IRResourceError, MirencError
from mirenc.llvm import read_ir, statements_of
from mirenc.model.sample import make_sample
from mirenc.model.tokenizer import TokenizerConfig
from mirenc.pretrain.corpus import Corpus, build as build_module, build_corpus, hashes_of_ir

SMALL = TokenizerConfig(vocab_size=300)


def test_modules_have_the_arrays_of_make_sample(corpus: Corpus, ir_folder: Path) -> None:
    for number in (0, len(corpus) // 2, len(corpus) - 1):
        module = read_ir(ir_folder / corpus.names[number])
        sample = make_sample(module, corpus.tokenizer)
        stored = corpus[number]
        assert np.array_equal(stored.edge_index, sample.edge_index)
        assert np.array_equal(stored.edge_flow, sample.edge_flow)
        assert np.array_equal(stored.node_kind, sample.node_kind)
        width = corpus.padded_ids(stored.node_row).shape[1]
        assert np.array_equal(corpus.padded_ids(stored.node_row), sample.text_ids[sample.node_row][:, :width])
        counted = Counter[tuple[int, ...]]()
        for row, count in zip(stored.statement_row, stored.statement_count, strict=True):
            counted[tuple(corpus.text_ids[corpus.text_start[row] : corpus.text_start[row + 1]])] += int(count)
        assert counted == Counter(
            tuple(sample.text_ids[row][: sample.text_length[row]]) for row in sample.statement_row
        )


def test_counts_are_statements(corpus: Corpus, ir_folder: Path) -> None:
    total = sum(len(statements_of(read_ir(ir_folder / name))) for name in corpus.names)
    assert corpus.text_counts(range(len(corpus))).sum() == total == corpus.statement_total.sum()


def test_the_manifest_has_the_facts_of_a_module(corpus: Corpus, ir_folder: Path) -> None:
    info = corpus.infos[0]
    module = read_ir(ir_folder / info.name)
    assert info.name == f"{info.project}/{info.opt_level}/{info.file}"
    assert info.content_hash == module.content_hash
    assert info.instructions == module.instruction_count
    assert info.functions == len(module.defined_functions)
    assert (info.nodes, info.edges) == (len(corpus[0].node_row), len(corpus[0].edge_flow))
    levels = {other.opt_level for other in corpus.infos if (other.project, other.file) == (info.project, info.file)}
    assert levels == {"O0", "O2"}


def test_sources_go_into_the_manifest(ir_folder: Path, tmp_path: Path) -> None:
    files = sorted((ir_folder / "alpha").rglob("*.ll"))[:2]
    name = files[1].relative_to(ir_folder).as_posix()
    known = {"project": "zlib", "version": "1.2", "file": "src/a.c"}
    known |= {"language": "c", "opt_level": "O3", "compiler": "x"}
    corpus, _ = build_corpus(files, ir_folder, tmp_path, SMALL, sources={name: known})
    assert corpus.projects == ["alpha", "zlib"]
    assert {key: getattr(corpus.infos[1], key) for key in known} == known


def test_duplicates_and_bad_files_are_left_out(ir_folder: Path, tmp_path: Path) -> None:
    source = next(iter(sorted((ir_folder / "alpha").rglob("*.ll"))))
    for name in ("one/a.ll", "two/copy.ll"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(source, tmp_path / name)
    (tmp_path / "one" / "bad.ll").write_text("define i32 @f( {\n")
    built, report = build_corpus(sorted(tmp_path.rglob("*.ll")), tmp_path, tmp_path / "corpus", SMALL)
    assert built.names == ["one/a.ll"]
    assert (report.files, report.modules, report.duplicates) == (3, 1, 1)
    assert [Path(path).name for path, _ in report.failures] == ["bad.ll"]
    assert "bad.ll" in report.failures[0][1]
    assert json.loads((tmp_path / "corpus" / "report.json").read_text())["duplicates"] == 1


def test_files_without_a_function_body_are_counted_and_have_not_failed(ir_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    data = tmp_path / "one" / "data.ll"
    data.write_text("@table = constant i32 1\n")
    with pytest.raises(ConfigError, match="1 of 1 files have no function body"):
        build_corpus([data], tmp_path, tmp_path / "none", SMALL)
    shutil.copy(next(iter(sorted((ir_folder / "alpha").rglob("*.ll")))), tmp_path / "one" / "a.ll")
    _, report = build_corpus(sorted(tmp_path.rglob("*.ll")), tmp_path, tmp_path / "corpus", SMALL)
    assert (report.files, report.modules, report.failures, report.empty) == (2, 1, [], [str(data)])
    assert len(hashes_of_ir([data])) == 0


def test_modules_with_a_function_kept_for_evaluation_are_left_out(ir_folder: Path, tmp_path: Path) -> None:
    files = sorted((ir_folder / "alpha" / "O2").glob("*.ll"))
    # The same function in another module, with other names and in other company.
    kernel = """
define i32 @{name}(ptr %{p}, i32 %{n}) {{
entry:
  %a = load i32, ptr %{p}
  %b = mul i32 %a, %{n}
  %c = add i32 %b, 77123
  %d = xor i32 %c, %a
  %e = sub i32 %d, %b
  %f = shl i32 %e, 3
  %g = or i32 %f, %d
  ret i32 %g
}}
"""
    evaluation, training = tmp_path / "kept.ll", tmp_path / "ir" / "gamma" / "copy.ll"
    training.parent.mkdir(parents=True)
    evaluation.write_text(kernel.format(name="kernel", p="p", n="n"))
    training.write_text("@g = global i32 1\n" + kernel.format(name="vendored", p="data", n="size"))
    shutil.copy(files[0], training.parent / "other.ll")
    inputs = sorted(training.parent.glob("*.ll"))
    corpus, report = build_corpus(
        inputs, tmp_path / "ir", tmp_path / "corpus", SMALL, reserved=hashes_of_ir([evaluation])
    )
    assert corpus.names == ["gamma/other.ll"]
    assert [Path(path).name for path in report.reserved] == ["copy.ll"]
    assert len(build_corpus(inputs, tmp_path / "ir", tmp_path / "all", SMALL)[0]) == 2


def test_large_graphs_are_left_out_and_their_text_stays(ir_folder: Path, tmp_path: Path) -> None:
    files = sorted((ir_folder / "alpha").rglob("*.ll"))
    every, _ = build_corpus(files, ir_folder, tmp_path / "every", SMALL)
    limit = int(np.median(every.node_count))
    limited, report = build_corpus(files, ir_folder, tmp_path / "some", SMALL, max_nodes=limit)
    assert limited.names == every.names
    assert (limited.node_count == np.where(every.node_count <= limit, every.node_count, 0)).all()
    assert report.without_graph == int((every.node_count > limit).sum()) > 0
    assert (limited.statement_total == every.statement_total).all()
    assert [info.nodes for info in limited.infos] == [info.nodes for info in every.infos]


def test_two_processes_build_the_same_corpus(ir_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "_CHUNK", 4)
    files = sorted((ir_folder / "alpha").rglob("*.ll"))
    advanced: list[int] = []
    build_corpus(files, ir_folder, tmp_path / "one", SMALL)
    build_corpus(files, ir_folder, tmp_path / "two", SMALL, jobs=2, advance=advanced.append)
    assert sum(advanced) == len(files)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_a_stopped_build_goes_on(ir_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "_CHUNK", 4)
    files = sorted((ir_folder / "alpha").rglob("*.ll"))
    read = build_module.read_chunk
    chunks: list[int] = []

    def stop_at_third(paths: list[str], *rest: Any) -> None:
        chunks.append(len(paths))
        if len(chunks) == 3:
            raise KeyboardInterrupt
        read(paths, *rest)

    monkeypatch.setattr(build_module, "read_chunk", stop_at_third)
    with pytest.raises(KeyboardInterrupt):
        build_corpus(files, ir_folder, tmp_path / "corpus", SMALL)
    corpus, _ = build_corpus(files, ir_folder, tmp_path / "corpus", SMALL)
    assert sum(chunks[3:]) == len(files) - 8
    assert not (tmp_path / "corpus" / "parts").exists()
    uninterrupted, _ = build_corpus(files, ir_folder, tmp_path / "whole", SMALL)
    assert corpus.infos == uninterrupted.infos
    assert np.array_equal(corpus.text_ids, uninterrupted.text_ids)


def test_ir_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "bad.ll").write_text("nonsense")
    with pytest.raises(ConfigError, match=r"no IR could be read.*bad\.ll"):
        build_corpus([tmp_path / "p" / "bad.ll"], tmp_path, tmp_path / "corpus", SMALL)
    with pytest.raises(MirencError, match=r"bad\.ll"):  # an unread kernel would be learned from
        hashes_of_ir([tmp_path / "p" / "bad.ll"])


def test_a_corpus_that_would_be_empty_says_what_was_left_out(ir_folder: Path, tmp_path: Path) -> None:
    files = sorted((ir_folder / "alpha" / "O0").glob("*.ll"))[:2]
    with pytest.raises(ConfigError, match=r"2 of 2 have a function kept for evaluation"):
        build_corpus(files, ir_folder, tmp_path / "c", SMALL, reserved=hashes_of_ir(files))
    assert not (tmp_path / "c" / "parts").exists()


def test_names_that_no_table_takes_are_written_out(ir_folder: Path, tmp_path: Path) -> None:
    source = next((ir_folder / "alpha" / "O0").glob("*.ll"))
    project = os.fsdecode(b"not \xff utf")
    files = [tmp_path / "ir" / project / "a.ll", tmp_path / "ir" / "line\rreturn\nfeed" / "b.ll"]
    for number, path in enumerate(files):
        path.parent.mkdir(parents=True)
        path.write_bytes(source.read_bytes() + b"\n define i32 @more(i32 %%x) { ret i32 %d }\n" % number)
    build_corpus(sorted(files), tmp_path / "ir", tmp_path / "c", SMALL)
    assert sorted(Corpus.load(tmp_path / "c").projects) == [r"line\rreturn" + "\nfeed", r"not \xff utf"]


def test_a_reading_process_that_is_killed_is_one_line(
    ir_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_module, "_CHUNK", 2)
    monkeypatch.setattr(build_module, "_start_process", _kill_process)  # as a system short of memory does
    files = sorted((ir_folder / "alpha").rglob("*.ll"))
    with pytest.raises(IRResourceError, match=r"killed from outside.*--jobs"):
        build_corpus(files, ir_folder, tmp_path / "c", SMALL, jobs=2)


def _kill_process(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
