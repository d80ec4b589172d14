"""The tools of ``mirenc mcp``: each calls what its verb of the command line calls, and answers a page of typed rows.

Text from files is data: it has the type `Text`, which escapes and shortens it.
"""

import contextlib
import html
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from mirenc.base.errors import ConfigError, MirencError, NoFunctionBodyError
from mirenc.base.shown import shorten
from mirenc.cli.common import open_index
from mirenc.cli.diff import compare_builds
from mirenc.cli.failures import Failures
from mirenc.cli.inspect import counts_of, loops_of
from mirenc.cli.mcp_folders import Folders
from mirenc.cli.search import find_nearest
from mirenc.cli.search_results import Found, matches_of
from mirenc.cli.sizes import engine_of, ir_files, sizes_table
from mirenc.encoder import Encoder, load
from mirenc.encoder.weights import search_model
from mirenc.llvm import ReadOptions, read_ir, regions_of
from mirenc.llvm.inputs.containers import HEAD, kind_of_container
from mirenc.llvm.inputs.input import Input
from mirenc.llvm.ir.read import load_input
from mirenc.search import VectorTable, index
from mirenc.search.builds import functions_of
from mirenc.search.queries import FileQueries, nearest_of_files
from mirenc.tools.run.compilers import clang_for

_MAX_CHARACTERS = 16_000  # characters of the rows of an answer
_OPTIONS = ReadOptions()  # limits of time, memory and bytes, as the command line has them
_MAX_LISTED = 10  # callees, opcodes, files left out
# What starts a tag, ends the words of a link, starts an entity, an address or a fence, as in Markdown and HTML.
_MARKUP = re.compile(r"<(?=[a-zA-Z/!?])|\](?=[(\[:])|&(?=#?\w+;)|:(?=//)|`(?=``)")


def as_data(text: object, longest: int = 120) -> str:
    """Text in one line without control characters and markup; of a long one the middle is left out."""
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", shorten(str(text), longest))


def _pattern(function: str) -> re.Pattern[str]:
    """Names with a text in them, which may be one of `as_data`."""
    return re.compile(".*".join(map(re.escape, html.unescape(function).split("...", 1))))


def _defines(source: Input, regex: re.Pattern[str]) -> bool:
    """Whether an input defines a function that is called like that."""
    regions = regions_of(read_ir(source, options=_OPTIONS), "function").regions
    return any(regex.search(region.name) or regex.search(region.symbol) for region in regions)


Text = Annotated[str, BeforeValidator(as_data)]
_Share = Annotated[float, AfterValidator(partial(round, ndigits=4))]
_Words = Annotated[str, BeforeValidator(partial(as_data, longest=400))]
_File = Annotated[str, Field(max_length=4096, description="Path of a file or folder in the allowed folders.")]
_Code = Annotated[str, Field(max_length=2**20, description="LLVM IR as text, instead of a file.")]
_Name = Annotated[str, Field(max_length=4096, description="A function's name, plain or mangled, or a part of it.")]
_K = Annotated[int, Field(ge=1, le=20, description="How many matches for each function.")]
_Start = Annotated[int, Field(ge=0, le=10**9, description="The first row wanted, from 0.")]
_Limit = Annotated[int, Field(ge=1, le=50, description="How many rows are wanted.")]


