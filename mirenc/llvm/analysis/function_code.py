"""The code of each function without names, to decide whether two builds have the same function.

Compared are opcodes, constants, predicates, flags (nsw, inbounds, fast-math), types by their fields, alignment,
volatile and ordering, the order of operands, where branches go, attributes and calling conventions (of the function,
its arguments and calls), linkage, section, inline assembler. Not compared are names of values, blocks, types and of the
function itself, metadata (debug information, profiles, TBAA), numbers of attribute groups, and what LLVM infers from
the rest of the module alone (dso_local, unnamed_addr). Assembler of the whole module and variables that no function
reaches belong to no function.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from mirenc.llvm.analysis.regions import block_name
from mirenc.llvm.ir.lines import NAME, attribute_groups, split_all, split_locals
from mirenc.llvm.ir.metadata import metadata_nodes
from mirenc.llvm.ir.module import ADDED_MEMORY, FunctionHeader, IRModule, global_name

_WORD = re.compile(rf'blockaddress\((@{NAME}), %({NAME})\)|[@%]{NAME}|[!c]?"[^"]*"|#\d+|!\d+')
_NODE_NAME = re.compile(r"!\d+")
_QUOTE = '"'
_MOST_REACHED = 64  # variables whose definitions are hashed with that of one
_ATTRIBUTE = re.compile(r'(?:"[^"]*"|[^\s"()]|\([^()]*(?:\([^()]*\)[^()]*)*\))+')
_INFERRED = re.compile(r" ?\b(?:dso_local|dso_preemptable|local_unnamed_addr|unnamed_addr)\b")
_HEADER_METADATA = re.compile(r" ![-\w.]+ !\d+")
# A constant whose address does not matter, as a string or a table; its name is arbitrary.
_ANONYMOUS = re.compile(r"(?:private|internal) (?:dso_local )?unnamed_addr (?:addrspace\(\d+\) )?constant ")


class FunctionCode(NamedTuple):
    """A function without names. Two are the same if all fields are equal, ``functions`` as they are paired.

    - ``signature``, ``statements``, ``operands``: hashes of its type and attributes; of its instructions in order,
      without local names; of which value or block stands at each place of them.
    - ``functions``: symbols of functions that each statement refers to, in order, each once a statement. Intrinsics
      are operations, which are part of ``statements``.
    - ``globals``: hash of the definition of each variable that it refers to by name, and of those that this reaches.
      Constants that have but a number, as strings, are part of ``statements`` by what they hold.
    """

    signature: str
    statements: str
    operands: str
    functions: tuple[str, ...]
    globals: Mapping[str, str]


class _Text(NamedTuple):
    """Text with names replaced by what they stand for, and the functions and variables that it refers to."""

    text: str
    functions: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


def codes_of(module: IRModule) -> Iterator[FunctionCode]:
    """The code of each function with a body, in module order."""
    names = _Names(module)
    for header in module.headers:
        if not header.is_declaration:
            yield _code(module, header, names)


def _code(module: IRModule, header: FunctionHeader, names: "_Names") -> FunctionCode:
    line = _INFERRED.sub("", _HEADER_METADATA.sub("", module.lines[header.line]))
    signature_text, argument_names = split_locals(line.replace(f"@{header.name}(", "@(", 1))
    rows = module.arrays.line[header.first : header.last].tolist()
    templates, body_names = split_all([module.lines[row] for row in rows])
    texts = [names.resolve(template) for template in templates]
    signature = names.resolve(signature_text)
    # Local names are numbered independently of the names: arguments, blocks, then in order of appearance.
    number: dict[str, int] = {}
    labels = [block_name(module, block)[1:] for block in range(header.first_block, header.last_block)]
    places = [number.setdefault(name, len(number)) for name in (*argument_names, *labels, *body_names)]
    types = [names.contents[f"%{name}"].text for name in number if f"%{name}" in names.definitions]
    starts = module.arrays.block_start[header.first_block : header.last_block + 1].tolist()
    sizes = [end - start for start, end in pairwise(starts)]
    parts = [signature, *texts]
    variables = {name: names.variable(name) for text in parts for name in text.variables}
    return FunctionCode(
        _hash([signature.text]),
        _hash([*(text.text for text in texts), *types, *map(str, sizes)]),
        _hash(map(str, places)),
        tuple(symbol for text in parts for symbol in text.functions),
        variables,
    )


def _hash(texts: Iterable[str]) -> str:
    return hashlib.blake2b("\n".join(texts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


class _Names:
    """What the names in a module's text stand for."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.definitions: dict[str, str] = {}  # of types and anonymous constants, by name
        self.contents: dict[str, _Text] = {}  # of these: a hash, and what they refer to
        self.variables: dict[str, str] = {}  # definition of each variable, by name
        self.resolve = cache(self._resolve)
        self.blocks: dict[str, dict[str, int]] = {}  # numbers of a function's blocks, by symbol
        self.functions = {"@" + header.name: header for header in module.headers}
        words = ((name, ADDED_MEMORY.sub("", text)) for name, text in attribute_groups(module.text).items())
        self.groups = {name: " ".join(sorted(_ATTRIBUTE.findall(text))) for name, text in words}
        nodes = metadata_nodes(module.text).items()
        self.nodes = {f"!{number}": _NODE_NAME.sub("!", node) for number, node in nodes if node.startswith("!{")}
        for line in module.type_lines:
            name, _, text = line.partition(" = ")
            self.definitions[name] = text
        for line in module.global_lines:
            name = global_name(line)
            text = line[len(name) + len(" = ") :]
            if _ANONYMOUS.match(text):
                self.definitions[name] = text
            else:
                self.variables[name] = _INFERRED.sub("", text)
        for name in self.definitions:
            self._define(name)

    def _define(self, name: str) -> None:
        """Fill `contents` for a name, after those that its definition refers to; without recursion."""
        path = {} if name in self.contents else {name: _WORD.finditer(self.definitions[name])}
        while path:
            top = next(reversed(path))
            for match in path[top]:
                word = match[0]
                if word in self.definitions and word not in self.contents and word not in path:
                    path[word] = _WORD.finditer(self.definitions[word])
                    break
            else:
                text = self._resolve(self.definitions[top])
                self.contents[top] = text._replace(text=_hash([text.text]))
                del path[top]

    def variable(self, name: str) -> str:
        """Hash of the definitions of a variable and of the variables it reaches; functions in them count by name."""
        variables, parts = [name], list[str]()
        for variable in variables:
            text = self.resolve(self.variables[variable])
            parts += [text.text, *text.functions]
            targets = [target for target in text.variables if target not in variables]
            variables += targets[: _MOST_REACHED - len(variables)]
        return _hash(parts)

    def _resolve(self, text: str) -> _Text:
        """Text in which names are what they stand for; a function is ``@``, a variable keeps its name."""
        functions: dict[str, int] = {}  # function -> its number in this text
        variables: dict[str, None] = {}

        def refer(name: str) -> str:
            return f"@{functions.setdefault(name, len(functions))}"

        def replacement(match: re.Match[str]) -> str:
            word = match[0]
            if match[1] and (header := self.functions.get(match[1])) and not header.is_declaration:
                if match[1] not in self.blocks:
                    blocks = range(header.first_block, header.last_block)
                    self.blocks[match[1]] = {block_name(self.module, row)[1:]: i for i, row in enumerate(blocks)}
                return f"blockaddress({refer(match[1][1:].strip(_QUOTE))}, {self.blocks[match[1]][match[2]]})"
            if word in self.functions and not word.startswith("@llvm."):  # intrinsics are operations
                return refer(word[1:].strip(_QUOTE))
            if (content := self.contents.get(word)) is not None:
                variables.update(dict.fromkeys(content.variables))
                return word[0] + content.text + "".join(map(refer, content.functions))
            if word in self.variables:
                variables[word] = None
            if word[0] == "#":
                return self.groups.get(word, word)
            return self.nodes.get(word, "!") if word[0] == "!" and word[-1] != '"' else word

        return _Text(_WORD.sub(replacement, text), tuple(functions), tuple(variables))
