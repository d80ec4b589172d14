"""The rows of a table: what a head gets to see of a sample, as a matrix ``[context features | code features]``."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32, Float64
from mirenc.base.errors import MirencError, TaskError
from mirenc.decide.estimators.candidates import has_mlp
from mirenc.decide.estimators.chooser import Settings
from mirenc.decide.features.code_features import CODE_ROWS, CodeReader, code_vector
from mirenc.decide.features.ir2vec import ir2vec_available, ir2vec_text, ir2vec_vectors
from mirenc.decide.features.look_ahead_features import (
    TRIP_COUNTS,
    default_columns,
    look_ahead_settings,
    look_ahead_tables,
)
from mirenc.decide.loop_task import LoopTask
from mirenc.decide.sample import IRSource, Sample
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder

ROW_TITLES = {
    "no_code": "no code",
    "compiler": "no code + the compiler's own choice",
    "hand": "hand features",
    "histogram": "opcode histogram",
    "ir2vec": "IR2Vec 2.1.1 flow-aware",
    "text": "embedding, text only",
    "graph": "embedding, graph only",
    "both": "embedding, both",
    "both_histogram": "embedding, both + opcode histogram",
    "both_mlp": "embedding, both, the paper's MLP head alone",
    "look_ahead": "look-ahead",
    "look_ahead_both": "look-ahead + embedding, both",
}
RUN = "_run"
"""Ends the name of a row that is also told what only a run tells (`mirenc.decide.context.Feature.from_run`)."""
ROW_TITLES |= {
    f"{row}{RUN}": f"{ROW_TITLES[row]} + trip count"
    for row in ("no_code", "compiler", "histogram", "ir2vec", "look_ahead", "look_ahead_both")
}
LOOK_AHEAD = ("look_ahead", "look_ahead_both")
HEAD_ROWS = (*CODE_ROWS, *LOOK_AHEAD)
"""Rows that a head can be made for."""
_WITHOUT_CODE = ("no_code", "compiler", "hand", "look_ahead")
# Rows with the same features as another row; and the one member of the menu that they use instead of the search.
_ONE_HEAD = {"both_mlp": ("both", "mlp"), "look_ahead_both": ("both", "")}


@dataclass(frozen=True, eq=False)
class Features:
    """One row's matrix."""

    row: str  # key of `ROW_TITLES`
    matrix: Float64  # (n, A + D) float64: context features first, code features after them; D = 0 for ``no_code``
    context: int  # A
    only: str = (
        ""  # the one member of the menu (`mirenc.decide.estimators.candidates`) that the row uses; "" for the search
    )
    note: str = ""  # what a reader of the table must know, such as files that IR2Vec could not read
    # What each setting makes of each sample's code; None: settings are what they are called
    settings: Settings | None = None
    # What is known of that when a question comes; None: as much as in training
    asked: tuple[Settings, ...] | None = None


def source_of(row: str) -> str:
    """The row whose code features a row has, beside those of its look-ahead."""
    return _ONE_HEAD.get(row.removesuffix(RUN), (row.removesuffix(RUN), ""))[0]


def _why_not(task: Task, data: TaskData | None, row: str) -> str:
    if row.removesuffix(RUN) == "ir2vec" and not ir2vec_available():
        return "row 'ir2vec' needs the IR2Vec wheel. Type: pip install --no-deps IR2Vec==2.1.1"
    if row == "hand" and not task.hand_names:
        return f"task {task.name!r} has no hand features. Leave out row 'hand'"
    if row.removesuffix(RUN) == "compiler" and not task.context.compiler_names:
        return f"task {task.name!r} asks no compiler. Leave out row 'compiler'"
    if row == "no_code" and not task.context.names:
        return f"task {task.name!r} has no context features, so nothing without code. Leave out row 'no_code'"
    if row.endswith(RUN) and not any(sample.run for sample in (data.samples if data is not None else ())):
        return f"row {row!r} needs what only a run tells, and the samples have none. Leave it out, or measure anew"
    if row.removesuffix(RUN) in LOOK_AHEAD and not isinstance(task, LoopTask):
        return f"task {task.name!r} does not look ahead. Leave out row {row!r}"
    if row == "both_mlp" and data is not None and not has_mlp(len(data), data.width, data.shares_space):
        return "row 'both_mlp' is for a few settings and a few hundred samples. Leave it out"
    return ""


def default_rows(task: Task, data: TaskData | None = None) -> list[str]:
    """All rows that can be computed here."""
    rows = ROW_TITLES if data is None or data.has_code else _WITHOUT_CODE
    left_out = "both_mlp" if task.space is None else ""
    return [row for row in rows if row != left_out and not _why_not(task, data, row)]


def told_context(task: Task, sample: Sample) -> tuple[Any, ...]:
    """A sample's context features with what only its run tells."""
    told = dict(zip(task.context.names, sample.context, strict=False)) | dict(sample.run)
    return tuple(told[name] for name in task.context.names)


def hide(task: Task, context: tuple[Any, ...], names: Sequence[str]) -> tuple[Any, ...]:
    """Context features of which some are not known."""
    places = [place for place, name in enumerate(task.context.names) if name in names]
    return tuple(0 if place in places else value for place, value in enumerate(context))


