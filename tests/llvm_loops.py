"""The loops that LLVM's own ``opt`` finds in a file, to compare those of `mirenc.llvm.analysis.loops` with."""

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from mirenc.base.errors import MirencError
from mirenc.llvm import IRModule, read_ir
from mirenc.llvm.analysis.loops import find_loops

# Depth, header and blocks, the blocks counted from the function's entry: names may differ, where LLVM 22 reads old IR.
Loop = tuple[int, int, frozenset[int]]

_FUNCTION = re.compile(r"^DominatorTree for function: (.*)$")
_LOOP = re.compile(r"^ *(?:Parallel )?Loop at depth (\d+) containing: (.*)$")
_BLOCK = re.compile(r'%("[^"]*"|[-\w$.]+)((?:<\w+>)*)')
_DEFINE = re.compile(r'^define [^@]*@("[^"]*"|[-\w$.]+)\(')
_LABEL = re.compile(r'("[^"]*"|[-\w$.]+):')


class Comparison(NamedTuple):
    """Of some files: loops that opt finds, files that it refuses, and functions of which mirenc finds others."""

    loops: int
    refused: int
    different: list[str]


def find_opts() -> dict[int, str]:
    """Programs named opt on this machine, by LLVM's major version."""
    found = {}
    for name in ["opt", *(f"opt-{version}" for version in range(10, 30))]:
        program = shutil.which(name)
        if program is None:
            continue
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
        match = re.search(r"LLVM version (\d+)", version)
        if match:
            found[int(match[1])] = program
    return found


def opt_loops(path: Path, opt: str) -> dict[str, set[Loop]] | None:
    """Loops of each defined function, by its name; None if this opt refuses the file."""
    # The dominator tree is printed for its title: opt before 17 names no function above its loops.
    command = [opt, "-S", "-passes=function(print<domtree>,print<loops>)", str(path), "-o", "-"]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="surrogateescape", check=False)
    if run.returncode:
        return None
    labels = _labels(run.stdout)
    loops: dict[str, set[Loop]] = {name: set() for name in labels}
    name = ""
    for line in run.stderr.splitlines():
        if match := _FUNCTION.match(line):
            name = match[1]
        elif match := _LOOP.match(line):
            blocks = dict(_BLOCK.findall(match[2]))
            (header,) = (block for block, marks in blocks.items() if "<header>" in marks)
            place = {label: index for index, label in enumerate(labels[name])}
            loops[name].add((int(match[1]), place[header], frozenset(place[block] for block in blocks)))
    return loops


def _labels(text: str) -> dict[str, list[str]]:
    """Labels of each function's blocks as printed, "" for an entry without one."""
    labels: dict[str, list[str]] = {}
    body: list[str] | None = None
    for line in text.split("\n"):
        if match := _DEFINE.match(line):
            body = labels[match[1].strip('"')] = []
        elif line == "}":
            body = None
        elif body is not None:
            match = _LABEL.match(line)
            if match or not body:
                body.append(match[1] if match else "")
    return labels


def mirenc_loops(module: IRModule) -> dict[str, set[Loop]]:
    """The same, as mirenc finds them."""
    forest = find_loops(module)
    blocks: list[set[int]] = [set() for _ in range(len(forest))]
    for block, loop in zip(*(column.tolist() for column in forest.members()), strict=True):
        blocks[loop].add(block)
    loops: dict[str, set[Loop]] = {function.name: set() for function in module.defined_functions}
    for loop, inside in enumerate(blocks):
        header = module.headers[forest.function[loop]]
        first = header.first_block
        entry = (int(forest.depth[loop]), int(forest.header[loop]) - first, frozenset(b - first for b in inside))
        loops[header.name.strip('"')].add(entry)
    return loops


def compare(paths: Iterable[Path], opt: str) -> Comparison:
    """Loops of opt and of mirenc, file by file."""
    loops, refused, different = 0, 0, []
    for path in paths:
        try:
            expected, found = opt_loops(path, opt), mirenc_loops(read_ir(path))
        except MirencError:
            expected = None
        if expected is None:
            refused += 1
            continue
        loops += sum(map(len, expected.values()))
        different += [f"{path}: {name}" for name in expected if expected[name] != found.get(name)]
    return Comparison(loops, refused, different)
