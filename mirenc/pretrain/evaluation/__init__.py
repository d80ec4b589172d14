"""Held-out figures of a model, each beside its baselines."""

from mirenc.pretrain.evaluation.baselines import Baselines
from mirenc.pretrain.evaluation.evaluate import evaluate_folder, evaluate_model
from mirenc.pretrain.evaluation.figures import Figures, NoFigureError, figure_rows

__all__ = ["Baselines", "Figures", "NoFigureError", "evaluate_folder", "evaluate_model", "figure_rows"]
