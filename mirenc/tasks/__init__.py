"""Decisions: tasks with measured costs or numbers to predict, their evaluation, and heads that answer questions."""

from __future__ import annotations

from mirenc.tasks.base import Task
from mirenc.tasks.data import TaskData
from mirenc.tasks.evaluation import Evaluation, evaluate, load_data
from mirenc.tasks.given_ir import with_ir
from mirenc.tasks.predict import Prediction, TaskHead, fit_head, load_task_head
from mirenc.tasks.protocols import Protocol
from mirenc.tasks.registry import get_task, list_tasks, load_task_file
from mirenc.tasks.report import TaskReport
from mirenc.tasks.report_file import load_report
from mirenc.tasks.sample import Sample
from mirenc.tasks.space import Space

__all__ = [
    "Evaluation",
    "Prediction",
    "Protocol",
    "Sample",
    "Space",
    "Task",
    "TaskData",
    "TaskHead",
    "TaskReport",
    "evaluate",
    "fit_head",
    "get_task",
    "list_tasks",
    "load_data",
    "load_report",
    "load_task_file",
    "load_task_head",
    "with_ir",
]
