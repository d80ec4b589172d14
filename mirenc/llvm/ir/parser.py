"""`Parser`: a cursor over tokens, types and values of one line of canonical LLVM 22 text."""

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

LABEL_TYPE = "label"

# One token, frequent kinds first. A local is `%` alone (a placeholder) or `%name` (of a type or block).
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
# Words that begin a constant with parentheses, such as a constant expression.
_CONSTANT_WORDS = frozenset(
    """add addrspacecast bitcast blockaddress extractelement getelementptr insertelement inttoptr mul ptrauth
    ptrtoaddr ptrtoint shl shufflevector splat sub trunc xor""".split()
)
_NAMED_CONSTANT_WORDS = frozenset({"dso_local_equivalent", "no_cfi"})
_NO_ATTRIBUTES = _CONSTANT_WORDS | _NAMED_CONSTANT_WORDS
_NO_ATTRIBUTES |= {"true", "false", "null", "none", "undef", "poison", "zeroinitializer", "asm", "to"}


class FormOperand(NamedTuple):
    """One operand of a form, with its type and value as printed where it is used."""

    kind: str  # `local` (a result or an argument), `label`, `constant`, `symbol` (by name), `metadata` or `asm`
    type: str
    text: str = ""  # "" for a local or label; for metadata that wraps a local it ends in the placeholder
    slot: int = -1  # number, from 0, of the placeholder of a local, a label, or the local that metadata wraps


@dataclass(frozen=True, slots=True)
class IRArgument:
    """A formal argument: name without ``%`` ("" where a declaration names none) and type."""

    name: str
    type: str


