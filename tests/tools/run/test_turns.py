"""What rounds of timings say: gains, noise, and when one is faster."""

from __future__ import annotations

import math
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from mirenc.base.deadline import OverLimitError, TimeUpError
from mirenc.tools.run.programs import Ended, run_shell
from mirenc.tools.run.turns import Turns, WrongRunError


def turns(factors: list[float], *, spread: float = 0.001, rounds: int = 12, slow_rounds: int = 0) -> Turns:
    """Timings of variants that are so many times as fast as the first; some rounds are slowed by other work."""
    random = np.random.default_rng(3)
    slow = iter([3.0] * slow_rounds + [1.0] * rounds * (len(factors) + 1))

    def once(number: int) -> Ended:
        seconds = next(slow) / factors[number] * np.exp(random.normal(0, spread))
        return Ended(0, seconds, 2 * seconds)

    return Turns.run(len(factors), once, rounds, (0,), "cpu")


def test_the_first_runs_twice_a_round_and_each_other_once() -> None:
    ran: list[int] = []

    def once(number: int) -> Ended:
        ran.append(number)
        return Ended(0, 1.0, 1.0)

    Turns.run(3, once, 4, (0,), "cpu")
    rounds = [ran[start : start + 4] for start in range(0, 16, 4)]
    assert all(sorted(one) == [0, 0, 1, 2] for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1


def test_a_gain_is_found_beyond_the_noise_and_a_loss_is_none() -> None:
    timed = turns([1.0, 1.1, 0.9])
    assert timed.gain(1).factor == pytest.approx(1.1, rel=2e-3)
    assert timed.gain(1).low < 1.1 < timed.gain(1).high
    assert timed.faster(1)
    assert not timed.faster(2)


def test_a_gain_below_the_noise_does_not_count() -> None:
    assert not turns([1.0, 1.0005], spread=0.01).faster(1)
    # The copies of the first differ by 5 %, as on a machine whose clock drifts: 3 % is nothing then.
    drifting = Turns([[Ended(0, one, one) for one in (1.0, 1.05, 0.995)]] * 12, "cpu")
    assert drifting.noise == pytest.approx(1.05)
    assert drifting.gain(1).low > 1.02
    assert not drifting.faster(1)


def test_other_work_in_a_few_rounds_does_not_count() -> None:
    assert turns([1.0, 1.1], slow_rounds=2).gain(1).factor == pytest.approx(1.1, rel=5e-3)


def test_each_clock_has_its_own_gain() -> None:
    rows = [[Ended(0, 1.0, 4.0), Ended(0, 1.0, 4.0), Ended(0, 0.5, 4.0)]] * 4
    assert Turns(rows, "cpu").gain(1).factor == pytest.approx(2.0)
    assert Turns(rows, "cpu").gain(1, "wall").factor == pytest.approx(1.0)


@pytest.mark.parametrize("problem", [OverLimitError(9.0), WrongRunError("another output")])
def test_a_variant_that_is_dropped_does_not_run_again_and_cannot_win(problem: Exception) -> None:
    ran: list[int] = []

    def once(number: int) -> Ended:
        ran.append(number)
        if number == 2 and ran.count(2) == 3:
            raise problem
        return Ended(0, (1.0, 0.8, 0.1)[number], 1.0)

    timed = Turns.run(3, once, 8, (0,), "cpu")
    assert ran.count(2) == 3
    assert (ran.count(0), ran.count(1)) == (16, 8)
    assert timed.dropped == {2: problem}
    assert timed.faster(1)
    assert not timed.faster(2)
    assert math.isnan(timed.gain(2).factor)


def test_the_first_cannot_be_dropped() -> None:
    def once(number: int) -> Ended:
        raise OverLimitError(9.0)

    with pytest.raises(OverLimitError):
        Turns.run(2, once, 8, (0,), "cpu")


@pytest.mark.parametrize(("runs", "rounds"), [(11, None), (12, 4), (13, 4), (15, 5)])
def test_rounds_end_with_the_time_and_four_are_a_comparison(runs: int, rounds: int | None) -> None:
    left = iter([Ended(0, 1.0, 1.0)] * runs)

    def once(number: int) -> Ended:
        done = next(left, None)
        if done is None:
            raise TimeUpError
        return done

    if rounds is None:
        with pytest.raises(TimeUpError):
            Turns.run(2, once, 8, (0,), "cpu")
    else:
        assert len(Turns.run(2, once, 8, (0,), "cpu").timings) == rounds


def test_a_command_is_timed_with_all_that_it_starts(tmp_path: Path) -> None:
    code = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    busy = shlex.join([sys.executable, "-c", code])
    done = run_shell(f"{busy}; pwd; exit 3", tmp_path)
    assert done.cpu >= 0.2
    assert done.wall >= 0.2
    assert done.code == 3
    assert done.output == run_shell("pwd", tmp_path).output != run_shell("echo", tmp_path).output
