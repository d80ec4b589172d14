"""The optimisation levels -O0 to -O3, -Os and -Oz as lists of passes.

``default<Oz>`` is the level itself. `expanded` is the list that one LLVM prints for it, from which new lists are made.
LLVM does not print what inlining goes by, so for functions not marked ``minsize`` that of -Oz inlines as -O2 does.
"""

import tomllib
from functools import cache
from importlib.resources import files

from mirenc.base.errors import PassError

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")


def level(name: str) -> str:
    """A level as LLVM's own list, ``default<Oz>``; PassError where there is no such level."""
    if name not in LEVELS:
        raise PassError(f"unknown level {name!r}; available: {', '.join(LEVELS)}")
    return f"default<{name}>"


@cache
def expanded(name: str, version: str = "19") -> str:
    """A level pass by pass, as LLVM of some version prints it; PassError where it is not shipped."""
    levels = tomllib.loads(files("mirenc.llvm.passes").joinpath("levels.toml").read_text(encoding="utf-8"))
    major = version.partition(".")[0]
    if major not in levels:
        raise PassError(f"the passes of LLVM {version}'s levels are not recorded; available: {', '.join(levels)}")
    if name not in levels[major]:
        raise PassError(f"the passes of level {name!r} are not recorded; available: {', '.join(levels[major])}")
    return str(levels[major][name])
