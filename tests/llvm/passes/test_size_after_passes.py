"""What a list does to its process, it does to itself: those before and after it have their results."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mirenc.base.errors import IRParseError, PassError, ToolchainError
from mirenc.llvm.passes.size_after_passes import Engine, Failed, Optimised


def _engine(*arguments: str, timeout: float = 60.0) -> Engine:
    service = Path(__file__).with_name("fake_pass_service.py")
    return Engine(service, arguments, kind="fake", advice="Type: nothing", timeout=timeout, memory_limit=2**32)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with _engine() as engine:
        yield engine


def _ok(pipeline: str) -> Optimised:
    return Optimised(instructions=4, text_bytes=2, digest=pipeline)


@pytest.mark.parametrize(
    ("pipeline", "status", "problem"),
    [
        ("abort", "crash", "SIGABRT: LLVM ERROR: as asked"),
        ("eat", "memory", "out of memory"),
        ("break", "broken", "the result is broken"),
    ],
)
def test_a_list_that_fails_costs_itself(engine: Engine, pipeline: str, status: str, problem: str) -> None:
    results = engine.run_all(b"text", ["before", pipeline, "between", pipeline, "after"])
    failed = Failed(status, problem)
    assert results == [_ok("before"), failed, _ok("between"), failed, _ok("after")]
    assert engine.run_all(b"text", []) == []


def test_a_list_that_hangs_is_ended() -> None:
    with _engine(timeout=0.5) as engine:
        assert engine.run_all(b"text", ["loop", "after"]) == [Failed("timeout", "not done within 0.5 s"), _ok("after")]


def test_a_refused_module_is_an_error_and_the_process_goes_on(engine: Engine) -> None:
    refusal = r"^LLVM \S+ \(.*\) cannot read the module: <string>:1:1: error: no\. If a newer LLVM"
    with pytest.raises(IRParseError, match=refusal) as error:
        engine.run_all(b"refused", ["a", "b"])
    assert error.value.diagnostic.endswith("refused\n^")
    assert engine.run_all(b"text", ["a", "b"]) == [_ok("a"), _ok("b")]


def test_a_module_that_ends_the_process_is_read_once(engine: Engine) -> None:
    with pytest.raises(IRParseError, match="LLVM ended while it read the module: SIGABRT: LLVM ERROR: deadly"):
        engine.run_all(b"deadly", ["a"] * 1_000_000)
    assert engine.run_all(b"text", ["a"]) == [_ok("a")]


def test_one_list_gives_the_module_or_raises(engine: Engine) -> None:
    assert engine.run(b"text", "a", codegen=3) == Optimised(4, 3, "a", b"txet")
    with pytest.raises(PassError, match=r"LLVM 99\.1 \(fake\) fails on this list \(crash\): SIGABRT") as error:
        engine.run(b"text", "abort")
    assert error.value.failed == "crash"
    engine.close()  # and starts again
    assert engine.run(b"text", "b") == Optimised(4, 2, "b", b"txet")


def test_a_library_that_cannot_be_loaded_is_told() -> None:
    for _ in range(2):
        with pytest.raises(
            ToolchainError, match=r"cannot be started \(fake\): OSError: libfake\.so: No such file\. Type: nothing"
        ):
            _engine("missing").run(b"", "a")
