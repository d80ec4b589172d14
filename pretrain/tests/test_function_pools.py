"""The recipe `pretrain/function_pools.py`, which is no package: its figures by hand, and a run in miniature."""

import importlib
import itertools
import json
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mirenc.llvm.sources.compile_programs import Program

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "ir"
RECIPE = "function_pools"
# Text that LLVM 22 reads without an older clang.
PROJECTS = {"one": ("control_flow", "numeric"), "two": ("reduce",), "three": ("structs",)}
# Two functions that differ in what they call, and one that is the first's twin.
TWINS = """define i32 @first(i32 %x) {
  %y = call i32 @help(i32 %x)
  %z = add i32 %y, 7
  ret i32 %z
}
define i32 @second(i32 %x) {
  %y = call i32 @other(i32 %x)
  %z = add i32 %y, 7
  ret i32 %z
}
define i32 @twin(i32 %a) {
  %b = call i32 @help(i32 %a)
  %c = add i32 %b, 7
  ret i32 %c
}
declare i32 @help(i32)
declare i32 @other(i32)
"""


@pytest.fixture
def forms(script: ModuleType) -> Any:
    return sys.modules["function_forms"]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Fixtures by two compilers at two levels, as `compile_pairs.py` lays them out."""
    for (project, names), compiler, level in itertools.product(
        PROJECTS.items(), ("clang-14", "clang-19"), ("O0", "O2")
    ):
        for name in names:
            target = tmp_path / "pairs" / compiler / project / level / f"{name}.c.ll"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(FIXTURES / compiler / level / f"{name}.ll", target)
    return tmp_path / "pairs"


def run(script: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path, *more: str) -> dict[str, Any]:
    """What the command line writes about a folder."""
    out, work = folder.parent / "out", folder.parent / "work"
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["function_pools.py", str(folder), str(out), "--work", str(work), *more])
        script.main()
    record: dict[str, Any] = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert out.with_suffix(".md").read_text(encoding="utf-8") == script.markdown(record)
    return record


@pytest.mark.parametrize(("nearer", "equal"), [(0, 0), (3, 0), (0, 2), (2, 3), (7, 0), (4, 3)])
def test_a_pool_drawn_at_random_in_expectation(script: ModuleType, nearer: int, equal: int) -> None:
    others, drawn = 7, 3
    recall, reciprocal, cases = 0.0, 0.0, 0
    # The query's own is among the equals at any place; every pool that can be drawn.
    for before in range(equal + 1):
        for pool in itertools.combinations(range(others), drawn):
            rank = 1 + sum(each < nearer + before for each in pool)
            recall, reciprocal, cases = recall + (rank == 1), reciprocal + 1 / rank, cases + 1
    figures = script.expected(np.array([nearer]), np.array([equal]), others, drawn)
    np.testing.assert_allclose(figures["recall_at_1"], recall / cases)
    np.testing.assert_allclose(figures["mrr"], reciprocal / cases)


def test_all_drawn_is_the_rank_itself(script: ModuleType) -> None:
    figures = script.expected(np.array([0, 1, 4]), np.zeros(3, dtype=int), 6, 6)
    np.testing.assert_allclose(figures["recall_at_1"], [1, 0, 0])
    np.testing.assert_allclose(figures["mrr"], [1, 1 / 2, 1 / 5])


def test_who_stands_before_a_querys_own(script: ModuleType) -> None:
    scores = np.array([[0.5, 0.9, 0.5], [0.1, 0.3, 0.2], [0.7, 0.8, 0.6]], dtype=np.float32)
    nearer, equal = script.standing(scores)
    np.testing.assert_array_equal(nearer, [1, 0, 2])
    np.testing.assert_array_equal(equal, [1, 0, 0])


def test_settings_draw_the_builds_they_name(script: ModuleType) -> None:
    every = dict.fromkeys(itertools.product(("a", "b"), script.LEVELS), "x.ll")
    groups = ["a+b", "flang", "c"]

    def drawn(setting: str, program: str, builds: Iterable[tuple[str, str]]) -> Any:
        return script.drawn_of(setting, {("p", program): dict.fromkeys(builds, "x.ll")}, groups).get(("p", program))

    assert drawn("O0-O2", "f", every) == (("a", "O0"), ("b", "O2"))
    assert drawn("O3-Os", "f", [("c", "Os"), ("c", "O3")]) == (("c", "O3"), ("c", "Os"))
    assert drawn("O0-O2", "f", [("a", "O0"), ("a", "O2")]) is None
    drawn_pairs = {str(number): drawn("XM", str(number), every) for number in range(300)}
    assert all(one != other for one, other in drawn_pairs.values())
    assert {one for pair in drawn_pairs.values() for one in pair} == set(every)
    # Drawn of all that there could be: what else a program has does not matter, and what lacks one of the two is out.
    assert all(drawn("XM", program, pair) == pair for program, pair in drawn_pairs.items())
    assert all(drawn("XM", program, every.keys() - {pair[0]}) is None for program, pair in drawn_pairs.items())
    assert {level for number in range(99) for _, level in script.drawn_builds("XM", number, ["flang"])} == {
        *("O0", "O1", "O2", "O3")
    }


def test_only_what_settings_draw_is_compiled(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "pretrain")
    compile_pairs = importlib.import_module("compile_pairs")
    program = Program("p", "src/x.c", "c", "a", Path(), {})
    query, candidate = script.drawn_builds("XM", ("p", "src__x.c.ll"), ["a", "b"])
    drawn = {name: compile_pairs.drawn_levels(["O0-Oz", "XM"], ["a", "b"], name, program) for name in ("a", "b")}
    assert {(name, level) for name, levels in drawn.items() for level in levels} == {
        ("a", "O0"),
        ("b", "Oz"),
        query,
        candidate,
    }


def test_each_side_has_the_form_of_its_rule(script: ModuleType) -> None:
    programs = {("p", "x"): {("a", level): f"{level}.ll" for level in script.LEVELS}}

    def readings(query: str, candidate: str, *rules: str) -> set[tuple[str, str]]:
        drawn = {("p", "x"): (("a", query), ("a", candidate))}
        return script.readings_of(drawn, programs, [script.RULES[rule] for rule in rules]) - {
            (f"{level}.ll", "plain") for level in (query, candidate)
        }

    assert readings("O0", "O2", "plain") == set()
    assert readings("O0", "O2", "auto") == {("O0.ll", "O2"), ("O2.ll", "O2")}
    assert readings("O0", "Oz", "auto") == {("O0.ll", "O2"), ("Oz.ll", "O2")}


def test_of_functions_that_no_vector_tells_apart_the_first_is_kept(
    script: ModuleType, forms: Any, tmp_path: Path
) -> None:
    for compiler, level in (("a", "O0"), ("b", "O2")):
        (tmp_path / "ir" / compiler / "p" / level).mkdir(parents=True)
        (tmp_path / "ir" / compiler / "p" / level / "x.ll").write_text(TWINS, encoding="utf-8")
    programs = forms.programs_of(tmp_path / "ir", ("a", "b"), script.LEVELS)
    assert programs == {("p", "x.ll"): {("a", "O0"): "a/p/O0/x.ll", ("b", "O2"): "b/p/O2/x.ll"}}
    drawn = {("p", "x.ll"): (("a", "O0"), ("b", "O2"))}
    left = {}
    for names in ("written", "hidden"):
        store = forms.Store(tmp_path / "ir", tmp_path / "work", "mirenc-tiny", names)
        assert store.read([("a/p/O0/x.ll", "plain"), ("b/p/O2/x.ll", "plain")]) == []
        # Hidden names are numbers, and their functions are known by what they were called.
        assert list(store.places("a/p/O0/x.ll", "plain")) == ["first", "second", "twin"]
        pairs = script.pairs_of(store, drawn, programs, 3)
        left[names] = [pair.key[2] for pair in pairs]
        bags = store.bags([pair.places[0] for pair in pairs], ["whole"]).toarray()
        assert bags.shape == {"written": (2, 4), "hidden": (1, 3)}[names]
        assert len(script.pairs_of(store, drawn, programs, 4)) == 0  # instructions
    assert left == {"written": ["first", "second"], "hidden": ["first"]}


def test_functions_that_passes_delete_are_there_once(forms: Any, tmp_path: Path) -> None:
    text = """
