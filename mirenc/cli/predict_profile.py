"""``mirenc predict branch_probability`` and ``trip_count``: a profile without a run (`mirenc.tools.profile`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from mirenc.base.errors import IRFileError, TaskError
from mirenc.base.writing import delivered
from mirenc.cli import common
from mirenc.cli.review import Finding, write_findings

if TYPE_CHECKING:
    from mirenc.llvm import IRModule, ReadOptions
    from mirenc.llvm.inputs.input import Input
    from mirenc.tools.profile import Profile

TITLES = {
    "branch_probability": "where a branch goes, without a run",
    "trip_count": "how often a loop's head runs each time the loop is entered, without a run",
}


class _Answer(NamedTuple):
    symbol: str
    function: str
    file: str
    line: int
    name: str  # of the block or loop
    words: str
    facts: dict[str, Any]


def print_profiles(
    task: str,
    names: Sequence[str],
    outputs: Sequence[Path],
    options: ReadOptions,
    function: str | None = None,
    head: Path | None = None,
    *,
    as_json: bool = False,
) -> None:
    """Answer for all branches or loops of files; an output ``.ll`` is the one file's IR with weights.

    None on branches that repeat or leave a loop: code was slower with them (``downstream/profile/worth.json``).
    """
    from mirenc.llvm.analysis.regions import is_called
    from mirenc.llvm.ir.read import load_input, module_of
    from mirenc.tools.profile import StaticProfile, with_weights
    from mirenc.tools.profile.loops import of_loops
    from mirenc.tools.profile.static_profile import FRONT_END

    options = replace(options, dialect=FRONT_END)
    files = common.expand([*names], options)
    weighted = [path for path in outputs if path.suffix == ".ll"]
    if weighted and (task != "branch_probability" or len(files) != 1):
        raise TaskError(f"{weighted[0]}: weights are of branch_probability and one file. Name one, or leave -o out")
    trees = StaticProfile.load() if head is None else StaticProfile.load(head)
    findings: list[Finding] = []

    def answer(file: Input) -> None:
        loaded = load_input(file, options)
        module = module_of(loaded, options)
        if weighted and loaded.kind != "text":
            dis = "weights are written into text, as llvm-dis makes it of bitcode"
            raise IRFileError(f"{file.name}: {dis}. Type: llvm-dis {file.name}, and give what it writes")
        profile = trees.predict(module)
        for one in _branches(module, profile) if task == "branch_probability" else _loops(module, profile):
            if function is not None and not is_called(function, one.symbol, one.function):
                continue
            place = f"{one.file}:{one.line}" if one.file else file.name
            if as_json:
                where = {"function": one.function, "symbol": one.symbol, "block": one.name, "line": one.line}
                typer.echo(json.dumps({"input": file.name, "task": task, "file": one.file, **where, **one.facts}))
            else:
                typer.echo(f"{place}: {one.function}:{one.name}: {one.words}")
            findings.append(Finding(task, one.symbol, one.file or file.name, one.line, [("String", one.words)]))
        for path in weighted:
            given, told = loaded.data.decode("utf-8", "surrogateescape"), ~of_loops(module, profile.block)
            text, written = with_weights(given, module, profile.block[told], profile.first[told])
            with delivered(path) as part:
                part.write_bytes(text.encode("utf-8", "surrogateescape"))
            loops = len(told) - told.sum()
            had = f"{told.sum() - written} had some, {loops} that repeat or leave a loop get none"
            common.say(f"{path}: {written} branches have weights now, {had}")

    failures = common.Failures(len(files))
    try:
        for _ in failures.results("predicting", files, answer):
            pass
        failures.finish()
    finally:  # what was found before a file failed is written all the same
        for path in outputs:
            if path not in weighted:
                write_findings(path, {task: TITLES[task]}, findings)
        if findings and task in trees.worth:
            common.say(trees.worth[task])


def _branches(module: IRModule, profile: Profile) -> Iterator[_Answer]:
    from mirenc.llvm.analysis.regions import block_name
    from mirenc.llvm.ir.source_places import Places

    places, arrays = Places(module), module.arrays
    function = {
        block: one for one in module.defined_functions for block in range(one.header.first_block, one.header.last_block)
    }
    for block, first in zip(profile.block.tolist(), profile.first.tolist(), strict=True):
        own, row = function[block], int(arrays.block_start[block + 1]) - 1
        ways = arrays.successor[slice(*arrays.successor_start[block : block + 2])].tolist()
        chances = {block_name(module, way): chance for way, chance in zip(ways, (first, 1 - first), strict=True)}
        place = places.of_instruction(row)
        lines = [places.of_block(way)[1] for way in ways]
        told = [f"{way} (line {line})" if line else way for way, line in zip(chances, lines, strict=True)]
        words = ", ".join(f"{way}: {100 * chance:.3g} %" for way, chance in zip(told, chances.values(), strict=True))
        yield _Answer(own.name, own.display_name, *place, block_name(module, block), words, {"ways": chances})


def _loops(module: IRModule, profile: Profile) -> Iterator[_Answer]:
    from mirenc.llvm import regions_of
    from mirenc.llvm.analysis.trip_counts import estimated_trip_counts
    from mirenc.tools.profile import TRIP_CLASSES

    estimates = estimated_trip_counts(module)
    for row, loop in enumerate(regions_of(module, "loop").regions):
        constant = int(profile.constant[row])
        chances = dict(zip(TRIP_CLASSES, profile.chances[row].tolist(), strict=True))
        ranked = sorted(chances.items(), key=lambda item: -item[1])
        words = ", ".join(f"{name}: {100 * chance:.0f} %" for name, chance in ranked if chance >= 0.05)
        known = (constant, "constants") if constant else estimates[row]
        words = f"{known[0]}, by its {known[1]}" if known[0] else words
        facts = {"chances": chances, "constant": constant, "known": known[0], "source": known[1]}
        yield _Answer(loop.symbol, loop.function, loop.file, loop.line, loop.header, words, facts)
