"""Tables and archives of a dataset's folder, compressed or not, read into memory.

Nothing is unpacked to disk. Sizes are bounded, because a few compressed bytes can stand for any number.
"""

import csv
import gzip
import hashlib
import io
import lzma
import math
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from mirenc.base.errors import DatasetError, TaskError

_MAX_FILE = 256 * 2**20  # bytes, decompressed
_MAX_ARCHIVE = 1024 * 2**20  # bytes, decompressed, all members
_MAX_MEMBERS = 100_000
_PART = 1 << 20  # bytes read at once


def file_path(folder: Path, name: str) -> Path | None:
    """``name`` or ``name.gz`` in a folder, the first that is there."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def archive_path(folder: Path, name: str) -> Path | None:
    """Folder ``name`` or file ``name.tar.xz`` in a folder, the first that is there."""
    archive_folder, archive_file = folder / name, folder / f"{name}.tar.xz"
    return archive_folder if archive_folder.is_dir() else archive_file if archive_file.is_file() else None


def _fetch_advice(folder: Path) -> str:
    return f"Type: mirenc datasets fetch {folder.name} (mirenc datasets list has the names)"


@contextmanager
def _damage_as_error(path: Path) -> Iterator[None]:
    """What goes wrong in reading a file, as a `DatasetError` that names it."""
    try:
        yield
    except DatasetError:
        raise
    except (EOFError, OSError, ValueError, csv.Error, lzma.LZMAError, tarfile.TarError, zlib.error) as error:
        if isinstance(error, OSError) and error.strerror:  # the system's word; gzip's own have none
            raise DatasetError(f"{path}: cannot be read ({error.strerror}). Check its permissions") from None
        reason = str(error) or type(error).__name__
        raise DatasetError(f"{path}: damaged ({reason}). Delete it. {_fetch_advice(path.parent)}") from None


def _read_limited(stream: IO[bytes], path: Path) -> bytes:
    """All bytes of a stream, part by part: one ``read`` would reserve the limit whatever the size."""
    data = bytearray()
    while part := stream.read(_PART):
        data += part
        if len(data) > _MAX_FILE:
            problem = f"{path}: more than {_MAX_FILE >> 20} MiB decompressed; no file of a dataset is that large"
            raise DatasetError(f"{problem}. Delete it")
    return bytes(data)


def read_file(folder: Path, name: str) -> bytes:
    """Decompressed bytes of ``name`` or ``name.gz``. Raises DatasetError: missing, damaged, or larger than 256 MiB."""
    path = file_path(folder, name)
    if path is None:
        raise DatasetError(f"{folder}: no {name} or {name}.gz. {_fetch_advice(folder)}")
    with _damage_as_error(path), gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        return _read_limited(cast("IO[bytes]", stream), path)


def read_table(folder: Path, name: str, needed: Sequence[str] = ()) -> list[dict[str, str]]:
    """Rows of a CSV file, by column name; every value is text. ``x.csv.gz`` is found as ``x.csv``.

    Raises DatasetError: missing or damaged, no header, a column named twice, or a row that is longer or shorter than
    the header. TaskError: a column that is needed is not there.
    """
    data = read_file(folder, name)
    path = file_path(folder, name) or folder / name
    # Fields hold whole sources and token lists, beyond csv's 128 KiB. The limit is the process's, so it is restored.
    usual_limit = csv.field_size_limit(_MAX_FILE)
    try:
        with _damage_as_error(path):
            reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
            header, *rows = [(reader.line_num, row) for row in reader] or [(1, [])]
    finally:
        csv.field_size_limit(usual_limit)
    columns = header[1]
    if not columns:
        raise DatasetError(f"{path}: empty, no header line. Delete it. {_fetch_advice(path.parent)}")
    if repeated_columns := [column for column in columns if columns.count(column) > 1]:
        raise DatasetError(f"{path}: column {repeated_columns[0]!r} occurs twice in the header. Rename one of them")
    if missing := [column for column in needed if column not in columns]:
        advice = f"To compare it with what was published, type: mirenc datasets verify {folder.name}"
        raise TaskError(f"{name}: no column {', '.join(map(repr, missing))}. {advice}")
    for line, row in rows:
        if len(row) != len(columns):
            problem = f"{len(row)} fields, the header has {len(columns)}"
            raise DatasetError(f"{path}, line {line}: {problem}. Mend the row, or fetch the file again")
    return [dict(zip(columns, row, strict=True)) for _, row in rows]


def read_archive(folder: Path, name: str) -> dict[str, bytes]:
    """Files of an archive by their path in it, as in ``{"foo.ll": b"..."}``, sorted; those of a folder, or ``.tar.xz``.

    Hidden files are left out: they are what file managers and interrupted copies leave behind. Raises DatasetError:
    missing, damaged, with anything but regular files and folders, or larger than 1 GiB.
    """
    path = archive_path(folder, name)
    if path is None:
        raise DatasetError(f"{folder}: no folder {name} or {name}.tar.xz. {_fetch_advice(folder)}")
    members: dict[str, bytes] = {}
    size = 0
    with _damage_as_error(path):
        for member, data in _folder_members(path) if path.is_dir() else _tar_members(path, name):
            if member in members:
                raise DatasetError(f"{path}: holds {member} twice. Pack it again")
            size += len(data)
            if size > _MAX_ARCHIVE or len(members) == _MAX_MEMBERS:
                problem = f"has over {_MAX_MEMBERS} files or {_MAX_ARCHIVE >> 20} MiB, more than any dataset's archive"
                raise DatasetError(f"{path}: {problem}. Remove what does not belong to the dataset")
            members[member] = data
    return dict(sorted(members.items()))


def _is_hidden(path: PurePosixPath | Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _folder_members(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not _is_hidden(path.relative_to(folder)):
            with path.open("rb") as stream:
                yield path.relative_to(folder).as_posix(), _read_limited(stream, path)


def _tar_members(path: Path, name: str) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path, "r:xz") as archive:
        for member in archive:
            if member.isdir():
                continue
            member_path = PurePosixPath(member.name)
            if not member.isreg() or member_path.is_absolute() or ".." in member_path.parts:
                raise DatasetError(f"{path}: contains {member.name}, not a regular file. Download the archive again")
            if member_path.parts[0] == name:
                member_path = member_path.relative_to(name)
            stream = archive.extractfile(member)
            if stream is not None and not _is_hidden(member_path):
                yield member_path.as_posix(), _read_limited(stream, path)


def hash_members(folder: Path, part: str) -> dict[str, str]:
    """sha256 of each file of a table or archive, named as in the checksums; {} without. Raises DatasetError: damage."""
    if archive_path(folder, part):
        contents = {f"{part}/{member}": data for member, data in read_archive(folder, part).items()}
    else:
        contents = {part: read_file(folder, part)} if file_path(folder, part) else {}
    return {file: hashlib.sha256(data).hexdigest() for file, data in contents.items()}


def real(row: Mapping[str, str], column: str, where: str) -> float:
    """A finite number. Raises TaskError: ``where`` and the column are named."""
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        problem = f"column {column!r} is {row[column]!r}, not a finite number"
        raise TaskError(f"{where}: {problem}. Mend or leave out the row")
    return value
