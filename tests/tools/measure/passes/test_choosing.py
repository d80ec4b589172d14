"""Choosing pieces: no copies, spread over projects and files, the same for the same seed, and a beginning of more."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mirenc.tools.measure.passes.choosing import Candidate, Chosen, Scan, choose, is_worth_it
from mirenc.tools.measure.passes.inputs import IRFile


def corpus(**projects: int) -> tuple[list[IRFile], list[Scan]]:
    """Projects of so many files; each has a module and five functions."""
    files, scans = [], []
    for project, count in projects.items():
        for number in range(count):
            name = f"{project}/{number}.c"
            files.append(IRFile(Path(f"{name}.ll"), project, f"{number}.c", project.startswith("held"), name))
            symbols = ("", *(f"f{index}" for index in range(5)))
            sizes = [50 if symbol else 1000 for symbol in symbols]
            candidates = (Candidate(one, f"{name}{one}", 4, size) for one, size in zip(symbols, sizes, strict=True))
            scans.append(Scan(tuple(candidates)))
    return files, scans


def names(pieces: tuple[Chosen, ...], level: str) -> list[str]:
    return [piece.name for piece in pieces if piece.level == level]


def test_the_beginning_is_spread_over_projects_and_files() -> None:
    choice = choose(*corpus(large=40, small=2, one=1), functions=9, modules=3, seed=0)
    functions = [piece for piece in choice.pieces if piece.symbol]
    assert Counter(piece.source.project for piece in functions) == {"large": 3, "small": 3, "one": 3}
    assert {piece.source.project for piece in functions[:3]} == {"large", "small", "one"}
    assert len({piece.source.file for piece in functions if piece.source.project == "large"}) == 3
    assert sorted(piece.source.project for piece in choice.pieces if not piece.symbol) == ["large", "one", "small"]
    assert choice.available == {"function": 215, "module": 43}


def test_functions_and_modules_come_in_turns() -> None:
    choice = choose(*corpus(large=40), functions=100, modules=10, seed=0)
    assert [sum(not piece.symbol for piece in choice.pieces[:end]) for end in (11, 55, 110)] == [1, 5, 10]


def test_a_smaller_choice_is_a_beginning_of_a_larger_one() -> None:
    small = choose(*corpus(large=40, small=2), functions=10, modules=4, seed=0)
    large = choose(*corpus(large=40, small=2), functions=100, modules=20, seed=0)
    for level in ("function", "module"):
        few = names(small.pieces, level)
        assert names(large.pieces, level)[: len(few)] == few


def test_the_seed_decides() -> None:
    one, same, other = (choose(*corpus(large=40), functions=20, modules=0, seed=seed).pieces for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_of_copies_one_stays_and_rather_the_held_out_one() -> None:
    files, scans = corpus(alpha=1, beta=1, held=1)
    copy = Candidate("copied", "same", 4, 50)
    scans = [Scan((*scan.candidates, copy)) for scan in scans]
    choice = choose(files, scans, functions=100, modules=10, seed=0)
    assert [piece.name for piece in choice.pieces if piece.symbol == "copied"] == ["held/0.c:copied"]
    assert choice.copies == 2


def test_a_training_module_that_holds_a_tested_function_is_left_out() -> None:
    files, scans = corpus(alpha=1, beta=1, held=1)
    bundled = Candidate("inflate", "same", 4, 50)
    # All have it. It is most of alpha's module, and a twentieth of beta's.
    scans = [Scan((*scan.candidates, bundled)) for scan in scans]
    scans[0] = Scan((Candidate("", "alpha/0.c", 4, 60), *scans[0].candidates[1:]))
    choice = choose(files, scans, functions=0, modules=10, seed=0)
    assert sorted(piece.name for piece in choice.pieces) == ["beta/0.c", "held/0.c"]
    assert choice.available["module"] == 2


@pytest.mark.parametrize(
    ("blocks", "instructions", "worth"),
    [(2, 11, False), (3, 5, True), (1, 12, True), (900, 4_000, True), (900, 4_001, False)],
)
def test_pieces_that_are_too_small_or_too_large_are_left_out(blocks: int, instructions: int, worth: bool) -> None:
    assert is_worth_it(Candidate("f", "", blocks, instructions)) is worth
