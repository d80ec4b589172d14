"""A folder of IR with a log of everything that was compiled: what each source of a corpus is turned into first.

``FOLDER/<project>/<level>/<flattened source path>.ll`` (``.bc`` for bitcode), every file different from every other
one, and ``FOLDER/log.jsonl``. What is in the log is not tried again, so a run that was stopped goes on where it was.
"""

import contextlib
import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from mirenc.base.errors import CompileError, IRFileError
from mirenc.base.writing import delivered

Status = Literal["ok", "duplicate", "empty", "large", "failed", "timeout", "reserved"]
Key = tuple[str, str, str]  # project, file, level

FAILURES = ("failed", "timeout")
_LOG = "log.jsonl"
_ORIGIN = ("project", "version", "file", "language", "opt_level", "compiler")
_LONGEST_NAME = 180  # file systems take 255 bytes


def digest(text: str) -> int:
    """A number that depends on ``text`` alone, for choices that are the same on every machine."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[:8], "big")


def stamp_of(paths: Iterable[Path], *words: str) -> str:
    """Text that changes when one of some files does, or one of some words."""
    facts: list[object] = [*words]
    for path in paths:
        facts.append(None)
        with contextlib.suppress(OSError):  # whoever reads the file says what is wrong with it
            facts[-1] = [path.stat().st_size, path.stat().st_mtime_ns]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class IRRecord:
    """One file tried at one level.

    Of its ``status``, ``ok``: the IR is in the folder; ``duplicate`` of other IR; ``empty``: no function body;
    ``large``: above the limit; ``failed`` and ``timeout``: no IR; ``reserved`` for evaluation.
    """

    project: str
    version: str
    file: str  # the path inside the project, with ``/``
    language: str  # with ``+openmp`` where the IR calls the OpenMP runtime
    opt_level: str  # ``O0``, ``O2`` ..., or ``unknown``
    compiler: str
    sha256_of_ir: str  # of text, if read, without its first two lines, which name the source file; of all of bitcode
    ir_bytes: int
    status: Status
    reason: str = ""  # what the compiler said where it failed; else flags that it does not know, and went without
    stamp: str = ""  # changes when what the IR is made from does; "" where that does not change

    @property
    def key(self) -> Key:
        """Project, file and level: there is one record of each."""
        return self.project, self.file, self.opt_level


class IRFolder:
    """The folder, made if it is not there: keeps the IR that is new, and a record of everything that was tried.

    With ``retry_failed`` failures of earlier runs count as not tried. IRFileError: ``log.jsonl`` is no such log.
    """

    def __init__(self, root: Path, *, retry_failed: bool = False) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root
        path = root / _LOG
        self._records, size = _read_log(path)
        self._log = path.open("ab")
        self._log.truncate(size)  # half a line, if the last run was killed while it wrote
        if retry_failed:
            self._records = {key: r for key, r in self._records.items() if r.status not in FAILURES}
        self._hashes = {record.sha256_of_ir for record in self._records.values() if record.status == "ok"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()

    def __len__(self) -> int:
        return len(self._records)

    @property
    def ir_bytes(self) -> int:
        """Size of all IR, bytes."""
        return sum(record.ir_bytes for record in self._records.values() if record.status == "ok")

    def get(self, key: Key) -> IRRecord | None:
        """Latest record of a project's file at a level; None if it was not tried."""
        return self._records.get(key)

    def records(self) -> list[IRRecord]:
        return sorted(self._records.values(), key=lambda record: record.key)

    def kept(self) -> list[IRRecord]:
        """Records whose IR is in the folder, sorted."""
        return [record for record in self.records() if record.status == "ok"]

    def add(self, record: IRRecord, ir: bytes | None = None) -> IRRecord:
        """Store one result, and its IR if that is new. Returns the stored record: ``duplicate`` for other IR."""
        if record.status == "ok" and record.sha256_of_ir in self._hashes:
            record = dataclasses.replace(record, status="duplicate")
        if record.status == "ok" and ir is not None:
            path = self.path_of(record)
            path.parent.mkdir(parents=True, exist_ok=True)
            # The file before the line in the log, and whole or not at all: a run may be killed at any moment.
            with delivered(path) as part:
                part.write_bytes(ir)
            self._hashes.add(record.sha256_of_ir)
        self._records[record.key] = record
        self._log.write(_line_of(record))
        self._log.flush()
        return record

    def path_of(self, record: IRRecord) -> Path:
        """Where a record's IR lies: the source path, flattened, below project and level."""
        return self.root / _relative_path(record)

    def keep_only(self, is_wanted: Callable[[IRRecord], bool]) -> None:
        """Forget the records that are not wanted, and remove their IR; duplicates of that IR are forgotten, too."""
        removals = {key: record for key, record in self._records.items() if not is_wanted(record)}
        lost_hashes = {record.sha256_of_ir for record in removals.values() if record.status == "ok"}
        for record in self._records.values():
            if record.status == "duplicate" and record.sha256_of_ir in lost_hashes:
                removals[record.key] = record
        if not removals:
            return
        self._records = {key: record for key, record in self._records.items() if key not in removals}
        # The log before the files: IR that no record names is not part of the folder, a record without IR is a lie.
        with delivered(self.root / _LOG) as part:
            part.write_bytes(b"".join(map(_line_of, self._records.values())))
            self._log.close()
        self._log = (self.root / _LOG).open("ab")
        self._hashes -= lost_hashes
        for record in removals.values():
            if record.status == "ok":
                self.path_of(record).unlink(missing_ok=True)

    def summary(self) -> str:
        """Counts by language, level, compiler and project, and what went wrong."""
        records = self.kept()
        sources = {(record.project, record.file) for record in records}
        by_project = Counter(project for project, _ in sources)
        size = f"{self.ir_bytes / 1e6:.0f} MB"
        lines = [f"{len(records)} IR files, {size}, {len(sources)} sources, {len(by_project)} projects"]
        counters = {key: Counter(sorted(getattr(record, key) for record in records)) for key in _ORIGIN[3:]}
        counters["tried (file, level)"] = Counter(record.status for record in self._records.values())
        failures = Counter(record.project for record in self._records.values() if record.status in FAILURES)
        counters |= {"files that did not compile, by project": failures, "sources by project": by_project}
        for title, counter in counters.items():
            counts = ", ".join(f"{name} {count}" for name, count in counter.most_common()) or "none"
            lines.append(f"{title}: {counts}")
        return "\n".join(lines)


