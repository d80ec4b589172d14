"""Which projects of a corpus are held out: none that the model, or a model before it, learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from mirenc.errors import ConfigError

_SHOWN = 12


def hold_out(
    projects: Sequence[str], share: float, seed: int, *, seen: Mapping[str, str], named: Sequence[str]
) -> list[str]:
    """Projects to hold out, from the project of each module; arguments and errors as of `Corpus.split`."""
    sizes = Counter(projects)
    order = sorted(sizes)
    unseen = [project for project in order if project not in seen]
    some = ", ".join(order[:_SHOWN]) + (", ..." if len(order) > _SHOWN else "")
    if not unseen:
        models = " and ".join(sorted({seen[project] for project in order}))
        raise ConfigError(
            f"no project is left to hold out: all {len(order)} of the corpus ({some}) were in the training of "
            f"{models}, which the run comes from. Add a project to the corpus that was not"
        )
    for project in named:
        if project in seen:
            raise ConfigError(
                f"held_out: {project} was in the training of {seen[project]}, which the run comes from, so no figure "
                "on it is held out. Leave it out of held_out"
            )
        if project not in sizes:
            raise ConfigError(f"held_out: no project {project!r} in the corpus; it has {some}")
    held = list(named) or _drawn(sizes, share * len(projects), seed, seen)
    if not held:  # all are larger than the share: the smallest is the nearest to it
        held = [min(unseen, key=lambda project: sizes[project])]
    if len(held) == len(order):
        raise ConfigError(
            f"the corpus has {len(order)} project(s), and {len(held)} would be held out; one at least must be left to "
            "train on. Put each project's IR in a folder of its own"
        )
    return held


def _drawn(sizes: Mapping[str, int], wanted: float, seed: int, seen: Mapping[str, str]) -> list[str]:
    """Projects of some ``wanted`` modules together, in random order."""
    held: list[str] = []
    count, order = 0, sorted(sizes)
    # Drawn among all, so that projects that were seen do not change which of the others are drawn.
    for number in np.random.default_rng([seed, 11]).permutation(len(order)):
        project = order[number]
        # A project of half the corpus would leave too little to train on.
        if project not in seen and count + sizes[project] <= max(1.5 * wanted, 1):
            held.append(project)
            count += sizes[project]
        if count >= wanted:
            break
    return held
