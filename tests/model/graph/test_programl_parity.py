"""The native builder against ProGraML's own program, on all typed-pointer IR that both read.

Fixtures are what a compiler writes, the cases of `typed_pointer_ir` what it writes seldom.
"""

from pathlib import Path

import pytest
from graph_rules import check_rules
from llvm2graph import build_programl
from outside_programs import needs_old_clang
from programl_parity import compare, without_markers
from typed_pointer_ir import CASES

from mirenc.llvm import parse_ir
from mirenc.model.graph import build_graph

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "ir" / "llvm10"
FILES = sorted(path for path in FIXTURES.glob("*.ll") if not needs_old_clang(path))
# LLVM 22 reads these only as upgraded bitcode, and the upgrade expands them: another graph, and rightly so.
ONLY_LLVM_10 = sorted(path for path in FIXTURES.glob("*.ll") if needs_old_clang(path))


def check(source: str) -> tuple[int, int]:
    source = without_markers(source)
    native = build_graph(parse_ir(source), normalisation="none")
    check_rules(native)
    return compare(build_programl(source), native, source)


@pytest.mark.needs("llvm2graph-10")
@pytest.mark.parametrize("source", CASES.values(), ids=CASES.keys())
def test_cases_have_programl_s_graph(source: str) -> None:
    check(source)


def test_there_are_fixtures() -> None:
    assert len(FILES) > 20
    assert len(ONLY_LLVM_10) == 4


@pytest.mark.needs("llvm2graph-10")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_fixtures_have_programl_s_graph(path: Path) -> None:
    nodes, edges = check(path.read_text(encoding="utf-8"))
    assert nodes > 100
    assert edges > nodes


@pytest.mark.needs("clang-10 to 16")
@pytest.mark.parametrize("path", ONLY_LLVM_10, ids=lambda path: path.stem)
def test_upgraded_fixture_has_a_valid_graph(path: Path) -> None:
    check_rules(build_graph(parse_ir(path.read_text(encoding="utf-8"))))
