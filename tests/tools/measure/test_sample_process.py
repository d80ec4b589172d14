"""Checking, calibrating and timing one sample, with a runner whose times are made up."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirenc.tools.measure import sample_process
from mirenc.tools.measure.runners import Cell, CellRefusedError, Runner
from mirenc.tools.measure.sample_process import BATCH, COPY, SETUP, measure

ASK = {
    "folder": "x",
    "driver": "d",
    "size": 7,
    "default": 0,
    "rounds": 6,
    "seed": [1],
    "limit": 10.0,
    "max_noise": 0.03,
}


class MadeUp(Runner):
    """Seconds a call by symbol; ``wrong`` gives other outputs, ``refused`` cannot run.

    The first ``disturbed`` batches of the copy take twice as long.
    """

    def __init__(self, seconds: dict[str, float], disturbed: int = 0) -> None:
        self.seconds, self.disturbed = seconds, disturbed
        self.batches: list[tuple[str, int]] = []

    def load(self, folder: Path, driver: str, size: int) -> None:
        assert (folder, driver, size) == (Path("x"), "d", 7)

    def outputs(self, cell: Cell) -> list[np.ndarray]:
        if cell.symbol == "refused":
            raise CellRefusedError("no room for it")
        return [np.array([cell.symbol == "wrong"])]

    def time(self, cell: Cell, calls: int) -> float:
        self.batches.append((cell.symbol, calls))
        self.disturbed -= cell.symbol == "copy"
        return calls * self.seconds[cell.symbol] * (2 if cell.symbol == "copy" and self.disturbed >= 0 else 1)


def cells(*symbols: str) -> dict[int, Cell]:
    return {COPY if name == "copy" else at: Cell((at,), (at,), symbol=name) for at, name in enumerate(symbols)}


def answer_of(runner: Runner, of: dict[int, Cell], **changes: Any) -> tuple[dict[str, Any], list[int]]:
    about: list[int] = []
    return measure(runner, of, ASK | changes, lambda index, seconds: about.append(index)), about


def test_costs_are_seconds_a_call_and_the_calls_fill_a_batch() -> None:
    runner = MadeUp({"default": 1e-6, "copy": 1e-6, "fast": 1e-7, "slow": 1e-5})
    answer, about = answer_of(runner, cells("default", "fast", "slow", "copy"))
    assert answer["label"] == pytest.approx({0: 1e-6, 1: 1e-7, 2: 1e-5, COPY: 1e-6})
    assert answer["report"] == answer["label"]
    assert (answer["dropped"], answer["failed"], answer["rounds"]) == ("", {}, 6)
    batches = dict(runner.batches)
    assert answer["calls"] == batches["default"] == batches["copy"] == batches["fast"]
    # As long as the default's, and no longer: what is slower is called less often.
    assert batches["default"] * 1e-6 == pytest.approx(BATCH, rel=0.1)
    assert batches["slow"] * 1e-5 == pytest.approx(BATCH, rel=0.1)
    assert about[0] == SETUP
    assert set(about) == {SETUP, 0, 1, 2, COPY}


def test_rounds_have_orders_of_their_own_and_a_seed_gives_them_again() -> None:
    def orders(seed: int) -> list[tuple[str, ...]]:
        runner = MadeUp(dict.fromkeys(("default", "copy", *"abcdef"), 1e-6))
        answer, _ = answer_of(runner, cells("default", *"abcdef", "copy"), rounds=20, seed=[seed])
        assert answer["rounds"] == 20
        timed = [symbol for symbol, _ in runner.batches[-20 * 8 :]]
        return [tuple(timed[start : start + 8]) for start in range(0, len(timed), 8)]

    first = orders(5)
    assert all(sorted(order) == sorted(first[0]) and len(set(order)) == 8 for order in first)
    assert len(set(first)) == 20
    assert first == orders(5) != orders(6)


def test_a_kernel_longer_than_a_batch_is_called_once() -> None:
    runner = MadeUp({"default": 0.3, "copy": 0.3})
    answer, _ = answer_of(runner, cells("default", "copy"))
    assert answer["calls"] == 1
    assert {calls for _, calls in runner.batches} == {1}


def test_what_differs_or_is_refused_is_not_timed() -> None:
    runner = MadeUp({"default": 1e-6, "copy": 1e-6})
    answer, _ = answer_of(runner, cells("default", "wrong", "refused", "copy"))
    assert answer["failed"] == {1: "differs", 2: "crash: no room for it"}
    assert set(answer["label"]) == {0, COPY}


def test_a_default_whose_copy_differs_is_no_sample() -> None:
    of = cells("default") | {COPY: Cell((0,), (0,), symbol="wrong")}
    answer, _ = answer_of(MadeUp({"default": 1e-6}), of)
    assert answer["dropped"] == "the copy of the default: differs"


def test_noise_gets_four_times_the_rounds_and_is_dropped_then() -> None:
    answer, _ = answer_of(MadeUp({"default": 1e-6, "copy": 1.1e-6}), cells("default", "copy"))
    assert answer["rounds"] == 24
    assert answer["dropped"] == "noise 10.0 %"
    assert answer["noise"] == pytest.approx(0.1)


def test_more_rounds_may_be_enough() -> None:
    """Something else ran while the copy had its first turns."""
    answer, _ = answer_of(MadeUp({"default": 1e-6, "copy": 1e-6}, disturbed=5), cells("default", "copy"))
    assert answer["rounds"] == 12
    assert (answer["dropped"], answer["noise"]) == ("", pytest.approx(0.0))


def test_the_memory_limit_leaves_room_for_the_threads_of_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_process, "_mapped", lambda: 5 * 2**30)
    for cores in (1, 64):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        assert sample_process._address_space(8 * 2**30) == 13 * 2**30 + cores * 80 * 2**20


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc")
def test_what_is_mapped_counts_what_is_reserved() -> None:
    before = sample_process._mapped()
    with mmap.mmap(-1, 1 << 30):
        assert sample_process._mapped() >= before + (1 << 30)


def test_a_variant_gets_ten_times_the_default_and_a_grace() -> None:
    limits: dict[int, set[float]] = {}
    runner = MadeUp({"default": 0.1, "copy": 0.1, "slow": 0.9})
    measure(
        runner,
        cells("default", "slow", "copy"),
        ASK,
        lambda *limit_call: limits.setdefault(limit_call[0], set()).add(limit_call[1]),
    )
    assert limits[1] == limits[COPY] == {3.0}
    assert limits[SETUP] == {10.0}


def test_a_kernel_that_takes_minutes_is_dropped_after_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 100))
    monkeypatch.setattr("mirenc.tools.measure.sample_process.time.monotonic", lambda: float(next(clock)))
    runner = MadeUp({"default": 3.0, "copy": 3.0})
    answer, _ = answer_of(runner, cells("default", "copy"))
    assert answer["dropped"] == "slow: a round takes 100.0 s"
