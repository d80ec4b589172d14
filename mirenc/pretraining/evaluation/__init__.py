"""Held-out figures of a model, each beside its baselines.

MLM accuracy and perplexity; GAE ROC AUC and average precision per flow; matching accuracy; O0 -> O2 function retrieval.
"""

from __future__ import annotations

from mirenc.pretraining.evaluation.baselines import Baselines
from mirenc.pretraining.evaluation.evaluate import evaluate_model
from mirenc.pretraining.evaluation.figures import Figures, NoFigureError, figure_rows

__all__ = ["Baselines", "Figures", "NoFigureError", "evaluate_model", "figure_rows"]
