"""The rows of a table: what a head gets to see of a sample.

Each row is a matrix ``[task features | code features]``. All rows go through the same search for a head, so the
embedding and its baselines differ in what they know, not in how hard somebody tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import MirencError, TaskError
from mirenc.tasks.data import TaskData
from mirenc.tasks.histogram import opcode_histogram
from mirenc.tasks.ir2vec import ir2vec_available, ir2vec_vectors

if TYPE_CHECKING:
    from mirenc.encoder import Encoder
    from mirenc.tasks.base import Task

__all__ = ["CODE_ROWS", "ROW_TITLES", "Features", "build_features", "code_vector", "default_rows"]

Float32 = NDArray[np.float32]

ROW_TITLES = {
    "no_code": "no code",
    "hand": "hand features",
    "histogram": "opcode histogram",
    "ir2vec": "IR2Vec 2.1.1 flow-aware",
    "text": "embedding, text only",
    "graph": "embedding, graph only",
    "both": "embedding, both",
    "both_histogram": "embedding, both + opcode histogram",
    "both_mlp": "embedding, both, the paper's MLP head alone",
}
# Rows that look at code through the model, or beside it.
CODE_ROWS = ("text", "graph", "both", "both_histogram")
# Rows that use one member of the menu instead of the search, and the same features as another row.
ONE_HEAD = {"both_mlp": ("both", "mlp")}


@dataclass(frozen=True, eq=False)
class Features:
    """One row's matrix.

    Attributes
    ----------
    row : str
        Key of `ROW_TITLES`.
    matrix : (n, A + D) float64
        Task features first, code features after them; D = 0 for ``no_code``.
    aux : int
        A, how many columns are task features.
    only : str
        The one member of the menu (`mirenc.tasks.menu`) that the row uses; "" for the search.
    note : str
        What a reader of the table must know, such as files that IR2Vec could not read.
    """

    row: str
    matrix: NDArray[np.float64]
    aux: int
    only: str = ""
    note: str = ""


def default_rows(task: Task) -> list[str]:
    """All rows that can be computed here.

    ``no_code`` needs task features, ``hand`` such columns in the data, ``ir2vec`` its wheel.
    """
    wanted = list(ROW_TITLES)
    if not task.aux_names:
        wanted.remove("no_code")
    if not task.hand_names:
        wanted.remove("hand")
    if not ir2vec_available():
        wanted.remove("ir2vec")
    return wanted


def code_vector(row: str, encoder: Encoder, ir: object) -> Float32:
    """Code features of one piece of IR for a row of `CODE_ROWS`: the same for training and for a prediction. (D,)."""
    module = encoder.read(ir)  # type: ignore[arg-type]  # whatever Encoder.embed takes
    if row == "histogram":
        return opcode_histogram(module)
    parts = encoder.embed_parts(module)
    if row == "both_histogram":
        return np.concatenate([parts.vector[0], opcode_histogram(module)])
    vector: Float32 = parts.part(row)[0]
    return vector


def _aux_matrix(task: Task, data: TaskData) -> NDArray[np.float64]:
    """Task features of all samples. (n, A)."""
    rows = []
    for sample in data.samples:
        if len(sample.aux) != len(task.aux_names):
            raise TaskError(
                f"sample {sample.name} has {len(sample.aux)} task features; {task.name} names {len(task.aux_names)}: "
                f"{', '.join(task.aux_names) or 'none'}. Give one for each"
            )
        try:
            row = task.encode_aux(sample.aux)
        except (TypeError, ValueError) as error:
            raise TaskError(f"sample {sample.name}: {error}") from None
        if not np.isfinite(row).all():
            raise TaskError(
                f"sample {sample.name}: task features {sample.aux} are {row} for a head, not finite numbers"
            )
        rows.append(row)
    return np.array(rows, dtype=np.float64)


def build_features(
    task: Task,
    data: TaskData,
    rows: Sequence[str],
    encoder: Encoder,
    *,
    advance: Callable[[int], None] | None = None,
) -> list[Features]:
    """The matrices of several rows; the IR is read and embedded once.

    Raises
    ------
    TaskError
        Unknown row; a row that cannot be computed here; IR that cannot be read (the sample is named).
    """
    for row in rows:
        if row not in ROW_TITLES:
            raise TaskError(f"unknown row {row!r}; available: {', '.join(ROW_TITLES)}")
    if "ir2vec" in rows and not ir2vec_available():
        raise TaskError("row 'ir2vec' needs the IR2Vec wheel. Type: pip install --no-deps IR2Vec==2.1.1")
    if "hand" in rows and not task.hand_names:
        raise TaskError(f"task {task.name!r} has no hand features. Leave out row 'hand'")
    if "no_code" in rows and not task.aux_names:
        raise TaskError(f"task {task.name!r} has no task features, so nothing without code. Leave out row 'no_code'")
    aux = _aux_matrix(task, data)
    pieces, of = data.distinct_ir
    vectors: dict[str, Float32] = {}
    text: list[str] = []
    if set(rows) - {"no_code", "hand"}:
        columns: dict[str, list[Float32]] = {"text": [], "graph": [], "histogram": []}
        for index, piece in enumerate(pieces):
            try:
                module = encoder.read(piece)
                parts = encoder.embed_parts(module)
            except MirencError as error:
                name = data.samples[int(np.argmax(of == index))].name
                raise TaskError(f"sample {name}: {error}") from None
            columns["text"].append(parts.text[0])
            columns["graph"].append(parts.graph[0])
            columns["histogram"].append(opcode_histogram(module))
            text.append(piece.decode("utf-8", "replace") if isinstance(piece, bytes) else module.text)
            if advance is not None:
                advance(1)
        vectors = {name: np.stack(column) for name, column in columns.items()}
        vectors["both"] = np.concatenate([vectors["text"], vectors["graph"]], axis=1)
        vectors["both_histogram"] = np.concatenate([vectors["both"], vectors["histogram"]], axis=1)
    note = ""
    if "ir2vec" in rows:
        vectors["ir2vec"], failed = ir2vec_vectors(text)
        note = f"IR2Vec gave no vector for {failed} of {len(pieces)} files: zeros" if failed else ""
    result = []
    for row in rows:
        if row == "no_code":
            code = np.zeros((len(data), 0))
        elif row == "hand":
            code = np.array([task.hand_features(sample) for sample in data.samples], dtype=np.float64)
        else:
            code = vectors[ONE_HEAD.get(row, (row, ""))[0]][of].astype(np.float64)
        matrix = np.concatenate([aux, code], axis=1)
        only = ONE_HEAD.get(row, ("", ""))[1]
        result.append(Features(row, matrix, aux.shape[1], only, note if row == "ir2vec" else ""))
    return result
