"""llvmlite's LLVM as an engine: it has the passes it says, and refuses others in words."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_programs import SUM

from mirenc.base.errors import IRParseError, PassError
from mirenc.llvm.child.llvmlite_pass_service import PASSES
from mirenc.llvm.passes.extract import without_size_attributes
from mirenc.llvm.passes.find_llvm import EmbeddedEngine
from mirenc.llvm.passes.pass_lists import random_list
from mirenc.llvm.passes.size_after_passes import Failed, Optimised

FIXTURES = Path(__file__).parents[2] / "fixtures"
SORTING = (FIXTURES / "ir" / "clang-19" / "O0" / "sorting.ll").read_bytes()


@pytest.fixture(scope="module")
def engine() -> Iterator[EmbeddedEngine]:
    with EmbeddedEngine() as engine:
        yield engine


def test_every_pass_it_says_it_has_runs(engine: EmbeddedEngine) -> None:
    lists = [each.text if each.kind == "module" else f"{each.kind}({each.text})" for each in PASSES]
    assert all(isinstance(each, Optimised) for each in engine.run_all(SORTING, lists))
    drawn = [random_list(PASSES, random.Random(seed)) for seed in range(30)]
    assert all(engine.knows(each) for each in drawn[:5])
    results = engine.run_all(SORTING, drawn)
    assert all(isinstance(each, Optimised) for each in results)
    assert len({each.digest for each in results if isinstance(each, Optimised)}) > 10
    assert results == engine.run_all(SORTING, drawn)


def test_levels_shrink_code(engine: EmbeddedEngine) -> None:
    results = engine.run_all(SORTING, [f"default<O{number}>" for number in range(4)])
    sizes = [each.text_bytes for each in results if isinstance(each, Optimised)]
    assert sizes[0] > sizes[1]
    small = engine.run_all(b"".join(_with_size_words(SORTING)), ["default<O2>"])[0]
    assert isinstance(small, Optimised)
    assert small.text_bytes < sizes[2]


def _with_size_words(text: bytes) -> Iterator[bytes]:
    # clang's -O0 forbids optimising; -Oz's words instead.
    for line in text.splitlines(keepends=True):
        yield line.replace(b" optnone", b"").replace(b" noinline", b" minsize optsize")


def test_size_words_taken_away_again_make_it_large(engine: EmbeddedEngine) -> None:
    marked = b"".join(_with_size_words(SORTING)).decode()
    one, two = (engine.run(text.encode(), "default<O2>") for text in (marked, without_size_attributes(marked)))
    assert one.text_bytes < two.text_bytes


@pytest.mark.parametrize(
    ("pipeline", "problem"),
    [
        ("default<Oz>", "llvmlite has no pass 'default<Oz>'"),
        ("function(sroa<modify-cfg>)", "llvmlite's sroa takes no options; found 'sroa<modify-cfg>'"),
        ("function(nonsense)", "llvmlite has no pass 'nonsense' for a function"),
        ("function(globaldce)", "llvmlite has no pass 'globaldce' for a function"),
        ("function(sroa", "a list of passes is wrong at its end"),
    ],
)
def test_what_it_does_not_have_is_told(engine: EmbeddedEngine, pipeline: str, problem: str) -> None:
    assert not engine.knows(pipeline)
    good, refused, again = engine.run_all(SUM, ["sroa", pipeline, "sroa"])
    assert isinstance(refused, Failed)
    assert refused.status == "pipeline"
    assert refused.problem.startswith(problem)
    assert good == again
    with pytest.raises(PassError, match="LLVM"):
        engine.run(SUM, pipeline)


def test_inline_assembly_of_this_machine_is_weighed(engine: EmbeddedEngine) -> None:
    # A module without a target is this machine's, and each of them has a `nop`.
    text = 'define void @f() {{\n  call void asm sideeffect "{}", ""()\n  ret void\n}}\n'
    one, two = (engine.run(text.format(code).encode(), "").text_bytes for code in ("nop", "nop\\0Anop"))
    assert 0 < one < two


def test_hostile_modules_are_told(engine: EmbeddedEngine) -> None:
    for broken in sorted((FIXTURES / "broken").glob("refused_*.*")):
        if broken.suffix in (".ll", ".bc"):
            with pytest.raises(IRParseError):
                engine.run_all(broken.read_bytes(), ["sroa"])
    with pytest.raises(IRParseError, match="LLVM did not survive reading"):
        engine.run_all((FIXTURES / "broken" / "dies_in_parser.ll").read_bytes(), ["sroa"])
    odd = engine.run_all(SUM.replace(b"x86_64-pc-linux-gnu", b"nowhere-none-none"), ["sroa", ""])
    assert [each.status for each in odd if isinstance(each, Failed)] == ["backend", "backend"]
    raw = SUM + b'@text = constant [1 x i8] c"\xff"\n'
    assert engine.run(raw, "sroa").instructions == 2
