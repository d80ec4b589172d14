"""The grammar of one canonical LLVM 22 instruction, whose local names are placeholders.

`parse_form` is called once for each *distinct* text, which is what makes a pure Python reader fast: a module of
230,000 instructions has about 10,000. LLVM has printed the text, so this is no validator. Source of the rules: LLVM
Language Reference and ``AsmWriter.cpp``'s output. Operand order is that of LLVM 10's ``User::operands()``, which is
what ProGraML 0.3.2 numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from mirenc.ir.parser import LABEL_TYPE, FormOperand, Parser

__all__ = ["Form", "InstructionParser", "parse_form"]

_FAST_MATH = frozenset({"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"})
# `tail` and `notail` are hints of the optimiser, not meaning; `musttail` is meaning.
_DROPPED_PREFIXES = frozenset({"tail", "notail"})
_CASTS = frozenset(
    """trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint ptrtoaddr inttoptr bitcast
    addrspacecast""".split()
)
# Instructions of the shape `OPCODE flag* T v (, v)*` whose further operands share the first one's type.
_SAME_TYPE = frozenset(
    """add fadd sub fsub mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor icmp fcmp fneg
    freeze resume""".split()
)
# Instructions of the shape `OPCODE flag* T v, T v, ...`: how many typed operands to read.
_TYPED = {
    "store": 2,
    "select": 3,
    "cmpxchg": 3,
    "atomicrmw": 2,
    "extractelement": 2,
    "insertelement": 3,
    "shufflevector": 2,  # the mask is printed like a third operand but is not one
    "insertvalue": 2,
    "extractvalue": 1,
    "va_arg": 1,
}


class Form(NamedTuple):
    """Everything that instructions of equal text (up to local names) have in common.

    Attributes
    ----------
    opcode : str
    statement : str
        The normalised statement, normalisation ``locals``.
    operands : tuple of FormOperand
        In LLVM 10's operand order.
    successors : tuple of int
        Placeholders of the successor labels, in successor order (0 = true branch).
    has_result : bool
        Placeholder 0 is the result.
    callee : str
        Symbol called directly (with ``@``), or "".
    signature : str
        Function type of a call, ``i32 (ptr, ...)``; "" for other instructions. A call whose type is not the
        callee's own (C without prototypes, calls through a cast) is no direct call for LLVM.
    name_slots : tuple of int
        Placeholders that are no value of the function: named types, blocks inside ``blockaddress``.
    slots : int
        Number of placeholders.
    """

    opcode: str
    statement: str
    operands: tuple[FormOperand, ...]
    successors: tuple[int, ...]
    has_result: bool
    callee: str
    signature: str
    name_slots: tuple[int, ...]
    slots: int


class InstructionParser(Parser):
    """Reads one instruction; what a call adds is left in ``callee`` and ``signature`` (see `Form`)."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.callee = ""
        self.signature = ""

    def instruction(self) -> tuple[str, list[FormOperand], list[int], bool]:
        """Read one instruction: opcode, operands, successor slots, has a result; sets callee and signature."""
        has_result = self.kind == "local" and self.words[1] == "="
        if has_result:
            self.at = 2
        if self.word in _DROPPED_PREFIXES:
            self.drop(self.at, self.at + 1)
            self.at += 1
        elif self.word == "musttail":
            self.at += 1
        opcode = self.word
        self.at += 1
        operands: list[FormOperand] = []
        successors: list[int] = []
        if opcode in _SAME_TYPE:
            self.skip_flags()
            type_text = self.type()
            operands.append(self.value(type_text))
            while self.accept(","):
                operands.append(self.value(type_text))
        elif opcode in _CASTS:
            self.skip_flags()
            operands.append(self.value(self.type()))
            self.at += 1  # to
            self.type()
        elif opcode in _TYPED:
            self.skip_flags()
            operands.append(self.value(self.type()))
            for _ in range(_TYPED[opcode] - 1):
                self.at += 1  # comma
                operands.append(self.value(self.type()))
            self._rest_types()
        elif opcode in ("call", "invoke", "callbr"):
            self._call(opcode, operands, successors)
        elif handler := getattr(self, f"_{opcode}", None):
            handler(operands, successors)
        # `unreachable`, `fence` and whatever else has no operand end here.
        return opcode, operands, successors, has_result

    def _rest_types(self) -> None:
        """Walk what follows the operands, so that a named type there is seen as a name (`va_arg`)."""
        for index in range(self.at, self.count):
            if self.kinds[index] == "local":
                self.name_slots.append(self.slot_of[index])

    def _ret(self, operands: list[FormOperand], successors: list[int]) -> None:
        if self.word != "void":
            operands.append(self.typed_value())

    def _load(self, operands: list[FormOperand], successors: list[int]) -> None:
        self.skip_flags()
        self.type()
        self.at += 1  # comma
        operands.append(self.value(self.type()))

    def _alloca(self, operands: list[FormOperand], successors: list[int]) -> None:
        self.skip_flags()
        self.type()
        size = FormOperand("constant", "i32", "1")  # LLVM always stores an array size; 1 is not printed
        if self.word == "," and self.words[self.at + 1] not in ("align", "addrspace"):
            self.at += 1
            size = self.value(self.type())
        operands.append(size)

    def _getelementptr(self, operands: list[FormOperand], successors: list[int]) -> None:
        while self.kind == "word" and not self.at_type():
            self.at += 1
            if self.word == "(":
                self.skip_balanced()
        self.type()
        while self.accept(","):
            self.accept("inrange")
            operands.append(self.value(self.type()))

    def _phi(self, operands: list[FormOperand], successors: list[int]) -> None:
        self.skip_flags()
        type_text = self.type()
        while self.accept("["):
            operands.append(self.value(type_text))
            self.at += 3  # comma, block, bracket
            self.accept(",")

    def _br(self, operands: list[FormOperand], successors: list[int]) -> None:
        if self.word == LABEL_TYPE:
            operands.append(self.label())
            successors.append(operands[0].slot)
            return
        operands.append(self.value(self.type()))
        self.at += 1
        true = self.label()
        self.at += 1
        false = self.label()
        operands += [false, true]  # LLVM stores the operands of a branch from the back
        successors += [true.slot, false.slot]

    def _switch(self, operands: list[FormOperand], successors: list[int]) -> None:
        operands.append(self.value(self.type()))
        self.at += 1
        operands.append(self.label())
        self.at += 1  # [
        while self.at < self.count and self.word != "]":
            operands.append(self.value(self.type()))
            self.at += 1
            operands.append(self.label())
        successors += [operand.slot for operand in operands if operand.kind == "label"]

    def _indirectbr(self, operands: list[FormOperand], successors: list[int]) -> None:
        operands.append(self.value(self.type()))
        self.at += 1
        self._label_list(operands)
        successors += [operand.slot for operand in operands if operand.kind == "label"]

    def _label_list(self, operands: list[FormOperand]) -> None:
        self.accept("[")
        while self.at < self.count and not self.accept("]"):
            operands.append(self.label())
            self.accept(",")

    def _landingpad(self, operands: list[FormOperand], successors: list[int]) -> None:
        self.type()
        self.accept("cleanup")
        while self.word in ("catch", "filter"):
            self.at += 1
            operands.append(self.value(self.type()))

    def _pad(self) -> FormOperand:
        """The parent pad: ``none`` or a token value printed without its type."""
        self.accept("within")
        self.accept("from")
        return self.value("token")

    def _arguments(self, operands: list[FormOperand], closer: str) -> None:
        """``T attributes* v, ...`` up to and with the closer; the opener is already read."""
        while self.at < self.count and not self.accept(closer):
            if not self.accept("..."):  # a musttail call passes its caller's variable arguments on
                operands.append(self.typed_value())
            self.accept(",")

    def _catchpad(self, operands: list[FormOperand], successors: list[int]) -> None:
        parent = self._pad()
        self.accept("[")
        self._arguments(operands, "]")
        operands.append(parent)

    _cleanuppad = _catchpad

    def _catchswitch(self, operands: list[FormOperand], successors: list[int]) -> None:
        operands.append(self._pad())
        handlers: list[FormOperand] = []
        self._label_list(handlers)
        self._unwind(operands)
        operands += handlers
        successors += [operand.slot for operand in operands if operand.kind == "label"]

    def _unwind(self, operands: list[FormOperand]) -> None:
        if self.accept("unwind") and self.word == LABEL_TYPE:
            operands.append(self.label())

    def _cleanupret(self, operands: list[FormOperand], successors: list[int]) -> None:
        operands.append(self._pad())
        self._unwind(operands)
        successors += [operand.slot for operand in operands if operand.kind == "label"]

    def _catchret(self, operands: list[FormOperand], successors: list[int]) -> None:
        operands.append(self._pad())
        self.at += 1  # to
        operands.append(self.label())
        successors.append(operands[-1].slot)

    def _call(self, opcode: str, operands: list[FormOperand], successors: list[int]) -> None:
        self.call_prefix()
        type_text = self.type(function=True)
        callee = self.value(type_text)
        # A callee is printed without its own type; it is a pointer.
        callee = FormOperand(callee.kind, "ptr", callee.text, callee.slot)
        self.accept("(")
        self._arguments(operands, ")")
        # The whole function type is printed only where it has variable arguments.
        arguments = ", ".join(operand.type for operand in operands)
        self.signature = type_text if type_text.endswith(")") and " (" in type_text else f"{type_text} ({arguments})"
        self.attributes()
        if self.accept("["):  # operand bundles: [ "tag"(T v, ...), ... ]
            while self.at < self.count and not self.accept("]"):
                self.at += 1
                self.accept("(")
                self._arguments(operands, ")")
                self.accept(",")
        if self.accept("to"):
            normal = self.label()
            operands.append(normal)
            successors.append(normal.slot)
            targets: list[FormOperand] = []
            if opcode == "invoke":
                self._unwind(targets)
            else:
                self._label_list(targets)
            operands += targets
            successors += [target.slot for target in targets]
        operands.append(callee)
        self.callee = callee.text if callee.kind == "symbol" else ""

    def call_prefix(self) -> None:
        """Fast-math flags and calling convention stay, return attributes go."""
        while not self.at_type() and self.at < self.count:
            first = self.at
            kept = self.word in _FAST_MATH or self.word.endswith("cc") or self.word.startswith("spir_")
            self.at += 1
            if self.word == "=":  # a string attribute with a value
                self.at += 2
            elif self.word == "(":
                self.skip_balanced()
            elif self.kind == "number" and self.words[first] in ("align", "cc"):
                self.at += 1
            if not kept:
                self.drop(first, self.at)


def parse_form(text: str, display: Callable[[str], str]) -> Form:
    """Parse one instruction, without leading space or metadata attachments.

    Every local name is ``%`` alone, or ``%name`` once `Form.name_slots` of the same text are known. ``display`` is how
    a symbol (with its ``@``) is shown in statements, for demangling.
    """
    # Only a symbol is shown in a way that depends on the module.
    return _parsed(text, display) if "@" in text else _parsed_once(text)


@lru_cache(maxsize=1 << 15)
def _parsed_once(text: str) -> Form:
    return _parsed(text, str)


def _parsed(text: str, display: Callable[[str], str]) -> Form:
    parser = InstructionParser(text)
    opcode, operands, successors, has_result = parser.instruction()
    parser.drop_alignment()
    return Form(
        opcode=opcode,
        statement=parser.statement(display),
        operands=tuple(operands),
        successors=tuple(successors),
        has_result=has_result,
        callee=parser.callee,
        signature=parser.signature,
        name_slots=tuple(sorted(set(parser.name_slots))),
        slots=parser.slots,
    )