class Parser:
    """A cursor over the tokens of one line. Private to `mirenc.llvm`."""

    def __init__(self, text: str) -> None:
        self.text = text
        matches = list(_TOKEN.finditer(text))
        self.count = len(matches)
        # The sentinel at the end saves a bounds check at every look-ahead.
        self.kinds = [match.lastgroup or "" for match in matches] + ["end"]
        self.words = [match[0] for match in matches] + [""]
        self.starts = [match.start() for match in matches] + [len(text)]
        self.ends = [match.end() for match in matches] + [len(text)]
        slots = itertools.count()
        self.slot_of = [next(slots) if kind == "local" else -1 for kind in self.kinds]  # placeholder's number
        self.slots = next(slots)
        self.position = 0
        self.name_slots: list[int] = []
        self.drops: list[tuple[int, int, str]] = []  # (start, end, replacement) in the statement

    @property
    def word(self) -> str:
        return self.words[self.position]

    @property
    def kind(self) -> str:
        return self.kinds[self.position]

    def accept(self, word: str) -> bool:
        if self.words[self.position] == word:
            self.position += 1
            return True
        return False

    def slice(self, first: int, last: int) -> str:
        """Text of tokens ``first .. last - 1``."""
        return self.text[self.starts[first] : self.ends[last - 1]] if last > first else ""

    def drop(self, first: int, last: int, replacement: str = " ") -> None:
        """Drop tokens ``first .. last - 1`` and the space around them from the statement."""
        if last > first:
            start = self.ends[first - 1] if first else 0
            end = self.starts[last] if last < self.count else len(self.text)
            self.drops.append((start, end, replacement if last < self.count else ""))

    def skip_balanced(self) -> None:
        """Skip a bracketed group, whose placeholders are names of types and blocks, not values."""
        depth = 0
        while self.position < self.count:
            word = self.words[self.position]
            if word in _OPENERS:
                depth += 1
            elif word in ")]}>":
                depth -= 1
            elif word == "blockaddress":
                self._hide_block_name()
            elif self.slot_of[self.position] >= 0:
                self.name_slots.append(self.slot_of[self.position])
            self.position += 1
            if depth == 0:
                return

    def at_type(self) -> bool:
        kind = self.kinds[self.position]
        if kind == "word":
            return _TYPE_WORD.match(self.words[self.position]) is not None
        return kind == "local" or self.words[self.position] in ("[", "{", "<")

    def type(self, *, function: bool = False) -> str:
        """Parse a type; with ``function`` also ``R (A, B)``, as calls print it."""
        first = self.position
        if self.kind == "local":
            self.name_slots.append(self.slot_of[self.position])
            self.position += 1
        elif self.word in ("[", "{", "<"):
            self.skip_balanced()
        else:
            self.position += 1
            is_pointer = self.words[first] == "ptr" and self.accept("addrspace")
            if is_pointer or self.words[first] == "target":
                self.skip_balanced()
        if function and self.word == "(":
            self.skip_balanced()
        return self.slice(first, self.position)

    def value(self, type_text: str) -> FormOperand:
        """Parse a value, whose type was parsed already."""
        first = self.position
        kind, word = self.kind, self.word
        if type_text == "metadata":
            slot = self._metadata()
            return FormOperand("metadata", type_text, self.slice(first, self.position), slot)
        if kind == "local":
            self.position += 1
            return FormOperand("local", type_text, "", self.slot_of[first])
        if kind == "global":
            self.position += 1
            return FormOperand("symbol", type_text, word)
        if word == "asm":
            self.position += 1
            while self.kind == "word":
                self.position += 1
            self.position += 3  # template, comma, constraints
            return FormOperand("asm", type_text, self.slice(first, self.position))
        if word in _OPENERS:
            self.skip_balanced()
        elif word in _NAMED_CONSTANT_WORDS:
            self.position += 2
        elif word in _CONSTANT_WORDS:
            if word == "blockaddress":
                self._hide_block_name()
            # WORD flag* [inrange(..)] ( ... )
            self.position += 1
            while self.kind == "word":
                self.position += 1
                if self.words[self.position - 1] == "inrange":
                    self.skip_balanced()
            self.skip_balanced()
        else:
            self.position += 1
        return FormOperand("constant", type_text, self.slice(first, self.position))

    def _hide_block_name(self) -> None:
        """Drop the name of the block inside ``blockaddress(@f, %b)``, a local name, from the statement."""
        block = self.kinds.index("local", self.position)
        self.drops.append((self.starts[block] + 1, self.ends[block], ""))

    def _metadata(self) -> int:
        """Skip a metadata operand; returns the placeholder of a local value wrapped in it, or -1."""
        if self.kind != "meta":
            return self.value(self.type()).slot
        if self.word[1:].isdigit():  # a node's number counts the metadata of the whole file
            self.drops.append((self.starts[self.position] + 1, self.ends[self.position], ""))
        self.position += 1
        if self.word in ("(", "{"):
            self.skip_balanced()
        elif self.kind == "string":
            self.position += 1
        return -1

    def typed_value(self) -> FormOperand:
        """Parse ``T attributes* v``, and drop the attributes from the statement."""
        type_text = self.type()
        if type_text != "metadata":  # a wrapped value's own type would look like an attribute
            self.attributes()
        return self.value(type_text)

    def attributes(self) -> None:
        """Skip attributes, and drop them from the statement."""
        while True:
            first = self.position
            is_string = self.kind == "string" and self.word[0] != "c"
            if is_string or self.kind == "group" or (self.kind == "word" and self.word not in _NO_ATTRIBUTES):
                self.skip_word()
            else:
                return
            self.drop(first, self.position)

    def skip_word(self) -> None:
        """Skip an attribute, flag or calling convention with its number, value or parentheses."""
        self.position += 1
        if self.word == "=":
            self.position += 2
        elif self.word == "(":
            self.skip_balanced()
        elif self.kind == "number" and self.words[self.position - 1] in ("align", "cc", "alignstack"):
            self.position += 1

    def skip_flags(self) -> None:
        """Skip words before the first type: flags, predicates, orderings, operations."""
        while self.kind == "word" and not self.at_type():
            self.position += 1

    def drop_alignment(self) -> None:
        """Drop ``, align N`` from the statement."""
        for index in range(self.count - 2):
            if self.words[index] == "," and self.words[index + 1] == "align":
                self.drop(index, index + 3, "" if self.words[index + 3] in (",", "") else " ")

    def statement(self, display: Callable[[str], str]) -> str:
        """The text without what was dropped, with symbols as ``display`` shows them."""
        pieces: list[str] = []
        edits = list(self.drops)
        for index, kind in enumerate(self.kinds):
            if kind == "global" and (display_name := display(self.words[index])) != self.words[index]:
                edits.append((self.starts[index], self.ends[index], display_name))
        position = 0
        for start, end, replacement in sorted(edits):
            if start >= position:  # not a symbol inside a dropped span
                pieces += [self.text[position:start], replacement]
            position = max(position, end)
        return "".join([*pieces, self.text[position:]]).strip()


def parse_header(line: str) -> tuple[tuple[str, str, tuple[IRArgument, ...], bool], list[str]]:
    """Name, return type, arguments and whether it is variadic, of a ``define`` or ``declare`` line; printed names."""
    parser = Parser(line)
    parser.position = 1
    while not parser.at_type():
        parser.skip_word()
    return_type = parser.type()
    name = parser.word[1:]
    parser.position += 2  # name, opening parenthesis
    arguments: list[IRArgument] = []
    printed_names: list[str] = []
    is_variadic = False
    while parser.position < parser.count and not parser.accept(")"):
        if parser.accept("..."):
            is_variadic = True
            continue
        type_text = parser.type()
        parser.attributes()
        printed_name = parser.word[1:] if parser.kind == "local" else ""
        parser.position += parser.kind == "local"
        printed_names.append(printed_name)
        arguments.append(IRArgument(printed_name.strip('"'), type_text))
        parser.accept(",")
    return (name, return_type, tuple(arguments), is_variadic), printed_names
