"""The recipe `pretrain/function_pools.py`, which is no package: its figures by hand, and a run in miniature."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "ir"
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
def pools(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "pretrain")
    return importlib.import_module("function_pools")


@pytest.fixture
def forms(pools: ModuleType) -> Any:
    return sys.modules["function_forms"]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Fixtures by two compilers at two levels, as `compile_pairs.py` lays them out."""
    for (project, names), compiler, level in itertools.product(
        PROJECTS.items(), ("clang-14", "clang-19"), ("O0", "O2")
    ):
        for name in names:
            target = tmp_path / "pairs" / compiler / project / level / f"{name}.ll"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(FIXTURES / compiler / level / f"{name}.ll", target)
    return tmp_path / "pairs"


def run(pools: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path, *more: str) -> dict[str, Any]:
    """What the command line writes about a folder."""
    out, work = folder.parent / "out", folder.parent / "work"
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["function_pools.py", str(folder), str(out), "--work", str(work), *more])
        pools.main()
    record: dict[str, Any] = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert out.with_suffix(".md").read_text(encoding="utf-8") == pools.markdown(record)
    return record


@pytest.mark.parametrize(("nearer", "equal"), [(0, 0), (3, 0), (0, 2), (2, 3), (7, 0), (4, 3)])
def test_a_pool_drawn_at_random_in_expectation(pools: ModuleType, nearer: int, equal: int) -> None:
    others, drawn = 7, 3
    recall, reciprocal, cases = 0.0, 0.0, 0
    # The query's own is among the equals at any place; every pool that can be drawn.
    for before in range(equal + 1):
        for pool in itertools.combinations(range(others), drawn):
            rank = 1 + sum(each < nearer + before for each in pool)
            recall, reciprocal, cases = recall + (rank == 1), reciprocal + 1 / rank, cases + 1
    found = pools.expected(np.array([nearer]), np.array([equal]), others, drawn)
    np.testing.assert_allclose(found["recall_at_1"], recall / cases)
    np.testing.assert_allclose(found["mrr"], reciprocal / cases)


def test_all_drawn_is_the_rank_itself(pools: ModuleType) -> None:
    found = pools.expected(np.array([0, 1, 4]), np.zeros(3, dtype=int), 6, 6)
    np.testing.assert_allclose(found["recall_at_1"], [1, 0, 0])
    np.testing.assert_allclose(found["mrr"], [1, 1 / 2, 1 / 5])


def test_simulated_pools_of_100(pools: ModuleType) -> None:
    generator = np.random.default_rng(1)
    own, rest = 0.9, generator.random(400)
    nearer = int((rest > own).sum())
    drawn = np.array([generator.permutation(rest)[:99] for _ in range(4000)])
    rank = 1 + (drawn > own).sum(1)
    found = pools.expected(np.array([nearer]), np.array([0]), 400, 99)
    assert abs(found["mrr"][0] - (1 / rank).mean()) < 5 * (1 / rank).std() / 4000**0.5
    own = np.sort(rest)[-3]  # two are nearer
    hits = (drawn > own).sum(1) == 0
    found = pools.expected(np.array([2]), np.array([0]), 400, 99)
    assert abs(found["recall_at_1"][0] - hits.mean()) < 5 * 0.5 / 4000**0.5


def test_who_stands_before_a_querys_own(pools: ModuleType) -> None:
    scores = np.array([[0.5, 0.9, 0.5], [0.1, 0.3, 0.2], [0.7, 0.8, 0.6]], dtype=np.float32)
    nearer, equal = pools.standing(scores)
    np.testing.assert_array_equal(nearer, [1, 0, 2])
    np.testing.assert_array_equal(equal, [1, 0, 0])


def test_csls_by_hand(pools: ModuleType) -> None:
    project = np.array([0, 0, 1, 2])
    scores = np.array(
        [[0.9, 0.1, 0.8, 0.3], [0.2, 0.7, 0.6, 0.4], [0.5, 0.3, 0.9, 0.2], [0.4, 0.6, 0.1, 0.8]], dtype=np.float32
    )
    found = pools.with_csls(scores, project, nearest=1)
    # Query 0, candidate 0, both of project 0: queries 2 and 3 are left, the nearer has 0.5.
    assert found[0, 0] == pytest.approx(2 * 0.9 - 0.5)
    # Query 0 and candidate 2, of projects 0 and 1: query 3 is left.
    assert found[0, 2] == pytest.approx(2 * 0.8 - 0.1)
    # Query 2 and candidate 3, of projects 1 and 2: queries 0 and 1 are left.
    assert found[2, 3] == pytest.approx(2 * 0.2 - 0.4)
    alone = pools.with_csls(scores, np.zeros(4, dtype=int), nearest=1)
    np.testing.assert_allclose(alone, 2 * scores)


