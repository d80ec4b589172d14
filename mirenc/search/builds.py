"""Read builds of a program: facts about each function, and the vectors by which functions of two builds are paired.

Sizes, counts and code are those of the IR as it was given. Vectors and calls, which only serve pairing, are those of a
form (`mirenc.llvm.passes.optimise`): a function called at -O0 may be inlined at -O2.
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
from mirenc.base.shown import short_repr
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
"""Form for pairing a build for size with one at -O0: it inlines no more than the former did."""

_VECTOR = re.compile(r"<(?:vscale x )?\d+ x ")


class Function(NamedTuple):
    """A function of a build.

    - ``file``: relative to the input; ``source``, ``line``: source place, where the IR has debug information.
    - ``bytes``: size of its machine code, None where the object file has none for it.
    - ``calls``: symbol -> readable name of the functions that it calls directly, also by ``invoke`` and ``callbr``.
    - ``inlined``: names of functions that were inlined into it, by debug information.
    - ``code``: its code without names.
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

    def __repr__(self) -> str:
        return short_repr(self)


@dataclass(eq=False)
class Build:
    """Functions of a build, and their vectors and calls in a form, in the same order."""

    functions: list[Function]
    side: Side
    form: Form = "plain"

    __repr__ = short_repr

    @cached_property
    def row(self) -> dict[tuple[int, str], int]:
        """Row of each function, by number of its file and symbol."""
        keys = zip(self.side.file.tolist(), (function.symbol for function in self.functions), strict=True)
        return {key: row for row, key in enumerate(keys)}

    def calls(self, row: int, renamed: Mapping[int, str], hide_names: bool) -> dict[str, str]:
        """Readable names of what a function calls, by symbol, or by the one that ``renamed`` has for a row.

        With ``hide_names`` only callees in its own file.
        """
        file, names = int(self.side.file[row]), {}
        for symbol, display_name in self.functions[row].calls.items():
            callee = self.row.get((file, symbol), -1)
            if callee >= 0 or not hide_names:
                names[renamed.get(callee, symbol)] = display_name
        return names

    def refers_to(self, row: int, renamed: Mapping[int, str]) -> list[str]:
        """Symbols of the functions that a function refers to, in order; ``renamed`` as in `calls`."""
        file = int(self.side.file[row])
        symbols = self.functions[row].code.functions
        return [renamed.get(self.row.get((file, symbol), -1), symbol) for symbol in symbols]


class _File(NamedTuple):
    """A file of a build: name, IR, functions, and the optimisation level of each of these."""

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
    """Read builds, each given as its path and the files of it, and embed all in one form.

    The default form is `SEARCH_FORM`, or `SIZE_FORM` where most functions of one build were built for size and those of
    the others for size or at -O0. Sizes are those in the object file that the engine's LLVM compiles from each file.
    ``failed`` is called with the error of each file that is skipped, ``warn`` with a message where sizes are missing.
    """
    build_files = []
    with progress_bar("reading", sum(len(inputs) for _, inputs in builds), show=progress) as advance:
        for path, inputs in builds:
            build_files.append(list(_read_files(path, inputs, encoder, engine, failed, warn, advance)))
    return [_embed_build(files, encoder, form or _usual_form(build_files), failed, progress) for files in build_files]


def _usual_form(builds: Iterable[list[_File]]) -> Form:
    counts = (Counter(level for file in files for level in file.levels) for files in builds)
    levels = {max(count, key=count.__getitem__) for count in counts if count}
    # Functions paired correctly on 9 training projects, names hidden: -O0 with -Oz 99.5 % in the form Oz, 95.5 % in O2;
    # -O2 with -Oz 96.4 % in Oz, 99.1 % in O2.
    return SIZE_FORM if "Os" in levels and levels <= {"Os", "O0"} else SEARCH_FORM


def _read_files(
    path: str,
    inputs: Iterable[Input],
    encoder: Encoder,
    engine: Engine,
    failed: Callable[[MirencError], object],
    warn: Callable[[str], object],
    advance: Callable[[], object],
) -> Iterator[_File]:
    options = replace(encoder.options, form="plain")
    for source in inputs:
        advance()
        name = os.path.relpath(source.name, path)
        # A module of a build that is one archive; archives in a folder may have members of the same name.
        if source.part is not None and name.split(os.sep)[0] in (os.curdir, os.pardir):
            name = source.part.label or name
        try:
            with one_input(source.name, "read"):
                content = load_input(source, options)
                module = module_of(content, options)
            try:
                sizes = _sizes(engine, content.data, module)
            except (ForeignIRError, IRParseError, PassError) as error:
                warn(f"{source.name}: no sizes: {error}")
                sizes = {}
            with one_input(source.name, "compared"):
                functions = list(functions_of(name, module, sizes))
        except MirencError as error:
            failed(error)
            continue
        # With the data in it, so that a source is not compiled twice, nor standard input read twice.
        yield _File(name, Input(source.name, content.data), functions, levels_of_functions(module))


