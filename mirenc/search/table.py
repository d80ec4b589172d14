"""`VectorTable`: vectors with names, and how they were made. Only vectors of the same model can be compared."""

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from mirenc import __version__
from mirenc.base.arrays import Float32
from mirenc.base.errors import EmptyInputs, MirencError, ModelError, SearchModelWarning, UnreadableIRWarning
from mirenc.base.shown import html_table
from mirenc.encoder import Embedding, Encoder, Level, Part, Purpose
from mirenc.encoder.options import usual_form
from mirenc.encoder.weights import DEFAULT_MODEL, search_model
from mirenc.encoder.workers import Progress
from mirenc.llvm.inputs.input import Input
from mirenc.llvm.inputs.projects import expand_inputs
from mirenc.llvm.passes.optimise import Form

# Name of each column of labels, and of the attribute of `mirenc.llvm.Region` that it holds.
LABELS = {name: name for name in ("name", "function", "symbol", "header", "depth")}
LABELS |= {"source_file": "file", "source_line": "line", "built": "built"}
NUMBERS = ("depth", "source_line")
SOURCE = ("file", "file_hash", "content_hash", "own_form")
COUNTS = (
    *("functions", "defined", "blocks", "instructions", "statements", "distinct_statements", "nodes", "edges"),
    "call_edges_left_out",
)
_SHOWN = 10  # rows in a notebook
_DEFAULTS: dict[str, Any] = {"purpose": "search", "whiten": True, "hide_names": False, "map": "", "form": "plain"}


@dataclass(frozen=True)
class Maker:
    """The model and options that all vectors of a table were made with.

    ``model_digest`` is `Encoder.digest_in` of the ``form``. ``level``, ``part``, ``purpose``, ``whiten`` and ``form``
    are as in `mirenc.Encoder.embed`, ``hide_names`` as in `mirenc.load`. ``map`` is the name of the map that whitened
    them; "" for the model's own.
    """

    model: str
    model_digest: str
    level: str
    part: str = "both"
    purpose: str = "search"
    whiten: bool = True
    hide_names: bool = False
    map: str = ""
    form: str = "plain"

    @classmethod
    def of(
        cls,
        encoder: Encoder,
        level: Level,
        part: Part = "both",
        purpose: Purpose = "search",
        whiten: bool = True,
        form: Form | None = None,
    ) -> Self:
        """The maker of an encoder's vectors with these options, in its usual form by default."""
        form = form or encoder.form(purpose, level)
        name = "" if encoder.whitening_map is None else encoder.whitening_map.name
        digest = encoder.digest_in(form)
        return cls(encoder.name, digest, level, part, purpose, whiten, encoder.hide_names, name, form)

    @classmethod
    def from_json(cls, header: Mapping[str, Any]) -> Self:
        """Read from the header of a file. Raises KeyError: it does not say which model."""
        strings: dict[str, Any] = {key: str(header[key]) for key in ("model", "model_digest", "level", "part")}
        return cls(**strings, **{key: type(value)(header.get(key, value)) for key, value in _DEFAULTS.items()})

    @property
    def usual(self) -> bool:
        """Whether these are the default vectors of search, for which cosines are calibrated."""
        return self.whiten and (self.part, self.purpose) == ("both", "search")

    def to_json(self) -> dict[str, Any]:
        """The header of a file, without options that have their defaults."""
        header = {"model": self.model, "model_digest": self.model_digest, "mirenc": __version__} | asdict(self)
        return {key: value for key, value in header.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}


