"""The grammar of one canonical LLVM 22 instruction.

`parse_form` reads one instruction whose local names are placeholders and returns its `Form`: opcode,
operands, successors and the normalised statement. It is called once per *distinct* instruction text, not once
per instruction, which is what makes a pure Python reader fast: a 230,000-instruction module has about
10,000 of them.

The text comes from LLVM's own printer, so this is a reader of one dialect and not a validator: LLVM has
already accepted the module. Source of the rules: LLVM Language Reference and ``AsmWriter.cpp``'s output.
Operand order is that of LLVM 10's ``User::operands()``, which is what ProGraML 0.3.2 numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["LABEL_TYPE", "Form", "FormOperand", "Parser", "parse_form"]

LABEL_TYPE = "label"

# One token of canonical IR, frequent kinds first. A local is `%` alone (a placeholder) or `%name` (a resolved type or
# block name).
_TOKEN = re.compile(
    r"""
      (?P<local>%(?:[-a-zA-Z$._0-9]+|"[^"]*")?)
    | (?P<punct>[][(){}<>,=*|:])
    | (?P<string>c?"[^"]*")
    | (?P<number>[-+]?[0-9][-+.\w]*|[a-z]?0x[0-9A-Za-z]+)
    | (?P<word>\.\.\.|[a-zA-Z_$.][\w$.-]*)
    | (?P<global>@(?:[-a-zA-Z$._0-9]+|"[^"]*"))
    | (?P<meta>!(?:[-a-zA-Z$._0-9\\]+)?)
    | (?P<group>\#[0-9]+)
    """,
    re.VERBOSE,
)
_TYPE_WORD = re.compile(
    r"(?:i[0-9]+|b[0-9]+|void|half|bfloat|float|double|x86_fp80|fp128|ppc_fp128|x86_mmx|x86_amx|ptr|label"
    r"|metadata|token|target|opaque)\Z"
)
_OPENERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_SIMPLE_VALUES = frozenset({"true", "false", "null", "none", "undef", "poison", "zeroinitializer"})
# Words that begin a constant which goes on in parentheses (constant expressions and their like).
_CONSTANT_WORDS = frozenset(
    """add addrspacecast bitcast blockaddress extractelement getelementptr insertelement inttoptr mul ptrauth
    ptrtoaddr ptrtoint shl shufflevector splat sub trunc xor""".split()
)
_NAMED_CONSTANT_WORDS = frozenset({"dso_local_equivalent", "no_cfi"})
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


class FormOperand(NamedTuple):
    """One operand of a form.

    Attributes
    ----------
    kind : str
        ``local`` (an instruction's result or an argument), ``label``, ``constant``, ``symbol`` (a global,
        alias, ifunc or function by name), ``metadata`` or ``asm``.
    type : str
        The type as printed where it is used; ``label`` for a label.
    text : str
        The value as printed; empty for ``local`` and ``label``.
    slot : int
        Which placeholder holds the name of a ``local``, of a ``label`` or of the local that ``metadata`` wraps (its
        text then ends in the placeholder), counted from 0; -1 otherwise.
    """

    kind: str
    type: str
    text: str = ""
    slot: int = -1


class Form(NamedTuple):
    """Everything that instructions of equal text (up to local names) have in common.

    Attributes
    ----------
    opcode : str
    statement : str
        The normalised statement, level ``locals``.
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


class Parser:
    """A cursor over the tokens of one line. Not for use outside `mirenc.ir`."""

    def __init__(self, text: str) -> None:
        self.text = text
        matches = list(_TOKEN.finditer(text))
        self.kinds = [match.lastgroup or "" for match in matches]
        self.words = [match[0] for match in matches]
        self.starts = [match.start() for match in matches]
        self.ends = [match.end() for match in matches]
        placeholders = [index for index, kind in enumerate(self.kinds) if kind == "local"]
        self.slot_of = [-1] * len(matches)  # token -> placeholder number, -1 for other tokens
        for slot, index in enumerate(placeholders):
            self.slot_of[index] = slot
        self.slots = len(placeholders)
        self.count = len(matches)
        # A sentinel saves a bounds check at every look-ahead.
        self.kinds.append("end")
        self.words.append("")
        self.starts.append(len(text))
        self.ends.append(len(text))
        self.at = 0
        self.name_slots: list[int] = []
        self.drops: list[tuple[int, int, str]] = []  # (start, end, replacement) in the statement
        self.callee = ""
        self.signature = ""

    # -- small moves -----------------------------------------------------------------------------------
    @property
    def word(self) -> str:
        return self.words[self.at]

    @property
    def kind(self) -> str:
        return self.kinds[self.at]

    def accept(self, word: str) -> bool:
        if self.words[self.at] == word:
            self.at += 1
            return True
        return False

    def slice(self, first: int, last: int) -> str:
        """Text of tokens ``first .. last - 1``."""
        return self.text[self.starts[first] : self.ends[last - 1]] if last > first else ""

    def drop(self, first: int, last: int, replacement: str = " ") -> None:
        """Leave tokens ``first .. last - 1`` and the space around them out of the statement."""
        if last > first:
            start = self.ends[first - 1] if first else 0
            end = self.starts[last] if last < self.count else len(self.text)
            self.drops.append((start, end, replacement if last < self.count else ""))

    def skip_balanced(self) -> None:
        """Step over a bracketed group; placeholders inside are names, not values."""
        depth = 0
        while self.at < self.count:
            word = self.words[self.at]
            if word in _OPENERS:
                depth += 1
            elif word in ")]}>":
                depth -= 1
            elif word == "blockaddress":
                self._hide_block_name()
            elif self.slot_of[self.at] >= 0:
                self.name_slots.append(self.slot_of[self.at])
            self.at += 1
            if depth == 0:
                return

    # -- types and values ------------------------------------------------------------------------------
    def at_type(self) -> bool:
        kind = self.kinds[self.at]
        if kind == "word":
            return _TYPE_WORD.match(self.words[self.at]) is not None
        return kind == "local" or self.words[self.at] in ("[", "{", "<")

    def type(self, *, function: bool = False) -> str:
        """Read a type; ``function`` admits ``R (A, B)`` as calls print it."""
        first = self.at
        if self.kind == "local":
            self.name_slots.append(self.slot_of[self.at])
            self.at += 1
        elif self.word in ("[", "{", "<"):
            self.skip_balanced()
        elif self.word == "target":
            self.at += 1
            self.skip_balanced()
        else:
            self.at += 1
            if self.words[self.at - 1] == "ptr" and self.word == "addrspace":
                self.at += 1
                self.skip_balanced()
        if function and self.word == "(":
            self.skip_balanced()
        return self.slice(first, self.at)

    def value(self, type_text: str) -> FormOperand:
        """Read a value of a type already read."""
        first = self.at
        kind, word = self.kind, self.word
        if type_text == "metadata":
            slot = self._metadata()
            return FormOperand("metadata", type_text, self.slice(first, self.at), slot)
        if kind == "local":
            self.at += 1
            return FormOperand("local", type_text, "", self.slot_of[first])
        if kind == "global":
            self.at += 1
            return FormOperand("symbol", type_text, word)
        if word == "asm":
            self.at += 1
            while self.kind == "word":
                self.at += 1
            self.at += 3  # template, comma, constraints
            return FormOperand("asm", type_text, self.slice(first, self.at))
        if word in _OPENERS:
            self.skip_balanced()
        elif word in _NAMED_CONSTANT_WORDS:
            self.at += 2
        elif word in _CONSTANT_WORDS:
            if word == "blockaddress":
                self._hide_block_name()
            # WORD flag* [inrange(..)] ( ... ): what follows the parentheses belongs to the instruction.
            self.at += 1
            while self.kind == "word":
                self.at += 1
                if self.words[self.at - 1] == "inrange":
                    self.skip_balanced()
            self.skip_balanced()
        else:
            self.at += 1
        return FormOperand("constant", type_text, self.slice(first, self.at))

    def _hide_block_name(self) -> None:
        """The block inside ``blockaddress(@f, %b)`` is a local name: it stays out of the statement."""
        block = self.kinds.index("local", self.at)
        self.drops.append((self.starts[block] + 1, self.ends[block], ""))

    def _metadata(self) -> int:
        """Step over a metadata operand; the placeholder of a local value wrapped in it, or -1."""
        if self.kind != "meta":
            return self.value(self.type()).slot
        if self.word[1:].isdigit():  # a node's number counts the metadata of the whole file
            self.drops.append((self.starts[self.at] + 1, self.ends[self.at], ""))
        self.at += 1
        if self.word in ("(", "{"):
            self.skip_balanced()
        elif self.kind == "string":
            self.at += 1
        return -1

    def typed_value(self) -> FormOperand:
        """``T attributes* v``; the attributes are left out of the statement."""
        type_text = self.type()
        if type_text != "metadata":  # a wrapped value's own type would look like an attribute
            self.attributes()
        return self.value(type_text)

    def attributes(self, *, keep: Callable[[str], bool] | None = None) -> None:
        """Step over attributes and drop them from the statement, but for words ``keep`` names."""
        while True:
            first = self.at
            if self.kind == "string" and self.word[0] != "c":
                self.at += 1
                if self.accept("="):
                    self.at += 1
            elif self.kind == "group":
                self.at += 1
            elif self.kind == "word" and not (
                self.word in _SIMPLE_VALUES
                or self.word in _CONSTANT_WORDS
                or self.word in _NAMED_CONSTANT_WORDS
                or self.word == "asm"
                or self.word == "to"
            ):
                self.at += 1
                if self.word == "(":
                    self.skip_balanced()
                elif self.kind == "number" and self.words[first] in ("align", "cc", "alignstack"):
                    self.at += 1
            else:
                return
            if keep is None or not keep(self.words[first]):
                self.drop(first, self.at)

    def label(self) -> FormOperand:
        """``label %name``."""
        self.at += 2
        return FormOperand("label", LABEL_TYPE, "", self.slot_of[self.at - 1])

    def skip_flags(self) -> None:
        """Step over words before the first type: flags, predicates, orderings, operations."""
        while self.kind == "word" and not self.at_type():
            self.at += 1

    # -- instructions ----------------------------------------------------------------------------------
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

    # -- statement -------------------------------------------------------------------------------------
    def drop_alignment(self) -> None:
        """``, align N`` and ``, !kind !N`` say how, not what."""
        for index in range(self.count - 2):
            if self.words[index] == "," and self.words[index + 1] == "align":
                self.drop(index, index + 3, "" if self.words[index + 3] in (",", "") else " ")

    def statement(self, display: Callable[[str], str]) -> str:
        """The text without what was dropped; symbols as ``display`` shows them."""
        pieces: list[str] = []
        edits = list(self.drops)
        for index in range(self.count):
            if self.kinds[index] == "global":
                name = self.words[index]
                shown = display(name)
                if shown != name:
                    edits.append((self.starts[index], self.ends[index], shown))
        if not edits:
            return self.text
        at = 0
        for start, end, replacement in sorted(edits):
            if start < at:  # a symbol inside a dropped span, or spans that touch
                if end > at:
                    at = end
                continue
            pieces.append(self.text[at:start])
            pieces.append(replacement)
            at = end
        pieces.append(self.text[at:])
        return "".join(pieces).strip()


def parse_form(text: str, display: Callable[[str], str]) -> Form:
    """Parse one instruction with placeholders for local names.

    Parameters
    ----------
    text : str
        Canonical text without leading space or metadata attachments; every local name is ``%`` alone, or
        ``%name`` once `Form.name_slots` of the same text are known.
    display : callable
        How a symbol (with its ``@``) is shown in statements, for demangling.
    """
    parser = Parser(text)
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
