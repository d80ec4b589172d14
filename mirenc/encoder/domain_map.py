"""A whitening map of one's own, fitted on unlabelled IR of the kind that will be searched: `mirenc.model.whitening`."""

import itertools
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import numpy as np

from mirenc.base.arrays import Float32, Floating, Int64
from mirenc.base.errors import ConfigError, EmptyInputs, MirencError, UnreadableIRWarning
from mirenc.encoder.embedding import Embedding, vector_blocks
from mirenc.encoder.encoder import Encoder
from mirenc.encoder.options import check
from mirenc.encoder.weights import WhiteningMap
from mirenc.encoder.workers import Progress
from mirenc.llvm import IRModule
from mirenc.llvm.inputs.input import Input, IRInput
from mirenc.llvm.inputs.level_paths import level_pairs
from mirenc.llvm.inputs.projects import expand_inputs
from mirenc.model.whitening import fit_whitening

Pairs = Literal["levels"] | Iterable[tuple[str | os.PathLike[str], str | os.PathLike[str]]]
MIN_ROWS = 32
# Of the covariance within pairs: 16 pairs or 300, retrieval is within a hundredth or two of the best floor there is.
PAIRED_FLOOR = 0.01
_LEVELS = ("module", "function")


def fit_map(
    encoder: Encoder,
    inputs: IRInput | Iterable[IRInput | Input],
    *,
    pairs: Pairs | None = None,
    level: Literal["module", "function"] = "module",
    failed: Callable[[MirencError], None] | None = None,
    progress: bool | Progress = False,
) -> WhiteningMap:
    """Fit a whitening map on some code; `Encoder.with_map` uses it, `save_map` keeps it under a name.

    Raises ConfigError: too few different modules or functions, no pair where pairs were asked for, or a path that is no
    input; MirencError: an input cannot be read, or `mirenc.llvm.regions_of` finds no function.

    Parameters
    ----------
    encoder : Encoder
    inputs : as `Encoder.embed` takes many
        At least `MIN_ROWS` different modules (or functions); some hundreds are good.
    pairs : "levels" or pairs of paths, optional
        Which inputs are one program at two levels. ``levels`` finds them by their paths, which differ in the level
        alone: ``O0/x.ll`` and ``O2/x.ll``, or ``x.O0.ll`` and ``x-O2.ll``. Left out: every direction gets variance 1.
    level : str
        What will be searched: ``module`` or ``function``. Their vectors are of the form that `Encoder.form` names.
    failed : callable, optional
        Called with the error of each input that is left out. Without it, inputs without a function body are left out
        with one UnreadableIRWarning, and the first other error is raised.
    progress : bool or callable
        As in `Encoder.embed`.
    """
    check("level", level, _LEVELS)
    single_input = isinstance(inputs, (str, bytes, os.PathLike, IRModule))
    items = [inputs] if single_input else inputs
    vectors, rows, files = domain_vectors(encoder, items, pairs, level=level, failed=failed, progress=progress)  # type: ignore[arg-type]
    row_count = len(np.unique(np.hstack(list(vectors.values())), axis=0))
    if row_count < MIN_ROWS:
        msg = f"{row_count} different {level}s in {files} files; a map needs at least {MIN_ROWS}, and is good with some"
        raise ConfigError(f"{msg} hundreds. Give more IR of the kind that you search")
    if pairs is not None and len(rows) < MIN_ROWS // 2:
        msg = f"{len(rows)} pairs of {level}s at two levels; a map needs at least {MIN_ROWS // 2} (O0/x.ll and O2/x.ll)"
        raise ConfigError(f"{msg}. Give more programs at two levels, or leave out the option --pairs (Python: pairs=)")
    mean, matrix = {}, {}
    for part, part_vectors in vectors.items():
        floor = PAIRED_FLOOR if len(rows) else shrinkage_floor(part_vectors)
        mean[part], matrix[part] = fit_whitening(part_vectors, rows, floor=floor)
        lexical = encoder.files.config.lexical
        if part == "lexical" and lexical is not None:
            # Whitened vectors of width D have about sqrt(D); these keep the length that they were given.
            matrix[part] *= np.float32(lexical.weight / np.sqrt(lexical.width))
    facts = {"level": level, "files": files, "rows": row_count, "pairs": len(rows), "hide_names": encoder.hide_names}
    return WhiteningMap(encoder.name, encoder.files.digest, mean, matrix, facts)


