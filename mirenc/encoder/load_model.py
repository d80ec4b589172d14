"""`load`: from a model's name to an `Encoder`."""

import hashlib
import os
from pathlib import Path

from mirenc import __version__
from mirenc.base.cache import Cache
from mirenc.base.errors import ConfigError, ModelError, needs
from mirenc.encoder.encoder import Encoder
from mirenc.encoder.options import check
from mirenc.encoder.weights import ModelFiles, WhiteningMap, load_files, load_map
from mirenc.llvm import ReadOptions
from mirenc.model.runtime import Runtime


def load(
    name_or_dir: str | os.PathLike[str] | None = None,
    *,
    device: str = "cpu",
    backend: str | None = None,
    cache: bool | str | os.PathLike[str] = True,
    options: ReadOptions | None = None,
    hide_names: bool = False,
    whitening_map: str | WhiteningMap | None = None,
) -> Encoder:
    """Load a model.

    Raises ModelError: unknown or damaged model; ConfigError: unknown backend, numpy on another device than the CPU, or
    what cannot be a map's name; MissingExtraError: the torch backend without torch.

    Parameters
    ----------
    name_or_dir : str or path, optional
        A model's name (`mirenc.list_models`), a model folder, or a model of a hub: ``ORG/NAME``, with ``@REVISION`` and
        ``#DIGEST`` where it is pinned (extra ``hub``; fetched once). The default model if left out.
    device : str
        ``cpu``, or a torch device such as ``cuda``.
    backend : str, optional
        ``numpy`` (default on a CPU: starts at once) or ``torch`` (default elsewhere; needs the ``train`` extra).
    cache : bool or path
        Keep statement vectors in the user's cache folder (True), in this folder, or not (False).
    options : ReadOptions, optional
        Limits and compiler for reading.
    hide_names : bool
        For IR whose names say nothing: the model sees no names of functions, globals and types, except intrinsics.
    whitening_map : str or WhiteningMap, optional
        A whitening map of your own (`mirenc.fit_map`) instead of the model's: the name it is kept under, or itself.
    """
    backend = backend or ("numpy" if device == "cpu" else "torch")
    check("backend", backend, ("numpy", "torch"))
    if backend == "numpy" and device != "cpu":
        raise ConfigError(f"the numpy backend runs on the CPU only, not on {device!r}. Use backend='torch'")
    files = load_files(name_or_dir)
    runtime = _runtime_of(files, backend, device)
    # The two runtimes agree within `mirenc.encoder.golden.TOLERANCE`, not to the bit: each has vectors of its own. So
    # has a release, which may read or normalise IR in another way.
    kind = f"{files.digest} {__version__} {backend} {device}{' names hidden' if hide_names else ''}"
    key, folder = hashlib.sha256(kind.encode()).hexdigest(), None if isinstance(cache, bool) else Path(cache)
    store = None if cache is False else Cache(key, kind=files.name, folder=folder)
    encoder = Encoder(files, runtime, cache=store, options=options, hide_names=hide_names)
    if whitening_map is None:
        return encoder
    if not isinstance(whitening_map, (str, WhiteningMap)):
        raise ConfigError(
            f"whitening_map is of type {type(whitening_map).__name__}; allowed: the name of a map of {files.name}, or "
            "a WhiteningMap. Names: mirenc models list"
        )
    return encoder.with_map(load_map(files, whitening_map) if isinstance(whitening_map, str) else whitening_map)


def _runtime_of(files: ModelFiles, backend: str, device: str) -> Runtime:
    if backend == "numpy":
        from mirenc.model.numpy_runtime import NumpyRuntime

        return NumpyRuntime(files.config, files.weights)
    with needs("train", "the torch backend needs torch and torch-geometric"):
        from mirenc.model.torch_runtime import TorchRuntime
    try:
        return TorchRuntime(files.config, files.weights, device)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        raise ModelError(f"cannot run {files.name} on device {device!r}: {first}. Use the device 'cpu'") from None
