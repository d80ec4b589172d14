"""`TaskHead`: a head trained once, for answers about kernels nobody has measured.

A head belongs to one model (its vectors) and one task (its settings and context features); it is saved with both names
and refuses any other. It also remembers how far apart its training kernels were, to say when a question is far from
them, and what its answers were worth on kernels that it had not seen (`mirenc.deciding.evidence`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirenc.deciding.evidence import evidence_held_out, gather_evidence, time_factor
from mirenc.deciding.reach import Reach
from mirenc.errors import HeadError, TaskError
from mirenc.heads import EnsembleHead, LabelsEnsembleHead, NumberEnsembleHead, Settings, save_head
from mirenc.heads.choosing import cost_ratios
from mirenc.heads.state import load_head_and_arrays, pack, unpack
from mirenc.ir import IRModule, parse_ir
from mirenc.ir.regions import Region, regions_of
from mirenc.learning.features import CODE_ROWS, CodeReader, Features, build_features, code_vector, encoded_context
from mirenc.learning.goal import Goal
from mirenc.passes.extract import extract_functions
from mirenc.tasks.data import TaskData
from mirenc.tasks.prediction import Evidence, Prediction
from mirenc.tasks.registry import get_task
from mirenc.tasks.space import SettingEncoder, Space
from mirenc.tasks.task import Task

if TYPE_CHECKING:
    from mirenc.embed import Encoder

__all__ = ["Prediction", "TaskHead", "fit_head", "load_task_head", "ready_heads"]

Float = NDArray[np.float64]
_READY = Path(__file__).parent / "ready"
_TIMER = "timer"


@dataclass(frozen=True, eq=False)
class TaskHead:
    """A trained head, with what it belongs to.

    Attributes
    ----------
    head : EnsembleHead, NumberEnsembleHead or LabelsEnsembleHead
    task : Task
    variant, row : str
        Row of `mirenc.learning.features.ROW_TITLES` whose features it takes.
    model, model_digest : str
        The model whose vectors it takes.
    data_hash : str
    encoder : SettingEncoder or None
        How settings become numbers; None where nothing is chosen.
    reach : Reach
        Where its training samples are.
    evidence : Evidence
    machine : str
        What its training costs were measured on (`TaskData.machine`); "" where the data do not say.
    space : Space or None
        The settings, where the training samples share some and the task has none of its own.
    timer : NumberEnsembleHead or None
        Predicts log seconds of the default (`Task.seconds`).
    time_factor : float or None
        As that of `Prediction`.
    label_names : tuple of str
        As that of `TaskData`.
    llvm : str
        As that of `TaskData`; "" for a head of an older release, too.
    """

    head: EnsembleHead | NumberEnsembleHead | LabelsEnsembleHead
    task: Task
    variant: str
    row: str
    model: str
    model_digest: str
    data_hash: str
    encoder: SettingEncoder | None
    reach: Reach
    evidence: Evidence
    machine: str = ""
    space: Space | None = None
    timer: NumberEnsembleHead | None = None
    time_factor: float | None = None
    label_names: tuple[str, ...] = ()
    llvm: str = ""

    def predict(
        self, encoder: Encoder, ir: Any, context: Mapping[str, Any] | tuple[Any, ...] = (), *, level: str = ""
    ) -> list[Prediction]:
        """Ask about one piece of IR.

        Parameters
        ----------
        encoder : Encoder
            With the model that the head was trained on.
        ir : whatever `Encoder.embed` takes
        context : mapping or tuple
            Context features: by name (text or numbers), or raw in the order of ``task.context_names``. By name, those
            that the code tells (`Task.told_by_code`) may be left out; what is given wins.
        level : str
            What is asked about, where the task knows several (`Task.levels`); its own if left out.

        Returns
        -------
        list of Prediction
            One for each region that the task decides about: one for a task of whole modules.

        Raises
        ------
        HeadError
            Another model.
        TaskError
            A missing, unknown or senseless context feature, or no such region in the module.
        ForeignIRError
            Not the kind of code that the head knows, such as a module without a kernel (`Task.dialect`).
        """
        # Heads fitted before features had a digest of their own are keyed by the whole model's.
        if self.model_digest not in (encoder.digest, encoder.features_digest):
            other = encoder.name != self.model
            raise HeadError(
                f"the head was trained on vectors of {self.model} ({self.model_digest[:12]}), not of {encoder.name} "
                f"({encoder.features_digest[:12]}). {'Load that model, or train' if other else 'Train'} a head: "
                f"mirenc fit {self.task.name} -o FOLDER"
            )
        level = self.task.check_level(level)
        given = {name: str(value) for name, value in context.items()} if isinstance(context, Mapping) else {}
        whole = self.task.ask_context(given) if isinstance(context, Mapping) else context
        if whole is not None:
            encoded_context(self.task, whole)  # before any file is read: a wrong one is wrong for all
        module = self.task.read(encoder, ir)
        regions: list[Region | None] = [None]
        if level != "module":
            own = level == self.task.level
            regions = [*(self.task.regions(module) if own else regions_of(module, level).regions)]
        if not regions:
            raise TaskError(f"{module.name} has no {level} to decide about. Give code that has one")
        contexts = [self._told(given, module, region) if whole is None else whole for region in regions]
        return [
            self._answer(code_vector(self.row, parts), own, region)
            for own, region, parts in zip(contexts, regions, self._read(encoder, module, regions), strict=True)
        ]

    def _read(
        self, encoder: Encoder, module: IRModule, regions: list[Region | None]
    ) -> list[dict[str, NDArray[np.float32]]]:
        """Code features of the regions, each as the samples had it."""
        read = CodeReader(encoder)
        if not self.task.alone or regions == [None]:
            return read(module, regions)
        modules = dict(extract_functions(module.text))
        found = []
        for region in regions:
            text = None if region is None else modules.get(region.symbol)
            # What takes the address of another function's block cannot stand alone.
            found += read(module if text is None else parse_ir(text), [region])
        return found

    def _told(self, given: Mapping[str, str], module: IRModule, region: Region | None) -> tuple[Any, ...]:
        """Context features of one region: what the code tells, and what was given."""
        known = {**self.task.tell(module, region), **given}
        if not known.keys() >= set(self.task.told_by_compiler):
            known = {**self.task.ask_compiler(module, region, known), **known}
        return self.task.parse_context({name: str(value) for name, value in known.items()})

    def _answer(self, code: NDArray[np.float32], context: tuple[Any, ...], region: Region | None) -> Prediction:
        encoded = encoded_context(self.task, context)
        features = np.concatenate([encoded, code])[None, :]
        common: dict[str, Any] = {
            "distance": self.reach.distance(encoded, code),
            "evidence": self.evidence,
            "region": region,
            "machine": self.machine or self.task.machine(self.variant, context),
            "context": dict(zip(self.task.context_names, context, strict=True)),
        }
        if isinstance(self.head, LabelsEnsembleHead):
            likely = dict(zip(self.label_names, self.head.probabilities(features)[0].tolist(), strict=True))
            return Prediction("", math.nan, self.evidence.error, "", "", {}, {}, labels=likely, **common)
        if isinstance(self.head, NumberEnsembleHead):
            value = float(self.head.predict(features)[0])
            return Prediction("", value, self.evidence.error, "", "", {}, {}, **common)
        assert self.encoder is not None
        space = self.space or self.task.space_for(context)
        if space.knobs != self.encoder.knobs:
            raise TaskError(
                f"the head knows knobs {', '.join(self.encoder.knobs)}, not {', '.join(space.knobs)}. "
                "Train a head for them"
            )
        settings = Settings(self.encoder(space.settings), np.arange(len(space))[None, :])
        preference = self.head.predict_proba(features, settings)[0]
        best = int(preference.argmax())
        record = self.evidence.record(float(preference[best]), default=best == space.default)
        slower = record is not None and record.speedup < 1
        taken = best if self.evidence.pays and not slower else space.default
        expected = self.head.expected_ratios(features, settings, default=space.default)[0]
        seconds = None
        if self.timer is not None:
            default = math.exp(float(self.timer.predict(features)[0]))
            seconds = dict(zip(space.names, (default * expected).tolist(), strict=True))
        return Prediction(
            choice=space.names[taken],
            value=float("nan"),
            error=0.0,
            preferred=space.names[best],
            default=space.names[space.default],
            preference=dict(zip(space.names, preference.tolist(), strict=True)),
            cost_ratio=dict(zip(space.names, cost_ratios(preference).tolist(), strict=True)),
            gain=float(1 / expected[best]),
            expected=dict(zip(space.names, expected.tolist(), strict=True)),
            record=record,
            seconds=seconds,
            time_factor=self.time_factor,
            setting=space.settings[taken],
            **common,
        )

    def save(self, folder: str | Path) -> Path:
        """Write the head and what it belongs to: head.json and head.safetensors (no pickle)."""
        extra = {
            "task": self.task.name,
            "variant": self.variant,
            "row": self.row,
            "settings": _setting_names(self.task),
            "context_names": list(self.task.context_names),
            "model": self.model,
            "model_digest": self.model_digest,
            "data_hash": self.data_hash,
            "knobs": list(self.encoder.knobs) if self.encoder is not None else [],
            "words": {knob: list(words) for knob, words in self.encoder.words.items()} if self.encoder else {},
            "reach": self.reach.code_reach,
            "evidence": self.evidence.to_json(),
            "machine": self.machine,
            "labels": list(self.label_names),
            "llvm": self.llvm,
        }
        arrays = self.reach.arrays()
        if self.space is not None:
            extra["space"] = self.space.to_json()
        if self.timer is not None:
            extra[_TIMER], own = pack(self.timer, _TIMER)
            arrays |= own
            if self.time_factor is not None:
                extra["time_factor"] = self.time_factor
        return save_head(self.head, folder, extra=extra, arrays=arrays)


def _setting_names(task: Task) -> list[str]:
    return list(task.space.names) if task.space is not None else []


def fit_head(
    task: Task | str,
    data: TaskData,
    encoder: Encoder,
    *,
    variant: str = "",
    row: str = "both",
    seed: int = 0,
    features: Features | None = None,
) -> TaskHead:
    """Train a head on all samples of a task but those held out; it is chosen by the same search as in an evaluation.

    ``features`` of the samples are computed if left out; they are of the row and of the encoder's model.

    The search keeps whole groups (`TaskData.group`) together: it is for kernels that were not measured. So does the
    evidence, for which ten further heads are trained with groups held out. A model that a compiler taught has seen
    answers about the projects for training: where samples are held out, the evidence is what the head says of those.

    Raises
    ------
    TaskError
        A row that has no code features of mirenc's; data of another target or space than the task's; no sample that
        is not held out.
    """
    task = get_task(task) if isinstance(task, str) else task
    task.check_data(data)
    if row not in CODE_ROWS:
        raise TaskError(f"a head cannot be made for row {row!r}; available: {', '.join(CODE_ROWS)}")
    whole, kept = data, np.flatnonzero(~data.held_out)
    data = whole if len(kept) == len(whole) else whole.subset(kept)
    apart = len(kept) < len(whole) and encoder.files.config.taught is not None
    every = features or build_features(task, whole if apart else data, [row], encoder)[0]
    features = replace(every, matrix=every.matrix[kept]) if len(every.matrix) == len(whole) else every
    goal = Goal.of(data, task.select)
    everything = np.arange(len(data))
    timer, within = None, None
    if task.seconds and data.chooses:
        none = np.zeros(len(data), dtype=np.int64)
        times = Goal(np.log(data.baseline), None, none, data.group, data.kernel, task.select)
        timer = times.fit_rounded(features, everything, data.group, seed)
        within = time_factor(data, times, features, seed)
    head = goal.fit_rounded(features, everything, data.group, seed)
    return TaskHead(
        head=head,
        task=task,
        variant=task.check_variant(variant),
        row=row,
        model=encoder.name,
        model_digest=encoder.features_digest,
        data_hash=whole.content_hash,
        encoder=data.encoder if data.chooses else None,
        reach=Reach.of(features.matrix, features.context, data.group),
        evidence=evidence_held_out(whole, Goal.of(whole, task.select), every, head, seed)
        if apart
        else gather_evidence(data, goal, features, seed),
        machine=data.machine,
        space=data.space if data.chooses and task.space is None and data.shares_space else None,
        timer=timer,
        time_factor=within,
        label_names=data.label_names,
        llvm=data.llvm,
    )


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
    wanted: dict[str, type] = dict.fromkeys(("task", "variant", "row", "model", "model_digest", "data_hash"), str)
    wanted |= {"settings": list, "context_names": list, "knobs": list, "words": dict, "reach": float}
    wrong = [name for name, kind in wanted.items() if not isinstance(extra.get(name), kind)]
    if wrong or not isinstance(head, (EnsembleHead, NumberEnsembleHead, LabelsEnsembleHead)) or "kernels" not in arrays:
        what = f" ({', '.join(wrong)} missing or damaged)" if wrong else ""
        raise HeadError(f"{folder}: this head belongs to no task{what}. Make one: mirenc fit TASK -o FOLDER")
    found = get_task(extra["task"]) if task is None else task
    if found.name != extra["task"]:
        raise HeadError(f"{folder}: a head for task {extra['task']}, not for {found.name}. Name the head's own task")
    for name, now in (("settings", _setting_names(found)), ("context_names", list(found.context_names))):
        if now != extra[name]:
            raise HeadError(
                f"{folder}: the head's {name} are {', '.join(map(str, extra[name]))}; those of task {found.name} are "
                f"{', '.join(now)}. Train a head for it"
            )
    chooses = isinstance(head, EnsembleHead)
    target = "costs" if chooses else "number" if isinstance(head, NumberEnsembleHead) else "labels"
    names = tuple(map(str, extra.get("labels", ())))  # heads of older releases have none
    if extra["row"] not in CODE_ROWS or target != found.target or len(names) != getattr(head, "n_labels_", 0):
        raise HeadError(f"{folder}: head.json is damaged. Save the head again, or train it anew")
    if not all(isinstance(names, list) for names in extra["words"].values()):
        raise HeadError(f"{folder}: head.json is damaged: 'words' are no lists. Save the head again, or train it anew")
    words = {str(knob): tuple(map(str, names)) for knob, names in extra["words"].items()}
    reach = Reach.from_arrays(arrays, extra["reach"], columns=head.n_features_in_, where=str(folder))
    space = Space.from_json(extra["space"], str(folder)) if found.space is None and "space" in extra else None
    own = found.space or space
    if chooses and own is not None and head.n_choices_ != len(own):
        raise HeadError(f"{folder}: the head has {head.n_choices_} settings, not {len(own)}. Train a head for it")
    timer = unpack(extra[_TIMER], arrays, _TIMER) if _TIMER in extra else None
    if timer is not None and (not isinstance(timer, NumberEnsembleHead) or timer.n_features_in_ != head.n_features_in_):
        raise HeadError(f"{folder}: what predicts seconds is damaged. Save the head again, or train it anew")
    within = extra.get("time_factor")
    if within is not None and not isinstance(within, float):
        raise HeadError(f"{folder}: time_factor is {within!r}, no number. Save the head again, or train it anew")
    llvm = str(extra.get("llvm", ""))  # as the machine
    if re.fullmatch(r"(\d+(\.\w+)*)?", llvm) is None:
        raise HeadError(f"{folder}: llvm is {llvm!r}, no version. Save the head again, or train it anew")
    return TaskHead(
        head=head,
        task=found,
        encoder=SettingEncoder(tuple(map(str, extra["knobs"])), words) if chooses else None,
        reach=reach,
        evidence=Evidence.from_json(extra.get("evidence"), str(folder)),
        machine=str(extra.get("machine", "")),  # heads of older releases have none
        space=space,
        timer=timer,
        time_factor=within,
        label_names=names,
        llvm=llvm,
        **{name: extra[name] for name in ("variant", "row", "model", "model_digest", "data_hash")},
    )


def ready_heads(task: Task) -> dict[str, Path]:
    """Shipped heads of a task: variant -> folder, in the task's order."""
    folders = {variant: _READY / f"{task.name}.{variant or 'all'}" for variant in task.variants}
    return {variant: folder for variant, folder in folders.items() if (folder / "head.json").is_file()}
