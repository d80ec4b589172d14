"""`Task`: a decision problem: its samples, the settings to choose among or what is predicted, and how it is judged.

A task of your own is a Python file with a subclass of `Task`; ``mirenc evaluate --task-file FILE.py --data DIR`` runs
it through the same protocols, baselines and search as the shipped ones (`notebooks/your_own_task.ipynb`). It must
state ``name``, ``title``, the settings (``space``) and its `samples`; everything else has a default.
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from mirenc.base.errors import TaskError
from mirenc.decide.context import Context
from mirenc.decide.prediction import Choice, PredictedNumber, Prediction
from mirenc.decide.protocols import BY_GROUP, BY_ROW, Protocol
from mirenc.decide.sample import IRSource, Sample
from mirenc.decide.settings import Setting, Space
from mirenc.decide.task_data import TaskData, hash_samples
from mirenc.encoder import Encoder
from mirenc.llvm import Dialect, IRModule, Region, regions_of
from mirenc.llvm.inputs.input import resolve_input


class Task:
    """A decision problem with measured costs, or a number or labels to predict."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str] = ""  # the paper, data set or command that the labels come from
    labels_from: ClassVar[str] = ""  # ``published``, ``measured`` or ``compiled``; "": from elsewhere
    dataset: ClassVar[str] = ""  # name in `mirenc.decide.datasets.dataset_registry.DATASETS`, if it is published there
    variants: ClassVar[tuple[str, ...]] = ("",)  # separate tables of the task, such as one a GPU
    # Variant -> whether its shipped head is asked about a module where no variant is named, and not the first one's
    variant_of_code: ClassVar[Mapping[str, Callable[[IRModule], bool]]] = {}
    machines: ClassVar[Mapping[str, str]] = {}  # variant, or value of a context feature -> what was measured on
    protocols: ClassVar[tuple[Protocol, ...]] = (BY_ROW, BY_GROUP)  # the published one first
    context: ClassVar[Context] = Context()  # what is known beside the code
    hand_feature_names: ClassVar[tuple[str, ...]] = ()  # of published features of the code (`Sample.hand_features`)
    # ``costs``: a cost for each setting, and the least is chosen. ``number``: `Sample.value` is predicted. ``labels``:
    # whether each of `Sample.labels` holds.
    target: ClassVar[str] = "costs"

    # The code that is decided about
    level: ClassVar[str] = "module"  # or ``function``, ``loop`` (`mirenc.llvm.analysis.regions`)
    other_levels: ClassVar[tuple[str, ...]] = ()  # levels that a question may be about as well
    dialect: ClassVar[Dialect | None] = None  # the kind of IR that questions are brought to; None: taken as it comes

    # Target ``costs``
    space: ClassVar[Space | None] = None  # the settings; None where each sample brings its own (`space_for`)
    select: ClassVar[str] = "accuracy"  # what a search for a head maximises: ``accuracy`` or ``speedup``
    cost_unit: ClassVar[str] = "seconds"  # or ``bytes``: reports then say smaller in place of faster
    seconds: ClassVar[bool] = False  # whether heads also learn how many seconds the default takes
    baselines: ClassVar[Mapping[str, int]] = {}  # settings that speedups are also given over: name -> index
    portfolios: ClassVar[tuple[int, ...]] = ()  # sizes of sets of settings to try, for more rows of a report

    default_words: ClassVar[str] = ""  # how to say that the default is the answer; "": by its name
    directive_note: ClassVar[str] = ""  # what people must know who write a `directive` into their source

    # Target ``number``
    unit: ClassVar[str] = ""
    logarithm: ClassVar[bool] = False  # whether it is a natural logarithm, so that errors are also given in per cent
    # Variant -> (words, least number): reports also say how well it is foreseen that the number is so large
    events: ClassVar[Mapping[str, tuple[str, float]]] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, title={self.title!r})"

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"context": self.context.names}  # functions of a context may have no name to pickle

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, context=self.context.beginning(state["context"]))

    def __init_subclass__(cls) -> None:
        if isinstance(cls.context, Context):  # else `mirenc.decide.registry` refuses the task
            cls.context = cls.context.named(getattr(cls, "name", ""))

    # -- samples and settings ---------------------------------------------------------------------------
    def samples(self, folder: Path, variant: str) -> Iterable[Sample]:
        """The samples of a variant, from the files in a folder. Raises TaskError and OSError, which name the row."""
        raise TaskError(f"task {self.name!r} has no samples: its class must define samples(folder, variant)")

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        """Read the `samples` of one of ``variants``; ``data_dir`` is where the data are, here if left out."""
        samples = list(self.samples(Path(data_dir or "."), self.check_variant(variant)))
        return TaskData(samples, self.space, hash_samples(samples))

    def space_for(self, context: tuple[Any, ...]) -> Space:
        """The settings to choose among for a question with these context features."""
        if self.space is None:
            raise TaskError(f"task {self.name!r} has no settings of its own: its class must define space_for(context)")
        return self.space

    def permitted(
        self, space: Space, module: IRModule, region: Region | None, context: tuple[Any, ...]
    ) -> tuple[tuple[Setting, ...], str]:
        """The settings that a piece of code can run with, the default first, and why no others; "" where all can.

        Raises TaskError: it can run with none, or not in this context.
        """
        return space.default_first, ""

    # -- code -------------------------------------------------------------------------------------------
    def read(self, encoder: Encoder, ir: Any) -> IRModule:
        """The module of a question, in the task's dialect. Raises MirencError: as `mirenc.read_ir`."""
        return encoder.read(ir, dialect=self.dialect)

    def read_sample(self, encoder: Encoder, ir: IRSource) -> IRModule:
        """A sample's module: a source as `read` has it, so that training and questions agree; IR as it is."""
        return self.read(encoder, ir) if resolve_input(ir).language else encoder.read(ir)

    def regions(self, module: IRModule) -> list[Region]:
        """The regions of ``level`` that are decided about."""
        return regions_of(module, self.level).regions

    def modules(self, module: IRModule, regions: Sequence[Region | None]) -> list[IRModule]:
        """The module that each region is embedded in, as it is in the samples."""
        return [module] * len(regions)

    # -- answers in words -------------------------------------------------------------------------------
    def directive(self, setting: Setting) -> str:
        """The line of source that asks for a setting, such as a pragma; "" where there is none."""
        return ""

    def directive_of(self, answer: Prediction) -> str:
        """The line of source for an answer; "" for the default."""
        return self.directive(answer.setting) if isinstance(answer, Choice) and answer.choice != answer.default else ""

    def number_words(self, answer: PredictedNumber) -> str:
        """The predicted number with its unit."""
        return f"{answer.value:.6g} {self.unit}".strip()

    def remarks(self, answer: Any) -> list[str]:
        """Lines that `mirenc predict` prints below an answer (`Prediction`)."""
        return []

    def details(self, answer: Any) -> dict[str, Any]:
        """Fields that ``--json`` adds to an answer."""
        return {}

    # -- look-ups ---------------------------------------------------------------------------------------
    def known_to(self, names: Sequence[str]) -> "Task":
        """The task with the context features of a head, which may be older than some (`Context.beginning`)."""
        task = copy.copy(self)
        task.__dict__["context"] = self.context.beginning(names)
        return task

    def machine(self, variant: str, context: tuple[Any, ...] = ()) -> str:
        """The machine a table's costs were measured on (``machines``); "" where the task names none."""
        return next((self.machines[key] for key in (variant, *context) if key in self.machines), "")

    def protocol(self, name: str) -> Protocol:
        """The protocol of this name. Raises TaskError: unknown name."""
        protocols = {protocol.name: protocol for protocol in self.protocols}
        if name not in protocols:
            raise TaskError(f"{self.name} has no protocol {name!r}; available: {', '.join(protocols)}")
        return protocols[name]

    def check_variant(self, variant: str) -> str:
        """The variant, the first one for ``""``. Raises TaskError: unknown name."""
        if variant and variant not in self.variants:
            allowed = ", ".join(filter(None, self.variants)) or "none, for it has one table only. Leave the variant out"
            raise TaskError(f"{self.name} has no variant {variant!r}; available: {allowed}")
        return variant or self.variants[0]

    def check_level(self, level: str) -> str:
        """The level of a question, the task's own for ``""``. Raises TaskError: the task says nothing about it."""
        levels = (self.level, *self.other_levels)
        if level and level not in levels:
            raise TaskError(f"task {self.name} has no answers about a {level}; available: {', '.join(levels)}")
        return level or self.level

    def check_data(self, data: TaskData) -> None:
        """Raise TaskError for samples of another target, or of another space than the task's own."""
        data.check_fits(self.name, self.target, self.space)
