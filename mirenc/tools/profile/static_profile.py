"""`StaticProfile`: trees that were trained on profiles predict where branches go and how long loops run.

They see what is written about a branch and a loop (`mirenc.tools.profile.branches`, `.loops`), and no vectors: those
added nothing on projects that no tree saw. Grown by ``downstream/profile/evaluate.py``, where the figures are.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from mirenc.base.arrays import Float64, Int64
from mirenc.base.errors import HeadError, MirencError
from mirenc.base.shown import short_repr
from mirenc.decide.estimators.head_state import register
from mirenc.decide.estimators.saved_heads import load_head
from mirenc.decide.estimators.trees import BoostedChances
from mirenc.llvm import IRModule, parse_ir
from mirenc.llvm.analysis.profile import profiled_shares
from mirenc.llvm.inputs.dialect import Dialect
from mirenc.llvm.passes.find_llvm import EmbeddedEngine
from mirenc.tools.profile.branches import branches_of
from mirenc.tools.profile.loops import Loops, describe_loops

TRIP_CLASSES = ("once", "2 to 7", "8 to 31", "32 to 255", "256 and more")
"""Executions of a loop's header each time it is entered."""
CLASS_STARTS = (2, 8, 32, 256)
_FLAGS = ("-O1", "-Xclang", "-disable-llvm-passes", "-Xclang", "-disable-lifetime-markers", "-gline-tables-only")
FRONT_END = Dialect(
    title="C or C++ as the front end writes it, before any pass",
    flags={"c": ("-x", "c", *_FLAGS), "c++": ("-x", "c++", *_FLAGS)},
)
_READY = Path(__file__).parent / "ready"
_MINIMUM = 1e-3  # a way is never taken for certain
_OPTNONE = re.compile(r"^(attributes #\d+ = \{.*?)\boptnone ", re.MULTILINE)


class Prediction(NamedTuple):
    """Predictions for a module's n branches of two ways and N loops (`mirenc.llvm.analysis.loops.find_loops`)."""

    block: Int64  # (n,) of the module: the one that ends with the branch
    first_probability: Float64  # (n,) that it goes the first way
    class_probabilities: Float64  # (N, 5) of `TRIP_CLASSES`
    constant_count: Int64  # (N,) executions each time where constants say it; else 0

    def __repr__(self) -> str:
        return short_repr(self)

    def shares(self, module: IRModule) -> Float64:
        """The share of its block that each of the C edges takes: by ``!prof`` if there is one, else as predicted."""
        shares, is_known = profiled_shares(module)
        is_new = ~is_known[self.block]
        edges = module.arrays.successor_start[self.block[is_new]]
        shares[edges], shares[edges + 1] = self.first_probability[is_new], 1 - self.first_probability[is_new]
        return shares

    def counted(self, module: IRModule) -> Self:
        """The predictions, with the module's ``!prof`` at branches that have one."""
        edges = module.arrays.successor_start[self.block]
        return self._replace(first_probability=self.shares(module)[edges])


@register("static_profile")
@dataclass(eq=False)
class StaticProfile:
    """Trees for branches (chances of both ways) and for loops (of each of `TRIP_CLASSES`)."""

    branches: BoostedChances
    loops: BoostedChances
    worth: dict[str, str] = field(default_factory=dict)  # in words, on projects that no tree saw

    @classmethod
    def load(cls, folder: str | Path = _READY) -> Self:
        """The shipped trees, or those of a folder. Raises HeadError: there are none."""
        head, _ = load_head(folder)
        if not isinstance(head, cls):
            raise HeadError(f"{folder}: this head does not predict profiles. Leave --head out")
        return head

    def predict(self, module: IRModule) -> Prediction:
        """Branches and loops of a module of any form: trees know it with its variables in registers."""
        ssa_module = in_registers(module)
        branches = branches_of(ssa_module)
        loops = describe_loops(ssa_module, branches)
        first = self.branches.predict(branches.features)[:, 0] if len(branches.block) else np.zeros(0)
        class_shares = self.loops.predict(loops.features) if len(loops.exit) else np.zeros((0, len(TRIP_CLASSES)))
        first = first.clip(_MINIMUM, 1 - _MINIMUM)
        return with_constant_trips(Prediction(branches.block, first, class_shares, loops.constant), loops)

    def _state(self) -> dict[str, Any]:
        return vars(self)

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        return cls(**state)


def in_registers(module: IRModule) -> IRModule:
    """The module with its variables in registers, as in training, and the same blocks; unchanged if LLVM fails."""
    text = _OPTNONE.sub(r"\1", module.text)
    try:
        with EmbeddedEngine() as engine:
            result = parse_ir(engine.text(text.encode("utf-8", "surrogateescape"), "sroa"))
    except MirencError:
        return module
    same_starts = np.array_equal(result.arrays.successor_start, module.arrays.successor_start)
    return result if same_starts and np.array_equal(result.arrays.successor, module.arrays.successor) else module


def with_constant_trips(prediction: Prediction, loops: Loops) -> Prediction:
    """Replace predictions for loops whose number of iterations follows from constants."""
    first, shares = prediction.first_probability.copy(), prediction.class_probabilities.copy()
    for loop in np.flatnonzero((prediction.constant_count > 0) & (loops.exit >= 0)).tolist():
        exit_share = 1 / prediction.constant_count[loop]
        first[loops.exit[loop]] = np.clip(exit_share if loops.out[loop] else 1 - exit_share, _MINIMUM, 1 - _MINIMUM)
    constant_loops = np.flatnonzero(prediction.constant_count)
    classes = np.searchsorted(CLASS_STARTS, prediction.constant_count[constant_loops], side="right")
    shares[constant_loops] = np.eye(len(TRIP_CLASSES))[classes]
    return prediction._replace(first_probability=first, class_probabilities=shares)
