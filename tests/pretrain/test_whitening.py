"""Which modules a whitening map is fitted on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mirenc.pretrain.whitening import choose_modules


@dataclass
class FakeCorpus:
    """What `choose_modules` asks of a corpus: sizes, and which modules are one program."""

    statement_total: Any
    programs: list[tuple[str, str]]


def corpus(levels: list[int], statements: int = 500) -> FakeCorpus:
    """One program for each number, with as many modules."""
    programs = [("project", f"{number}.c") for number, count in enumerate(levels) for _ in range(count)]
    return FakeCorpus(np.full(len(programs), statements), programs)


def choose(fake_corpus: FakeCorpus, modules: Any = None) -> tuple[Any, Any]:
    modules = np.arange(len(fake_corpus.programs)) if modules is None else modules
    return choose_modules(fake_corpus, modules, np.random.default_rng(0))  # type: ignore[arg-type]


def test_pairs_are_of_one_program_and_no_module_is_taken_twice() -> None:
    fake_corpus = corpus([1, 2, 3] * 300)
    chosen, pairs = choose(fake_corpus)
    assert len(chosen) == len(set(chosen.tolist()))
    assert len(pairs) == 600
    for first, second in chosen[pairs]:
        assert fake_corpus.programs[first] == fake_corpus.programs[second]
    assert len(chosen) == 1200  # as many as the pairs need; no more are drawn for a map that has these


def test_modules_without_a_partner_fill_up() -> None:
    chosen, pairs = choose(corpus([1] * 3000 + [2] * 20))
    assert (len(chosen), len(pairs)) == (1000, 20)
    chosen, pairs = choose(corpus([1] * 3000))
    assert (len(chosen), pairs.shape) == (1000, (0, 2))


def test_short_and_long_modules_are_left_out_where_there_are_enough_others() -> None:
    fake_corpus = corpus([2] * 900)
    fake_corpus.statement_total[:600] = 20
    fake_corpus.statement_total[600:700] = 100_000
    chosen, _ = choose(fake_corpus)
    assert set(chosen.tolist()) == set(range(700, 1800))
    fake_corpus.statement_total[:1400] = 20  # 400 are left: fewer than a map needs
    chosen, _ = choose(fake_corpus)
    assert set(chosen.tolist()) == set(range(1800))


def test_only_the_modules_passed_in_are_chosen() -> None:
    chosen, pairs = choose(corpus([2] * 50), np.arange(0, 100, 2))
    assert set(chosen.tolist()) == set(range(0, 100, 2))
    assert len(pairs) == 0


@pytest.mark.parametrize("count", [0, 1])
def test_no_module_or_one_gives_no_pairs(count: int) -> None:
    chosen, pairs = choose(corpus([1] * count))
    assert (len(chosen), pairs.shape) == (count, (0, 2))
