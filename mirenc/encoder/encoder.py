"""`Encoder`: a loaded model that embeds IR."""

import hashlib
import os
import shutil
import warnings
from collections.abc import Generator, Iterable, Sized
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from mirenc.base.arrays import Float32
from mirenc.base.cache import Cache
from mirenc.base.cosines import compare
from mirenc.base.errors import ConfigError, MirencError, ModelError, UnreadableIRWarning
from mirenc.base.progress import progress as progress_bar
from mirenc.encoder.batches import input_batches
from mirenc.encoder.embedding import Embedding, vector_blocks
from mirenc.encoder.encoding import model_pools, statement_vectors
from mirenc.encoder.options import (
    PARTS,
    PURPOSES,
    EmbedOptions,
    Level,
    OnError,
    Part,
    Purpose,
    check,
    check_jobs,
    usual_form,
)
from mirenc.encoder.outcome import Outcome, listed
from mirenc.encoder.pipeline import Pipeline
from mirenc.encoder.prepare import prepare
from mirenc.encoder.weights import ModelFiles, WhiteningMap
from mirenc.encoder.workers import Progress, run
from mirenc.llvm import Dialect, IRModule, ReadOptions
from mirenc.llvm.inputs.input import Input, IRInput, resolve_input
from mirenc.llvm.inputs.projects import expand_inputs, is_project
from mirenc.llvm.ir.read import module_from
from mirenc.llvm.passes.optimise import PASSES_OF, Form
from mirenc.model.runtime import Runtime

_Parts = Literal["function", "loop", "block", "instruction"]


class _Options(TypedDict, total=False):
    """What all forms of `Encoder.embed` take."""

    purpose: Purpose
    part: Part
    form: Form | None
    function: str | None
    whiten: bool
    on_error: OnError
    batch_size: int
    jobs: int | None
    progress: bool | Progress


