"""`as_llvm5`: one function's text as LLVM 5 would have written it, where newer LLVMs write it differently.

The published OpenCL kernels were compiled by a clang of 2018, and the text encoder reads words. Every rule here keeps
what the code computes (a NaN's sign and poison aside).
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from mirenc.llvm.ir.lines import NAME
from mirenc.llvm.ir.plain_statement import Layout

_LOCAL = re.compile(f"%{NAME}")
_RESULT = re.compile(rf"^  (%{NAME}) = (.*)$")
_POISON = re.compile(r"(?<=[ \[])poison(?=[ ,>]|$)")  # LLVM 12 and later; before, all was undef
_FNEG = re.compile(r"(?<== )fneg ((?:[a-z]+ )*)(float|double|half|<\d+ x (?:float|double|half)>) ")
# Of one instruction: hints of LLVM 17 and later, and selects that are logical operations.
_SPELLINGS = (
    (re.compile(r"(?<== )(zext|uitofp|or|icmp|trunc) (?:nneg |disjoint |samesign |nuw |nsw )+"), r"\1 "),
    (re.compile(r"(?<=getelementptr )((?:inbounds )?)(?:nuw |nusw )+"), r"\1"),
    (re.compile(r"(?<== )select i1 (\S+), i1 (\S+), i1 false$"), r"and i1 \1, \2"),
    (re.compile(r"(?<== )select i1 (\S+), i1 true, i1 (\S+)$"), r"or i1 \1, \2"),
)
_SEXT = re.compile(rf"sext i32 (%{NAME}) to i64")
_TRUNC = re.compile(r"trunc i64 (\S+) to i32")
_SUM = re.compile(rf"add i32 (%{NAME}), (-?\d+)")
_COMPARISON = re.compile(rf"  (%{NAME}) = icmp (\w+) i32 (%{NAME}), (%{NAME})")
_SWAPPED = {"slt": "sgt", "sle": "sge", "ult": "ugt", "ule": "uge"}
_SWAPPED |= {second: first for first, second in _SWAPPED.items()}
_LOAD = re.compile(r"load (float|double), ptr ([^,]+)(.*)")
_STORE = re.compile(rf"  store (float|double) (%{NAME}), ptr ([^,]+)(.*)")
_STEP = re.compile(rf"add ((?:nuw |nsw )*)(i\d+) (%{NAME}), (\d+)")
_PHI = re.compile(r"phi i\d+ (.*)")
_END = re.compile(rf"  (%{NAME}) = icmp eq i\d+ (%{NAME}), (%{NAME})")
_MASK = re.compile(rf"and i64 (%{NAME}), (-?\d+)")
_BYTES = re.compile(rf"getelementptr (?:inbounds )?i8, ptr (%{NAME}), i64 (\S+)")
_ELEMENT = re.compile(r"getelementptr inbounds (\[.*\]), ptr ([^,]+)((?:, i\d+ [^,]+)+)")
_ARRAY = re.compile(r"\[(\d+) x (.*)\]")
_SIZES = {"i16": 2, "i32": 4, "i64": 8, "half": 2, "float": 4, "double": 8}
_SCALED = re.compile(r"(shl|ashr) ((?:exact |nuw |nsw )*)i64 (\S+), (\d+)")
_INTEGER = {"float": "i32", "double": "i64"}


def as_llvm5(body: str) -> str:
    """Rewrite a function definition, ``define`` line to closing brace."""
    function = _Function([_respell(line) for line in body.split("\n")])
    for rule in (_byte_offsets, _copies, _narrow_sums, _sign_extensions, _counters, _remainders):
        rule(function)
        function = _Function(function.apply_edits())
    return "\n".join(function.lines)


def _respell(line: str) -> str:
    """A line after the rules that look at a single instruction."""
    if " = " not in line:
        return line
    line = _POISON.sub("undef", line) if '"' not in line else line
    for pattern, replacement in _SPELLINGS:
        line = pattern.sub(replacement, line)
    return _FNEG.sub(_subtraction, line)


def _subtraction(negation: re.Match[str]) -> str:
    """Begin of the subtraction from -0.0 that stands for an ``fneg``."""
    element = negation[2].rstrip(">").rpartition(" x ")[2]
    zero = "0xH8000" if element == "half" else "-0.000000e+00"
    return f"fsub {negation[1]}{negation[2]} {f'splat ({element} {zero})' if negation[2][0] == '<' else zero}, "


class _Function:
    """Lines of a function, and which of them define and use each local name; edits take effect in `apply_edits`."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self._edits: dict[int, list[str]] = {}
        self.defined_at: dict[str, int] = {}
        self.users: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(lines):
            result = _RESULT.match(line)
            if result:
                self.defined_at[result[1]] = number
            for name in _LOCAL.findall(result[2] if result else line):
                self.users[name].append(number)

    def apply_edits(self) -> list[str]:
        """The lines with the edits, which may replace one line by several."""
        return [part for number, line in enumerate(self.lines) for part in self._edits.get(number, [line])]

    def definition(self, name: str) -> str:
        """The instruction that defines a name, without the name; "" for an argument."""
        number = self.defined_at.get(name)
        return "" if number is None else self.lines[number].partition(" = ")[2]

    def matches(self, pattern: re.Pattern[str]) -> Iterator[tuple[str, int, re.Match[str]]]:
        """Result, line number and match of each instruction that has a result and matches as a whole."""
        matches = ((name, number, pattern.fullmatch(self.definition(name))) for name, number in self.defined_at.items())
        return ((name, number, match) for name, number, match in matches if match)

    def put(self, number: int, *lines: str) -> None:
        """Replace a line; without lines it is removed."""
        self._edits[number] = ["  " + line for line in lines]


