"""The features of each row of a table, as a matrix ``[context features | code features]``."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32, Float64
from mirenc.base.errors import MirencError, TaskError, unknown
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
from mirenc.decide.loop_task import LoopTask, branches
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
"""The rows that features can be computed for, and their titles in a table."""
TOLD = {"_run": ("trip_count",), "_taken": ("taken", "rarer"), "_told": ("trip_count", "taken", "rarer")}
"""Suffix of a row -> what it also has that only a run tells (`mirenc.decide.context.Feature.from_run`)."""
ROW_TITLES |= {
    f"{row}{end}": f"{ROW_TITLES[row]} + {words}"
    for row in ("no_code", "compiler", "histogram", "ir2vec", "look_ahead", "look_ahead_both")
    for end, words in zip(TOLD, ("trip count", "branches", "trip count and branches"), strict=True)
}
LOOK_AHEAD = ("look_ahead", "look_ahead_both")
HEAD_ROWS = (*CODE_ROWS, *LOOK_AHEAD)
"""Rows that a head can be fitted on."""
_BRANCHES_SHARE = 0.5  # of training samples, those that say how often branches are taken
_WITHOUT_CODE = ("no_code", "compiler", "hand", "look_ahead")
_SAME_CODE_AS = {"both_mlp": "both", "look_ahead_both": "both"}
_ONLY_CANDIDATE = {"both_mlp": "mlp"}


@dataclass(frozen=True, eq=False)
class Features:
    """The matrix of one row of a table."""

    row: str  # key of `ROW_TITLES`
    matrix: Float64  # (n, A + D): context features first, then code features; D = 0 for ``no_code``
    context_columns: int  # A
    candidate: str = ""  # the one (`mirenc.decide.estimators.candidates`) that the row uses; "": all compete
    note: str = ""  # what a reader of the table must know, such as files that IR2Vec could not read
    settings: Settings | None = None  # settings with the code that each makes of each sample; None: by their values
    question_settings: tuple[Settings, ...] | None = None  # views of these in a question; None: as in training


def code_row(row: str) -> str:
    """The row with the same code features, apart from those of a look-ahead."""
    kind, _ = _kind_of(row)
    return _SAME_CODE_AS.get(kind, kind)


def _kind_of(row: str) -> tuple[str, tuple[str, ...]]:
    """A row without its suffix, and what it is told by a run."""
    return next(((row.removesuffix(end), names) for end, names in TOLD.items() if row.endswith(end)), (row, ()))


def _reason_against(task: Task, data: TaskData | None, row: str) -> str:
    """Why a row cannot be computed; "" if it can."""
    kind, run_names = _kind_of(row)
    if kind == "ir2vec" and not ir2vec_available():
        return "row 'ir2vec' needs the IR2Vec wheel. Type: pip install --no-deps IR2Vec==2.1.1"
    if row == "hand" and not task.hand_feature_names:
        return f"task {task.name!r} has no hand features. Leave out row 'hand'"
    if kind == "compiler" and not task.context.compiler_names:
        return f"task {task.name!r} asks no compiler. Leave out row 'compiler'"
    if row == "no_code" and not task.context.names:
        return f"task {task.name!r} has no context features, so nothing without code. Leave out row 'no_code'"
    names_told = {name for sample in (data.samples if data is not None else ()) for name in sample.run}
    if not names_told.issuperset(run_names):
        return f"row {row!r} needs what only a run tells, and the samples lack it. Leave out the row, or measure anew"
    if kind in LOOK_AHEAD and not isinstance(task, LoopTask):
        return f"task {task.name!r} does not look ahead. Leave out row {row!r}"
    if row == "both_mlp" and data is not None and not has_mlp(len(data), data.width, data.shares_space):
        return "row 'both_mlp' is for a few settings and a few hundred samples. Leave out row 'both_mlp'"
    return ""


def default_rows(task: Task, data: TaskData | None = None) -> list[str]:
    """All rows that can be computed here."""
    rows = ROW_TITLES if data is None or data.has_code else _WITHOUT_CODE
    omitted_row = "both_mlp" if task.space is None else ""
    return [row for row in rows if row != omitted_row and not _reason_against(task, data, row)]


def context_with_run(task: Task, sample: Sample, from_run: Sequence[str] | None = None) -> tuple[Any, ...]:
    """A sample's context features, with those that only its run tells (`Sample.run`): all, or those of some names."""
    names = task.context.run_names if from_run is None else from_run
    if not names:
        return sample.context
    values = dict(zip(task.context.names, sample.context, strict=False))
    values |= {name: value for name, value in sample.run.items() if name in names}
    return tuple(values[name] for name in task.context.names)


def hide_context(task: Task, context: tuple[Any, ...], names: Sequence[str]) -> tuple[Any, ...]:
    """Context features of which some are not known."""
    hidden_values = {i: feature.unknown for i, feature in enumerate(task.context.features) if feature.name in names}
    return tuple(hidden_values.get(i, value) for i, value in enumerate(context))


def context_matrix(task: Task, data: TaskData, *, hidden: Sequence[str] = (), from_run: Sequence[str] = ()) -> Float64:
    """Context features of all samples, (n, A), some ``hidden``; those that a run tells are those ``from_run``."""
    rows = []
    for sample in data.samples:
        try:
            rows.append(task.context.encode(hide_context(task, context_with_run(task, sample, from_run), hidden)))
        except TaskError as error:
            raise TaskError(f"sample {sample.name}: {error}") from None
    return np.array(rows, dtype=np.float64)


