"""`CustomHead`: a head for labels of one's own, which `mirenc.fit_labels` trains and measures."""

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mirenc.base.arrays import Float32, Float64
from mirenc.base.errors import HeadError, TaskError
from mirenc.base.shown import short_repr
from mirenc.decide.estimators.linear import RidgeRegressor
from mirenc.decide.estimators.logistic import LogisticHead
from mirenc.decide.estimators.saved_heads import load_head_and_arrays, save_head
from mirenc.decide.features.find_function import find_function
from mirenc.decide.reach import Reach
from mirenc.decide.registry import list_tasks
from mirenc.encoder import Encoder, load
from mirenc.llvm import Region
from mirenc.llvm.analysis.detect_level import LEVEL_WORDS
from mirenc.llvm.inputs.input import Input, IRInput, resolve_input
from mirenc.llvm.passes.optimise import Form

CUSTOM = "custom"  # key of what head.json says beside the head
_NO_CONTEXT = np.zeros(0)
_LEAST_GROUPS = 5  # an interval over fewer says little: two groups that both do well by chance are no rare thing


class HeldOut(BaseModel):
    """Held-out answers of similar probability."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    least: float  # probability of the answer that was least sure
    answers: int = Field(ge=1)
    right: float = Field(ge=0, le=1)  # share


class CustomFacts(BaseModel):
    """What a `CustomHead` was trained on, and what its answers about groups held out were worth."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    label: str
    level: Literal["function", "module"]
    form: Form
    model: str
    model_digest: str
    samples: int
    groups: int
    baseline: str  # the rival without code
    gain: tuple[float, float, float]  # over the rival, with its 95 % interval over groups
    logarithm: bool = False  # numbers are predicted as log(1 + number)
    error: float = 0.0  # of numbers: 8 of 10 held-out answers were within it, in logarithms if these are predicted
    records: list[HeldOut] = []  # of classes: the surest first
    built: tuple[str, ...] = ()  # levels that the code was built at (`Region.built`), but for rare ones; (): not known
    instructions: tuple[int, int] = (0, 2**62)  # of the smallest and the largest sample
    # Of numbers: the smallest and the largest label; None if so many samples have it that it ends all such numbers.
    smallest_label: float | None = None
    largest_label: float | None = None
    figures: dict[str, float]
    code_reach: float

    @property
    def doubt(self) -> str:
        """Why answers cannot be relied on, in words; empty: they are better than without code on groups held out."""
        if self.groups < _LEAST_GROUPS:
            return f"{self.groups} groups are too few to tell whether the head is of use; label code of {_LEAST_GROUPS}"
        if self.gain[1] <= 0:
            return f"on groups held out the head was not clearly better than the {self.baseline}"
        return ""

    def beyond(self, region: Region, instructions: int, interval: tuple[float, float] | None, distance: float) -> str:
        """Where a question lies outside of the training samples, in words; empty: within them."""
        cause = f"unlike the code that the head was trained on (distance {distance:.2f}; above 1 is far)"
        if distance > 1 and self.built and region.built not in self.built:
            levels = ", or ".join(LEVEL_WORDS[level] for level in self.built)
            return f"{cause}: that code was built {levels}, this {LEVEL_WORDS[region.built]}. Give code of such a build"
        low, high = self.instructions
        if not low <= instructions <= high:
            return f"the code that the head was trained on has {low} to {high} instructions, and this {instructions}"
        if interval and self.smallest_label is not None and interval[0] < self.smallest_label:
            return f"the smallest label in training is {self.smallest_label:.4g}, and the true number may be smaller"
        if interval and self.largest_label is not None and interval[1] > self.largest_label:
            return f"the largest label in training is {self.largest_label:.4g}, and the true number may be larger"
        return cause if distance > 1 else ""


@dataclass(frozen=True)
class CustomAnswer:
    """An answer for one function or file: a class with the ``probability`` of each, or a number with an ``interval``.

    ``interval``: 8 of 10 held-out answers were as near. ``distance`` to the training code; 1 is where little of it is.
    ``follow`` says whether to follow the answer, ``why`` in words.
    """

    region: Region
    value: str | float
    probability: dict[str, float]
    interval: tuple[float, float] | None
    distance: float
    follow: bool
    why: str


