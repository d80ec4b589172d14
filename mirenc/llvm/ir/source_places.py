"""`Places`: source places of functions, loops, blocks and instructions, by debug information."""

import os
import re
from typing import NamedTuple

import numpy as np

from mirenc.llvm.analysis.loops import LoopForest, ways_in
from mirenc.llvm.inputs.languages import language_of
from mirenc.llvm.ir.metadata import annotated_lines, attached_number, metadata_nodes
from mirenc.llvm.ir.module import IRModule
from mirenc.llvm.ir.symbols import unescaped

_FUNCTION_PLACE = re.compile(r" !dbg !(\d+)[^\"]*\{$")
# LLVM prints these fields first and in this order.
_LOCATION = re.compile(r"!DILocation\(line: (\d+),(?: column: \d+,)? scope: !(\d+)")
_LINE = re.compile(r"\bline: (\d+)")
_FILE = re.compile(r"\bfile: !(\d+)")
_UNIT = re.compile(r"^!llvm\.dbg\.cu = !\{!(\d+)\}$", re.MULTILINE)  # of a module with one compile unit
_STRING = re.compile(r'"([^"]*)"')
_NAME = re.compile(r'[( ]name: "([^"]*)"')
_SCOPE = re.compile(r"\bscope: !(\d+)")
_INLINED_AT = re.compile(r"\binlinedAt: !(\d+)")
# Terminators before which LLVM inserts no instruction: a block that ends in one is no preheader.
_SPECIAL = frozenset({"catchswitch", "catchret", "cleanupret", "invoke", "resume", "callbr"})


class Place(NamedTuple):
    """A file, as `source_name` writes it, and a line from 1; line 0 is code that the compiler added."""

    file: str
    line: int


NOWHERE = Place("", 0)


