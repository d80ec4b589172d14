"""What pieces an IR file has: its functions and itself, with sizes and hashes, read once and kept."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from mirenc.errors import MirencError
from mirenc.ir import read_ir, statements_of
from mirenc.measure.passes.inputs import IRFile
from mirenc.writing import delivered

MIN_BLOCKS, MIN_INSTRUCTIONS = 3, 12
"""A function with less of both has nothing to decide."""
MAX_INSTRUCTIONS = 4_000
"""Above this, one piece would take the time of dozens: labelling costs 5 ms an instruction."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A function of a file, as LLVM prints it after ``@``, or "" for the file's module.

    ``digest`` is of its normalised statements: equal for two copies, whatever they are called.
    """

    symbol: str
    digest: str
    blocks: int
    instructions: int


@dataclass(frozen=True, slots=True)
class Scan:
    """What a file has: the module first, then its functions in their order; or the problem with reading it."""

    candidates: tuple[Candidate, ...]
    problem: str = ""


def is_worth_it(candidate: Candidate) -> bool:
    """Whether there is something to decide about it, in a time that leaves some for the others."""
    enough = candidate.blocks >= MIN_BLOCKS or candidate.instructions >= MIN_INSTRUCTIONS
    return enough and candidate.instructions <= MAX_INSTRUCTIONS


def scan_all(files: Sequence[IRFile], earlier: Path, *, jobs: int = 1) -> list[Scan]:
    """Scan every file, by so many processes; ``earlier`` has the scans of earlier runs, and grows with each.

    A file that changed since is scanned again, and one that cannot be read is a `Scan` without candidates.
    """
    known = _read(earlier)
    new = [one for one in files if one.stamp not in known]
    with delivered(earlier) as part:
        part.write_text("".join(_line(one.stamp, known[one.stamp]) for one in files if one.stamp in known))
    with earlier.open("a", encoding="utf-8") as stream:
        for one, scan in zip(new, _scans([one.path for one in new], jobs), strict=True):
            known[one.stamp] = scan
            stream.write(_line(one.stamp, scan))
    return [known[one.stamp] for one in files]


def _line(stamp: str, scan: Scan) -> str:
    return json.dumps([stamp, asdict(scan)]) + "\n"


def _read(path: Path) -> dict[str, Scan]:
    """Scans by stamp; none where the file is not there or was made otherwise: then all are scanned again."""
    try:
        scans = {}
        data = path.read_text(encoding="utf-8")
        for line in data[: data.rfind("\n") + 1].splitlines():  # without half a line of a run that was killed
            stamp, scan = json.loads(line)
            scans[stamp] = Scan(tuple(Candidate(**one) for one in scan["candidates"]), scan["problem"])
        return scans
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _scans(paths: Sequence[Path], jobs: int) -> Iterator[Scan]:
    if jobs <= 1 or len(paths) <= 1:
        yield from map(_scan, paths)
        return
    # spawn: a forked child would share the parent's connection to LLVM.
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_scan, paths, chunksize=8)


def _scan(path: Path) -> Scan:
    try:
        module = read_ir(path)
    except MirencError as error:
        return Scan((), str(error))
    statements = statements_of(module)
    start = statements.first_instruction
    functions = (
        Candidate(
            header.name.strip('"'),
            statements.digest(start + header.first, start + header.last).hex(),
            header.last_block - header.first_block,
            header.last - header.first,
        )
        for header in module.headers
        if not header.is_declaration
    )
    whole = Candidate("", statements.content_hash.hex(), module.block_count, module.instruction_count)
    return Scan((whole, *functions))
