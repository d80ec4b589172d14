"""Child processes: what comes back, what ends them, and that the next request finds another one."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mirenc.base.child_process import ChildProcess, EndedError
from mirenc.base.deadline import TimeUpError, within

SERVICE = """
import os, sys, time

class Service:
    version = "3.1"

    def answers(self, request, holder):
        for step in request["steps"]:
            if step == "sleep":
                time.sleep(3600)
            elif step == "abort":
                print("LLVM ERROR: as asked", file=sys.stderr, flush=True)
                os.abort()
            elif step == "raise":
                raise RuntimeError("a mistake")
            elif step == "eat":
                bytearray(1 << 34)
            elif step == "print":
                os.write(1, b"no frame")
            yield {"step": step}, holder[0][::-1]

def open_service(arguments):
    if arguments != ["good"]:
        raise OSError(f"no library {arguments[0]}.")
    return Service()
"""
REVERSED = [({"step": "echo"}, b"cba")]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], ChildProcess]]:
    children = []

    def start(argument: str) -> ChildProcess:
        service = tmp_path / "service.py"
        service.write_text(SERVICE, encoding="utf-8")
        children.append(ChildProcess(service, [argument], 2**32))
        return children[-1]

    yield start
    for child in children:
        child.close()


@pytest.fixture
def child(start: Callable[[str], ChildProcess]) -> ChildProcess:
    """One that has started, which takes no part of a timeout."""
    child = start("good")
    child.version()
    return child


def ask(child: ChildProcess, *steps: str, data: bytes = b"abc", timeout: float = 60.0) -> list[tuple[object, object]]:
    return list(child.ask({"steps": steps}, data, timeout))


def test_each_answer_comes_back_in_order(child: ChildProcess) -> None:
    assert ask(child, "echo", "print", "echo") == [*REVERSED, ({"step": "print"}, b"cba"), *REVERSED]
    assert ask(child) == []
    assert child.version() == "3.1"
    large = bytes(range(256)) * 20_000
    assert ask(child, "echo", data=large) == [({"step": "echo"}, large[::-1])]


@pytest.mark.parametrize(
    ("step", "status", "problem", "ending"),
    [
        ("abort", "crash", "LLVM ERROR: as asked", "SIGABRT"),
        ("raise", "crash", "RuntimeError: a mistake", "exit 1"),
        ("eat", "memory", "out of memory (limit 4096 MiB)", ""),
        ("sleep", "timeout", "not done within 0.5 s", ""),
    ],
)
def test_why_a_child_ended_is_told_and_the_next_request_has_another(
    child: ChildProcess, step: str, status: str, problem: str, ending: str
) -> None:
    with pytest.raises(EndedError) as caught:
        ask(child, "echo", step, "echo", timeout=0.5 if step == "sleep" else 60.0)
    ended = caught.value
    assert (ended.status, ended.problem, ended.ending, ended.answers) == (status, problem, ending, REVERSED)
    assert ask(child, "echo") == REVERSED


def test_a_killed_child_is_told_from_one_that_crashed(child: ChildProcess) -> None:
    assert child._process is not None
    threading.Timer(0.2, child._process.kill).start()
    with pytest.raises(EndedError) as caught:
        ask(child, "sleep")
    assert caught.value.status == "killed"


def test_a_service_that_cannot_be_loaded_says_why(start: Callable[[str], ChildProcess]) -> None:
    child = start("missing")
    for request in (child.version, lambda: ask(child, "echo")):
        with pytest.raises(EndedError, match=r"^OSError: no library missing$") as caught:
            request()
        assert caught.value.status == "start"


def test_a_child_that_stands_still_is_ended_though_it_reads_nothing(child: ChildProcess) -> None:
    assert child._process is not None
    os.kill(child._process.pid, signal.SIGSTOP)
    with pytest.raises(EndedError, match=r"not done within 0\.2 s") as caught:
        ask(child, "echo", data=b"x" * 2**20, timeout=0.2)
    assert (caught.value.status, child._process) == ("timeout", None)


def test_a_child_ends_with_the_time_of_the_call_and_that_is_no_fault_of_its_request(child: ChildProcess) -> None:
    with within(0.2), pytest.raises(TimeUpError):
        ask(child, "sleep", timeout=3600.0)
    assert child._process is None
    assert ask(child, "echo") == REVERSED


def test_an_interrupted_exchange_leaves_the_next_one_in_step(
    start: Callable[[str], ChildProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(child: ChildProcess, timeout: float) -> None:
        receive(child, timeout)
        raise KeyboardInterrupt

    receive, child = ChildProcess._receive, start("good")
    for request in (child.version, lambda: ask(child, "print"), lambda: ask(child, "print")):
        monkeypatch.setattr(ChildProcess, "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            request()
        monkeypatch.undo()
        assert ask(child, "echo") == REVERSED  # which reads the greeting, too
