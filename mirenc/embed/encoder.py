"""`Encoder`: the object people use; `mirenc.load` makes one."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from mirenc.cache import Cache
from mirenc.embed.collecting import collected, whitened
from mirenc.embed.embedding import Embedding, prepare, vector_blocks
from mirenc.embed.encoding import StatementVectors
from mirenc.embed.fitting import Pairs, fit_map
from mirenc.embed.reading import Request
from mirenc.embed.stream import Outcome, Progress, embed_inputs, listed
from mirenc.embed.words import PARTS, PURPOSES, Level, OnError, Part, Purpose, check
from mirenc.errors import ConfigError, MirencError, ModelError, UnreadableIRWarning
from mirenc.ir import LEVELS, IRModule, ReadOptions
from mirenc.ir.inputs import Input, IRInput, expand_inputs, is_project, resolve_input
from mirenc.ir.read import load_input, module_of
from mirenc.model.lexical import Lexicon
from mirenc.model.runtime import Runtime
from mirenc.progress import progress as progress_bar
from mirenc.weights import ModelFiles, WhiteningMap

__all__ = ["Encoder"]

Float32 = NDArray[np.float32]


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
    hide_names : bool
        As in `load`.
    own_map : WhiteningMap, optional
        Whitens instead of the model's own map.
    """

    def __init__(
        self,
        files: ModelFiles,
        runtime: Runtime,
        *,
        cache: Cache | None = None,
        options: ReadOptions | None = None,
        hide_names: bool = False,
        own_map: WhiteningMap | None = None,
    ) -> None:
        self.files = files
        self.runtime = runtime
        self.cache = cache
        self.options = options or ReadOptions()
        self.hide_names = hide_names
        self.own_map = own_map
        lexical = files.config.lexical
        self._lexicon = (
            None if lexical is None else Lexicon(lexical, files.weights["lexical_idf"], hide_names=hide_names)
        )

    def __repr__(self) -> str:
        return (
            f"Encoder({self.name!r}, dimension={self.dimension}, runtime={self.runtime.name!r}, "
            f"digest={self.digest[:12]!r})"
        )

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.files.name

    @property
    def digest(self) -> str:
        """Of the model, of a map of one's own, and of a lexical view without names: vectors of one digest compare."""
        own = "" if self.own_map is None else f" {self.own_map.digest}"
        own += " unnamed" if self.hide_names and self._lexicon is not None else ""
        return hashlib.sha256(f"{self.files.digest}{own}".encode()).hexdigest() if own else self.files.digest

    @property
    def features_digest(self) -> str:
        """Of all that features come from (`ModelFiles.features_digest`): heads and records are keyed by it."""
        return self.digest if self.files.config.taught is None else self.files.features_digest

    @property
    def tokenizer(self) -> Any:
        """The model's `IRTokenizer`."""
        return self.files.tokenizer

    @property
    def text_dimension(self) -> int:
        """Length of a statement's vector."""
        return self.files.config.text.hidden

    @property
    def graph_dimension(self) -> int:
        """Length of what the graph encoder makes of a module or of a part of it."""
        return self.files.config.graph.width

    @property
    def dimension(self) -> int:
        """Length of a vector for search: text and graph, and the lexical view where the model has it."""
        return self.width()

    def width(self, purpose: Purpose = "search", part: Part = "both") -> int:
        """Length of a vector: columns of `embed` with these arguments."""
        check("purpose", purpose, PURPOSES)
        check("part", part, PARTS)
        return sum(vector_blocks(self.files.config, purpose, part).values())

    def read(self, ir: IRInput | Input) -> IRModule:
        """A module from a module, a path, IR text or bitcode bytes; which is which: `mirenc.ir.inputs`."""
        given = resolve_input(ir)
        if isinstance(given.value, IRModule):
            return given.value
        return module_of(load_input(given, self.options), self.options)

    @overload
    def embed(  # type: ignore[overload-overlap]  # a str is an iterable of str, too: the first one wins
        self,
        ir: IRInput,
        *,
        level: Level = "module",
        purpose: Purpose = "search",
        part: Part = "both",
        function: str | None = None,
        whiten: bool = True,
    ) -> Float32: ...

    @overload
    def embed(
        self,
        ir: Iterable[IRInput],
        *,
        level: Literal["module"] = "module",
        purpose: Purpose = "search",
        part: Part = "both",
        function: str | None = None,
        whiten: bool = True,
        on_error: OnError = "raise",
        batch_size: int = 64,
        workers: int | None = None,
        progress: bool | Progress = False,
    ) -> Float32: ...

    @overload
    def embed(
        self,
        ir: Iterable[IRInput],
        *,
        level: Literal["function", "loop", "block", "instruction"],
        purpose: Purpose = "search",
        part: Part = "both",
        function: str | None = None,
        whiten: bool = True,
        on_error: OnError = "raise",
        batch_size: int = 64,
        workers: int | None = None,
        progress: bool | Progress = False,
    ) -> list[Float32]: ...

    def embed(
        self,
        ir: IRInput | Iterable[IRInput],
        *,
        level: Level = "module",
        purpose: Purpose = "search",
        part: Part = "both",
        function: str | None = None,
        whiten: bool = True,
        on_error: OnError = "raise",
        batch_size: int = 64,
        workers: int | None = None,
        progress: bool | Progress = False,
    ) -> Float32 | list[Float32]:
        """Vectors of one input or many.

        Parameters
        ----------
        ir : path, IR text, bitcode bytes, IRModule, or an iterable of these
            A folder and a ``compile_commands.json`` stand for the files in them, sorted (`mirenc.ir.inputs`).
        level : str
            ``module``: one vector; ``function``, ``loop``, ``block``, ``instruction``: one for each of the module.
        purpose : str
            ``search``: to compare programs by cosines. Means, whitened, and the lexical view where the model has it.
            ``features``: for heads. What a compiler taught the model (where one did), means, and logarithms of sizes.
        part : str
            ``both``: the whole vector; ``text`` or ``graph``: what comes from one encoder (`Embedding.part`).
        function : str, optional
            Regular expression: only functions in whose name, mangled or demangled, it is found.
        whiten : bool
            False gives text and graph as the encoders made them, all nearly parallel: a study's wish. A model without
            a whitening map gives them in any case, and so does ``purpose="features"``: heads scale columns by
            themselves.
        on_error : str
            Of many inputs: ``raise`` ends with the first that cannot be embedded; ``skip`` gives it NaN (level module)
            or no rows (other levels), so that results stay in step with inputs, and one warning names them all.
            `embed_stream` has each error itself.
        batch_size : int
            Inputs whose statements are encoded together.
        workers : int, optional
            Processes that read; 0 for none. Left out: as many as cores, for work of more than a second.
        progress : bool or callable
            True shows a bar on stderr; a callable is told (inputs done, inputs or None, what is being done).

        Returns
        -------
        float32 array
            Level module: (D,) for one input, (n, D) for many. Other levels: (rows, D) for one input, a list of such
            arrays for many. What stands for many files and is given by itself is one array: (n, D), at other levels the
            rows of its files one below the other.

        Raises
        ------
        ConfigError
            Unknown level, purpose, part or on_error, no regular expression, an input that is none of the above.
        MirencError
            An input cannot be read; see `mirenc.read_ir`.

        Warns
        -----
        UnreadableIRWarning
            With ``on_error="skip"``: names the inputs that cannot be embedded.
        """
        check("part", part, PARTS)
        check("on_error", on_error, ("raise", "skip"))
        how: dict[str, Any] = {"level": level, "purpose": purpose, "function": function, "whiten": whiten}
        alone = isinstance(ir, (str, bytes, os.PathLike, IRModule))
        if alone and not is_project(ir):
            rows = self.embed_parts(ir, **how).part(part)  # type: ignore[arg-type]
            return rows[0] if level == "module" else rows
        how |= {"batch_size": batch_size, "workers": workers, "progress": progress}
        outcomes = self.embed_stream(ir, **how)  # type: ignore[arg-type]  # a folder, or an iterable
        width = self.width(purpose, part)
        results, complaints = collected(outcomes, part, width, on_error, rows=int(level == "module"))
        if complaints:
            warnings.warn(
                f"{len(complaints)} of {len(results)} inputs cannot be embedded: {listed(complaints)}. "
                "Leave them out, or set on_error='raise' to stop at the first",
                UnreadableIRWarning,
                stacklevel=2,
            )
        if level != "module" and not alone:
            return results
        return np.concatenate(results) if results else np.zeros((0, width), dtype=np.float32)

    def embed_parts(
        self,
        ir: IRInput | Input,
        *,
        level: Level = "module",
        purpose: Purpose = "search",
        function: str | None = None,
        whiten: bool = True,
    ) -> Embedding:
        """All vectors of one input, with what its rows are and counts.

        Parameters
        ----------
        ir : path, IR text, bitcode bytes or IRModule
        level, purpose, function, whiten
            As in `embed`.
        """
        _, embedding, error = next(self._outcomes([resolve_input(ir)], level, purpose, function, whiten))
        if embedding is None:
            assert error is not None
            raise error
        return embedding

    def embed_stream(
        self,
        inputs: Iterable[IRInput | Input],
        *,
        level: Level = "module",
        purpose: Purpose = "search",
        function: str | None = None,
        whiten: bool = True,
        batch_size: int = 64,
        workers: int | None = None,
        progress: bool | Progress = False,
    ) -> Generator[Outcome, None, None]:
        """Embeddings of any number of inputs, one after another as they are done, in the inputs' order.

        What is in memory does not grow with the number of inputs. An input that cannot be embedded is an outcome like
        any other, with its error.

        Parameters
        ----------
        inputs : iterable of paths, IR texts, bitcode bytes or IRModules
            What stands for many files is replaced by them; what `mirenc.ir.inputs` resolved already is taken as it is.
        level, purpose, function, whiten, batch_size, workers, progress
            As in `embed`.

        Yields
        ------
        Outcome
            ``name``, ``embedding`` or None, ``error`` or None.
        """
        if isinstance(inputs, (str, bytes, os.PathLike, IRModule)):
            inputs = [inputs]
        found: Iterable[Input] = expand_inputs(inputs)
        total = None
        if isinstance(inputs, Sized):
            found = list(found)
            total = len(found)
        if callable(progress):
            yield from self._outcomes(found, level, purpose, function, whiten, batch_size, workers, total, progress)
            return
        with progress_bar("embedding", total, show=progress) as advance:

            def show(done: int, total: int | None, note: str) -> None:
                advance(0, completed=done, note=note)

            yield from self._outcomes(found, level, purpose, function, whiten, batch_size, workers, total, show)

    def _outcomes(
        self,
        inputs: Iterable[Input],
        level: str,
        purpose: str,
        function: str | None,
        whiten: bool,
        batch_size: int = 1,
        workers: int | None = 0,
        total: int | None = None,
        tell: Progress | None = None,
    ) -> Iterator[Outcome]:
        """Check, read, encode and whiten."""
        check("level", level, LEVELS)
        check("purpose", purpose, PURPOSES)
        if batch_size < 1:
            raise ConfigError(f"batch_size is {batch_size}; allowed: a whole number from 1 up")
        if workers is not None and workers < 0:
            raise ConfigError(f"workers is {workers}; allowed: a whole number from 0 up, or None")
        where = None if self.cache is None else self.cache.place
        request = Request(level, function, self.runtime.config.pooling.weighting, self.options, where)
        how: dict[str, Any] = {"batch_size": batch_size, "workers": workers, "total": total, "tell": tell}
        made = embed_inputs(inputs, request, self.tokenizer, self.runtime, self.cache, self._lexicon, **how)
        # However the caller ends: no process is left behind.
        with closing(made) as outcomes:
            for outcome in outcomes:
                found = outcome.embedding
                if found is not None and purpose == "features":
                    outcome = outcome._replace(embedding=replace(found, purpose=purpose))
                elif found is not None and whiten:
                    outcome = outcome._replace(embedding=whitened(found, self.runtime, self.own_map))
                yield outcome

    def fit_map(
        self,
        inputs: IRInput | Iterable[IRInput | Input],
        *,
        pairs: Pairs | None = None,
        level: Literal["module", "function"] = "module",
        failed: Callable[[MirencError], None] | None = None,
        progress: bool | Progress = False,
    ) -> WhiteningMap:
        """A whitening map fitted on unlabelled IR of your own: `mirenc.embed.fitting.fit_map` says how."""
        return fit_map(self, inputs, pairs=pairs, level=level, failed=failed, progress=progress)

    def with_map(self, own_map: WhiteningMap) -> Encoder:
        """The encoder with that map instead of the model's own; model, runtime and cache are shared.

        Raises
        ------
        ModelError
            The map takes another model's vectors, or was fitted where names were hidden and here they are not.
        """
        if own_map.model_digest != self.files.digest:
            raise ModelError(
                f"the map takes vectors of {own_map.model} (digest {own_map.model_digest[:12]}), not of {self.name} "
                f"(digest {self.files.digest[:12]}). Fit one for this model: encoder.fit_map(FOLDER)"
            )
        hidden = own_map.facts.get("hide_names", False)
        if "lexical" in own_map.mean and hidden != self.hide_names:
            raise ModelError(
                f"the map was fitted with hide_names={hidden}, the encoder has hide_names={self.hide_names}. "
                f"Load the model with hide_names={hidden} (--hide-names), or fit another map"
            )
        how: dict[str, Any] = {"cache": self.cache, "options": self.options, "hide_names": self.hide_names}
        return Encoder(self.files, self.runtime, **how, own_map=own_map)

    def match(self, text_of: IRInput, graph_of: IRInput) -> float:
        """Probability, by the matching head, that the text of one input and the graph of another come from one IR."""
        # The matching head was trained on the paper's plain means.
        text, graph = (prepare(self.read(ir), self.tokenizer, "module", "count") for ir in (text_of, graph_of))
        known = StatementVectors(self.runtime, self.cache).of([text])[0]
        first = self.runtime.forward(text.sample, text.pools, "text", text_vectors=known).text
        second = self.runtime.forward(graph.sample, graph.pools, "graph").graph
        return float(self.runtime.match(first, second)[0])
