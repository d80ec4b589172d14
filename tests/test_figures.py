"""README.md and docs/figures.md show the tables and figures of the records, and no others."""

from __future__ import annotations

import re

import pytest
from recorded_figures import (
    FIGURES,
    MARKS,
    NO_WORDS,
    PHRASES,
    PICTURES,
    PROGRAM_SETTINGS,
    README,
    ROOT,
    SEARCH,
    SETTINGS,
    TABLES,
    load,
    pool,
    program_cell,
    program_scores,
    rows_of,
)

from mirenc.encoder.weights import load_files

# What has a digit and is no figure.
NAME = re.compile(r"`[^`]*`|clang-\d+|-O[0-3z]|llvm-ir2vec|Recall@1|IR2Vec(?: 2\.1\.1)?|H200|95 %")


def text_of(document: str) -> str:
    """In one line, so that it does not matter where a sentence is broken."""
    return " ".join((ROOT / document).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("document", TABLES)
def test_the_tables_are_those_of_the_records(document: str) -> None:
    shown = {name: body for _, name, body, _ in MARKS.findall((ROOT / document).read_text(encoding="utf-8"))}
    expected = {name: f"{write()}\n" for name, write in TABLES[document].items()}
    assert shown == expected, "type: python scripts/recorded_figures.py"


@pytest.mark.parametrize("picture", PICTURES)
def test_the_pictures_are_those_of_the_records(picture: str) -> None:
    assert (ROOT / picture).read_text(encoding="utf-8") == PICTURES[picture](), (
        "type: python scripts/recorded_figures.py"
    )


@pytest.mark.parametrize(("document", "phrase"), [(name, phrase) for name in PHRASES for phrase in PHRASES[name]])
def test_a_record_says_so(document: str, phrase: str) -> None:
    assert phrase in text_of(document)


@pytest.mark.parametrize(
    ("document", "first", "last"),
    [(README, "## How good is it?", "## Where to read on"), (FIGURES, "# How good it is", "## Speed")],
)
def test_no_other_figure_stands_there(document: str, first: str, last: str) -> None:
    text = MARKS.sub(" ", text_of(document))
    text = text[text.index(first) : text.index(last)]
    for phrase in sorted(PHRASES[document], key=len, reverse=True):
        text = text.replace(phrase, " ")
    assert re.findall(r"\S*\d\S*", NAME.sub(" ", text)) == []


def test_where_functions_are_found_above_the_best_bag() -> None:
    """What the documents say in words: by more than the interval, over the same forms, among all of each setting."""

    def above(row: tuple[str, str], names: str) -> list[str]:
        method, rule = row
        settings = {setting: pool(names, setting)["rows"][rule][method]["large"] for setting in SETTINGS}
        return [setting for setting, one in settings.items() if one["over_best_bag"][1] > 0]

    for row in (SEARCH, NO_WORDS):
        assert above(row, "written") == above(row, "hidden") == list(SETTINGS)


def test_what_a_search_calls_right_is_what_the_record_says() -> None:
    paired = load_files("mirenc-search").config.paired
    assert paired is not None
    calibration = load("pretrain/function_pools_large.json")["names"]["written"]["O0-O2"]["by_cosine"]["mirenc-search"]
    shares = [share for _, count, share in calibration if count >= 20]
    assert [paired.sure(0.45 + tenth / 10) for tenth in range(6)] == shares
    assert {paired.sure(low) for low in (-1, 0.05, 0.35)} == {shares[0]}  # too few had such a cosine


@pytest.mark.parametrize(("names", "above"), [("written", "C, -O0 to -O2"), ("hidden", "")])
def test_where_programs_are_found_above_the_bags(names: str, above: str) -> None:
    scores = zip(PROGRAM_SETTINGS, program_scores(names, "mirenc-fast both", "O2"), strict=True)
    assert ", ".join(setting for setting, score in scores if program_cell(score).startswith("**")) == above


@pytest.mark.parametrize(
    ("names", "better", "by_form"),
    [
        ("written", {"C", "-O0 to -O2"}, ["itself, -O0 to -O2"]),
        ("hidden", {"C"}, ["C++", "-O0 to -O2", "itself, -O0 to -O2"]),
    ],
)
def test_what_learning_adds_to_the_words_of_programs(names: str, better: set[str], by_form: list[str]) -> None:
    """What the documents say in words; where the form O2 gains; nowhere is the model below its own words."""
    scores = dict(zip(PROGRAM_SETTINGS, program_scores(names, "mirenc-fast both", "O2"), strict=True))
    over = {setting: score["over"]["its words"] for setting, score in scores.items()}
    assert {setting for setting, (_, low, _) in over.items() if low > 0} == better
    assert min(high for _, _, high in over.values()) >= 0
    assert [setting for setting, score in scores.items() if score["over"]["plain"][1] > 0] == by_form


def test_what_is_not_told_apart() -> None:
    """Where the documents say that code tells nothing, the interval has the other side in it."""
    in_time = rows_of("device_mapping/nvidia.kernel")["both"]["speedup_gain_interval"]
    coarsening = rows_of("thread_coarsening/kernel")["both"]["speedup_interval"]
    openmp = rows_of("openmp/kernel")["both"]["speedup_gain_interval"]
    for low, high in (in_time, coarsening, openmp):
        assert low < 1 < high
    for row in ("hand", "ir2vec"):
        assert rows_of("device_mapping/nvidia.kernel")[row]["speedup_gain_interval"][0] > 1
    lists = load("downstream/passes/pass_list.held_out.json")["figures"]
    for row in ("histogram", "ir2vec", "both"):
        low, high = lists[row]["speedup_gain_interval"]
        assert low < 1 < high