define internal i32 @gone(i32 %x) {
  %y = mul i32 %x, 7
  ret i32 %y
}
define i32 @stays(i32 %x) {
  %y = call i32 @gone(i32 %x)
  %z = add i32 %y, 1
  ret i32 %z
}
"""
    (tmp_path / "ir" / "a" / "p" / "O0").mkdir(parents=True)
    (tmp_path / "ir" / "a" / "p" / "O0" / "x.ll").write_text(text, encoding="utf-8")
    for names in ("written", "hidden"):
        store = forms.Store(tmp_path / "ir", tmp_path / "work", "mirenc-tiny", names)
        assert store.read([("a/p/O0/x.ll", "O2")]) == []
        places = store.places("a/p/O0/x.ll", "O2")
        # The call has become the mul of what it called.
        assert {name: place.size for name, place in places.items()} == {"stays": 3, "gone": 2}
        assert store.vectors(list(places.values())).shape == (2, store.encoder(names).dimension)


def test_scores_take_the_forms_of_the_rule(script: ModuleType, forms: Any) -> None:
    builds = [(("a", "O0"), ("b", "Oz")), (("a", "Os"), ("b", "O2"))]
    pairs = [
        script.Pair(
            ("p", "f", str(at)), both_builds, tuple(forms.Place(f"{at}{side}", "plain", 0, 9, b"") for side in (0, 1))
        )
        for at, both_builds in enumerate(builds)
    ]

    class AllThere:
        def places(self, file: str, form: str) -> dict[str, Any]:
            return {file[0]: forms.Place(file, form, 0, 9, b"")}

    sides = script.Sides(AllThere(), pairs, ("Oz", "O2"))
    number = {(place.file, place.form): at for at, place in enumerate(sides.places)}
    column = {"00 Oz": 0, "10 Oz": 1, "01 O2": 0, "11 O2": 2}
    assert {f"{file} {form}" for file, form in number} == set(column)
    rows = np.zeros((len(number), 4))
    for place, at in number.items():
        rows[at, column[" ".join(place)]] = 1
    np.testing.assert_array_equal(sides.scores(rows), [[1, 0], [0, 0]])


def test_ir_that_a_folder_keeps_once_is_there_at_both_levels(forms: Any, tmp_path: Path) -> None:
    from mirenc.llvm.sources.ir_folder import IRFolder, IRRecord

    with IRFolder(tmp_path / "a") as folder:
        for level, digest in (("O0", "1"), ("O2", "2"), ("O3", "2")):
            folder.add(IRRecord("p", "1", "src/x.c", "c", level, "a", digest, 9, "ok"), b"; IR")
    programs = forms.programs_of(tmp_path, ["a"], ["O0", "O2", "O3"])
    places = {("a", "O0"): "a/p/O0/src__x.c.ll", ("a", "O2"): "a/p/O2/src__x.c.ll", ("a", "O3"): "a/p/O2/src__x.c.ll"}
    assert programs == {("p", "src__x.c.ll"): places}


def test_a_run_in_miniature(script: ModuleType, monkeypatch: pytest.MonkeyPatch, pairs: Path) -> None:
    levels = ["--levels", "O0", "O2", "--settings", "O0-O2", "O2-O0", "XM"]
    record = run(script, monkeypatch, pairs, *levels)
    assert record["programs"] == 4
    assert record["unread"] == []
    for by_setting in record["names"].values():
        main = by_setting["O0-O2"]
        assert main["projects"] == {"C": 3}
        assert main["files"] == 4
        assert main["functions"] == main["by"]["C"] == sum(main["by"][size] for size in script.SIZES) > 10
        assert main["rows"].keys() == {"plain", "auto"}  # nothing was built for size
        for row in main["rows"]["auto"].values():
            assert row["small"]["recall_at_1"] == row["large"]["recall_at_1"]  # all are fewer than 100
            assert row["large"]["by"]["C"] == row["large"]["recall_at_1"]
        rows = main["rows"]["auto"]
        ours = rows[script.MODEL]["large"]
        mean, low, high = ours["over_best_bag"]
        assert mean == pytest.approx(
            ours["recall_at_1"][0] - rows[ours["best_bag"]]["large"]["recall_at_1"][0], abs=2e-4
        )
        assert low <= mean <= high
        # By chance one in more than ten.
        assert rows[script.MODEL]["large"]["recall_at_1"][0] > 0.5
    # What is kept is not read again, and makes the same record; newer IR is read.
    stamps = {path: path.stat().st_mtime_ns for path in (pairs.parent / "work").glob("*/mirenc-search-*/**/*.npz")}
    assert len(stamps) == 16 * 2 * 2  # forms, ways with names
    assert run(script, monkeypatch, pairs, *levels) == record
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps
    changed = pairs / "clang-14" / "two" / "O0" / "reduce.c.ll"
    os.utime(changed, ns=(changed.stat().st_atime_ns, max(stamps.values()) + 10**9))
    run(script, monkeypatch, pairs, *levels)
    again = {path for path, stamp in stamps.items() if path.stat().st_mtime_ns != stamp}
    assert {path.name for path in again} == {"reduce.c.ll.npz"}
    assert len(again) == 2 * 2
