"""The small programs of `pretrain/`: what checks them, what measures with them, and a sample of them run.

All 200 under both compilers take four minutes of one core: `pretrain/check_small_programs.py` does that.
"""

import importlib
import random
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mirenc import parse_ir
from mirenc.encoder.domain_map import shrinkage_floor
from mirenc.llvm import statements_of
from mirenc.model.whitening import fit_whitening

PRETRAIN = Path(__file__).resolve().parents[2] / "pretrain"
COUNTING = """#include <stdio.h>
int main(void)
{
    int total = 0, next;
    while (scanf("%d", &next) == 1)
        total += next;
    printf("%d\\n", total);
    return 0;
}
"""
IR = """source_filename = "secret.c"
%struct.pair = type { i32, ptr }
@text = private constant [6 x i8] c"@text\\00"
@"odd name" = global %struct.pair zeroinitializer

define i32 @twice(i32 %text) {
entry:
  %known = call i32 @helper(i32 %text, ptr @text)
  %most = call i32 @llvm.smax.i32(i32 %known, i32 %text)
  %place = getelementptr %struct.pair, ptr @"odd name", i32 0, i32 1
  ret i32 %most
}

declare i32 @helper(i32, ptr)

declare i32 @llvm.smax.i32(i32, i32)
"""


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The scripts as modules; one imports another, as it does when it is run."""
    monkeypatch.syspath_prepend(PRETRAIN)
    names = ("check_small_programs", "compare_programs", "program_figures")
    return {name: importlib.import_module(name) for name in names}


@pytest.fixture
def checker(scripts: dict[str, ModuleType]) -> ModuleType:
    return scripts["check_small_programs"]


@pytest.fixture
def figures(scripts: dict[str, ModuleType]) -> ModuleType:
    return scripts["program_figures"]


def test_twenty_tasks_of_five_solutions_in_two_languages(checker: ModuleType) -> None:
    programs = checker.find_programs()
    assert Counter(path.parent.name for path in programs) == dict.fromkeys({path.parent.name for path in programs}, 10)
    assert Counter(path.name for path in programs) == {f"{n}.{s}": 20 for n in range(1, 6) for s in ("c", "cpp")}
    for path in programs:
        assert len(path.read_text(encoding="utf-8").splitlines()) in checker.LINES, path
        assert (path.parent / "a.in").exists()
    for input_file in checker.FOLDER.glob("*/*.in"):
        assert input_file.with_suffix(".out").read_text(encoding="utf-8").strip(), input_file


def test_no_two_programs_are_one_text(checker: ModuleType) -> None:
    texts = ["".join(path.read_text(encoding="utf-8").split()) for path in checker.find_programs()]
    assert len(set(texts)) == len(texts)


@pytest.mark.slow
@pytest.mark.needs("clang-19")
def test_a_sample_compiles_without_a_warning_and_prints_what_is_expected(checker: ModuleType) -> None:
    programs = checker.find_programs()
    generator = random.Random(14)
    sample = generator.sample([path for path in programs if path.suffix == ".c"], 8)
    sample += generator.sample([path for path in programs if path.suffix == ".cpp"], 4)
    assert {str(path): checker.check(path, "clang-19") for path in sample} == {str(path): "" for path in sample}


@pytest.mark.needs("clang-19")
@pytest.mark.parametrize(
    ("source", "expected", "problem"),
    [
        (COUNTING, "6\n", ""),
        (COUNTING, "  6", ""),
        (COUNTING, "7\n", "a.in: printed\n6\ninstead of\n7\n"),
        (COUNTING.replace("return 0", "return 3"), "6\n", "a.in: exit status 3"),
        (COUNTING.replace("total = 0, next", "total = 0, next, idle"), "6\n", "unused variable 'idle'"),
        (COUNTING.replace("total += next;", "for (;;) ;"), "6\n", "a.in: not done after 1 seconds"),
    ],
)
def test_the_check_finds(
    checker: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str, expected: str, problem: str
) -> None:
    monkeypatch.setattr(checker, "LINES", range(1, 91))
    monkeypatch.setattr(checker, "_SECONDS", 1 if "for (;;)" in source else 10)
    (tmp_path / "1.c").write_text(source, encoding="utf-8")
    (tmp_path / "a.in").write_text("1 2\n3\n", encoding="utf-8")
    (tmp_path / "a.out").write_text(expected, encoding="utf-8")
    report = checker.check(tmp_path / "1.c", "clang-19")
    assert problem in report if problem else report == ""


def test_hidden_names_leave_the_program_as_it_is(scripts: dict[str, ModuleType]) -> None:
    hide_names = scripts["compare_programs"].hide_names
    hidden = hide_names(IR)
    for name in ("secret", "twice", "helper", "odd name", "@text ", "struct.pair"):
        assert name not in hidden
    assert 'c"@text\\00"' in hidden
    assert "@llvm.smax.i32" in hidden
    before, after = statements_of(parse_ir(IR)), statements_of(parse_ir(hidden))
    np.testing.assert_array_equal(before.row, after.row)
    renamed = IR.replace("@twice", "@thrice").replace("@helper", "@aide").replace("struct.pair", "struct.duo")
    assert hide_names(renamed) == hidden


def test_map_at_r_by_hand(figures: ModuleType) -> None:
    right = np.array([True, False, True, True, False])
    # Ranked: right, wrong, right; the third right one comes too late. (1/1 + 0 + 2/3) / 3.
    ranking = figures.ranking_figures(np.array([0.9, 0.8, 0.7, 0.1, 0.2]), right)
    np.testing.assert_allclose(ranking, [(1 + 2 / 3) / 3, 1])
    np.testing.assert_array_equal(figures.ranking_figures(np.ones(5), right), [(1 / 3) / 3, 0])


def small_bank(figures: ModuleType) -> list:  # type: ignore[type-arg]
    """Six tasks, two solutions each, as the script orders them."""
    return [
        figures.Program(task, number, language, level, Path("none"))
        for task in "abcdef"
        for number in "12"
        for language in ("c", "cpp")
        for level in ("O0", "O2")
    ]


def test_vectors_that_tell_the_task_are_perfect_and_equal_ones_find_nothing(figures: ModuleType) -> None:
    programs = small_bank(figures)
    tasks = np.array([[program.task == task for task in "abcdef"] for program in programs], dtype=np.float64)
    vectors = {(bag, "plain"): np.ones((48, 6)) for bag in figures.BAGS} | {("tasks", "plain"): tasks}
    vectors |= {("tasks", "O2"): np.ones((48, 6))}
    methods = {key: figures.Method(key[0], each, [tasks]) for key, each in vectors.items()}
    rows = {(row["method"], row["form"]): row["settings"] for row in figures.pooled_rows(methods, programs)}
    equal, perfect = rows[figures.BAGS[0], "plain"], rows["tasks", "plain"]
    assert perfect.keys() == {*figures.SETTINGS, "itself, -O0 to -O2"}
    for setting in figures.SETTINGS:
        for figure in figures.FIGURES:
            assert equal[setting][figure]["mean"] == 0
            assert perfect[setting][figure]["mean"] == 1
            assert perfect[setting][figure]["interval"] == [1, 1]
            assert perfect[setting][figure]["over"] == {bag: [1, 1, 1] for bag in figures.BAGS}
            assert rows["tasks", "O2"][setting][figure]["over"]["plain"] == [-1, -1, -1]
    # Eight programs of a task are equally near, and the wrong ones stand first.
    assert perfect["itself, -O0 to -O2"]["recall_at_1"]["mean"] == 0
    lines = figures.table(figures.halved_rows(methods, programs, 2))
    assert any(line.startswith("| tasks | plain | 100.0 [100, 100] + / 100 |") for line in lines)


def test_a_program_itself_is_found_among_all_others(figures: ModuleType) -> None:
    programs = small_bank(figures)
    sources = sorted({program.source for program in programs})
    identity = np.array([[program.source == source for source in sources] for program in programs], dtype=np.float64)
    (row,) = figures.pooled_rows({("own", "plain"): figures.Method("own", identity, [identity])}, programs)
    assert row["settings"]["itself, -O0 to -O2"]["recall_at_1"]["mean"] == 1
    assert row["settings"]["-O0 to -O2"]["recall_at_1"]["mean"] == 0  # the program itself is no answer there


@pytest.mark.parametrize(
    ("bags", "standing"),
    [
        ([[0.1, 0.01, 0.2], [0.1, 0.02, 0.2]], 1),
        ([[0.1, -0.1, 0.2], [0.1, 0.02, 0.2]], 0),
        ([[-1, -2, -1], [1, 1, 1]], -1),
    ],
)
def test_a_row_stands_above_all_bags_or_below_one(figures: ModuleType, bags: list[list[float]], standing: int) -> None:
    assert figures.standing({"over": dict(zip(figures.BAGS, bags, strict=True))}) == standing


def test_ir_for_ir2vec_has_no_newer_attributes(scripts: dict[str, ModuleType]) -> None:
    newer = "  %3 = getelementptr inbounds nuw i8, ptr %0, i64 8\n  %4 = trunc nuw nsw i64 %1 to i32\n"
    newer += (
        "declare void @f(ptr writeonly captures(none) initializes((0, 8), (16, 24)), i8) memory(errnomem: write) #7\n"
    )
    expected = "  %3 = getelementptr inbounds i8, ptr %0, i64 8\n  %4 = trunc i64 %1 to i32\n"
    expected += "declare void @f(ptr writeonly, i8) #7\n"
    assert scripts["compare_programs"].older(newer) == expected
    assert scripts["compare_programs"].older("add <2 x i64> %a, splat (i64 2)") == "add <2 x i64> %a, zeroinitializer"


def test_a_map_is_fitted_on_its_rows_alone(figures: ModuleType) -> None:
    generator = np.random.default_rng(3)
    block = generator.normal(size=(440, 6)) @ generator.normal(size=(6, 6))
    rows, pairs = np.arange(400), np.arange(400).reshape(-1, 2)
    white = figures.apply_map(figures.Method("m", block, [block]), rows, None)
    floor = shrinkage_floor(block[rows])
    mean, matrix = fit_whitening(block[rows], floor=floor)
    np.testing.assert_allclose(white, (block - mean) @ matrix)
    spread = [np.linalg.eigvalsh(np.cov(each[rows], rowvar=False)) for each in (block, white)]
    assert spread[1][-1] / spread[1][0] < spread[0][-1] / spread[0][0] / 5
    long = figures.apply_map(figures.Method("m", block, [block, block], (1.0, 3.0)), rows, None)
    np.testing.assert_allclose(long, np.hstack([white, 3 * white]), atol=1e-5)
    changed = block.copy()
    changed[400:] *= 7
    for fitting_pairs in (None, pairs):
        before, after = (figures.apply_map(figures.Method("m", b, [b]), rows, fitting_pairs) for b in (block, changed))
        np.testing.assert_array_equal(before[:400], after[:400])
