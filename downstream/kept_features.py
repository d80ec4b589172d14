"""Features of pieces of IR that were computed once and kept: one file a source, rows found again by the IR's hash.

A source is a model, ``counted`` (what needs none: opcodes, AutoPhase's counts, statements) or ``ir2vec``. A file that
was begun on a part of a table serves the whole of it later, and a machine that has neither LLVM nor weights can train
heads from such files and a table's labels alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.base.errors import TaskError
from mirenc.base.writing import delivered
from mirenc.decide.features.code_features import CODE_ROWS, code_vector
from mirenc.decide.features.feature_matrix import Features, context_matrix
from mirenc.decide.tables.compiled import read_compiled
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData

__all__ = [
    "KeptFeatures",
    "features_of",
    "features_of_table",
    "known_rows",
    "model_of",
    "read_all",
    "read_kept",
    "taught_rows",
]

FORMAT = 1
_LARGEST = 3e4  # what half precision holds with room to spare


@dataclass(frozen=True, eq=False)
class KeptFeatures:
    """What one source says of n pieces.

    Attributes
    ----------
    source : str
        ``counted``, ``ir2vec``, or the name of a model.
    digest : str
        Of the model's weights; "" for other sources.
    hashes : (n,) str
        `mirenc.decide.tables.compiled.hash_of_ir` of each piece, without repetition.
    parts : mapping of str to (n, D) float
        As `mirenc.decide.features.feature_matrix.CodeReader` names them: ``text``, ``graph``, ``histogram``.
    note : str
        As that of `Features`.
    """

    source: str
    digest: str
    hashes: NDArray[np.str_]
    parts: Mapping[str, NDArray[Any]]
    note: str = ""

    def save(self, path: str | Path) -> None:
        """Write it, in half precision where the numbers are small enough; complete or not at all.

        Raises
        ------
        OSError
        """
        header = {"format": FORMAT, "source": self.source, "digest": self.digest, "note": self.note}
        with delivered(path) as part, part.open("wb") as stream:
            np.savez_compressed(
                stream,
                about=json.dumps(header),
                hashes=np.char.encode(self.hashes, "ascii"),
                allow_pickle=False,
                **{f"part.{name}": _small(matrix) for name, matrix in self.parts.items()},
            )

    def joined(self, tail: KeptFeatures) -> KeptFeatures:
        """These, and behind them others of the same source."""
        parts = {name: np.concatenate([matrix, tail.parts[name]]) for name, matrix in self.parts.items()}
        return KeptFeatures(self.source, self.digest, np.concatenate([self.hashes, tail.hashes]), parts, tail.note)


def _small(matrix: NDArray[Any]) -> NDArray[Any]:
    fits = matrix.size == 0 or float(np.abs(matrix).max()) < _LARGEST
    return matrix.astype(np.float16 if fits else np.float32)


def read_kept(path: str | Path) -> KeptFeatures:
    """Read what `KeptFeatures.save` wrote.

    Raises
    ------
    TaskError
        No such file, or a damaged one.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(str(archive["about"]))
            if header["format"] != FORMAT:
                raise TaskError(f"{path}: features of format {header['format']}; {FORMAT} is needed. Compute them anew")
            parts = {name.removeprefix("part."): archive[name] for name in archive.files if name.startswith("part.")}
            hashes = np.char.decode(archive["hashes"], "ascii")
            if not parts or {len(matrix) for matrix in parts.values()} != {len(hashes)}:
                raise ValueError("parts of different lengths")
            return KeptFeatures(header["source"], header["digest"], hashes, parts, header["note"])
    except FileNotFoundError:
        raise TaskError(f"{path}: no such file of features. Type: python downstream/pass_features.py") from None
    except TaskError:  # which is a ValueError, too
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TaskError(f"{path}: the file of features is damaged ({error!r}). Compute them anew") from None


def read_all(paths: Sequence[Path], first: str = "") -> list[KeptFeatures]:
    """Files of features, or folders of them, the model that is named before all others.

    Raises
    ------
    TaskError
        As `read_kept`; no file, none of that model, or two of one source.
    """
    files = [file for path in paths for file in (sorted(path.glob("*.npz")) if path.is_dir() else [path])]
    tables = [read_kept(path) for path in files]
    models = [table.source for table in tables if table.digest]
    if not tables or (first and first not in models):
        raise TaskError(
            f"{', '.join(map(str, paths))}: features of {', '.join(models) or 'no model'}; wanted: {first or 'some'}. "
            "Type: python downstream/pass_features.py"
        )
    place: dict[str, Path] = {}
    for new, path in zip(tables, files, strict=True):
        if new.source in place:
            raise TaskError(
                f"{place[new.source]} and {path} are both of {new.source}, and rows are told apart by that name. Give "
                "one of them"
            )
        place[new.source] = path
    return sorted(tables, key=lambda table: bool(first) and table.source != first)