class Encoder:
    """A loaded model, ready to embed, made by `mirenc.load`, which explains the arguments; ``cache`` may be None."""

    def __init__(
        self,
        files: ModelFiles,
        runtime: Runtime,
        *,
        cache: Cache | None = None,
        options: ReadOptions | None = None,
        hide_names: bool = False,
        whitening_map: WhiteningMap | None = None,
    ) -> None:
        self.files, self.runtime, self.cache = files, runtime, cache
        self.options = options or ReadOptions()
        self.hide_names, self.whitening_map = hide_names, whitening_map
        self._pipeline = Pipeline(files, runtime, cache, hide_names, whitening_map)

    def __repr__(self) -> str:
        facts = f"dimension={self.dimension}, runtime={self.runtime.name!r}, digest={self.digest[:12]!r}"
        return f"Encoder({self.name!r}, {facts})"

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.files.name

    @property
    def digest(self) -> str:
        """SHA-256 of the model, of a map of one's own, and of hidden names: vectors of one digest can be compared."""
        suffix = "" if self.whitening_map is None else f" {self.whitening_map.digest}"
        suffix += " names hidden" if self.hide_names else ""
        return hashlib.sha256(f"{self.files.digest}{suffix}".encode()).hexdigest() if suffix else self.files.digest

    def digest_in(self, form: Form) -> str:
        """Digest of vectors in a form: `digest` for ``plain``, else of that, the form, and whose passes make it."""
        if form == "plain":
            return self.digest
        return hashlib.sha256(f"{self.digest} {form} {PASSES_OF}".encode()).hexdigest()

    def form(self, purpose: Purpose = "search", level: Level | Iterable[Level] = "module") -> Form:
        """The form of vectors where no ``form`` is given: that of `options`, or the usual one (`usual_form`)."""
        levels = (level,) if isinstance(level, str) else tuple(level)
        return self.options.form or usual_form(purpose, levels)

    @property
    def features_digest(self) -> str:
        """Digest of all that features come from (`ModelFiles.features_digest`): heads and records are keyed by it."""
        if self.files.config.taught is None:
            return self.digest
        digest = self.files.features_digest
        return hashlib.sha256(f"{digest} names hidden".encode()).hexdigest() if self.hide_names else digest

    @property
    def tokenizer(self) -> Any:
        """The model's `IRTokenizer`."""
        return self.files.tokenizer

    @property
    def text_dimension(self) -> int:
        """Length of a statement's vector."""
        return int(self.files.config.text.hidden)

    @property
    def graph_dimension(self) -> int:
        """Length of what the graph encoder makes of a module or of a part of it."""
        return int(self.files.config.graph.width)

    @property
    def dimension(self) -> int:
        """Length of a vector for search: text and graph, and the lexical view where the model has it."""
        return self.width()

    def width(self, purpose: Purpose = "search", part: Part = "both") -> int:
        """Length of a vector: columns of `embed` with these arguments."""
        check("purpose", purpose, PURPOSES)
        check("part", part, PARTS)
        return sum(vector_blocks(self.files.config, purpose, part).values())

    def read(self, ir: IRInput | Input, *, dialect: Dialect | None = None) -> IRModule:
        """A module from a module, a path, IR text or bitcode bytes; which is which: `mirenc.llvm.inputs.input`.

        With a dialect sources are compiled to it, and IR of another is brought to it (`mirenc.llvm.bring`).
        """
        return module_from(ir, self.options if dialect is None else replace(self.options, dialect=dialect))

    @overload
    def embed(  # type: ignore[overload-overlap]  # a str is an iterable of str, too: the first one wins
        self, ir: IRInput, *, level: Level = "module", **options: Unpack[_Options]
    ) -> Float32: ...

    @overload
    def embed(
        self, ir: Iterable[IRInput], *, level: Literal["module"] = "module", **options: Unpack[_Options]
    ) -> Float32: ...

    @overload
    def embed(self, ir: Iterable[IRInput], *, level: _Parts, **options: Unpack[_Options]) -> list[Float32]: ...

    def embed(
        self,
        ir: IRInput | Iterable[IRInput],
        *,
        level: Level = "module",
        purpose: Purpose = "search",
        part: Part = "both",
        form: Form | None = None,
        function: str | None = None,
        whiten: bool = True,
        on_error: OnError = "raise",
        batch_size: int = 64,
        jobs: int | None = None,
        progress: bool | Progress = False,
    ) -> Float32 | list[Float32]:
        r"""Vectors of one input or many, float32.

        At level module (D,) for one input, (n, D) for many; at other levels (rows, D) for one, a list of such arrays
        for many. What stands for many files and is given by itself is one array: (n, D), or the rows of its files one
        below the other. Raises ConfigError: unknown level, purpose, part or on_error, no regular expression, an input
        that is none of those below; MirencError: an input cannot be read (`mirenc.read_ir`); NoFunctionBodyError: no
        input has a function body. An UnreadableIRWarning names the inputs, of many, that cannot be embedded.

        Parameters
        ----------
        ir : path, IR text, bitcode bytes, IRModule, or an iterable of these
            A folder and a ``compile_commands.json`` stand for the files in them, sorted (`mirenc.llvm.inputs.input`).
        level : str
            ``module``: one vector; ``function``, ``loop``, ``block``, ``instruction``: one for each of them.
        purpose : str
            ``search``: to compare programs by cosines. Means, whitened, and the lexical view where the model has it.
            ``features``: for heads. What a compiler taught the model (where one did), means, and logarithms of sizes.
        part : str
            ``both``: the whole vector; ``text`` or ``graph``: what comes from one encoder (`Embedding.part`).
        form : str, optional
            What LLVM's passes make of the IR first (`mirenc.llvm.passes.optimise`): ``plain`` (nothing), ``light``,
            ``O1``, ``O2``, ``O3``, ``Os`` or ``Oz``. Left out: ``O2`` for modules and functions that are searched, so
            that builds of one source at other levels have nearly equal vectors; ``plain`` otherwise. Functions that the
            passes delete come last. IR that the passes cannot take stays plain, which is logged.
        function : str, optional
            Regular expression: only functions in whose name, mangled or demangled, it is found.
        whiten : bool
            False gives text and graph as the encoders made them, all nearly parallel: a study's wish. A model without a
            whitening map gives them in any case, and so does ``purpose="features"``: heads scale columns by themselves.
        on_error : str
            Of many inputs: ``raise`` ends with the first that cannot be read; ``skip`` gives it NaN (level module) or
            no rows (other levels), so that results stay in step with inputs, and one warning names them all. An input
            without a function body, as a file of tables, is no error: it gets NaN or no rows in either case.
            `embed_stream` has each error itself.
        batch_size : int
            The most inputs that are encoded together.
        jobs : int, optional
            Processes, each of which embeds whole batches; 1 for this one alone. Left out: as many as there are usable
            cores, for work of more than half a second. Vectors are the same to the bit however many there are.
        progress : bool or callable
            True shows a bar on stderr; a callable gets (inputs done, inputs or None, what is being done).

        Examples
        --------
        >>> import mirenc
        >>> encoder = mirenc.load()
        >>> encoder.embed("define i32 @one() {\n  ret i32 1\n}").shape
        (1280,)
        """
        check("part", part, PARTS)
        check("on_error", on_error, ("raise", "skip"))
        single_argument = isinstance(ir, (str, bytes, os.PathLike, IRModule))
        single_input = single_argument and not is_project(ir)
        options = self._embed_options(level, purpose, form, function, whiten)
        check_jobs(jobs, batch_size)
        vectors: list[Float32] = []
        error: MirencError | None = None
        complaints: list[str] = []
        for outcome in self._stream(ir, options, batch_size, jobs, progress):
            if outcome.embedding is not None:
                vectors.append(outcome.embedding.part(part))
                continue
            error = outcome.error
            assert error is not None
            if single_input or (on_error == "raise" and not outcome.is_empty):
                raise error
            complaints.append(outcome.complaint(len(vectors)))
            vectors.append(np.full((int(level == "module"), self.width(purpose, part)), np.nan, dtype=np.float32))
        if complaints:
            if error is not None and on_error == "raise" and len(complaints) == len(vectors):
                raise error  # none has a function body
            problem = f"{len(complaints)} of {len(vectors)} inputs cannot be embedded: {listed(complaints)}"
            advice = "Leave them out" + (", or set on_error='raise' to stop at the first" if on_error == "skip" else "")
            warnings.warn(f"{problem}. {advice}", UnreadableIRWarning, stacklevel=2)
        if single_input:
            return vectors[0][0] if level == "module" else vectors[0]
        if level != "module" and not single_argument:
            return vectors
        return np.concatenate(vectors) if vectors else np.zeros((0, self.width(purpose, part)), dtype=np.float32)

    def embed_parts(
        self,
        ir: IRInput | Input,
        *,
        level: Level | tuple[Level, ...] = "module",
        purpose: Purpose = "search",
        form: Form | None = None,
        function: str | None = None,
        whiten: bool = True,
    ) -> Embedding:
        """All vectors of one input, with what its rows are and counts; arguments as of `embed`.

        Several levels at once, of ``function``, ``loop`` and ``block``, cost one pass over the input: rows of the first
        stand above those of the second.
        """
        options = self._embed_options(level, purpose, form, function, whiten)
        embedding = next(self._stream([resolve_input(ir)], options, jobs=1)).embedded()
        assert embedding is not None
        return embedding

    def embed_stream(
        self,
        inputs: IRInput | Iterable[IRInput | Input],
        *,
        level: Level | tuple[Level, ...] = "module",
        purpose: Purpose = "search",
        form: Form | None = None,
        function: str | None = None,
        whiten: bool = True,
        batch_size: int = 64,
        jobs: int | None = None,
        progress: bool | Progress = False,
    ) -> Generator[Outcome, None, None]:
        """Embeddings of any number of inputs, one after another as they are done, in the inputs' order.

        What is in memory does not grow with the number of inputs. An input that cannot be embedded is an `Outcome` like
        any other, with its error. Arguments are those of `embed`; several levels as in `embed_parts`.
        """
        options = self._embed_options(level, purpose, form, function, whiten)
        check_jobs(jobs, batch_size)
        return self._stream(inputs, options, batch_size, jobs, progress)

    def _embed_options(
        self, level: Level | tuple[Level, ...], purpose: Purpose, form: Form | None, function: str | None, whiten: bool
    ) -> EmbedOptions:
        levels = (level,) if isinstance(level, str) else tuple(level)
        read = replace(self.options, form=form or self.form(purpose, levels))
        return EmbedOptions(levels, purpose, function, whiten, read)

    def _stream(
        self,
        inputs: IRInput | Iterable[IRInput | Input],
        options: EmbedOptions,
        batch_size: int = 1,
        jobs: int | None = None,
        progress: bool | Progress = False,
    ) -> Generator[Outcome, None, None]:
        """Expand the inputs once, put them into batches once, and run these through the pipeline."""
        sources = [inputs] if isinstance(inputs, (str, bytes, os.PathLike, IRModule)) else inputs
        expanded: Iterable[Input] = expand_inputs(sources, options=self.options)
        expanded = list(expanded) if isinstance(sources, Sized) else expanded
        total = len(expanded) if isinstance(expanded, list) else None
        with progress_bar("embedding", total, show=progress is True) as advance:

            def show(done: int, total: int | None, note: str) -> None:
                advance(0, completed=done, note=note)

            report = progress if callable(progress) else show
            outcomes = run(self._pipeline, input_batches(expanded, batch_size), options, jobs, total, report)
            with closing(outcomes):  # however the caller ends, no process is left behind
                yield from outcomes

    def similarity(self, vectors: ArrayLike, others: ArrayLike | None = None) -> Float32:
        """Cosine of each vector with each other, or each of ``others``; `mirenc.compare`. (n, D), (m, D) -> (n, m)."""
        return compare(vectors, others)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Copy the model, without a map of one's own, to a folder for `mirenc.load`. ConfigError: it is not empty."""
        target = Path(folder)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ConfigError(f"{target} is not empty. Name a new folder")
        return Path(shutil.copytree(self.files.folder, target, dirs_exist_ok=True))

    def with_map(self, whitening_map: WhiteningMap) -> Self:
        """The encoder with that map instead of the model's own; model, runtime and cache are shared.

        Raises ModelError: it takes another model's vectors, or was fitted with names hidden where here they are not.
        """
        if whitening_map.model_digest != self.files.digest:
            map_model = f"{whitening_map.model} (digest {whitening_map.model_digest[:12]})"
            problem = f"the map takes vectors of {map_model}, not of {self.name} (digest {self.files.digest[:12]})"
            raise ModelError(f"{problem}. Fit one for this model: fit_map(encoder, FOLDER)")
        hidden = whitening_map.facts.get("hide_names", False)
        if hidden != self.hide_names:
            problem = f"the map was fitted with hide_names={hidden}, the encoder has hide_names={self.hide_names}"
            raise ModelError(f"{problem}. Load the model with hide_names={hidden} (--hide-names), or fit another map")
        shared_options: Any = {"cache": self.cache, "options": self.options, "hide_names": self.hide_names}
        return type(self)(self.files, self.runtime, whitening_map=whitening_map, **shared_options)

    def match(self, text_of: IRInput, graph_of: IRInput) -> float:
        """Probability, by the matching head, that the text of one input and the graph of another come from one IR."""
        # The matching head was trained on the paper's plain means.
        text, graph = (
            prepare(self.read(ir), self.tokenizer, ("module",), "count", spelling=self._pipeline.spelling)
            for ir in (text_of, graph_of)
        )
        pools = model_pools(text.pools, self.runtime.config)
        (vectors,) = statement_vectors(self.runtime, self.cache, [text.sample], [pools], remembered={})
        first = self.runtime.forward(text.sample, text.pools, "text", text_vectors=vectors).text
        second = self.runtime.forward(graph.sample, graph.pools, "graph").graph
        return float(self.runtime.match(first, second)[0])
