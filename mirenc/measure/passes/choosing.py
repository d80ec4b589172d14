"""Which pieces a table gets: a seeded sample without copies; any beginning is spread over projects and files."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mirenc.measure.passes.inputs import IRFile
from mirenc.measure.passes.scanning import Candidate, Scan, is_worth_it
from mirenc.sources.ir_folder import digest

_MOST_COPIED = 0.1  # share of a training module's instructions that held-out projects may have, too


@dataclass(frozen=True, slots=True)
class Chosen:
    """A piece to be labelled; ``symbol`` is as LLVM prints it after ``@``, "" for the module."""

    source: IRFile
    symbol: str

    @property
    def level(self) -> str:
        """``function`` or ``module``."""
        return "function" if self.symbol else "module"

    @property
    def name(self) -> str:
        """Name of the piece, as in `mirenc.tasks.compiled.Piece`."""
        return f"{self.source.project}/{self.source.file}" + (f":{self.symbol}" if self.symbol else "")


@dataclass(frozen=True, slots=True)
class Choice:
    """The pieces of a table, in the order in which they are labelled: functions and modules in turns by their shares.

    ``available`` says by level how many different ones there are. ``copies`` were left out: a piece with the same
    statements was there before, or it is a module for training whose functions are those of held-out projects.
    """

    pieces: tuple[Chosen, ...]
    available: dict[str, int]
    copies: int


def choose(files: Sequence[IRFile], scans: Sequence[Scan], *, functions: int, modules: int, seed: int) -> Choice:
    """Choose so many pieces at most.

    Of copies, one that is held out stays: a test that was seen in training is none. So a module for training is left
    out where more than a tenth of its instructions are functions of held-out projects, such as a library that comes
    with the program.
    """
    candidates = [
        (Chosen(file, candidate.symbol), candidate, scan)
        for file, scan in zip(files, scans, strict=True)
        for candidate in scan.candidates
        if is_worth_it(candidate)
    ]
    tested = {one.digest for piece, one, _ in candidates if piece.symbol and piece.source.held_out}
    allowed = [
        (piece, candidate)
        for piece, candidate, scan in candidates
        if piece.symbol or piece.source.held_out or _is_new(scan, tested)
    ]
    different = _without_copies(allowed)
    by_level = {level: [one for one in different if one.level == level] for level in ("function", "module")}
    pieces = _in_turns(_spread(by_level["function"], seed)[:functions], _spread(by_level["module"], seed)[:modules])
    available = {level: len(found) for level, found in by_level.items()}
    return Choice(pieces, available, len(candidates) - len(different))


def _is_new(scan: Scan, tested: set[str]) -> bool:
    """Whether hardly any of a module's functions are those of held-out projects."""
    whole = sum(candidate.instructions for candidate in scan.candidates if not candidate.symbol)
    copied = sum(one.instructions for one in scan.candidates if one.symbol and one.digest in tested)
    return copied <= _MOST_COPIED * whole


def _without_copies(candidates: Iterable[tuple[Chosen, Candidate]]) -> list[Chosen]:
    first: dict[tuple[str, str], Chosen] = {}
    for piece, candidate in candidates:
        before = first.setdefault((piece.level, candidate.digest), piece)
        if piece.source.held_out and not before.source.held_out:
            first[piece.level, candidate.digest] = piece
    return list(first.values())


def _spread(pieces: Iterable[Chosen], seed: int) -> list[Chosen]:
    """All pieces: the projects in turns, and the files of a project in turns."""
    tree: dict[str, dict[str, dict[str, Chosen]]] = {}
    for piece in pieces:
        tree.setdefault(piece.source.project, {}).setdefault(piece.source.file, {})[piece.symbol] = piece

    def shuffled(names: Iterable[str], where: str) -> list[str]:
        return sorted(names, key=lambda name: (digest(f"{seed}/{where}/{name}"), name))

    projects = []
    for project in shuffled(tree, ""):
        files = tree[project]
        rows = [
            [files[file][one] for one in shuffled(files[file], f"{project}/{file}")]
            for file in shuffled(files, project)
        ]
        projects.append(_turns(rows))
    return _turns(projects)


def _turns(rows: Sequence[Sequence[Chosen]]) -> list[Chosen]:
    """The first of each row, then the second of each that has one, and so on."""
    return [one for turn in itertools.zip_longest(*rows) for one in turn if one is not None]


def _in_turns(many: Sequence[Chosen], few: Sequence[Chosen]) -> tuple[Chosen, ...]:
    """Both, so that any beginning has the same share of each."""
    places = [
        ((index + 0.5) / len(row), at, one) for at, row in enumerate((many, few)) for index, one in enumerate(row)
    ]
    return tuple(one for _, _, one in sorted(places, key=lambda place: place[:2]))
