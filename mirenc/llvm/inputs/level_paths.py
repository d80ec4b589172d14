"""Optimisation levels in paths of IR files: which level a path names, and which files are builds of one program."""

import itertools
import os
import re
from collections.abc import Sequence
from pathlib import PurePath

_LEVEL = re.compile(r"O[0-3sz]")
_IN_NAME = re.compile(r"(?<=[._-])O[0-3sz](?=[._-])")


def is_level(folder: str) -> bool:
    """Whether the name of a folder is a level's, such as ``O2``."""
    return _LEVEL.fullmatch(folder) is not None


def program_of(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Parts of a path with ``O`` for each level in it: equal for ``O0/x.ll`` and ``O2/x.ll``."""
    *folders, name = PurePath(path).parts
    return (*("O" if is_level(folder) else folder for folder in folders), _IN_NAME.sub("O", name))


def level_pairs(paths: Sequence[str | os.PathLike[str]]) -> list[tuple[int, int]]:
    """Numbers of the paths that differ in an optimisation level alone, two by two.

    Examples
    --------
    >>> level_pairs(["a/O0/x.ll", "a/O2/x.ll", "b/O2/x.ll", "y.O0.ll", "y.Oz.ll"])
    [(0, 1), (3, 4)]
    """
    files = [PurePath(path) for path in paths]
    programs: dict[tuple[str, ...], list[int]] = {}
    for number, path in enumerate(files):
        program = program_of(path)
        if program != path.parts:  # it names a level
            programs.setdefault(program, []).append(number)
    pairs = itertools.chain.from_iterable(itertools.combinations(numbers, 2) for numbers in programs.values())
    # A file that is given twice is at one level.
    return [(first, second) for first, second in pairs if files[first] != files[second]]
