"""Builds of a program: what the IR of each function says, and vectors by which functions of two builds are paired.

Sizes, counts and code are those of the IR as it is. Vectors and calls, for pairing alone, are those of a form of it
(`mirenc.llvm.passes.optimise`): at -O2, what was called at -O0 may be inlined.
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mirenc.base.errors import ForeignIRError, IRParseError, MirencError, PassError, one_input
from mirenc.base.progress import progress as progress_bar
from mirenc.encoder import Encoder
from mirenc.encoder.embedding import vector_blocks
from mirenc.encoder.options import SEARCH_FORM
from mirenc.llvm import IRModule, regions_of
from mirenc.llvm.analysis.detect_level import Level as BuildLevel, levels_of_functions
from mirenc.llvm.analysis.function_code import FunctionCode, codes_of
from mirenc.llvm.analysis.loops import find_loops
from mirenc.llvm.inputs.input import Input
from mirenc.llvm.ir.functions import object_name
from mirenc.llvm.ir.module import FunctionHeader
from mirenc.llvm.ir.read import load_input, module_from, module_of
from mirenc.llvm.ir.source_places import Places
from mirenc.llvm.passes.object_file import elf_functions, is_elf
from mirenc.llvm.passes.optimise import Form
from mirenc.llvm.passes.size_after_passes import Engine
from mirenc.search.pairs import Side, centred

SIZE_FORM: Form = "Oz"
"""Form of a build for size and one at -O0, in which nothing was inlined that the first has not."""

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
    """Functions of a build, and what they are paired by, row by row, in a form."""

    functions: list[Function]
    side: Side
    form: Form = "plain"

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


class _File(NamedTuple):
    """A file of a build: its name there, its IR, its functions, and the level that each of these was built at."""

    name: str
    ir: Input
    functions: list[Function]
    levels: list[BuildLevel]


def read_builds(
    encoder: Encoder,
    builds: Sequence[tuple[str, Sequence[Input]]],
    engine: Engine,
    failed: Callable[[MirencError], object],
    warn: Callable[[str], object],
    *,
    form: Form | None = None,
    progress: bool = False,
) -> list[Build]:
    """Read builds, each what was given and the files that it stands for, and bring all to one form for their vectors.

    Without ``form`` that is `SEARCH_FORM`, or `SIZE_FORM` where most functions of one build were built for size, and
    those of the others so or at -O0. Sizes are those of the object file that the engine's LLVM makes of each file.
    ``failed`` is called with the error of each file that is left out, ``warn`` where sizes are missing.
    """
    read = []
    with progress_bar("reading", sum(len(inputs) for _, inputs in builds), show=progress) as advance:
        for given, inputs in builds:
            read.append(list(_read(given, inputs, encoder, engine, failed, warn, advance)))
    return [_with_vectors(files, encoder, form or _usual_form(read), failed, progress) for files in read]


def _usual_form(builds: Iterable[list[_File]]) -> Form:
    counts = (Counter(level for file in files for level in file.levels) for files in builds)
    levels = {max(count, key=count.__getitem__) for count in counts if count}
    # On 9 training projects, names hidden: of -O0 and -Oz builds 99.5 % of functions are paired rightly in the form Oz,
    # 95.5 % in O2; of -O2 and -Oz builds 96.4 % in Oz and 99.1 % in O2.
    return SIZE_FORM if "Os" in levels and levels <= {"Os", "O0"} else SEARCH_FORM


def _read(
    given: str,
    inputs: Iterable[Input],
    encoder: Encoder,
    engine: Engine,
    failed: Callable[[MirencError], object],
    warn: Callable[[str], object],
    advance: Callable[[], object],
) -> Iterator[_File]:
    options = replace(encoder.options, form="plain")
    for one in inputs:
        advance()
        name = os.path.relpath(one.name, given)
        try:
            with one_input(one.name, "read"):
                loaded = load_input(one, options)
                module = module_of(loaded, options)
            try:
                sizes = _sizes(engine, loaded.data, module)
            except (ForeignIRError, IRParseError, PassError) as error:
                warn(f"{one.name}: no sizes: {error}")
                sizes = {}
            with one_input(one.name, "compared"):
                functions = list(_functions(name, module, sizes))
        except MirencError as error:
            failed(error)
            continue
        # A source is not compiled twice, and standard input is not read twice.
        yield _File(name, Input(one.name, loaded.data), functions, levels_of_functions(module))


def _sizes(engine: Engine, ir: bytes, module: IRModule) -> dict[str, int]:
    try:
        data = engine.compile(ir, "")
    except IRParseError:  # text of an old LLVM: as it was read
        data = engine.compile(module.text.encode("utf-8", "surrogateescape"), "")
    if not is_elf(data):
        raise ForeignIRError("the target's object files are not ELF")
    return {one.name: one.size for one in elf_functions(data)}


def _functions(file: str, module: IRModule, sizes: dict[str, int]) -> Iterator[Function]:
    arrays, places, codes = module.arrays, Places(module), codes_of(module)
    loops = Counter(find_loops(module).function.tolist())
    wide = np.array([bool(_VECTOR.search(form.statement)) for form in module.forms])[arrays.form]
    for one, region in zip(module.defined_functions, regions_of(module, "function").regions, strict=True):
        head, inside = one.header, slice(one.header.first, one.header.last)
        yield Function(
            *(file, region.name, region.symbol, region.file, region.line, sizes.get(object_name(region.symbol))),
            *(head.last - head.first, head.last_block - head.first_block, loops[one.index], int(wide[inside].sum())),
            _called(module, head),
            places.inlined(one.index),
            next(codes),
        )


def _called(module: IRModule, header: FunctionHeader) -> dict[str, str]:
    """Symbols that a function calls, but for LLVM's own, and what people call those."""
    rows = np.unique(module.arrays.callee[header.first : header.last])
    names = (module.symbols[row] for row in rows if row >= 0)
    return {name[1:].strip('"'): module.display.get(name, name)[1:] for name in names if name[:6] != "@llvm."}