def origins_of(root: Path) -> dict[str, dict[str, str]]:
    """Where each file of a folder of IR comes from, by its path below the folder, from the log; empty without one.

    That is its project, version, file, language, opt_level and compiler. IRFileError: ``log.jsonl`` is no such log.
    """
    return {
        _relative_path(record).as_posix(): {name: getattr(record, name) for name in _ORIGIN}
        for record in _read_log(root / _LOG)[0].values()
        if record.status == "ok"
    }


def failures_of(root: Path) -> list[CompileError]:
    """One error for each source that did not become IR, from the log of a folder of IR; raises as `origins_of`."""
    advice = {"large": "Raise the limit with --max-bytes", "timeout": "Raise the limit with --timeout"}
    hint = "Mend the source, or give flags that it needs, such as --cflags=-Iinclude"
    return [
        CompileError(
            f"{record.project}/{record.file}: not compiled: "
            f"{record.reason or f'its IR is too large, {record.ir_bytes} bytes'}. {advice.get(record.status, hint)}"
        )
        for record in sorted(_read_log(root / _LOG)[0].values(), key=lambda record: record.key)
        if record.status in (*FAILURES, "large")
    ]


def _line_of(record: IRRecord) -> bytes:
    return json.dumps(dataclasses.asdict(record)).encode() + b"\n"


def _relative_path(record: IRRecord) -> Path:
    name = record.file.replace("/", "__")
    if len(name) > _LONGEST_NAME:
        name = f"{digest(name):016x}__{name[-150:]}"
    # What was bitcode before it came here has its suffix already.
    return Path(record.project, record.opt_level, name if name.endswith(".bc") else f"{name}.ll")


def _read_log(path: Path) -> tuple[dict[Key, IRRecord], int]:
    """The latest record of each file and level in a log, and the size of its whole lines, bytes."""
    data = path.read_bytes() if path.exists() else b""
    whole_lines = data[: data.rfind(b"\n") + 1]
    records: dict[Key, IRRecord] = {}
    for number, line in enumerate(whole_lines.splitlines(), 1):
        try:
            record = IRRecord(**json.loads(line))
            records[record.key] = record
        except (ValueError, TypeError) as error:
            problem = f"{path}: line {number} is not a record of compiled IR ({error})"
            raise IRFileError(f"{problem}. Give another output folder, or delete this file") from None
    return records, len(whole_lines)
