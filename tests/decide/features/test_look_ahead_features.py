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
    OLDER_NAMES,
    SETTING_NAMES,
    TRIP_COLUMNS,
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
    at = SETTING_NAMES.index("log2 of 1 + trip count")
    assert not known[0, :at].any()
    assert not unknown[:, -TRIP_COLUMNS:].any()
    assert np.array_equal(known[:, :-TRIP_COLUMNS], unknown[:, :-TRIP_COLUMNS])
    assert known[1, :code].any()
    assert known.shape[1] == len(SETTING_NAMES)
    assert setting_columns(table, 0, 10).shape[1] == len(OLDER_NAMES)
    assert code == len(DEFAULT_NAMES)


def with_branches(taken: tuple[float, ...], code: LoopCode) -> dict[str, float]:
    """The columns of a loop with each other code, for ten iterations, beside the scalar loop."""
    table = np.array([loop_numbers(SCALAR), loop_numbers(code)])
    return dict(zip(SETTING_NAMES, setting_columns(table, 0, 10, taken)[1].tolist(), strict=True))


def test_what_a_jump_skips_counts_by_the_share_that_runs() -> None:
    """Of the scalar loop's 2 cycles 1.5 may be skipped; the rarer way of a branch is 8 more."""
    body = loop(load=1, store=1)
    body.skipped = body.counts.copy()
    branchy = LoopCode(PLAIN, 1, None, None, body, SCALAR.around, 1, 12)
    cost, skipped = "log cost with branches over the default's", "cycles a jump may skip for each element"
    for share, rarer in ((0.0, 0.0), (1.0, 0.0), (0.25, 0.25)):
        columns = with_branches((1.0, share, rarer), branchy)
        turn = 0.5 + 1.5 * share + 8 * rarer
        assert columns[cost] == pytest.approx(np.log((1 + 3 + 10 * turn) / (1 + 3 + 10 * 2)))
        assert columns[skipped] == 1.5
    # What is not known is taken for a half, and one way in five.
    assert with_branches((0.0, 0.0, 0.0), branchy)[cost] == with_branches((1.0, 0.5, 0.2), branchy)[cost]


def test_masked_stores_cost_cycles_and_parts_are_told() -> None:
    vector = loop(1, 128, load=1, store=1)
    vector.masked_stores = 1
    columns = with_branches((1.0, 0.5, 0.0), LoopCode(Hint(4, 1), 1, vector, None, SCALAR.scalar, FOUR.around, 2, 24))
    assert columns["masked stores for each element"] == 0.25
    # Two turns of 2 + 12 cycles, two iterations of 2, 6 around; the default has ten of 2, and 3 around.
    assert columns["log turns"] == pytest.approx(np.log(3))
    assert (columns["iterations left"], columns["iterations left, of the default"]) == (2, 10)
    assert columns["log cycles of turns"] == pytest.approx(np.log(29))
    assert columns["log cycles"] == pytest.approx(np.log(1 + 28 + 4 + 6))
    assert columns["log cycles, of the default"] == pytest.approx(np.log(24))


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