def model_of(sources: Sequence[KeptFeatures]) -> dict[str, Any]:
    """Name and digest of the first model, as records keep them, "" without any; ``others``: digest of each further."""
    models = {source.source: source.digest for source in sources if source.digest}
    first, *other_names = models or [""]
    first_model: dict[str, Any] = {"name": first, "digest": models.get(first, "")}
    return {**first_model, "others": {name: models[name] for name in other_names}} if other_names else first_model


def taught_rows(sources: Sequence[KeptFeatures]) -> set[str]:
    """Rows of models that a compiler taught: these have seen answers about the projects for training."""
    return {name for name, (source, _) in known_rows(sources).items() if "taught" in source.parts}


def known_rows(sources: Sequence[KeptFeatures]) -> dict[str, tuple[KeptFeatures, str]]:
    """Rows of `ROW_TITLES` that can be made of some sources: name -> the source and its row.

    The first model's have plain names, those of any other ``both:NAME``.
    """
    models = [table.source for table in sources if table.digest]
    rows_by_name: dict[str, tuple[KeptFeatures, str]] = {}
    for source in sources:
        if source.digest:
            rows = [row for row in CODE_ROWS if row != "both_histogram"]
            rows += [name for name in source.parts if name not in rows]
            suffix = "" if source.source == models[0] else f":{source.source}"
            rows_by_name |= {f"{row}{suffix}": (source, row) for row in rows}
        else:
            rows_by_name |= {row: (source, row) for row in source.parts}
    return rows_by_name


def features_of(
    sources: Sequence[KeptFeatures],
    hashes: Sequence[str],
    context: NDArray[np.float64],
    rows: Sequence[str],
) -> list[Features]:
    """The matrices of several rows.

    Parameters
    ----------
    sources : sequence of KeptFeatures
    hashes : sequence of str, length n
        Of the samples' IR.
    context : (n, A) float64
        Context features of the samples.
    rows : sequence of str
        ``no_code``, or of `known_rows`.

    Raises
    ------
    TaskError
        A row that no source has, or a piece that a source does not have.
    """
    available = known_rows(sources)
    result = []
    for row in rows:
        if row == "no_code":
            result.append(Features(row, context.copy(), context.shape[1]))
            continue
        if row not in available:
            raise TaskError(f"no file of features has row {row!r}; available: no_code, {', '.join(available)}")
        source, part_row = available[row]
        place = {digest: number for number, digest in enumerate(source.hashes.tolist())}
        missing = [digest for digest in hashes if digest not in place]
        if missing:
            raise TaskError(
                f"features of {source.source} lack {len(missing)} of {len(hashes)} pieces, as {missing[0][:12]}. "
                "Type: python downstream/pass_features.py"
            )
        chosen = np.array([place[digest] for digest in hashes])
        parts = {name: matrix[chosen].astype(np.float32) for name, matrix in source.parts.items()}
        code = _of_row(part_row, parts)
        result.append(Features(row, np.concatenate([context, code], axis=1), context.shape[1], "", source.note))
    return result


def features_of_table(
    folder: str | Path, task: Task, data: TaskData, sources: Sequence[KeptFeatures], rows: Sequence[str]
) -> tuple[TaskData, list[Features]]:
    """A task's samples of a table of passes, and the matrices of several rows; what a source lacks is left out.

    Raises
    ------
    TaskError
        As `features_of`; no sample is left.
    """
    hashes = {piece.name: piece.ir_hash for piece in read_compiled(folder).pieces}
    available = known_rows(sources)
    have = [set(available[row][0].hashes.tolist()) for row in rows if row in available]
    complete = [row for row, item in enumerate(data.samples) if all(hashes[item.name] in names for names in have)]
    if not complete:
        raise TaskError(f"{folder}: the features are of other pieces. Type: python downstream/pass_features.py")
    if len(complete) < len(data):  # a subset has a hash of its own
        data = data.subset(np.array(complete))
    code_hashes = [hashes[sample.name] for sample in data.samples]
    return data, features_of(sources, code_hashes, context_matrix(task, data), rows)


def _of_row(row: str, parts: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float64]:
    """Code features of a row. (n, D)."""
    if row not in CODE_ROWS:
        return parts[row].astype(np.float64)
    rows = range(len(next(iter(parts.values()))))
    vectors = [code_vector(row, {name: matrix[number] for name, matrix in parts.items()}) for number in rows]
    return np.array(vectors, dtype=np.float64)
