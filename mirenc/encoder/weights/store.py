"""A model folder: config.json, tokenizer.json, model.safetensors, and what goes with them (`OPTIONAL`). No pickle."""

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Floating
from mirenc.base.errors import ConfigError, ModelError
from mirenc.base.shown import short_repr
from mirenc.encoder.weights.checksums import REQUIRED, SUMS, check_sums, released_sums, seal, sum_of
from mirenc.encoder.weights.find import find_model
from mirenc.encoder.weights.provenance import Source, write_provenance
from mirenc.llvm.inputs.file_kind import refuse_pointer
from mirenc.model.config import ModelConfig, weight_shapes
from mirenc.model.tokenizer import IRTokenizer

FORMAT = 1
_FITTED_PREFIXES = ("whiten_", "lexical_")
# Most of a model's numbers, of which a file asks for few rows. To convert it takes 17 ms, a twentieth of a small file.
_HALF_EMBEDDING = ("text.token.weight", np.dtype(np.float16))
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class ModelFiles:
    """A loaded model: architecture, tokenizer and weights, tied to no runtime. Its ``name`` is that in config.json.

    ``weights`` are float32, named as in ``MIREncoder.state_dict``; the token embedding stays float16 where it is stored
    so, as it is by `save_files`. ``digest`` is SHA-256 over the checksums of config, tokenizer and weights: what
    outputs and caches are keyed by; ``tokenizer_digest`` that of tokenizer.json. ``description`` is the architecture as
    config.json has it: a release that knows more keys must not change `features_digest`.
    """

    name: str
    config: ModelConfig
    tokenizer: IRTokenizer
    weights: dict[str, NDArray[Any]]
    digest: str
    folder: Path
    description: dict[str, Any] = field(default_factory=dict, repr=False)
    tokenizer_digest: str = ""

    __repr__ = short_repr

    @cached_property
    def features_digest(self) -> str:
        """SHA-256 over all that features come from; for a model that no compiler taught, ``digest``.

        Features of a taught model are as encoded, so a head or a record stays good where its maps or words alone were
        fitted anew. Those of any other model are its search vectors.
        """
        if self.config.taught is None:
            return self.digest
        items = self.description.items()
        model = {name: value for name, value in items if name != "lexical" and value is not None}
        model["pooling"] = {name: value for name, value in model.get("pooling", {}).items() if name != "whiten"}
        sums = hashlib.sha256(json.dumps([model, self.tokenizer_digest], sort_keys=True).encode("utf-8"))
        for name, array in sorted(self.weights.items()):
            if not name.startswith(_FITTED_PREFIXES):
                sums.update(f"{name} {array.dtype.str} {array.shape}".encode())
                sums.update(np.ascontiguousarray(array).data)
        return sums.hexdigest()

    @cached_property
    def parameter_count(self) -> int:
        """Trained numbers: whitening maps and the lexical table, fitted afterwards, do not count."""
        return sum(array.size for name, array in self.weights.items() if not name.startswith(_FITTED_PREFIXES))


