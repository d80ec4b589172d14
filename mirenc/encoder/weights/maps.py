"""Whitening maps of one's own: fitted on unlabelled IR (`mirenc.fit_map`), kept beside a model under a name.

Each is a file MODEL/NAME.safetensors in the user's data folder, with the digest of the model whose vectors it takes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32
from mirenc.base.errors import ConfigError, ModelError
from mirenc.base.writing import delivered
from mirenc.encoder.weights.store import ModelFiles
from mirenc.model.threads import map_slices, usable_cores

PARTS = ("text", "graph", "lexical")
_NUMBERS = ("mean", "matrix")
_MAX_LENGTH = 100  # characters; with what is put behind them, no more bytes than file systems take
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{_MAX_LENGTH - 1}}}")
_FORMAT = "1"


@dataclass(frozen=True, eq=False)
class WhiteningMap:
    """y = (x - mean) @ matrix, for each part of the search vectors of one model, ``model`` and ``model_digest``.

    ``mean`` (D,) and ``matrix`` (D, D), float32, are by part: ``text``, ``graph``, and ``lexical`` of a model with that
    view. ``facts`` say what it was fitted on: ``level``, ``files``, ``rows`` and ``pairs``; ``hide_names``, as in
    `mirenc.load`. ``name`` is what it is kept under; "" for one that is not kept.
    """

    model: str
    model_digest: str
    mean: dict[str, Float32]
    matrix: dict[str, Float32]
    facts: dict[str, Any]
    name: str = ""

    def __repr__(self) -> str:
        facts = ", ".join(f"{key}={value!r}" for key, value in self.facts.items())
        return f"WhiteningMap({self.name!r}, model={self.model!r}, {facts}, digest={self.digest[:12]!r})"

    @property
    def digest(self) -> str:
        """SHA-256 over the model's digest and the map's numbers."""
        sums = hashlib.sha256(self.model_digest.encode())
        for part in self.mean:
            sums.update(self.mean[part].tobytes())
            sums.update(self.matrix[part].tobytes())
        return sums.hexdigest()

    def apply(self, part: str, vectors: Float32) -> Float32:
        """Whitened vectors of a part, on all cores; call it within `one_blas_thread`. Shapes: (n, D) -> (n, D)."""
        mean, matrix, cores = self.mean[part], self.matrix[part], usable_cores()
        return map_slices(lambda rows: np.matmul(vectors[rows] - mean, matrix), len(vectors), len(mean), cores)

    @classmethod
    def of_model(cls, files: ModelFiles) -> WhiteningMap:
        """The model's own map; it has no parts where the model has no map."""
        return cls(files.name, files.digest, *_means_and_matrices(files.weights, "whiten_"), {})


def map_path(model: str, name: str) -> Path:
    """File of a model's map, below ``$MIRENC_MAPS``, or ``mirenc/maps`` in the user's data folder.

    Raises ConfigError: the name cannot be a file's.
    """
    if _NAME.fullmatch(name):
        return _folder(model) / f"{name}.safetensors"
    label = name if len(name) <= _MAX_LENGTH else f"{name[:_MAX_LENGTH]}..."
    raise ConfigError(
        f"a map cannot be called {label!r}; allowed: letters, digits, '.', '_' and '-', {_MAX_LENGTH} at most and the "
        "first a letter or a digit"
    )


def _folder(model: str) -> Path:
    model = re.sub(r"[^\w.-]|^\.", "_", model)  # whoever made a model folder may have written any name into it
    if chosen := os.environ.get("MIRENC_MAPS"):
        return Path(chosen).expanduser() / model
    from platformdirs import user_data_path

    return user_data_path("mirenc") / "maps" / model


def list_maps(model: str) -> list[str]:
    """Names of the maps that are kept for a model."""
    return sorted(path.stem for path in _folder(model).glob("*.safetensors"))


def save_map(whitening: WhiteningMap, name: str) -> Path:
    """Keep a map under a name, replacing the one of that name; returns its file.

    Raises ConfigError: the name cannot be a file's; ModelError: the file cannot be written.
    """
    from safetensors.numpy import save

    path = map_path(whitening.model, name)
    numbers = [(kind, part, array) for kind in _NUMBERS for part, array in getattr(whitening, kind).items()]
    arrays = {f"{part}.{kind}": np.ascontiguousarray(array) for kind, part, array in numbers}
    metadata = {"format": _FORMAT, "model": whitening.model, "model_digest": whitening.model_digest}
    metadata["facts"] = json.dumps(whitening.facts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with delivered(path) as part_file:
            part_file.write_bytes(save(arrays, metadata=metadata))
    except OSError as error:
        raise ModelError(f"{path}: cannot be written: {error.strerror}. Set MIRENC_MAPS to your own folder") from None
    return path


def load_map(files: ModelFiles, name: str) -> WhiteningMap:
    """A model's map of that name.

    Raises ConfigError: the name cannot be a file's; ModelError: there is no such map, it was fitted for another release
    of the model, or it is damaged.
    """
    from safetensors import SafetensorError

    path = map_path(files.name, name)
    fit_command = f"mirenc models adapt FOLDER --name {name} --model {files.name}"
    if not path.is_file():
        map_names = ", ".join(list_maps(files.name)) or "none"
        raise ModelError(f"{files.name} has no map {name!r}; it has: {map_names}. Fit one with: {fit_command}")
    try:
        whitening = _read_map(path, name, files)
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"{path}: is not a map, or is damaged ({error}). Fit the map again: {fit_command}") from None
    if (map_digest := whitening.model_digest) != files.digest:
        problem = f"map {name!r} takes vectors of {whitening.model} (digest {map_digest[:12]})"
        raise ModelError(f"{problem}, not of {files.name} (digest {files.digest[:12]}). Fit it again: {fit_command}")
    return whitening


def _read_map(path: Path, name: str, files: ModelFiles) -> WhiteningMap:
    """A stored map; where it is of this release of the model, of the model's widths."""
    from safetensors import safe_open

    with safe_open(path, "np") as stream:
        metadata = stream.metadata() or {}
        arrays = {key: np.asarray(stream.get_tensor(key), dtype=np.float32) for key in stream.keys()}  # noqa: SIM118
    if metadata.get("format") != _FORMAT:
        raise ValueError(f"map format {metadata.get('format')}, this mirenc reads {_FORMAT}")
    mean, matrix = _means_and_matrices(arrays)
    widths = {"text": files.config.text.hidden, "graph": files.config.graph.width}
    if files.config.lexical is not None:
        widths["lexical"] = files.config.lexical.width
    # Another model's numbers have another shape, and are not damaged.
    for part, width in widths.items() if metadata["model_digest"] == files.digest else ():
        shapes = mean[part].shape, matrix[part].shape
        if shapes != ((width,), (width, width)):
            raise ValueError(f"{part} has shapes {shapes[0]} and {shapes[1]}, not {(width,)} and {(width, width)}")
        if not (np.isfinite(mean[part]).all() and np.isfinite(matrix[part]).all()):
            raise ValueError(f"{part} has values that are not finite")
    return WhiteningMap(metadata["model"], metadata["model_digest"], mean, matrix, json.loads(metadata["facts"]), name)


def _means_and_matrices(arrays: dict[str, Any], prefix: str = "") -> tuple[dict[str, Float32], dict[str, Float32]]:
    """Means and matrices of the parts that have them."""
    mean, matrix = (
        {part: arrays[name] for part in PARTS if (name := f"{prefix}{part}.{kind}") in arrays} for kind in _NUMBERS
    )
    return mean, matrix
