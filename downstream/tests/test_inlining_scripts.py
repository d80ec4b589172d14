"""The scripts of `downstream/inlining` in miniature: rows add up, and none is larger than -Oz."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.pass_lists import level
from mirenc.tools.inline import calls_of

FOLDER = Path(__file__).resolve().parents[2] / "downstream" / "inlining"
SOURCE = """static int work(int x) { return (x ^ 7) * 5 + (x >> 3); }
int first(int x) { return work(x) + work(x + 1); }
int second(int x) { return work(x) * work(x - 2); }
"""


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"inlining_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def text(tmp_path: Path) -> str:
    (tmp_path / "code.c").write_text(SOURCE)
    words = ["clang-19", "-Oz", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o", "-", "code.c"]
    return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout


@pytest.mark.needs("clang-19")
def test_no_row_is_larger_than_oz(text: str, tmp_path: Path) -> None:
    saved = script("saved")
    (tmp_path / "code.ll").write_text(text)
    lists = [*[level("O2")] * 14, *[level("Os")] * 6]
    with SharedEngine(19) as engine:
        record = saved.measure_file(engine, tmp_path / "code.ll", lists, [20])
    assert record["calls"] == 4
    rows = record["saved"]["20"]
    assert set(rows) == set(saved.TITLES)
    assert max(rows.values()) <= record["oz"]
    assert not (tmp_path / "code.scratch.o").exists()


def test_a_table_is_of_means_over_files() -> None:
    saved = script("saved")
    rows = [
        {"project": name, "calls": calls, "oz": 100, "saved": {"20": dict.fromkeys(saved.TITLES, 100 - won)}}
        for name, calls, won in (("a", 1, 10), ("b", 0, 0), ("lz4", 3, 40))
    ]
    head, *lines = saved.table(rows, [20])
    assert head[0] == "3 files of 3 projects"
    mean = 100 * (1 - np.exp(np.mean(np.log([0.9, 1.0, 0.6]))))
    assert all(line[1].startswith(f"{mean:.2f} [") for line in lines)
    assert [line[-1] for line in lines] == ["16.67"] * 5
    assert [line[4][:4] for line in lines] == ["", "", "", "", "0.00"]
    assert saved.shares_by_project(rows, "20")["lz4"]["both"] == 40.0


@pytest.mark.needs("clang-19")
def test_what_a_head_gets_of_a_change(text: str, tmp_path: Path) -> None:
    ordering = script("ordering")
    (tmp_path / "code.ll").write_text(text)
    calls = calls_of(text)
    features = ordering.llvm_facts(tmp_path / "code.ll", calls)
    assert sorted(features) == [0, 1, 2, 3]
    cost = ordering.NAMES.index("cost_estimate")
    module = ordering.Module(
        "a",
        False,
        100,
        np.array([5.0, -2.0, 0.0, 7.0]),
        np.zeros((4, 3)),
        np.array([*features.values()]),
        np.zeros((4, 1)),
    )
    over = ordering.threshold(module, 5)
    assert over == pytest.approx(5 - module.llvm[:, cost])  # nothing is inlined: what costs least is far below
    sizes = ordering.size_facts(calls, [True, False, False, False], {"work": 40, "first": 30}, (2, 3))
    assert sizes == [40, pytest.approx(np.nan, nan_ok=True), 4, 1, 2, 2, 0, False, True]


def test_the_best_of_the_first_counts() -> None:
    ordering = script("ordering")
    saved = np.array([0.0, -3.0, 20.0, 5.0, 1.0, 2.0, 10.0])
    module = ordering.Module("a", True, 100, saved, saved[:, None], np.full((7, 1), np.nan), np.eye(7)[:, :2])
    assert ordering.log_gain(module, saved) == pytest.approx(-np.log(0.8))
    assert ordering.log_gain(module, -saved) == pytest.approx(-np.log(0.95))  # all but the two best
    train = [module._replace(saved=saved + seed, sizes=saved[:, None]) for seed in range(20)]
    assert np.argmax(ordering.fit_order(train, ["sizes"])(module)) == 2