def _byte_offsets(function: _Function) -> None:
    """Offsets in bytes become indices of an array's elements, or of values of the pointee's type."""
    scaled_users: dict[str, set[int]] = defaultdict(set)
    for name, number, address in function.matches(_BYTES):
        base, offset = address.groups()
        if (kind := _pointee(function, name)) not in _SIZES:
            continue
        element = _ELEMENT.fullmatch(function.definition(base))
        prefix = f"{name} = getelementptr inbounds {kind}, ptr {base}, i64"
        if offset.lstrip("-").isdigit():
            inner_indices = _descend(element[1], element[3].count(","), int(offset), kind) if element else None
            if element and inner_indices is not None:
                indices = f"{element[3]}{inner_indices}"
                function.put(number, f"{name} = getelementptr inbounds {element[1]}, ptr {element[2]}{indices}")
            elif int(offset) % _SIZES[kind] == 0:
                function.put(number, f"{prefix} {int(offset) // _SIZES[kind]}")
            continue
        scale = _SCALED.fullmatch(function.definition(offset))
        bits = _SIZES[kind].bit_length() - 1
        if scale and scale[1] == "shl" and scale[4] == str(bits):
            function.put(number, f"{prefix} {scale[3]}")
        elif scale and scale[1] == "ashr" and scale[4] == str(32 - bits):
            scaled_users[offset].add(number)
            function.put(number, f"{prefix} {_new(offset)}")
    for offset, users in scaled_users.items():
        scale = _SCALED.fullmatch(function.definition(offset))
        assert scale is not None
        lines = [f"{_new(offset)} = ashr exact i64 {scale[3]}, 32"]
        if users != set(function.users[offset]):
            lines.append(f"{offset} = {function.definition(offset)}")
        function.put(function.defined_at[offset], *lines)


def _pointee(function: _Function, name: str) -> str:
    """Type that is loaded from or stored to an address, or that is counted from it; "" if several or none."""
    use = r"(?:= load (\w+)|  store (\w+) [^,]+|= getelementptr (?:inbounds )?(\w+)), ptr "
    access = re.compile(use + re.escape(name) + r"(?=,|$)")
    uses = [access.search(function.lines[user]) for user in function.users[name]]
    kinds = {next(filter(None, match.groups())) for match in uses if match}
    return kinds.pop() if len(kinds) == 1 else ""


def _descend(type_text: str, depth: int, offset: int, kind: str) -> str | None:
    """Further indices to a value of a kind, ``offset`` bytes into what ``depth`` indices of an array type give."""
    for _ in range(depth - 1):
        array = _ARRAY.fullmatch(type_text)
        if array is None:
            return None
        type_text = array[2]
    indices, layout = "", Layout()
    while array := _ARRAY.fullmatch(type_text):
        type_text = array[2]
        measure = layout.measure(type_text)
        if measure is None or not measure.size or offset < 0:
            return None
        indices += f", i64 {offset // measure.size}"
        offset %= measure.size
    return indices if type_text == kind and offset == 0 and indices else None