def _with_vectors(
    files: Iterable[_File], encoder: Encoder, form: Form, failed: Callable[[MirencError], object], progress: bool
) -> Build:
    """A build of files that could be read, in a form; of those that cannot be embedded ``failed`` is called."""
    options = replace(encoder.options, form=form)
    waiting: deque[tuple[_File, list[IRModule]]] = deque()

    def modules() -> Iterator[Input]:
        for file in files:
            try:
                module = module_from(file.ir, options)
            except MirencError as error:
                failed(error)
                continue
            waiting.append((file, [module] if module.deleted is None else [module, module.deleted]))
            yield Input(file.ir.name, module)

    functions: list[Function] = []
    vectors, owner, calls = [np.zeros((0, encoder.dimension), np.float32)], [], []
    # The modules are in their form, and stay in it.
    stream = encoder.embed_stream(modules(), level="function", form="plain", jobs=1, progress=progress)
    with closing(stream) as outcomes:
        for number, outcome in enumerate(outcomes):
            file, parts = waiting.popleft()
            if (embedding := outcome.embedded(failed)) is None:
                continue
            # Passes may add functions, which are none of the build, and change the order.
            at = {region.symbol: row for row, region in enumerate(embedding.regions)}
            try:
                with one_input(outcome.name, "compared"):
                    rows = [at[one.symbol] for one in file.functions]
            except MirencError as error:
                failed(error)
                continue
            row = {one.symbol: len(functions) + place for place, one in enumerate(file.functions)}
            for part in parts:
                for one in part.defined_functions:
                    callees = _called(part, one.header) if one.name in row else {}
                    calls += [(row[one.name], row[symbol]) for symbol in callees if symbol in row]
            owner += [number] * len(file.functions)
            functions += file.functions
            vectors.append(embedding.vector[rows])
    widths = vector_blocks(encoder.files.config, "search", "both").values()
    edges = np.array(calls, dtype=np.int64).reshape(-1, 2)
    return Build(
        functions, Side(centred(np.concatenate(vectors), widths), np.array(owner, dtype=np.int64), edges), form
    )
