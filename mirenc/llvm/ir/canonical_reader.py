"""`read_canonical`: from the text that LLVM 22 prints to an `IRModule`.

A line without its local names is a template. Equal templates are parsed once, to a `Form`.
"""

import contextlib
import gc
import itertools
import re
from collections.abc import Callable, Iterator

import numpy as np

from mirenc.base.arrays import Int64, spread, starts
from mirenc.base.errors import IRParseError, IRResourceError
from mirenc.llvm.ir.grammar import Form, parse_form
from mirenc.llvm.ir.lines import fill, join_lines, label_name, split_all, without_attachments
from mirenc.llvm.ir.module import FunctionHeader, IRModule, ModuleArrays, OperandKind, Rows
from mirenc.llvm.ir.parser import parse_header
from mirenc.llvm.ir.symbols import display_symbols

# Attachments that are read later: source places and profiles.
_ANNOTATIONS = ("!DILocation(", " !prof !", '!"llvm.loop.estimated_trip_count"')
_SOURCE_NAME = re.compile(r'^source_filename = "([^"]*)"', re.MULTILINE)

# Code of a local name in its function: its number, and above these bits which of these kinds it is.
_LOCAL_KINDS = np.array([OperandKind.INSTRUCTION, OperandKind.ARGUMENT, OperandKind.BLOCK])
_NUMBER_BITS = 40
_ARGUMENT, _BLOCK = 1 << _NUMBER_BITS, 2 << _NUMBER_BITS
# Row of a form (-1: it still lacks names of types), number of its placeholders, whether it has a result, the form.
_Entry = tuple[int, int, bool, Form]
# Characters; parsing takes some hundred bytes of memory for each. A case of a switch has about 40.
_LONGEST_INSTRUCTION = 4 << 20


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Switch cyclic garbage collection off: reading creates 100,000s of objects that live on, and no cycles."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def read_canonical(text: str, *, name: str, demangle: Callable[[list[str]], list[str]] | None = None) -> IRModule:
    """Read the text that LLVM 22 printed for a verified module.

    ``name`` is for messages. ``demangle`` turns mangled symbols to readable ones; without it statements keep them.
    """
    annotated = join_lines(text)
    # ModuleID names the input file or memory buffer; the content hash must not depend on it.
    if annotated.startswith("; ModuleID"):
        annotated = annotated[annotated.index("\n") + 1 :]
    text = without_attachments(annotated)
    if not any(mark in annotated for mark in _ANNOTATIONS):
        annotated = ""
    source = _SOURCE_NAME.search(text)
    source_name = source[1] if source else ""
    display = display_symbols(text, demangle)
    reading = _Reading(lambda symbol: display.get(symbol, symbol))
    symbols, constants, types = Rows[str](), Rows[tuple[str, str]](), Rows[str]()
    with no_collection():
        reading.run(text.split("\n"))
        # An intrinsic that nothing calls is left over from LLVM's upgrade of old IR (llvm.dbg.*, llvm.lifetime.*.i64):
        # it depends on the clang that wrote the file, not on the program.
        called_names = {form.callee[1:] for form in reading.forms}
        reading.headers = [
            header for header in reading.headers if not header.name.startswith("llvm.") or header.name in called_names
        ]
        arrays = _gather(reading, symbols, constants, types)
        fields = name, source_name, text, reading.headers, reading.type_lines, reading.global_lines
        tables = list(symbols), list(constants), list(types)
        return IRModule(*fields, reading.forms, *tables, display, arrays, annotated)


