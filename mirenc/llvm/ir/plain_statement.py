"""`plain_statement`: one spelling for statements that versions of clang and optimisers write differently.

The encoders were trained on statements as written; the lexical view, which compares words, reads this spelling
(measured in pretrain/README.md).
"""

import bisect
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

# ``plain`` is that of `plain_statement`; ``hidden`` and ``unnamed`` are ``written`` and ``plain`` without names.
Spelling = Literal["written", "hidden", "plain", "unnamed"]

_DEFINITION = re.compile(r'(%(?:"[^"]*"|[-a-zA-Z$._0-9]+)) = type (.+)', re.DOTALL)
_INTEGER = re.compile(r"i(\d+)")
_ARRAY_TYPE = re.compile(r"([\[<])(\d+) x (.+)[\]>]", re.DOTALL)
_WORD = re.compile(r'"[^"]*"|[\[{<(]|[\]}>)]|,|[^\[{<(\]}>),"]+')
_POINTER = 8
_SIZES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "x86_fp80": 16, "fp128": 16, "ppc_fp128": 16}
_LARGEST_ALIGNMENT = 16  # of an integer


class Measure(NamedTuple):
    """Size and alignment of a type in bytes; for a struct also types and offsets of its fields."""

    size: int
    alignment: int
    fields: tuple[str, ...] = ()
    offsets: tuple[int, ...] = ()


