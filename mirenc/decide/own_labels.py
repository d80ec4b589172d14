"""`fit_labels`: a head for labels of one's own, cross-validated by groups beside rows that see no embedding."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mirenc.base.arrays import Float64, Int64
from mirenc.base.errors import TaskError
from mirenc.base.progress import progress as progress_bar
from mirenc.base.shown import short_repr
from mirenc.decide.custom_head import CustomFacts, CustomHead, HeldOut, scaled
from mirenc.decide.estimators.linear import RidgeRegressor
from mirenc.decide.estimators.logistic import LogisticHead
from mirenc.decide.label_table import Kind, LabelledCode, Table, embed_labels, read_labels
from mirenc.decide.metrics import balanced_gain, group_interval, number_figures, share_saved
from mirenc.decide.protocols import cut
from mirenc.decide.reach import Reach
from mirenc.encoder import Encoder, load
from mirenc.llvm.passes.optimise import Form

FOLDS, INNER_FOLDS = 10, 3
PENALTIES = {"C": (0.001, 0.01, 0.1, 1.0), "alpha": (0.01, 0.1, 1.0, 10.0)}
"""Values of the estimators' parameters that compete on the inner folds, by name."""
WORD_ALPHAS = (1.0, 10.0, 100.0, 1000.0)
EMBEDDING = "embedding"
_WIDE_RATIO = 10  # logarithms are fitted where the largest tenth of the numbers is so many times the smallest, and 1
_WORD = r"[@%]?[-\w.$]+"
_MOST_RECORDS, _LEAST_ANSWERS = 5, 20
_RARITY = 0.05  # share of the samples


@dataclass(frozen=True, eq=False)
class LabelReport:
    """What `fit_labels` found: the head, and the held-out answers of each row with their figures.

    ``fold`` (n,) numbers the fold in which each sample was held out. ``answers`` are (n,) by row: classes, or numbers.
    ``figures`` by row: of classes accuracy, balanced_accuracy, macro_f1 and accuracy_interval; of numbers r2, mae, rmse
    and median_error (`mirenc.decide.metrics.number_figures`), spearman and mae_interval; of both, ``gain``: what the
    embedding is better by, with its interval (balanced accuracy; share of the mean absolute error that is saved, of
    logarithms where these are fitted). Intervals hold 95 % of bootstrap samples of whole groups.
    """

    head: CustomHead
    kind: Kind
    code: LabelledCode
    fold: Int64
    answers: dict[str, NDArray[Any]]
    figures: dict[str, dict[str, Any]]

    __repr__ = short_repr

    @property
    def confusion(self) -> Int64:
        """(P, P) how often each class (row) got each answer (column), in the order of ``head.head.classes_``."""
        return confusion_matrix(self.code.labels, self.answers[EMBEDDING], labels=self.head.head.classes_)

    @property
    def rival(self) -> str:
        """The row without the encoder over which the interval of the embedding's gain begins lowest."""
        rivals = [name for name in self.figures if name != EMBEDDING]
        return min(rivals, key=lambda name: self.figures[name]["gain"][1])


