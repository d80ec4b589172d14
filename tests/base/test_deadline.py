"""The time of a call and of a variant: which limit counts, and what ends with it. The clock is the tests' own."""

import math
import threading
from contextvars import copy_context
from types import SimpleNamespace

import pytest

from mirenc.base import deadline
from mirenc.base.deadline import OverLimitError, TimeUpError, ended_after, seconds_left, variant_limit, within
from mirenc.base.run_program import run_limited


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the clock says, which the test may change."""
    clock = [100.0]
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    return clock


def test_the_shorter_of_two_nested_limits_holds(now: list[float]) -> None:
    assert seconds_left() == math.inf
    with within(10.0):
        with within(30.0):
            assert seconds_left() == 10.0
        with within(4.0):
            now[0] += 3.0
            assert seconds_left() == 1.0
            now[0] += 2.0
            assert not deadline.has_time()
            with pytest.raises(TimeUpError):
                seconds_left()
        assert seconds_left() == 5.0
    assert deadline.has_time()


def test_no_program_starts_after_the_time_is_up(now: list[float]) -> None:
    with within(1.0):
        now[0] += 1.0
        with pytest.raises(TimeUpError):
            run_limited(["false"], timeout=60.0, memory_limit=None)


def test_a_variant_gets_ten_times_the_default() -> None:
    assert variant_limit(0.5) == variant_limit(0.5, 1.0) == 5.0
    assert variant_limit(0.01, 1.0) == 1.0
    assert variant_limit(math.inf, 1.0) == math.inf


def test_a_variant_over_twice_the_default_is_over_its_limit() -> None:
    limit = variant_limit(3.0)
    assert isinstance(ended_after(5.9, limit), TimeUpError)
    assert isinstance(ended_after(6.0, limit), OverLimitError)
    assert str(ended_after(6.0, limit)) == "ended after 6 s, when the time was up"
    assert str(ended_after(30.0, limit)) == "ended after 30 s"
    assert isinstance(ended_after(1e6, variant_limit(math.inf)), TimeUpError)


def test_the_end_of_the_calls_time_is_no_error_of_an_input() -> None:
    assert not issubclass(TimeUpError, Exception)


def test_leaving_a_call_ends_programs_of_other_threads() -> None:
    raised: list[BaseException] = []

    def work() -> None:
        try:
            run_limited(["sleep", "3600"], timeout=7200.0, memory_limit=None)
        except TimeUpError as error:
            raised.append(error)

    with within(math.inf):
        thread = threading.Thread(target=copy_context().run, args=(work,))
        thread.start()
        while not deadline._CALL.get().running:
            pass
    thread.join()
    assert len(raised) == 1


def test_finished_programs_are_not_ended_again() -> None:
    ends: list[int] = []
    with within(math.inf):
        with deadline.ended_by_call(lambda: ends.append(1)):
            pass
        with pytest.raises(KeyError), within(math.inf), deadline.ended_by_call(lambda: ends.append(2)):
            raise KeyError
    assert ends == []
