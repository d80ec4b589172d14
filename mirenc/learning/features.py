"""The rows of a table: what a head gets to see of a sample.

Each row is a matrix ``[context features | code features]``. All rows go through the same search for a head, so the
embedding and its baselines differ in what they know, not in how hard somebody tried.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import MirencError, TaskError
from mirenc.ir import IRModule
from mirenc.ir.regions import Region, Regions, regions_of
from mirenc.learning.autophase import autophase_features
from mirenc.learning.function_text import function_text, in_older_words
from mirenc.learning.histogram import opcode_histogram
from mirenc.learning.ir2vec import ir2vec_available, ir2vec_vectors
from mirenc.learning.menu import Shape, menu
from mirenc.learning.statement_bag import statement_bag
from mirenc.tasks.data import TaskData
from mirenc.tasks.sample import IRSource

if TYPE_CHECKING:
    from mirenc.embed import Embedding, Encoder, Level, Purpose
    from mirenc.tasks.task import Task

__all__ = [
    "CODE_ROWS",
    "ROW_TITLES",
    "CodeReader",
    "Features",
    "build_features",
    "code_vector",
    "context_matrix",
    "counted_features",
    "default_rows",
    "encoded_context",
    "ir2vec_text",
]

Float32 = NDArray[np.float32]

ROW_TITLES = {
    "no_code": "no code",
    "compiler": "no code + the compiler's own choice",
    "hand": "hand features",
    "histogram": "opcode histogram",
    "autophase": "AutoPhase's 56 counts",
    "statements": "bag of statements",
    "ir2vec": "IR2Vec 2.1.1 flow-aware",
    "text": "embedding, text only",
    "graph": "embedding, graph only",
    "both": "embedding, both",
    "both_histogram": "embedding, both + opcode histogram",
    "both_mlp": "embedding, both, the paper's MLP head alone",
}
# Rows that look at code through the model, or beside it.
CODE_ROWS = ("text", "graph", "both", "both_histogram")
_WITHOUT_CODE = ("no_code", "compiler", "hand")
# Rows that use one member of the menu instead of the search, and the same features as another row.
ONE_HEAD = {"both_mlp": ("both", "mlp")}
# Rows that no model takes part in, computed from a module or a region of it. Those that are only there where a task
# names them came after the tables of the others.
_COUNTED: dict[str, Callable[..., Float32]] = {
    "histogram": opcode_histogram,
    "autophase": autophase_features,
    "statements": statement_bag,
}
_WHERE_NAMED = ("autophase", "statements")


@dataclass(frozen=True, eq=False)
class Features:
    """One row's matrix.

    Attributes
    ----------
    row : str
        Key of `ROW_TITLES`.
    matrix : (n, A + D) float64
        Context features first, code features after them; D = 0 for ``no_code``.
    context : int
        A, how many columns are context features.
    only : str
        The one member of the menu (`mirenc.learning.menu`) that the row uses; "" for the search.
    note : str
        What a reader of the table must know, such as files that IR2Vec could not read.
    """

    row: str
    matrix: NDArray[np.float64]
    context: int
    only: str = ""
    note: str = ""


def default_rows(task: Task, data: TaskData | None = None) -> list[str]:
    """All rows that can be computed here.

    ``no_code`` needs context features; ``compiler`` such that a compiler tells; ``hand`` such columns in the data;
    ``ir2vec`` its wheel; ``both_mlp`` a few settings to choose among; all but the first three, samples with code.
    ``autophase`` and ``statements`` are there where `Task.more_rows` names them.
    """
    wanted = list(ROW_TITLES) if data is None or data.has_code else list(_WITHOUT_CODE)
    left_out = set(_WHERE_NAMED) - set(task.more_rows)
    if not task.context_names:
        left_out.add("no_code")
    if not task.told_by_compiler:
        left_out.add("compiler")
    if not task.hand_names:
        left_out.add("hand")
    if not ir2vec_available():
        left_out.add("ir2vec")
    if task.space is None or (data is not None and not _has_few(data)):
        left_out.add("both_mlp")
    return [row for row in wanted if row not in left_out]


def _has_few(data: TaskData) -> bool:
    """Whether the paper's head is among the candidates for these data."""
    if not data.chooses:
        return False
    shape = Shape(0, 1, len(data), len(data), data.width, data.shares_space)
    return any(name == "mlp" for name, _ in menu(shape, 0, "accuracy"))


