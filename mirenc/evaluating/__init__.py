"""Evaluating: a task under its protocols, the embedding beside its baselines, and the report of it."""

from mirenc.evaluating.evaluation import Evaluation, evaluate
from mirenc.evaluating.report import TaskReport, load_report

__all__ = ["Evaluation", "TaskReport", "evaluate", "load_report"]
