"""`Pipeline`: the way of every file, from top to bottom: read, form, prepare, encode, pool, whiten.

| stage | gives | which is |
|---|---|---|
| expand | `Input` | a path, IR text, bitcode or module; its name; the flags of a source (`mirenc.llvm.inputs`) |
| read | `InputBytes` | the bytes of a file, decompressed, or of a source, compiled |
| form | `IRModule` | canonical text, as LLVM prints it after the passes of the form |
| prepare | `Prepared` | U texts, as token ids (U, L) uint16; N nodes and E edges; G rows, as pools of these |
| encode | statement vectors | (U, H) float32, one for each text |
| pool | `Embedding` | text (G, H), graph (G, D); by model, taught (G, T) and lexical (G, X); all float32 |
| whiten | `Outcome` | the name and the embedding of an input; its vectors are (G, H + D + X) float32 |

Inputs come in batches (`mirenc.encoder.batches`), and one process does a batch all the way (`mirenc.encoder.workers`).
An input that fails goes the rest of the way as its error.
"""

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mirenc.base.arrays import Float32
from mirenc.base.cache import Cache, cache_key
from mirenc.base.errors import MirencError, ModelError, one_input
from mirenc.encoder.embedding import Embedding
from mirenc.encoder.encoding import Advance, forward_all, model_pools, statement_vectors
from mirenc.encoder.options import EmbedOptions
from mirenc.encoder.outcome import Outcome
from mirenc.encoder.prepare import Prepared, prepare
from mirenc.encoder.weights import ModelFiles, WhiteningMap, load_files
from mirenc.llvm import IRModule, ReadOptions
from mirenc.llvm.inputs.file_kind import InputBytes
from mirenc.llvm.inputs.input import Input
from mirenc.llvm.ir.canonical_reader import no_collection
from mirenc.llvm.ir.plain_statement import Spelling
from mirenc.llvm.ir.read import in_form, load_input, module_of
from mirenc.model.lexical import Lexicon
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.runtime import Runtime
from mirenc.model.threads import one_blas_thread

Content = InputBytes | IRModule
_ENTRY = "all-3"  # kind of an embedding in the cache: another one where what it holds has changed
_Result = TypeVar("_Result")


