"""The grammar of one canonical LLVM 22 instruction, whose local names are placeholders.

The rules are those of the LLVM Language Reference and of what ``AsmWriter.cpp`` prints. LLVM has printed the text, so
nothing is validated. Operands are in the order of LLVM 10's ``User::operands()``, which ProGraML 0.3.2 numbers.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from mirenc.llvm.ir.parser import LABEL_TYPE, FormOperand, Parser

_FAST_MATH = frozenset({"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"})
CASTS = """trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint ptrtoaddr inttoptr bitcast
    addrspacecast""".split()
# Instructions of the shape `OPCODE flag* T v (, v)*` whose further operands share the first one's type.
_SAME_TYPE = frozenset(
    """add fadd sub fsub mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor icmp fcmp fneg
    freeze resume""".split()
)
# Instructions of the shape `OPCODE flag* T v, T v, ...`: how many typed operands to read.
# The mask of `shufflevector` is printed like a third operand but is not one.
_TYPED = dict.fromkeys((*CASTS, "extractvalue", "va_arg"), 1)
_TYPED |= dict.fromkeys(("store", "atomicrmw", "extractelement", "shufflevector", "insertvalue"), 2)
_TYPED |= dict.fromkeys(("select", "cmpxchg", "insertelement"), 3)


class Form(NamedTuple):
    """What instructions of the same text, but for local names, have in common."""

    opcode: str
    statement: str  # of normalisation `locals`
    operands: tuple[FormOperand, ...]  # in LLVM 10's order
    successors: tuple[int, ...]  # placeholders of the successor labels, in successor order (0 = true branch)
    has_result: bool  # which is placeholder 0
    callee: str  # symbol called directly, with its @, or ""
    # Function type of a call, `i32 (ptr, ...)`, or "". Only if it is the callee's own does LLVM see a direct call.
    signature: str
    name_slots: tuple[int, ...]  # placeholders of named types and of blocks inside `blockaddress`
    slots: int  # number of placeholders


class InstructionParser(Parser):
    """Parses one instruction into ``operands``, ``callee`` and ``signature`` (see `Form`)."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.operands: list[FormOperand] = []
        self.callee = self.signature = ""

    def instruction(self) -> tuple[str, bool]:
        """Parse the instruction; returns its opcode, and whether it has a result."""
        has_result = self.kind == "local" and self.words[1] == "="
        if has_result:
            self.position = 2
        if self.word in ("tail", "notail"):  # hints of the optimiser; `musttail` is meaning
            self.drop(self.position, self.position + 1)
            self.position += 1
        elif self.word == "musttail":
            self.position += 1
        opcode = self.word
        self.position += 1
        if opcode in _SAME_TYPE:
            self.skip_flags()
            type_text = self.type()
            self.operands.append(self.value(type_text))
            while self.accept(","):
                self.operands.append(self.value(type_text))
        elif opcode in _TYPED:
            self.skip_flags()
            self._operand()
            for _ in range(_TYPED[opcode] - 1):
                self.position += 1  # comma
                self._operand()
            # A named type behind the operands, as of a cast or `va_arg`.
            self.name_slots += [slot for slot in self.slot_of[self.position :] if slot >= 0]
        elif opcode in ("call", "invoke", "callbr"):
            self._call(opcode)
        elif handler := getattr(self, f"_{opcode}", None):
            handler()
        # `unreachable`, `fence` and whatever else has no operand end here.
        return opcode, has_result

    def _operand(self) -> None:
        """``T v``."""
        self.operands.append(self.value(self.type()))

    def _label(self) -> None:
        """``label %name``."""
        self.position += 2
        self.operands.append(FormOperand("label", LABEL_TYPE, "", self.slot_of[self.position - 1]))

    def _ret(self) -> None:
        if self.word != "void":
            self.operands.append(self.typed_value())

    def _load(self) -> None:
        self.skip_flags()
        self.type()
        self.position += 1  # comma
        self._operand()

    def _alloca(self) -> None:
        self.skip_flags()
        self.type()
        if self.word == "," and self.words[self.position + 1] not in ("align", "addrspace"):
            self.position += 1
            self._operand()
        else:  # LLVM always stores an array size; 1 is not printed
            self.operands.append(FormOperand("constant", "i32", "1"))

    def _getelementptr(self) -> None:
        while self.kind == "word" and not self.at_type():
            self.position += 1
            if self.word == "(":
                self.skip_balanced()
        self.type()
        while self.accept(","):
            self.accept("inrange")
            self._operand()

    def _phi(self) -> None:
        self.skip_flags()
        type_text = self.type()
        while self.accept("["):
            self.operands.append(self.value(type_text))
            self.position += 3  # comma, block, bracket
            self.accept(",")

    def _br(self) -> None:
        if self.word == LABEL_TYPE:
            self._label()
            return
        self._operand()
        for _ in range(2):
            self.position += 1
            self._label()
        self.operands[1:] = self.operands[:0:-1]

    def _switch(self) -> None:
        self._operand()
        self.position += 1
        self._label()
        self.position += 1  # [
        while self.position < self.count and self.word != "]":
            self._operand()
            self.position += 1
            self._label()

    def _indirectbr(self) -> None:
        self._operand()
        self.position += 1
        self._label_list()

    def _label_list(self) -> None:
        self.accept("[")
        while self.position < self.count and not self.accept("]"):
            self._label()
            self.accept(",")

    def _landingpad(self) -> None:
        self.type()
        self.accept("cleanup")
        while self.word in ("catch", "filter"):
            self.position += 1
            self._operand()

    def _pad(self) -> FormOperand:
        """The parent pad: ``none``, or a token printed without its type."""
        self.accept("within")
        self.accept("from")
        return self.value("token")

    def _arguments(self, closer: str) -> None:
        """``T attributes* v, ...`` up to and including the closing bracket; the opening one is read already."""
        while self.position < self.count and not self.accept(closer):
            if not self.accept("..."):  # a musttail call passes its caller's variable arguments on
                self.operands.append(self.typed_value())
            self.accept(",")

    def _catchpad(self) -> None:
        parent = self._pad()
        self.accept("[")
        self._arguments("]")
        self.operands.append(parent)

    _cleanuppad = _catchpad

    def _catchswitch(self) -> None:
        self.operands.append(self._pad())
        self._label_list()
        handlers, self.operands = self.operands[1:], self.operands[:1]
        self._unwind()
        self.operands += handlers

    def _unwind(self) -> None:
        if self.accept("unwind") and self.word == LABEL_TYPE:
            self._label()

    def _cleanupret(self) -> None:
        self.operands.append(self._pad())
        self._unwind()

    def _catchret(self) -> None:
        self.operands.append(self._pad())
        self.position += 1  # to
        self._label()

    def _call(self, opcode: str) -> None:
        self.call_prefix()
        type_text = self.type(function=True)
        callee = self.value(type_text)
        self.accept("(")
        self._arguments(")")
        # The whole function type is printed only where it has variable arguments.
        arguments = ", ".join(operand.type for operand in self.operands)
        self.signature = type_text if type_text.endswith(")") and " (" in type_text else f"{type_text} ({arguments})"
        self.attributes()
        if self.accept("["):  # operand bundles: [ "tag"(T v, ...), ... ]
            while self.position < self.count and not self.accept("]"):
                self.position += 1
                self.accept("(")
                self._arguments(")")
                self.accept(",")
        if self.accept("to"):
            self._label()
            if opcode == "invoke":
                self._unwind()
            else:
                self._label_list()
        # A callee is printed without its own type; it is a pointer.
        self.operands.append(FormOperand(callee.kind, "ptr", callee.text, callee.slot))
        self.callee = callee.text if callee.kind == "symbol" else ""

    def call_prefix(self) -> None:
        """Keep fast-math flags and the calling convention in the statement; drop attributes of the result."""
        while not self.at_type() and self.position < self.count:
            first = self.position
            is_kept = self.word in _FAST_MATH or self.word.endswith("cc") or self.word.startswith("spir_")
            self.skip_word()
            if not is_kept:
                self.drop(first, self.position)


def parse_form(text: str, display: Callable[[str], str]) -> Form:
    """Parse one instruction with ``%`` for local names, but for ``%name`` in the places of `Form.name_slots`."""
    # What ``display`` shows depends on the module, and concerns symbols alone.
    return _parse(text, display) if "@" in text else _parse_cached(text)


@lru_cache(maxsize=1 << 15)
def _parse_cached(text: str) -> Form:
    return _parse(text, str)


def _parse(text: str, display: Callable[[str], str]) -> Form:
    parser = InstructionParser(text)
    opcode, has_result = parser.instruction()
    parser.drop_alignment()
    labels = tuple(operand.slot for operand in parser.operands if operand.kind == "label")
    return Form(
        opcode=opcode,
        statement=parser.statement(display),
        operands=tuple(parser.operands),
        successors=labels[::-1] if opcode == "br" else labels,  # LLVM stores the operands of a branch from the back
        has_result=has_result,
        callee=parser.callee,
        signature=parser.signature,
        name_slots=tuple(sorted(set(parser.name_slots))),
        slots=parser.slots,
    )