@dataclass(frozen=True, eq=False)
class CustomHead:
    """A head for labels of one's own; ``encoder`` reads questions, and is loaded when first needed if left out."""

    head: LogisticHead | RidgeRegressor
    facts: CustomFacts
    reach: Reach
    encoder: Encoder | None = None

    __repr__ = short_repr

    def predict(self, ir: IRInput | Input, *, function: str | None = None) -> list[CustomAnswer]:
        """An answer for each function of a file, for the one of that name, or for the file if files were labelled.

        Raises HeadError: another model's vectors; TaskError: no such function; MirencError: the file cannot be read.
        """
        encoder, facts = self._encoder, self.facts
        if encoder.features_digest != facts.model_digest:
            raise HeadError(
                f"the head was trained on vectors of {facts.model} ({facts.model_digest[:12]}), not of {encoder.name} "
                f"({encoder.features_digest[:12]}). Load {facts.model}, or train a head: mirenc fit LABELS -o FOLDER"
            )
        if function is not None and facts.level == "module":
            raise TaskError("the head was trained on labels of files, not of functions. Leave the function out")
        ir = resolve_input(ir)
        embedding = encoder.embed_parts(ir, level=facts.level, purpose="features", form=facts.form)
        rows = range(len(embedding.regions))
        if function is not None:
            rows = range(place := find_function(embedding.regions, function, ir.name), place + 1)
        vectors = embedding.part("both")
        return [self._answer(embedding.regions[row], vectors[row], int(embedding.sizes[row, 2])) for row in rows]

    @functools.cached_property
    def _encoder(self) -> Encoder:
        return load(self.facts.model) if self.encoder is None else self.encoder

    def _answer(self, region: Region, vector: Float32, instructions: int) -> CustomAnswer:
        facts, features = self.facts, vector.astype(np.float64)[None]
        distance = self.reach.distance(_NO_CONTEXT, scaled(self.head, features)[0].astype(np.float32))
        probability, interval = dict[str, float](), None
        value: str | float
        if isinstance(self.head, LogisticHead):
            probabilities = self.head.predict_proba(features)[0].tolist()
            probability = dict(zip(self.head.classes_.tolist(), probabilities, strict=True))
            value = max(probability, key=probability.__getitem__)
            fits = [record for record in facts.records if record.least <= probability[value]] or facts.records[-1:]
            good, why = fits[0].right > 0.5, f"of {fits[0].answers} held-out answers about as sure as this one, "
            why += f"{fits[0].right:.0%} were right"
        else:
            predicted = float(self.head.predict(features)[0])
            value = number_of(predicted, facts.logarithm)
            low, high = (number_of(predicted + sign * facts.error, facts.logarithm) for sign in (-1, 1))
            interval = low, high
            good, why = True, f"8 of 10 held-out answers were within {error_words(facts)}"
        if problem := facts.beyond(region, instructions, interval, distance) or facts.doubt:
            good, why = False, problem
        return CustomAnswer(region, value, probability, interval, distance, good, why)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the head to a folder, without pickle, for `load` and ``mirenc predict``."""
        return save_head(self.head, folder, extra={CUSTOM: self.facts.model_dump()}, arrays=self.reach.arrays())

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, encoder: Encoder | None = None) -> Self:
        """Read what `save` wrote. Raises HeadError: no such head, a damaged one, or one of a task."""
        head, extra, arrays = load_head_and_arrays(folder)
        if CUSTOM not in extra:
            task = extra["task"] if extra.get("task") in list_tasks() else "--task-file FILE.py"
            raise HeadError(f"{folder}: is a head of a task. Type: mirenc predict {task} INPUT --head {folder}")
        try:
            facts = CustomFacts.model_validate(extra[CUSTOM])
        except ValidationError as error:
            first = error.errors()[0]
            detail = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise HeadError(f"{folder}: head.json is damaged ({detail}). Train the head anew") from None
        if not isinstance(head, (LogisticHead, RidgeRegressor)) or isinstance(head, LogisticHead) > bool(facts.records):
            raise HeadError(f"{folder}: head.json is damaged (no head for a table of labels). Train the head anew")
        classes = getattr(head, "classes_", [])
        if isinstance(head, LogisticHead) and len(set(classes)) != max(len(classes), 2):
            raise HeadError(f"{folder}: head.json is damaged (its classes). Train the head anew")
        columns = int(head.n_features_in_)
        reach = Reach.from_arrays(arrays, facts.code_reach, columns=columns, where=os.fspath(folder))
        return cls(head, facts, reach, encoder)


def scaled(head: LogisticHead | RidgeRegressor, features: Float64) -> Float64:
    """Features as the head weighs them: centred, of unit variance, 0 where training code did not vary. (n, D)."""
    return (features - head.center_) / head.spread_


def number_of(predicted: float, logarithm: bool) -> float:
    """The number that a prediction stands for."""
    return float(np.expm1(predicted)) if logarithm else predicted


def error_words(facts: CustomFacts) -> str:
    """The error of held-out numbers: a factor, or a distance."""
    return f"a factor of {np.exp(facts.error):.2f} (of 1 + the number)" if facts.logarithm else f"{facts.error:.4g}"
