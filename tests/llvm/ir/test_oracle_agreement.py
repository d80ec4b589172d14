"""`mirenc.llvm` against the oracle, on all the IR in the fixtures.

The oracle walks LLVM's own objects; `mirenc.llvm` reads LLVM's printed text. They share no code, so
agreement on every function, block, opcode, operand and successor is the strongest check of the
reader there is.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from ir_views import Block, Instruction, blocks_of
from oracle import OracleBlock, OracleFunction, OracleInstruction, OracleModule, read_oracle
from outside_programs import needs_old_clang

from mirenc.base.errors import IRParseError, NoFunctionBodyError
from mirenc.llvm import parse_ir
from mirenc.llvm.inputs.other_llvm import lower_by_other_llvm
from mirenc.llvm.ir.module import FunctionHeader, global_name
from mirenc.llvm.ir.old_text import modernise

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
FILES = sorted(
    path for folder in ("handwritten", "ir") for path in (FIXTURES / folder).rglob("*") if path.suffix in {".ll", ".bc"}
)


assert len(FILES) > 100


def of_fixtures(*, old: bool) -> pytest.MarkDecorator:
    """Over the fixtures that only an older clang makes readable, or over all others."""
    chosen = [path for path in FILES if needs_old_clang(path) == old]
    return pytest.mark.parametrize("path", chosen, ids=lambda path: str(path.relative_to(FIXTURES)))


@of_fixtures(old=False)
def test_reader_agrees_with_llvm(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # so that no older clang of this machine comes to help
    data = path.read_bytes()
    check_agreement(path, data, read_with_repairs(data))


@pytest.mark.needs("clang-10 to 16")
@of_fixtures(old=True)
def test_reader_agrees_with_llvm_on_what_an_older_clang_upgrades(path: Path) -> None:
    data = path.read_bytes()
    assembled = lower_by_other_llvm(data)
    assert assembled is not None
    check_agreement(path, data, read_oracle(assembled[0]))


@of_fixtures(old=True)
def test_old_text_is_refused_where_no_older_clang_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(IRParseError):
        parse_ir(path.read_bytes(), name=path.name)


def check_agreement(path: Path, data: bytes, expected: OracleModule) -> None:
    if not any(function.blocks for function in expected.functions):
        with pytest.raises(NoFunctionBodyError):
            parse_ir(data, name=path.name)
        return
    module = parse_ir(data, name=path.name)
    assert set(expected.variables) <= {global_name(line)[1:].strip('"') for line in module.global_lines}
    functions = [function for function in expected.functions if not left_behind(function, expected)]
    assert [function.name for function in module.functions] == [function.name for function in functions]
    for parsed, oracle in zip(module.functions, functions, strict=True):
        assert header(parsed.header) == header(oracle), oracle.name
        assert blocks(blocks_of(parsed)) == blocks(oracle.blocks), oracle.name


def left_behind(function: OracleFunction, module: OracleModule) -> bool:
    """An intrinsic that nothing calls: mirenc leaves it out, since only an upgrade of old IR leaves one behind."""
    used = {
        operand.text
        for other in module.functions
        for block in other.blocks
        for instruction in block.instructions
        for operand in instruction.operands
    }
    return function.name.startswith("llvm.") and f"@{function.name}" not in used


def read_with_repairs(data: bytes) -> OracleModule:
    """What LLVM reads, with mirenc's repairs of old text if it needs them."""
    try:
        return read_oracle(data)
    except RuntimeError:
        return read_oracle(modernise(data.decode()))


def header(function: FunctionHeader | OracleFunction) -> tuple[object, ...]:
    arguments = [(argument.name, argument.type) for argument in function.arguments]
    return function.is_declaration, function.return_type, arguments


def blocks(blocks: Sequence[Block | OracleBlock]) -> list[object]:
    return [(one.name, list(one.successors), [*map(instruction, one.instructions)]) for one in blocks]


def instruction(one: Instruction | OracleInstruction) -> tuple[object, ...]:
    return one.opcode, one.result, [(each.kind, each.type, each.text) for each in one.operands], plain(one.text)


def plain(text: str) -> str:
    """One line without attachments and attribute groups: neither side promises their numbers."""
    text = re.sub(r"(, ![^ ]+ !\d+)+$", "", " ".join(text.split()))
    return re.sub(r"\) #\d+(?= |$)", ")", text)