def _copies(function: _Function) -> None:
    """A float that is loaded only to be stored is loaded and stored as an integer."""
    for name, number, load in function.matches(_LOAD):
        stores = [_STORE.fullmatch(function.lines[user]) for user in function.users[name]]
        if not stores or not all(store and store[2] == name for store in stores):
            continue
        kind, src = _INTEGER[load[1]], _new(name)
        function.put(number, f"{src} = bitcast ptr {load[2]} to ptr", f"{name} = load {kind}, ptr {src}{load[3]}")
        for copy, (user, store) in enumerate(zip(function.users[name], stores, strict=True)):
            assert store is not None
            dst = f"{src}.{copy}"
            function.put(user, f"{dst} = bitcast ptr {store[3]} to ptr", f"store {kind} {name}, ptr {dst}{store[4]}")


def _narrow_sums(function: _Function) -> None:
    """The sum of an i64's low half and a constant is computed as an i64, then truncated."""
    for name, number, total in function.matches(_SUM):
        trunc = _TRUNC.fullmatch(function.definition(total[1]))
        if trunc is None or function.users[total[1]] != [number]:
            continue
        function.put(function.defined_at[total[1]])
        wide_sum = _new(name)
        function.put(number, f"{wide_sum} = add i64 {trunc[1]}, {total[2]}", f"{name} = trunc i64 {wide_sum} to i32")
        for user in function.users[name]:
            # A cast is the second operand of a comparison with what is none.
            test = _COMPARISON.fullmatch(function.lines[user])
            if test and test[3] == name and function.definition(test[4]) and " to " not in function.definition(test[4]):
                function.put(user, f"{test[1]} = icmp {_SWAPPED.get(test[2], test[2])} i32 {test[4]}, {name}")


def _sign_extensions(function: _Function) -> None:
    """The sign extension of an i64's low half is written as two shifts."""
    for name, number, sext in function.matches(_SEXT):
        if trunc := _TRUNC.fullmatch(function.definition(sext[1])):
            function.put(number, f"{_new(name)} = shl i64 {trunc[1]}, 32", f"{name} = ashr exact i64 {_new(name)}, 32")
            if function.users[sext[1]] == [number]:
                function.put(function.defined_at[sext[1]])


def _counters(function: _Function) -> None:
    """The counter of an unrolled loop counts down to zero; the loop's own step has no `nuw`."""
    for name, number, step in function.matches(_STEP):
        flags, kind, counter, amount = step.groups()
        if (start := _PHI.fullmatch(function.definition(counter))) is None:
            continue
        if flags == "nuw nsw " and amount != "1":
            function.put(number, f"{name} = add nsw {kind} {counter}, {amount}")
        tests = [user for user in function.users[name] if user != function.defined_at[counter]]
        test = _END.fullmatch(function.lines[tests[0]]) if len(tests) == 1 else None
        zero = re.search(r"\[ 0, ", start[1])
        if test and test[2] == name and zero and start[1].count("[") == 2 and function.users[counter] == [number]:
            function.put(number, f"{name} = add {kind} {counter}, -{amount}")
            function.put(tests[0], f"{test[1]} = icmp eq {kind} {name}, 0")
            start_values = start[1].replace("[ 0, ", f"[ {test[3]}, ")
            function.put(function.defined_at[counter], f"{counter} = phi {kind} {start_values}")


def _remainders(function: _Function) -> None:
    """The iterations of a loop unrolled k times are n less the remainder, not n with its low bits masked."""
    masks = {(match[1], int(match[2])): name for name, _, match in function.matches(_MASK)}
    for (count, mask), name in masks.items():
        step = mask & -mask  # k; the mask itself is a power of two less k
        remainder = masks.get((count, step - 1))
        next_power = mask % 2**64 + step
        if step > 1 and remainder and next_power & (next_power - 1) == 0:
            function.put(function.defined_at[name], f"{name} = sub nsw i64 {count}, {remainder}")


def _new(name: str) -> str:
    """A local name made of another one, such as LLVM never gives."""
    return f"%mirenc.{name[1:].strip(chr(34))}"
