"""Lists of passes as text and as trees, and those of the levels -O0 to -O3, -Os and -Oz.

The text is that of ``opt -passes``. A pass only runs inside the adaptor it is made for: ``function(...)``,
``loop-mssa(...)``.

``default<Oz>`` is the level itself, and `expanded` the list that one LLVM prints for it. LLVM does not print the costs
that inlining goes by, so where functions are not marked ``minsize`` the print-out of -Oz inlines as -O2 does.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from mirenc.base.errors import PassError, unknown

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
_PASS = re.compile(r"([A-Za-z0-9_-]+)((?:<[^<>]*>)*)")  # its name and its options
# What an adaptor's passes work on. `devirt<4>` repeats a group of passes over a group of functions.
_KINDS = {"module": "module", "cgscc": "cgscc", "devirt": "cgscc", "function": "function"}
_LOOPS = ("loop", "loop-mssa")
# Analyses, made or thrown away for the passes around them: they change no code, and some passes need them in place.
_ANALYSES = ("require", "invalidate")


@dataclass(frozen=True, slots=True)
class PassNode:
    """A pass, or an adaptor with passes in it. In ``options``, "" says that none are named, ``<>`` that none is set."""

    name: str
    options: str = ""
    passes: "tuple[PassNode, ...]" = ()

    def __str__(self) -> str:
        return f"{self.name}{self.options}" + (f"({render(self.passes)})" if self.passes else "")


@dataclass(frozen=True, slots=True)
class Step:
    """A pass with its options, and what it works on."""

    kind: str  # `module`, `cgscc`, `function`, `loop`, or `loop-mssa` (loops, memory in SSA form)
    text: str

    @property
    def name(self) -> str:
        """The pass without its options."""
        return self.text.partition("<")[0]


def level(name: str) -> str:
    """A level as LLVM's own list, ``default<Oz>``; PassError where there is no such level."""
    if name not in LEVELS:
        raise PassError(unknown("level", name, LEVELS))
    return f"default<{name}>"


@cache
def expanded(name: str, version: str = "19") -> str:
    """A level pass by pass, as LLVM of some version prints it; PassError where it is not shipped."""
    import tomllib  # here: a child process imports this module, and needs no levels
    from importlib.resources import files

    levels = tomllib.loads(files("mirenc.llvm.passes").joinpath("levels.toml").read_text(encoding="utf-8"))
    major = version.partition(".")[0]
    if major not in levels:
        raise PassError(f"the passes of LLVM {version}'s levels are not recorded; available: {', '.join(levels)}")
    if name not in levels[major]:
        raise PassError(f"the passes of level {name!r} are not recorded; available: {', '.join(levels[major])}")
    return str(levels[major][name])


def parse(text: str) -> tuple[PassNode, ...]:
    """A list of passes as a tree; PassError where it is not written as one. An engine tells whether it knows them."""
    passes, end = _parse_passes(text, 0)
    if end < len(text):
        raise _parse_error(text, end)
    return passes


def render(passes: Iterable[PassNode]) -> str:
    """The text of a list of passes; `parse` reads it."""
    return ",".join(map(str, passes))


def steps(passes: Iterable[PassNode], kind: str = "module") -> Iterator[Step]:
    """The passes of a tree in the order they run in, without analyses; ``kind`` is that of passes outside adaptors."""
    for node in passes:
        if node.passes:
            yield from steps(node.passes, node.name if node.name in _LOOPS else _KINDS.get(node.name, kind))
        elif node.name not in _ANALYSES:
            yield Step(kind, str(node))


def _parse_passes(text: str, position: int) -> tuple[tuple[PassNode, ...], int]:
    """Passes up to the bracket that closes them, or up to the end of the text, and the position there."""
    passes = []
    while True:
        if (match := _PASS.match(text, position)) is None:
            raise _parse_error(text, position)
        position = match.end()
        children: tuple[PassNode, ...] = ()
        if text.startswith("(", position):
            children, position = _parse_passes(text, position + 1)
            if not text.startswith(")", position):
                raise _parse_error(text, position)
            position += 1
        passes.append(PassNode(match[1], match[2], children))
        if not text.startswith(",", position):
            return tuple(passes), position
        position += 1


def _parse_error(text: str, position: int) -> PassError:
    place = f"{text[position : position + 20]!r} at character {position + 1}" if position < len(text) else "its end"
    example = "'function(sroa,loop-mssa(licm)),globaldce', without spaces"
    return PassError(f"a list of passes is wrong at {place}. Write it as in {example}")
