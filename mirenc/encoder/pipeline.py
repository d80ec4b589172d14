"""`Pipeline`: the one way from inputs to embeddings: read, prepare, encode, pool, whiten."""

import functools
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from mirenc.base.arrays import Float32
from mirenc.base.cache import Cache
from mirenc.base.errors import MirencError, NoFunctionBodyError, one_input
from mirenc.encoder.embedding import Embedding
from mirenc.encoder.encoding import StatementVectors, forward_all
from mirenc.encoder.prepare import Answer, Prepared
from mirenc.encoder.request import Request, in_batches
from mirenc.encoder.workers import read
from mirenc.llvm.inputs.input import Input
from mirenc.llvm.ir.canonical_reader import no_collection
from mirenc.model.lexical import Lexicon
from mirenc.model.runtime import Runtime
from mirenc.model.tokenizer import IRTokenizer

# Called with inputs done, their number where it is known, and what is being done.
Progress = Callable[[int, int | None, str], object]
_BATCH_TEXTS = 1 << 14  # a batch ends here however few its inputs are
_NAME = 40  # characters of a name that progress shows
_LISTED = 5  # complaints


class Outcome(NamedTuple):
    """What became of an input, a path or ``<string>``: an embedding, or the error that says why there is none.

    The error of a module without a function body is a NoFunctionBodyError.
    """

    name: str
    embedding: Embedding | None
    error: MirencError | None

    @property
    def is_empty(self) -> bool:
        """Whether the input could be read, and has no function body."""
        return isinstance(self.error, NoFunctionBodyError)

    def embedded(self, failed: Callable[[MirencError], object] | None = None) -> Embedding | None:
        """The embedding; where there is none, ``failed`` is told the error, which is raised without it."""
        if self.error is not None:
            if failed is None:
                raise self.error
            failed(self.error)
        return self.embedding

    def complaint(self, row: int) -> str:
        """One line on an input that cannot be embedded, beginning with its name, or its row where it has none."""
        reason = str(self.error).partition("\n")[0].removeprefix("<string>: ")
        name = f"input {row}" if self.name == "<string>" else self.name
        return reason if reason.startswith(name) else f"{name}: {reason}"


def listed(complaints: list[str]) -> str:
    """The first of some complaints, and how many more there are."""
    more = f"; and {len(complaints) - _LISTED} more" if len(complaints) > _LISTED else ""
    return "; ".join(complaints[:_LISTED]) + more


class _ProgressError(BaseException):
    """An exception of the caller's ``progress``, its argument: it ends the run, and is no fault of an input."""


@dataclass(frozen=True, eq=False)
class Pipeline:
    """A model, what is kept of its vectors, and how their ``parts`` are whitened: (part, (n, D)) -> (n, D)."""

    runtime: Runtime
    tokenizer: IRTokenizer
    cache: Cache | None
    lexicon: Lexicon | None
    white: Callable[[str, Float32], Float32]
    parts: tuple[str, ...]

    def run(
        self, inputs: Iterable[Input], request: Request, total: int | None, progress: Progress
    ) -> Generator[Outcome, None, None]:
        """What becomes of each input, in their order."""
        vectors = StatementVectors(self.runtime, self.cache)
        done = 0

        def advance(encoded: int, texts: int) -> None:
            try:
                progress(done, total, f"{encoded}/{texts} statements")
            except Exception as error:  # noqa: BLE001 - of any kind, it is the caller's
                raise _ProgressError(error) from None

        # However the caller ends: no process is left behind.
        with closing(read(inputs, request, self.tokenizer)) as answers:
            try:
                for batch in in_batches(answers, _texts, _BATCH_TEXTS, request.batch_size):
                    for name, outcome in self._encoded(batch, vectors, advance):
                        done += 1
                        progress(done, total, name[-_NAME:])
                        if isinstance(outcome, MirencError):
                            yield Outcome(name, None, outcome)
                        else:
                            yield Outcome(name, self._finished(outcome, request), None)
            except _ProgressError as raised:
                raise raised.args[0] from None

    def _encoded(
        self, batch: list[tuple[Input, Answer]], vectors: StatementVectors, advance: Callable[[int, int], None]
    ) -> Iterator[tuple[str, Embedding | MirencError]]:
        """Names and plain embeddings of inputs whose statements are encoded together."""
        ready = [answer for _, answer in batch if isinstance(answer, Prepared)]
        encoded: Iterator[Embedding | MirencError]
        try:
            with one_input("these inputs", "encoded"):
                encoded = iter(self._forward(ready, vectors, advance))
        except MirencError:  # one of them is to blame, which only each by itself can tell
            encoded = (self._alone(given, answer, vectors) for given, answer in batch if isinstance(answer, Prepared))
        for given, answer in batch:
            yield given.name, next(encoded) if isinstance(answer, Prepared) else answer

    def _alone(self, given: Input, module: Prepared, vectors: StatementVectors) -> Embedding | MirencError:
        """The plain embedding of one module, or why it has none."""
        try:
            with one_input(given.name, "encoded"):
                return self._forward([module], vectors, lambda encoded, texts: None)[0]
        except MirencError as error:
            return error

    def _forward(
        self, ready: list[Prepared], vectors: StatementVectors, advance: Callable[[int, int], None]
    ) -> list[Embedding]:
        """Plain embeddings of modules, which the cache then has."""
        with no_collection():
            parts = [part for module in ready for part in module.parts]
            pooled = forward_all(self.runtime, parts, vectors.of(parts, advance=advance))
            filled = (part.filled(each, self.lexicon) for part, each in zip(parts, pooled, strict=True))
            # The rows of what a form's passes deleted stand below those of what they left.
            embeddings = [functools.reduce(Embedding.with_rows, islice(filled, len(module.parts))) for module in ready]
        if self.cache is not None:
            # A vector for every instruction of a large module is hundreds of megabytes, which no copy is made of.
            self.cache.put(
                {
                    module.key: each.to_bytes()
                    for module, each in zip(ready, embeddings, strict=True)
                    if module.key and each.text.nbytes + each.graph.nbytes <= self.cache.largest
                }
            )
        return embeddings

    def _finished(self, embedding: Embedding, request: Request) -> Embedding:
        if request.purpose == "features":
            return replace(embedding, purpose=request.purpose)
        if not request.whiten:
            return embedding
        white = {part: self.white(part, getattr(embedding, part)) for part in self.parts}
        return replace(embedding, **white)  # type: ignore[arg-type]  # parts are arrays


def _texts(answered: tuple[Input, Answer]) -> int:
    answer = answered[1]
    return sum(len(part.sample.texts) for part in answer.parts) if isinstance(answer, Prepared) else 0