class _Reading:
    """One pass over the lines of a module; `_gather` makes arrays of what it collects."""

    def __init__(self, display: Callable[[str], str]) -> None:
        self.display = display
        self.forms: list[Form] = []  # the distinct ones
        self.by_template: dict[str, _Entry] = {}
        self.by_names: dict[tuple[str, ...], _Entry] = {}
        self.headers: list[FunctionHeader] = []
        self.type_lines: list[str] = []
        self.global_lines: list[str] = []
        self.inst_form: list[int] = []
        self.inst_line: list[int] = []
        self.block_start: list[int] = []
        self.codes: list[Int64] = []

    def run(self, lines: list[str]) -> None:
        number, count = 0, len(lines)
        while number < count:
            line = lines[number]
            number += 1
            if line.startswith("define "):
                number = self._function(lines, number)
            elif line.startswith("declare "):
                row, block = len(self.inst_form), len(self.block_start)
                self.headers.append(FunctionHeader(*parse_header(line)[0], True, row, row, block, block, number - 1))
            elif line.startswith("%"):
                self.type_lines.append(line)
            elif line.startswith("@"):
                self.global_lines.append(line)

    def _function(self, lines: list[str], number: int) -> int:
        """Read the function whose ``define`` line is ``lines[number - 1]``; returns the number of the line after it."""
        first, first_block = len(self.inst_form), len(self.block_start)
        header_fields, argument_names = parse_header(lines[number - 1])
        end = lines.index("}", number)
        body = lines[number:end]
        is_instruction = [line.startswith("  ") for line in body]
        values: dict[str, int] = {name: _ARGUMENT + index for index, name in enumerate(argument_names)}
        if is_instruction[0]:
            self.block_start.append(first)  # an entry block without a printed label
        label_rows = [row for row, flag in enumerate(is_instruction) if not flag]
        for label_count, row in enumerate(label_rows):
            line = body[row]
            if line and line[0] != ";":
                values[label_name(line)] = _BLOCK + len(self.block_start)
                self.block_start.append(first + row - label_count)
        self.inst_line += itertools.compress(range(number, end), is_instruction)
        names = self._instructions(list(itertools.compress(body, is_instruction)), values)
        self.codes.append(np.fromiter(map(values.get, names, itertools.repeat(-1)), np.int64, len(names)))
        ranges = first, len(self.inst_form), first_block, len(self.block_start), number - 1
        self.headers.append(FunctionHeader(*header_fields, False, *ranges))
        return end + 1

    def _instructions(self, lines: list[str], values: dict[str, int]) -> list[str]:
        """Read the instructions of a function and add their results to ``values``; returns the local names in them."""
        templates, names = split_all(lines)
        by_template = self.by_template
        inst_form = self.inst_form
        position = 0
        # This loop runs once per instruction.
        for index, template in enumerate(templates, len(inst_form)):
            row, slots, has_result, form = by_template.get(template) or self._add(template)
            if row < 0:
                row, slots, has_result, form = self._resolve(template, form, names[position : position + slots])
            if has_result:
                values[names[position]] = index
            position += slots
            inst_form.append(row)
        return names

    def _add(self, template: str) -> _Entry:
        """Parse a new template, which still has the indentation of its line."""
        return self.by_template.setdefault(template, self._parse(template.strip(), resolved=False))

    def _resolve(self, template: str, pattern: Form, names: list[str]) -> _Entry:
        """The form of a template some of whose placeholders stand for names of types or blocks."""
        key = (template, *(names[slot] for slot in pattern.name_slots))
        if key not in self.by_names:
            self.by_names[key] = self._parse(fill(template.strip(), pattern.name_slots, names), resolved=True)
        return self.by_names[key]

    def _parse(self, text: str, *, resolved: bool) -> _Entry:
        if len(text) > _LONGEST_INSTRUCTION:
            cause = f"an instruction takes {len(text):,} characters as text ({text[:40]} ...), of 4 Mi allowed"
            raise IRResourceError(f"{cause}: LLVM prints large constants in full at each use. Leave the file out")
        form = parse_form(text, self.display)
        if form.name_slots and not resolved:  # stands for several forms, one for each set of names of types
            return -1, form.slots, form.has_result, form
        self.forms.append(form)
        return len(self.forms) - 1, form.slots, form.has_result, form


