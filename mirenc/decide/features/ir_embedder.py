"""`IREmbedder`: a scikit-learn transformer from IR to features, so that a pipeline can start with files.

    make_pipeline(IREmbedder(), MLPHead()).fit(["a.ll", "b.bc"], ["CPU", "GPU"])
    make_pipeline(IREmbedder(level="function"), Ridge()).fit([("a.ll", "f"), ("a.ll", "g")], [1.5, 2.0])

The model is loaded when it is first needed and shared by all embedders of the process; clones hold no weights.
"""

import functools
import os
import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from mirenc.base.arrays import Float32
from mirenc.base.errors import ConfigError, MirencError, UnreadableIRWarning
from mirenc.decide.features.find_function import find_function
from mirenc.encoder import PARTS, PURPOSES, Encoder, OnError, Part, Purpose, load
from mirenc.encoder.embedding import vector_blocks
from mirenc.encoder.options import check
from mirenc.encoder.outcome import Outcome, listed
from mirenc.encoder.weights import find_model
from mirenc.llvm import IRModule
from mirenc.llvm.inputs.input import IRInput, resolve_input

Inputs = Iterable[IRInput] | Iterable[tuple[IRInput, str]] | NDArray[Any]
_LEVELS = ("module", "function")


@functools.lru_cache(maxsize=4)
def _shared_encoder(home: Path, modified_ns: int, device: str, cache: bool | str) -> Encoder:
    """The model in a folder; another ``modified_ns``, when it was written, makes it load the folder again."""
    return load(home, device=device, cache=cache)


