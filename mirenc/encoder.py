"""`Encoder`: IR in, vectors out. The object people use; `mirenc.load` makes one.

encoder = mirenc.load()
vector = encoder.embed("foo.ll")            # (256,) float32
matrix = encoder.embed(["a.ll", "b.bc"])    # (2, 256)
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeGuard

import numpy as np
from numpy.typing import NDArray

from mirenc import __version__
from mirenc.cache import Cache, cache_key
from mirenc.embedding import Embedding, describe, pools_of
from mirenc.errors import ConfigError, MissingExtraError, ModelError
from mirenc.ir import IRModule, ReadOptions, parse_ir, read_ir
from mirenc.ir.files import language_of, read_input
from mirenc.model.pooling import module_pools
from mirenc.model.runtime import Runtime
from mirenc.sample import IRSample, make_sample
from mirenc.weights import ModelFiles, load_files

__all__ = ["LEVELS", "PARTS", "Embedding", "Encoder", "load"]

Float32 = NDArray[np.float32]
Level = Literal["module", "function", "instruction"]
Part = Literal["both", "text", "graph"]
LEVELS = ("module", "function", "instruction")
PARTS = ("both", "text", "graph")
IRInput = IRModule | str | bytes | os.PathLike[str]


class Encoder:
    """A loaded model, ready to embed.

    Parameters
    ----------
    files : ModelFiles
    runtime : Runtime
    cache : Cache or None
        Where vectors are kept between runs; None keeps none.
    options : ReadOptions, optional
        Limits and compiler for reading.
    """

    def __init__(
        self,
        files: ModelFiles,
        runtime: Runtime,
        *,
        cache: Cache | None = None,
        options: ReadOptions | None = None,
    ) -> None:
        self.files = files
        self.runtime = runtime
        self.cache = cache
        self.options = options or ReadOptions()

    def __repr__(self) -> str:
        return (
            f"Encoder({self.name!r}, dimension={self.dimension}, runtime={self.runtime.name!r}, "
            f"digest={self.files.digest[:12]!r})"
        )

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.files.name

    @property
    def tokenizer(self) -> Any:
        """The model's `IRTokenizer`."""
        return self.files.tokenizer

    @property
    def text_dimension(self) -> int:
        return self.files.config.text.hidden

    @property
    def graph_dimension(self) -> int:
        return self.files.config.graph.out

    @property
    def dimension(self) -> int:
        """Length of a vector: text and graph."""
        return self.text_dimension + self.graph_dimension

    # -- reading ---------------------------------------------------------------------------------------
    def read(self, ir: IRInput) -> IRModule:
        """A module from a module, a path, IR text or bitcode bytes.

        A ``str`` with a line break, or beginning like IR, is text; any other is a path.
        """
        if isinstance(ir, IRModule):
            return ir
        if isinstance(ir, bytes):
            return parse_ir(ir, options=self.options)
        if isinstance(ir, str) and _is_ir_text(ir):
            return parse_ir(ir, options=self.options)
        return read_ir(ir, options=self.options)

    # -- embedding -------------------------------------------------------------------------------------
    def embed(
        self,
        ir: IRInput | Sequence[IRInput],
        *,
        level: Level = "module",
        part: Part = "both",
        whiten: bool = True,
    ) -> Float32 | list[Float32]:
        """Vectors of one input or many.

        Parameters
        ----------
        ir : path, IR text, bitcode bytes, IRModule, or a sequence of these
        level : str
            ``module``: one vector; ``function``: one for each defined function; ``instruction``: one for each
            instruction.
        part : str
            ``text`` (H), ``graph`` (d) or ``both`` (H + d).
        whiten : bool
            False gives the means as the encoders made them: all nearly parallel. A model without a whitening map
            gives them in any case.

        Returns
        -------
        float32 array
            Level module: (D,) for one input, (n, D) for a sequence. Other levels: (rows, D) for one input, a list
            of such arrays for a sequence.

        Raises
        ------
        ConfigError
            Unknown level or part.
        MirencError
            An input cannot be read; see `mirenc.read_ir`.
        """
        _check("level", level, LEVELS)
        _check("part", part, PARTS)
        if isinstance(ir, (str, bytes, os.PathLike, IRModule)):
            rows = self.embed_parts(ir, level=level, whiten=whiten).part(part)
            return rows[0] if level == "module" else rows
        results = [self.embed_parts(item, level=level, whiten=whiten).part(part) for item in ir]
        if level != "module":
            return results
        width = {"text": self.text_dimension, "graph": self.graph_dimension}.get(part, self.dimension)
        return np.concatenate(results) if results else np.zeros((0, width), dtype=np.float32)

    def embed_parts(
        self,
        ir: IRInput,
        *,
        level: Level = "module",
        whiten: bool = True,
        advance: Callable[[int, int], None] | None = None,
    ) -> Embedding:
        """Text and graph vectors of one input, with names and counts.

        Parameters
        ----------
        ir : path, IR text, bitcode bytes or IRModule
        level : str
        whiten : bool
            As in `embed`.
        advance : callable, optional
            Told (texts encoded now, texts to encode) while the text encoder works.
        """
        _check("level", level, LEVELS)
        pooled = self._pooled_input(ir, level, advance)
        if not whiten:
            return pooled
        text, graph = self.runtime.whiten("text", pooled.text), self.runtime.whiten("graph", pooled.graph)
        return replace(pooled, text=text, graph=graph)

    def _pooled_input(self, ir: IRInput, level: str, advance: Callable[[int, int], None] | None) -> Embedding:
        """The means of one input, from the cache where it was seen before."""
        weighting = self.runtime.config.pooling.weighting
        if not _is_path(ir):
            return self._pooled(self.read(ir), level, weighting, advance)
        if language_of(ir) is not None:
            embedding = self._pooled(self.read(ir), level, weighting, advance)
            return replace(embedding, file_hash=hashlib.sha256(Path(ir).read_bytes()).hexdigest())
        given = read_input(ir, max_bytes=self.options.max_bytes)
        # A whole file seen before needs neither LLVM nor the model. Sources depend on the compiler: not kept.
        key = cache_key(f"file-{level}", given.data)
        stored = self.cache.get([key]).get(key) if self.cache else None
        if stored is not None:
            return Embedding.from_bytes(stored, given.name)
        module = parse_ir(given.data, name=given.name, options=self.options)
        embedding = self._pooled(module, level, weighting, advance)
        embedding = replace(embedding, file_hash=hashlib.sha256(given.data).hexdigest())
        if self.cache:
            self.cache.put({key: embedding.to_bytes()})
        return embedding

    def _pooled(
        self,
        module: IRModule,
        level: str,
        weighting: str,
        advance: Callable[[int, int], None] | None = None,
    ) -> Embedding:
        sample = make_sample(module, self.tokenizer)
        pools = pools_of(module, sample, level, weighting)
        pooled = self.runtime.forward(sample, pools, text_vectors=self._statement_vectors(sample, advance))
        return describe(module, sample, level, pooled)

    def _statement_vectors(self, sample: IRSample, advance: Callable[[int, int], None] | None) -> Float32:
        """(U, H) vector of each text that is a statement; rows of node-only texts stay zero."""
        out = np.zeros((len(sample.texts), self.text_dimension), dtype=np.float32)
        used = np.unique(sample.statement_row)
        keys = [cache_key("statement", sample.texts[row]) for row in used.tolist()] if self.cache else []
        known = self.cache.get(keys) if self.cache else {}
        missing = used
        if known:
            hit = np.array([key in known for key in keys], dtype=bool)
            stored = b"".join(known[key] for key, here in zip(keys, hit, strict=True) if here)
            out[used[hit]] = np.frombuffer(stored, dtype=np.float32).reshape(-1, self.text_dimension)
            missing = used[~hit]
        if len(missing):
            told = None if advance is None else lambda count: advance(count, len(missing))
            out[missing] = self.runtime.encode_texts(
                sample.text_ids[missing], sample.text_length[missing], advance=told
            )
            if self.cache:
                self.cache.put(
                    {cache_key("statement", sample.texts[row]): out[row].tobytes() for row in missing.tolist()}
                )
        return out

    def match(self, text_of: IRInput, graph_of: IRInput) -> float:
        """Probability, by the matching head, that the text of one input and the graph of another come from one IR."""
        text, graph = (make_sample(self.read(ir), self.tokenizer) for ir in (text_of, graph_of))
        # The matching head was trained on the paper's plain means.
        known = self._statement_vectors(text, None)
        first = self.runtime.forward(text, module_pools(text, "count"), "text", text_vectors=known).text
        second = self.runtime.forward(graph, module_pools(graph, "count"), "graph").graph
        return float(self.runtime.match(first, second)[0])


