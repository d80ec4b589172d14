"""The paper's downstream head: `MLPHead`, three linear layers as a classifier, and `LabelHead`, which chooses by it."""

import math
import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from threadpoolctl import threadpool_limits

from mirenc.base.arrays import Float64
from mirenc.base.errors import ConfigError
from mirenc.decide.estimators.base import Head, is_count
from mirenc.decide.estimators.chooser import Chooser
from mirenc.decide.metrics import oracle_choice


@dataclass(eq=False, repr=False)
class MLPHead(ClassifierMixin, Head, kind="mlp"):  # type: ignore[misc]
    """A classifier of three linear layers with ReLU between them, on standardised columns.

    ``hidden``: widths between the layers; two of them make three layers. ``alpha``: strength of the L2 penalty.
    ``learning_rate``: Adam's. ``epochs``: passes over the rows; training never stops early. ``batch_size``: rows a
    step. ``random_state``: of the initial weights and of the order of the rows.

    ``classes_`` (K,) are the labels, sorted; ``mean_`` and ``scale_`` (D,) standardise columns; ``coefs_`` (rows,
    columns) and ``intercepts_`` (columns,) are of each layer, empty where all rows had one label, which is then always
    the answer; ``n_iter_`` is the number of epochs taken.
    """

    hidden: tuple[int, ...] = (128, 64)
    _: KW_ONLY
    alpha: float = 1e-3
    learning_rate: float = 1e-3
    epochs: int = 200
    batch_size: int = 64
    random_state: int | np.random.RandomState | None = None
    _POSITIVE = ("learning_rate",)
    _COUNTS = ("epochs", "batch_size")

    def _check_parameters(self, columns: int) -> None:
        widths = self.hidden if isinstance(self.hidden, (tuple, list)) else (None,)
        if not all(is_count(width) for width in widths):
            raise ConfigError(f"hidden is {self.hidden!r}; allowed: a tuple of widths, such as (128, 64)")
        alpha: Any = self.alpha
        if not isinstance(alpha, Real) or not 0 <= float(alpha) < math.inf:
            raise ConfigError(f"alpha is {alpha!r}; allowed: a number from 0 up")
        super()._check_parameters(columns)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows (n, D), finite, and labels (n,): bool, int, str, or float without a fraction.

        Raises ConfigError: a parameter out of range; ValueError: NaN or infinity in ``X``, wrong labels or shapes.
        """
        features, labels = self._checked_training(X, y)
        check_classification_targets(labels)
        self.classes_, class_index = np.unique(labels, return_inverse=True)
        scaler = StandardScaler().fit(features)
        self.mean_, self.scale_ = scaler.mean_, scaler.scale_
        self.coefs_: list[Float64] = []
        self.intercepts_: list[Float64] = []
        self.n_iter_ = 1
        if len(self.classes_) > 1:  # folds of small tasks may hold one label only
            self._train((features - self.mean_) / self.scale_, class_index)
        return self

    def _train(self, X: Float64, class_index: NDArray[np.intp]) -> None:
        network = MLPClassifier(
            hidden_layer_sizes=tuple(self.hidden),
            alpha=self.alpha,
            learning_rate_init=self.learning_rate,
            max_iter=self.epochs,
            batch_size=min(self.batch_size, len(X)),
            n_iter_no_change=self.epochs,
            random_state=self.random_state,
        )
        # For such small products, threads of BLAS wait for each other longer than they compute.
        with warnings.catch_warnings(), threadpool_limits(1, "blas"):
            # The number of epochs is a parameter like any other: taking all of them is no failure.
            warnings.simplefilter("ignore", ConvergenceWarning)
            # On Ctrl-C scikit-learn warns and returns a half-trained network.
            warnings.filterwarnings("error", "Training interrupted by user", UserWarning)
            try:
                network.fit(X, class_index)
            except UserWarning:
                raise KeyboardInterrupt from None
        self.coefs_, self.intercepts_, self.n_iter_ = network.coefs_, network.intercepts_, network.n_iter_

    def predict_proba(self, X: ArrayLike) -> Float64:
        """(n, K) float64 probability of each of ``classes_``."""
        rows = self._checked_rows(X)
        if not self.coefs_:
            return np.ones((len(rows), 1))
        values = (rows - self.mean_) / self.scale_
        for layer, (weights, bias) in enumerate(zip(self.coefs_, self.intercepts_, strict=True)):
            values = (np.maximum(values, 0) if layer else values) @ weights + bias  # (n, columns of this layer)
        if len(self.classes_) == 2:  # one output, the second class's
            second = expit(values)
            return np.hstack([1 - second, second])
        return np.asarray(softmax(values, axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """(n,) label of the highest probability; the first of ``classes_`` where two are equal."""
        chosen = self.predict_proba(X).argmax(axis=1)  # raises NotFittedError before ``classes_`` is read
        return np.asarray(self.classes_[chosen])


@dataclass(eq=False, repr=False)
class LabelHead(Chooser, kind="label"):
    """A classifier of which setting costs least, as the paper's is.

    ``classifier``: `MLPHead`, or any with ``predict_proba``; to be saved it must be one of mirenc's. Its classes are
    indices of settings; a setting that never was the best has a preference of 0.
    """

    classifier: Any

    def _learn(self, features: Float64, target: Float64) -> None:
        self.classifier_ = clone(self.classifier).fit(features, oracle_choice(target))

    def _answer(self, features: Float64) -> Float64:
        preference = np.zeros((len(features), self.n_choices_))
        preference[:, self.classifier_.classes_] = self.classifier_.predict_proba(features)
        return preference
