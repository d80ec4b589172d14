"""What is learned from a table of passes, on the small table whose numbers can be told by heart."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_answers import write_answers
from teaching import Answers, AnswersConfig, TeachingConfig, read_answers

from mirenc.base.errors import ConfigError, TaskError
from mirenc.decide.tables.compiled import CompiledTable
from mirenc.pretrain.corpus import Corpus

Given = tuple[AnswersConfig, CompiledTable]


@pytest.fixture(scope="module")
def answers_source(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Given:
    return write_answers(tmp_path_factory.mktemp("answers"), corpus)


def read(answers_source: Given, corpus: Corpus, **changes: object) -> Answers:
    config = answers_source[0].model_copy(update=changes.pop("config", {}))
    held_out = changes.pop("held_out", ())
    run = TeachingConfig.from_dict({"answers": config.model_dump(), **changes})
    return read_answers(run, corpus.tokenizer, held_out=held_out)  # type: ignore[arg-type]


def test_pieces_are_found_by_their_hashes(answers_source: Given, corpus: Corpus) -> None:
    answers = read(answers_source, corpus)
    assert answers.missing == 0
    for number, piece in zip(answers.modules.tolist(), answers_source[1].pieces, strict=True):
        assert answers.corpus.names[number] == f"{piece.project}/{piece.ir_hash}.ll"


def test_no_project_is_in_two_parts(answers_source: Given, corpus: Corpus) -> None:
    seen = set()
    for seed in range(8):
        answers = read(answers_source, corpus, seed=seed, held_out=["p1", "alpha"])
        parts = [
            {answers.projects[row] for row in rows} for rows in (answers.training, answers.choosing, answers.held_out)
        ]
        assert [len(part) for part in parts] == [3, 1, 2]
        assert len(set.union(*parts)) == 6
        # What the table holds out, and what the run does.
        assert parts[2] == {"p1", "p5"}
        seen |= parts[1]
        assert sorted(np.concatenate([answers.training, answers.choosing, answers.held_out])) == list(range(24))
    assert len(seen) > 1


def test_sizes_are_logarithms_standardised_on_the_pieces_for_training(answers_source: Given, corpus: Corpus) -> None:
    answers = read(answers_source, corpus)
    labels = answers.labels["sizes"]
    assert labels.names == (
        *(
            f"{quantity} {level}"
            for level in ("O0", "Oz", "Oz_plain", "O2", "O3")
            for quantity in ("bytes", "instructions")
        ),
        *("Oz over O0", "O3 over Oz", "Oz over before"),
    )
    rows = np.arange(24)
    oz, o3 = 100 + 9 * rows - 2.0, 100 + 9 * rows - 8.0
    for name, expected in {
        "bytes Oz": np.log(oz),
        "instructions O2": np.log(rows + 3),
        "O3 over Oz": np.log(o3 / oz),
        "Oz over before": np.log(oz / (100 + 10 * rows)),
    }.items():
        known = expected[answers.training]
        standardised = labels.values[:, labels.names.index(name)]
        np.testing.assert_allclose(standardised, (expected - known.mean()) / known.std(), rtol=1e-4, atol=1e-4)


def test_fires_are_passes_that_change_some_and_are_unknown_where_nothing_is_known(
    answers_source: Given, corpus: Corpus
) -> None:
    labels = read(answers_source, corpus).labels["fires"]
    assert labels.names == ("instcombine Oz", "sroa Oz")
    rows = np.arange(24)
    expected = np.stack([rows % 2 == 0, rows % 3 == 0], 1).astype(np.float32)
    expected[1] = np.nan
    np.testing.assert_array_equal(labels.values, expected)


def test_lists_are_ratios_to_oz_by_one_number(answers_source: Given, corpus: Corpus) -> None:
    answers = read(answers_source, corpus)
    labels = answers.labels["lists"]
    assert labels.names == tuple(one.pipeline for one in answers_source[1].lists[1:])
    rows = np.arange(24)
    oz = 100 + 9 * rows - 2.0
    expected = np.stack([np.log(np.where(rows % 2, oz + 5, oz - 3) / oz), np.log((oz + 1) / oz)], 1)
    expected[-1, 1] = np.nan  # it crashed
    known = expected[answers.training]
    np.testing.assert_allclose(labels.values, expected / known.std(), rtol=1e-4, atol=1e-5)


def test_extreme_size_ratios_of_lists_are_clipped(
    answers_source: Given, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = answers_source[1]
    code = table.sizes.code_bytes.copy()
    code[3, 1], code[4, 1] = 1e6, 0
    changed = replace(table, sizes=replace(table.sizes, code_bytes=code))
    monkeypatch.setattr("teaching.read_compiled", lambda _: changed)
    values = read(answers_source, corpus).labels["lists"].values
    assert values[3, 0] == -values[4, 0] == values[:, 0].max()


def test_larger_pieces_are_not_learned_from(answers_source: Given, corpus: Corpus) -> None:
    unlimited = read(answers_source, corpus)
    nodes = unlimited.corpus.node_count[unlimited.modules]
    limit = int(np.median(nodes))
    limited = read(answers_source, corpus, max_nodes=limit)
    assert sorted(limited.training) == sorted(row for row in unlimited.training if nodes[row] <= limit)
    assert sorted(limited.held_out) == sorted(unlimited.held_out)


def test_kinds_may_be_left_out(answers_source: Given, corpus: Corpus) -> None:
    assert list(read(answers_source, corpus, config={"kinds": ("lists",)}).labels) == ["lists"]
    with pytest.raises(ConfigError, match=r"answers\.kinds"):
        AnswersConfig.from_dict({"corpus": "a", "table": "b", "kinds": ["size"]}, where="answers.kinds")


def test_a_kind_that_the_table_does_not_know(
    answers_source: Given, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teaching.read_compiled", lambda _: replace(answers_source[1], fires={}))
    assert set(read(answers_source, corpus, config={"kinds": ("sizes", "lists")}).labels) == {"sizes", "lists"}
    with pytest.raises(ConfigError, match=r"for 'fires', the .* pieces for training have the same values, or none"):
        read(answers_source, corpus)


def test_missing_or_unfitting_tables_and_corpora_are_refused(
    answers_source: Given, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TaskError, match="no table of passes"):
        read(answers_source, corpus, config={"table": str(tmp_path)})
    with pytest.raises(ConfigError, match="is not a corpus"):
        read(answers_source, corpus, config={"corpus": str(tmp_path)})
    other = replace(
        answers_source[1], pieces=tuple(replace(piece, ir_hash="0" * 64) for piece in answers_source[1].pieces)
    )
    with monkeypatch.context() as patch:
        patch.setattr("teaching.read_compiled", lambda _: other)
        with pytest.raises(ConfigError, match=r"0 of the table's 24 pieces.*python pretrain/pieces\.py"):
            read(answers_source, corpus)
    monkeypatch.setattr(type(corpus.tokenizer), "to_json", lambda self: str(id(self)))
    with pytest.raises(ConfigError, match="another tokenizer"):
        read(answers_source, corpus)