def _check(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"unknown {what} {value!r}; available: {', '.join(allowed)}")


def _is_path(ir: IRInput) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(ir, os.PathLike) or (isinstance(ir, str) and not _is_ir_text(ir))


def _is_ir_text(text: str) -> bool:
    return "\n" in text or text.lstrip().startswith(("define ", "; ModuleID", "source_filename", "target "))


def load(
    name_or_dir: str | os.PathLike[str] | None = None,
    *,
    device: str = "cpu",
    backend: str | None = None,
    cache: bool | str | os.PathLike[str] = True,
    options: ReadOptions | None = None,
) -> Encoder:
    """Load a model.

    Parameters
    ----------
    name_or_dir : str or path, optional
        A packaged model's name (`mirenc.list_models`) or a model folder; the default model if left out.
    device : str
        ``cpu``, or a torch device such as ``cuda``.
    backend : str, optional
        ``numpy`` (default on a CPU: starts at once) or ``torch`` (default elsewhere; needs the ``train`` extra).
    cache : bool or path
        Keep statement vectors in the user's cache folder (True), in this folder, or not (False).
    options : ReadOptions, optional
        Limits and compiler for reading.

    Raises
    ------
    ModelError
        Unknown or damaged model.
    ConfigError
        Unknown backend, or numpy on another device than the CPU.
    MissingExtraError
        The torch backend without torch.
    """
    backend = backend or ("numpy" if device == "cpu" else "torch")
    _check("backend", backend, ("numpy", "torch"))
    if backend == "numpy" and device != "cpu":
        raise ConfigError(f"the numpy backend runs on the CPU only, not on {device!r}. Use backend='torch'")
    files = load_files(name_or_dir)
    runtime: Runtime
    if backend == "numpy":
        from mirenc.model.numpy_runtime import NumpyRuntime

        runtime = NumpyRuntime(files.config, files.weights)
    else:
        try:
            from mirenc.model.torch_runtime import TorchRuntime
        except ImportError as error:
            raise MissingExtraError(
                f"the torch backend needs torch and torch-geometric ({error}). Type: pip install 'mirenc[train]'"
            ) from None
        try:
            runtime = TorchRuntime(files.config, files.weights, device)
        except (RuntimeError, AssertionError) as error:
            first = str(error).splitlines()[0]
            raise ModelError(f"cannot run {files.name} on device {device!r}: {first}. Use device='cpu'") from None
    # The two runtimes agree to 1e-6, not to the bit: each has vectors of its own.
    # A release may read or normalise IR in another way, so its vectors are its own, too.
    key = hashlib.sha256(f"{files.digest} {__version__} {backend} {device}".encode()).hexdigest()
    store = None
    if cache is not False:
        store = Cache(key, folder=None if cache is True else Path(cache))
    return Encoder(files, runtime, cache=store, options=options)
