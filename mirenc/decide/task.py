"""`Task`: what a decision problem is. One file a task; this one holds what all of them share.

A task of your own is a Python file with a subclass of `Task`; ``mirenc evaluate --task-file FILE.py --data DIR`` runs
it through the same protocols, baselines and search as the shipped ones (`notebooks/` walks through one).
"""

import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mirenc.base.arrays import Float64
from mirenc.base.errors import MirencError, TaskError
from mirenc.decide.prediction import Choice, PredictedNumber, Prediction
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import IRSource, Sample
from mirenc.decide.settings import Permitted, Space, Value
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder
from mirenc.llvm import Dialect, IRModule, Region, regions_of
from mirenc.llvm.inputs.input import resolve_input
from mirenc.llvm.passes.look_ahead import LoopCode


class Task(ABC):
    """A decision problem with measured costs, or a number or labels to predict."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    """The paper or data set the costs come from."""
    protocols: ClassVar[tuple[Protocol, ...]]
    """The published one first."""
    target: ClassVar[str] = "costs"
    """``costs``: a cost for each setting, and the least is chosen. ``number``: `Sample.value` is predicted. ``labels``:
    whether each of `Sample.labels` holds."""
    context_names: ClassVar[tuple[str, ...]] = ()
    context_help: ClassVar[Mapping[str, str]] = {}
    """Context features, which are known beside the code, raw, as ``mirenc predict --context name=value`` takes them;
    and what each is, for messages: unit, or allowed values."""
    context_allowed: ClassVar[Mapping[str, tuple[Value, ...] | float]] = {}
    """The values that a context feature may have, words or numbers; or the least number. Left out: any number."""
    ir_context: ClassVar[tuple[str, ...]] = ()
    """Those that the IR itself tells (`context_from_ir`, `context_from_compiler`): a question need not give them."""
    compiler_context: ClassVar[tuple[str, ...]] = ()
    """Those of ``ir_context`` that are a compiler's own decision about the code; 0: not known. They are knowledge of
    code: row ``no_code`` does not see them, row ``compiler`` sees them and nothing else of it."""
    run_context: ClassVar[tuple[str, ...]] = ()
    """Those that only a run tells (`Sample.run`): rows that are told them say so."""
    looks_ahead: ClassVar[bool] = False
    """Whether `look_ahead` says what each setting makes of the code."""
    hand_names: ClassVar[tuple[str, ...]] = ()
    """Published hand-made code features; () if the data have none."""
    variants: ClassVar[tuple[str, ...]] = ("",)
    """Separate tables of the task, such as one a GPU; ``("",)`` if there is one."""
    machines: ClassVar[Mapping[str, str]] = {}
    """Variant, or value of a context feature -> the machine its costs were measured on, for people."""
    dataset: ClassVar[str] = ""
    """Name in `mirenc.decide.datasets.dataset_registry.DATASETS`; "" for data that are not published there."""
    level: ClassVar[str] = "module"
    """What is decided about: ``module``, ``function`` or ``loop`` (`mirenc.llvm.analysis.regions`)."""
    other_levels: ClassVar[tuple[str, ...]] = ()
    """Levels that a question may be about as well."""
    dialect: ClassVar[Dialect | None] = None
    """The kind of IR that the samples are, with the compile flags that give it: what `mirenc predict` is asked about is
    brought to it. None: taken as it comes."""
    # where settings are chosen
    space: ClassVar[Space | None] = None
    """The settings to choose among; None where each sample brings its own (`space_for`), or nothing is chosen."""
    select: ClassVar[str] = "accuracy"
    """What the search for a head maximises on the training folds: ``accuracy`` or ``speedup``."""
    cost_unit: ClassVar[str] = "seconds"
    """What costs are: ``seconds`` or ``bytes``. Tables then speak of what is faster or of what is smaller."""
    seconds: ClassVar[bool] = False
    """Whether costs are seconds that code and context tell: a head then also learns what the default takes."""
    baselines: ClassVar[Mapping[str, int]] = {}
    """Static choices that speedups are also given over: name -> index of the setting."""
    portfolios: ClassVar[tuple[int, ...]] = ()
    """Sizes of small sets of settings that a report has a row for: all of a set are tried, and the best is kept."""
    default_words: ClassVar[str] = ""
    """How to say that the default is the answer; "": by its name."""
    directive_note: ClassVar[str] = ""
    """What people must know who write `directive` into their source."""
    # where a number is predicted
    unit: ClassVar[str] = ""
    """Of the number to predict, for people."""
    logarithm: ClassVar[bool] = False
    """Whether the number is the natural logarithm of a size, so that errors are also told in per cent of it."""
    events: ClassVar[Mapping[str, tuple[str, float]]] = {}
    """Variant -> what a number of at least so much means, in words: figures then also say how well it is foreseen."""

    # -- samples ---------------------------------------------------------------------------------------
    @abstractmethod
    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        """Read the samples of one of `variants`.

        ``data_dir`` is where the data sets are; ``MIRENC_DATA`` or the download folder if left out. Raises TaskError
        and OSError: missing files or columns, a kernel without IR, a bad cost: the row or key is named.
        """

    def hand_features(self, sample: Sample) -> Float64:
        """The sample's `hand_names`, as numbers for a head: (len(hand_names),) float64. Here: as they are."""
        return np.array(sample.hand, dtype=np.float64)

    def check_data(self, data: TaskData) -> None:
        """Raise TaskError for samples of another target, or of another space than the task's own."""
        if data.target != self.target:
            words = {"costs": "costs of settings", "number": "numbers to predict", "labels": "labels"}[data.target]
            found = f"has target {self.target!r}, and its samples have {words}. Mend the task"
            raise TaskError(f"task {self.name!r} {found}")
        if self.space is not None and not (data.shares_space and data.space == self.space):
            found = "has a space, and its samples another. Give `space` to TaskData, or leave it out"
            raise TaskError(f"task {self.name!r} {found}")

    # -- context ---------------------------------------------------------------------------------------
    def encode_context(self, context: tuple[Any, ...]) -> Float64:
        """Raw context features as numbers for a head: (A,) float64. Here: as they are."""
        return np.array(context, dtype=np.float64)

    def checked_context(self, context: tuple[Any, ...]) -> Float64:
        """Context features as a head sees them, of a sample or of a question. (A,).

        Raises TaskError: too many or too few, or what does not become finite numbers.
        """
        if len(context) != len(self.context_names):
            names = f"{len(self.context_names)}: {', '.join(self.context_names) or 'none'}"
            raise TaskError(f"{len(context)} context features were given; {self.name} names {names}. Give one for each")
        for name, value in zip(self.context_names, context, strict=True):
            if name in self.context_allowed:
                self.check_feature(name, value, value)
        try:
            with np.errstate(all="ignore"):  # what comes of it is looked at below
                encoded = np.asarray(self.encode_context(context), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise error if isinstance(error, MirencError) else TaskError(str(error)) from None
        if not np.isfinite(encoded).all():
            raise TaskError(f"context features {context} are {encoded} for a head, not finite numbers")
        return encoded

    def context_from_ir(self, module: IRModule, region: Region | None) -> Mapping[str, Any]:
        """Values of `ir_context` for one region of a module, as `parse_context` takes them: text or numbers."""
        return {}

    def context_sources(self, module: IRModule, region: Region | None) -> Mapping[str, str]:
        """What in the IR tells values of `context_from_ir`, in words, by the feature's name. Here: not said."""
        return {}

    def context_from_compiler(
        self, module: IRModule, region: Region | None, context: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Values of `compiler_context` for one region of a module, where the other context features are known."""
        return {}

    def machine_context(self) -> Mapping[str, str]:
        """Context features of this machine, for a question on the command line that leaves them out."""
        return {}

    def ask_context(self, given: Mapping[str, str]) -> tuple[Any, ...] | None:
        """`parse_context` before the code of a question is read: None where the code has yet to tell some."""
        missing = [name for name in self.ir_context if name not in given]
        if not missing:
            return self.parse_context(given)
        self._check_context_names({**dict.fromkeys(missing, ""), **given})
        for name, text in given.items():
            self.parse_feature(name, text)
        return None

    def parse_context(self, given: Mapping[str, str]) -> tuple[Any, ...]:
        """``--context`` values in the order of `context_names`. Raises TaskError: a missing, unknown or bad one."""
        self._check_context_names(given)
        return tuple(self.parse_feature(name, given[name]) for name in self.context_names)

    def parse_feature(self, name: str, text: str) -> Any:
        """The value of one of `context_names`: a word, case aside, or a number. Raises TaskError: not allowed."""
        allowed = self.context_allowed.get(name)
        words = {one.lower(): one for one in allowed if isinstance(one, str)} if isinstance(allowed, tuple) else {}
        value: Any = words.get(text.lower(), text)
        if not words:
            with contextlib.suppress(ValueError):
                value = float(text)
        self.check_feature(name, value, text)
        return value

    def check_feature(self, name: str, value: Any, given: Any) -> None:
        """Refuse a value of a context feature that is not allowed, by a `TaskError` that says what was ``given``."""
        allowed = self.context_allowed.get(name, -math.inf)
        number = isinstance(value, Real) and math.isfinite(value)
        if value in allowed if isinstance(allowed, tuple) else number and value >= allowed:
            return
        if name in self.context_allowed:
            raise TaskError(f"context feature {name!r} is {given!r}; allowed: {self.context_help.get(name, allowed)}")
        raise TaskError(f"context feature {name!r} is {given!r}; it must be a finite number, as in {name}=128")

    def _check_context_names(self, given: Mapping[str, str]) -> None:
        wanted = ",".join(f"{name}=..." for name in self.context_names if name not in self.ir_context)
        helped = [name for name in self.context_names if name in self.context_help]
        wanted += "".join(f"; {name}: {self.context_help[name]}" for name in helped)
        wanted += "".join(f"; {name}: read from the code where it is left out" for name in self.ir_context)
        for name in given:
            if name not in self.context_names:
                raise TaskError(f"unknown context feature {name!r} for {self.name}. Give --context {wanted}")
        missing = [name for name in self.context_names if name not in given]
        if missing:
            raise TaskError(f"{self.name} also needs {', '.join(map(repr, missing))}. Give --context {wanted}")

    # -- code ------------------------------------------------------------------------------------------
    def read(self, encoder: Encoder, ir: Any) -> IRModule:
        """A module for a question: sources are compiled to the task's dialect, and IR of another is brought to it.

        Raises ForeignIRError: no kernel in it, or instructions that the dialect has no word for; MirencError: As
        `mirenc.read_ir`.
        """
        return encoder.read(ir, dialect=self.dialect)

    def read_sample(self, encoder: Encoder, ir: IRSource) -> IRModule:
        """A sample's module: a source as `read` has it, so that training and questions agree. IR is the task's own."""
        return self.read(encoder, ir) if resolve_input(ir).language else encoder.read(ir)

    def regions(self, module: IRModule) -> list[Region]:
        """What of a module is decided about: all regions of `level`."""
        return regions_of(module, self.level).regions

    def modules(self, module: IRModule, regions: Sequence[Region | None]) -> list[IRModule]:
        """The module that each region is looked at in, as the samples have it. Here: its own."""
        return [module] * len(regions)

    def look_ahead(
        self, module: IRModule, region: Region | None, context: tuple[Any, ...]
    ) -> Sequence[LoopCode | None]:
        """What each setting makes of a region; None where nobody knows. Here: nobody does."""
        return [None] * len(self.space_for(context))

    def may_change(self, module: IRModule, region: Region | None, context: tuple[Any, ...]) -> bool:
        """Whether any setting may make other code of a region than the default does. Here: nobody knows better."""
        return True

    def iterations(self, context: tuple[Any, ...]) -> tuple[float, ...]:
        """How often what is decided about runs each time, or may run, of its context features; (): nobody knows."""
        return ()

    def check_level(self, level: str) -> str:
        """The level of a question, the task's own for ``""``. Raises TaskError: the task says nothing about it."""
        levels = (self.level, *self.other_levels)
        if level and level not in levels:
            raise TaskError(f"task {self.name} has nothing to say about a {level}; available: {', '.join(levels)}")
        return level or self.level

    # -- answers ---------------------------------------------------------------------------------------
    def space_for(self, context: tuple[Any, ...]) -> Space:
        """The settings to choose among for a question with these context features. Here: `space`."""
        if self.space is None:
            raise TaskError(f"task {self.name!r} has no settings of its own: its class must define space_for(context)")
        return self.space

    def permitted(self, space: Space, module: IRModule, region: Region | None, context: tuple[Any, ...]) -> Permitted:
        """The settings of a space that a piece of code can run with. Here: all.

        Raises TaskError: it can run with none of them, or not in this context.
        """
        return Permitted(space.default_first)

    def directive(self, setting: tuple[Value, ...]) -> str:
        """The line that makes a setting in a source; "" for the default, and where none does."""
        return ""

    def directive_of(self, answer: Prediction) -> str:
        """The line of source that an answer stands for; "" for the default, and where there are no such lines."""
        return self.directive(answer.setting) if isinstance(answer, Choice) and answer.choice != answer.default else ""

    def number_words(self, answer: PredictedNumber) -> str:
        """The predicted number for people."""
        return f"{answer.value:.6g} {self.unit}".strip()

    def remarks(self, answer: Any) -> list[str]:
        """What `mirenc predict` tells people of an answer (`Prediction`) beside it, a line each. Here: nothing."""
        return []

    def details(self, answer: Any) -> dict[str, Any]:
        """What ``--json`` has of an answer beside it. Here: nothing."""
        return {}

    # -- tables ----------------------------------------------------------------------------------------
    def machine(self, variant: str, context: tuple[Any, ...] = ()) -> str:
        """The machine a table's costs were measured on (`machines`); "" where the task names none."""
        return next((self.machines[key] for key in (variant, *context) if key in self.machines), "")

    def protocol(self, name: str) -> Protocol:
        """The protocol of this name. Raises TaskError: unknown name."""
        known = {protocol.name: protocol for protocol in self.protocols}
        if name not in known:
            raise TaskError(f"{self.name} has no protocol {name!r}; available: {', '.join(known)}")
        return known[name]

    def check_variant(self, variant: str) -> str:
        """The variant, the first one for ``""``. Raises TaskError: unknown name."""
        if variant and variant not in self.variants:
            known = ", ".join(self.variants) or "none, for it has one table only. Leave the variant out"
            raise TaskError(f"{self.name} has no variant {variant!r}; available: {known}")
        return variant or self.variants[0]