@dataclass(eq=False, repr=False)
class IREmbedder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Embed modules or functions, a row for each input; `fit` only sets ``n_features_out_``, the number of columns.

    ``level``: ``module`` takes files, ``function`` pairs of a file and a function's name or symbol.
    ``on_error``: ``raise`` ends with the first input that cannot be read, has no function body or not that function,
    because an estimator would learn from its row; ``skip`` makes its row NaN, and one warning names all such inputs.
    Other parameters are those of `mirenc.load` and `Encoder.embed`.
    """

    model: str | os.PathLike[str] | None = None
    _: KW_ONLY
    level: Literal["module", "function"] = "module"
    purpose: Purpose = "features"
    part: Part = "both"
    whiten: bool = True
    cache: bool | str | os.PathLike[str] = True
    device: str = "cpu"
    on_error: OnError = "raise"

    def fit(self, X: Inputs, y: Any = None) -> Self:
        """Check the parameters (ConfigError, ModelError) and note the number of columns; no input is read."""
        self.n_features_out_ = len(self._columns(self._encoder()))
        return self

    def transform(self, X: Inputs) -> Float32:
        """Vectors of n paths, IR texts, bitcode bytes or IRModules: (n, D) float32.

        ``X`` is a list, or an array or table of shape (n,) or (n, 1); at level ``function`` a list of pairs, or a table
        of shape (n, 2): input, function. Which strings are text: `Encoder.read`. Raises ConfigError, ModelError: a
        parameter, the shape of ``X`` or the type of one of its items; no such model, or a damaged one; MirencError with
        ``on_error="raise"``: an unreadable input, or one without a function body; ``skip``: UnreadableIRWarning.
        """
        encoder = self._encoder()
        items = _items(X, 1 if self.level == "module" else 2)
        # A program that was run on several inputs has several rows, but is embedded once.
        rows: dict[Any, list[int]] = {}
        for row, (item, *_) in enumerate(items):
            rows.setdefault(id(item) if isinstance(item, IRModule) else item, []).append(row)
        vectors = np.full((len(items), len(self._columns(encoder))), np.nan, dtype=np.float32)
        complaints: list[str] = []
        inputs = [resolve_input(items[row][0]) for row, *_ in rows.values()]
        stream = encoder.embed_stream(inputs, level=self.level, purpose=self.purpose, whiten=self.whiten)
        for input_rows, outcome in zip(rows.values(), stream, strict=True):
            for row in input_rows:
                try:
                    vectors[row] = self._vector(outcome, *items[row][1:])
                except MirencError as error:
                    if self.on_error == "raise":
                        error.add_note(f"IREmbedder: input {row} of {len(items)}")
                        raise
                    complaints.append(Outcome(outcome.name, None, error).complaint(row))
                    if outcome.error is not None:
                        break  # of all rows of a file that cannot be read one is named
        if complaints:
            problem = f"{len(complaints)} inputs cannot be embedded, their rows are NaN: {listed(complaints)}"
            advice = "Leave them out, or set on_error='raise' to stop at the first"
            # The level of the caller, above scikit-learn's wrapper.
            warnings.warn(f"{problem}. {advice}", UnreadableIRWarning, stacklevel=3)
        return vectors

    def _vector(self, outcome: Outcome, function: str = "") -> Float32:
        """The vector of one function of an input, or of the whole module without a name. (D,)."""
        embedding = outcome.embedded()
        assert embedding is not None
        row = find_function(embedding.regions, function, outcome.name) if function else 0
        return embedding.part(self.part)[row]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """(D,) object array of names: text_0, ..., graph_0, ..., log_statements, ...; ``input_features`` is unused."""
        return np.array(self._columns(self._encoder()), dtype=object)

    def _columns(self, encoder: Encoder) -> list[str]:
        blocks = vector_blocks(encoder.files.config, self.purpose, self.part)
        columns = ((name, width, column) for name, width in blocks.items() for column in range(width))
        return [f"log_{name}" if width == 1 else f"{name}_{column}" for name, width, column in columns]

    def _encoder(self) -> Encoder:
        allowed = {"level": _LEVELS, "purpose": PURPOSES, "part": PARTS, "on_error": get_args(OnError)}
        for name, values in allowed.items():
            check(name, getattr(self, name), values)
        home = find_model(self.model).resolve()
        modified_ns = max((file.stat().st_mtime_ns for file in home.iterdir()), default=0)
        cache = self.cache if isinstance(self.cache, bool) else os.fspath(self.cache)
        return _shared_encoder(home, modified_ns, str(self.device), cache)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True  # inputs are files and texts, not numbers
        tags.input_tags.one_d_array = self.level == "module"
        tags.input_tags.two_d_array = self.level == "function"
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _items(inputs: Inputs, columns: int) -> list[list[Any]]:
    """Rows of an input each, with a function's name where there are two ``columns``. Raises ConfigError."""
    if isinstance(inputs, (str, bytes, os.PathLike, IRModule)):
        raise ConfigError(f"a single {type(inputs).__name__} is not a list of inputs. Type: transform([x])")
    pair = "a pair of input and function"
    if hasattr(inputs, "__array__"):
        array = np.asarray(inputs, dtype=object)
        if array.ndim == 1 and columns == 1:
            array = array[:, None]
        if array.ndim != 2 or array.shape[1] != columns:
            allowed = "(n,) or (n, 1), a path or text in each row" if columns == 1 else f"(n, 2), {pair} in each row"
            raise ConfigError(f"inputs have shape {array.shape}; allowed: {allowed}")
        items = array.tolist()
    else:
        items = [[*item] if isinstance(item, (list, tuple)) and len(item) == columns else [item] for item in inputs]
    for row, item in enumerate(items):
        if columns == 2 and (len(item) != 2 or not isinstance(item[1], str) or not item[1]):
            problem = f"is {item[0]!r:.60}" if len(item) == 1 else f"has the function {item[1]!r}"
            raise ConfigError(f"input {row} {problem}; allowed at level function: {pair}, as in ('a.ll', 'main')")
        if not isinstance(item[0], (str, bytes, os.PathLike, IRModule)):
            allowed = "a path, IR text, bitcode bytes or an IRModule"
            raise ConfigError(f"input {row} is of type {type(item[0]).__name__}; allowed: {allowed}")
    return items
