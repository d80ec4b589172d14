"""`fixed_lists`: the pass lists to try beside -Oz, the same for all code.

Nothing is predicted: on unseen projects ten lists that heads chose by the code saved no more than the ten that did best
together in training (``downstream/passes/suggest.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirenc.errors import HeadError, TaskError
from mirenc.passes.levels import expanded, level

if TYPE_CHECKING:
    from mirenc.deciding.head import TaskHead

__all__ = ["IDEAS", "TASK", "FixedList", "fixed_lists"]

TASK = "pass_list"
_HOISTING = "gvn-hoist"
# What -Oz runs after gvn-sink where LLVM's own flag puts that into it.
_SINKING = (
    "gvn-sink,simplifycfg<bonus-inst-threshold=1;no-forward-switch-cond;switch-range-to-icmp;no-switch-to-lookup;"
    "keep-loops;no-hoist-common-insts;no-sink-common-insts;speculate-blocks;simplify-cond-branch;"
    "no-speculate-unpredictables>"
)


@dataclass(frozen=True, slots=True)
class FixedList:
    """One pass list.

    Attributes
    ----------
    pipeline : str
        As ``opt -passes=`` takes it.
    origin : str
        Where it comes from, in words.
    """

    pipeline: str
    origin: str


def _with_gvn(passes: str) -> str:
    """-Oz with other passes where ``-enable-gvn-hoist`` and ``-enable-gvn-sink`` put theirs."""
    return expanded("Oz").replace("early-cse<memssa>,", f"early-cse<memssa>,{passes},")


IDEAS = (
    FixedList(level("Os"), "-Os"),
    FixedList(f"{level('Oz')},{level('Oz')}", "-Oz twice"),
    FixedList(_with_gvn(_HOISTING), "-Oz with gvn-hoist"),
    FixedList(_with_gvn(_SINKING), "-Oz with gvn-sink"),
    FixedList(_with_gvn(f"{_HOISTING},{_SINKING}"), "-Oz with gvn-hoist and gvn-sink"),
    # LLVM's inline threshold is an option of the whole process: no list has it.
    FixedList(expanded("Oz").replace("devirt<4>(inline,", "devirt<4>("), "-Oz without inlining"),
)
"""What people try by hand; always tried, beside the lists that training found."""


def fixed_lists(head: TaskHead, count: int) -> tuple[FixedList, ...]:
    """The first ``count`` lists of a head, each of which won most beside -Oz and those before it, and `IDEAS`.

    Parameters
    ----------
    head : TaskHead
        Of task ``pass_list``; its lists are those that its table found (`mirenc.tasks.pass_tasks.covering_lists`).
    count : int

    Raises
    ------
    HeadError
        A head of another task.
    TaskError
        ``count`` is below 1.
    """
    if head.task.name != TASK or head.space is None:
        raise HeadError(f"a head for {head.task.name} has no pass lists. Make one: mirenc fit {TASK} -o FOLDER")
    if count < 1:
        raise TaskError(f"{count} pass lists are wanted; allowed: 1 or more")
    found = [str(pipeline) for (pipeline,) in head.space.settings if pipeline != level("Oz")][:count]
    return (*(FixedList(one, f"found in training, {rank}") for rank, one in enumerate(found, 1)), *IDEAS)
