"""Tables and archives of a dataset's folder, compressed or not, read into memory.

Nothing is unpacked to disk. Sizes are bounded, because a few compressed bytes can stand for any number.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from mirenc.tasks.datasets.registry import DatasetError

__all__ = ["archive_path", "file_path", "hash_members", "read_archive", "read_file", "read_table"]

_MAX_FILE = 256 * 2**20  # bytes, decompressed
_MAX_ARCHIVE = 1024 * 2**20  # bytes, decompressed, all members
_MAX_MEMBERS = 100_000
_PART = 1 << 20  # bytes read at once
_DAMAGE = (EOFError, OSError, ValueError, lzma.LZMAError, tarfile.TarError, zlib.error)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def file_path(folder: Path, name: str) -> Path | None:
    """``name`` or ``name.gz`` in a folder, the first that is there."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def archive_path(folder: Path, name: str) -> Path | None:
    """Folder ``name`` or file ``name.tar.xz`` in a folder, the first that is there."""
    if (folder / name).is_dir():
        return folder / name
    packed = folder / f"{name}.tar.xz"
    return packed if packed.is_file() else None


def _missing(folder: Path, names: str) -> DatasetError:
    return DatasetError(f"{folder}: no {names}. {_fetch(folder)}")


def _fetch(folder: Path) -> str:
    return f"Type: mirenc datasets fetch {folder.name} (mirenc datasets list has the names)"


def _damaged(path: Path, error: BaseException) -> DatasetError:
    if isinstance(error, OSError) and error.strerror:  # the system's word; gzip's own have none
        return DatasetError(f"{path}: cannot be read ({error.strerror}). Check its permissions")
    reason = str(error) or type(error).__name__
    return DatasetError(f"{path}: damaged ({reason}). Delete it. {_fetch(path.parent)}")


def _read_limited(stream: _Readable, limit: int, path: Path) -> bytes:
    """All bytes of a stream, part by part: one ``read`` would reserve the limit whatever the size."""
    data = bytearray()
    while part := stream.read(_PART):
        data += part
        if len(data) > limit:
            raise DatasetError(f"{path}: more than {limit >> 20} MiB decompressed, so no file of a dataset. Delete it")
    return bytes(data)


def read_file(folder: Path, name: str) -> bytes:
    """Decompressed bytes of ``name`` or ``name.gz``.

    Raises
    ------
    DatasetError
        Missing, damaged, or larger than 256 MiB.
    """
    path = file_path(folder, name)
    if path is None:
        raise _missing(folder, f"{name} or {name}.gz")
    try:
        stream: IO[bytes] | gzip.GzipFile
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            return _read_limited(stream, _MAX_FILE, path)
    except DatasetError:
        raise
    except _DAMAGE as error:
        raise _damaged(path, error) from None


def read_table(folder: Path, name: str) -> list[dict[str, str]]:
    """Rows of a CSV file, by column name; every value is text.

    Parameters
    ----------
    folder : Path
        As `dataset_folder` gives it.
    name : str
        ``x.csv``; ``x.csv.gz`` is found under the same name.

    Raises
    ------
    DatasetError
        Missing or damaged, no header, a column named twice, or a row that is longer or shorter than the header.
    """
    data = read_file(folder, name)
    path = file_path(folder, name) or folder / name
    # Fields hold whole sources and token lists, beyond csv's 128 KiB. The limit is the process's, so it is put back.
    before = csv.field_size_limit(_MAX_FILE)
    try:
        reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        header = next(reader, [])
        if not header:
            raise DatasetError(f"{path}: empty, no header line. Delete it. {_fetch(path.parent)}")
        doubled = sorted({column for column in header if header.count(column) > 1})
        if doubled:
            raise DatasetError(f"{path}: column {doubled[0]!r} stands twice in the header. Rename one")
        rows = []
        for number, row in enumerate(reader, 1):
            if len(row) != len(header):
                raise DatasetError(
                    f"{path}: row {number} (line {reader.line_num}) has {len(row)} fields, the header {len(header)}. "
                    "Mend the row, or fetch the file again"
                )
            rows.append(dict(zip(header, row, strict=True)))
        return rows
    except (csv.Error, UnicodeDecodeError) as error:
        raise _damaged(path, error) from None
    finally:
        csv.field_size_limit(before)


def read_archive(folder: Path, name: str) -> dict[str, bytes]:
    """Files of an archive by their path in it, as in ``{"foo.ll": b"..."}``, sorted.

    Hidden files are left out: they are what file managers and interrupted copies leave behind.

    Parameters
    ----------
    folder : Path
        As `dataset_folder` gives it.
    name : str
        ``kernels_ir`` reads the folder of that name, or ``kernels_ir.tar.xz``.

    Raises
    ------
    DatasetError
        Missing, damaged, with anything but regular files and folders, or larger than 1 GiB.
    """
    path = archive_path(folder, name)
    if path is None:
        raise _missing(folder, f"folder {name} or {name}.tar.xz")
    members: dict[str, bytes] = {}
    size = 0
    try:
        for member, data in _folder_members(path) if path.is_dir() else _tar_members(path, name):
            if member in members:
                raise DatasetError(f"{path}: holds {member} twice. Pack it again")
            size += len(data)
            if size > _MAX_ARCHIVE or len(members) == _MAX_MEMBERS:
                raise DatasetError(
                    f"{path}: more than {_MAX_MEMBERS} files or {_MAX_ARCHIVE >> 20} MiB, so no archive of a dataset. "
                    "Move what does not belong to it away"
                )
            members[member] = data
    except DatasetError:
        raise
    except _DAMAGE as error:
        raise _damaged(path, error) from None
    return dict(sorted(members.items()))


def _is_hidden(path: PurePosixPath | Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _folder_members(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not _is_hidden(path.relative_to(folder)):
            with path.open("rb") as stream:
                yield path.relative_to(folder).as_posix(), _read_limited(stream, _MAX_FILE, path)


def _tar_members(path: Path, name: str) -> Iterator[tuple[str, bytes]]:
    with lzma.open(path) as packed:
        data = _read_limited(packed, _MAX_ARCHIVE, path)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if member.isdir():
                continue
            place = PurePosixPath(member.name)
            if not member.isreg() or place.is_absolute() or ".." in place.parts:
                raise DatasetError(f"{path}: {member.name} is no regular file of it. Get the archive from its source")
            if place.parts[0] == name:
                place = place.relative_to(name)
            stream = archive.extractfile(member)
            if stream is not None and not _is_hidden(place):
                yield place.as_posix(), _read_limited(stream, _MAX_FILE, path)


def hash_members(folder: Path, part: str) -> dict[str, str]:
    """sha256 of what reading a table or archive gives, by file name as in the checksums; empty if it is not there.

    Raises
    ------
    DatasetError
        It is there and cannot be read.
    """
    if archive_path(folder, part) is not None:
        return {
            f"{part}/{member}": hashlib.sha256(data).hexdigest() for member, data in read_archive(folder, part).items()
        }
    if file_path(folder, part) is not None:
        return {part: hashlib.sha256(read_file(folder, part)).hexdigest()}
    return {}
