"""`Sample`: one measured run of one piece of code."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mirenc.decide.settings import Space
from mirenc.llvm import Region

IRSource = str | bytes | os.PathLike[str]
Costs = tuple[float, ...] | Mapping[int, float]


@dataclass(frozen=True)
class Sample:
    """One measured run of one piece of code."""

    name: str
    """What an error message calls it."""
    ir: IRSource | None
    """IR text, bitcode, or a file: whatever `mirenc.Encoder.embed` takes. Samples may share one. None: the data come
    without code, which a user may add (`mirenc.decide.with_ir`)."""
    group: str
    """The group of scikit-learn, mostly the kernel's source: it is never on both sides of a grouped fold."""
    context: tuple[Any, ...] = ()
    """The values of `Task.context`, in its order."""
    costs: Costs = ()
    """Seconds (or any unit, the same for one sample) under each setting of the space; NaN where there is none. Or
    sparse: index of the setting -> cost. () for a task that has no settings. The label and heads come from them."""
    value: float = float("nan")
    """The number to predict, for a task whose target is one; NaN otherwise."""
    region: Region | None = None
    """The function or loop that is decided about; the whole module if left out."""
    space: Space | None = None
    """This sample's own settings; those of the task if left out."""
    effective: tuple[int, ...] | None = None
    """For each setting, the setting that the compiler made of it: settings of one effective setting are one
    measurement, whose cost stands at the effective one. Left out: each is itself."""
    suite: str = ""
    """Benchmark suite; "" where there are none."""
    part: str = ""
    """Name of a part of the table that is reported by itself, such as the GPU; "" for none."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """Values of context features that a run counted (`Feature.from_run`), by name; {} where nobody counted."""
    hand_features: tuple[float, ...] = ()
    """Published hand-made features of the code, as heads see them, named by `Task.hand_feature_names`; () for none."""
    code: str = ""
    """Name of the IR file that is to be given, without its ending; "" where the data bring their IR."""
    reported: Costs = ()
    """Other measurements of the same settings, in the form of ``costs``, by which reports judge a choice: the least of
    the costs that labels come from is least partly by luck. (): reports judge by ``costs``."""
    labels: tuple[int, ...] = ()
    """Whether each of `TaskData.label_names` holds, 1 or 0, for a task whose target is labels; () otherwise."""
    kernel: str = ""
    """The piece of code, where a group holds many that are different, as a project does. The group if left out."""
    held_out: bool = False
    """Tested on only, by protocols that say so (`mirenc.decide.Protocol`)."""
