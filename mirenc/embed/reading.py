"""From inputs to what the model computes on: what a reader does, in this process or in one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mirenc.cache import Cache, cache_key
from mirenc.embed.embedding import Embedding
from mirenc.embed.prepare import Prepared, prepare
from mirenc.embed.request import Request
from mirenc.errors import MirencError
from mirenc.ir import IRModule
from mirenc.ir.files import InputBytes
from mirenc.ir.inputs import Input
from mirenc.ir.read import load_input, module_of
from mirenc.tokenizer import IRTokenizer

__all__ = ["Answer", "Reader"]

# An embedding that the cache knew, a module to be encoded, or why there is none.
Answer = Embedding | Prepared | MirencError


class Reader:
    """Reads inputs for a request."""

    def __init__(self, request: Request, tokenizer: IRTokenizer) -> None:
        self._request = request
        self._tokenizer = tokenizer
        self._cache = None
        if request.cache is not None:
            digest, folder, max_bytes = request.cache
            self._cache = Cache(digest, folder=folder, max_bytes=max_bytes)

    def read(self, inputs: Sequence[Input]) -> list[Answer]:
        """One answer for each input, in their order.

        The cache is asked before anything is parsed, once for all of them.
        """
        loaded = [self._load(given) for given in inputs]
        keys = [self._key(content) for content in loaded]
        cached = self._cache.get([key for key in keys if key]) if self._cache is not None else {}
        return [self._answer(content, key, cached.get(key)) for content, key in zip(loaded, keys, strict=True)]

    def _load(self, given: Input) -> IRModule | InputBytes | MirencError:
        if isinstance(given.value, IRModule):
            return given.value
        try:
            return load_input(given, self._request.options)
        except MirencError as error:
            return error

    def _key(self, content: IRModule | InputBytes | MirencError) -> bytes:
        """Key of an input's bytes: whatever reading made of them once, it would make again."""
        if self._cache is None or not isinstance(content, InputBytes):
            return b""
        function = "" if self._request.function is None else f"\0{self._request.function}"
        return cache_key(
            f"all-{'+'.join(self._request.levels)}", content.data + function.encode("utf-8", "surrogateescape")
        )

    def _answer(self, content: IRModule | InputBytes | MirencError, key: bytes, cached: bytes | None) -> Answer:
        if isinstance(content, MirencError):
            return content
        if cached is not None and isinstance(content, InputBytes):
            # What is kept is of the IR: which source or text it came from is this input's own.
            return replace(Embedding.from_bytes(cached, content.name), file_hash=content.file_hash)
        request = self._request
        try:
            module = content if isinstance(content, IRModule) else module_of(content, request.options)
            ready = prepare(module, self._tokenizer, request.levels, request.weighting, function=request.function)
        except MirencError as error:
            return error
        if isinstance(content, IRModule):
            return ready
        return replace(ready, key=key, blank=replace(ready.blank, file_hash=content.file_hash))
