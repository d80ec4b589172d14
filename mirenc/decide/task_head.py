"""`TaskHead`: a fitted head of a task, which answers about code that nobody has measured."""

import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from mirenc.base.arrays import Bool, Float32, Float64
from mirenc.base.errors import HeadError, TaskError
from mirenc.base.shown import short_repr
from mirenc.decide.estimators.chooser import Settings
from mirenc.decide.estimators.ensemble import EnsembleHead, LabelsEnsembleHead, NumberEnsembleHead
from mirenc.decide.estimators.head_state import pack, unpack
from mirenc.decide.estimators.saved_heads import load_head_and_arrays, save_head
from mirenc.decide.features.code_features import CODE_ROWS, CodeReader, code_vector
from mirenc.decide.features.feature_matrix import HEAD_ROWS, LOOK_AHEAD, code_row, hide_context
from mirenc.decide.features.look_ahead_features import TRIP_COUNTS, default_columns, look_ahead_settings, loop_numbers
from mirenc.decide.loop_task import LoopTask, branches
from mirenc.decide.prediction import Choice, Evidence, PredictedLabels, PredictedNumber, Prediction
from mirenc.decide.reach import Reach
from mirenc.decide.registry import READY, get_task, list_tasks, ready_heads as ready_heads
from mirenc.decide.settings import SettingEncoder, Space, Value, setting_name
from mirenc.decide.task import Task
from mirenc.encoder import Encoder, load
from mirenc.llvm import IRModule, Region, regions_of

# Region, its context features, and what in the code told these
_Question = tuple[Region | None, tuple[Any, ...], Mapping[str, str]]
Head = EnsembleHead | NumberEnsembleHead | LabelsEnsembleHead
LARGE = 1000  # instructions of a function for which looking ahead takes about ten seconds a loop
_KINDS: dict[str, type] = {"costs": EnsembleHead, "number": NumberEnsembleHead, "labels": LabelsEnsembleHead}
_MOST_PROPOSALS = 8
# Attributes that head.json has under their own names.
_COPIED_FIELDS = ("variant", "row", "model", "model_digest", "data_hash", "machine", "llvm", "refused", "time_factor")
_MAKE_ONE = "Make one: mirenc fit TASK -o FOLDER"


class _Description(BaseModel):
    """What head.json says of a `TaskHead`. Heads of older releases have more, and lack what has a default here."""

    task: str
    variant: str
    row: str
    model: str
    model_digest: str
    data_hash: str
    settings: list[str]
    context_names: list[str]
    knobs: tuple[str, ...]
    words: dict[str, tuple[str, ...]]
    reach: float
    evidence: Evidence
    machine: str = ""
    llvm: str = Field(default="", pattern=r"^(\d+(\.\w+)*)?$")
    refused: tuple[tuple[Value, ...], ...] = ()
    labels: tuple[str, ...] = ()
    space: Space | None = None
    timer: Any = None
    time_factor: float | None = None


