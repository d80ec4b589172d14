"""MLM figures of models whose answers are known; kinds of the pieces of statements, marked by hand."""

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mirenc.model.tokenizer import CLS, SEP, TokenizerConfig, train_tokenizer
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.evaluation import Baselines, NoFigureError
from mirenc.pretrain.evaluation.mlm import choose_distinct, choose_occurring, evaluate_mlm, token_kinds

A, B, C = 10, 11, 12
VOCABULARY = 32
TRUTH = [CLS, A, B, A, C, SEP]


class Known(nn.Module):
    """Says at each position the token of a given list, with a given score above the others'."""

    def __init__(self, answers: list[int], score: float) -> None:
        super().__init__()
        self.anchor = nn.Parameter(torch.zeros(1))
        self.answers = torch.tensor(answers)
        self.score = score

    @property
    def text(self) -> Callable[[Tensor], Tensor]:
        def encode(ids: Tensor) -> Tensor:
            return self.answers.expand(ids.shape)

        encode.token = SimpleNamespace(weight=None)  # type: ignore[attr-defined]
        return encode

    def mlm(self, tokens: Tensor, embedding: Tensor) -> Tensor:
        return self.score * nn.functional.one_hot(tokens, VOCABULARY)


@pytest.fixture(scope="module")
def corpus(make_corpus: Callable[..., Corpus]) -> Corpus:
    return make_corpus([TRUTH], [("p/a.ll", {0: 1}, 0, [])], VOCABULARY)


@pytest.fixture(scope="module")
def baselines(corpus: Corpus) -> Baselines:
    """Most frequent: A. Between [CLS] and B: A; A and A: B; B and C: A; A and [SEP]: C. So always right."""
    return Baselines.fit(corpus, np.array([0]))


ROWS = np.zeros(400, dtype=np.int64)


def test_a_perfect_model(corpus: Corpus, baselines: Baselines) -> None:
    figures = evaluate_mlm(Known(TRUTH, 50), corpus, ROWS, baselines)
    assert (figures["accuracy"], figures["perplexity"]) == (1, pytest.approx(1))
    assert figures["accuracy_neighbours"] == 1
    assert figures["errors_removed"] is None  # there were none
    assert figures["statements"] == 400
    # Two of the four tokens are the most frequent one: 240 positions, four standard deviations are 0.13.
    assert abs(figures["accuracy_most_frequent"] - 0.5) < 0.13
    assert abs(figures["positions"] - 240) < 4 * math.sqrt(1600 * 0.15 * 0.85)


def test_perplexity_by_hand(corpus: Corpus, baselines: Baselines) -> None:
    # The right token has probability e^s / (e^s + 31) = 1/2 with s = ln 31.
    figures = evaluate_mlm(Known(TRUTH, math.log(31)), corpus, ROWS, baselines)
    assert figures["perplexity"] == pytest.approx(2)


def test_a_model_that_always_says_the_most_frequent_token(corpus: Corpus, baselines: Baselines) -> None:
    figures = evaluate_mlm(Known([A] * 6, 50), corpus, ROWS, baselines)
    assert figures["accuracy"] == figures["accuracy_most_frequent"] < 1


def test_errors_removed_by_hand(corpus: Corpus, baselines: Baselines) -> None:
    # Without contexts, and with A after everything, the neighbours' baseline is the most frequent token.
    blunt = Baselines(
        "this folder", A, np.full(VOCABULARY, A, np.uint16), np.zeros(0, np.uint32), np.zeros(0, np.uint16), {}
    )
    # The model is right where A and B stand, the baseline where A stands: the errors at B are removed.
    figures = evaluate_mlm(Known([CLS, A, B, A, A, SEP], 50), corpus, ROWS, blunt)
    missed = 1 - figures["accuracy_neighbours"]
    assert figures["errors_removed"] == pytest.approx((figures["accuracy"] - figures["accuracy_neighbours"]) / missed)
    assert 0.2 < figures["errors_removed"] < 0.8  # half of the errors are at B
    assert evaluate_mlm(Known(TRUTH, 50), corpus, ROWS, blunt)["errors_removed"] == 1
    assert evaluate_mlm(Known([CLS] * 6, 50), corpus, ROWS, blunt)["errors_removed"] < 0


