"""Both engines: figures worked out by hand, of the code alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from small_programs import SUM

from mirenc.llvm import parse_ir
from mirenc.llvm.passes.find_llvm import EmbeddedEngine, SharedEngine
from mirenc.llvm.passes.size_after_passes import Engine


@pytest.fixture(scope="module", params=[EmbeddedEngine, pytest.param(SharedEngine, marks=pytest.mark.needs("libLLVM"))])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with request.param() as engine:
        yield engine


def test_figures_worked_out_by_hand(engine: Engine) -> None:
    promoted = engine.run(SUM, "function(sroa)")
    # lea (%rdi,%rsi), %eax is 3 bytes, ret is 1.
    assert (promoted.instructions, promoted.text_bytes) == (2, 4)
    assert engine.run(promoted.ir, "") == promoted
    assert engine.run(SUM, "").instructions == 5
    if isinstance(engine, EmbeddedEngine):  # llvmlite reads what it wrote
        assert len(parse_ir(promoted.ir).functions) == 1


def test_names_of_locals_change_nothing(engine: Engine) -> None:
    assert engine.run(SUM.replace(b"%first", b"%other"), "sroa") == engine.run(SUM, "sroa")
    assert engine.run(SUM.replace(b"add", b"sub"), "sroa").digest != engine.run(SUM, "sroa").digest


def test_a_module_is_printed(engine: Engine) -> None:
    text = engine.text(SUM, "function(sroa)")
    assert "alloca" in engine.text(engine.run(SUM, "").ir)
    assert "alloca" not in text
    assert engine.run(text.encode(), "") == engine.run(SUM, "function(sroa)")
