"""A second, slow reader of LLVM IR: the oracle `mirenc.llvm` is compared with.

It asks LLVM's own objects, value by value through llvmlite, and shares no code and no idea with `mirenc.llvm`, which
parses the printed text. Where both agree, an error would have to be made twice. What llvmlite 0.50 (LLVM 22) lacks:

- Operands come in the order of LLVM 10, but the values of a ``switch`` are none since LLVM 22: they are read from the
  printed instruction and put back.
- Unnamed values are counted by LLVM's rule (arguments, then each block and its results), unnamed types over
  ``module.struct_types``; unnamed globals, constants, metadata and assembler are known by what LLVM prints for them.
- ``dso_local_equivalent`` and ``no_cfi`` report the kind of an instruction, ``zeroinitializer`` of a target type one
  that the binding does not know: ``is_constant`` decides.
- Aliases and ifuncs cannot be listed, only met as operands: `OracleModule.variables` lacks them.
- Debug records, attribute groups and metadata attachments are not compared.
"""

import re
from typing import NamedTuple

import llvmlite.binding as llvm
from llvmlite.binding.value import TypeRef, ValueKind, ValueRef

_BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_GLOBAL_KINDS = {ValueKind.global_variable, ValueKind.global_alias, ValueKind.global_ifunc}
_KINDS = {
    ValueKind.basic_block: "block",
    ValueKind.function: "function",
    ValueKind.metadata_as_value: "metadata",
    ValueKind.inline_asm: "asm",
    ValueKind.argument: "argument",
}
_TERMINATORS = set("br switch indirectbr invoke callbr catchswitch catchret cleanupret".split())


class OracleOperand(NamedTuple):
    """One operand: kind, type and value as LLVM prints them ("label" and "metadata" are types)."""

    kind: str
    type: str
    text: str


class OracleInstruction(NamedTuple):
    """One instruction; `text` is LLVM's print-out with every run of white space made one space."""

    opcode: str
    result: str | None
    operands: list[OracleOperand]
    text: str


class OracleBlock(NamedTuple):
    """One block; `name` is "" for an entry block without a name, as LLVM prints no label for it."""

    name: str
    instructions: list[OracleInstruction]
    successors: list[int]


class OracleArgument(NamedTuple):
    """One argument; `name` is "" in a declaration."""

    name: str
    type: str


class OracleFunction(NamedTuple):
    """One function."""

    name: str
    is_declaration: bool
    return_type: str
    arguments: list[OracleArgument]
    blocks: list[OracleBlock]


class OracleModule(NamedTuple):
    """One module; `variables` are the names of its global variables."""

    functions: list[OracleFunction]
    variables: list[str]


def read_oracle(data: str | bytes) -> OracleModule:
    """Read IR text or bitcode in this process; raises RuntimeError with LLVM's words."""
    # A context of its own: in a shared one, a type whose name an earlier module used is renamed.
    # Both are closed here, because the garbage collector may take the context before the module.
    with llvm.create_context() as context, _parse(data, context) as module:
        module.verify()
        types = _TypeNames(module)
        return OracleModule(
            functions=[_read_function(function, types) for function in module.functions],
            variables=[_symbol(value) for value in module.global_variables],
        )


def _parse(data: str | bytes, context: llvm.ContextRef) -> llvm.ModuleRef:
    if isinstance(data, bytes) and data.startswith(_BITCODE_MAGIC):
        return llvm.parse_bitcode(data, context)
    return llvm.parse_assembly(data.decode() if isinstance(data, bytes) else data, context)


def escape(name: str) -> str:
    """Return `name` with the escapes LLVM prints inside quotes, without the quotes."""
    pieces = []
    for byte in name.encode("utf-8", "surrogateescape"):
        if byte == 0x5C:
            pieces.append("\\\\")
        elif byte == 0x22 or not 0x20 <= byte < 0x7F:
            pieces.append(f"\\{byte:02X}")
        else:
            pieces.append(chr(byte))
    return "".join(pieces)


def quote(name: str) -> str:
    """Return `name` as LLVM prints it after ``%`` or ``@``: in quotes where it needs them."""
    plain = re.fullmatch(r"[-a-zA-Z._][-a-zA-Z._0-9]*", name)
    return name if plain else f'"{escape(name)}"'


