"""How bitcode is told from text: reads a file or standard input, decompresses it, and says what kind it is.

Bitcode is told by its first four bytes, whatever the file's name; what is neither IR nor text is refused.
"""

import errno
import gzip
import hashlib
import io
import lzma
import os
import shlex
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Literal

from mirenc.base.errors import IRFileError, MirencError, needs
from mirenc.llvm.child.parsing_service import BITCODE_MAGIC
from mirenc.llvm.inputs.containers import (
    FLAGS,
    HEAD,
    Part,
    find_parts,
    kind_of_container,
    part_name,
    split_name,
    stands_for_many,
)
from mirenc.llvm.inputs.languages import language_of

DEFAULT_MAX_BYTES = 64 * 2**20
LARGEST_SIZE = 2**60  # bytes: the system takes sizes of 63 bits
IR_SUFFIXES = (".ll", ".bc")
COMPRESSIONS = (".gz", ".xz", ".zst")
# Suffix of the harness that `mirenc measure` takes beside a source; it is no code of the program.
DRIVER = ".driver.c"
_SHOWN = 8  # modules of a container that an error names
_HEAD = 4096  # bytes in which a NUL says that this is no text
_PART = 1 << 20  # bytes read at once
_ZSTD_PART = 1 << 12  # four bytes of zstd can stand for 128 KiB
_MARK = b"\xef\xbb\xbf"  # the byte order mark that some editors put before UTF-8
# Numbers of the blocks: who wrote a module, the module, the same of the second, names of both; 25 has symbols.
_TWO_MODULES = bytes([13, 8, 13, 8, 23])
_FOREIGN_MAGIC = {
    b"PK\x03\x04": "a zip archive",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG picture",
    **dict.fromkeys((b"[", b"{"), "JSON"),
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "text in UTF-16"),
}


@dataclass(frozen=True, slots=True)
class InputBytes:
    """The decompressed bytes of one input, its path or ``<stdin>``, and what kind of IR they are."""

    name: str
    data: bytes
    kind: Literal["text", "bitcode"]
    file_hash: str = ""  # SHA-256 of the decompressed file, or of the source that was compiled


def is_ir_name(path: Path) -> bool:
    """Whether a file's name says that it is IR, compressed or not."""
    return (Path(path.stem) if path.suffix in COMPRESSIONS else path).suffix in IR_SUFFIXES


def find_inputs(folder: str | os.PathLike[str]) -> list[Path]:
    """IR files (``.ll``, ``.bc``, compressed too) below a folder, sorted.

    A folder that may not be entered is listed itself: reading it says so, and no file is left out in silence.
    """
    inputs: list[Path] = []
    for root, folders, names in os.walk(folder):
        closed = [name for name in folders if not os.access(Path(root, name), os.R_OK | os.X_OK)]
        folders[:] = [name for name in folders if name not in closed]
        inputs += [Path(root, name) for name in closed]
        inputs += [path for name in names if is_ir_name(path := Path(root, name)) and os.path.isfile(path)]
    return sorted(inputs)


def _size_text(count: int) -> str:
    return f"{count / 2**20:.0f} MiB" if count >= 2**20 else f"{count} bytes"


def _size_error(name: str, problem: str) -> IRFileError:
    return IRFileError(f"{name}: {problem}. Raise it with --max-bytes (Python: max_bytes=)", errno=errno.EFBIG)


def _read_limited(read: Callable[[int], bytes], limit: int, name: str, problem: str = "") -> bytes:
    """At most ``limit`` bytes, part by part: one ``read`` would reserve that many whatever the file's size."""
    parts: list[bytes] = []
    remaining = limit + 1
    while remaining > 0 and (part := read(min(remaining, _PART))):
        parts.append(part)
        remaining -= len(part)
    if remaining <= 0:  # a device or a pipe do not say how much they hold
        raise _size_error(name, f"{problem}more than the limit of {_size_text(limit)}")
    return b"".join(parts)


def folder_error(name: str) -> IRFileError:
    """The error for a folder where one file is expected."""
    if not os.access(name, os.R_OK | os.X_OK):
        return IRFileError(f"{name}: no permission to read this folder. Try `chmod u+rx {name}`", errno=errno.EACCES)
    names = (Path(root, name) for root, _, names in os.walk(name) for name in names)
    problem = "is a folder without IR files or sources. Give another one, or a .ll, .bc or .c file"
    if any(is_ir_name(path) or language_of(path) for path in names):
        problem = "is a folder, and one file is expected. Name a file in it"
    return IRFileError(f"{name}: {problem}", errno=errno.EISDIR)