def _gather(reading: _Reading, symbols: Rows[str], constants: Rows[tuple[str, str]], types: Rows[str]) -> ModuleArrays:
    """Arrays of all instructions, from their forms; adds to the tables of symbols, constants and types."""
    forms = reading.forms
    functions = {"@" + header.name: header.signature for header in reading.headers}
    # Operands and callees of every form, flat.
    operand_rows: list[tuple[int, int, int, int]] = []  # kind, slot, reference, type
    callees: list[int] = []
    for form in forms:
        for operand in form.operands:
            kind_of, slot, ref_of = OperandKind.INSTRUCTION, operand.slot, -1  # a local: replaced by its code
            if operand.kind == "symbol":
                kind_of = OperandKind.FUNCTION if operand.text in functions else OperandKind.GLOBAL
                ref_of = symbols[operand.text]
            elif operand.kind == "constant":
                kind_of, ref_of = OperandKind.CONSTANT, constants[operand.type, operand.text]
            elif operand.kind in ("metadata", "asm"):
                kind_of, slot = OperandKind[operand.kind.upper()], -1
            operand_rows.append((kind_of, slot, ref_of, types[operand.type]))
        is_direct = form.callee and functions.get(form.callee) == form.signature
        callees.append(symbols[form.callee] if is_direct else -1)
    op_kind, op_slot, op_ref, op_type = np.array(operand_rows, np.int64).reshape(-1, 4).T
    op_count = np.array([len(form.operands) for form in forms], dtype=np.int64)
    succ_count = np.array([len(form.successors) for form in forms], dtype=np.int64)
    succ_slot = np.array([slot for form in forms for slot in form.successors], np.int64)

    form_of = np.array(reading.inst_form, dtype=np.int64)  # (I,)
    codes = np.concatenate(reading.codes) if reading.codes else np.zeros(0, np.int64)
    slot_count = np.array([form.slots for form in forms], dtype=np.int64)[form_of]
    slot_start = starts(slot_count)[:-1]

    operand_counts = op_count[form_of]
    op_bounds = starts(op_count)
    rows, operand_start = spread(op_bounds[form_of], op_bounds[form_of + 1])  # (P,), (I + 1,)
    kind = op_kind[rows]
    ref = op_ref[rows]
    is_local = op_slot[rows] >= 0
    code = codes[(np.repeat(slot_start, operand_counts) + op_slot[rows])[is_local]]
    if code.size and code.min() < 0:
        raise IRParseError("a local name has no definition in the canonical text (a bug of mirenc)")
    ref[is_local] = code & (_ARGUMENT - 1)
    kind[is_local] = _LOCAL_KINDS[code >> _NUMBER_BITS]

    block_start = np.array([*reading.block_start, len(form_of)], dtype=np.int64)  # (B + 1,)
    # Only the last instruction of a block has successors.
    succ_per_inst, succ_bounds = succ_count[form_of], starts(succ_count)
    succ_rows, _ = spread(succ_bounds[form_of], succ_bounds[form_of + 1])
    successor = codes[np.repeat(slot_start, succ_per_inst) + succ_slot[succ_rows]] - _BLOCK
    last = block_start[1:] - 1
    sizes = [header.last - header.first for header in reading.headers]
    columns = {
        "form": form_of,
        "block": np.repeat(np.arange(len(block_start) - 1), np.diff(block_start)),
        "function": np.repeat(np.arange(len(sizes)), sizes),
        "line": np.array(reading.inst_line),
        "block_start": block_start,
        "operand_start": operand_start,
        "operand_ref": ref,
        "operand_type": op_type[rows],
        "successor_start": starts(succ_per_inst[last]),
        "successor": successor,
        "callee": np.array(callees, dtype=np.int64)[form_of],
    }
    int32_columns = {name: column.astype(np.int32) for name, column in columns.items()}
    return ModuleArrays(operand_kind=kind.astype(np.int8), **int32_columns)
