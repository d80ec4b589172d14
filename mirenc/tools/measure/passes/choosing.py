"""Choose the pieces of a table: scan all files once, sample without copies by a seed, and cut out their IR."""

import hashlib
import itertools
import json
import multiprocessing
import re
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from mirenc.base.cache import Cache, cache_key
from mirenc.base.errors import IRParseError, MirencError, NoFunctionBodyError
from mirenc.base.writing import delivered
from mirenc.llvm import read_ir, statements_of
from mirenc.llvm.inputs.file_kind import read_input
from mirenc.llvm.passes.extract import extract_functions
from mirenc.llvm.sources.ir_folder import digest
from mirenc.tools.measure.passes.inputs import IRFile

MIN_BLOCKS, MIN_INSTRUCTIONS = 3, 12
"""A function with less of both has nothing to decide."""
MAX_INSTRUCTIONS = 4_000
"""Above this, one piece would take the time of dozens: labelling costs 5 ms an instruction."""
_MAX_COPIED = 0.1  # share of a training module's instructions that held-out projects may have, too
# Where the source lies on this machine, which is no part of the program.
_PATHS = re.compile(r"\A(?:; ModuleID = [^\n]*\n)?(?:source_filename = [^\n]*\n)?")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A function of a file, as LLVM prints it after ``@``, or "" for the file's module."""

    symbol: str
    digest: str  # of its normalised statements: equal for two copies, whatever they are called
    blocks: int
    instructions: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The pieces of a file, the module first and then its functions in order; or why it cannot be read.

    Without a function body it has neither.
    """

    candidates: tuple[Candidate, ...]
    problem: str = ""


def is_worth_it(candidate: Candidate) -> bool:
    """Whether the piece is large enough to decide about, and small enough to be labelled in reasonable time."""
    is_large = candidate.blocks >= MIN_BLOCKS or candidate.instructions >= MIN_INSTRUCTIONS
    return is_large and candidate.instructions <= MAX_INSTRUCTIONS


def scan_all(files: Sequence[IRFile], work: Path, *, jobs: int = 1) -> list[Scan]:
    """Scan every new or changed file with ``jobs`` processes; ``work`` keeps the scans of earlier runs."""
    cache = Cache("scans", folder=work)
    keys = [cache_key("scan", file.stamp) for file in files]
    scans_by_key = cache.get(keys)
    new_paths = {key: file.path for key, file in zip(keys, files, strict=True) if key not in scans_by_key}
    for key, scan in zip(new_paths, _scans([*new_paths.values()], jobs), strict=True):
        scans_by_key[key] = json.dumps(asdict(scan)).encode()
        cache.put({key: scans_by_key[key]})
    scans = (json.loads(scans_by_key[key]) for key in keys)
    return [Scan(tuple(Candidate(**fields) for fields in scan["candidates"]), scan["problem"]) for scan in scans]


def _scans(paths: Sequence[Path], jobs: int) -> Iterator[Scan]:
    if jobs <= 1 or len(paths) <= 1:
        yield from map(_scan, paths)
        return
    # spawn: a forked child would share the parent's connection to LLVM.
    ignore = (signal.SIGINT, signal.SIG_IGN)  # this process decides what Ctrl-C ends
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=signal.signal, initargs=ignore) as pool:
        yield from pool.map(_scan, paths, chunksize=8)


def _scan(path: Path) -> Scan:
    try:
        module = read_ir(path)
    except NoFunctionBodyError:
        return Scan(())
    except MirencError as error:
        return Scan((), str(error))
    statements = statements_of(module)
    start = statements.first_instruction
    candidates = [Candidate("", statements.content_hash.hex(), module.block_count, module.instruction_count)]
    for entry in module.headers:
        if not entry.is_declaration:
            code = statements.digest(start + entry.first, start + entry.last).hex()
            candidates.append(
                Candidate(entry.name.strip('"'), code, entry.last_block - entry.first_block, entry.last - entry.first)
            )
    return Scan(tuple(candidates))


@dataclass(frozen=True, slots=True)
class Chosen:
    """A piece to be labelled; ``symbol`` is as LLVM prints it after ``@``, "" for the module."""

    source: IRFile
    symbol: str

    @property
    def level(self) -> str:
        return "function" if self.symbol else "module"

    @property
    def name(self) -> str:
        return f"{self.source.project}/{self.source.file}" + (f":{self.symbol}" if self.symbol else "")


@dataclass(frozen=True, slots=True)
class Choice:
    """The pieces of a table in the order in which they are labelled."""

    pieces: tuple[Chosen, ...]
    available: dict[str, int]  # how many different ones there are, by level
    # Left out: a piece with the same statements was there, or a module for training has held-out projects' functions
    copies: int


def choose(files: Sequence[IRFile], scans: Sequence[Scan], *, functions: int, modules: int, seed: int) -> Choice:
    """Choose at most so many pieces. Of copies a held-out one is kept, so that no test was seen in training.

    So a module for training is left out where more than a tenth of its instructions are functions of held-out projects.
    """
    candidates = [
        (Chosen(file, candidate.symbol), candidate, scan)
        for file, scan in zip(files, scans, strict=True)
        for candidate in scan.candidates
        if is_worth_it(candidate)
    ]
    test_digests = {candidate.digest for piece, candidate, _ in candidates if piece.symbol and piece.source.held_out}
    unique: dict[tuple[str, str], Chosen] = {}
    for piece, candidate, scan in candidates:
        if piece.symbol or piece.source.held_out or _is_new(scan, test_digests):
            earlier = unique.setdefault((piece.level, candidate.digest), piece)
            if piece.source.held_out and not earlier.source.held_out:
                unique[piece.level, candidate.digest] = piece
    by_level = {level: [piece for piece in unique.values() if piece.level == level] for level in ("function", "module")}
    selected = _spread(by_level["function"], seed)[:functions], _spread(by_level["module"], seed)[:modules]
    # Both, so that any beginning has the same share of each.
    ordered = [((index + 0.5) / len(row), piece) for row in selected for index, piece in enumerate(row)]
    pieces = tuple(piece for _, piece in sorted(ordered, key=lambda place: place[0]))
    return Choice(pieces, {level: len(items) for level, items in by_level.items()}, len(candidates) - len(unique))


def _is_new(scan: Scan, test_digests: set[str]) -> bool:
    """Whether at most a tenth of a module's instructions are functions of held-out projects."""
    instructions = sum(candidate.instructions for candidate in scan.candidates if not candidate.symbol)
    copied = sum(
        candidate.instructions for candidate in scan.candidates if candidate.symbol and candidate.digest in test_digests
    )
    return copied <= _MAX_COPIED * instructions