def domain_vectors(
    encoder: Encoder,
    inputs: Iterable[IRInput | Input],
    pairs: Pairs | None,
    *,
    level: Literal["module", "function"],
    failed: Callable[[MirencError], None] | None = None,
    progress: bool | Progress = False,
) -> tuple[dict[str, Float32], Int64, int]:
    """The data of a map: vectors (M, D) by part, not whitened; pairs of rows (P, 2); and the number of files read."""
    files = list(expand_inputs(inputs, options=encoder.options))
    partners = _file_pairs([file.name for file in files], pairs)
    outcomes = encoder.embed_stream(files, level=level, whiten=False, progress=progress)
    empty = EmptyInputs(len(files))
    embeddings = [outcome.embedded(failed or empty.add) for outcome in outcomes]
    if empty.empty:
        warnings.warn(empty.line, UnreadableIRWarning, stacklevel=3)
    results = [embedding for embedding in embeddings if embedding is not None]
    vectors = {
        part: np.concatenate([np.zeros((0, width), np.float32), *(getattr(embedding, part) for embedding in results)])
        for part, width in vector_blocks(encoder.files.config, "search", "both").items()
    }
    return vectors, _row_pairs(embeddings, partners), len(results)


def shrinkage_floor(vectors: Floating) -> float:
    """The floor that shrinks the covariance of few vectors towards a sphere, as a share of its mean variance.

    Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", J. Multivariate Analysis
    88 (2004): the shrunk covariance (1 - s) S + s m I of the least expected error; the floor is s / (1 - s).

    Shapes: (n, D) -> float
    """
    x = vectors.astype(np.float64) - vectors.mean(0, dtype=np.float64)
    count, width = x.shape
    covariance = x.T @ x / count
    sphere = np.trace(covariance) / width
    squares = float((covariance**2).sum())
    distance = squares - width * sphere**2
    error = (float((np.einsum("ij,ij->i", x, x) ** 2).sum()) / count - squares) / count
    share = min(error / distance, 0.99) if distance > 0 else 0.99
    return share / (1 - share)


def _file_pairs(names: Sequence[str], pairs: Pairs | None) -> list[tuple[int, int]]:
    """Pairs of inputs, as their places among the names. Raises ConfigError: pairs of other things than inputs."""
    if pairs is None:
        return []
    if isinstance(pairs, str):
        check("pairs", pairs, ("levels", "an iterable of pairs of paths"))
        return level_pairs(names)
    position = {name: number for number, name in enumerate(names)}
    try:
        path_pairs = [(os.fspath(first), os.fspath(second)) for first, second in pairs]
    except (TypeError, ValueError) as error:
        raise ConfigError(f"pairs: {error}; allowed: 'levels', or pairs of paths, as in [(ONE, OTHER)]") from None
    for name in itertools.chain.from_iterable(path_pairs):
        if name not in position:
            raise ConfigError(f"pairs: {name} is not one of the {len(names)} inputs. Name inputs as they were given")
    return [(position[first], position[second]) for first, second in path_pairs]


def _row_pairs(embeddings: Sequence[Embedding | None], partners: Sequence[tuple[int, int]]) -> Int64:
    """Pairs of rows of the vectors: functions of two files by their symbols. Shapes: -> (P, 2)."""
    regions = [[] if embedding is None else embedding.regions for embedding in embeddings]
    starts = np.cumsum([0, *map(len, regions)]).tolist()
    rows = []
    for pair in partners:
        first, second = ({region.symbol: row for row, region in enumerate(regions[i], starts[i])} for i in pair)
        rows += [(row, second[symbol]) for symbol, row in first.items() if symbol in second]
    return np.array(rows, dtype=np.int64).reshape(-1, 2)