def build_features(
    task: Task, data: TaskData, rows: Sequence[str], encoder: Encoder, *, advance: Callable[..., None] | None = None
) -> list[Features]:
    """The features of several rows; ``advance(1, total=...)`` is called for each piece of code, embedded once.

    Raises TaskError: unknown row; a row that cannot be computed here; IR that cannot be read (the sample is named).
    """
    for row in rows:
        if row not in ROW_TITLES:
            raise TaskError(unknown("row", row, ROW_TITLES))
        if reason := _reason_against(task, data, row):
            raise TaskError(reason)
    vectors, notes = _code_features(task, data, [code_row(row) for row in rows], encoder, advance)

    @functools.cache
    def tables() -> Float64:
        assert isinstance(task, LoopTask)
        return look_ahead_tables(task, data, encoder, advance)

    @functools.cache
    def look_ahead_views(run_names: tuple[str, ...]) -> tuple[Settings, tuple[Settings, ...]]:
        """Settings with each sample's code and what its run tells; and the views of a question that is told some."""
        assert isinstance(task, LoopTask)
        view = functools.partial(look_ahead_settings, data.settings, tables(), data.default)

        def counts_and_branches(names: Sequence[str] | None) -> tuple[Float64, Float64]:
            contexts = [context_with_run(task, sample, names) for sample in data.samples]
            counts = [max(task.iterations(context), default=0.0) for context in contexts]
            return np.array(counts), np.array([branches(context) for context in contexts])

        counts, branch_rates = counts_and_branches(None)
        # One head serves both who knows how often branches are taken and who does not.
        settings = view(counts, branch_rates * (np.random.default_rng(0).random((len(data), 1)) < _BRANCHES_SHARE))
        counts, branch_rates = counts_and_branches(run_names)
        if "trip_count" in run_names:
            return settings, (view(counts, branch_rates),)
        return settings, tuple(view(np.where(counts > 0, counts, count), branch_rates) for count in TRIP_COUNTS)

    result = []
    for row in rows:
        source, (_, from_run), looks_ahead = code_row(row), _kind_of(row), row.startswith(LOOK_AHEAD)
        # A look-ahead has what runs tell in its settings: one, or several views.
        hidden = task.context.run_names if looks_ahead else task.context.compiler_names if source == "no_code" else ()
        context = context_matrix(task, data, hidden=hidden, from_run=from_run)
        code, settings, views = np.zeros((len(data), 0)), None, None
        if source == "hand":
            code = np.array([sample.hand_features for sample in data.samples], dtype=np.float64)
        elif source in vectors:
            code = vectors[source].astype(np.float64)
        if looks_ahead:
            defaults = [default_columns(table, default) for table, default in zip(tables(), data.default, strict=True)]
            code = np.concatenate([np.array(defaults), code], axis=1)
            settings, views = look_ahead_views(from_run)
        matrix = np.concatenate([context, code], axis=1)
        candidate, note = _ONLY_CANDIDATE.get(row, ""), notes.get(source, "")
        result.append(Features(row, matrix, context.shape[1], candidate, note, settings, views))
    return result


def _code_features(
    task: Task, data: TaskData, rows: Sequence[str], encoder: Encoder, advance: Callable[..., None] | None
) -> tuple[dict[str, Float32], dict[str, str]]:
    """Code features of each sample, (n, D) by row; and notes for the reader, by row."""
    if not set(rows) - set(_WITHOUT_CODE):
        return {}, {}
    pieces, piece_of_sample = data.distinct_code
    pieces_of_ir: dict[IRSource, list[int]] = {}
    for number, (ir, _) in enumerate(pieces):
        pieces_of_ir.setdefault(ir, []).append(number)
    parts: list[dict[str, Float32]] = [{}] * len(pieces)
    texts = [""] * len(pieces)  # for IR2Vec
    reader = CodeReader(encoder)
    for ir, numbers in pieces_of_ir.items():
        try:
            module = task.read_sample(encoder, ir)
            regions = [pieces[number][1] for number in numbers]
            for number, region, features in zip(numbers, regions, reader(module, regions), strict=True):
                parts[number] = features
                if "ir2vec" in rows:
                    texts[number] = ir2vec_text(ir, module, region)
        except MirencError as error:
            name = data.samples[int(np.argmax(np.isin(piece_of_sample, numbers)))].name
            raise TaskError(f"sample {name}: {error}") from None
        if advance is not None:
            advance(len(numbers), total=len(pieces), note="embedding")
    encoder_rows = set(rows) & {*CODE_ROWS, "histogram"}
    vectors = {row: np.stack([code_vector(row, part) for part in parts])[piece_of_sample] for row in encoder_rows}
    if "ir2vec" not in rows:
        return vectors, {}
    distinct_texts = list(dict.fromkeys(texts))  # loops of one function have one text
    text_vectors, failures = ir2vec_vectors(distinct_texts)
    row_of_text = {text: number for number, text in enumerate(distinct_texts)}
    vectors["ir2vec"] = text_vectors[[row_of_text[text] for text in texts]][piece_of_sample]
    notes = [f"IR2Vec gave no vector for {failures} of {len(distinct_texts)} files: zeros"] if failures else []
    if any(region is not None for _, region in pieces):
        notes.append("IR2Vec has no vectors of loops: its row is of the function around each region")
    return vectors, {"ir2vec": ". ".join(notes)}
