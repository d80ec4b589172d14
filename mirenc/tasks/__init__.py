"""What a decision is: `Task`, its samples and settings, what an answer about it says, and the tasks, one file each."""

from mirenc.tasks.data import TaskData as TaskData
from mirenc.tasks.loading import load_data as load_data, with_ir as with_ir
from mirenc.tasks.prediction import Evidence as Evidence, Prediction as Prediction
from mirenc.tasks.protocols import Protocol as Protocol
from mirenc.tasks.registry import get_task as get_task, list_tasks as list_tasks, load_task_file as load_task_file
from mirenc.tasks.sample import Sample as Sample
from mirenc.tasks.space import Space as Space
from mirenc.tasks.task import Task as Task