def test_kinds_of_tokens_are_told_apart(corpus: Corpus, baselines: Baselines) -> None:
    # The statement reads `word@word 7`: grammar, grammar, name, number. The model is wrong at the name.
    figures = evaluate_mlm(Known([CLS, A, B, B, C, SEP], 50), corpus, ROWS, baselines)
    assert {kind: one["accuracy"] for kind, one in figures["kinds"].items()} == {"grammar": 1, "name": 0, "number": 1}
    assert sum(one["positions"] for one in figures["kinds"].values()) == figures["positions"]
    assert figures["kinds"]["grammar"]["positions"] > 1.5 * figures["kinds"]["name"]["positions"]
    assert {one["accuracy_neighbours"] for one in figures["kinds"].values()} == {1}


def test_distinct_and_occurring_statements() -> None:
    counts = np.array([2, 0, 3])
    assert sorted(choose_distinct(counts, 10)) == [0, 2]
    assert choose_occurring(counts, 10).tolist() == [0, 0, 2, 2, 2]
    drawn = choose_occurring(np.array([1, 0, 9]) * 10_000, 1000)
    assert len(drawn) == 1000
    assert abs((drawn == 0).mean() - 0.1) < 0.04  # four standard deviations
    assert not (drawn == 1).any()
    assert len(choose_distinct(np.ones(50, dtype=np.int64), 7)) == 7
    assert len(choose_occurring(np.zeros(3, dtype=np.int64), 7)) == 0


def test_statements_without_ordinary_tokens_have_no_figure(
    make_corpus: Callable[..., Corpus], baselines: Baselines
) -> None:
    empty = make_corpus([[CLS, SEP]], [("p/a.ll", {0: 1}, 0, [])], VOCABULARY)
    with pytest.raises(NoFigureError, match="no statements"):
        evaluate_mlm(Known(TRUTH, 1), empty, np.zeros(0, dtype=np.int64), baselines)
    with pytest.raises(NoFigureError, match="no token of 1 statements"):
        evaluate_mlm(Known(TRUTH, 1), empty, np.zeros(1, dtype=np.int64), baselines)


# g grammar, n name or string, d digits; one letter a piece.
CASES = [
    (["%", " =", " load", " i32", ",", " ptr", " %"], "ggggggg"),
    ([" call", " void", " @", "foo", "_", "bar", ".", "1", "(", "ptr", " %", ")"], "gggnnnnngggg"),
    (["%", "struct", ".", "point", " =", " type", " {", " i32", " }"], "gnnnggggg"),
    ([" add", " i32", " %", ",", " 1"], "ggggd"),
    ([" mul", " i64", " %", ",", " -", "31"], "gggggd"),
    ([" fadd", " double", " %", ",", " 1", ".", "500000e", "+", "03"], "ggggddddd"),
    ([" double", " 0x", "3fe", "abc"], "gddd"),
    ([" [", "16", " x", " i", "8", "]"], "gdgggg"),
    (["@", ".", "str", " =", " c", '"', "hello", "\\", "00", '"', ",", " align", " 1"], "gnngggnnngggd"),
    (["@", '"', "my", " function", '"', "(", ")"], "ggnnggg"),
    ([" c", '"', "a", " <", " b", "<", '"', ",", " align", " 1"], "ggnnnngggd"),
    ([" br", " label", " %", ",", "!", "prof"], "gggggn"),
    (
        ["@", "std", ":", ":", "min", "<", "int", " *", ",", "a", "<", "b", ">", ">", "(", "ptr", " %", ")"],
        "gnnnnnnnnnnnnngggg",
    ),
    (["@", "operator", "<", "(", "ptr", ")"], "gngggg"),
    ([" fcmp", " olt", " <", "4", " x", " float", ">"], "gggdggg"),
    (["", " ret", " void", "", ""], "ggggg"),
]


@pytest.mark.parametrize(("pieces", "kinds"), CASES)
def test_kinds(pieces: list[str], kinds: str) -> None:
    assert "".join({"grammar": "g", "name": "n", "number": "d"}[kind] for kind in token_kinds(pieces)) == kinds


def test_of_a_real_tokenizer() -> None:
    """Whatever its pieces are: what stands in names is names, and the rest is not."""
    statement = "call void @cblas_dgemm(i32 %, double 1.000000e+00, ptr %)"
    tokenizer = train_tokenizer([statement, "ret i32 0"] * 3, TokenizerConfig(vocab_size=256))
    pieces = tokenizer.pieces(tokenizer.encode(statement))
    by_kind = dict.fromkeys(("grammar", "name", "number"), "")
    for piece, kind in zip(pieces, token_kinds(pieces), strict=True):
        by_kind[kind] += piece
    assert list(by_kind.values()) == ["call void @(i32 %, double, ptr %)", "cblas_dgemm", " 1.000000e+00"]
