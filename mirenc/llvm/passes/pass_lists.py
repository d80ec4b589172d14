"""Lists of passes as text and as trees, those of the levels -O0 to -O3, -Os and -Oz, and new ones.

The text is that of ``opt -passes``. A pass only runs inside the adaptor it is made for (``function(...)``,
``loop-mssa(...)``), so new lists (mutations and random ones) keep each pass in a place of its kind, and LLVM can read
them as the old one.

``default<Oz>`` is the level itself. `expanded` is the list that one LLVM prints for it, from which new lists are made.
LLVM does not print the costs that inlining goes by, so where functions are not marked ``minsize`` the print-out of -Oz
inlines as -O2 does.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from mirenc.base.errors import PassError, unknown

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
LONGEST = 20  # passes of a random list
MOST_CHANGES = 8  # of a mutation
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
    passes, end = _parsed(text, 0)
    if end < len(text):
        raise _unreadable(text, end)
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


def mutated(passes: Sequence[PassNode], chance: random.Random) -> tuple[PassNode, ...]:
    """A list with one to `MOST_CHANGES` changes; PassError where it has no pass to change.

    A change drops or repeats a pass, swaps two neighbours, or repeats an adaptor with all that is in it.
    """
    if not any(steps(passes)):
        raise PassError("a list without passes cannot be changed; give one like 'function(sroa,instcombine)'")
    root = PassNode("", "", tuple(passes))
    for _ in range(chance.randint(1, MOST_CHANGES)):
        change = chance.choice(("drop", "repeat", "swap", "repeat adaptor"))
        if places := list(_places(root, change)):
            changed = _edited(root, chance.choice(places), change, chance)
            # The last pass of a list is not dropped.
            root = changed if any(steps(changed.passes)) else root
    return root.passes


def random_list(pool: Sequence[Step], chance: random.Random, longest: int = LONGEST) -> str:
    """A list of one to ``longest`` passes of a pool, with repetition; PassError for an empty pool."""
    if not pool:
        raise PassError("there are no passes to draw a list from")
    drawn = [chance.choice(pool) for _ in range(chance.randint(1, longest))]
    adaptors = groupby(drawn, key=lambda step: "function" if step.kind in _LOOPS else step.kind)
    return ",".join(_level(kind, list(group)) for kind, group in adaptors)


def _level(kind: str, group: list[Step]) -> str:
    """Neighbours that one adaptor of the module takes."""
    parts = []
    for inner, loops in groupby(group, key=lambda step: step.kind):
        texts = ",".join(step.text for step in loops)
        parts.append(f"{inner}({texts})" if inner in _LOOPS else texts)
    return f"{kind}({','.join(parts)})" if kind != "module" else ",".join(parts)


def _edited(node: PassNode, path: Sequence[int], change: str, chance: random.Random) -> PassNode:
    """A tree with a change at the end of a way; adaptors left without any passes are gone."""
    at, *rest = path
    children = list(node.passes)
    if rest:
        child = _edited(children[at], rest, change, chance)
        children[at : at + 1] = [child] if child.passes else []
    elif change == "drop":
        del children[at]
    elif change == "swap":
        children[at], children[at + 1] = children[at + 1], children[at]
    else:
        children.insert(chance.randint(0, len(children)) if change == "repeat" else at, children[at])
    return PassNode(node.name, node.options, tuple(children))


def _places(node: PassNode, change: str) -> Iterator[list[int]]:
    """Ways (indices from the root) to what a change can be made at."""
    for at, child in enumerate(node.passes):
        fits = bool(child.passes) == (change == "repeat adaptor")
        if change == "swap":
            fits = any(other.name not in _ANALYSES and other != child for other in node.passes[at + 1 : at + 2])
        if fits and child.name not in _ANALYSES:
            yield [at]
        yield from ([at, *path] for path in _places(child, change))


def _parsed(text: str, at: int) -> tuple[tuple[PassNode, ...], int]:
    """Passes up to the bracket that closes them, or to the end, and the place of that."""
    passes = []
    while True:
        if (match := _PASS.match(text, at)) is None:
            raise _unreadable(text, at)
        at = match.end()
        inner: tuple[PassNode, ...] = ()
        if text.startswith("(", at):
            inner, at = _parsed(text, at + 1)
            if not text.startswith(")", at):
                raise _unreadable(text, at)
            at += 1
        passes.append(PassNode(match[1], match[2], inner))
        if not text.startswith(",", at):
            return tuple(passes), at
        at += 1


def _unreadable(text: str, at: int) -> PassError:
    place = f"{text[at : at + 20]!r} at character {at + 1}" if at < len(text) else "its end"
    right = "'function(sroa,loop-mssa(licm)),globaldce', without spaces"
    return PassError(f"a list of passes is wrong at {place}. Write it as in {right}")