class CodeReader:
    """Code features of modules and of their regions: the same for training and for a prediction.

    Parameters
    ----------
    encoder : Encoder
    counted : sequence of str
        Rows without a model that are wanted: ``histogram``, ``autophase``, ``statements``.
    """

    def __init__(self, encoder: Encoder, counted: Sequence[str] = ("histogram",)) -> None:
        self.encoder = encoder
        self.counted = counted

    def __call__(self, module: IRModule, regions: Sequence[Region | None]) -> list[dict[str, Float32]]:
        """``text``, ``graph`` and the rows of ``counted`` of each region; None is the module.

        Of a model that a compiler taught, text and graph are features (`Encoder.embed`), and ``taught`` stands beside
        them. Of others they are as heads were fitted on before there was such a model: whitened means.

        A loop's are followed by those of its function, so each is twice as long: what is around a loop tells how often
        it is entered and what of it is invariant.

        Raises
        ------
        TaskError
            The module has no such region.
        """
        return self.of_modules([(module, regions)])[0]

    def of_modules(self, modules: Sequence[tuple[IRModule, Sequence[Region | None]]]) -> list[list[dict[str, Float32]]]:
        """The same of regions of several modules, whose statements are encoded together."""
        results: list[list[dict[str, Float32]]] = [[{} for _ in regions] for _, regions in modules]
        jobs: dict[tuple[Level, ...], dict[int, list[int]]] = {}
        for number, (_, regions) in enumerate(modules):
            for row, region in enumerate(regions):
                jobs.setdefault(_levels(region), {}).setdefault(number, []).append(row)
        for levels, rows_of in jobs.items():
            embeddings = self._embedded([modules[number][0] for number in rows_of], levels)
            for (number, rows), embedding in zip(rows_of.items(), embeddings, strict=True):
                module, regions = modules[number]
                code = _Code(module, embedding, self.counted)
                for row in rows:
                    results[number][row] = code.of(regions[row])
        return results

    def _embedded(self, modules: Sequence[IRModule], levels: tuple[Level, ...]) -> Iterator[Embedding]:
        purpose: Purpose = "search" if self.encoder.files.config.taught is None else "features"
        for outcome in self.encoder.embed_stream(modules, level=levels, purpose=purpose, workers=0):
            if outcome.embedding is None:
                assert outcome.error is not None
                raise outcome.error
            yield outcome.embedding


def _levels(region: Region | None) -> tuple[Level, ...]:
    """What is embedded for a region, in one pass over its module."""
    if region is None:
        return ("module",)
    return ("loop", "function") if region.level == "loop" else ("function",)


def counted_features(module: IRModule, region: Region | None) -> dict[str, Float32]:
    """The rows that no model takes part in, of a function or a whole module."""
    inside = None
    if region is not None:
        listed = regions_of(module, region.level)
        inside = listed.instruction[listed.region == [_key(one) for one in listed.regions].index(_key(region))]
    return {name: count(module, inside) for name, count in _COUNTED.items()}


