"""What became of the functions of one build in another: which is which, and what differs, by sizes and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from mirenc.base.arrays import Int64
from mirenc.llvm.analysis.function_code import FunctionCode
from mirenc.search.builds import Build, Function
from mirenc.search.pairs import cosines, paired


@dataclass(frozen=True)
class Change:
    """What became of a function: None where a build has none; the pair's cosine; ``why``, by what the IR says.

    ``same_code``: whether the IR of both is one but for names (`mirenc.llvm.analysis.function_code`).
    """

    old: Function | None
    new: Function | None
    cosine: float | None = None
    why: tuple[str, ...] = ()
    same_code: bool = False

    @property
    def either(self) -> Function:
        """As it is in NEW, or was in OLD."""
        one = self.new or self.old
        assert one is not None
        return one

    @property
    def bytes(self) -> int | None:
        """Bytes of machine code more than in OLD; None where one of the two sizes is not known."""
        old, new = (one.bytes if one else 0 for one in (self.old, self.new))
        return None if old is None or new is None else new - old

    @property
    def kind(self) -> str:
        """``appeared``, ``vanished``, ``identical``, ``renamed``, ``grew``, ``shrank``, ``changed``, ``size unknown``.

        A pair of one code, whose size did not change as far as is known, is identical, or renamed where people call
        the two by different names. Other pairs changed: to a larger, smaller, equal or unknown size.
        """
        if self.old is None or self.new is None:
            return "appeared" if self.old is None else "vanished"
        more = self.bytes
        if self.same_code and not more:
            return "identical" if self.old.name == self.new.name else "renamed"
        return "size unknown" if more is None else "grew" if more > 0 else "shrank" if more < 0 else "changed"


def pair_builds(old: Build, new: Build, *, hide_names: bool = False) -> list[Change]:
    """Pair functions one to one: a change for each of OLD, then one for each that NEW alone has.

    An equal symbol of an equal file comes first, then a symbol, then a name that each side has once; ``hide_names``
    looks at none of these. The rest goes by `mirenc.search.pairs`.
    """
    partner = np.full(len(old.functions), -1, dtype=np.int64)
    keys: list[Callable[[Function], object]]
    keys = [lambda one: (one.file, one.symbol), lambda one: one.symbol, lambda one: one.name]
    for key in [] if hide_names else keys:
        left = np.setdiff1d(np.arange(len(new.functions)), partner)
        mine, theirs = _once(old, np.flatnonzero(partner < 0), key), _once(new, left, key)
        for word in mine.keys() & theirs.keys():
            partner[mine[word]] = theirs[word]
    partner = paired(old.side, new.side, partner)
    rows = np.flatnonzero(partner >= 0)
    alike = dict(zip(rows.tolist(), cosines(old.side, new.side, rows, partner[rows]).tolist(), strict=True))
    became = {row: new.functions[partner[row]].symbol for row in alike}
    changes = []
    for row, (one, at) in enumerate(zip(old.functions, partner.tolist(), strict=True)):
        if at < 0:
            changes.append(Change(one, None))
            continue
        other = new.functions[at]
        refers = old.refers_to(row, became) == new.refers_to(at, {})
        differ = [] if refers else ["other functions are referred to"]
        differ += _differences(one.code, other.code)
        calls = old.calls(row, became, hide_names), new.calls(at, {}, hide_names)
        # Counts and calls say more than that something differs.
        why = [*_why(one, other, *calls)] or differ or ([] if one.bytes == other.bytes else ["the same IR"])
        changes.append(Change(one, other, alike[row], tuple(why), same_code=not differ))
    alone = np.setdiff1d(np.arange(len(new.functions)), partner)
    return changes + [Change(None, new.functions[at]) for at in alone.tolist()]


def _differences(old: FunctionCode, new: FunctionCode) -> Iterator[str]:
    """What differs but for functions that are referred to."""
    if old.signature != new.signature:
        yield "its type or attributes"
    if old.statements != new.statements:
        yield "constants, types, flags or instructions"
    elif old.operands != new.operands:
        yield "operands or branches"
    shared = old.globals.keys() & new.globals.keys()
    if values := ", ".join(sorted(name[1:] for name in shared if old.globals[name] != new.globals[name])):
        yield f"value of {values}"


def _why(old: Function, new: Function, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    told = old.source and new.source
    for words, names in (
        ("inlined", new.inlined - old.inlined if told else ()),
        ("no longer inlined", old.inlined - new.inlined if told else ()),
        ("no longer calls", (shown for callee, shown in before.items() if callee not in after)),
        ("calls", (shown for callee, shown in after.items() if callee not in before)),
    ):
        if listed := ", ".join(sorted(names)):
            yield f"{words} {listed}"
    for count in ("loops", "vector_instructions", "instructions"):
        if getattr(old, count) != getattr(new, count):
            yield f"{count.replace('_', ' ')} {getattr(old, count)} -> {getattr(new, count)}"


def _once(build: Build, rows: Int64, key: Callable[[Function], object]) -> dict[object, int]:
    """Rows by key, of keys that only one of them has."""
    words = [key(build.functions[row]) for row in rows.tolist()]
    count = Counter(words)
    return {word: row for word, row in zip(words, rows.tolist(), strict=True) if count[word] == 1}
