"""What a decision is: `Task`, its samples and settings, what an answer about it says, and the tasks, one file each."""

from mirenc.tasks.data import TaskData
from mirenc.tasks.loading import load_data, with_ir
from mirenc.tasks.prediction import Evidence, Prediction
from mirenc.tasks.protocols import Protocol
from mirenc.tasks.registry import get_task, list_tasks, load_task_file
from mirenc.tasks.sample import Sample
from mirenc.tasks.space import Space
from mirenc.tasks.task import Task

__all__ = [
    "Evidence",
    "Prediction",
    "Protocol",
    "Sample",
    "Space",
    "Task",
    "TaskData",
    "get_task",
    "list_tasks",
    "load_data",
    "load_task_file",
    "with_ir",
]