class _TypeNames:
    """Types as text, as the whole module prints them."""

    def __init__(self, module: llvm.ModuleRef) -> None:
        self._numbers: dict[str, str] = {}
        for type_ in module.struct_types:
            # An unnamed type prints as an address when it is asked for alone
            address = re.match(r'(%"type 0x[0-9a-f]+") = type ', str(type_))
            if address and not type_.name:
                self._numbers[address[1]] = f"%{len(self._numbers)}"

    def text(self, type_: TypeRef) -> str:
        """Return the type as it stands in front of a value."""
        if type_.is_struct and not type_.is_literal_struct and type_.name:
            return "%" + quote(type_.name)
        text = str(type_)
        if type_.is_struct and not type_.is_literal_struct:
            text = text.partition(" = type ")[0]
        return self.numbered(text)

    def numbered(self, text: str) -> str:
        """Return `text` with the addresses of unnamed types replaced by their numbers."""
        if '%"type 0x' not in text:
            return text
        return re.sub(r'%"type 0x[0-9a-f]+"', lambda match: self._numbers[match[0]], text)


def _symbol(value: ValueRef) -> str:
    """Return a global's name without ``@``; its number where it has no name."""
    if value.name:
        return escape(value.name)
    number = re.search(r"@(\d+)(?= =|\()", str(value))
    assert number is not None, str(value)
    return number[1]


def _read_function(function: ValueRef, types: _TypeNames) -> OracleFunction:
    arguments = list(function.arguments)
    blocks = list(function.blocks)
    names = _local_names(arguments, blocks)
    declared = bool(function.is_declaration)
    return OracleFunction(
        name=_symbol(function),
        is_declaration=declared,
        return_type=types.text(function.global_value_type.get_function_return()),
        arguments=[
            OracleArgument("" if declared else _bare(names[argument]), types.text(argument.type))
            for argument in arguments
        ],
        blocks=[_read_block(block, names, {block: at for at, block in enumerate(blocks)}, types) for block in blocks],
    )


def _local_names(arguments: list[ValueRef], blocks: list[ValueRef]) -> dict[ValueRef, str]:
    """Return the printed name, without ``%``, of every argument, block and result."""
    values = list(arguments)
    for block in blocks:
        values.append(block)
        values += [value for value in block.instructions if str(value.type) != "void"]
    names: dict[ValueRef, str] = {}
    unnamed = 0
    for value in values:
        if value.name:
            names[value] = quote(value.name)
        else:
            names[value] = str(unnamed)
            unnamed += 1
    return names


def _bare(name: str) -> str:
    return name[1:-1] if name.startswith('"') else name


def _read_block(
    block: ValueRef, names: dict[ValueRef, str], numbers: dict[ValueRef, int], types: _TypeNames
) -> OracleBlock:
    instructions = list(block.instructions)
    last = instructions[-1]
    successors: list[int] = []
    if last.opcode in _TERMINATORS:
        successors = [numbers[operand] for operand in last.operands if operand in numbers]
    if last.opcode == "br":
        successors.reverse()  # stored from the back: false, true
    is_unlabelled = numbers[block] == 0 and not block.name
    return OracleBlock(
        name="" if is_unlabelled else _bare(names[block]),
        instructions=[_read_instruction(value, names, types) for value in instructions],
        successors=successors,
    )


def _read_instruction(value: ValueRef, names: dict[ValueRef, str], types: _TypeNames) -> OracleInstruction:
    printed = str(value)
    operands = [_read_operand(operand, names, types) for operand in value.operands]
    if value.opcode == "switch":
        operands = _with_case_values(operands, printed)
    return OracleInstruction(
        opcode=value.opcode,
        result=_bare(names[value]) if value in names else None,
        operands=operands,
        text=" ".join(printed.split()),
    )


def _with_case_values(operands: list[OracleOperand], printed: str) -> list[OracleOperand]:
    """Put the case values of a ``switch`` back in front of their labels."""
    cases = re.findall(r"^    (i\d+) (\S+), label ", printed, re.MULTILINE)
    condition, default, *labels = operands
    result = [condition, default]
    for (type_, value), label in zip(cases, labels, strict=True):
        result += [OracleOperand("constant", type_, value), label]
    return result


def _read_operand(value: ValueRef, names: dict[ValueRef, str], types: _TypeNames) -> OracleOperand:
    type_text = types.text(value.type)
    kind = _operand_kind(value)
    if kind in {"instruction", "argument", "block"}:
        return OracleOperand(kind, type_text, "%" + names[value])
    if kind in {"function", "global"}:
        return OracleOperand(kind, type_text, "@" + (quote(value.name) if value.name else _symbol(value)))
    printed = types.numbered(str(value))
    if kind == "metadata":
        # A node prints with its definition, `!3 = !{...}`; a value or a string stands for itself
        return OracleOperand(kind, type_text, re.sub(r"\A(!\d+) = .*", r"\1", printed))
    return OracleOperand(kind, type_text, printed.removeprefix(type_text + " "))


def _operand_kind(value: ValueRef) -> str:
    try:
        kind = value.value_kind
    except ValueError:
        return "constant"
    if kind in _GLOBAL_KINDS:
        return "global"
    if kind in _KINDS:
        return _KINDS[kind]
    return "constant" if value.is_constant else "instruction"