@dataclass(eq=False)
class VectorTable:
    """Vectors (n, D) float32 of the modules, functions or other parts of many files, one a row.

    ``labels`` are columns of n: ``name``, ``function``, ``symbol``, ``header``, ``depth``, ``source_file``,
    ``source_line`` and ``built``. ``sources`` holds for each file ``file``, ``file_hash``, ``content_hash`` and
    ``counts``, as in `mirenc.Embedding`, and ``own_form``, which is ``plain`` where the form of the table failed on it.
    ``source_row`` (n,) is the row of ``sources`` of each vector.
    """

    maker: Maker
    vectors: Float32
    labels: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in LABELS})
    sources: list[dict[str, Any]] = field(default_factory=list)
    source_row: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, maker: Maker, embeddings: Iterable[tuple[str, Embedding]], width: int = 0) -> Self:
        """The table of (file, embedding) pairs; ``width`` is the length of vectors if there are no pairs."""
        table = cls(maker, np.zeros((0, width), np.float32))
        vectors = []
        for file, embedding in embeddings:
            vectors.append(embedding.part(maker.part))
            table.source_row += [len(table.sources)] * len(embedding.regions)
            facts = {name: getattr(embedding, name) for name in ("file_hash", "content_hash", "counts")}
            table.sources.append({"file": file, "own_form": embedding.form, **facts})
            for name, attribute in LABELS.items():
                table.labels[name] += [getattr(region, attribute) for region in embedding.regions]
        if vectors:
            table.vectors = np.concatenate(vectors)
        return table

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        maker = f"model={self.maker.model!r}, level={self.maker.level!r}, form={self.maker.form!r}"
        return f"VectorTable(rows={len(self)}, files={len(self.sources)}, {maker})"

    def _repr_html_(self) -> str:
        rows = [(self.files[row], self.names[row], self.labels["symbol"][row]) for row in range(min(len(self), _SHOWN))]
        return html_table([("file", "name", "symbol"), *rows], repr(self))

    @cached_property
    def files(self) -> list[str]:
        """File of each row."""
        return [self.sources[row]["file"] for row in self.source_row]

    @property
    def names(self) -> list[str]:
        """Name of each row in its file; at level module the file itself."""
        return self.labels["name"]

    @property
    def level(self) -> str:
        return self.maker.level

    @property
    def contradiction(self) -> str:
        """Why this cannot be a table, as one read from a damaged file; "" if nothing is wrong."""
        if self.vectors.ndim != 2 or not len(self) == len(self.source_row) == len(self.names):
            return f"{len(self.source_row)} names for vectors of shape {self.vectors.shape}"
        if self.vectors.dtype != np.float32:
            return f"vectors of {self.vectors.dtype}, not float32"
        if any(len(column) != len(self) for column in self.labels.values()):
            return f"columns of other lengths than its {len(self)} vectors"
        if not all(isinstance(row, int) and 0 <= row < len(self.sources) for row in self.source_row):
            return f"rows of other files than its {len(self.sources)}"
        if not all(isinstance(source, dict) and isinstance(source.get("file"), str) for source in self.sources):
            return "files without a name"
        return ""

    def check_form(self, form: Form | None, where: str) -> None:
        """Raise ModelError if the table is in another form than ``form``, or, without one, plain where that is unusual.

        ``where`` is the file, for messages.
        """
        maker, usual = self.maker, usual_form(self.maker.purpose, [self.maker.level])
        if maker.form == (form or usual) or (form is None and maker.form != "plain"):
            return
        command = f"mirenc embed FOLDER --level {maker.level} -o {where}"
        if form is not None:
            problem = f"{where} holds vectors of the form {maker.form}, not {form}"
            raise ModelError(f"{problem}. Embed the files again: {command} --form {form}")
        raise ModelError(
            f"{where} holds vectors of unchanged IR (form plain). With these, code of builds at other levels is found "
            f"less often than with the form {usual}, which is now the default. Embed the files again: {command}. "
            "Or search these vectors: --form plain"
        )

    def check_model(self, encoder: Encoder, where: str) -> None:
        """Raise ModelError if vectors of ``encoder`` in the form of the table cannot be compared with its vectors."""
        maker, name = self.maker, encoder.name
        digest = encoder.digest_in(maker.form)  # type: ignore[arg-type]  # of any other form the digest differs
        if digest != maker.model_digest:
            map_note = f" under the map {maker.map!r}, which may have been fitted again since" if maker.map else ""
            options = (f" --map {maker.map}" if maker.map else "") + (" --hide-names" if maker.hide_names else "")
            options += f" --form {maker.form}" if maker.form != usual_form(maker.purpose, [maker.level]) else ""
            raise ModelError(
                f"{where} holds vectors of {maker.model} (digest {maker.model_digest[:12]}){map_note}. They cannot be "
                f"compared with vectors of {name} (digest {digest[:12]}). Give the model that made them (--model), or "
                f"embed the files again: mirenc embed FOLDER --model {name}{options} -o {where}"
            )


def index(
    encoder: Encoder,
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str] | Input],
    *,
    level: Level = "module",
    purpose: Purpose = "search",
    form: Form | None = None,
    failed: Callable[[MirencError], None] | None = None,
    progress: bool | Progress = False,
) -> VectorTable:
    """Embed files and folders into a table to search in.

    ``inputs`` are paths of files, folders and ``compile_commands.json``. ``level``, ``purpose``, ``form`` and
    ``progress`` are as in `mirenc.Encoder.embed`. ``failed`` is called with the error of each file that is skipped.
    Without it, files without a function body are skipped, with one UnreadableIRWarning for all, and the first other
    error is raised. Raises MirencError: a file cannot be read, no file has a function body, or the level is unknown.

    A SearchModelWarning is issued where ``encoder`` is the default model, and `mirenc.encoder.weights.search_model`
    names a better one for the level.
    """
    if encoder.name == DEFAULT_MODEL != (best := search_model(level, purpose)):
        cause = f"{best} was trained to find functions that another compiler or level compiled, and finds more of them"
        cause += f" than {encoder.name}"
        warnings.warn(f"{cause}. Type: mirenc.load({best!r})", SearchModelWarning, stacklevel=2)
    sources = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    paths = (path if isinstance(path, Input) else Path(path) for path in sources)
    files = list(expand_inputs(paths, options=encoder.options))
    empty = EmptyInputs(len(files))
    with closing(encoder.embed_stream(files, level=level, purpose=purpose, form=form, progress=progress)) as outcomes:
        embedded = ((outcome.name, outcome.embedded(failed or empty.add)) for outcome in outcomes)
        embeddings = ((name, embedding) for name, embedding in embedded if embedding is not None)
        table = VectorTable.of(Maker.of(encoder, level, purpose=purpose, form=form), embeddings, encoder.width(purpose))
    if empty.empty:
        warnings.warn(empty.line, UnreadableIRWarning, stacklevel=2)
    return table
