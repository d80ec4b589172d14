"""Which projects of a corpus are held out: none that the model, or a model before it, learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from mirenc.errors import ConfigError

__all__ = ["hold_out"]

_SHOWN = 12


def hold_out(
    projects: Sequence[str], share: float, seed: int, *, seen: Mapping[str, str], named: Sequence[str]
) -> list[str]:
    """Projects to hold out; arguments as of `Corpus.split`.

    Parameters
    ----------
    projects : sequence of str, length M
        Of each module.

    Raises
    ------
    ConfigError
        Fewer than two projects, all of them seen, or a named one that was seen or is not there.
    """
    sizes = Counter(projects)
    order = sorted(sizes)
    unseen = [project for project in order if project not in seen]
    if not unseen:
        models = " and ".join(sorted({seen[project] for project in order}))
        raise ConfigError(
            f"no project is left to hold out: all {len(order)} of the corpus ({_some(order)}) were in the training of "
            f"{models}, which the run comes from. Add a project to the corpus that was not"
        )
    for project in named:
        if project in seen:
            raise ConfigError(
                f"held_out: {project} was in the training of {seen[project]}, which the run comes from, so no figure "
                "on it is held out. Leave it out of held_out"
            )
        if project not in sizes:
            raise ConfigError(f"held_out: no project {project!r} in the corpus; it has {_some(order)}")
    held = list(named)
    if not named:
        count = 0
        # Drawn among all, so that projects that were seen do not change which of the others are drawn.
        for number in np.random.default_rng([seed, 11]).permutation(len(order)):
            size = sizes[order[number]]
            # A project of half the corpus would leave too little to train on.
            if order[number] not in seen and count + size <= max(1.5 * share * len(projects), 1):
                held.append(order[number])
                count += size
            if count >= share * len(projects):
                break
        if not held:  # all are larger than the share: the smallest is the nearest to it
            held = [min(unseen, key=lambda project: sizes[project])]
    if len(held) == len(order):
        raise ConfigError(
            f"the corpus has {len(order)} project(s), and {len(held)} would be held out; one at least must be left to "
            "train on. Put each project's IR in a folder of its own"
        )
    return held


def _some(projects: Sequence[str]) -> str:
    return ", ".join(projects[:_SHOWN]) + (", ..." if len(projects) > _SHOWN else "")