@dataclass(frozen=True, eq=False)
class TaskHead:
    """A fitted head, and what it belongs to; ``machine``, ``llvm`` and ``label_names`` are those of `TaskData`."""

    head: Head
    task: Task
    variant: str
    row: str  # the row of a table (`feature_matrix.HEAD_ROWS`) whose features it takes
    model: str  # whose vectors it takes
    model_digest: str
    data_hash: str
    setting_encoder: SettingEncoder | None  # settings to numbers; None where nothing is chosen
    reach: Reach
    evidence: Evidence
    machine: str = ""
    space: Space | None = None  # the settings, where the samples share some and the task has none of its own
    timer: NumberEnsembleHead | None = None  # predicts log seconds of the default (`Task.seconds`)
    time_factor: float | None = None  # as that of `Choice`
    label_names: tuple[str, ...] = ()
    llvm: str = ""
    refused: tuple[tuple[Value, ...], ...] = ()  # settings that ran with no sample (`fit.never_ran`): no answers
    encoder: Encoder | None = None  # reads questions; None: ``mirenc.load(model)``, when first needed
    head_for_large: "TaskHead | None" = None  # is asked instead about functions of more than `LARGE` instructions
    variant_heads: Mapping[str, "TaskHead"] = field(default_factory=dict)  # asked about their `Task.variant_of_code`

    __repr__ = short_repr

    def predict(
        self,
        ir: Any,
        context: Mapping[str, Any] | tuple[Any, ...] = (),
        *,
        level: str = "",
        region_filter: Callable[[Region], bool] | None = None,
        on_refused: Callable[[TaskError], None] | None = None,
    ) -> list[Any]:
        """A `Choice`, `PredictedNumber` or `PredictedLabels` for each region of a piece of IR that is decided about.

        ``ir`` is whatever `Encoder.embed` takes. ``context`` features are given by name (text or numbers), or raw in
        the order of ``task.context.names``. By name, those that the code tells (`Feature.optional`) may be left out;
        given ones take precedence. ``level``: one of the task's levels; its own if left out. ``region_filter``: selects
        regions; all if left out. ``on_refused`` is called with the reason for a region that can run with no setting
        (`Task.permitted`); left out, that is raised.

        Raises HeadError: another model; TaskError: a missing, unknown or invalid context feature, no such region in the
        module; ForeignIRError: code of another kind than the head knows (`Task.dialect`), such as one without a kernel.
        """
        task, encoder = self.task, self._encoder
        self._check_model(encoder)
        level = task.check_level(level)
        by_name = {} if isinstance(context, tuple) else {name: str(value) for name, value in context.items()}
        full_context = context if isinstance(context, tuple) and context else task.context.parse_question(by_name)
        if full_context is not None:
            task.context.encode(full_context)  # before any file is read: an invalid one is so for all regions
        module = task.read(encoder, ir)
        regions: list[Region | None] = [None]
        if level != "module":
            regions = [*(task.regions(module) if level == task.level else regions_of(module, level).regions)]
        if not regions:
            raise TaskError(f"{module.name} has no {level} to decide about. Give code that has one")
        if region_filter is not None:
            regions = [region for region in regions if region is not None and region_filter(region)]
        questions: list[_Question] = [
            (region, *(task.context.complete(by_name, module, region) if full_context is None else (full_context, {})))
            for region in regions
        ]
        large_functions = {header.name for header in module.headers if header.last - header.first > LARGE}
        large_head = self.head_for_large or self
        heads = [large_head if region and region.symbol in large_functions else self for region in regions]
        answers = {}
        for head in dict.fromkeys(heads):  # in the order of the code
            selected_questions = list(compress(questions, [question_head is head for question_head in heads]))
            answers[head] = iter(head._for_code(module, encoder)._answers(module, selected_questions, on_refused))
        return [answer for head in heads if (answer := next(answers[head])) is not None]

    def _check_model(self, encoder: Encoder) -> None:
        """Raise HeadError unless this head and those asked in its place take the features of ``encoder``."""
        if self.model_digest != encoder.features_digest:
            advice = "Train" if encoder.name == self.model else f"Load {self.model}, or train"
            raise HeadError(
                f"the head was trained on vectors of {self.model} ({self.model_digest[:12]}), not of {encoder.name} "
                f"({encoder.features_digest[:12]}). {advice} a head: mirenc fit {self.task.name} -o FOLDER"
            )
        for head in filter(None, (self.head_for_large, *self.variant_heads.values())):
            head._check_model(encoder)

    def _for_code(self, module: IRModule, encoder: Encoder) -> "TaskHead":
        """The head that answers about a module (`Task.variant_of_code`), with an encoder."""
        heads = (head for name, head in self.variant_heads.items() if self.task.variant_of_code[name](module))
        return replace(next(heads, self), encoder=encoder)

    def _answers(
        self, module: IRModule, questions: Sequence[_Question], on_refused: Callable[[TaskError], None] | None
    ) -> list[Prediction | None]:
        """An answer for each question; None for one that ``on_refused`` was called for."""
        regions, source = [region for region, *_ in questions], code_row(self.row)
        read, modules = CodeReader(self._encoder), self.task.modules(module, regions)
        if source not in CODE_ROWS:
            code = [np.zeros(0, dtype=np.float32)] * len(regions)
        elif all(part is module for part in modules):
            code = [code_vector(source, parts) for parts in read(module, regions)]
        else:  # each in a module of its own, as in the samples
            code = [code_vector(source, read(part, [region])[0]) for part, region in zip(modules, regions, strict=True)]
        answers: list[Prediction | None] = []
        for part_module, vector, question in zip(modules, code, questions, strict=True):
            try:
                answers.append(self._answer(part_module, vector, *question))
            except TaskError as error:
                if on_refused is None:
                    raise
                on_refused(error)
                answers.append(None)
        return answers

    @functools.cached_property
    def _encoder(self) -> Encoder:
        return load(self.model) if self.encoder is None else self.encoder

    def _answer(
        self,
        module: IRModule,
        code: Float32,
        region: Region | None,
        context: tuple[Any, ...],
        sources: Mapping[str, str],
    ) -> Prediction:
        common: dict[str, Any] = {
            "region": region,
            "context": dict(zip(self.task.context.names, context, strict=True)),
            "sources": sources,
            "machine": self.machine or self.task.machine(self.variant, context),
            "variant": self.variant,
            "evidence": self.evidence,
        }
        if isinstance(self.head, EnsembleHead):
            return self._choose(self.head, module, code, context, common)
        encoded = self.task.context.encode(context)
        features = np.concatenate([encoded, code])[None, :]
        common["distance"] = self.reach.distance(encoded, code)
        if isinstance(self.head, LabelsEnsembleHead):
            probabilities = self.head.probabilities(features)[0].tolist()
            return PredictedLabels(labels=dict(zip(self.label_names, probabilities, strict=True)), **common)
        return PredictedNumber(value=float(self.head.predict(features)[0]), **common)

    def _choose(
        self, head: EnsembleHead, module: IRModule, code: Float32, context: tuple[Any, ...], common: dict[str, Any]
    ) -> Choice:
        task, region, space = self.task, common["region"], self.space or self.task.space_for(context)
        permitted, common["limit"] = self._permitted(space, module, region, context)
        if len(permitted) == 1:
            name = setting_name(space.knobs, permitted[0])
            data: dict[str, Any] = {"choice": name, "default": name, "preference": {name: 1.0}, "expected": {name: 1.0}}
            return Choice(setting=permitted[0], fixed=True, distance=0.0, **data, **common)
        rows = [space.settings.index(setting) for setting in permitted]
        default, allowed = rows[0], np.isin(np.arange(len(space)), rows)
        preference, expected = np.eye(len(space))[default], np.ones(len(space))
        if isinstance(task, LoopTask) and region is not None and not task.may_change(module, region, context):
            return _choice(space, allowed, default, default, preference, expected, fixed=True, distance=0.0, **common)
        features, views, compiled, common["distance"] = self._inputs(space, module, region, code, context)
        if (views[0].row >= 0).any():  # else the code that settings make is not known
            preference = head.predict_proba(features, views)[0]
            expected = head.expected_ratios(features, views, default=space.default)[0]
        seconds = None
        if self.timer is not None:
            times = math.exp(self.timer.predict(features)[0]) * expected
            seconds = dict(zip(compress(space.names, allowed), times[allowed].tolist(), strict=True))
        unrestricted = bool(allowed.all())
        if not unrestricted:  # a preference may be 0, and that of a forbidden setting must be less than all others
            preference = np.where(allowed, np.maximum(preference, np.finfo(np.float64).tiny), 0.0)
        best = int(preference.argmax())
        if not unrestricted:
            preference, expected = preference / preference.sum(), expected / expected[default]
        # Records are of choices among all settings.
        record = self.evidence.record(float(preference[best]), default=best == default) if unrestricted else None
        slower = record is not None and record.speedup < 1
        constant = self.evidence.constant(space) if self.evidence.constant_pays else default
        chosen = constant if allowed[constant] else default
        if self.evidence.pays and not slower:
            chosen = best
        proposals: dict[bytes, tuple[Value, ...]] = {}  # the first of those that make the same code
        for row in head.propose(preference[None], min(_MOST_PROPOSALS, len(rows)))[0].tolist():
            proposals.setdefault(compiled[row].tobytes(), space.settings[row])
        proposals.pop(compiled[default].tobytes(), None)
        common |= {"record": record, "seconds": seconds, "time_factor": self.time_factor}
        return _choice(
            space, allowed, default, chosen, preference, expected, proposals=tuple(proposals.values()), **common
        )

    def _inputs(
        self, space: Space, module: IRModule, region: Region | None, code: Float32, context: tuple[Any, ...]
    ) -> tuple[Float64, list[Settings], Float64, float]:
        """Features (1, A + D), views of the settings, the code that each makes (K, ...), and the distance."""
        assert self.setting_encoder is not None
        if space.knobs != self.setting_encoder.knobs:
            head_knobs, space_knobs = ", ".join(self.setting_encoder.knobs), ", ".join(space.knobs)
            raise TaskError(f"the head knows knobs {head_knobs}, not {space_knobs}. Train a head for them")
        task = self.task
        views = [Settings(self.setting_encoder(space.settings), np.arange(len(space))[None, :])]
        compiled = np.arange(len(space), dtype=np.float64)[:, None]  # not known: each differs from the others
        if isinstance(task, LoopTask) and self.row in LOOK_AHEAD:
            compiled = np.array([loop_numbers(loop) for loop in task.look_ahead(module, region, context)])
            code = np.concatenate([default_columns(compiled, space.default), code]).astype(np.float32)
            view = functools.partial(look_ahead_settings, views[0], compiled[None], np.array([space.default]))
            branch_rates = np.array([branches(context)])
            views = [view(np.array([float(count)]), branch_rates) for count in task.iterations(context) or TRIP_COUNTS]
            context = hide_context(task, context, task.context.run_names)
        encoded = task.context.encode(context)
        return np.concatenate([encoded, code])[None, :], views, compiled, self.reach.distance(encoded, code)

    def _permitted(
        self, space: Space, module: IRModule, region: Region | None, context: tuple[Any, ...]
    ) -> tuple[list[tuple[Value, ...]], str]:
        """The settings that the code and the machine can run, the default first, and the limit that the code sets."""
        ran = [setting for setting in space.settings if setting not in self.refused]
        default = space.settings[space.default]
        if 2 <= len(ran) < len(space):
            space = replace(space, settings=tuple(ran), default=ran.index(default) if default in ran else 0)
        permitted, limit = self.task.permitted(space, module, region, context)
        usable_settings = [setting for setting in permitted if setting not in self.refused]
        if not usable_settings:
            names = ", ".join(setting_name(space.knobs, setting) for setting in permitted)
            machine = f"{self.machine or 'the machine'}, where the head's samples were measured,"
            problem = f"{machine} could run none of the allowed settings ({'; '.join(filter(None, (names, limit)))})"
            raise TaskError(f"{problem}. Measure on a machine that runs one: mirenc measure {self.task.name} -o FOLDER")
        return usable_settings, limit

    @classmethod
    def load(cls, name_or_folder: str | Path, task: Task | None = None, *, encoder: Encoder | None = None) -> Self:
        """A shipped head by its name, or what `save` wrote.

        ``vectorization`` is the head of a task, ``vectorization.look_ahead`` the one that looks ahead,
        ``device_mapping.amd`` that of a variant; anything else, and each `Path`, is a folder. Where no variant is
        named, the code decides which head answers (`Task.variant_of_code`), else it is the first one. ``task``: one of
        your own; ``encoder``: with the head's model. Raises HeadError: none, a damaged one, or one of no task.
        """
        ready = _shipped(name_or_folder)
        folder = next(iter(ready.values()), name_or_folder)
        if not Path(folder).exists():
            shipped = sorted(path.name.replace(".all", "") for path in READY.iterdir())
            raise HeadError(f"{folder}: no such folder, and no shipped head; available: {', '.join(shipped)}")
        head, extra, arrays = load_head_and_arrays(folder)
        if "custom" in extra:
            raise HeadError(f"{folder}: is a head of labels, not of a task. Type: mirenc predict {folder} INPUT")
        try:  # as JSON, where lists are tuples and text is no number
            description = _Description.model_validate_json(json.dumps(extra), strict=True)
        except ValidationError as error:
            problems = {str(problem["loc"][0]): problem["msg"] for problem in error.errors()}
            details = "; ".join(f"{name!r}: {message}" for name, message in problems.items())
            problem = f"{folder}: this head belongs to no task, or head.json is damaged ({details})"
            raise HeadError(f"{problem}. {_MAKE_ONE}") from None
        task = get_task(description.task) if task is None else task
        if task.name != description.task:
            raise HeadError(f"{folder}: a head for task {description.task}, not for {task.name}. Name the head's task")
        task = task.known_to(description.context_names)
        for name, task_names in (("settings", _setting_names(task)), ("context_names", list(task.context.names))):
            if task_names != extra[name]:
                mismatch = f"{name} are {', '.join(extra[name])}; those of task {task.name} are {', '.join(task_names)}"
                raise HeadError(f"{folder}: the head's {mismatch}. Train a head for the task")
        fits = isinstance(head, _KINDS[task.target]) and len(description.labels) == getattr(head, "n_labels_", 0)
        if description.row not in HEAD_ROWS or not fits:
            raise HeadError(f"{folder}: head.json is damaged. {_MAKE_ONE}")
        space = description.space if task.space is None else None
        used_space = task.space or space
        if isinstance(head, EnsembleHead) and used_space is not None and head.n_choices_ != len(used_space):
            mismatch = f"the head chooses among {head.n_choices_} settings, but the task has {len(used_space)}"
            raise HeadError(f"{folder}: {mismatch}. Train a head for the task")
        timer = None if description.timer is None else unpack(description.timer, arrays, str(folder))
        columns = getattr(timer, "n_features_in_", 0)
        if timer is not None and (not isinstance(timer, NumberEnsembleHead) or columns != head.n_features_in_):
            raise HeadError(f"{folder}: the part that predicts seconds is damaged. {_MAKE_ONE}")
        return cls(
            head=head,
            task=task,
            setting_encoder=SettingEncoder(description.knobs, description.words) if task.target == "costs" else None,
            reach=Reach.from_arrays(arrays, description.reach, columns=head.n_features_in_, where=str(folder)),
            evidence=description.evidence,
            space=space,
            timer=timer,
            label_names=description.labels,
            encoder=encoder,
            variant_heads={name: cls.load(ready[name], task) for name in [*ready][1:] if name in task.variant_of_code},
            **{name: getattr(description, name) for name in _COPIED_FIELDS},
        )

    def save(self, folder: str | Path) -> Path:
        """Write the head and what it belongs to: head.json and head.safetensors (no pickle)."""
        settings = self.setting_encoder or SettingEncoder((), {})
        timer, arrays = (None, {}) if self.timer is None else pack(self.timer, "timer")
        extra = {
            "task": self.task.name,
            "settings": _setting_names(self.task),
            "context_names": self.task.context.names,
            **{name: getattr(self, name) for name in _COPIED_FIELDS},
            "knobs": settings.knobs,
            "words": settings.words,
            "reach": self.reach.code_reach,
            "evidence": asdict(self.evidence),
            "labels": self.label_names,
            "space": self.space and asdict(self.space),
            "timer": timer,
        }
        return save_head(self.head, folder, extra=extra, arrays=arrays | self.reach.arrays())


def _choice(
    space: Space, allowed: Bool, default: int, chosen: int, preference: Float64, expected: Float64, **details: Any
) -> Choice:
    """An answer among the settings of a space that are allowed (K,)."""
    names = list(compress(space.names, allowed))
    return Choice(
        choice=space.names[chosen],
        setting=space.settings[chosen],
        default=space.names[default],
        preference=dict(zip(names, preference[allowed].tolist(), strict=True)),
        expected=dict(zip(names, expected[allowed].tolist(), strict=True)),
        **details,
    )


def _setting_names(task: Task) -> list[str]:
    return list(task.space.names) if task.space is not None else []


def _shipped(name: str | Path) -> dict[str, Path]:
    """Variant -> folder of the shipped heads that a name stands for: one, or all of a task, the first one first."""
    task, _, variant = name.partition(".") if isinstance(name, str) else ("", "", "")
    ahead = variant == "look_ahead"
    heads = ready_heads(get_task(task), look_ahead=ahead) if task in list_tasks() else {}
    return {head_variant: folder for head_variant, folder in heads.items() if ahead or variant in ("", head_variant)}