def fit_labels(
    table: Table,
    encoder: Encoder | None = None,
    *,
    label: str = "label",
    group: str | None = None,
    kind: Kind | None = None,
    logarithm: bool | None = None,
    form: Form | None = None,
    commands: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> LabelReport:
    """Train a head on labels of functions or files, and measure it on groups held out.

    Classes are predicted by logistic regression, numbers by ridge regression, on standardised vectors. Penalties are
    chosen within the training rows of each fold. Rows that cannot be used are in ``report.code.left_out``. Raises
    IRFileError, ConfigError: no such table or column; TaskError: fewer than two groups, or than two distinct labels.

    Parameters
    ----------
    table : path, or an iterable of mappings
        Columns ``file`` and the label; ``function`` (name or symbol) or ``line`` for labels of functions; and
        ``group``: rows that belong together, such as those of one project. Without it each file is a group.
    encoder : Encoder, optional
        Its options are those that files are read and compiled with. The default model if left out.
    label, group : str
        Names of these columns.
    kind : str, optional
        ``classes`` or ``numbers``; left out, text and whole numbers of at most ten values are classes.
    logarithm : bool, optional
        Whether log(1 + number) is fitted; left out, it is where no number is negative and the largest
        tenth is more than ten times the smallest, and than 1.
    form, progress
        As of `mirenc.Encoder.embed`.
    commands : path, optional
        A ``compile_commands.json``: sources among the files are compiled with their flags in it.
    """
    encoder = load() if encoder is None else encoder
    label_table = read_labels(table, label=label, group=group)
    code, kind = embed_labels(label_table, encoder, kind=kind, form=form, commands=commands, progress=progress)
    if kind == "numbers" and logarithm is None:
        low, high = np.percentile(np.asarray(code.labels, dtype=np.float64), [10, 90])
        logarithm = bool(code.labels.min() >= 0 and high > _WIDE_RATIO * max(low, 1.0))
    if logarithm and kind == "classes":
        raise TaskError("the labels are classes, which have no logarithm. Type: --no-log, or --kind numbers")
    if logarithm and code.labels.min() <= -1:
        raise TaskError(f"label {code.labels.min():g}: a logarithm needs numbers above -1. Type: --no-log")
    if logarithm and code.labels.max() < _WIDE_RATIO:
        problem = f"the largest label is {code.labels.max():g}, so small that log(1 + label) is nearly the label itself"
        raise TaskError(f"{problem}. Give labels in a smaller unit (microseconds, not seconds), or type: --no-log")
    target = np.log1p(code.labels) if logarithm else code.labels
    codes = np.unique(target, return_inverse=True)[1] if kind == "classes" else np.zeros(len(target), dtype=np.int64)
    folds = list(cut(code.groups, codes, FOLDS, 0))
    fold = np.zeros(len(target), dtype=np.int64)
    for number, (training, test) in enumerate(folds):
        fold[test] = number
        if len(np.unique(target[training])) < 2:
            problem = f"without group '{code.groups[test][0]}' all labels are '{code.labels[training][0]}'"
            raise TaskError(f"{problem}: nothing to learn when it is held out. Label more code, of more groups")
    rows = _rows(code, kind)
    answers = {name: np.empty_like(target) for name in rows}
    probabilities = np.zeros(len(target))  # of the embedding's answers
    with progress_bar("cross-validating", len(rows) * len(folds) + 1, show=progress) as advance:
        for name, (features, estimator, grid) in rows.items():
            for training, test in folds:
                fitted = fit_best_penalty(estimator, grid, features, target, code.groups, training)
                answers[name][test] = fitted.predict(features[test])
                if name == EMBEDDING and kind == "classes":
                    probabilities[test] = fitted.predict_proba(features[test]).max(axis=1)
                advance(note=name)
        features, estimator, grid = rows[EMBEDDING]
        head = fit_best_penalty(estimator, grid, features, target, code.groups, np.arange(len(target))).best_estimator_
    baseline = next(iter(rows))
    row_figures = _class_figures if kind == "classes" else _number_figures
    gains = {name: _gain(kind, target, answers[EMBEDDING], other, code.groups) for name, other in answers.items()}
    miss = np.zeros(1) if kind == "classes" else np.abs(np.subtract(answers[EMBEDDING], target))
    if logarithm:
        answers = {name: np.expm1(predicted) for name, predicted in answers.items()}
    figures = {name: row_figures(code, predicted) | {"gain": gains[name]} for name, predicted in answers.items()}
    reach = Reach.of(scaled(head, features), 0, code.groups)
    sizes = np.rint(np.expm1(code.histogram[:, -1].astype(np.float64)))
    facts = CustomFacts(
        label=label,
        level=code.level,
        form=code.form,
        model=encoder.name,
        model_digest=encoder.features_digest,
        samples=len(target),
        groups=len(np.unique(code.groups)),
        baseline=baseline,
        gain=figures[baseline]["gain"],
        logarithm=bool(logarithm),
        error=0.0 if kind == "classes" else max(float(np.percentile(miss, 80)), 1e-12),
        records=_records(probabilities, answers[EMBEDDING] == code.labels) if kind == "classes" else [],
        built=tuple(sorted(level for level in set(code.built) if code.built.count(level) > _RARITY * len(code.built))),
        instructions=(int(sizes.min()), int(sizes.max())),
        smallest_label=None if kind == "classes" else _rare_extreme(code.labels, code.labels.min()),
        largest_label=None if kind == "classes" else _rare_extreme(code.labels, code.labels.max()),
        figures={name: value for name, value in figures[EMBEDDING].items() if isinstance(value, float)},
        code_reach=reach.code_reach,
    )
    return LabelReport(CustomHead(head, facts, reach, encoder), kind, code, fold, answers, figures)


def _rows(code: LabelledCode, kind: Kind) -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Features, estimator, and values of its penalty that compete, of each row; the embedding last."""
    vectors, histogram = code.vectors.astype(np.float64), code.histogram.astype(np.float64)
    # Counted once: a word that no training row has is a column of zeros, whose weight is zero.
    words = CountVectorizer(lowercase=False, token_pattern=_WORD).fit_transform(code.texts).tocsr()
    weighting = TfidfTransformer(norm=None, sublinear_tf=True)
    if kind == "classes":
        name, prior, linear, penalties = "most frequent class", DummyClassifier(), LogisticHead(), {"C": PENALTIES["C"]}
        word_model = make_pipeline(weighting, LogisticRegression(max_iter=5000))
        word_penalties = {"logisticregression__C": PENALTIES["C"]}
    else:
        name, prior, linear, penalties = "mean", DummyRegressor(), RidgeRegressor(), {"alpha": PENALTIES["alpha"]}
        word_model, word_penalties = make_pipeline(weighting, Ridge()), {"ridge__alpha": WORD_ALPHAS}
    return {
        name: (histogram, prior, {}),
        "instruction count": (histogram[:, -1:], linear, penalties),
        "opcode histogram": (histogram, linear, penalties),
        "bag of words": (words, word_model, word_penalties),
        EMBEDDING: (vectors, linear, penalties),
    }


def fit_best_penalty(
    estimator: Any, grid: dict[str, Any], features: Any, target: NDArray[Any], groups: NDArray[Any], training: Int64
) -> GridSearchCV:
    """The estimator with the penalty that is best on folds of whole groups of the ``training`` rows, fitted to them.

    Classes are judged by the likelihood of the right one, numbers by the squared error. With one group in training,
    the folds are of rows.
    """
    target, groups = target[training], groups[training]
    is_number = target.dtype.kind == "f"
    units = groups if len(np.unique(groups)) > 1 else np.arange(len(groups))
    codes = np.zeros(len(target), dtype=np.int64) if is_number else np.unique(target, return_inverse=True)[1]
    folds = [fold for fold in cut(units, codes, INNER_FOLDS, 0) if len(np.unique(target[fold[0]])) > 1]
    if not folds or not grid:  # nothing to choose by, or from
        middle_grid = {name: [values[len(values) // 2]] for name, values in grid.items()}
        grid, folds = middle_grid, [(np.arange(len(target)),) * 2]
    scoring: Any = "neg_mean_squared_error" if is_number else _log_likelihood
    return GridSearchCV(estimator, grid, cv=folds, scoring=scoring).fit(features[training], target)


def _log_likelihood(estimator: Any, features: Any, labels: NDArray[Any]) -> float:
    """Mean logarithm of the probability of the right class; one that was not among the training rows has 1e-3."""
    probabilities, classes = estimator.predict_proba(features), estimator.classes_
    column = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    right_probability = np.where(classes[column] == labels, probabilities[np.arange(len(labels)), column], 0.0)
    return float(np.log(np.maximum(right_probability, 1e-3)).mean())


def _gain(
    kind: Kind, target: NDArray[Any], answers: NDArray[Any], other: NDArray[Any], groups: NDArray[Any]
) -> tuple[float, float, float]:
    """What ``answers`` are better by than ``other``, with its interval (`LabelReport.figures`)."""
    if kind == "numbers":
        return share_saved(np.abs(answers - target), np.abs(other - target), groups)
    return balanced_gain((answers == target).astype(np.float64), (other == target).astype(np.float64), target, groups)


def _class_figures(code: LabelledCode, predicted: NDArray[Any]) -> dict[str, Any]:
    hits = (predicted == code.labels).astype(np.float64)
    return {
        "accuracy": float(hits.mean()),
        "balanced_accuracy": float(balanced_accuracy_score(code.labels, predicted)),
        "macro_f1": float(f1_score(code.labels, predicted, average="macro", zero_division=0.0)),
        "accuracy_interval": group_interval(hits, code.groups),
    }


def _number_figures(code: LabelledCode, predicted: NDArray[Any]) -> dict[str, Any]:
    labels = np.asarray(code.labels, dtype=np.float64)
    varies = len(np.unique(predicted)) > 1
    return {
        **number_figures(labels, predicted),
        "spearman": float(spearmanr(labels, predicted).statistic) if varies else 0.0,
        "mae_interval": group_interval(np.abs(predicted - labels), code.groups),
    }


def _rare_extreme(labels: NDArray[Any], label: float) -> float | None:
    """The smallest or the largest label; None if it is not rare, so that such numbers may end there in all code."""
    return float(label) if (labels == label).mean() <= _RARITY else None


def _records(probability: Float64, hits: NDArray[np.bool_]) -> list[HeldOut]:
    """Held-out answers in up to five parts of at least 20, the surest first."""
    order = np.argsort(-probability, kind="stable")
    parts = np.array_split(order, max(1, min(_MOST_RECORDS, len(order) // _LEAST_ANSWERS)))
    return [HeldOut(least=probability[part].min(), answers=len(part), right=float(hits[part].mean())) for part in parts]
