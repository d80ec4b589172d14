"""The cache in the user's cache folder: statement vectors and whole-file results, in one SQLite file for each model.

The file can be deleted at any time. The model's digest names it, so another model is never answered with these vectors.
A cache that cannot be used is left alone: it saves time, and moves a vector by no more than rounding.
"""

import contextlib
import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

DEFAULT_CACHE_BYTES = 512 * 2**20  # bytes of one model's cache
_TIMEOUT = 10.0  # seconds to wait for another writer
_CHECKSUM = 8  # bytes
_RECENT = 16  # exchanges: an entry used since then is not marked again, which would write all of its page
_SUFFIXES = ("", "-wal", "-shm")  # of SQLite's files
_NAME = re.compile(r"([\w.-]+\.)?[0-9a-f]{32}")  # of a cache's file: the model's name and digest
_QUERY_ROWS = 30_000  # SQLite takes 32,766 parameters a query
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, used INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS entries_used ON entries (used);
"""


def cache_folder() -> Path:
    """``$MIRENC_CACHE``, or the platform's cache folder."""
    if folder := os.environ.get("MIRENC_CACHE"):
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("mirenc")


def cache_files(folder: Path | None = None) -> list[Path]:
    """The files of all caches, the one that was not written to for longest first; other files there are left alone."""
    paths = [path for path in (folder or cache_folder()).glob("*.sqlite") if _NAME.fullmatch(path.stem)]
    return sorted(filter(Path.is_file, paths), key=lambda path: path.stat().st_mtime)


def file_bytes(path: Path) -> int:
    """Bytes of a cache's file and of SQLite's files beside it."""
    paths = (Path(f"{path}{suffix}") for suffix in _SUFFIXES)
    return sum(part.stat().st_size for part in paths if part.exists())


def limit_caches(max_bytes: int, folder: Path | None = None) -> None:
    """Delete what was not used for longest, whole files first, until all caches have at most so many bytes."""
    files = cache_files(folder)
    excess = sum(map(file_bytes, files)) - max_bytes
    for path in files:
        if excess <= 0:
            return
        size = file_bytes(path)
        kind, _, digest = path.stem.rpartition(".")
        cache = Cache(digest, kind=kind, folder=path.parent)
        if size <= excess:
            cache.clear()
        else:
            cache.shrink(size - excess)
        excess -= size - file_bytes(path)


def cache_key(kind: str, content: str | bytes) -> bytes:
    """16-byte key of some content; ``kind`` keeps a statement apart from a file that holds only it."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogateescape")
    return hashlib.blake2b(content, digest_size=16, person=kind.encode("ascii")).digest()


def _checksum(key: bytes, data: bytes) -> bytes:
    """Checksum of an entry: SQLite may not notice that a file is damaged, and a wrong vector is worse than none."""
    return hashlib.blake2b(key + data, digest_size=_CHECKSUM).digest()


def _latest_use(connection: sqlite3.Connection) -> int:
    """Number of the latest use: a count, since clocks of several writers differ."""
    (latest,) = connection.execute("SELECT COALESCE(MAX(used), 0) FROM entries").fetchone()
    return int(latest)


class Cache:
    """Bytes by 16-byte keys, of one ``digest``: the model and what runs it. Past ``max_bytes`` the oldest used go.

    ``kind`` begins the file's name: what people know it by.
    """

    def __init__(
        self, digest: str, *, kind: str = "", folder: Path | None = None, max_bytes: int = DEFAULT_CACHE_BYTES
    ) -> None:
        self.digest = digest
        kind = re.sub(r"[^\w. -]|^\.", "_", kind)  # a model's own name, which must lead out of no folder
        self.path = (folder or cache_folder()) / f"{kind and f'{kind}.'}{digest[:32]}.sqlite"
        self.max_bytes = max_bytes
        self.largest = max_bytes // 10  # bytes of an entry: a larger one is not kept
        self._broken = False

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        """A connection for one exchange; None when the cache cannot be used (no space, no permission, damaged)."""
        connection = None if self._broken else self._connect()
        if connection is None:
            self._broken = True
            yield None
            return
        try:
            with connection:
                yield connection
        except sqlite3.Error:
            self._broken = True
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection | None:
        for _ in range(2):
            connection = None
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, timeout=_TIMEOUT)
                with contextlib.suppress(sqlite3.OperationalError):  # no wait for another that makes the file
                    connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=OFF")  # a lost cache costs time only
                connection.executescript(_SCHEMA)
                return connection
            except (OSError, sqlite3.Error) as error:
                if connection is not None:
                    connection.close()
                # Locked, no space and no permission are not the file's fault; a damaged one is begun anew.
                if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, sqlite3.OperationalError):
                    return None
                with contextlib.suppress(OSError):
                    self.clear()
        return None

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those of the keys that are stored and undamaged."""
        values: dict[bytes, bytes] = {}
        with self._open() as connection:
            if connection is None:
                return values
            latest = _latest_use(connection)
            stale: list[bytes] = []
            for first in range(0, len(keys), _QUERY_ROWS):
                part = keys[first : first + _QUERY_ROWS]
                query = f"SELECT key, used, data FROM entries WHERE key IN ({','.join('?' * len(part))})"
                for key, used, data in connection.execute(query, part):
                    if _checksum(key, data[_CHECKSUM:]) == data[:_CHECKSUM]:
                        values[key] = data[_CHECKSUM:]
                    if latest - used >= _RECENT:
                        stale.append(key)
            connection.executemany("UPDATE entries SET used = ? WHERE key = ?", ((latest + 1, key) for key in stale))
        return values

    def put(self, entries: dict[bytes, bytes]) -> None:
        """Store entries; drop the oldest if the file is too large. One above `largest` is not kept."""
        entries = {key: data for key, data in entries.items() if len(data) <= self.largest}
        if not entries:
            return
        # Before the exchange: while it lasts no other process can write.
        rows = [(key, _checksum(key, data) + data) for key, data in entries.items()]
        with self._open() as connection:
            if connection is None:
                return
            now = _latest_use(connection) + 1
            connection.executemany(
                "INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", ((key, now, data) for key, data in rows)
            )
            self._shrink(connection)

    def _shrink(self, connection: sqlite3.Connection) -> None:
        """Delete the oldest tenth until the live pages fit."""
        (page_size,) = connection.execute("PRAGMA page_size").fetchone()
        while True:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            (free,) = connection.execute("PRAGMA freelist_count").fetchone()
            if (pages - free) * page_size <= self.max_bytes:
                return
            (count,) = connection.execute("SELECT COUNT(*) FROM entries").fetchone()
            if count == 0:
                return
            oldest = "SELECT key FROM entries ORDER BY used LIMIT ?"
            connection.execute(f"DELETE FROM entries WHERE key IN ({oldest})", (max(1, count // 10),))

    def shrink(self, max_bytes: int) -> None:
        """Delete the oldest entries until the file has at most ``max_bytes``."""
        self.max_bytes = max_bytes
        with self._open() as connection:
            if connection is not None:
                self._shrink(connection)
                connection.commit()
                connection.execute("VACUUM")  # gives the pages back to the file system

    def clear(self) -> None:
        for suffix in _SUFFIXES:
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self._broken = False
