"""From inputs to what the model computes on: what a reader does, in this process or in one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mirenc.cache import Cache, cache_key
from mirenc.embed.embedding import Embedding, Prepared, prepare
from mirenc.errors import MirencError
from mirenc.ir import IRModule, ReadOptions
from mirenc.ir.files import InputBytes
from mirenc.ir.inputs import Input
from mirenc.ir.read import load_input, module_of
from mirenc.tokenizer import IRTokenizer

__all__ = ["Answer", "Reader", "Request"]

# An embedding that the cache knew, a module to be encoded, or why there is none.
Answer = Embedding | Prepared | MirencError


@dataclass(frozen=True)
class Request:
    """What is wanted of every input.

    Attributes
    ----------
    level, function, weighting
        As `mirenc.embed.embedding.prepare` takes them.
    options : ReadOptions
    cache : (str, Path, int) or None
        Digest, folder and size of the cache that may know the embedding.
    """

    level: str
    function: str | None
    weighting: str
    options: ReadOptions
    cache: tuple[str, Path, int] | None


class Reader:
    """Reads inputs.

    Parameters
    ----------
    request : Request
    tokenizer : IRTokenizer
    """

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
        keys = [self._key(found) for found in loaded]
        known = self._cache.get([key for key in keys if key]) if self._cache is not None else {}
        return [self._answer(found, key, known.get(key)) for found, key in zip(loaded, keys, strict=True)]

    def _load(self, given: Input) -> IRModule | InputBytes | MirencError:
        if isinstance(given.value, IRModule):
            return given.value
        try:
            return load_input(given, self._request.options)
        except MirencError as error:
            return error

    def _key(self, found: IRModule | InputBytes | MirencError) -> bytes:
        """Key of an input's bytes: whatever reading made of them once, it would make again."""
        if self._cache is None or not isinstance(found, InputBytes):
            return b""
        function = "" if self._request.function is None else f"\0{self._request.function}"
        return cache_key(f"all-{self._request.level}", found.data + function.encode("utf-8", "surrogateescape"))

    def _answer(self, found: IRModule | InputBytes | MirencError, key: bytes, known: bytes | None) -> Answer:
        if isinstance(found, MirencError):
            return found
        if known is not None and isinstance(found, InputBytes):
            # Known is the IR: which source or text it came from is this input's own.
            return replace(Embedding.from_bytes(known, found.name), file_hash=found.file_hash)
        request = self._request
        try:
            module = found if isinstance(found, IRModule) else module_of(found, request.options)
            ready = prepare(module, self._tokenizer, request.level, request.weighting, function=request.function)
        except MirencError as error:
            return error
        if isinstance(found, IRModule):
            return ready
        return replace(ready, key=key, blank=replace(ready.blank, file_hash=found.file_hash))
