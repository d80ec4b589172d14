"""The baselines, worked out by hand, and their file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mirenc.base.errors import ModelError
from mirenc.encoder.weights import load_files, seal, verify_files
from mirenc.encoder.weights.checksums import BASELINES_FILE
from mirenc.model.tokenizer import CLS, SEP, UNK
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.evaluation import Baselines
from mirenc.pretrain.evaluation.baselines import draw_modules, fit_size, partners, size_accuracy

A, B, C, D, E = 10, 11, 12, 13, 14


@pytest.fixture(scope="module")
def corpus(make_corpus: Callable[..., Corpus]) -> Corpus:
    """Weights (roots of the counts): 2 for the first text, 1 for the others; the last is no training module's."""
    texts = [[CLS, A, B, C, SEP], [CLS, A, D, C, SEP], [CLS, E, D, C, SEP], [CLS, E, E, E, SEP], [CLS, UNK, B, SEP]]
    modules = [("p/a.ll", {0: 1, 1: 1}, 0, []), ("p/b.ll", {0: 3, 2: 1, 4: 1}, 0, []), ("q/c.ll", {3: 9}, 0, [])]
    return make_corpus(texts, modules)


@pytest.fixture(scope="module")
def fitted(corpus: Corpus) -> Baselines:
    return Baselines.fit(corpus, np.array([0, 1]))


def test_most_frequent_token(fitted: Baselines) -> None:
    # C 2 + 1 + 1; A 2 + 1; B 2 + 1; D 1 + 1; E 1.
    assert fitted.frequent == C
    # Special tokens are never guessed.
    assert min(fitted.between_token.min(), fitted.after.min()) >= A


def test_between_two_neighbours(fitted: Baselines) -> None:
    guesses = {
        (A, C): B,  # B 2, D 1
        (E, C): D,
        (CLS, D): A,  # A 1, E 1: the smaller of two equal ones
        (CLS, B): A,  # [UNK] stands there, too
        # A pair that was not seen: from the left (after A: B 2, D 1), and then the most frequent token.
        (A, SEP): B,
        (UNK, SEP): B,  # a special token is a neighbour like any other
        (30, SEP): C,
        (30, C): C,
    }
    left, right = np.array(list(guesses)).T
    assert fitted.between(left, right).tolist() == list(guesses.values())


def test_the_most_heard_contexts_are_kept(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mirenc.pretrain.evaluation.baselines._CONTEXTS", 1)
    small = Baselines.fit(corpus, np.array([0, 1]))
    assert small.between_key.tolist() == [A << 16 | C]  # 2 + 1; every other pair of neighbours has 2 at most
    assert small.between(np.array([A, E]), np.array([C, C])).tolist() == [B, D]  # D from the left alone


# -- sizes ---------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def sized(make_corpus: Callable[..., Corpus]) -> Corpus:
    """Modules of 10, 11, 20, 21 and no nodes; the second and the third are one file."""
    names = ["p/O0/a.ll", "p/O0/b.ll", "p/O2/b.ll", "q/O0/c.ll", "q/O0/d.ll"]
    nodes = [10, 11, 20, 21, 0]
    return make_corpus([[CLS, A, SEP]], [(name, {0: n + 1}, n, []) for name, n in zip(names, nodes, strict=True)])


def test_partners_are_other_files_the_nearest_in_size(sized: Corpus) -> None:
    chosen = draw_modules(sized, np.arange(5), 10, np.random.default_rng(0))
    assert chosen.tolist() == [0, 1, 2, 3]
    assert len(draw_modules(sized, np.arange(5), 1, np.random.default_rng(0))) == 1
    partner_of = partners(sized, chosen, np.random.default_rng(0))
    assert partner_of["near_size"].tolist() == [1, 0, 3, 2]
    for module, other in enumerate(partner_of["random"]):
        assert {module, int(other)} != {1, 2}
        assert module != other


def test_one_file_has_no_partners(sized: Corpus) -> None:
    assert partners(sized, np.array([1, 2]), np.random.default_rng(0)) == {}
    assert partners(sized, np.array([], dtype=np.int64), np.random.default_rng(0)) == {}


def test_the_size_baseline_tells_sizes_apart() -> None:
    nodes = np.array([10, 100, 1000, 10_000] * 5)
    partner = np.array([1, 0, 3, 2] * 5)
    # Statements in proportion to nodes: a partner is off by a factor of ten, always.
    fitted = fit_size(nodes // 2, nodes, partner)
    assert size_accuracy(fitted, nodes // 2, nodes, partner) == 1
    # A partner of the same size cannot be told: right for one of each two.
    assert size_accuracy(fitted, nodes // 2, nodes, np.arange(20)) == 0.5


# -- file ----------------------------------------------------------------------------------------------
def test_saved_baselines_are_loaded(fitted: Baselines, levels_corpus: Corpus, tmp_path: Path) -> None:
    sizes = Baselines.fit(levels_corpus, np.arange(len(levels_corpus))).sizes
    assert sizes.keys() == {"random", "near_size"}
    Baselines(fitted.source, fitted.frequent, fitted.after, fitted.between_key, fitted.between_token, sizes).save(
        tmp_path
    )
    loaded = Baselines.load(tmp_path, 32)
    assert loaded is not None
    assert (loaded.frequent, loaded.source) == (C, "training modules")
    for name in ("after", "between_key", "between_token"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(fitted, name))
    for name, size in sizes.items():
        np.testing.assert_array_equal(loaded.sizes[name], size)


def test_missing_damaged_or_foreign_baselines(fitted: Baselines, tmp_path: Path) -> None:
    assert Baselines.load(tmp_path, 32) is None
    path = fitted.save(tmp_path)
    with pytest.raises(ModelError, match="made with a tokenizer of 32 tokens, and the model's has 33"):
        Baselines.load(tmp_path, 33)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ModelError, match="models verify"):
        Baselines.load(tmp_path, 32)


def test_checksums_cover_them(fitted: Baselines, model_folder: Path, tmp_path: Path) -> None:
    for path in model_folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    digest = load_files(tmp_path).digest
    path = fitted.save(tmp_path)
    seal(tmp_path)
    assert BASELINES_FILE in verify_files(tmp_path)
    assert load_files(tmp_path).digest == digest  # no vector depends on them
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(ModelError, match=BASELINES_FILE):
        verify_files(tmp_path)
