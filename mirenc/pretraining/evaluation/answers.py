"""What the heads of the objective "compiler" say of pieces that they did not learn from, beside counts alone."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from mirenc.arrays import Floating, Int64
from mirenc.pretraining.answers import Answers, Teacher, piece_counts
from mirenc.pretraining.evaluation.figures import Figures, finite


def evaluate_answers(teacher: Teacher) -> Figures:
    """Figures on the pieces held out, and on the training projects kept out to choose by.

    Each has the ``model``'s and those of ``counts``: linear regression on log counts of nodes and statements, which is
    what a model that learned nothing about code would do. A part without pieces is None.
    """
    answers = teacher.answers
    figures: Figures = {"missing": answers.missing, "training": len(answers.training)}
    for name, rows in (("held_out", answers.held_out), ("choosing", answers.choosing)):
        if not len(rows):
            figures[name] = None
            continue
        figures[name] = {
            "pieces": len(rows),
            "projects": len(answers.projects_of(rows)),
            "model": answers_figures(answers, rows, teacher.predict(rows)),
            "counts": answers_figures(answers, rows, _from_counts(answers, rows)),
        }
    result: Figures = finite(figures)
    return result


def answers_figures(answers: Answers, rows: Int64, predictions: dict[str, Floating]) -> Figures:
    """Figures of some pieces (n,), from what is predicted of each kind (n, C); of ``fires`` anything that ranks.

    ``sizes``: R2 of each column; ``fires``: mean AUC of the passes that change some of the pieces and leave others;
    ``lists``: R2 over all lists, each about its own mean.
    """
    figures: Figures = {}
    for kind, labels in answers.labels.items():
        truth, predicted = labels.values[rows].astype(np.float64), predictions[kind].astype(np.float64)
        if kind == "fires":
            figures[kind] = _mean_auc(truth, predicted)
        elif kind == "lists":
            figures[kind] = _r2(truth, predicted)
        else:
            columns = enumerate(labels.names)
            figures[kind] = {name: _r2(truth[:, [column]], predicted[:, [column]]) for column, name in columns}
    return figures


def _r2(truth: Floating, predicted: Floating) -> float:
    """1 - squared errors over squared deviations from each column's mean; NaN where nothing deviates. Two (n, C)."""
    known = np.isfinite(truth)
    mean = np.where(known, truth, 0).sum(0) / np.maximum(known.sum(0), 1)
    error, deviation = (np.square(np.where(known, truth - other, 0)).sum() for other in (predicted, mean))
    return float(1 - error / deviation) if deviation > 0 else float("nan")


def _mean_auc(truth: Floating, predicted: Floating) -> float:
    aucs = []
    for labels, scores in zip(truth.T, predicted.T, strict=True):
        known = np.isfinite(labels)
        if 0 < labels[known].sum() < known.sum():
            aucs.append(roc_auc_score(labels[known], scores[known]))
    return float(np.mean(aucs)) if aucs else float("nan")


def _from_counts(answers: Answers, rows: Int64) -> dict[str, Floating]:
    """Linear regression of every column on log(1 + counts), fitted on the pieces for training."""
    counts = np.log1p(piece_counts(answers).astype(np.float64))
    x, training = np.concatenate([np.ones((len(counts), 1)), counts], axis=1), answers.training

    def predict(column: Floating) -> Floating:
        known = training[np.isfinite(column[training])]
        predicted: Floating = x[rows] @ np.linalg.lstsq(x[known], column[known].astype(np.float64), rcond=None)[0]
        return predicted

    return {
        kind: np.stack([predict(column) for column in labels.values.T], axis=1)
        for kind, labels in answers.labels.items()
    }
