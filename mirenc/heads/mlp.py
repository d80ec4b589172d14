"""`MLPHead`: the paper's downstream head, three linear layers over embedding and context features, as a classifier.

scikit-learn's own MLP does the training: a head sees hundreds of rows, so a training loop of torch would gain nothing
and cost its import. What stays after training are arrays. Prediction is this module's own and needs no object of
scikit-learn's, so heads are saved without pickle and give the same answers under any later release of it.
"""

from __future__ import annotations

import math
import warnings
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from threadpoolctl import threadpool_limits

from mirenc.errors import ConfigError, HeadError, MissingExtraError
from mirenc.heads.state import Arrays, labels_of_meta, meta_of_labels, register

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(
        f"heads need scikit-learn 1.7 or later ({error}). Type: pip install 'mirenc[tasks]'"
    ) from None

__all__ = ["MLPHead"]

Float64 = NDArray[np.float64]
_HELD_OUT = 0.1  # share of the rows that early stopping watches
_PATIENCE = 10  # epochs without improvement


@register("mlp")
class MLPHead(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """A classifier of three linear layers with ReLU between them, on standardised columns.

    Parameters
    ----------
    hidden : tuple of int
        Widths between the layers; two of them make three layers.
    alpha : float
        Strength of the L2 penalty.
    learning_rate : float
        Adam's.
    epochs : int
        Passes over the rows. Training takes them all, unless ``early_stopping``.
    batch_size : int
        Rows a step; all of them where there are fewer.
    early_stopping : bool
        Hold out a tenth of the rows at random and stop when their accuracy has not grown for 10 epochs. Rows of one
        group (one program on several inputs) may then be on both sides: off by default.
    random_state : int, RandomState or None
        First weights and order of the rows.

    Attributes
    ----------
    classes_ : (K,) array
        Labels, sorted.
    mean_, scale_ : (D,) float64
        What columns are standardised with.
    coefs_ : list of (rows, columns) float64
        Weights, a matrix a layer. Empty where all rows had one label: it is then always the answer.
    intercepts_ : list of (columns,) float64
    n_iter_ : int
        Epochs taken.
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (128, 64),
        *,
        alpha: float = 1e-3,
        learning_rate: float = 1e-3,
        epochs: int = 200,
        batch_size: int = 64,
        early_stopping: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.hidden = hidden
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.early_stopping = early_stopping
        self.random_state = random_state

    # -- training --------------------------------------------------------------------------------------
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows and labels.

        Parameters
        ----------
        X : (n, D)
            Embedding beside context features; finite.
        y : (n,)
            Labels: bool, int, str, or float without a fraction.
        sample_weight : (n,), optional
            How much each row counts, not negative. A row of weight 0 is as good as left out.

        Raises
        ------
        ConfigError
            A parameter out of range.
        HeadError
            Weights that cannot be used, or too few rows for early stopping.
        ValueError
            NaN or infinity in ``X``, labels with a fraction, wrong shapes.
        """
        self._check_parameters()
        features, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        weight = None
        if sample_weight is not None:
            weight = _checked_weights(sample_weight, len(labels))
            # A batch of nothing but weights of 0 has no mean; and classes without a row cannot be learned.
            counted = weight > 0
            features, labels, weight = features[counted], labels[counted], weight[counted]
        self.classes_, code, rows = np.unique(labels, return_inverse=True, return_counts=True)
        scaler = StandardScaler().fit(features, sample_weight=weight)
        self.mean_, self.scale_ = scaler.mean_, scaler.scale_
        self.coefs_: list[Float64] = []
        self.intercepts_: list[Float64] = []
        self.n_iter_ = 1
        if len(self.classes_) > 1:  # folds of small tasks may hold one label only
            if self.early_stopping:
                _check_enough_rows(rows)
            self._train((features - self.mean_) / self.scale_, code, weight)
        return self

    def _train(self, X: Float64, code: NDArray[np.intp], weight: Float64 | None) -> None:
        network = MLPClassifier(
            hidden_layer_sizes=tuple(self.hidden),
            alpha=self.alpha,
            learning_rate_init=self.learning_rate,
            max_iter=self.epochs,
            batch_size=min(self.batch_size, len(X)),
            early_stopping=self.early_stopping,
            validation_fraction=_HELD_OUT,
            n_iter_no_change=_PATIENCE if self.early_stopping else self.epochs,
            random_state=self.random_state,
        )
        # Threads of BLAS wait for each other longer than such small products take.
        with warnings.catch_warnings(), threadpool_limits(1, "blas"):
            # The number of epochs is the user's choice, searched like any other: taking all of them is no failure.
            warnings.simplefilter("ignore", ConvergenceWarning)
            # scikit-learn answers Ctrl-C with this warning and a half-trained network.
            warnings.filterwarnings("error", "Training interrupted by user", UserWarning)
            try:
                network.fit(X, code, sample_weight=weight)
            except UserWarning:
                raise KeyboardInterrupt from None
        self.coefs_ = list(network.coefs_)
        self.intercepts_ = list(network.intercepts_)
        self.n_iter_ = network.n_iter_

    def _check_parameters(self) -> None:
        if not isinstance(self.hidden, (tuple, list)) or not all(_is_count(width) for width in self.hidden):
            raise ConfigError(f"hidden is {self.hidden!r}; allowed: a tuple of widths, such as (128, 64)")
        for name in ("epochs", "batch_size"):
            if not _is_count(getattr(self, name)):
                raise ConfigError(f"{name} is {getattr(self, name)!r}; allowed: a whole number from 1 up")
        for name, least in (("alpha", "from 0 up"), ("learning_rate", "above 0")):
            value = getattr(self, name)
            if not isinstance(value, Real) or not math.isfinite(value) or value < 0 or (name != "alpha" and value == 0):
                raise ConfigError(f"{name} is {value!r}; allowed: a number {least}")

    # -- prediction ------------------------------------------------------------------------------------
    def predict_proba(self, X: ArrayLike) -> Float64:
        """(n, K) float64 probability of each of ``classes_``."""
        check_is_fitted(self)
        rows: Float64 = validate_data(self, X, dtype=np.float64, reset=False)
        if not self.coefs_:
            return np.ones((len(rows), 1))
        out = (rows - self.mean_) / self.scale_
        last = len(self.coefs_) - 1
        for layer, (weights, bias) in enumerate(zip(self.coefs_, self.intercepts_, strict=True)):
            out = out @ weights + bias  # (n, columns of this layer)
            if layer < last:
                np.maximum(out, 0, out=out)
        if len(self.classes_) == 2:  # one output, the second class's
            second = expit(out)
            return np.hstack([1 - second, second])
        result: Float64 = softmax(out, axis=1)
        return result

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """(n,) label of the highest probability; the first of ``classes_`` where two are equal."""
        chosen = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    # -- saving ----------------------------------------------------------------------------------------
    def _get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        check_is_fitted(self)
        if isinstance(self.random_state, np.random.RandomState):
            raise HeadError(
                "random_state is a RandomState, which a saved head cannot hold. Type: head.set_params(random_state=0)"
            )
        meta: dict[str, Any] = {
            "parameters": self.get_params(deep=False),
            "classes": meta_of_labels(self.classes_),
            "layers": len(self.coefs_),
            "n_iter": self.n_iter_,
        }
        if hasattr(self, "feature_names_in_"):
            meta["feature_names"] = self.feature_names_in_.tolist()
        arrays = {"mean": self.mean_, "scale": self.scale_}
        for layer, (weights, bias) in enumerate(zip(self.coefs_, self.intercepts_, strict=True)):
            arrays |= {f"weights.{layer}": weights, f"bias.{layer}": bias}
        return meta, arrays

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self:
        parameters = dict(meta["parameters"])
        head = cls(**parameters | {"hidden": tuple(parameters["hidden"])})
        head._check_parameters()
        head.classes_ = labels_of_meta(meta["classes"])
        head.mean_, head.scale_ = arrays["mean"], arrays["scale"]
        head.coefs_ = [arrays[f"weights.{layer}"] for layer in range(meta["layers"])]
        head.intercepts_ = [arrays[f"bias.{layer}"] for layer in range(meta["layers"])]
        head.n_iter_ = meta["n_iter"]
        head.n_features_in_ = len(head.mean_)
        if "feature_names" in meta:
            head.feature_names_in_ = np.array(meta["feature_names"], dtype=object)
        _check_shapes(head)
        return head


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and value is not True and int(value) >= 1


def _checked_weights(sample_weight: ArrayLike, rows: int) -> Float64:
    """(n,) weights, or an error that says what is wrong with them."""
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (rows,):
        raise HeadError(f"sample_weight has shape {weight.shape}; allowed: ({rows},), one for each row")
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise HeadError("sample_weight has negative or non-finite values, or zeros only; allowed: numbers from 0 up")
    return weight


def _check_enough_rows(rows: NDArray[np.intp]) -> None:
    """Refuse what cannot be split for early stopping. ``rows`` : (K,) rows of each class."""
    if math.ceil(_HELD_OUT * rows.sum()) < 2 or rows.min() < 2:
        raise HeadError(
            f"early_stopping holds out a tenth of the rows and needs 11 rows and 2 of each class; found {rows.sum()} "
            f"rows, and {rows.min()} of the rarest class. Use early_stopping=False"
        )


def _check_shapes(head: MLPHead) -> None:
    """Refuse a stored head whose parts do not belong together."""
    classes = len(head.classes_)
    outputs = [] if classes == 1 else [1 if classes == 2 else classes]
    widths = [len(head.mean_), *head.hidden, *outputs] if outputs else []
    wanted = list(pairwise(widths))
    found = [array.shape for array in head.coefs_]
    biases = [array.shape for array in head.intercepts_]
    if head.scale_.shape != head.mean_.shape or found != wanted or biases != [(width,) for width in widths[1:]]:
        raise HeadError(
            f"a head of {len(head.mean_)} features, hidden {head.hidden} and {classes} classes needs layers {wanted}; "
            f"found {found} with biases {biases}. Save the head again, or train it anew"
        )
    if not (head.scale_ > 0).all():
        raise HeadError("a head divides columns by 0 or less. Save the head again, or train it anew")
