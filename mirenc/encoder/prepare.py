"""From inputs to what the model computes on: read, and prepared for a model."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mirenc.base.cache import cache_key
from mirenc.base.errors import MirencError, one_input
from mirenc.encoder.embedding import Embedding
from mirenc.encoder.request import Request
from mirenc.llvm import IRModule, regions_of
from mirenc.llvm.analysis.regions import has_function
from mirenc.llvm.inputs.file_kind import InputBytes
from mirenc.llvm.inputs.input import Input
from mirenc.llvm.ir.canonical_reader import no_collection
from mirenc.llvm.ir.plain_statement import Spelling
from mirenc.llvm.ir.read import in_form, load_input, module_of
from mirenc.model.graph.builder import build_native
from mirenc.model.lexical import Lexicon
from mirenc.model.pooling import Pools, module_pools, region_pools
from mirenc.model.runtime import Pooled
from mirenc.model.sample import IRSample, make_sample
from mirenc.model.tokenizer import IRTokenizer


@dataclass(frozen=True, eq=False)
class Prepared:
    """One module ready for a model, its embedding without columns, and its ``key`` in the cache (empty: not kept).

    ``deleted`` are the functions that its form's passes deleted (`mirenc.llvm.passes.optimise`); their rows come
    last.
    """

    sample: IRSample
    pools: Pools
    blank: Embedding
    key: bytes = b""
    deleted: "Prepared | None" = None

    @property
    def parts(self) -> list["Prepared"]:
        """What is encoded: the module, and the functions deleted from it."""
        return [self] if self.deleted is None else [self, self.deleted]

    def filled(self, pooled: Pooled, lexicon: Lexicon | None) -> Embedding:
        """The embedding with its vectors, not whitened."""
        vectors = pooled._asdict()
        if lexicon is not None:
            vectors["lexical"] = lexicon.vectors(self.sample.texts, self.pools, module=self.blank.level == "module")
        return replace(self.blank, **vectors)


def prepare(
    module: IRModule,
    tokenizer: IRTokenizer,
    levels: tuple[str, ...],
    weighting: str,
    *,
    function: str | None = None,
    spelling: Spelling = "written",
) -> Prepared:
    """A module's sample, and which rows it has, in words of a `Request`. Raises ConfigError as `regions_of`."""
    parts = [module] if module.deleted is None else [module, module.deleted]
    if function is not None:
        parts = [part for part in parts if has_function(part, function)] or parts[:1]
    deleted = None
    if len(parts) > 1 and levels != ("module",):
        deleted = prepare(parts[1], tokenizer, levels, weighting, function=function, spelling=spelling)
    module = parts[0]
    listed = [regions_of(module, level, function=function) for level in levels]
    regions = [region for each in listed for region in each.regions]
    graph = build_native(module, normalisation=tokenizer.config.normalisation)
    sample = make_sample(module, tokenizer, graph=graph, spelling=spelling)
    if levels == ("module",) and function is None:
        pools = module_pools(sample, weighting)
        instructions = np.array([module.instruction_count])
    else:
        starts = np.cumsum([0, *(len(each) for each in listed)])
        row = np.concatenate([each.region + start for each, start in zip(listed, starts, strict=False)])  # (P,)
        instructions = np.bincount(row, minlength=len(regions))
        inside = np.concatenate([each.instruction for each in listed])
        pools = region_pools(sample, inside, row, len(regions), weighting, reads="instruction" not in levels)
    counts = {
        "functions": len(module.headers),
        "defined": sum(not header.is_declaration for header in module.headers),
        "blocks": module.block_count,
        "instructions": module.instruction_count,
        "statements": len(sample.statement_row),
        "distinct_statements": int(np.count_nonzero(np.bincount(sample.statement_row))),
        "nodes": len(sample.node_row),
        "edges": len(sample.edge_flow),
        "call_edges_left_out": graph.call_edges_left_out,
    }
    none = np.zeros((len(regions), 0), dtype=np.float32)
    statements = np.bincount(pools.text.group, weights=pools.text.count, minlength=pools.text.groups)
    nodes = pools.counts(sample.node_kind)
    sizes = np.column_stack([statements, nodes[:, -1], instructions, nodes[:, :-1]]).astype(np.int64)  # (G, 6)
    columns = none, none, none, none, sizes
    blank = Embedding("+".join(levels), *columns, regions, counts, module.content_hash, form=module.form)
    return Prepared(sample, pools, blank, deleted=deleted)


# Kind of an entry in the cache; another one where what an entry holds has changed.
_ENTRY = "all-3"


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


# An embedding that the cache knew, a module to be encoded, or why there is none.
Answer = Embedding | Prepared | MirencError


class Reader:
    """Reads inputs for a request."""

    def __init__(self, request: Request, tokenizer: IRTokenizer) -> None:
        self._request = request
        self._tokenizer = tokenizer

    def read(self, inputs: Sequence[Input]) -> list[Answer]:
        """One answer for each input, in their order; the cache is asked first, once for all of them."""
        loaded = [self._load(given) for given in inputs]
        keys = [self._key(content) for content in loaded]
        cache = self._request.cache
        cached = {} if cache is None else cache.get([key for key in keys if key])
        return [self._answer(content, key, cached.get(key)) for content, key in zip(loaded, keys, strict=True)]

    def _load(self, given: Input) -> IRModule | InputBytes | MirencError:
        if isinstance(given.value, IRModule):
            return given.value
        try:
            with one_input(given.name, "read"):
                return load_input(given, self._request.options)
        except MirencError as error:
            return error

    def _key(self, content: IRModule | InputBytes | MirencError) -> bytes:
        """Key of what an answer depends on: an input's bytes and, for those with source places, how these are named."""
        request = self._request
        if request.cache is None or not isinstance(content, InputBytes):
            return b""
        words = f"{'+'.join(request.levels)}\0{request.function or ''}\0{request.options.form}\0"
        # Without this flag LLVM drops debug information, of text and bitcode alike.
        if request.levels != ("module",) and b"Debug Info Version" in content.data:
            words += f"{content.name}\0{_working_folder()}\0"
        return cache_key(_ENTRY, words.encode("utf-8", "surrogateescape") + content.data)

    def _answer(self, content: IRModule | InputBytes | MirencError, key: bytes, cached: bytes | None) -> Answer:
        if isinstance(content, MirencError):
            return content
        request = self._request
        try:
            with one_input(content.name, "prepared"), no_collection():
                if cached is not None and isinstance(content, InputBytes):
                    # What is kept is of the IR: which source or text it came from is this input's own.
                    return replace(Embedding.from_bytes(cached, content.name), file_hash=content.file_hash)
                deleted = request.levels != ("module",) or request.function is not None
                if isinstance(content, IRModule):
                    module = in_form(content, request.options, deleted=deleted)
                else:
                    module = module_of(content, request.options, deleted=deleted)
                how: dict[str, Any] = {"function": request.function, "spelling": request.spelling}
                ready = prepare(module, self._tokenizer, request.levels, request.weighting, **how)
        except MirencError as error:
            return error
        if isinstance(content, IRModule):
            return ready
        if module.form != (request.options.form or "plain"):  # passes failed, for want of time perhaps: not kept
            key = b""
        return replace(ready, key=key, blank=replace(ready.blank, file_hash=content.file_hash))
