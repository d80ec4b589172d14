"""A folder of IR to a corpus: read in parallel, chunk by chunk, then merged.

Reading writes parts; a part that is there is not read again, so a build that was stopped goes on. The merge holds some
20 bytes a text and one part at a time.
"""

import contextlib
import itertools
import json
import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Bool, Int32, Int64, UInt16, UInt64
from mirenc.base.errors import ConfigError, IRResourceError, NoFunctionBodyError
from mirenc.llvm import ReadOptions, read_ir, statements_of
from mirenc.llvm.child.parsing_worker import default_worker
from mirenc.llvm.inputs.containers import split_name
from mirenc.llvm.inputs.input import Input
from mirenc.llvm.inputs.level_paths import is_level
from mirenc.llvm.sources.ir_folder import stamp_of
from mirenc.model.sample import GRAPH_ARRAYS, no_graph
from mirenc.model.tokenizer import IRTokenizer, TokenizerConfig, train_tokenizer
from mirenc.pretrain.corpus.reading import PART_ARRAYS, Part, function_hashes, read_chunk
from mirenc.pretrain.corpus.store import Corpus, CorpusModule, ModuleInfo, write_corpus

_CHUNK = 64
Advance = Callable[[int], None]


@dataclass(slots=True)
class BuildReport:
    """Counts and paths of the files that were kept, left out or not readable."""

    files: int = 0
    modules: int = 0
    """How many are kept."""
    duplicates: int = 0
    """Left out: their normalised statements are those of a module before them."""
    reserved: list[str] = field(default_factory=list)
    """Paths, left out: a function of theirs stands in IR for evaluation."""
    without_graph: int = 0
    """Kept, but had more nodes than ``max_nodes``."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Path and message of what could not be read."""
    empty: list[str] = field(default_factory=list)
    """Paths, left out: without a function body."""


def build_corpus(
    files: Sequence[Path],
    root: Path,
    folder: str | os.PathLike[str],
    config: TokenizerConfig | None = None,
    *,
    tokenizer: IRTokenizer | None = None,
    options: ReadOptions | None = None,
    sources: Mapping[str, Mapping[str, str]] | None = None,
    reserved: UInt64 | None = None,
    max_nodes: int = 20_000,
    jobs: int = 1,
    advance: Advance = lambda count: None,
) -> tuple[Corpus, BuildReport]:
    """Read IR files into a corpus folder.

    The first folder below ``root`` is a file's project, a second one named like an optimisation level its level;
    ``sources`` are what is known of a file by its name below ``root``: project, version, file, language, opt_level,
    compiler. ``folder`` has the parts of an unfinished build, too.

    ``config`` is for a new tokenizer, trained on the distinct statements of the corpus; ``tokenizer`` is used instead.
    A module with a function of ``reserved`` ((F,), from `hashes_of_ir`) is left out; one whose graph has more than
    ``max_nodes`` is kept without it. ``jobs`` processes read; ``advance`` is called with how many more files are done.

    Raises ConfigError: no file could be read, or all of them have a function kept for evaluation. Raises
    IRResourceError: a reading process was ended from outside.
    """
    config = tokenizer.config if tokenizer else config or TokenizerConfig()
    parts = Path(folder) / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    report = BuildReport(files=len(files))
    module_hashes: set[str] = set()
    numbers_of: dict[Path, list[int]] = {}  # numbers of the modules of a part
    for path in _read_parts(files, root, parts, config.normalisation, options, jobs, advance):
        part = Part.load(path)
        report.failures += part.failures
        report.empty += part.empty
        for number, module in enumerate(part.modules):
            if reserved is not None and np.isin(module.function_hash, reserved).any():
                report.reserved.append(module.path)
            elif module.statements_hash in module_hashes:
                report.duplicates += 1
            else:
                module_hashes.add(module.statements_hash)
                numbers_of.setdefault(path, []).append(number)
    if not numbers_of:
        shutil.rmtree(parts)  # what could not be read may be readable the next time
        if report.reserved:
            problem = f"{root}: no module is left: {len(report.reserved)} of {report.files} have a function kept"
            raise ConfigError(f"{problem} for evaluation. Give other IR, or less to --exclude-ir")
        reason = f": {report.failures[0][1]}" if report.failures else ""
        reason += f"; {len(report.empty)} of {report.files} files have no function body" if report.empty else ""
        raise ConfigError(f"{root}: no IR could be read{reason}. Give a folder with .ll or .bc files")
    texts = _Texts(numbers_of)
    if tokenizer is None:
        tokenizer = train_tokenizer(texts.statements(), config)

    def modules() -> Iterator[tuple[ModuleInfo, CorpusModule]]:
        for path, numbers in numbers_of.items():
            part = Part.load(path)
            rows = texts.numbers(part.text_hash)
            for module in (part.modules[number] for number in numbers):
                row = rows[module.statement_row]
                order = np.argsort(row)
                graph = {name: getattr(module, name) for name in GRAPH_ARRAYS} | {"node_row": rows[module.node_row]}
                if len(module.node_row) > max_nodes:
                    graph, report.without_graph = no_graph(), report.without_graph + 1
                report.modules += 1
                merged = CorpusModule(statement_row=row[order], statement_count=module.statement_count[order], **graph)
                origin: dict[str, Any] = module_origin(Path(module.path), root, sources or {})
                yield ModuleInfo(**origin, **module.facts), merged

    write_corpus(folder, modules(), tokenizer, *texts.encode(tokenizer))
    (Path(folder) / "report.json").write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(parts)
    return Corpus.load(folder), report


