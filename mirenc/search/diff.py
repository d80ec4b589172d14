"""Compare two builds: pair their functions, and say how each pair differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from mirenc.base.arrays import Int64
from mirenc.base.shown import short_repr
from mirenc.llvm.analysis.function_code import FunctionCode
from mirenc.search.builds import Build, Function
from mirenc.search.pairs import cosines, paired


@dataclass(frozen=True)
class Change:
    """A function in the old and the new build, None where a build lacks it, and the cosine of the pair.

    ``why`` lists how the IR differs. ``same_code``: whether the IR of both is the same but for names
    (`mirenc.llvm.analysis.function_code`).
    """

    old: Function | None
    new: Function | None
    cosine: float | None = None
    why: tuple[str, ...] = ()
    same_code: bool = False

    __repr__ = short_repr

    @property
    def either(self) -> Function:
        """The function in NEW, or in OLD if NEW lacks it."""
        function = self.new or self.old
        assert function is not None
        return function

    @property
    def bytes(self) -> int | None:
        """Bytes of machine code that were added; None where one of the two sizes is unknown."""
        old, new = (function.bytes if function else 0 for function in (self.old, self.new))
        return None if old is None or new is None else new - old

    @property
    def kind(self) -> str:
        """``appeared``, ``vanished``, ``identical``, ``renamed``, ``grew``, ``shrank``, ``changed``, ``size unknown``.

        A pair with the same code, and no known change in size, is identical, or renamed if the readable names differ.
        Other pairs grew, shrank, changed at equal size, or have an unknown size.
        """
        if self.old is None or self.new is None:
            return "appeared" if self.old is None else "vanished"
        more = self.bytes
        if self.same_code and not more:
            return "identical" if self.old.name == self.new.name else "renamed"
        return "size unknown" if more is None else "grew" if more > 0 else "shrank" if more < 0 else "changed"


def pair_builds(old: Build, new: Build, *, hide_names: bool = False) -> list[Change]:
    """Pair functions one to one: a change for each of OLD, then one for each that only NEW has.

    Pairs are made by equal file and symbol, then by symbol, then by readable name, where a key is unique in each build
    (not with ``hide_names``); then by `mirenc.search.pairs`.
    """
    partner = np.full(len(old.functions), -1, dtype=np.int64)
    keys: list[Callable[[Function], object]]
    keys = [lambda f: (f.file, f.symbol), lambda f: f.symbol, lambda f: f.name]
    for key in [] if hide_names else keys:
        unpaired = np.setdiff1d(np.arange(len(new.functions)), partner)
        old_rows, new_rows = _unique_rows(old, np.flatnonzero(partner < 0), key), _unique_rows(new, unpaired, key)
        for value in old_rows.keys() & new_rows.keys():
            partner[old_rows[value]] = new_rows[value]
    partner = paired(old.side, new.side, partner)
    rows = np.flatnonzero(partner >= 0)
    cosine_of = dict(zip(rows.tolist(), cosines(old.side, new.side, rows, partner[rows]).tolist(), strict=True))
    renamed = {row: new.functions[partner[row]].symbol for row in cosine_of}
    changes = []
    for row, (function, new_row) in enumerate(zip(old.functions, partner.tolist(), strict=True)):
        if new_row < 0:
            changes.append(Change(function, None))
            continue
        peer = new.functions[new_row]
        same_references = old.refers_to(row, renamed) == new.refers_to(new_row, {})
        diffs = [] if same_references else ["other functions are referred to"]
        diffs += _differences(function.code, peer.code)
        calls = old.calls(row, renamed, hide_names), new.calls(new_row, {}, hide_names)
        # Counts and calls are more specific than the fact that the code differs.
        notes = [*_notes(function, peer, *calls)] or diffs or ([] if function.bytes == peer.bytes else ["the same IR"])
        changes.append(Change(function, peer, cosine_of[row], tuple(notes), same_code=not diffs))
    new_only = np.setdiff1d(np.arange(len(new.functions)), partner)
    return changes + [Change(None, new.functions[new_row]) for new_row in new_only.tolist()]


def _differences(old: FunctionCode, new: FunctionCode) -> Iterator[str]:
    """How the code of two functions differs, apart from the functions that it refers to."""
    if old.signature != new.signature:
        yield "its type or attributes"
    if old.statements != new.statements:
        yield "constants, types, flags or instructions"
    elif old.operands != new.operands:
        yield "operands or branches"
    common = old.globals.keys() & new.globals.keys()
    if values := ", ".join(sorted(name[1:] for name in common if old.globals[name] != new.globals[name])):
        yield f"value of {values}"


def _notes(old: Function, new: Function, old_calls: Mapping[str, str], new_calls: Mapping[str, str]) -> Iterator[str]:
    has_places = old.source and new.source
    for phrase, names in (
        ("now inlines", new.inlined - old.inlined if has_places else ()),
        ("no longer inlines", old.inlined - new.inlined if has_places else ()),
        ("no longer calls", (name for callee, name in old_calls.items() if callee not in new_calls)),
        ("now calls", (name for callee, name in new_calls.items() if callee not in old_calls)),
    ):
        if joined_names := ", ".join(sorted(names)):
            yield f"{phrase} {joined_names}"
    for count in ("loops", "vector_instructions", "instructions"):
        if getattr(old, count) != getattr(new, count):
            yield f"{count.replace('_', ' ')} {getattr(old, count)} -> {getattr(new, count)}"


def _unique_rows(build: Build, rows: Int64, key: Callable[[Function], object]) -> dict[object, int]:
    """The row that has a key, by key, without keys of several rows."""
    values = [key(build.functions[row]) for row in rows.tolist()]
    count = Counter(values)
    return {value: row for value, row in zip(values, rows.tolist(), strict=True) if count[value] == 1}