def _spread(pieces: Sequence[Chosen], seed: int, *prefix: str) -> Sequence[Chosen]:
    """All pieces, from projects in turn and from the files of a project in turn; ``prefix``: names that all share."""
    if len(prefix) == 3:
        return pieces
    rows: dict[str, list[Chosen]] = {}
    for piece in pieces:
        rows.setdefault((piece.source.project, piece.source.file, piece.symbol)[len(prefix)], []).append(piece)
    shuffled = sorted(rows, key=lambda name: (digest(f"{seed}/{'/'.join(prefix)}/{name}"), name))
    turns = itertools.zip_longest(*(_spread(rows[name], seed, *prefix, name) for name in shuffled))
    return [piece for turn in turns for piece in turn if piece is not None]


class Texts:
    """The IR texts of pieces, cached in a folder."""

    def __init__(self, folder: Path, pieces: Iterable[Chosen]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._symbols: dict[IRFile, set[str]] = {}
        for piece in pieces:
            self._symbols.setdefault(piece.source, set()).add(piece.symbol)
        # Two threads that want two functions of one file would cut it twice.
        self._lock = threading.Lock()

    def of(self, piece: Chosen) -> str:
        """IR text of a piece; an error where its file cannot be read, or the function cannot stand alone."""
        path = self._path(piece.source, piece.symbol)
        with self._lock:
            if not path.exists():
                self._cut(piece.source)
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            problem = "the function takes the address of another function's block, so it cannot be compiled alone"
            raise IRParseError(f"{piece.name}: {problem}") from None

    def _path(self, source: IRFile, symbol: str) -> Path:
        key = hashlib.sha256(f"{source.stamp} {symbol}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return self._folder / f"{key}.ll"

    def _cut(self, source: IRFile) -> None:
        """Write all pieces of a file."""
        symbols, text = self._symbols[source], _text_of(source.path)
        functions = extract_functions(text) if symbols != {""} else ()
        for symbol, module in itertools.chain([("", _PATHS.sub("", text, count=1))], functions):
            if symbol in symbols:
                with delivered(self._path(source, symbol)) as part:
                    part.write_text(module, encoding="utf-8")


def _text_of(path: Path) -> str:
    """A file's own text, which the LLVM that wrote it reads; bitcode as mirenc's LLVM prints it."""
    contents = read_input(path)
    if contents.kind == "bitcode":
        return read_ir(path).text
    try:
        return contents.data.decode("utf-8")
    except UnicodeDecodeError:
        raise IRParseError(f"{path}: is not UTF-8. Assemble it with llvm-as, and give the bitcode") from None
