"""Bitcode inside of other files: where in an archive, object or library each module lies.

| file | what is looked into |
|---|---|
| ``ar`` archive of GNU, BSD or COFF; thin archive; ``.rlib`` | its members |
| universal Mach-O | the slice of each architecture |
| ELF, COFF, WebAssembly; Windows program | sections ``.llvm.lto`` (fat LTO), then ``.llvmbc`` (``-fembed-bitcode``) |
| Mach-O | as above, then sections ``__LLVM,__bitcode`` |
| bitcode, with a wrapper or without | itself: LTO objects are that |

Files are anybody's, so only their tables are read, each read is inside of the part that it belongs to, and every count
is limited; LLVM's process parses the modules. Libraries read less: LIEF (12 MB of C++) no archives and no WebAssembly,
pyelftools only ELF.
"""

import os
import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import itemgetter
from typing import IO, Any, TypeVar

from mirenc.llvm.child.parsing_service import BITCODE_MAGIC
from mirenc.llvm.passes.object_file import elf_headers

FLAGS = "-flto, -flto -ffat-lto-objects or -fembed-bitcode"
"""Flags with which clang leaves bitcode in objects."""
HEAD = 16  # bytes that say what a file is
_ARCHIVE = b"!<arch>\n"
THIN = b"!<thin>\n"
"""First bytes of a thin archive, which names other files instead of holding them."""
_UNIVERSAL = (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf")
_MOST_SLICES = 42  # from 43 on the same magic is a Java class, whose version stands there
_MACH_O = {b"\xfe\xed\xfa\xce": (">", 32), b"\xce\xfa\xed\xfe": ("<", 32)}
_MACH_O |= {b"\xfe\xed\xfa\xcf": (">", 64), b"\xcf\xfa\xed\xfe": ("<", 64)}
# Machines of COFF objects: x86, x86-64, ARM, Thumb, ARM64, ARM64EC; such an object has no other magic.
_COFF = tuple(struct.pack("<H", machine) for machine in (0x14C, 0x8664, 0x1C0, 0x1C4, 0xAA64, 0xA641))
_BIG_COFF = b"\0\0\xff\xff\2\0"
_CPUS = {7: "i386", 12: "arm", 18: "ppc", 0x1000007: "x86_64", 0x100000C: "arm64", 0x1000012: "ppc64"}
_SECTIONS = (b".llvm.lto", b".llvmbc", b"__LLVM,__bitcode")
# Members that are tables of the archive's own, beside / and //; the last is rustc's.
_INDEXES = (b"__.SYMDEF", b"/SYM64/", b"/<", b"lib.rmeta")
_NO_BITS = 8  # SHT_NOBITS: a section of ELF without bytes in the file
_MOST = 1 << 20  # sections of a file, or members
_MOST_MODULES = 1 << 17
_MOST_BLOCKS = 64  # of one module, which has five
_LARGEST_TABLE = 1 << 26  # bytes
_DEEPEST = 3  # universal file, archive, object
_PAGE = 4096
_LONGEST_NAME = 4096  # bytes; Linux opens no longer path
_OUTSIDE = "its tables lead outside of it"
_THIN_INSIDE = (
    "is a thin archive, which names other files, and they are read only if it is a file by itself. "
    "Give its path, or type: ar t thin.a | xargs ar rcs full.a"
)
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Part:
    """A module in a container: its name there, the file and the bytes of it, or the ``problem`` that hides it.

    ``path`` is "" for a container in memory; that of a thin archive's member is the member's. ``label`` is "" for the
    only module of an object.
    """

    label: str
    path: str
    start: int
    size: int
    problem: str = ""


class _DamagedError(Exception):
    """Tables contradict the file that they are in."""


@dataclass(frozen=True, slots=True)
class _Window:
    """A part of an open file, outside of which nothing is read."""

    stream: IO[bytes]
    path: str
    start: int
    size: int

    def read(self, offset: int, size: int) -> bytes:
        self.part(offset, size)
        if size > _LARGEST_TABLE:
            raise _DamagedError(f"a table takes {size} bytes, more than {_LARGEST_TABLE}")
        self.stream.seek(self.start + offset)
        data = self.stream.read(size)
        if len(data) != size:
            raise _DamagedError("the file was cut off")
        return data

    def unpack(self, form: str, offset: int) -> tuple[Any, ...]:
        return struct.unpack(form, self.read(offset, struct.calcsize(form)))

    def part(self, offset: int, size: int) -> "_Window":
        if offset < 0 or size < 0 or offset + size > self.size:
            raise _DamagedError(_OUTSIDE)
        return _Window(self.stream, self.path, self.start + offset, size)


def kind_of_container(magic: bytes) -> str:
    """What a file is by its first `HEAD` bytes, in words for the user; "" for what no bitcode is looked for in."""
    if magic.startswith((_ARCHIVE, THIN)):
        return "a static library"
    if magic.startswith(_UNIVERSAL):
        return "a universal binary" if 0 < int.from_bytes(magic[4:8]) <= _MOST_SLICES else ""
    if magic.startswith(b"\x7fELF"):
        return "an ELF object or program"
    if magic[:4] in _MACH_O:
        return "a Mach-O object or program"
    if magic.startswith(b"\0asm\1\0\0\0"):
        return "a WebAssembly module"
    if magic.startswith(b"MZ"):
        return "a Windows program"
    return "a COFF object" if magic.startswith((*_COFF, _BIG_COFF)) else ""


def stands_for_many(magic: bytes) -> bool:
    """Whether a container is of the kinds that hold others."""
    return magic.startswith((_ARCHIVE, THIN)) or (magic.startswith(_UNIVERSAL) and kind_of_container(magic) != "")


def part_name(path: str, part: Part) -> str:
    """Name of a module of a container: ``lib.a(member.o)``, or the path of an object that has one module."""
    return f"{path}({part.label})" if part.label else path


def split_name(name: str) -> tuple[str, str] | None:
    """Path and label of ``lib.a(member.o)``, where there is a file ``lib.a`` and none of the whole name; else None."""
    if not name.endswith(")") or "\0" in name or os.path.lexists(name):
        return None
    places = (match.start() for match in re.finditer(r"\(", name))
    return next(((name[:place], name[place + 1 : -1]) for place in places if os.path.isfile(name[:place])), None)


def find_parts(stream: IO[bytes], path: str) -> tuple[list[Part], int]:
    """The modules in a container, and the number of its members or slices without one.

    Labels are unique: a second member ``x.o`` is ``x.o:2``, or the next number that is free. What is damaged is a part
    with its problem.
    """
    container = _Window(stream, path, 0, stream.seek(0, os.SEEK_END))
    parts: list[Part] = []
    labels: set[str] = set()
    numbers: Counter[str] = Counter()
    empty_count = total = 0
    for count, part in enumerate(_parts(container, "", 0)):
        total += part.size if part is not None and part.path == path else 0
        if total > container.size or count == _MOST_MODULES:  # each byte is of one module
            problem = "its modules overlap" if total > container.size else f"more than {_MOST_MODULES} modules"
            parts.append(Part("", path, 0, 0, f"is damaged: {problem}. Build it again"))
            break
        if part is None:
            empty_count += 1
            continue
        label = part.label
        while label in labels:
            numbers[part.label] += 1
            label = f"{part.label}:{numbers[part.label] + 1}"
        labels.add(label)
        parts.append(replace(part, label=label))
    return parts, empty_count


def _parts(file: _Window, label: str, depth: int) -> Iterator[Part | None]:
    """The modules in a part of a file; None for an object, or anything else, without one."""
    kind = ""
    try:
        magic = file.read(0, min(HEAD, file.size))
        kind = kind_of_container(magic)
        if magic.startswith(BITCODE_MAGIC):
            yield Part(label, file.path, file.start, file.size)
        elif not kind or depth > _DEEPEST:
            yield None
        elif magic.startswith(THIN) and (depth or not file.path):  # whoever wrote it chose the paths that it names
            yield Part(label, file.path, 0, 0, _THIN_INSIDE)
        elif stands_for_many(magic):
            members = _slices(file) if magic.startswith(_UNIVERSAL) else _members(file, magic.startswith(THIN))
            for name, member in _limit(members):
                inner_label = f"{label}:{name}" if label else name
                if isinstance(member, str):
                    yield Part(inner_label, file.path, 0, 0, member)
                else:
                    yield from _parts(member, inner_label, depth + 1)
        else:
            modules = _modules(file, magic)
            for number, module in enumerate(modules, 1):
                inner_label = f"{label}:{number}" if label else str(number)
                yield Part(label if len(modules) == 1 else inner_label, module.path, module.start, module.size)
            if not modules:
                yield None
    except (_DamagedError, struct.error) as error:
        reason = error if isinstance(error, _DamagedError) else _OUTSIDE
        yield Part(label, file.path, 0, 0, f"is {kind}, and damaged: {reason}. Build it again")


def _limit(items: Iterable[_Item]) -> Iterator[_Item]:
    for number, item in enumerate(items):
        if number >= _MOST:
            raise _DamagedError(f"its tables have more than {_MOST} entries")
        yield item


def _members(file: _Window, thin: bool) -> Iterator[tuple[str, _Window | str]]:
    """Name of each member of an archive, and the member, or why it cannot be read."""
    names, offset, archives = b"", len(_ARCHIVE), set()
    while offset + 1 < file.size:  # some writers end with a line break too many
        header = file.read(offset, 60)
        raw, digits = header[:16].rstrip(b" "), header[48:58].strip()
        if not digits.isdigit() or header[58:] != b"`\n":
            raise _DamagedError(f"no member's header begins at byte {offset}")
        start, size = offset + 60, int(digits)
        is_table = raw in (b"/", b"//") or raw.startswith(_INDEXES)
        offset = start if thin and not is_table else start + size + size % 2
        if raw == b"//":
            names = file.read(start, size)
        if is_table:
            continue
        name = raw.removesuffix(b"/")
        if raw.startswith(b"#1/") and raw[3:].isdigit():  # BSD: the name is before the contents
            length = int(raw[3:])
            name = file.read(start, length).rstrip(b"\0")
            start, size = start + length, size - length
        elif raw[:1] == b"/" and raw[1:].split(b":")[0].isdigit():  # GNU, COFF: it is in a table
            place = int(raw[1:].split(b":")[0])
            name = re.split(rb"/?[\n\0]", names[place : place + _LONGEST_NAME], maxsplit=1)[0]
        if name.startswith(_INDEXES):
            continue
        label = os.fsdecode(name)
        if not thin:
            yield label, file.part(start, size)
            continue
        path = os.path.join(os.path.dirname(file.path), label)
        if path not in archives:  # members of an archive in a thin one: it is read once
            archives.add(path)
            yield from _open_member(label, path)


def _open_member(name: str, path: str) -> Iterator[tuple[str, _Window | str]]:
    """A member of a thin archive, which is a file of its own."""
    try:
        if not os.path.isfile(path):  # a pipe would never end
            raise FileNotFoundError
        with open(path, "rb") as stream:
            yield name, _Window(stream, path, 0, os.fstat(stream.fileno()).st_size)
    except (OSError, ValueError):
        yield name, f"is a member of a thin archive, and {path!r} cannot be read. Build it again"


def _slices(file: _Window) -> Iterator[tuple[str, _Window | str]]:
    """Architecture and contents of each slice of a universal binary."""
    _, count = file.unpack(">II", 0)
    form = ">IIQQII" if file.read(3, 1) == b"\xbf" else ">IIIII"
    for number in range(count):
        cpu, _, start, size, *_ = file.unpack(form, 8 + number * struct.calcsize(form))
        yield _CPUS.get(cpu, f"cpu{cpu}"), file.part(start, size)


def _modules(file: _Window, magic: bytes) -> list[_Window]:
    """The modules in an object's sections of bitcode, in the order of `_SECTIONS`."""
    if magic.startswith(b"\x7fELF"):
        sections = _elf(file)
    elif magic[:4] in _MACH_O:
        sections = _mach_o(file, *_MACH_O[magic[:4]])
    else:
        sections = _wasm(file) if magic.startswith(b"\0asm") else _coff(file, magic)
    spans = [(_SECTIONS.index(name), file.part(pos, size)) for name, pos, size in _limit(sections) if name in _SECTIONS]
    spans.sort(key=itemgetter(0))
    return list(islice(chain.from_iterable(_split_modules(section) for _, section in spans), _MOST_MODULES))


def _split_modules(section: _Window) -> Iterator[_Window]:
    """The modules in a section, of which `ld -r` leaves several, one behind the other."""
    position = 0
    while position < section.size:
        page = section.read(position, min(_PAGE, section.size - position))
        if not page.startswith(BITCODE_MAGIC):
            blanks = len(page) - len(page.lstrip(b"\0"))
            if blanks in (0, len(page)):
                return
            position += blanks  # between sections that were joined
            continue
        end = position + 4
        if page.startswith(BITCODE_MAGIC[1]):
            offset, size = section.unpack("<II", position + 8)
            end = position + offset + size
            if end <= position:
                raise _DamagedError("a bitcode wrapper has no bitcode in it")
        else:
            for _ in range(_MOST_BLOCKS):
                if end + 8 > section.size:
                    break
                block, words = section.unpack("<II", end)
                if block & 3 != 1:  # ENTER_SUBBLOCK, in two bits
                    break
                end += 8 + 4 * words
        end = min(end, section.size)  # of a module that was cut off, LLVM says so
        yield section.part(position, end - position)
        position = end


_Sections = Iterator[tuple[bytes, int, int]]  # name, offset and size


def _elf(file: _Window) -> _Sections:
    headers, names = elf_headers(file.read)
    for header in headers:
        if header.kind != _NO_BITS:
            yield _section_name(names, header.name), header.offset, header.size


def _section_name(data: bytes, start: int) -> bytes:
    """The name of a section, up to a NUL, or as many bytes as a name in `_SECTIONS` can have."""
    return data[start : start + 32].partition(b"\0")[0]


def _mach_o(file: _Window, order: str, bits: int) -> _Sections:
    count, size = file.unpack(order + "II", 16)
    commands, pos = file.read(28 if bits == 32 else 32, size), 0
    segment, header, form = (1, 56, "16s16sIII") if bits == 32 else (0x19, 72, "16s16sQQI")
    entry = 68 if bits == 32 else 80
    for _ in range(count):
        command, length = struct.unpack_from(order + "II", commands, pos)
        if command == segment:
            (sections,) = struct.unpack_from(order + "I", commands, pos + header - 8)
            for number in range(sections):
                name, owner, _, size, offset = struct.unpack_from(order + form, commands, pos + header + entry * number)
                yield _section_name(owner, 0) + b"," + _section_name(name, 0), offset, size
        if length < 8:
            raise _DamagedError(f"a load command takes {length} bytes, less than 8")
        pos += length


def _coff(file: _Window, magic: bytes) -> _Sections:
    if magic.startswith(_BIG_COFF):
        table, symbol_size = 56, 20
        count, symbols, symbol_count = file.unpack("<III", 44)
    else:
        header, symbol_size = 0, 18
        if magic.startswith(b"MZ"):
            header = file.unpack("<I", 60)[0] + 4
            if file.read(header - 4, 4) != b"PE\0\0":
                return  # a program of DOS
        count, _, symbols, symbol_count, optional_size, _ = file.unpack("<HIIIHH", header + 2)
        table = header + 20 + optional_size
    for number in range(count):
        name, _, _, size, offset = file.unpack("<8sIIII", table + 40 * number)
        if name[:1] == b"/" and (digits := name[1:].rstrip(b"\0")).isdigit():
            start = symbols + symbol_size * symbol_count + int(digits)
            name = file.read(start, max(0, min(32, file.size - start)))
        yield _section_name(name, 0), offset, size


def _wasm(file: _Window) -> _Sections:
    position = 8
    while position < file.size:
        kind, start, size = file.read(position, 1), *_number(file, position + 1)
        name = b""
        if kind == b"\0":
            first, length = _number(file, start)
            name = file.read(first, min(length, 32))
            yield name, first + length, size - (first + length - start)
        else:
            yield name, start, size
        position = start + size


def _number(file: _Window, position: int) -> tuple[int, int]:
    """Offset of the byte behind a number (LEB128, of 32 bits), and the number."""
    value = 0
    for place in range(5):
        (byte,) = file.read(position + place, 1)
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return position + place + 1, value
    raise _DamagedError("a number takes more than 32 bits")
