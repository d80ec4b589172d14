"""Two builds of a program: which functions correspond, and what became of them, by LLVM's own sizes and counts."""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mirenc.arrays import Int64
from mirenc.embed import Embedding, Encoder
from mirenc.embed.embedding import vector_blocks
from mirenc.errors import ForeignIRError, IRParseError, MirencError, PassError, one_input
from mirenc.ir import IRModule
from mirenc.ir.function_code import FunctionCode, codes_of
from mirenc.ir.functions import object_name
from mirenc.ir.inputs import Input
from mirenc.ir.loops import find_loops
from mirenc.ir.places import Places
from mirenc.ir.read import load_input, module_of
from mirenc.passes.engine import Engine
from mirenc.passes.object_file import elf_functions, is_elf
from mirenc.search.pairs import Side, centred, cosines, paired

_VECTOR = re.compile(r"<(?:vscale x )?\d+ x ")


class Function(NamedTuple):
    """A function of a build.

    ``file`` is relative to what was given; ``source`` and ``line`` are its place where the IR has debug information.
    ``bytes``: its machine code, None where the object has none of its own. ``calls``: symbols that it calls, and what
    people call those, by ``invoke`` and ``callbr``, too, which the program graph leaves out, and by no alias;
    ``inlined``: functions whose code is in it, by debug information. ``code``: what it is without names.
    """

    file: str
    name: str
    symbol: str
    source: str
    line: int
    bytes: int | None
    instructions: int
    blocks: int
    loops: int
    vector_instructions: int
    calls: Mapping[str, str]
    inlined: frozenset[str]
    code: FunctionCode


@dataclass(eq=False)
class Build:
    """Functions of a build, and what they are paired by, row by row."""

    functions: list[Function]
    side: Side

    @cached_property
    def row(self) -> dict[tuple[int, str], int]:
        """Row by the file's number and the symbol."""
        files = self.side.file.tolist()
        return {(file, one.symbol): row for row, (file, one) in enumerate(zip(files, self.functions, strict=True))}

    def calls(self, row: int, became: Mapping[int, str], hide_names: bool) -> dict[str, str]:
        """What a function calls, as people do, by symbol or what that became; of hidden names, in its own file."""
        file, found = int(self.side.file[row]), {}
        for symbol, shown in self.functions[row].calls.items():
            callee = self.row.get((file, symbol), -1)
            if callee >= 0 or not hide_names:
                found[became.get(callee, symbol)] = shown
        return found

    def refers_to(self, row: int, became: Mapping[int, str]) -> list[str]:
        """Symbols of functions that a function refers to, in order, or what those of its file became."""
        file = int(self.side.file[row])
        symbols = self.functions[row].code.functions
        return [became.get(self.row.get((file, symbol), -1), symbol) for symbol in symbols]


@dataclass(frozen=True)
class Change:
    """What became of a function: None where a build has none; the pair's cosine; ``why``, by what the IR says.

    ``same_code``: whether the IR of both is one but for names (`mirenc.ir.function_code`).
    """

    old: Function | None
    new: Function | None
    cosine: float | None = None
    why: tuple[str, ...] = ()
    same_code: bool = False

    @property
    def either(self) -> Function:
        """As it is in NEW, or was in OLD."""
        one = self.new or self.old
        assert one is not None
        return one

    @property
    def bytes(self) -> int | None:
        """Bytes of machine code more than in OLD; None where one of the two sizes is not known."""
        old, new = (one.bytes if one else 0 for one in (self.old, self.new))
        return None if old is None or new is None else new - old

    @property
    def kind(self) -> str:
        """``appeared``, ``vanished``, ``identical``, ``renamed``, ``grew``, ``shrank``, ``changed``, ``size unknown``.

        A pair of one code, whose size did not change as far as is known, is identical, or renamed where people call
        the two by different names. Other pairs changed: to a larger, smaller, equal or unknown size.
        """
        if self.old is None or self.new is None:
            return "appeared" if self.old is None else "vanished"
        more = self.bytes
        if self.same_code and not more:
            return "identical" if self.old.name == self.new.name else "renamed"
        return "size unknown" if more is None else "grew" if more > 0 else "shrank" if more < 0 else "changed"


def read_build(
    encoder: Encoder,
    given: str,
    inputs: Iterable[Input],
    engine: Engine,
    failed: Callable[[MirencError], object],
    warn: Callable[[str], object],
    *,
    progress: bool = False,
) -> Build:
    """Read the files that ``given`` stands for; ``failed`` is told of those left out, ``warn`` where sizes are missing.

    Sizes are those of the object file that the engine's LLVM makes of each file.
    """
    waiting: deque[tuple[str, IRModule, dict[str, int]]] = deque()

    def modules() -> Iterator[Input]:
        for one in inputs:
            try:
                with one_input(one.name, "read"):
                    loaded = load_input(one, encoder.options)
                    module = module_of(loaded, encoder.options)
            except MirencError as error:
                failed(error)
                continue
            try:
                sizes = _sizes(engine, loaded.data, module)
            except (ForeignIRError, IRParseError, PassError) as error:
                warn(f"{one.name}: no sizes: {error}")
                sizes = {}
            waiting.append((os.path.relpath(one.name, given), module, sizes))
            yield Input(one.name, module)

    functions: list[Function] = []
    vectors, owner, calls = [np.zeros((0, encoder.dimension), np.float32)], [], []
    with closing(encoder.embed_stream(modules(), level="function", workers=0, progress=progress)) as outcomes:
        for number, outcome in enumerate(outcomes):
            file, module, sizes = waiting.popleft()
            if (embedding := outcome.embedded(failed)) is None:
                continue
            try:
                with one_input(outcome.name, "compared"):
                    here = list(_functions(file, module, embedding, sizes))
            except MirencError as error:
                failed(error)
                continue
            row = {one.symbol: at for at, one in enumerate(here, len(functions))}
            calls += [(row[one.symbol], row[symbol]) for one in here for symbol in one.calls if symbol in row]
            owner += [number] * len(here)
            functions += here
            vectors.append(embedding.vector)
    widths = vector_blocks(encoder.files.config, "search", "both").values()
    edges = np.array(calls, dtype=np.int64).reshape(-1, 2)
    return Build(functions, Side(centred(np.concatenate(vectors), widths), np.array(owner, dtype=np.int64), edges))


