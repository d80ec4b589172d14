"""`Context`: what a task knows beside the code, such as a problem size or the GPU."""

import contextlib
import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from mirenc.base.arrays import Float64
from mirenc.base.errors import MirencError, TaskError
from mirenc.decide.settings import Value
from mirenc.llvm import IRModule, Region

_LARGEST_WHOLE = 2**53  # up to here a float64 holds every whole number


@dataclass(frozen=True)
class Feature:
    """One context feature: a finite number, or one of the values that are allowed."""

    name: str
    """As ``mirenc predict --context name=value`` takes it."""
    help: str = ""
    """Unit or allowed values, for messages and ``mirenc tasks``."""
    allowed: tuple[Value, ...] = ()
    """Words or numbers. A number that is not among them is allowed only from ``least`` on."""
    least: float | None = None
    """The least number. None: any number where ``allowed`` is empty, else no other."""
    whole: bool = False
    """Whether it must be a whole number."""
    known_from: Literal["question", "ir", "compiler"] = "question"
    """Who knows it. ``ir``: the IR tells it (`Context.from_ir`). ``compiler``: it is a compiler's own decision about
    the code (`Context.from_compiler`); 0: not known. A question may leave both out. A compiler's decision is knowledge
    of code: row ``no_code`` does not see it, row ``compiler`` sees it and nothing else of the code."""
    from_run: bool = False
    """Whether a run knows it better (`Sample.run`): rows of a report that use it say so."""
    unknown: Value = 0
    """The value that stands for not known."""

    @property
    def optional(self) -> bool:
        """Whether a question may leave it out, because the code tells it."""
        return self.known_from != "question"

    def parse(self, text: str) -> Any:
        """The value that a text stands for: a word, whatever its case, or a number. Raises TaskError: not allowed."""
        words = {word.lower(): word for word in self.allowed if isinstance(word, str)}
        value: Any = words.get(text.lower(), text)
        if value not in self.allowed:
            with contextlib.suppress(ValueError):
                value = float(text)
        self.check(value, text)
        return int(value) if self.whole and not isinstance(value, str) else value

    def check(self, value: Any, found: Any) -> None:
        """Raise TaskError if the value is not allowed; ``found`` is how the message shows it."""
        least = self.least
        if least is None:
            least = math.inf if self.allowed else -math.inf
        number = float(value) if isinstance(value, Real) else math.nan
        fits = math.isfinite(number) and number >= least
        if self.whole:
            fits = fits and abs(number) <= _LARGEST_WHOLE and number.is_integer()
        if fits or value in self.allowed:
            return
        if self.allowed or self.least is not None:
            allowed = self.help or ", ".join(map(str, self.allowed)) or f"{self.least} or more"
            raise TaskError(f"context feature {self.name!r} is {found!r}; allowed: {allowed}")
        problem = f"context feature {self.name!r} is {found!r}; it must be a finite number"
        raise TaskError(f"{problem}, as in {self.name}=128")