class _Code:
    """Code features of the regions that were embedded of a module."""

    def __init__(self, module: IRModule, embedding: Embedding, counted: Sequence[str]) -> None:
        self.module, self.counted = module, counted
        self.vectors = {"text": embedding.part("text"), "graph": embedding.part("graph")}
        if embedding.purpose == "features":
            self.vectors["taught"] = embedding.taught
        self.rows = {(region.level, *_key(region)): row for row, region in enumerate(embedding.regions)}
        self.listed: dict[str, Regions] = {}

    def of(self, region: Region | None) -> dict[str, Float32]:
        """Those of a region, a loop's followed by its function's."""
        if region is None:
            return self._own("module", ("", ""))
        own = self._own(region.level, _key(region), region.name)
        if region.level != "loop":
            return own
        around = self._own("function", (region.symbol, ""))
        return {name: np.concatenate([vector, around[name]]) for name, vector in own.items()}

    def _own(self, level: str, key: tuple[str, str], name: str = "") -> dict[str, Float32]:
        row = self.rows.get((level, *key))
        if row is None:
            raise TaskError(f"{self.module.name} has no {level} {name!r}. Give IR that has it")
        counts = {}
        if self.counted:
            inside = None if level == "module" else self._instructions(level, key)
            counts = {name: _COUNTED[name](self.module, inside) for name in self.counted}
        return {**{name: vectors[row] for name, vectors in self.vectors.items()}, **counts}

    def _instructions(self, level: str, key: tuple[str, str]) -> NDArray[np.int32]:
        if level not in self.listed:
            self.listed[level] = regions_of(self.module, level)
        listed = self.listed[level]
        inside: NDArray[np.int32] = listed.instruction[
            listed.region == [_key(one) for one in listed.regions].index(key)
        ]
        return inside


def _key(region: Region) -> tuple[str, str]:
    """What finds a region again in its module; places and display names may differ with the debug information."""
    return region.symbol, region.header


def code_vector(row: str, parts: dict[str, Float32]) -> Float32:
    """Code features for a row of `CODE_ROWS`, of what `CodeReader` gave. (D,)."""
    if row not in ("both", "both_histogram"):
        return parts[row]
    blocks = [parts["text"], parts["graph"]] + ([parts["taught"]] if "taught" in parts else [])
    return np.concatenate([*blocks, parts["histogram"]] if row == "both_histogram" else blocks)


def context_matrix(task: Task, data: TaskData, *, blind: bool = False) -> NDArray[np.float64]:
    """Task features of all samples; ``blind``: what a compiler tells is not known. (n, A)."""
    rows = []
    hidden = [blind and name in task.told_by_compiler for name in task.context_names]
    for sample in data.samples:
        context = sample.context
        if blind and len(context) == len(hidden):
            context = tuple(0 if hide else value for value, hide in zip(context, hidden, strict=True))
        try:
            rows.append(encoded_context(task, context))
        except TaskError as error:
            raise TaskError(f"sample {sample.name}: {error}") from None
    return np.array(rows, dtype=np.float64)


def encoded_context(task: Task, context: tuple[Any, ...]) -> NDArray[np.float64]:
    """Context features as a head sees them, of a sample or of a question. (A,).

    Raises
    ------
    TaskError
        Too many or too few, or what does not become finite numbers.
    """
    if len(context) != len(task.context_names):
        raise TaskError(
            f"{len(context)} context features were given; {task.name} names {len(task.context_names)}: "
            f"{', '.join(task.context_names) or 'none'}. Give one for each"
        )
    try:
        with np.errstate(all="ignore"):  # what comes of it is looked at below
            encoded = np.asarray(task.encode_context(context), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, MirencError) else TaskError(str(error)) from None
    if not np.isfinite(encoded).all():
        raise TaskError(f"context features {context} are {encoded} for a head, not finite numbers")
    return encoded


def build_features(
    task: Task,
    data: TaskData,
    rows: Sequence[str],
    encoder: Encoder,
    *,
    advance: Callable[..., None] | None = None,
) -> list[Features]:
    """The matrices of several rows; the IR is read and embedded once.

    ``advance`` is called as ``advance(1, total=...)`` after each piece of code.

    Raises
    ------
    TaskError
        Unknown row; a row that cannot be computed here; IR that cannot be read (the sample is named).
    """
    _check_rows(task, data, rows)
    context = context_matrix(task, data)
    vectors, of, note = _code_vectors(task, data, rows, encoder, advance)
    result = []
    for row in rows:
        known = context
        if row in ("no_code", "compiler"):
            code = np.zeros((len(data), 0))
            known = context_matrix(task, data, blind=True) if row == "no_code" else context
        elif row == "hand":
            code = np.array([task.hand_features(sample) for sample in data.samples], dtype=np.float64)
        else:
            code = vectors[ONE_HEAD.get(row, (row, ""))[0]][of].astype(np.float64)
        matrix = np.concatenate([known, code], axis=1)
        only = ONE_HEAD.get(row, ("", ""))[1]
        result.append(Features(row, matrix, context.shape[1], only, note if row == "ir2vec" else ""))
    return result