def hashes_of_ir(
    files: Iterable[Path | Input], normalisation: str = "locals", *, options: ReadOptions | None = None
) -> UInt64:
    """Function hashes (F,) of IR that a corpus must not have, of which files without a function body have none.

    Raises MirencError: an unread kernel would go unseen.
    """
    hashes = [np.zeros(0, dtype=np.uint64)]
    for path in files:
        with contextlib.suppress(NoFunctionBodyError):
            module = read_ir(path, options=options)
            hashes.append(function_hashes(module, statements_of(module, normalisation)))
    return np.unique(np.concatenate(hashes))


def _read_parts(
    files: Sequence[Path],
    root: Path,
    folder: Path,
    normalisation: str,
    options: ReadOptions | None,
    jobs: int,
    advance: Advance,
) -> list[Path]:
    """Paths of all parts, in the files' order; those missing are read first."""
    parts: list[Path] = []
    chunks: list[list[str]] = []
    targets: list[Path] = []
    # Of one project: what is added to another project changes no chunk of this one.
    for _, project_files in itertools.groupby(files, key=lambda path: path.relative_to(root).parts[0]):
        paths = [str(path) for path in project_files]
        for chunk in (paths[first : first + _CHUNK] for first in range(0, len(paths), _CHUNK)):
            # Another part where a file changed, or what may be spent on it, or what a part holds.
            columns = (*PART_ARRAYS, *(field_.name for field_ in fields(Part)))
            facts = (normalisation, repr(options), str(default_worker().memory_limit), *columns)
            file_paths = [Path((split_name(name) or (name,))[0]) for name in chunk]
            parts.append(folder / f"{stamp_of(file_paths, *chunk, *facts)}.part")
            if parts[-1].exists():
                advance(len(chunk))
            else:
                chunks.append(chunk)
                targets.append(parts[-1])
    pool = None
    if jobs > 1 and len(chunks) > 1:
        # spawn: a forked child would share the parent's connection to LLVM.
        context, limit = multiprocessing.get_context("spawn"), (default_worker().memory_limit,)
        pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_process, initargs=limit)
    apply = map if pool is None else pool.map
    try:
        results = apply(read_chunk, chunks, targets, itertools.repeat(normalisation), itertools.repeat(options))
        for chunk, _ in zip(chunks, results, strict=True):
            advance(len(chunk))
    except BrokenProcessPool:
        cause = f"{root}: a process that reads files was killed from outside, as a system does when memory runs out"
        advice = "What was read is kept: type the same again, with fewer --jobs (Python: jobs=)"
        raise IRResourceError(f"{cause}. {advice}") from None
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)
    return parts