class Places:
    """Source places in one module; `NOWHERE` if it has no debug information."""

    def __init__(self, module: IRModule) -> None:
        self._module = module
        self._nodes = metadata_nodes(module.annotated)
        self._places: dict[str, Place] = {"": NOWHERE}  # by number of the DILocation
        self._files: dict[str, str] = {}  # by that of the scope
        self._names: dict[tuple[str, str], str] = {}  # by `_file_and_folder`
        if language_of(module.name) and (unit := _UNIT.search(module.annotated)):
            # A source that mirenc compiled, perhaps with flags that map its folder to another.
            self._names[self._file_and_folder(unit[1])] = module.name
        self._names["", ""] = ""

    def of_instruction(self, instruction: int) -> Place:
        """Place of an instruction's ``!dbg`` location; for inlined code in the function that was inlined."""
        return self._location(self._attached_node(instruction, "dbg"))

    def of_block(self, block: int) -> Place:
        """Place of a block's first instruction that has a line."""
        first, last = self._module.arrays.block_start[block : block + 2].tolist()
        places = map(self.of_instruction, range(first, last)) if self._module.annotated else ()
        return next((place for place in places if place.line), NOWHERE)

    def of_function(self, function: int) -> Place:
        """Where a function begins, by its ``DISubprogram``."""
        if not self._module.annotated:
            return NOWHERE
        match = _FUNCTION_PLACE.search(annotated_lines(self._module)[self._module.headers[function].line])
        if match is None:
            return NOWHERE
        line_match = _LINE.search(_without_strings(self._nodes[match[1]]))
        return Place(self._file_of(match[1]), int(line_match[1]) if line_match else 0)

    def of_loop(self, forest: LoopForest, loop: int) -> Place:
        """Where a loop begins, by the rule of LLVM's ``Loop::getStartLoc``."""
        if not self._module.annotated:
            return NOWHERE
        latches, entries = ways_in(self._module, forest, loop)
        ends = self._module.arrays.block_start[1:] - 1  # terminator of each block
        location = self._loop_location({self._attached_node(ends[block], "llvm.loop") for block in latches})
        if not location and len(entries) == 1:
            # The terminator of a preheader: a block that has the loop as its only successor.
            (block,) = entries
            opcode = self._module.forms[self._module.arrays.form[ends[block]]].opcode
            fan_out = np.diff(self._module.arrays.successor_start[block : block + 2])
            location = self._attached_node(ends[block], "dbg") if fan_out == 1 and opcode not in _SPECIAL else ""
        return self._location(location or self._attached_node(ends[forest.header[loop]], "dbg"))

    def inlined(self, function: int) -> frozenset[str]:
        """Source names of the functions that were inlined into a function, by the locations of its instructions."""
        header, names, visited = self._module.headers[function], set(), set()
        rows = range(header.first, header.last) if self._module.annotated else ()
        for node in {self._attached_node(row, "dbg") for row in rows}:
            while node and node not in visited and (outer := _INLINED_AT.search(self._nodes[node])):
                visited.add(node)
                line = self._nodes[node]
                while "!DISubprogram(" not in line and (scope := _SCOPE.search(_without_strings(line))):
                    line = self._nodes[scope[1]]
                names |= {unescaped(name) for name in _NAME.findall(line)}
                node = outer[1]
        return frozenset(names)

    def _loop_location(self, loop_nodes: set[str]) -> str:
        """First location in the ``!llvm.loop`` node of a loop, if all latches have the same node."""
        node = loop_nodes.pop() if len(loop_nodes) == 1 else ""
        first, *references = re.findall(r"!(\d+)", _without_strings(self._nodes.get(node, ""))) or [""]
        if first != node:  # "!36 = distinct !{!36, ...": a loop's own node names itself first
            return ""
        return next((number for number in references if _LOCATION.match(self._nodes.get(number, ""))), "")

    def _attached_node(self, instruction: int, kind: str) -> str:
        return attached_number(self._module, instruction, kind)

    def _location(self, node: str) -> Place:
        """Place that a ``DILocation`` names: its line, and the file of its scope."""
        if node not in self._places:
            match = _LOCATION.match(self._nodes[node])
            self._places[node] = Place(self._file_of(match[2]), int(match[1])) if match else NOWHERE
        return self._places[node]

    def _file_of(self, scope: str) -> str:
        if scope not in self._files:
            file_key = self._file_and_folder(scope)
            if file_key not in self._names:
                self._names[file_key] = source_name(*file_key, self._module.name)
            self._files[scope] = self._names[file_key]
        return self._files[scope]

    def _file_and_folder(self, scope: str) -> tuple[str, str]:
        """File of a scope, by debug information, and the folder that it is relative to; "" where unknown."""
        file = _FILE.search(_without_strings(self._nodes[scope]))
        strings = _STRING.findall(self._nodes[file[1]])[:2] if file else []
        name, folder = (*map(unescaped, strings), "", "")[:2]
        return os.path.normpath(name) if name else "", folder if os.path.isabs(folder) else ""


def source_name(name: str, folder: str, typed_path: str) -> str:
    """Path, for messages, of a source that debug information calls ``name`` relative to ``folder``.

    The input itself is written as ``typed_path``, and a file below its folder relative to that. Any other path is
    absolute; if the input was given as a relative path, it is relative to the working folder, unless that needs more
    ``..`` than the user typed. A relative name stays if no folder is known.
    """
    path = os.path.join(folder, name)
    if not name or not os.path.isabs(path):
        return name
    parent, leaf = os.path.split(typed_path)
    try:
        cwd, input_folder, source_folder = map(os.path.realpath, ("", parent, os.path.dirname(path)))
    except (OSError, ValueError):  # the working folder was removed; a NUL or a lone surrogate, which no path has
        return name
    real_path = os.path.join(source_folder, os.path.basename(path))
    if real_path == os.path.join(input_folder, leaf):
        return typed_path
    from_input, from_cwd = os.path.relpath(real_path, input_folder), os.path.relpath(real_path, cwd)
    if parent and not _parent_steps(from_input):
        return os.path.join(parent, from_input)
    typed_names = [typed_path] if os.path.isabs(name) or os.path.realpath(folder) != cwd else [typed_path, name]
    if not os.path.isabs(typed_path) and _parent_steps(from_cwd) <= max(map(_parent_steps, typed_names)):
        return from_cwd
    return os.path.normpath(path) if os.pardir not in path.split(os.sep) else real_path


def _parent_steps(path: str) -> int:
    return os.path.normpath(path).split(os.sep).count(os.pardir)


def _without_strings(line: str) -> str:
    """A metadata line without the contents of its strings."""
    return _STRING.sub('""', line)