class Context:
    """The context features of a task, and how they become numbers for a head.

    Parameters
    ----------
    features
        In the order of `Sample.context`. A name alone is a feature of any finite number.
    encode
        The values -> numbers for a head, (A,). Left out: numbers as they are, words as one column of 0 and 1 each.
    from_ir
        Module and region -> values of the features that the IR tells, by name: text or numbers.
    ir_sources
        Module and region -> what in the IR a value was read from, in words, by the feature's name; {} where it is plain
    from_compiler
        Module, region and the other values by name -> values of the features that a compiler decides.
    from_machine
        Features of the machine at hand, for questions on the command line that leave them out.

    Examples
    --------
    >>> context = Context("length", Feature("gpu", allowed=("A100", "H100")))
    >>> context.parse({"gpu": "h100", "length": "64"})
    (64.0, 'H100')
    >>> context.encode((64.0, "H100")).tolist()
    [64.0, 0.0, 1.0]
    """

    def __init__(
        self,
        *features: Feature | str,
        encode: Callable[[tuple[Any, ...]], Any] | None = None,
        from_ir: Callable[[IRModule, Region | None], Mapping[str, Any]] = lambda module, region: {},
        ir_sources: Callable[[IRModule, Region | None], Mapping[str, str]] = lambda module, region: {},
        from_compiler: Callable[
            [IRModule, Region | None, Mapping[str, Any]], Mapping[str, Any]
        ] = lambda module, region, values: {},
        from_machine: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self.task = "the task"
        self.features = tuple(Feature(feature) if isinstance(feature, str) else feature for feature in features)
        self.names = tuple(feature.name for feature in self.features)
        self.optional_names = self._names(lambda feature: feature.optional)
        self.compiler_names = self._names(lambda feature: feature.known_from == "compiler")
        self.run_names = self._names(lambda feature: feature.from_run)
        self._encode = encode or self._columns
        self.from_ir, self.ir_sources, self.from_compiler = from_ir, ir_sources, from_compiler
        self.from_machine = from_machine

    def named(self, task: str) -> "Context":
        """The same features, for errors that name the task."""
        context = copy.copy(self)
        context.task = task or self.task
        return context

    def beginning(self, names: Sequence[str]) -> "Context":
        """The context cut to ``names``, for a head that is older than later, optional features; else this one."""
        count = len(names)
        additions = self.features[count:]
        if tuple(names) != self.names[:count] or not additions or not all(feature.optional for feature in additions):
            return self
        options = {name: getattr(self, name) for name in ("ir_sources", "from_compiler", "from_machine")}

        def from_ir(module: IRModule, region: Region | None) -> Mapping[str, Any]:
            return {name: value for name, value in self.from_ir(module, region).items() if name in names}

        return Context(*self.features[:count], encode=self._encode, from_ir=from_ir, **options).named(self.task)

    def _names(self, condition: Callable[[Feature], bool]) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features if condition(feature))

    def encode(self, values: tuple[Any, ...]) -> Float64:
        """Checked values, in the order of ``names``, as a head sees them. (A,) float64.

        Raises TaskError: too many or too few, one that is not allowed, or what does not become finite numbers.
        """
        if len(values) != len(self.names):
            allowed = f"{len(self.names)}: {', '.join(self.names) or 'none'}"
            problem = f"{len(values)} context features were given, but {self.task} has {allowed}"
            raise TaskError(f"{problem}. Give a value for each")
        for feature, value in zip(self.features, values, strict=True):
            feature.check(value, value)
        try:
            with np.errstate(all="ignore"):  # the result is checked below
                encoded = np.asarray(self._encode(values), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise error if isinstance(error, MirencError) else TaskError(str(error)) from None
        if not np.isfinite(encoded).all():
            raise TaskError(f"context features {values} become {encoded}, not all finite. Give other values")
        return encoded

    def _columns(self, values: tuple[Any, ...]) -> list[float]:
        columns: list[float] = []
        for feature, value in zip(self.features, values, strict=True):
            words = [word for word in feature.allowed if isinstance(word, str)]
            columns += [float(value == word) for word in words] if words else [float(value)]
        return columns

    def parse(self, texts: Mapping[str, str]) -> tuple[Any, ...]:
        """Values in the order of ``names``. Raises TaskError: a missing, unknown or bad one."""
        self._check_names(texts)
        return tuple(feature.parse(texts[feature.name]) for feature in self.features)

    def parse_question(self, texts: Mapping[str, str]) -> tuple[Any, ...] | None:
        """As `parse`, but None where some values are left out that the code tells, which is read later."""
        missing = [name for name in self.optional_names if name not in texts]
        if not missing:
            return self.parse(texts)
        self._check_names({**dict.fromkeys(missing, ""), **texts})
        for feature in self.features:
            if feature.name in texts:
                feature.parse(texts[feature.name])
        return None

    def complete(
        self, texts: Mapping[str, str], module: IRModule, region: Region | None
    ) -> tuple[tuple[Any, ...], Mapping[str, str]]:
        """Values in the order of ``names``, where missing ones are read from the code; and what they were read from."""
        sources = {name: source for name, source in self.ir_sources(module, region).items() if name not in texts}
        values = {**self.from_ir(module, region), **texts}
        if not values.keys() >= set(self.compiler_names):
            values = {**self.from_compiler(module, region, values), **values}
        return self.parse({name: str(value) for name, value in values.items()}), sources

    def _check_names(self, texts: Mapping[str, str]) -> None:
        advice = ",".join(f"{name}=..." for name in self.names if name not in self.optional_names)
        advice += "".join(f"; {feature.name}: {feature.help}" for feature in self.features if feature.help)
        advice += "".join(f"; {name}: read from the code where it is left out" for name in self.optional_names)
        for name in texts:
            if name not in self.names:
                names = ", ".join(self.names) or "none"
                raise TaskError(f"{self.task} has no context {name!r}. It takes: {names}. Details: mirenc tasks")
        if missing := [name for name in self.names if name not in texts]:
            raise TaskError(f"{self.task} also needs {', '.join(map(repr, missing))}. Give --context {advice}")