class Layout:
    """Sizes of types by natural alignment and 64-bit addresses, whatever the target of the module is.

    ``definitions`` are statements, of which type definitions are used, the first for each name. Source: LLVM Language
    Reference, "Data Layout" and "Type System".

    Examples
    --------
    >>> layout = Layout(["%struct.pair = type { i32, ptr }"])
    >>> layout.measure("[2 x %struct.pair]").size, layout.measure("%struct.pair").offsets
    (32, (0, 8))
    """

    def __init__(self, definitions: Iterable[str] = ()) -> None:
        self._definitions: dict[str, str] = {}
        self._measures: dict[str, Measure | None] = {}
        for statement in definitions:
            if (match := _DEFINITION.fullmatch(statement)) is not None:
                self._definitions.setdefault(match[1], match[2])

    def measure(self, type_text: str) -> Measure | None:
        """Measure of a type, None if unknown."""
        # Depth first with a stack of its own: C++ templates nest types deeper than Python recurses.
        stack = [(type_text, False)]
        while stack:
            current, parts_are_measured = stack.pop()
            if parts_are_measured:
                self._measures[current] = self._compute_measure(current)
            elif current not in self._measures:
                self._measures[current] = None  # a type that contains itself has no size
                array_type = self.array_type(current)
                parts = self._fields(current) or [] if array_type is None else [array_type[3]]
                stack += [(current, True), *((part, False) for part in parts)]
        return self._measures[type_text]

    def array_type(self, type_text: str) -> re.Match[str] | None:
        """An array or vector type as opening bracket, count, and type of the elements; None for any other type."""
        text = self._definitions.get(type_text, type_text)
        return _ARRAY_TYPE.fullmatch(text) if text.startswith(("[", "<")) and not text.startswith("<{") else None

    def _fields(self, type_text: str) -> list[str] | None:
        """Types of a struct's fields; None for any other type."""
        text = self._definitions.get(type_text, type_text)
        if not text.startswith(("{", "<{")):
            return None
        return _split_fields(text[2:-2] if text.startswith("<{") else text[1:-1])

    def _compute_measure(self, type_text: str) -> Measure | None:
        """Measure of a type, from those of its parts, which are known."""
        if size := _POINTER if type_text.startswith("ptr") else _SIZES.get(type_text):
            return Measure(size, size)
        if integer := _INTEGER.fullmatch(type_text):
            size = -(-int(integer[1]) // 8)
            alignment = min(_power_of_two(size), _LARGEST_ALIGNMENT)
            return Measure(_round_up(size, alignment), alignment)
        if array_type := self.array_type(type_text):
            element = self._measures[array_type[3]]
            if element is None:
                return None
            size = int(array_type[2]) * element.size
            vector_size = _power_of_two(size)
            return Measure(size, element.alignment) if array_type[1] == "[" else Measure(vector_size, vector_size)
        fields = self._fields(type_text)
        if fields is None:
            return None
        is_packed = self._definitions.get(type_text, type_text).startswith("<{")
        offsets, offset, largest = [], 0, 1
        for measure in map(self._measures.__getitem__, fields):
            if measure is None:
                return None
            alignment = 1 if is_packed else measure.alignment
            offset, largest = _round_up(offset, alignment), max(largest, alignment)
            offsets.append(offset)
            offset += measure.size
        return Measure(_round_up(offset, largest), largest, tuple(fields), tuple(offsets))


def _power_of_two(size: int) -> int:
    return 1 << max(size - 1, 0).bit_length()


def _round_up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _split_fields(text: str) -> list[str]:
    """Split at commas, except those in brackets and quotes."""
    parts, depth = [""], 0
    for word in _WORD.findall(text):
        if word == "," and depth == 0:
            parts.append("")
            continue
        depth += (word in "[{<(") - (word in "]}>)")
        parts[-1] += word
    return [part.strip() for part in parts if part.strip()]


_FLAGS = re.compile(
    r"(?<== )(add|sub|mul|shl|udiv|sdiv|lshr|ashr|or|zext|uitofp|trunc|icmp)"
    r" (?:nuw |nsw |exact |disjoint |nneg |samesign )+"
)
_POISON = re.compile(r"(?<=[ \[])poison(?=[ ,>\])]|$)")  # LLVM 12 and later; before, all was undef
# Without vectors of addresses. A demangled name may have commas, so the indices are found from the end.
_ADDRESS = re.compile(
    r"% = getelementptr (?:(?:inbounds|nuw|nusw|inrange\([^)]*\)) )*"
    r'((?:%"[^"]*"|[^,"{])+|\{[^{}]*\}), (ptr .*?)((?:, i\d+ (?:-?\d{1,20}|%))+)'
)
_INDEX = re.compile(r", i\d+ (-?\d+|%)")
_STRING = r'c"[^"]*"?'  # it has no names
_SYMBOL = r'(?!llvm\.)(?:"[^"]*"|(?:[-\w:~$.]|<[^()@]*>)+)'  # demangled ones have their templates' arguments
_NAME = re.compile(f"{_STRING}|@(?:{_SYMBOL})?")
_TYPE = re.compile(rf'{_STRING}|%(?:"[^"]*"|[-\w.$:]+)')  # local values have no names here


def spelled(texts: Sequence[str], spelling: Spelling, symbols: Iterable[str] = ()) -> list[str]:
    """Texts of a module, in normalisation ``locals``, in a spelling; types keep their names in ``hidden``.

    ``symbols`` are those that the module shows demangled: some have spaces or parentheses, as no other symbol has.

    Examples
    --------
    >>> spelled(["% = call i32 @crc32(ptr %, i32 5381)", "% = alloca %struct.pair"], "unnamed")
    ['% = call i32 @(ptr %, i32 5381)', '% = alloca %']
    """
    if spelling in ("hidden", "unnamed"):
        texts = _without_symbols(texts, "@f" if spelling == "hidden" else "@", symbols)
    if spelling in ("written", "hidden"):
        return list(texts)
    layout = Layout(texts)
    plain_texts = [plain_statement(text, layout) for text in texts]
    return plain_texts if spelling == "plain" else hide_types(plain_texts, "%")


def _without_symbols(texts: Sequence[str], replacement: str, symbols: Iterable[str]) -> list[str]:
    """Texts with one name for each symbol; of ``symbols`` (`spelled`) that begin at one place the longest counts."""
    table = sorted({"", *(word[1:] for word in symbols if not (name := _NAME.match(word)) or name[0] != word)})
    longest = max(map(len, table))
    prefix_of: dict[str, str] = {}  # the longest other one that each begins with
    for prefix, symbol in itertools.pairwise(table):
        while not symbol.startswith(prefix):
            prefix = prefix_of[prefix]
        prefix_of[symbol] = prefix
    results = []
    for text in texts:
        parts, pos = [], 0
        while (name := _NAME.search(text, pos)) is not None:
            start = name.start() + 1
            symbol = table[bisect.bisect(table, text[start : start + longest]) - 1] if name[0][0] == "@" else ""
            while not text.startswith(symbol, start):
                symbol = prefix_of[symbol]
            end = start + len(symbol) if symbol else name.end()
            parts += [text[pos : start - 1], replacement] if name[0][0] == "@" and end > start else [text[pos:end]]
            pos = end
        results.append("".join([*parts, text[pos:]]))
    return results


def hide_types(texts: Iterable[str], replacement: str = "%struct.s") -> list[str]:
    """Texts whose named types all have one name."""
    return [_TYPE.sub(lambda name: replacement if name[0][0] == "%" else name[0], text) for text in texts]


def plain_statement(statement: str, layout: Layout) -> str:
    """A statement of normalisation ``locals`` in one spelling.

    Flags that exclude overflow and the like are left out, and ``poison`` becomes ``undef``. An address at a constant
    distance becomes a distance in bytes; one with a single variable index keeps that index and the type that it counts.
    Any other address stays as it is, also one of a type that ``layout`` cannot measure.

    Examples
    --------
    >>> pair = Layout(["%struct.pair = type { i32, [4 x ptr] }"])
    >>> plain_statement("% = getelementptr inbounds %struct.pair, ptr %, i32 0, i32 1", pair)
    '% = getelementptr i8, ptr %, i64 8'
    >>> plain_statement("% = getelementptr inbounds %struct.pair, ptr %, i64 0, i32 1, i64 %", pair)
    '% = getelementptr ptr, ptr %, i64 %'
    >>> plain_statement("% = add nuw nsw i32 %, 1", pair)
    '% = add i32 %, 1'
    """
    if statement.startswith("% = getelementptr "):
        address = _ADDRESS.fullmatch(statement)
        return statement if address is None else _address_in_bytes(address, layout) or statement
    text = _FLAGS.sub(r"\1 ", statement)
    return _POISON.sub("undef", text) if "poison" in text else text


def _address_in_bytes(address: re.Match[str], layout: Layout) -> str | None:
    kind, base, offset, element = address[1], address[2], 0, ""
    for number, index in enumerate(_INDEX.findall(address[3])):
        if number and (struct := layout.measure(kind)) is not None and struct.fields:
            if not index.isdigit() or int(index) >= len(struct.fields):
                return None
            offset += struct.offsets[int(index)]
            kind = struct.fields[int(index)]
            continue
        if number:
            array_type = layout.array_type(kind)
            if array_type is None:
                return None
            kind = array_type[3]
        if index == "%":
            if element:
                return None
            element = kind
        elif index != "0":
            measure = layout.measure(kind)
            if measure is None:
                return None
            offset += int(index) * measure.size
    return f"% = getelementptr {element}, {base}, i64 %" if element else f"% = getelementptr i8, {base}, i64 {offset}"
