"""Tasks: decisions about code, with measured costs, honest protocols and baselines; and the datasets they are made of.

A shipped task is one file of this package; a task of your own is one file of yours (`mirenc.tasks.base`).
"""

from __future__ import annotations

from mirenc.tasks.base import Task, get_task, list_tasks, load_task_file
from mirenc.tasks.data import TaskData, Sample
from mirenc.tasks.evaluation import evaluate
from mirenc.tasks.predict import Prediction, TaskHead, fit_head, load_task_head
from mirenc.tasks.protocols import Protocol
from mirenc.tasks.report import TaskReport, load_report

__all__ = [
    "Prediction",
    "Protocol",
    "Task",
    "TaskData",
    "TaskHead",
    "TaskReport",
    "Sample",
    "evaluate",
    "fit_head",
    "get_task",
    "list_tasks",
    "load_report",
    "load_task_file",
    "load_task_head",
]