def _check_rows(task: Task, data: TaskData, rows: Sequence[str]) -> None:
    """Refuse rows that cannot be computed here."""
    for row in rows:
        if row not in ROW_TITLES:
            raise TaskError(f"unknown row {row!r}; available: {', '.join(ROW_TITLES)}")
    if "ir2vec" in rows and not ir2vec_available():
        raise TaskError("row 'ir2vec' needs the IR2Vec wheel. Type: pip install --no-deps IR2Vec==2.1.1")
    if "hand" in rows and not task.hand_names:
        raise TaskError(f"task {task.name!r} has no hand features. Leave out row 'hand'")
    if "compiler" in rows and not task.told_by_compiler:
        raise TaskError(f"task {task.name!r} asks no compiler. Leave out row 'compiler'")
    if "no_code" in rows and not task.context_names:
        raise TaskError(f"task {task.name!r} has no context features, so nothing without code. Leave out row 'no_code'")
    if "both_mlp" in rows and not _has_few(data):
        raise TaskError("row 'both_mlp' is for a few settings and a few hundred samples. Leave it out")


def _code_vectors(
    task: Task, data: TaskData, rows: Sequence[str], encoder: Encoder, advance: Callable[..., None] | None
) -> tuple[dict[str, Float32], NDArray[np.int64], str]:
    """Code features of each distinct piece, (m, D) a row; each sample's piece (n,); what to tell the reader."""
    if not set(rows) - set(_WITHOUT_CODE):
        return {}, np.zeros(len(data), dtype=np.int64), ""
    pieces, of = data.distinct_code
    by_ir: dict[str | bytes, list[int]] = {}
    for number, (ir, _) in enumerate(pieces):
        by_ir.setdefault(os.fspath(ir), []).append(number)
    found: list[dict[str, Float32]] = [{}] * len(pieces)
    text = [""] * len(pieces)  # for IR2Vec
    counted = [name for name in _COUNTED if name == "histogram" or name in rows]
    read = CodeReader(encoder, counted)
    for numbers in by_ir.values():
        ir = pieces[numbers[0]][0]
        try:
            module = task.read_sample(encoder, ir)
            for number, parts in zip(numbers, read(module, [pieces[one][1] for one in numbers]), strict=True):
                found[number] = parts
                if "ir2vec" in rows:
                    text[number] = ir2vec_text(ir, module, pieces[number][1])
        except MirencError as error:
            name = data.samples[int(np.argmax(np.isin(of, numbers)))].name
            raise TaskError(f"sample {name}: {error}") from None
        if advance is not None:
            advance(len(numbers), total=len(pieces), note="embedding")
    vectors = {row: np.stack([code_vector(row, one) for one in found]) for row in (*CODE_ROWS, *counted)}
    note = ""
    if "ir2vec" in rows:
        once = list(dict.fromkeys(text))  # loops of one function have one text
        each, failed = ir2vec_vectors(once)
        place = {one: row for row, one in enumerate(once)}
        vectors["ir2vec"] = each[[place[one] for one in text]]
        notes = [f"IR2Vec gave no vector for {failed} of {len(once)} files: zeros"] if failed else []
        if any(region is not None for _, region in pieces):
            notes.append("IR2Vec has no vectors of loops: its row is of the function around each region")
        note = ". ".join(notes)
    return vectors, of, note


def ir2vec_text(ir: IRSource, module: IRModule, region: Region | None) -> str:
    """What IR2Vec reads of a piece of code: the module, or the function of a region.

    Published bytes are given as their LLVM wrote them. All else is LLVM 22's text, which IR2Vec refuses as it is.
    """
    if region is not None:
        return function_text(module.text, region.symbol)
    return ir.decode("utf-8", "replace") if isinstance(ir, bytes) else in_older_words(module.text)
