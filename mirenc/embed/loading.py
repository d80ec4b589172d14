"""`load`: from a model's name to an `Encoder`."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from mirenc import __version__
from mirenc.cache import Cache
from mirenc.embed.encoder import Encoder
from mirenc.embed.words import check
from mirenc.errors import ConfigError, MissingExtraError, ModelError
from mirenc.ir import ReadOptions
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.runtime import Runtime
from mirenc.weights import ModelFiles, WhiteningMap, load_files, load_map

__all__ = ["load"]


def load(
    name_or_dir: str | os.PathLike[str] | None = None,
    *,
    device: str = "cpu",
    backend: str | None = None,
    cache: bool | str | os.PathLike[str] = True,
    options: ReadOptions | None = None,
    hide_names: bool = False,
    map: str | WhiteningMap | None = None,
) -> Encoder:
    """Load a model.

    Parameters
    ----------
    name_or_dir : str or path, optional
        A model's name (`mirenc.list_models`) or a model folder; the default model if left out.
    device : str
        ``cpu``, or a torch device such as ``cuda``.
    backend : str, optional
        ``numpy`` (default on a CPU: starts at once) or ``torch`` (default elsewhere; needs the ``train`` extra).
    cache : bool or path
        Keep statement vectors in the user's cache folder (True), in this folder, or not (False).
    options : ReadOptions, optional
        Limits and compiler for reading.
    hide_names : bool
        The lexical view of a model that has one sees no names of functions, globals and types, for IR whose names say
        nothing. What the encoders see stays as it is.
    map : str or WhiteningMap, optional
        A whitening map of your own instead of the model's: the name it is kept under (`Encoder.fit_map`), or itself.

    Raises
    ------
    ModelError
        Unknown or damaged model.
    ConfigError
        Unknown backend, numpy on another device than the CPU, or what cannot be a map's name.
    MissingExtraError
        The torch backend without torch.
    """
    backend = backend or ("numpy" if device == "cpu" else "torch")
    check("backend", backend, ("numpy", "torch"))
    if backend == "numpy" and device != "cpu":
        raise ConfigError(f"the numpy backend runs on the CPU only, not on {device!r}. Use backend='torch'")
    files = load_files(name_or_dir)
    runtime = _torch_runtime(files, device) if backend == "torch" else NumpyRuntime(files.config, files.weights)
    # The two runtimes agree within `mirenc.golden.TOLERANCE`, not to the bit: each has vectors of its own.
    # A release may read or normalise IR in another way, so its vectors are its own, too.
    kind = f"{files.digest} {__version__} {backend} {device}"
    unnamed = hide_names and files.config.lexical is not None
    key = hashlib.sha256((f"{kind} unnamed" if unnamed else kind).encode()).hexdigest()
    store = None
    if cache is not False:
        store = Cache(key, folder=None if cache is True else Path(cache))
    encoder = Encoder(files, runtime, cache=store, options=options, hide_names=hide_names)
    if map is None:
        return encoder
    if not isinstance(map, (str, WhiteningMap)):
        raise ConfigError(
            f"map is of type {type(map).__name__}; allowed: the name of a map of {files.name}, or a WhiteningMap. "
            "Names: mirenc models list"
        )
    return encoder.with_map(load_map(files, map) if isinstance(map, str) else map)


def _torch_runtime(files: ModelFiles, device: str) -> Runtime:
    try:
        from mirenc.model.torch_runtime import TorchRuntime
    except ImportError as error:
        raise MissingExtraError(
            f"the torch backend needs torch and torch-geometric ({error}). Type: pip install 'mirenc[train]'"
        ) from None
    try:
        return TorchRuntime(files.config, files.weights, device)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        raise ModelError(f"cannot run {files.name} on device {device!r}: {first}. Use device='cpu'") from None
