"""A module's arrays as objects, for expectations: blocks, instructions and operands as LLVM prints them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mirenc.llvm.ir.lines import label_name
from mirenc.llvm.ir.module import IRFunction, IRModule, OperandKind


class Operand(NamedTuple):
    """Kind (a name of `OperandKind`, in lower case), type where it is used, and value as printed."""

    kind: str
    type: str
    text: str


@dataclass(frozen=True)
class Instruction:
    """``text`` is canonical, on one line; ``result`` is a name without ``%``; operands are in LLVM 10's order."""

    opcode: str
    text: str
    statement: str
    result: str | None
    operands: list[Operand]


@dataclass(frozen=True)
class Block:
    """``name`` is "" for an entry block without a label; successors are numbers of blocks in the function."""

    name: str
    instructions: list[Instruction]
    successors: list[int]


def instruction_of(module: IRModule, row: int) -> Instruction:
    """The instruction of that number in the module."""
    arrays, names, operands = module.arrays, module.local_names(row), []
    form = module.forms[int(arrays.form[row])]
    for place, operand in enumerate(form.operands, arrays.operand_start[row]):
        text = operand.text if operand.slot < 0 else (operand.text or "%") + names[operand.slot]
        operands.append(Operand(OperandKind(arrays.operand_kind[place]).name.lower(), operand.type, text))
    result = names[0].strip('"') if form.has_result else None
    return Instruction(form.opcode, module.lines[int(arrays.line[row])].strip(), form.statement, result, operands)


def instructions_of(function: IRFunction) -> list[Instruction]:
    """All instructions of a function."""
    return [instruction_of(function.module, row) for row in range(function.header.first, function.header.last)]


def blocks_of(function: IRFunction) -> list[Block]:
    """The basic blocks of a function."""
    module, arrays, blocks = function.module, function.module.arrays, []
    for number in range(function.header.first_block, function.header.last_block):
        first, last = arrays.block_start[number : number + 2].tolist()
        line = module.lines[arrays.line[first] - 1]
        name = "" if line.startswith("define ") else label_name(line).strip('"')
        successors = arrays.successor[slice(*arrays.successor_start[number : number + 2])]
        rows = [instruction_of(module, row) for row in range(first, last)]
        blocks.append(Block(name, rows, (successors - function.header.first_block).tolist()))
    return blocks