def load_files(name_or_dir: str | os.PathLike[str] | None = None) -> ModelFiles:
    """Load a model; its configuration, tokenizer and weights are compared with SHA256SUMS where the folder has them.

    Raises ModelError: unknown name, missing or damaged files, or a format that this release does not read.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    folder = find_model(name_or_dir)
    advice = f"Check it with `mirenc models verify {folder}`"
    for name in REQUIRED:
        if not (folder / name).is_file():
            raise ModelError(f"{folder}: no {name}. A model folder needs {', '.join(REQUIRED)}")
    try:
        config_data, tokenizer_data, weight_data = ((folder / name).read_bytes() for name in REQUIRED)
    except OSError as error:
        raise ModelError(f"{folder}: cannot be read: {error.strerror}. Check its permissions") from None
    for name, data in zip(REQUIRED, (config_data, tokenizer_data, weight_data), strict=True):
        refuse_pointer(str(folder / name), data, ModelError)
    try:
        values = json.loads(config_data)
        arrays = load(weight_data)
    except (ValueError, SafetensorError) as error:
        raise ModelError(f"{folder}: damaged ({error}). {advice}") from None
    if not isinstance(values, dict) or not isinstance(values.get("name"), str):
        raise ModelError(f"{folder}: config.json is not a model configuration. {advice}")
    if values.get("format") != FORMAT:
        raise ModelError(f"{folder}: model format {values.get('format')}, this mirenc reads {FORMAT}")
    try:
        config = ModelConfig.from_dict(values["model"], where=f"{folder}/config.json")
    except (ConfigError, KeyError) as error:
        raise ModelError(f"{folder}: config.json is not a model configuration: {error}") from None
    # The digest needs these sums anyway, so comparing them costs nothing: it is done with every load.
    with ThreadPoolExecutor(1) as executor:
        # The largest one first, beside work in which numpy runs without Python's lock; to parse a tokenizer holds it.
        future = executor.submit(lambda: [hashlib.sha256(data) for data in (weight_data, tokenizer_data, config_data)])
        weights = {
            name: array if (name, array.dtype) == _HALF_EMBEDDING else array.astype(np.float32, copy=False)
            for name, array in arrays.items()
        }
        tokenizer = IRTokenizer.from_json(tokenizer_data.decode("utf-8", "replace"), where=f"{folder}/tokenizer.json")
        _check_parts(folder, config, tokenizer, arrays, weights)
        sums = future.result()[::-1]
    check_sums(folder, dict(zip(REQUIRED, (checksum.hexdigest() for checksum in sums), strict=True)))
    digest = hashlib.sha256(b"".join(checksum.digest() for checksum in sums)).hexdigest()
    return ModelFiles(values["name"], config, tokenizer, weights, digest, folder, values["model"], sums[1].hexdigest())


def _check_parts(folder: Path, config: ModelConfig, tokenizer: IRTokenizer, arrays: Arrays, weights: Arrays) -> None:
    """Refuse a tokenizer and weights that are not the configuration's, and weights that are no finite numbers."""
    tokenizer_config, needed, shapes = tokenizer.config, config.tokenizer, weight_shapes(config)
    pairs: dict[str, tuple[object, object]] = {"the tokenizer's pieces": (tokenizer.vocab_size, needed.vocab_size)}
    pairs["the tokenizer's max_length"] = tokenizer_config.max_length, needed.max_length
    pairs["the tokenizer's normalisation"] = tokenizer_config.normalisation, needed.normalisation
    for name in sorted(shapes.keys() | weights.keys()):
        pairs[f"the shape of weight {name!r}"] = weights[name].shape if name in weights else None, shapes.get(name)
    for subject, (value, expected) in pairs.items():
        if value != expected:
            problem = f"{folder}: {subject}: found {value}, but config.json needs {expected}"
            raise ModelError(f"{problem}. The files of this folder do not belong together. Install the model again")
    for name, array in weights.items():
        # numpy is slow to tell whether float16 is finite; read as whole numbers, the largest of each sign come last.
        is_half = array.dtype == np.float16
        numbers = [array.view(kind).max().view(np.float16) for kind in ("i2", "u2")] if is_half else array
        if arrays[name].dtype.kind != "f" or not np.isfinite(numbers).all():
            raise ModelError(f"{folder}: weight {name!r} has values that are not finite. Install the model again")


def save_files(
    folder: str | os.PathLike[str],
    *,
    name: str,
    config: ModelConfig,
    tokenizer: IRTokenizer,
    weights: dict[str, Floating],
    card: str = "",
    provenance: Sequence[Source] = (),
) -> Path:
    """Write a model folder; weights are stored as float16, whitening maps (small variances) as float32.

    The folder is sealed; `mirenc.encoder.golden.write_golden` adds ``golden.json`` and seals it again.
    """
    from safetensors.numpy import save

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    description = {"format": FORMAT, "name": name, "model": config.model_dump()}
    (target / "config.json").write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    tokenizer.save(target / "tokenizer.json")
    arrays = {
        key: np.ascontiguousarray(value, dtype=np.float32 if key.startswith("whiten_") else np.float16)
        for key, value in weights.items()
    }
    (target / "model.safetensors").write_bytes(save(arrays))
    if card:
        (target / "MODEL_CARD.md").write_text(card, encoding="utf-8")
    if provenance:
        write_provenance(target, provenance)
    seal(target)
    return target


def verify_files(name_or_dir: str | os.PathLike[str] | None = None) -> list[str]:
    """Compare a model folder's files with SHA256SUMS; returns their names. ModelError: no sums, or files differ."""
    folder = find_model(name_or_dir)
    if (released := released_sums(folder)) is None:
        raise ModelError(f"{folder}: no {SUMS}, so nothing to verify against")
    for name in released:
        if not (folder / name).is_file():
            raise ModelError(f"{folder}: {name} is missing. Install the model again")
    check_sums(folder, {name: sum_of(folder / name) for name in released})
    return list(released)