def _start_process(memory_limit: int) -> None:
    """Prepare a reading process: LLVM's limit is this build's, and Ctrl-C ends it without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    default_worker().limit_memory(memory_limit)


class _Texts:
    """The distinct texts of the kept modules, numbered by first occurrence; they stay in their parts."""

    def __init__(self, numbers_of: Mapping[Path, list[int]]) -> None:
        part_hashes: list[UInt64] = []
        rows: list[Int64] = []
        is_statement: list[Bool] = []
        for path, numbers in numbers_of.items():
            part = Part.load(path)
            node, statement = np.zeros((2, len(part.texts)), dtype=bool)
            for module in (part.modules[number] for number in numbers):
                node[module.node_row] = statement[module.statement_row] = True
            rows.append(np.flatnonzero(node | statement))
            part_hashes.append(part.text_hash[rows[-1]])
            is_statement.append(statement)
        hashes, first = np.unique(np.concatenate(part_hashes), return_index=True)
        # A last one that no text has, so that there is always one to compare with.
        self._sorted_hashes = np.append(hashes, np.iinfo(np.uint64).max)
        # Texts of one program are neighbours, which compresses.
        self._text_numbers = np.append(np.argsort(np.argsort(first)), -1).astype(np.int32)
        new = np.zeros(sum(map(len, rows)), dtype=bool)
        new[first] = True
        ends = np.cumsum([len(part_rows) for part_rows in rows])[:-1]
        # Of each part the rows of texts that no part before it has, and which of its texts are statements.
        new_rows = [part_rows[is_new] for part_rows, is_new in zip(rows, np.split(new, ends), strict=True)]
        self._parts = list(zip(numbers_of, new_rows, is_statement, strict=True))

    def numbers(self, hashes: UInt64) -> Int32:
        """Numbers of some hashes, -1 where a text belongs to no kept module. Shapes: (n,) -> (n,)."""
        position = np.searchsorted(self._sorted_hashes, hashes)
        return np.where(self._sorted_hashes[position] == hashes, self._text_numbers[position], np.int32(-1))

    def _part_texts(self) -> Iterator[tuple[list[str], Bool]]:
        """All texts in order, and whether each is a statement where it first stands."""
        for path, rows, is_statement in self._parts:
            texts = Part.load(path).texts
            yield [texts[row] for row in rows.tolist()], is_statement[rows]

    def statements(self) -> Iterator[str]:
        """The distinct statements, for the tokenizer's training."""
        return itertools.chain.from_iterable(itertools.starmap(itertools.compress, self._part_texts()))

    def encode(self, tokenizer: IRTokenizer) -> tuple[UInt16, Int32]:
        """Token ids of all texts end to end, and their lengths (U,)."""
        pieces, lengths = [np.zeros(0, dtype=np.uint16)], [np.zeros(0, dtype=np.int32)]
        for texts, _ in self._part_texts():
            if texts:
                ids, length = tokenizer.encode_batch(texts)
                pieces.append(ids[np.arange(ids.shape[1]) < length[:, None]])
                lengths.append(length)
        return np.concatenate(pieces), np.concatenate(lengths)


def module_origin(path: Path, root: Path, sources: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The text columns of `ModuleInfo` for a file below ``root``; ``sources`` as of `build_corpus`."""
    relative_path = path.relative_to(root)
    name, parts = relative_path.as_posix(), relative_path.parts
    level = parts[1] if len(parts) > 2 and is_level(parts[1]) else ""
    # Two levels of one program have one name below their levels.
    file = "/".join(parts[2:] if level else parts[1:]) or parts[0]
    origin = dict.fromkeys(("version", "language", "compiler"), "")
    origin |= {"name": name, "project": parts[0], "file": file, "opt_level": level}
    origin |= {key: value for key, value in sources.get(name, {}).items() if key in origin}
    # As text that every table takes: what is not UTF-8 of a file's name as ``\xff``, a carriage return as ``\r``.
    encoded = {key: os.fsencode(value).decode("utf-8", "backslashreplace") for key, value in origin.items()}
    return {key: text.replace("\r", "\\r") for key, text in encoded.items()}