def test_blocks_are_centred_by_their_form(pools: ModuleType) -> None:
    vectors = np.array([[1, 0, 5], [3, 0, 5], [0, 2, 1], [0, 6, 3]], dtype=np.float32)
    made = pools.centred(vectors, [slice(2), slice(2, 3)], np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(made, [[-1, 0, 0], [1, 0, 0], [0, -1, -1], [0, 1, 1]])


def test_settings_draw_the_forms_they_name(pools: ModuleType) -> None:
    every = list(itertools.product(("a", "b"), pools.LEVELS))
    main = ("a", "O0"), ("b", "O2")
    drawn = {
        setting: [pools.drawn_forms(setting, ("p", "f", str(number)), every, main) for number in range(300)]
        for setting in pools.SETTINGS
    }
    assert set(drawn["O0-O2"]) == {main}
    assert {(one[0] == other[0], one[1] == other[1]) for one, other in drawn["XO"]} == {(True, False)}
    assert {one[0] == other[0] for one, other in drawn["XC"]} == {False}
    assert {one[1] == other[1] for one, other in drawn["XC"]} == {True, False}
    assert {one[0] == other[0] for one, other in drawn["XM"]} == {True, False}
    assert all(one != other for one, other in drawn["XM"])
    assert {one for pair in drawn["XM"] for one in pair} == set(every)
    assert pools.drawn_forms("XO", ("p", "f", "g"), [("a", "O0"), ("b", "O2")], main) is None
    assert pools.drawn_forms("XC", ("p", "f", "g"), [("a", "O0"), ("a", "O2")], main) is None


def test_of_functions_that_no_vector_tells_apart_the_first_is_kept(
    pools: ModuleType, forms: Any, tmp_path: Path
) -> None:
    for compiler, level in (("a", "O0"), ("b", "O2")):
        (tmp_path / "ir" / compiler / "p" / level).mkdir(parents=True)
        (tmp_path / "ir" / compiler / "p" / level / "x.ll").write_text(TWINS, encoding="utf-8")
    programs = forms.programs_of(tmp_path / "ir", ("a", "b"), pools.LEVELS)
    assert programs == {("p", "x.ll"): {("a", "O0"): "a/p/O0/x.ll", ("b", "O2"): "b/p/O2/x.ll"}}
    left = {}
    for names in ("written", "hidden"):
        store = forms.Store(tmp_path / "ir", tmp_path / "work", names)
        assert store.count(["a/p/O0/x.ll", "b/p/O2/x.ll"]) == []
        functions = pools.functions_of(store, programs)
        # Hidden names are numbers, and their functions are known by what they were called.
        assert [name for *_, name in functions] == ["first", "second", "twin"]
        pairs = pools.pairs_of("O0-O2", functions, (("a", "O0"), ("b", "O2")), 3, 10)
        left[names] = [pair.key[2] for pair in pairs]
        bags = store.bags([pair.query for pair in pairs], ["whole"]).toarray()
        assert bags.shape == {"written": (2, 4), "hidden": (1, 3)}[names]
    assert left == {"written": ["first", "second"], "hidden": ["first"]}
    assert len(pools.pairs_of("O0-O2", functions, (("a", "O0"), ("b", "O2")), 4, 10)) == 0  # instructions


def test_ir_that_a_folder_keeps_once_is_there_at_both_levels(forms: Any, tmp_path: Path) -> None:
    from mirenc.sources.ir_folder import IRFolder, IRRecord

    with IRFolder(tmp_path / "a") as folder:
        for level, digest in (("O0", "1"), ("O2", "2"), ("O3", "2")):
            folder.add(IRRecord("p", "1", "src/x.c", "c", level, "a", digest, 9, "ok"), b"; IR")
    found = forms.programs_of(tmp_path, ["a"], ["O0", "O2", "O3"])
    places = {("a", "O0"): "a/p/O0/src__x.c.ll", ("a", "O2"): "a/p/O2/src__x.c.ll", ("a", "O3"): "a/p/O2/src__x.c.ll"}
    assert found == {("p", "src__x.c.ll"): places}


def test_a_run_in_miniature(pools: ModuleType, monkeypatch: pytest.MonkeyPatch, pairs: Path) -> None:
    models = ["--models", "mirenc-tiny", "mirenc-fast"]
    record = run(pools, monkeypatch, pairs, *models)
    assert record["programs"] == record["programs_in_every_form"] == 4
    assert record["unread"] == []
    settings = record["names"]
    assert {len(each["rows"]) for way in settings.values() for each in way.values()} == {7 + 7 + 11}
    for way in settings.values():
        main = way["O0-O2"]
        assert main["projects"] == 3
        assert main["files"] == 4
        assert main["functions"] == sum(main["sizes"].values()) > 10
        for each in main["rows"].values():
            assert each["small"]["recall_at_1"] == each["large"]["recall_at_1"]  # all are fewer than 100
        # Of four files, what else is in a query's says more than its own code does where that is another's.
        right, copied = (
            main["rows"][f"mirenc-fast, {row}"]["large"]["recall_at_1"] for row in ("re-ranked", pools.COPIED)
        )
        assert right >= copied
        over = main["rows"]["mirenc-fast"]["large"]["over"]["bag of terms"]["recall_at_1"]
        mean, low, high = over["projects"]
        rows = [main["rows"][row]["large"]["recall_at_1"] for row in ("mirenc-fast", "bag of terms")]
        assert mean == pytest.approx(rows[0] - rows[1], abs=2e-5)
        assert low <= mean <= high
    recall = {way: settings[way]["O0-O2"]["rows"]["mirenc-fast"]["large"]["recall_at_1"] for way in settings}
    assert recall["written"] >= recall["hidden"] > 0.5  # by chance one in more than ten
    # What is kept is not read again, and makes the same record; newer IR is read.
    kept = {path: path.stat().st_mtime_ns for path in (pairs.parent / "work").glob("[cv]*/**/*.np?")}
    assert len(kept) == 16 * 2 * 3
    assert run(pools, monkeypatch, pairs, *models) == record
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    changed = pairs / "clang-14" / "two" / "O0" / "reduce.ll"
    os.utime(changed, ns=(changed.stat().st_atime_ns, max(kept.values()) + 10**9))
    run(pools, monkeypatch, pairs, *models)
    again = {path for path, stamp in kept.items() if path.stat().st_mtime_ns != stamp}
    assert {path.name for path in again} == {"reduce.ll.npz", "reduce.ll.npy"}
    assert len(again) == 2 * 3