def read_limited(path: str | os.PathLike[str], name: str, limit: int) -> bytes:
    """The bytes of a file, at most ``limit`` of them; errors call it ``name``. IRFileError: larger, or unreadable."""
    with _open(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > limit:
            subject = "" if os.fspath(path) == name else "its IR has "
            raise _size_error(name, f"{subject}{_size_text(size)}, the limit is {_size_text(limit)}")
        return _read_limited(stream.read, limit, name)


@contextmanager
def _open(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file open for reading; IRFileError where the system refuses it."""
    name = os.fspath(path)
    if not name:
        raise IRFileError("'': is not a file name. Give a path, or - for standard input", errno=errno.EINVAL)
    if os.path.isdir(name):
        raise folder_error(name)
    try:
        with open(name, "rb") as stream:
            yield stream
    except IRFileError:
        raise
    except PermissionError:
        raise IRFileError(f"{name}: no permission to read it. Try `chmod u+r {name}`", errno=errno.EACCES) from None
    except OSError as error:
        problem = "no such file" if error.errno == errno.ENOENT else error.strerror
        raise IRFileError(f"{name}: {problem}. Check the path", errno=error.errno or errno.EIO) from None
    except ValueError as error:  # a NUL byte in it
        raise IRFileError(f"{name!r}: is not a file name ({error}). Check the path", errno=errno.EINVAL) from None


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise IRFileError for a path that cannot be read, before another program is given it."""
    with _open(path):
        pass


def _decompress(name: str, data: bytes, limit: int) -> bytes:
    try:
        if data[:2] == b"\x1f\x8b":
            stream: io.BufferedIOBase = gzip.GzipFile(fileobj=io.BytesIO(data))
        elif data[:6] == b"\xfd7zXZ\x00":
            stream = lzma.LZMAFile(io.BytesIO(data))  # noqa: SIM115 - of bytes in memory
        elif data[:4] == b"\x28\xb5\x2f\xfd":
            stream = io.BytesIO(_zstd(name, data, limit))
        else:
            return data
        return _read_limited(stream.read, limit, name, "decompresses to ")
    except IRFileError:
        raise
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        problem = f"{name}: the compressed file is damaged ({error}). Compress it again"
        raise IRFileError(problem, errno=errno.EIO) from None


def _zstd(name: str, data: bytes, limit: int) -> bytes:
    """Decompressed zstd frames, no more than is needed to know that they exceed the limit."""
    with needs("zstd", f"{name}: is zstd-compressed, which needs the zstandard package"):
        import zstandard
    # By hand, because zstandard's stream reader takes a truncated frame for the end and stops after the first frame.
    output, position, frame = bytearray(), 0, None
    try:
        while position < len(data) and len(output) <= limit:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            part = data[position : position + _ZSTD_PART]
            output += frame.decompress(part)
            position += len(part)
            if frame.eof:
                position -= len(frame.unused_data)
                frame = None
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from None
    if frame is not None and len(output) <= limit:
        raise EOFError("ended before the end of its last frame")
    return bytes(output)


def read_input(path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_MAX_BYTES) -> InputBytes:
    """Read and decompress an input, ``-`` being stdin. IRFileError: unreadable, empty, too large, damaged, or no IR.

    Of an object or library with bitcode in it, this is its only module, or the one that ``lib.a(member.o)`` names.
    """
    name = os.fspath(path)
    if name == "-":
        name = "<stdin>"
        data = _read_limited(sys.stdin.buffer.read, max_bytes, name)
    else:
        container, label = split_name(name) or (name, None)
        with _open(container) as stream:
            if label is not None or (not is_ir_name(Path(name)) and kind_of_container(_magic(stream))):
                return read_part(name, _only_part(name, container, label, stream), max_bytes)
        data = read_limited(name, name, max_bytes)
    data = _decompress(name, data, max_bytes)
    ir = bitcode_in(name, data.removeprefix(_MARK))
    return InputBytes(name, ir, kind_of(name, ir), hashlib.sha256(data).hexdigest())


def read_part(name: str, part: Part, max_bytes: int) -> InputBytes:
    """Read a module of a container, which errors call ``name``; raises as `read_input`."""
    if part.problem:
        raise IRFileError(f"{name}: {part.problem}", errno=errno.EINVAL)
    if part.size > max_bytes:
        raise _size_error(name, f"its bitcode has {_size_text(part.size)}, the limit is {_size_text(max_bytes)}")
    data = bytes_of(part)
    return InputBytes(name, data, kind_of(name, data), hashlib.sha256(data).hexdigest())


def bytes_of(part: Part) -> bytes:
    """The bitcode of a module in a container, which is a file."""
    with _open(part.path) as stream:
        stream.seek(part.start)
        return _main_module(stream.read(part.size))


def bitcode_in(name: str, data: bytes) -> bytes:
    """The bytes of IR, or the only module of an object in memory. IRFileError: it has none, or several."""
    if not kind_of_container(data[:HEAD]):
        return _main_module(data)
    part = _only_part(name, "", None, io.BytesIO(data))
    if part.problem:
        raise IRFileError(f"{name}: {part.problem}", errno=errno.EINVAL)
    return _main_module(data[part.start : part.start + part.size])


def _main_module(data: bytes) -> bytes:
    """Bitcode without the second module of ``-fsplit-lto-unit``: tables, and copies of functions of the first."""
    numbers, parts, end = b"", [data[:4]], 4
    while data.startswith(BITCODE_MAGIC[0]) and end + 8 <= len(data) and len(numbers) <= len(_TWO_MODULES):
        start, (block, words) = end, struct.unpack_from("<II", data, end)
        end += 8 + 4 * words
        if (number := block >> 2 & 255) in _TWO_MODULES:
            numbers += bytes([number])
            parts.append(data[start:end])
    return b"".join(parts[place] for place in (0, 1, 2, -1)) if numbers == _TWO_MODULES else data


def _only_part(name: str, path: str, label: str | None, stream: IO[bytes]) -> Part:
    """The module of a container that a label names, or without one the only module in it."""
    kind = kind_of_container(_magic(stream))
    all_parts, _ = find_parts(stream, path)
    parts = [part for part in all_parts if label in (None, part.label)]
    if len(parts) == 1:
        return parts[0]
    if label is None and not parts:
        advice = f"Compile the source with `clang -S -emit-llvm`, or with {FLAGS}, which leave bitcode in objects"
        if os.path.isfile(f"{name}.bc"):
            advice = f"Give {name}.bc, which is its IR"
        raise IRFileError(f"{name}: is {kind} without LLVM bitcode in it. {advice}", errno=errno.EINVAL)
    labels = ", ".join(part.label for part in all_parts[:_SHOWN]) + (" ..." if len(all_parts) > _SHOWN else "")
    if label is not None:
        raise IRFileError(f"{name}: {path} has no such module. It has {labels or 'none'}", errno=errno.ENOENT)
    example = part_name(path or "FILE", all_parts[0])
    problem = f"{name}: is {kind} with {len(all_parts)} modules, and one is expected"
    raise IRFileError(f"{problem}. Name one, as in {shlex.quote(example)}; available: {labels}", errno=errno.EINVAL)


def _magic(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read(HEAD)


def holds_several(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an archive, a universal file, or an object with several modules in it."""
    name = os.fspath(path)
    if is_ir_name(Path(name)) or language_of(name) or not os.path.isfile(name):
        return False
    try:
        with open(name, "rb") as stream:
            magic = _magic(stream)
            return stands_for_many(magic) or (bool(kind_of_container(magic)) and len(find_parts(stream, name)[0]) > 1)
    except OSError:  # reading it says so
        return False


def file_parts(path: str | os.PathLike[str]) -> tuple[list[Part], int]:
    """The modules in an archive, object or library, and the number of objects in it without one. Raises IRFileError."""
    with _open(path) as stream:
        magic = _magic(stream)
        if kind_of_container(magic) or magic.startswith(BITCODE_MAGIC):
            return find_parts(stream, os.fspath(path))
    return [], 0


def refuse_pointer(name: str, data: bytes, error: Callable[[str], MirencError]) -> None:
    """Raise an error for the text that stands in place of a file which Git LFS has not fetched."""
    if data.startswith(b"version https://git-lfs.github.com/spec/"):
        raise error(f"{name}: is a Git LFS pointer, not the file that it stands for. Type: git lfs pull")


def kind_of(name: str, data: bytes) -> Literal["text", "bitcode"]:
    """Text or bitcode, by content; IRFileError where it is empty, or plainly something else."""
    if data.startswith(BITCODE_MAGIC):
        return "bitcode"
    if not data.strip():
        raise IRFileError(f"{name}: is empty. Give LLVM IR, as `clang -S -emit-llvm` writes it", errno=errno.ENODATA)
    refuse_pointer(name, data, partial(IRFileError, errno=errno.EINVAL))
    titles = [title for magic, title in _FOREIGN_MAGIC.items() if data.startswith(magic)]
    # LLVM takes a NUL byte for the end of the text, and would leave out what follows.
    null = data.find(b"\0")
    if titles or 0 <= null < _HEAD:
        noun = f"{titles[0]}, not LLVM IR" if titles else "binary but neither bitcode nor text IR"
        raise IRFileError(f"{name}: is {noun}. Compile the source with `clang -S -emit-llvm`", errno=errno.EINVAL)
    if null >= 0:
        problem = f"byte {null} of its text is a NUL, so the file is damaged"
        raise IRFileError(f"{name}: {problem}. Write it again with `clang -S -emit-llvm`", errno=errno.EINVAL)
    return "text"