def _sizes(engine: Engine, ir: bytes, module: IRModule) -> dict[str, int]:
    try:
        data = engine.compile(ir, "")
    except IRParseError:  # text of an old LLVM: as it was read
        data = engine.compile(module.text.encode("utf-8", "surrogateescape"), "")
    if not is_elf(data):
        raise ForeignIRError("the target's object files are not ELF")
    return {one.name: one.size for one in elf_functions(data)}


def _functions(file: str, module: IRModule, embedding: Embedding, sizes: dict[str, int]) -> Iterator[Function]:
    arrays, places, codes = module.arrays, Places(module), codes_of(module)
    loops = Counter(find_loops(module).function.tolist())
    wide = np.array([bool(_VECTOR.search(form.statement)) for form in module.forms])[arrays.form]
    for one, region in zip(module.defined_functions, embedding.regions, strict=True):
        head, inside = one.header, slice(one.header.first, one.header.last)
        called = (module.symbols[row] for row in np.unique(arrays.callee[inside]) if row >= 0)
        yield Function(
            *(file, region.name, region.symbol, region.file, region.line, sizes.get(object_name(region.symbol))),
            *(head.last - head.first, head.last_block - head.first_block, loops[one.index], int(wide[inside].sum())),
            {name[1:].strip('"'): module.display.get(name, name)[1:] for name in called if name[:6] != "@llvm."},
            places.inlined(one.index),
            next(codes),
        )


def pair_builds(old: Build, new: Build, *, hide_names: bool = False) -> list[Change]:
    """Pair functions one to one: a change for each of OLD, then one for each that NEW alone has.

    An equal symbol of an equal file comes first, then a symbol, then a name that each side has once; ``hide_names``
    looks at none of these. The rest goes by `mirenc.search.pairs`.
    """
    partner = np.full(len(old.functions), -1, dtype=np.int64)
    keys: list[Callable[[Function], object]]
    keys = [lambda one: (one.file, one.symbol), lambda one: one.symbol, lambda one: one.name]
    for key in [] if hide_names else keys:
        left = np.setdiff1d(np.arange(len(new.functions)), partner)
        mine, theirs = _once(old, np.flatnonzero(partner < 0), key), _once(new, left, key)
        for word in mine.keys() & theirs.keys():
            partner[mine[word]] = theirs[word]
    partner = paired(old.side, new.side, partner)
    rows = np.flatnonzero(partner >= 0)
    alike = dict(zip(rows.tolist(), cosines(old.side, new.side, rows, partner[rows]).tolist(), strict=True))
    became = {row: new.functions[partner[row]].symbol for row in alike}
    changes = []
    for row, (one, at) in enumerate(zip(old.functions, partner.tolist(), strict=True)):
        if at < 0:
            changes.append(Change(one, None))
            continue
        other = new.functions[at]
        refers = old.refers_to(row, became) == new.refers_to(at, {})
        differ = [] if refers else ["other functions are referred to"]
        differ += _differences(one.code, other.code)
        calls = old.calls(row, became, hide_names), new.calls(at, {}, hide_names)
        # Counts and calls say more than that something differs.
        why = [*_why(one, other, *calls)] or differ or ([] if one.bytes == other.bytes else ["the same IR"])
        changes.append(Change(one, other, alike[row], tuple(why), same_code=not differ))
    alone = np.setdiff1d(np.arange(len(new.functions)), partner)
    return changes + [Change(None, new.functions[at]) for at in alone.tolist()]


def _differences(old: FunctionCode, new: FunctionCode) -> Iterator[str]:
    """What differs but for functions that are referred to."""
    if old.signature != new.signature:
        yield "its type or attributes"
    if old.statements != new.statements:
        yield "constants, types, flags or instructions"
    elif old.operands != new.operands:
        yield "operands or branches"
    shared = old.globals.keys() & new.globals.keys()
    if values := ", ".join(sorted(name[1:] for name in shared if old.globals[name] != new.globals[name])):
        yield f"value of {values}"


def _why(old: Function, new: Function, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    told = old.source and new.source
    for words, names in (
        ("inlined", new.inlined - old.inlined if told else ()),
        ("no longer inlined", old.inlined - new.inlined if told else ()),
        ("no longer calls", (shown for callee, shown in before.items() if callee not in after)),
        ("calls", (shown for callee, shown in after.items() if callee not in before)),
    ):
        if listed := ", ".join(sorted(names)):
            yield f"{words} {listed}"
    for count in ("loops", "vector_instructions", "instructions"):
        if getattr(old, count) != getattr(new, count):
            yield f"{count.replace('_', ' ')} {getattr(old, count)} -> {getattr(new, count)}"


def _once(build: Build, rows: Int64, key: Callable[[Function], object]) -> dict[object, int]:
    """Rows by key, of keys that only one of them has."""
    words = [key(build.functions[row]) for row in rows.tolist()]
    count = Counter(words)
    return {word: row for word, row in zip(words, rows.tolist(), strict=True) if count[word] == 1}
