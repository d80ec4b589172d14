"""An engine is found that knows the lists; without one the reasons are told. No libLLVM is needed for either."""

from typing import Any

import pytest

from mirenc.base.errors import ToolchainError
from mirenc.llvm.passes import find_llvm as installed
from mirenc.llvm.passes.find_llvm import SharedEngine, find_engine
from mirenc.llvm.passes.size_after_passes import Engine

RETURN = b"define void @f() {\n  ret void\n}\n"


@pytest.fixture
def no_shared_library(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing(SharedEngine):
        def __init__(self, version: int | None = None, **limits: Any) -> None:
            super().__init__(version, library="nowhere.so", **limits)

    monkeypatch.setattr(installed, "SharedEngine", Missing)


@pytest.mark.usefixtures("no_shared_library")
def test_llvmlite_serves_what_it_has() -> None:
    with find_engine(["function(sroa,instcombine)", "default<O2>"]) as engine:
        assert engine.name.endswith("(llvmlite)")
        assert engine.run(RETURN, "default<O2>").instructions == 1


@pytest.mark.usefixtures("no_shared_library")
def test_without_an_engine_the_error_says_why() -> None:
    with pytest.raises(
        ToolchainError, match=r"lists: LLVM 22\.\S+ \(llvmlite\) does not know 'default<Oz>'\. Install the lib"
    ):
        find_engine(["default<O2>", "default<Oz>"])


@pytest.mark.parametrize(
    ("prefer", "order"),
    [
        ("19.1.7", [19, 22, 16]),
        ("22.1.0", [22, 19, 16]),
        ("18.1.8", [22, 19, 16]),  # not here
        ("", [22, 19, 16]),
    ],
)
def test_the_llvm_of_a_table_is_asked_first(prefer: str, order: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    here = [22, 19, 16]
    versions: list[str] = []
    monkeypatch.setattr(Engine, "version", property(lambda engine: _version(engine, here)))
    monkeypatch.setattr(SharedEngine, "knows", lambda engine, pipeline: bool(versions.append(engine.version)))
    reasons = "; ".join(rf"LLVM {number}\.1 .*" for number in order)
    with pytest.raises(ToolchainError, match=f"no LLVM here can run these pass lists: {reasons}; .*llvmlite"):
        find_engine(["nonsense"], prefer=prefer)
    assert versions == [f"{number}.1" for number in order]


def _version(engine: Engine, here: list[int]) -> str:
    """What an engine would say that has one of these libraries at most."""
    if engine._kind == "llvmlite":
        return "22.1"
    numbers = [number for number in here if any(f"-{number}.so" in each for each in engine._child.arguments)]
    if not numbers:
        raise ToolchainError("not here")
    return f"{numbers[0]}.1"


@pytest.mark.needs("libLLVM")
def test_a_shared_library_comes_first() -> None:
    with find_engine(["default<Oz>"]) as engine:
        assert engine.name.endswith("(shared library)")
        assert engine.run(RETURN, "default<Oz>").instructions == 1
