"""What a head sees of a look-ahead: costs worked out by hand, and settings that nothing is known of."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from mirenc.base.arrays import Float64
from mirenc.decide.estimators.chooser import Settings
from mirenc.decide.features.look_ahead_features import (
    DEFAULT_NAMES,
    NUMBERS,
    SETTING_NAMES,
    default_columns,
    look_ahead_settings,
    look_ahead_tables,
    loop_numbers,
    setting_columns,
)
from mirenc.llvm.passes.assembly import CLASSES, Loop
from mirenc.llvm.passes.look_ahead import LoopCode
from mirenc.llvm.passes.loop_hint import PLAIN, Hint


def loop(depth: int = 1, bits: int = 64, **counts: int) -> Loop:
    return Loop("", depth, np.array([counts.get(name, 0) for name in CLASSES], dtype=np.float64), 0, bits)


SCALAR = LoopCode(PLAIN, 1, None, None, loop(load=1, store=1), loop(0, integer=10), 1, 12)
FOUR = LoopCode(Hint(4, 1), 1, loop(1, 128, load=1, store=1), None, SCALAR.scalar, loop(0, integer=20), 2, 24)


def costs(code: LoopCode, iterations: float) -> float:
    """Cycles, of two settings of which the first is the default; the last columns are about these iterations."""
    table = np.array([loop_numbers(SCALAR), loop_numbers(code)])
    return float(np.exp(setting_columns(table, 0, iterations)[1, -5]))


def test_prologue_turns_and_what_is_left() -> None:
    """A load is half a cycle, a store one, and a turn half of one: 2 a turn; ten integers before are 3."""
    beside = {n: 1 + 3 + 2 * n for n in (3, 4, 10)}
    assert costs(SCALAR, 10) == pytest.approx(1)
    # 20 integers before are 6; two turns of four, and two scalar ones.
    assert costs(FOUR, 10) == pytest.approx((1 + 6 + 2 * 2 + 2 * 2) / beside[10])
    assert costs(FOUR, 3) == pytest.approx((1 + 6 + 2 * 3) / beside[3])
    assert costs(FOUR, 4) == pytest.approx((1 + 6 + 2) / beside[4])


def test_an_epilogue_takes_what_is_left_by_its_lanes() -> None:
    epilogue = LoopCode(Hint(8, 2), 1, FOUR.vector, loop(1, 128, load=1, store=1), SCALAR.scalar, FOUR.around, 3, 30)
    # 16 a turn; of 13 that are left one turn of 8 lanes, and five scalar ones.
    assert costs(epilogue, 29) == pytest.approx((1 + 6 + 2 + 2 + 5 * 2) / (1 + 3 + 2 * 29))


def test_the_default_has_no_difference_and_unknown_counts_say_nothing() -> None:
    table = np.array([loop_numbers(SCALAR), loop_numbers(FOUR)])
    known, unknown = (setting_columns(table, 0, count, (0, 0, 0)) for count in (10, 0))
    assert np.isfinite(known).all()
    code = len(default_columns(table, 0))
    assert not known[0, :-4].any()
    assert not unknown[:, -5:].any()
    assert np.array_equal(known[:, :-5], unknown[:, :-5])
    assert known[1, :code].any()
    assert known.shape[1] == len(SETTING_NAMES)
    assert code == len(DEFAULT_NAMES)


def tables(*codes: LoopCode | None) -> Float64:
    return np.array([[loop_numbers(code) for code in codes]])


def test_a_setting_that_nothing_is_known_of_is_not_asked_for() -> None:
    settings = Settings(np.arange(3.0)[:, None], np.array([[0, 1, 2]]))
    default, one = np.array([0]), np.array([10.0])
    looked_ahead = look_ahead_settings(settings, tables(SCALAR, None, FOUR), default, one)
    assert looked_ahead.row.tolist() == [[0, -1, 1]]
    assert looked_ahead.features[:, 0].tolist() == [0, 2]
    # Without the default's there is nothing to compare with.
    none = look_ahead_settings(settings, tables(None, SCALAR, FOUR), default, one)
    assert none.row.tolist() == [[-1, -1, -1]]
    assert none.features.shape == (0, looked_ahead.features.shape[1])
    assert not default_columns(tables(None, SCALAR)[0], 0).any()
    assert np.isnan(loop_numbers(None)).all()
    assert len(loop_numbers(None)) == len(loop_numbers(FOUR)) == NUMBERS


def test_a_loop_with_other_data_is_compiled_once() -> None:
    """Three samples of two loops, of which two differ in what their runs tell alone."""
    compiled: list[str] = []

    def compile_settings(module: str, region: None, context: tuple[Any, ...]) -> list[LoopCode | None]:
        compiled.append(module)
        return [SCALAR, FOUR if module == "first" else None]

    task = SimpleNamespace(
        context=SimpleNamespace(names=("trip_count", "vector_bits")),
        read_sample=lambda encoder, ir: ir,
        look_ahead=compile_settings,
    )

    class Data(SimpleNamespace):
        def __len__(self) -> int:
            return len(self.samples)

    samples = [
        SimpleNamespace(name=name, ir=name, region=None, context=(trips, 256))
        for name, trips in (("first", 10), ("first", 3), ("second", 10))
    ]
    tables = look_ahead_tables(*cast(Any, (task, Data(samples=samples, width=2), None, None)))
    assert compiled == ["first", "second"]
    assert np.array_equal(tables[0], tables[1])
    assert np.isnan(tables[2, 1]).all()
