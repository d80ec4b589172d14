"""`HintedLoop`: copies of a function in IR text, each with hints of its own for one of its loops.

Why: a pragma changes the loop's metadata alone, so one run of clang's front end serves all settings, and many copies in
one module share the compiler's start. Static functions that the loop's function reaches are copied with it: a second
caller would change what is inlined.
"""

import re
from collections.abc import Sequence

from mirenc.base.errors import CompileError
from mirenc.llvm.passes.loop_hint import Hint

_NAME = r'(?:"[^"]*"|[-a-zA-Z$._0-9]+)'
_DEFINED = re.compile(rf"define (?P<linkage>[^@\n]*)@(?P<name>{_NAME})\(")
_SYMBOL = re.compile(rf"@({_NAME})")
# A metadata node, where it is none of the text in a string.
_NODE = re.compile(r'"[^"\n]*"|!(\d+)\b')
_NODE_LINE = re.compile(r"!(\d+) = ")
_LOOP = re.compile(r"!(\d+) = distinct !\{!\1, !(\d+)")
_LOCATION = re.compile(r"!(\d+) = !DILocation\(line: (\d+),(?: column: (\d+),)? scope: !(\d+)")


def suffix(label: str) -> str:
    """The suffix of the names in a copy."""
    return f"__mirenc_{label}"


class HintedLoop:
    """A module in which one loop of one function gets hints; a `CompileError` where it cannot.

    ``text`` is what clang prints with ``-Xclang -disable-llvm-passes -emit-llvm`` and with source locations
    (``-Rpass=.``). Others can link to the function; a copy is made of it and of ``symbols``, named without the suffix.
    Of several loops that begin in a line, the last one is taken.
    """

    def __init__(self, text: str, function: str, line: int) -> None:
        self.function = function
        self._bodies: dict[str, list[str]] = {}
        self._globals: list[str] = []
        self._nodes: dict[int, str] = {}
        self._read(text.split("\n"))
        if function not in self._bodies:
            raise CompileError(f"the IR has no function {function!r}. Name a function that the source defines")
        if self._is_local(function):
            raise CompileError(f"function {function!r} is static, and nobody could call it. Leave `static` out")
        self._loop = self._find_loop(line)
        self.symbols = self._reach({function}, local=True)
        uncopied = self._bodies.keys() - self.symbols
        symbols = {name.strip('"') for name in _SYMBOL.findall("\n".join(self._globals))} & self.symbols
        self._common = sorted(self._reach(uncopied | symbols, local=False))  # the function itself where others need it
        # The one node of a module that lists it.
        self._units = {number for number, node in self._nodes.items() if " !DICompileUnit(" in node}

    def _read(self, lines: list[str]) -> None:
        target = self._globals
        for line in lines:
            if (match := _DEFINED.match(line)) is not None:
                target = self._bodies.setdefault(match["name"].strip('"'), [])
            if (node := _NODE_LINE.match(line)) is not None:
                self._nodes[int(node[1])] = line
            else:
                target.append(line)
            if line == "}":
                target = self._globals

    def _is_local(self, name: str) -> bool:
        match = _DEFINED.match(self._bodies[name][0])
        return match is not None and not {"internal", "private"}.isdisjoint(match["linkage"].split())

    def _find_loop(self, line: int) -> int:
        body = "\n".join(self._bodies[self.function])
        places = {int(match[1]): match for node in self._nodes.values() if (match := _LOCATION.match(node))}
        columns: dict[int, int] = {}
        for number in map(int, re.findall(r", !llvm\.loop !(\d+)", body)):
            loop = _LOOP.match(self._nodes[number])
            place = places.get(int(loop[2])) if loop else None
            if place is not None and int(place[2]) == line:
                columns[number] = int(place[3] or 0)
        if not columns:
            missing = f"no `for`, `while` or `do` of {self.function!r} begins in line {line}"
            raise CompileError(f"{missing}. Name a line where one does")
        loop_node = max(columns, key=lambda number: columns[number])
        hints = [self._nodes[int(number)] for number in _NODE.findall(self._nodes[loop_node]) if number]
        if any('"llvm.loop.' in node and "mustprogress" not in node for node in hints):
            problem = f"the loop of {self.function!r} in line {line} has a pragma already"
            raise CompileError(f"{problem}. Leave the pragma out to measure it")
        return loop_node

    def _reach(self, start: set[str], *, local: bool) -> frozenset[str]:
        """The functions reached from ``start`` by their names in bodies; only static ones if ``local``."""
        reached, queue = set(start), [*start]
        while queue:
            names = {name.strip('"') for name in _SYMBOL.findall("\n".join(self._bodies[queue.pop()]))}
            new = {name for name in names - reached if name in self._bodies and (self._is_local(name) or not local)}
            reached |= new
            queue += new
        return frozenset(reached)

    def module(self, copies: Sequence[tuple[str, Hint | None]]) -> str:
        """IR text with a copy for each label, whose loop has the hint; names of its functions end in `suffix`."""
        step = max(self._nodes, default=0) + 1
        lines = [*self._globals, *(line for name in self._common for line in self._bodies[name]), *self._nodes.values()]
        for place, (label, hint) in enumerate(copies, 1):
            lines += self._copy(label, hint, place * step)
        return "\n".join(lines)

    def _copy(self, label: str, hint: Hint | None, shift: int) -> list[str]:
        """A copy's functions and nodes, nodes numbered from ``shift`` on."""
        ending = suffix(label)

        def node(match: re.Match[str]) -> str:
            number = match[1]
            return match[0] if number is None or int(number) in self._units else f"!{int(number) + shift}"

        def symbol(match: re.Match[str]) -> str:
            return f"@{match[1]}{ending}" if match[1] in self.symbols else match[0]

        bodies = (line for name in sorted(self.symbols) for line in self._bodies[name])
        lines = [_SYMBOL.sub(symbol, _NODE.sub(node, line)) for line in bodies]
        copies = {number: _NODE.sub(node, line) for number, line in self._nodes.items() if number not in self._units}
        if hint is not None:
            copies[self._loop] = f"{copies[self._loop].removesuffix('}')}, {', '.join(hint.nodes())}}}"
        return [*lines, *copies.values()]
