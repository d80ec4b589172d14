"""Evaluating: a task under its protocols, the embedding beside its baselines, and the report of it."""

from mirenc.evaluating.evaluation import Evaluation as Evaluation, evaluate as evaluate
from mirenc.evaluating.report import TaskReport as TaskReport, load_report as load_report