@dataclass(frozen=True, eq=False)
class Pipeline:
    """A loaded model, a cache of what it computed (None: no cache), and a whitening map (None: the model's own).

    Pickled for another process it is the name of the model's folder, from which that process loads it, in numpy.
    """

    files: ModelFiles
    runtime: Runtime
    cache: Cache | None = None
    hide_names: bool = False
    whitening_map: WhiteningMap | None = None
    remembered: dict[str, Float32] = field(default_factory=dict, repr=False)
    """Vectors of texts that this process encoded lately, in one run."""

    def embed(self, batch: Sequence[Input], options: EmbedOptions, advance: Advance | None = None) -> list[Outcome]:
        """Outcomes of the inputs of a batch, in order, after all stages."""
        return self.finish(batch, self.prepare(batch, options), options, advance)

    def prepare(self, batch: Sequence[Input], options: EmbedOptions) -> list[Prepared | Embedding | MirencError]:
        """Read, form, prepare. An input that the cache knows is its embedding, pooled and not whitened."""
        contents = [_run_stage(source.name, "read", _read_content, source, options.read) for source in batch]
        keys = [self._key(content, options) for content in contents]
        cached_bytes = {} if self.cache is None else self.cache.get([key for key in keys if key])
        prepared: list[Prepared | Embedding | MirencError] = []
        for content, key in zip(contents, keys, strict=True):
            if isinstance(content, MirencError):
                prepared.append(content)
            elif isinstance(content, InputBytes) and key in cached_bytes:
                prepared.append(_run_stage(content.name, "prepared", _cached_embedding, cached_bytes[key], content))
            else:
                prepared.append(_run_stage(content.name, "prepared", self._prepare_input, content, options, key))
        return prepared

    def finish(
        self,
        batch: Sequence[Input],
        prepared: Sequence[Prepared | Embedding | MirencError],
        options: EmbedOptions,
        advance: Advance | None = None,
    ) -> list[Outcome]:
        """Encode, pool, whiten. ``advance`` is called while texts are encoded."""
        pairs = [(item.name, module) for item, module in zip(batch, prepared, strict=True) if type(module) is Prepared]
        joint_result = _run_stage("these inputs", "encoded", self._encode, [module for _, module in pairs], advance)
        if isinstance(joint_result, MirencError):  # one of them is to blame, which only each by itself can tell
            single_results = (_run_stage(name, "encoded", self._encode, [module]) for name, module in pairs)
            embeddings = iter([item if isinstance(item, MirencError) else item[0] for item in single_results])
        else:
            embeddings = iter(joint_result)
        outcomes = []
        with one_blas_thread():
            for source, result in zip(batch, prepared, strict=True):
                embedding = next(embeddings) if isinstance(result, Prepared) else result
                if isinstance(embedding, MirencError):
                    outcomes.append(Outcome(source.name, None, embedding))
                else:
                    outcomes.append(Outcome(source.name, self._whiten(embedding, options), None))
        return outcomes

    # -- the stages ------------------------------------------------------------------------------------
    def _prepare_input(self, content: Content, options: EmbedOptions, key: bytes) -> Prepared:
        with no_collection():
            deleted = options.levels != ("module",) or options.function is not None
            if isinstance(content, IRModule):
                module = in_form(content, options.read, deleted=deleted)
            else:
                module = module_of(content, options.read, deleted=deleted)
            weighting, tokenizer = self.files.config.pooling.weighting, self.files.tokenizer
            spelling, function = self.spelling, options.function
            prepared = prepare(module, tokenizer, options.levels, weighting, function=function, spelling=spelling)
        if isinstance(content, IRModule):
            return prepared
        # Not kept: passes that failed, for want of time perhaps; what depends on the LLVMs here, and is said each time.
        if module.form != (options.read.form or "plain") or module.mended:
            key = b""
        return replace(prepared, key=key, blank=replace(prepared.blank, file_hash=content.file_hash))

    def _encode(self, modules: Sequence[Prepared], advance: Advance | None = None) -> list[Embedding]:
        """Encode and pool: embeddings that are not whitened, and that the cache then has."""
        with no_collection():
            parts = [part for module in modules for part in module.parts]
            samples = [part.sample for part in parts]
            pools = [model_pools(part.pools, self.runtime.config) for part in parts]
            vectors = statement_vectors(
                self.runtime, self.cache, samples, pools, advance, remembered=self.remembered
            )  # (U, H) each
            pooled = forward_all(self.runtime, samples, pools, vectors)  # (G, H), (G, D), (G, T) each
            rows = (part.embedding(values, self._lexicon) for part, values in zip(parts, pooled, strict=True))
            # The rows of what a form's passes deleted stand below those of what they left.
            embeddings = [functools.reduce(Embedding.with_rows, islice(rows, len(module.parts))) for module in modules]
        if self.cache is not None:
            # A vector for every instruction of a large module is hundreds of megabytes, which no copy is made of.
            self.cache.put(
                {
                    module.key: embedding.to_bytes()
                    for module, embedding in zip(modules, embeddings, strict=True)
                    if module.key and embedding.text.nbytes + embedding.graph.nbytes <= self.cache.largest
                }
            )
        return embeddings

    def _whiten(self, embedding: Embedding, options: EmbedOptions) -> Embedding:
        """The embedding for its purpose: whitened for search, each part of the length that the model gives it."""
        if options.purpose == "features":
            return replace(embedding, purpose=options.purpose)
        if not options.whiten:
            return embedding
        whitened: dict[str, Any] = {}
        for part in self._whitening.mean:
            vectors = self._whitening.apply(part, getattr(embedding, part))  # (G, width)
            if (lengths := self.files.config.paired) is not None:
                vectors = _scaled_to_length(vectors, getattr(lengths, part))
            whitened[part] = vectors
        return replace(embedding, **whitened)

    # -- what the stages need --------------------------------------------------------------------------
    @property
    def spelling(self) -> Spelling:
        """How texts are written for the model."""
        if self.files.config.paired is None:
            return "hidden" if self.hide_names else "written"
        return "unnamed" if self.hide_names else "plain"

    @functools.cached_property
    def _lexicon(self) -> Lexicon | None:
        if (config := self.files.config.lexical) is None:
            return None
        return Lexicon(config, self.files.weights["lexical_idf"], hide_names=self.hide_names)

    @functools.cached_property
    def _whitening(self) -> WhiteningMap:
        return self.whitening_map or WhiteningMap.of_model(self.files)

    def _key(self, content: Content | MirencError, options: EmbedOptions) -> bytes:
        """Key of what an embedding depends on: the bytes and, for rows with source places, how these are named."""
        if self.cache is None or not isinstance(content, InputBytes):
            return b""
        settings = f"{'+'.join(options.levels)}\0{options.function or ''}\0{options.read.form}\0"
        # Without this flag LLVM drops debug information, of text and bitcode alike.
        if options.levels != ("module",) and b"Debug Info Version" in content.data:
            settings += f"{content.name}\0{_working_folder()}\0"
        return cache_key(_ENTRY, settings.encode("utf-8", "surrogateescape") + content.data)

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_pipeline, (self.files.folder, self.files.digest, self.cache, self.hide_names, self.whitening_map)


def _load_pipeline(folder: Path, digest: str, *settings: Any) -> Pipeline:
    """A pipeline in another process, of one thread."""
    files = load_files(folder)
    if files.digest != digest:
        raise ModelError(f"{folder}: the model was changed while it was used. Load it again")
    return Pipeline(files, NumpyRuntime(files.config, files.weights, threads=1), *settings)


def _read_content(source: Input, options: ReadOptions) -> Content:
    return source.value if isinstance(source.value, IRModule) else load_input(source, options)


def _cached_embedding(data: bytes, content: InputBytes) -> Embedding:
    """An embedding of the cache. Which source or text it came from is this input's own."""
    return replace(Embedding.from_bytes(data, content.name), file_hash=content.file_hash)


def _scaled_to_length(vectors: Float32, length: float) -> Float32:
    """Vectors of one length; rows of zeros stay. Shapes: (G, D) -> (G, D)."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors * (length / np.where(lengths > 0, lengths, 1)), dtype=np.float32)


def _run_stage(name: str, action: str, stage: Callable[..., _Result], *arguments: Any) -> _Result | MirencError:
    """The result of a stage, or the error that it raised, as an error of the input ``name``."""
    try:
        with one_input(name, action):
            return stage(*arguments)
    except MirencError as error:
        return error


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""