class _Row(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Match(_Row):
    """A function of the index, and its cosine with the one that was searched for."""

    cosine: _Share
    file: Text
    name: Text
    symbol: Text


class Matches(_Row):
    """Matches of one function. ``right``: how often such a first match was the right function in tests."""

    name: Text
    symbol: Text
    right: _Share | None
    matches: list[Match]


class Changed(_Row):
    """A function that differs: bytes before and after, null where unknown or where a build lacks it, and why."""

    kind: str
    old: int | None
    new: int | None
    file: Text
    name: Text
    why: list[Text]


class Sized(_Row):
    """Bytes of a function or file ``before`` any pass, and after -Oz."""

    before: int
    bytes: int
    file: Text
    name: Text


class Explained(_Row):
    """A function as its IR has it; ``calls`` are the first that it calls directly."""

    name: Text
    symbol: Text
    source: Text
    line: int
    instructions: int
    blocks: int
    loops: int
    vector_instructions: int
    calls: Annotated[list[Text], BeforeValidator(lambda names: [*names.values()][:_MAX_LISTED])]


class Loop(_Row):
    """A loop; instructions of inner ones count."""

    header: Text
    depth: int
    instructions: int
    line: int


class Answer(BaseModel):
    """A page of rows. ``cut`` says what is left out and how to ask for it, ``skipped`` which files failed."""

    rows: list[Any]
    cut: str = ""
    skipped: list[_Words] = []

    def fit(self, start: int, total: int) -> Self:
        """Drop rows for which there is no room, and say which of the ``total`` rows are left, from ``start`` on."""
        room, kept_count = _MAX_CHARACTERS, 0
        for row in self.rows:
            room -= len(row.model_dump_json())
            kept_count += room >= 0 or not kept_count
        end, self.rows = start + kept_count, self.rows[:kept_count]
        if start or end < total:
            self.cut = f"rows {start} to {end} of {total}" + f"; for more ask with start={end}" * (end < total)
        return self


class SearchAnswer(Answer):
    """Functions that were searched for; ``indexed``: how many functions the index has."""

    rows: list[Matches]
    indexed: int


class DiffAnswer(Answer):
    """Functions that are not identical, bytes of all with a known size in both builds, and how many became what."""

    rows: list[Changed]
    old: int | None
    new: int | None
    kinds: dict[str, int]


class SizesAnswer(Answer):
    """Functions or files, and bytes of all; ``gone``: functions that ``passes`` inlined everywhere or removed."""

    rows: list[Sized]
    passes: str
    before: int
    bytes: int
    gone: int


class ExplainAnswer(Answer):
    """Functions, and counts of the module; of a single function also its loops and first instructions."""

    rows: list[Explained]
    counts: dict[str, int]
    opcodes: dict[str, int]
    loops: list[Loop]
    first_instructions: list[Text]


class _Skipped(Failures):
    """Keeps the errors of several files; that of a single one is raised, as by the command line."""

    def __init__(self, total: int, problems: list[MirencError] | None = None) -> None:
        self.lines: list[str] = []
        super().__init__(total, problems or ())

    def add(self, error: MirencError) -> None:
        if self.total == 1:
            raise error
        if not isinstance(error, NoFunctionBodyError):
            self.count += 1
            self.lines = [*self.lines, str(error)][:_MAX_LISTED]
        if self.count > _MAX_LISTED:
            self.lines[-1] = f"and {self.count - _MAX_LISTED + 1} more"


class Tools:
    """The tools, over the allowed folders; ``report`` is called with (files done, files or None, what is being done).

    ``vectors`` is a file of vectors of functions, which is searched instead of the folders; "": there is none.
    """

    NAMES = ("search_code", "similar_functions", "diff_builds", "sizes", "explain_ir")

    def __init__(self, folders: Folders, vectors: str, report: Callable[..., object]) -> None:
        self._folders, self._vectors, self._report = folders, vectors, report
        self._state: list[tuple[str, int, int]] = []  # of the indexed files: name, time of change, size
        self._indexed: tuple[VectorTable, list[str]] | None = None

    def search_code(
        self, file: _File = "", code: _Code = "", function: _Name = "", k: _K = 5, start: _Start = 0, limit: _Limit = 10
    ) -> SearchAnswer:
        """Find the functions in the index that are most like each function of a file, or of some IR."""
        source, regex = self._source_of(file, code), _pattern(function)
        if not _defines(source, regex):  # which is said before the index is made
            raise ConfigError(f"no function like {function!r} in {source.name}. Give another name, or no name")
        table, skipped = self._index()
        results_by_file = find_nearest(self._encoder, table, [source], regex, _Skipped(1).add, k=k)
        rows = [result for _, results in results_by_file for result in results]
        page = rows[start : start + limit]
        return SearchAnswer(rows=page, skipped=skipped, indexed=len(table)).fit(start, len(rows))

    def similar_functions(self, function: _Name, k: _K = 5, start: _Start = 0, limit: _Limit = 10) -> SearchAnswer:
        """Find the functions in the index that are most like one in it, which is given by its name."""
        if self._indexed is None and not self._vectors:
            self._check(function)
        table, skipped = self._index()
        names, regex = [*zip(table.names, table.labels["symbol"], strict=True)], _pattern(function)
        query_rows = [row for row, labels in enumerate(names) if any(map(regex.fullmatch, labels))]
        query_rows = query_rows or [row for row, labels in enumerate(names) if any(map(regex.search, labels))]
        if not query_rows:
            problem = f"no function like {function!r} among the {len(names)} of the index"
            raise ConfigError(f"{problem}. Type another name; explain_ir lists those of a file")
        sources, page = np.asarray(table.source_row), query_rows[start : start + limit]
        queries = []
        for row in page:
            file_vectors = table.vectors[sources == sources[row]]
            queries.append(FileQueries(table.files[row], [], np.zeros(0, np.int64), table.vectors[[row]], file_vectors))
        rows = []
        neighbours = nearest_of_files(queries, table, k + 1, by_file=table.maker.usual)
        for row, (_, (neighbour_rows, cosines)) in zip(page, neighbours, strict=True):
            not_self = neighbour_rows[0] != row
            matches = matches_of(table, *(array[0][not_self][:k].tolist() for array in (neighbour_rows, cosines)))
            rows.append(Found(*names[row], None, matches))
        return SearchAnswer(rows=rows, skipped=skipped, indexed=len(table)).fit(start, len(query_rows))

    def diff_builds(self, old: _File, new: _File, start: _Start = 0, limit: _Limit = 10) -> DiffAnswer:
        """Show which functions grew, shrank, changed, appeared, vanished or were renamed between two builds, and why.

        A build is a file or folder. Sizes are bytes of machine code; the largest change comes first.
        """
        inputs = [(place, self._folders.inputs(place, _OPTIONS)) for place in (old, new)]
        builds = [(self._folders.shown(place), files) for place, files in inputs]
        skipped = _Skipped(sum(len(files) for _, files in builds))
        report = compare_builds(self._encoder, builds, skipped.add)
        sums: Any = {"old": report.total.old, "new": report.total.new, "kinds": report.kinds, "skipped": skipped.lines}
        return DiffAnswer(rows=report.functions[start : start + limit], **sums).fit(start, len(report.functions))

    def sizes(
        self, file: _File, level: Literal["function", "module"] = "function", start: _Start = 0, limit: _Limit = 10
    ) -> SizesAnswer:
        """Show the bytes of machine code of each function or file before any pass and after -Oz; largest first.

        IR that was optimised before stays larger than what a build with -Oz would give.
        """
        inputs = self._folders.inputs(file, _OPTIONS)
        engine, passes = engine_of(_OPTIONS)
        with engine, tempfile.TemporaryDirectory(prefix="mirenc-") as scratch:
            options: ReadOptions = _OPTIONS
            files: list[tuple[str, str | Input]] = [(item.name, item) for item in inputs]
            problems: list[MirencError] = []
            if any(item.language for item in inputs):
                options = replace(options, compiler=options.compiler or clang_for(engine.version))
                files, problems = ir_files([str(self._folders.find(file))], Path(scratch), options)
            skipped = _Skipped(len(files) + len(problems), problems)
            table = sizes_table(engine, passes, files, options, skipped, by_file=level == "module")
            rows = table["rows"]
            sums = {**table["total"], "gone": table["gone"], "passes": f"-{passes} of {engine.name}"}
        return SizesAnswer(rows=rows[start : start + limit], skipped=skipped.lines, **sums).fit(start, len(rows))

    def explain_ir(
        self, file: _File = "", code: _Code = "", function: _Name = "", start: _Start = 0, limit: _Limit = 10
    ) -> ExplainAnswer:
        """List the functions of a file, or of some IR, with their loops and calls, the largest first.

        ``function`` selects by name; of a single function the loops and the first instructions are listed, too.
        """
        source, regex = self._source_of(file, code), _pattern(function)
        module = read_ir(source, options=_OPTIONS)
        every = functions_of(source.name, module, {})
        rows = [row for row in every if any(map(regex.search, (row.name, row.symbol)))]
        rows.sort(key=lambda row: -row.instructions)
        loops, texts = [], []
        if len(rows) == 1:
            symbol_regex = f"^{re.escape(rows[0].symbol)}$"
            loops = loops_of(module, symbol_regex)[:limit]
            texts = [row.name for row in regions_of(module, "instruction", function=symbol_regex).regions[:limit]]
        opcodes = dict(Counter(module.forms[form].opcode for form in module.arrays.form).most_common(_MAX_LISTED))
        facts: dict[str, Any] = {"counts": counts_of(module), "opcodes": opcodes, "loops": loops}
        return ExplainAnswer(rows=rows[start : start + limit], first_instructions=texts, **facts).fit(start, len(rows))

    # -- what several tools need ---------------------------------------------------------------------------------
    @cached_property
    def _encoder(self) -> Encoder:
        return load(search_model("function"), options=_OPTIONS)

    def _source_of(self, file: str, code: str) -> Input:
        """The one file, or the IR, that is given. Raises ConfigError: both, neither, or several files."""
        if bool(file) == bool(code):
            raise ConfigError("give one of two arguments: file (a path) or code (the text of LLVM IR)")
        if kind := kind_of_container(code.lstrip("\ufeff")[:HEAD].encode()):
            raise ConfigError(f"code is {kind}; allowed: the text of LLVM IR")
        inputs = self._folders.inputs(file, _OPTIONS) if file else [Input("code", code.encode())]
        if len(inputs) > 1:
            raise ConfigError(f"{file}: contains {len(inputs)} files, such as {inputs[0].name}. Name one of these")
        return inputs[0]

    def _check(self, function: str) -> None:
        """Raise ConfigError where no file can have such a function, before an index of all of them is made."""
        files, name_part = self._folders.every(_OPTIONS), html.unescape(function).partition("...")[0].encode()
        for is_quick, item in product((True, False), files):
            with contextlib.suppress(MirencError):  # the index says so; and sources are not compiled twice
                if item.language or (
                    name_part in load_input(item, _OPTIONS).data if is_quick else _defines(item, _pattern(function))
                ):
                    return
        problem = f"no function like {function!r} in {len(files)} files, such as {files[0].name}"
        raise ConfigError(f"{problem}. Type another name; explain_ir lists those of a file")

    def _index(self) -> tuple[VectorTable, list[str]]:
        """The index, and the errors of files that are left out of it; it is made again where a file has changed.

        Vectors of unchanged files come from the user's cache.
        """
        if self._vectors and self._indexed is None:
            options: Any = {"whitening_map": None, "hide_names": False}
            self._encoder, table, _ = open_index(self._vectors, "function", "function", None, _OPTIONS, **options)
            self._indexed = table, []
        inputs = [] if self._vectors else self._folders.every(_OPTIONS)
        stats = [os.stat(item.part.path if item.part else str(item.value)) for item in inputs]
        state = [(item.name, stat.st_mtime_ns, stat.st_size) for item, stat in zip(inputs, stats, strict=True)]
        if self._indexed is None or state != self._state:
            skipped = _Skipped(len(inputs))
            table = index(self._encoder, inputs, level="function", failed=skipped.add, progress=self._report)
            if not len(table):
                raise ConfigError(f"no function could be read: {'; '.join(skipped.lines[:1])}. Give other files")
            self._state, self._indexed = state, (table, skipped.lines)
        return self._indexed