def context_matrix(task: Task, data: TaskData, *, hidden: Sequence[str] = (), told: bool = False) -> Float64:
    """Context features of all samples, (n, A), some ``hidden``; ``told``: what only a run tells is known."""
    rows = []
    for sample in data.samples:
        context = hide(task, told_context(task, sample) if told else sample.context, hidden)
        try:
            rows.append(task.context.encode(context))
        except TaskError as error:
            raise TaskError(f"sample {sample.name}: {error}") from None
    return np.array(rows, dtype=np.float64)


def build_features(
    task: Task, data: TaskData, rows: Sequence[str], encoder: Encoder, *, advance: Callable[..., None] | None = None
) -> list[Features]:
    """The matrices of several rows; after each piece of code, embedded once, ``advance(1, total=...)`` is called.

    Raises TaskError: unknown row; a row that cannot be computed here; IR that cannot be read (the sample is named).
    """
    for row in rows:
        if row not in ROW_TITLES:
            raise TaskError(f"unknown row {row!r}; available: {', '.join(ROW_TITLES)}")
        if reason := _why_not(task, data, row):
            raise TaskError(reason)
    vectors, notes = _code_features(task, data, [source_of(row) for row in rows], encoder, advance)

    @functools.cache
    def tables() -> Float64:
        assert isinstance(task, LoopTask)
        return look_ahead_tables(task, data, encoder, advance)

    @functools.cache
    def looked_ahead(told: bool) -> tuple[Settings, tuple[Settings, ...] | None]:
        """What settings make of each sample's code as its run had it; and as a question has it that is not told."""
        assert isinstance(task, LoopTask)
        view = functools.partial(look_ahead_settings, data.settings, tables(), data.default)
        ran = view(np.array([max(task.iterations(told_context(task, one)), default=0.0) for one in data.samples]))
        if told:
            return ran, None
        counts = np.array([max(task.iterations(one.context), default=0.0) for one in data.samples])
        return ran, tuple(view(np.where(counts > 0, counts, draw)) for draw in TRIP_COUNTS)

    result = []
    for row in rows:
        source, only = source_of(row), _ONE_HEAD.get(row, ("", ""))[1]
        ahead = row.startswith(LOOK_AHEAD)
        told = row.endswith(RUN)
        # A head that looks ahead is told of runs by its settings: of one, or of several that may be.
        hidden = task.context.run_names if ahead else task.context.compiler_names if source == "no_code" else ()
        known = context_matrix(task, data, hidden=hidden, told=told)
        code, settings, asked = np.zeros((len(data), 0)), None, None
        if source == "hand":
            code = np.array([sample.hand for sample in data.samples], dtype=np.float64)
        elif source in vectors:
            code = vectors[source].astype(np.float64)
        if ahead:
            own = np.array([default_columns(table, at) for table, at in zip(tables(), data.default, strict=True)])
            code = np.concatenate([own, code], axis=1)
            settings, asked = looked_ahead(told)
        matrix = np.concatenate([known, code], axis=1)
        result.append(Features(row, matrix, known.shape[1], only, notes.get(source, ""), settings, asked))
    return result


def _code_features(
    task: Task, data: TaskData, rows: Sequence[str], encoder: Encoder, advance: Callable[..., None] | None
) -> tuple[dict[str, Float32], dict[str, str]]:
    """Code features of each sample, (n, D) a row; and what to tell the reader of a row."""
    if not set(rows) - set(_WITHOUT_CODE):
        return {}, {}
    pieces, of = data.distinct_code
    by_ir: dict[IRSource, list[int]] = {}
    for number, (ir, _) in enumerate(pieces):
        by_ir.setdefault(ir, []).append(number)
    parts: list[dict[str, Float32]] = [{}] * len(pieces)
    text = [""] * len(pieces)  # for IR2Vec
    read = CodeReader(encoder)
    for ir, numbers in by_ir.items():
        try:
            module = task.read_sample(encoder, ir)
            for number, features in zip(numbers, read(module, [pieces[one][1] for one in numbers]), strict=True):
                parts[number] = features
                if "ir2vec" in rows:
                    text[number] = ir2vec_text(ir, module, pieces[number][1])
        except MirencError as error:
            name = data.samples[int(np.argmax(np.isin(of, numbers)))].name
            raise TaskError(f"sample {name}: {error}") from None
        if advance is not None:
            advance(len(numbers), total=len(pieces), note="embedding")
    wanted = set(rows) & {*CODE_ROWS, "histogram"}
    vectors = {row: np.stack([code_vector(row, one) for one in parts])[of] for row in wanted}
    if "ir2vec" not in rows:
        return vectors, {}
    once = list(dict.fromkeys(text))  # loops of one function have one text
    each, failed = ir2vec_vectors(once)
    place = {one: row for row, one in enumerate(once)}
    vectors["ir2vec"] = each[[place[one] for one in text]][of]
    notes = [f"IR2Vec gave no vector for {failed} of {len(once)} files: zeros"] if failed else []
    if any(region is not None for _, region in pieces):
        notes.append("IR2Vec has no vectors of loops: its row is of the function around each region")
    return vectors, {"ir2vec": ". ".join(notes)}
