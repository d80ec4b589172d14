"""The order of things: inputs are cut into chunks, read here or in processes, and encoded some at a time."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from mirenc.cache import Cache
from mirenc.embed.embedding import Embedding, Prepared
from mirenc.embed.encoding import StatementVectors
from mirenc.embed.joining import forward_all
from mirenc.embed.processes import read_in_processes, stays_here
from mirenc.embed.reading import Answer, Reader, Request
from mirenc.errors import MirencError
from mirenc.ir.inputs import Input
from mirenc.model.lexical import Lexicon
from mirenc.model.runtime import Runtime
from mirenc.tokenizer import IRTokenizer

__all__ = ["Outcome", "Progress", "embed_inputs", "encode_answers", "listed", "read_answers"]

_CHUNK_INPUTS = 16
_CHUNK_BYTES = 1 << 20
_BATCH_TEXTS = 1 << 14  # a batch ends here however few its inputs are
# Processes take about a second to start: who has less to read does not wait for them.
_ALONE_SECONDS = 1.0
_NAME = 40  # characters of a name that progress shows
_LISTED = 5  # complaints


# Called with inputs done, their number where it is known, and what is being done.
Progress = Callable[[int, int | None, str], object]


class Outcome(NamedTuple):
    """What became of one input: an embedding, or the error that says why there is none.

    Attributes
    ----------
    name : str
        The input's path, or ``<string>``.
    embedding : Embedding or None
    error : MirencError or None
    """

    name: str
    embedding: Embedding | None
    error: MirencError | None

    def complaint(self, row: int) -> str:
        """One line on an input that cannot be embedded, beginning with its name, or its row where it has none."""
        reason = str(self.error).partition("\n")[0].removeprefix("<string>: ")
        name = f"input {row}" if self.name == "<string>" else self.name
        return reason if reason.startswith(name) else f"{name}: {reason}"


def _size(given: Input) -> int:
    if isinstance(given.value, bytes):
        return len(given.value)
    try:
        return os.stat(given.value).st_size if isinstance(given.value, str) else 0
    except (OSError, ValueError):
        return 0  # reading it says what is wrong


def _chunks(inputs: Iterable[Input]) -> Iterator[list[Input]]:
    """Some inputs at a time: few small ones, or one large; what has to stay in this process goes by itself."""
    chunk: list[Input] = []
    size = 0
    for given in inputs:
        here = stays_here(given)
        more = 0 if here else _size(given)
        if chunk and (here or stays_here(chunk[0]) or len(chunk) == _CHUNK_INPUTS or size + more > _CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(given)
        size += more
    if chunk:
        yield chunk


def read_answers(
    inputs: Iterable[Input], request: Request, tokenizer: IRTokenizer, workers: int | None
) -> Generator[tuple[Input, Answer], None, None]:
    """Each input with what reading made of it, in their order.

    Parameters
    ----------
    inputs : iterable of Input
    request : Request
    tokenizer : IRTokenizer
    workers : int, optional
        Processes that read; 0 reads in this one. Left out: as many as cores, once there is work for them.
    """
    reader = Reader(request, tokenizer)
    chunks = _chunks(inputs)
    started = time.monotonic()
    ahead: list[list[Input]] = []
    while not workers and (chunk := next(iter(ahead), None) or next(chunks, None)) is not None:
        del ahead[:1]
        yield from zip(chunk, reader.read(chunk), strict=True)
        if workers is None and time.monotonic() - started > _ALONE_SECONDS:
            ahead += islice(chunks, _cores() - len(ahead))
            if len(ahead) > 1:
                break
    if workers or len(ahead) > 1:
        yield from read_in_processes(chain(ahead, chunks), request, tokenizer, workers or len(ahead))


def embed_inputs(
    inputs: Iterable[Input],
    request: Request,
    tokenizer: IRTokenizer,
    runtime: Runtime,
    cache: Cache | None,
    lexicon: Lexicon | None,
    *,
    batch_size: int,
    workers: int | None,
    total: int | None = None,
    tell: Progress | None = None,
) -> Generator[Outcome, None, None]:
    """Read and encode; embeddings are not whitened. ``tell`` is kept up to date."""
    done = 0

    def advance(encoded: int, texts: int) -> None:
        if tell is not None:
            tell(done, total, f"{encoded}/{texts} statements")

    # However the caller ends: no process is left behind.
    with contextlib.closing(read_answers(inputs, request, tokenizer, workers)) as answers:
        for outcome in encode_answers(answers, runtime, cache, lexicon, batch_size, advance=advance):
            done += 1
            if tell is not None:
                tell(done, total, outcome.name[-_NAME:])
            yield outcome


def encode_answers(
    answers: Iterable[tuple[Input, Answer]],
    runtime: Runtime,
    cache: Cache | None,
    lexicon: Lexicon | None,
    batch_size: int,
    *,
    advance: Callable[[int, int], None] | None = None,
) -> Iterator[Outcome]:
    """Encode what was read, ``batch_size`` inputs together; embeddings are not whitened.

    Parameters
    ----------
    answers : iterable of (Input, Answer)
    runtime : Runtime
    cache : Cache or None
    lexicon : Lexicon or None
        The lexical view of a model that has it.
    batch_size : int
    advance : callable, optional
        Told (texts encoded, texts to encode) while the text encoder works.
    """
    vectors = StatementVectors(runtime, cache)
    batch: list[tuple[Input, Answer]] = []
    texts = 0
    for given, answer in answers:
        batch.append((given, answer))
        texts += len(answer.sample.texts) if isinstance(answer, Prepared) else 0
        if len(batch) >= batch_size or texts > _BATCH_TEXTS:
            yield from _encode(batch, runtime, cache, lexicon, vectors, advance)
            batch, texts = [], 0
    yield from _encode(batch, runtime, cache, lexicon, vectors, advance)


def _encode(
    batch: list[tuple[Input, Answer]],
    runtime: Runtime,
    cache: Cache | None,
    lexicon: Lexicon | None,
    vectors: StatementVectors,
    advance: Callable[[int, int], None] | None,
) -> Iterator[Outcome]:
    ready = [answer for _, answer in batch if isinstance(answer, Prepared)]
    pooled = forward_all(runtime, ready, vectors.of(ready, advance=advance))
    made = [module.filled(each, lexicon) for module, each in zip(ready, pooled, strict=True)]
    if cache is not None:
        # A vector for every instruction of a large module is hundreds of megabytes, which no copy is made of.
        kept = [
            (module.key, found)
            for module, found in zip(ready, made, strict=True)
            if module.key and found.text.nbytes + found.graph.nbytes <= cache.largest
        ]
        cache.put({key: found.to_bytes() for key, found in kept})
    fresh = iter(made)
    for given, answer in batch:
        if isinstance(answer, MirencError):
            yield Outcome(given.name, None, answer)
        else:
            yield Outcome(given.name, next(fresh) if isinstance(answer, Prepared) else answer, None)


def listed(complaints: list[str]) -> str:
    """The first of some complaints, and how many more there are."""
    more = f"; and {len(complaints) - _LISTED} more" if len(complaints) > _LISTED else ""
    return "; ".join(complaints[:_LISTED]) + more


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
