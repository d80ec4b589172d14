"""`TaskHead`: a head trained once, for answers about kernels nobody has measured.

A head belongs to one model (its vectors) and one task (its choices and task features); it is saved with both names and
refuses any other. It also remembers how far apart its training kernels were, to say when a question is far from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirenc.errors import HeadError, TaskError
from mirenc.heads import EnsembleHead, save_head
from mirenc.heads.choosing import cost_ratios
from mirenc.heads.state import load_head_and_arrays
from mirenc.tasks.base import Task, get_task
from mirenc.tasks.data import TaskData
from mirenc.tasks.features import CODE_ROWS, build_features, code_vector
from mirenc.tasks.menu import head_search, inner_parts

if TYPE_CHECKING:
    from mirenc.encoder import Encoder

__all__ = ["Prediction", "TaskHead", "fit_head", "load_task_head", "ready_heads"]

Float = NDArray[np.float64]
# A kernel is far if it is farther from its nearest training kernel than 95 of 100 training kernels were from theirs.
_FAR = 95.0
_READY = Path(__file__).parent / "ready"


@dataclass(frozen=True)
class Prediction:
    """What a head says about one kernel.

    Attributes
    ----------
    choice : str
        The preferred choice.
    preference : dict of str to float
        Preference for each choice; they sum to 1.
    cost_ratio : dict of str to float
        Expected cost of each choice over that of the preferred one, as the preferences stand for it
        (`mirenc.heads.choosing.cost_ratios`).
    distance : float
        Distance of the code features to the nearest training kernel's, in units of the 95th percentile of that
        distance among the training kernels.
    """

    choice: str
    preference: dict[str, float]
    cost_ratio: dict[str, float]
    distance: float

    @property
    def far(self) -> bool:
        """Whether the kernel is unlike those that the head was trained on."""
        return self.distance > 1.0


@dataclass(frozen=True, eq=False)
class TaskHead:
    """A trained head, with what it belongs to.

    Attributes
    ----------
    head : EnsembleHead
    task : Task
    variant, row : str
        Row of `mirenc.tasks.features.ROW_TITLES` whose features it takes.
    model, model_digest : str
        The model whose vectors it takes.
    data_hash : str
    kernels : (m, D) float32
        Code features of the training kernels.
    reach : float
        Distance beyond which a kernel is far.
    """

    head: EnsembleHead
    task: Task
    variant: str
    row: str
    model: str
    model_digest: str
    data_hash: str
    kernels: NDArray[np.float32]
    reach: float

    def predict(self, encoder: Encoder, ir: Any, aux: Mapping[str, Any] | tuple[Any, ...] = ()) -> Prediction:
        """Ask about one piece of IR.

        Parameters
        ----------
        encoder : Encoder
            With the model that the head was trained on.
        ir : whatever `Encoder.embed` takes
        aux : mapping or tuple
            Task features: by name (text or numbers), or raw in the order of ``task.aux_names``.

        Raises
        ------
        HeadError
            Another model.
        TaskError
            A missing, unknown or senseless task feature.
        """
        if encoder.files.digest != self.model_digest:
            raise HeadError(
                f"the head was trained on vectors of {self.model} ({self.model_digest[:12]}), not of {encoder.name} "
                f"({encoder.files.digest[:12]}). Load that model, or train a head: mirenc evaluate {self.task.name} "
                "--save-head FOLDER"
            )
        if isinstance(aux, Mapping):
            aux = self.task.parse_aux({name: str(value) for name, value in aux.items()})
        code = code_vector(self.row, encoder, ir)
        features = np.concatenate([self.task.encode_aux(aux), code])[None, :]
        preference = self.head.predict_proba(features)[0]
        names = self.task.choices
        distance = float(np.sqrt(((self.kernels - code) ** 2).sum(axis=1)).min() / self.reach)
        return Prediction(
            choice=names[int(preference.argmax())],
            preference=dict(zip(names, preference.tolist(), strict=True)),
            cost_ratio=dict(zip(names, cost_ratios(preference).tolist(), strict=True)),
            distance=distance,
        )

    def save(self, folder: str | Path) -> Path:
        """Write the head and what it belongs to: head.json and head.safetensors (no pickle)."""
        extra = {
            "task": self.task.name,
            "variant": self.variant,
            "row": self.row,
            "choices": list(self.task.choices),
            "aux_names": list(self.task.aux_names),
            "model": self.model,
            "model_digest": self.model_digest,
            "data_hash": self.data_hash,
            "reach": self.reach,
        }
        return save_head(self.head, folder, extra=extra, arrays={"kernels": self.kernels})


def fit_head(
    task: Task | str,
    data: TaskData,
    encoder: Encoder,
    *,
    variant: str = "",
    row: str = "both",
    seed: int = 0,
) -> TaskHead:
    """Train a head on all samples of a task; it is chosen by the same search as in an evaluation.

    The search keeps whole groups (`TaskData.group`) together: it is for kernels that were not measured.

    Raises
    ------
    TaskError
        A row that has no code features of mirenc's.
    """
    task = get_task(task) if isinstance(task, str) else task
    if row not in CODE_ROWS:
        raise TaskError(f"a head cannot be made for row {row!r}; available: {', '.join(CODE_ROWS)}")
    features = build_features(task, data, [row], encoder)[0]
    matrix, aux = features.matrix, features.aux
    groups = len(np.unique(data.group))
    head = head_search(aux, matrix.shape[1] - aux, groups, seed, task.select)
    head.fit(matrix, data.costs, part=inner_parts(data.group, data.labels, seed))
    kernels, reach = _reach(matrix[:, aux:], data.group)
    return TaskHead(head, task, variant, row, encoder.name, encoder.files.digest, data.content_hash, kernels, reach)


def _reach(code: Float, group: NDArray[np.str_]) -> tuple[NDArray[np.float32], float]:
    """Different rows of code features, and how far a training kernel is from the nearest one of another group."""
    kernels, first = np.unique(code.astype(np.float32), axis=0, return_index=True)
    of = group[first]
    square = (kernels.astype(np.float64) ** 2).sum(axis=1)
    distance = np.sqrt(np.maximum(square[:, None] + square[None] - 2 * kernels.astype(np.float64) @ kernels.T, 0))
    distance[of[:, None] == of[None, :]] = np.inf
    nearest = distance.min(axis=1)
    nearest = nearest[np.isfinite(nearest)]
    reach = float(np.percentile(nearest, _FAR)) if len(nearest) else 1.0
    return kernels, max(reach, 1e-9)


def load_task_head(folder: str | Path, task: Task | None = None) -> TaskHead:
    """Read what `TaskHead.save` wrote.

    Parameters
    ----------
    folder : path
    task : Task, optional
        For a head of a task of your own; a shipped task is found by its name.

    Raises
    ------
    HeadError
        No head, a damaged one, or one that belongs to no task.
    """
    head, extra, arrays = load_head_and_arrays(folder)
    wanted: dict[str, type] = {
        "task": str,
        "variant": str,
        "row": str,
        "choices": list,
        "aux_names": list,
        "model": str,
    }
    wanted |= {"model_digest": str, "data_hash": str, "reach": float}
    wrong = [name for name, kind in wanted.items() if not isinstance(extra.get(name), kind)]
    if wrong or not isinstance(head, EnsembleHead) or "kernels" not in arrays:
        what = f" ({', '.join(wrong)} missing or damaged)" if wrong else ""
        raise HeadError(
            f"{folder}: this head belongs to no task{what}. Make one: mirenc evaluate TASK --save-head FOLDER"
        )
    found = get_task(extra["task"]) if task is None else task
    if found.name != extra["task"]:
        raise HeadError(f"{folder}: a head for task {extra['task']}, not for {found.name}. Name the head's own task")
    for name in ("choices", "aux_names"):
        if list(getattr(found, name)) != extra[name]:
            raise HeadError(
                f"{folder}: the head's {name} are {', '.join(map(str, extra[name]))}; those of task {found.name} are "
                f"{', '.join(getattr(found, name))}. Train a head for it"
            )
    if extra["row"] not in CODE_ROWS or not 0 < extra["reach"] < np.inf or head.n_choices_ != len(extra["choices"]):
        raise HeadError(f"{folder}: head.json is damaged. Save the head again, or train it anew")
    names = ("variant", "row", "model", "model_digest", "data_hash")
    return TaskHead(
        head=head,
        task=found,
        kernels=arrays["kernels"],
        reach=extra["reach"],
        **{name: extra[name] for name in names},
    )


def ready_heads(task: Task) -> dict[str, Path]:
    """Shipped heads of a task: variant -> folder, in the task's order."""
    folders = {variant: _READY / f"{task.name}.{variant or 'all'}" for variant in task.variants}
    return {variant: folder for variant, folder in folders.items() if (folder / "head.json").is_file()}
