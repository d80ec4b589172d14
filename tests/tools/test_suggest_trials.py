"""Trying lists: the smallest is kept, -Oz where none is smaller, and what fails is told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from mirenc.base.errors import PassError
from mirenc.llvm.passes.find_llvm import EmbeddedEngine, SharedEngine
from mirenc.llvm.passes.object_file import elf_sections
from mirenc.llvm.passes.size_after_passes import CODEGEN, Failed, Optimised
from mirenc.tools.suggest import try_lists

OZ = "default<Oz>"


class FakeEngine:
    """Sizes by heart; its IR is the list's own text."""

    name = "made"

    def __init__(self, sizes: dict[str, int | str]) -> None:
        self.sizes = sizes
        self.runs: list[tuple[str, int]] = []

    def run_all(self, ir: bytes, pipelines: Iterable[str], *, codegen: int = CODEGEN) -> list[Optimised | Failed]:
        every = list(pipelines)
        self.runs += [(one, codegen) for one in every]
        sizes = [self.sizes[one] for one in every]
        return [
            Failed(size, "bad luck") if isinstance(size, str) else Optimised(1, 1, one, loaded_bytes=size)
            for one, size in zip(every, sizes, strict=True)
        ]

    def run(self, ir: bytes, pipeline: str, *, codegen: int = CODEGEN) -> Optimised:
        return Optimised(1, 1, pipeline, pipeline.encode(), loaded_bytes=int(self.sizes[pipeline]))


def test_the_smallest_is_kept() -> None:
    engine = FakeEngine({"": 100, OZ: 60, "a": 61, "b": 55, "c": 55})
    trials = try_lists(engine, b"ir", ["a", "b", "c"], OZ)
    assert (trials.before, trials.oz.loaded_bytes, trials.winner.pipeline, trials.saved) == (100, 60, "b", 5)
    assert (trials.best, trials.ir, trials.engine) == (1, b"b", "made")
    assert ("", 0) in engine.runs  # as -O0 makes code


@pytest.mark.parametrize("sizes", [{"a": 61, "b": 60}, {"a": "crash", "b": "timeout"}])
def test_never_worse_than_oz(sizes: dict[str, int | str]) -> None:
    trials = try_lists(FakeEngine({"": 100, OZ: 60, **sizes}), b"ir", ["a", "b"], OZ)
    assert (trials.best, trials.saved, trials.ir) == (-1, 0, OZ.encode())
    assert trials.winner == trials.oz


def test_a_list_that_fails_is_told_and_the_others_are_tried() -> None:
    trials = try_lists(FakeEngine({"": 100, OZ: 60, "a": "broken", "b": 50}), b"ir", ["a", "b"], OZ)
    assert (trials.tried[0].loaded_bytes, trials.tried[0].problem) == (None, "broken: bad luck")
    assert (trials.best, trials.saved) == (1, 10)


def test_code_that_oz_cannot_compile_is_an_error() -> None:
    with pytest.raises(PassError, match=r"made fails on default<Oz> itself \(crash: bad luck\)"):
        try_lists(FakeEngine({"": 100, OZ: "crash"}), b"ir", [], OZ)
    with pytest.raises(PassError, match="made makes no machine code of the module: bad luck") as error:
        try_lists(FakeEngine({"": "backend", OZ: 1}), b"ir", [], OZ)
    assert error.value.failed == "backend"


@pytest.mark.needs("libLLVM")
def test_a_real_engine_gives_a_module_that_has_the_size() -> None:
    ir = (Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19" / "O0" / "sorting.ll").read_bytes()
    ir = ir.replace(b" optnone", b" minsize optsize")
    lists = ["function(sroa)", "no-such-pass", "function(sroa,early-cse,instcombine,simplifycfg)"]
    with SharedEngine() as engine:
        trials = try_lists(engine, ir, lists, OZ)
        assert engine.run(trials.ir, "").loaded_bytes == trials.winner.loaded_bytes
    sizes = [one.loaded_bytes for one in trials.tried]
    assert sizes[1] is None
    assert "no-such-pass" in trials.tried[1].problem
    assert trials.winner.loaded_bytes == min(trials.oz.loaded_bytes, sizes[0], sizes[2])
    assert trials.before > trials.oz.loaded_bytes


def test_the_embedded_engine_needs_nothing_but_pip() -> None:
    ir = (Path(__file__).parents[1] / "fixtures" / "ir" / "clang-19" / "O0" / "sorting.ll").read_bytes()
    ir = ir.replace(b" optnone", b" minsize optsize")
    with EmbeddedEngine() as engine:
        trials = try_lists(engine, ir, ["function(sroa,simplifycfg)", "function(reg2mem)"], "default<O2>")
        assert engine.run(trials.ir, "").loaded_bytes == trials.winner.loaded_bytes
    assert trials.before > trials.winner.loaded_bytes
    assert trials.oz.loaded_bytes is not None
    assert trials.saved >= 0
    assert "llvmlite" in trials.engine


KEEPS_A_TABLE = b"""\
target triple = "x86_64-pc-linux-gnu"
@table = internal constant [100 x i32] [i32 7, i32 9, {}]
define i32 @f(i32 %x) {
  %slot = alloca i32
  store i32 %x, ptr %slot
  %again = load i32, ptr %slot
  %sum = add i32 %again, %x
  ret i32 %sum
}
""".replace(b"{}", b", ".join([b"i32 3"] * 98))


def test_a_list_wins_only_where_all_that_is_loaded_is_smaller() -> None:
    """A constant that -Oz deletes counts, though machine code alone is smaller, as it was counted before."""
    with EmbeddedEngine() as engine:
        with_table, gone = (engine.run_all(KEEPS_A_TABLE, [one])[0] for one in ("function(sroa)", "globaldce"))
        assert isinstance(with_table, Optimised)
        assert isinstance(gone, Optimised)
        assert with_table.text_bytes < gone.text_bytes
        trials = try_lists(engine, KEEPS_A_TABLE, ["function(sroa)"], "globaldce")
        assert (trials.best, trials.saved) == (-1, 0)
        assert trials.tried[0].loaded_bytes == trials.oz.loaded_bytes + 400 - (gone.text_bytes - with_table.text_bytes)
        # What is told is what the object of the module that is written has.
        in_both_orders = try_lists(engine, KEEPS_A_TABLE, ["globaldce,function(sroa)"], "globaldce")
        assert in_both_orders.saved == gone.text_bytes - with_table.text_bytes
        written = engine.compile(in_both_orders.ir, "")
        assert sum(one.size for one in elf_sections(written) if one.loaded) == in_both_orders.winner.loaded_bytes