def _sizes(engine: Engine, ir: bytes, module: IRModule) -> dict[str, int]:
    try:
        data = engine.compile(ir, "")
    except IRParseError:  # text of an old LLVM
        data = engine.compile(module.text.encode("utf-8", "surrogateescape"), "")
    if not is_elf(data):
        raise ForeignIRError("the target's object files are not ELF")
    return {function.name: function.size for function in elf_functions(data)}


def functions_of(file: str, module: IRModule, sizes: Mapping[str, int]) -> Iterator[Function]:
    """Facts about each function of a module, which is in ``file``; ``sizes`` are bytes of machine code by symbol."""
    arrays, places, codes = module.arrays, Places(module), codes_of(module)
    loops = Counter(find_loops(module).function.tolist())
    is_simd = np.array([bool(_VECTOR.search(form.statement)) for form in module.forms])[arrays.form]
    for body, region in zip(module.defined_functions, regions_of(module, "function").regions, strict=True):
        head, span = body.header, slice(body.header.first, body.header.last)
        yield Function(
            *(file, region.name, region.symbol, region.file, region.line, sizes.get(object_name(region.symbol))),
            *(head.last - head.first, head.last_block - head.first_block, loops[body.index], int(is_simd[span].sum())),
            _direct_callees(module, head),
            places.inlined(body.index),
            next(codes),
        )


def _direct_callees(module: IRModule, header: FunctionHeader) -> dict[str, str]:
    """Symbol -> readable name of the functions that a function calls directly, without intrinsics."""
    rows = np.unique(module.arrays.callee[header.first : header.last])
    names = (module.symbols[row] for row in rows if row >= 0)
    return {name[1:].strip('"'): module.display.get(name, name)[1:] for name in names if name[:6] != "@llvm."}


def _embed_build(
    files: Iterable[_File], encoder: Encoder, form: Form, failed: Callable[[MirencError], object], progress: bool
) -> Build:
    """Embed the functions of some files in a form; ``failed`` is called for files that cannot be embedded."""
    options = replace(encoder.options, form=form)
    pending: deque[tuple[_File, list[IRModule]]] = deque()

    def modules() -> Iterator[Input]:
        for file in files:
            try:
                module = module_from(file.ir, options)
            except MirencError as error:
                failed(error)
                continue
            pending.append((file, [module] if module.deleted is None else [module, module.deleted]))
            yield Input(file.ir.name, module)

    functions: list[Function] = []
    vectors, owner, calls = [np.zeros((0, encoder.dimension), np.float32)], [], []
    # The modules are in the form already.
    stream = encoder.embed_stream(modules(), level="function", form="plain", jobs=1, progress=progress)
    with closing(stream) as outcomes:
        for number, outcome in enumerate(outcomes):
            file, parts = pending.popleft()
            if (embedding := outcome.embedded(failed)) is None:
                continue
            # Passes may add functions, which are ignored, and change the order.
            region_row = {region.symbol: row for row, region in enumerate(embedding.regions)}
            try:
                with one_input(outcome.name, "compared"):
                    rows = [region_row[entry.symbol] for entry in file.functions]
            except MirencError as error:
                failed(error)
                continue
            row = {entry.symbol: len(functions) + place for place, entry in enumerate(file.functions)}
            for part in parts:
                for function in part.defined_functions:
                    callees = _direct_callees(part, function.header) if function.name in row else {}
                    calls += [(row[function.name], row[symbol]) for symbol in callees if symbol in row]
            owner += [number] * len(file.functions)
            functions += file.functions
            vectors.append(embedding.vector[rows])
    widths = vector_blocks(encoder.files.config, "search", "both").values()
    edges = np.array(calls, dtype=np.int64).reshape(-1, 2)
    return Build(
        functions, Side(centred(np.concatenate(vectors), widths), np.array(owner, dtype=np.int64), edges), form
    )
