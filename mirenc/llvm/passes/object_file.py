"""Sizes in an object file: bytes of code, of data and of all that is loaded, and the size of each function.

ELF is read here, by the flags that loaders and ``size`` go by; of other formats LLVM gives the sections' names alone.
Stand-alone: the child process imports it, too (`mirenc.llvm.child.pass_service`).
"""

import struct
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

# `.rodata.cst8` of ELF, `.text` and `.rdata` of COFF; the others are those of Mach-O.
_TEXT, _DATA = (b".text", b"__text"), (b".rodata", b".data.rel.ro", b".rdata", b"__const", b"__cstring", b"__literal")
# Of COFF and Mach-O: what no memory holds, or what has no bytes in the file.
_NOT_LOADED = (b".bss", b".debug", b".drectve", b".llvm", b"__bss", b"__common", b"__debug", b"__llvm")
_SYMBOLS, _NO_BITS, _ALLOCATED, _EXECUTED, _FUNCTION = 2, 8, 2, 4, 2  # SHT_..., SHF_ALLOC, SHF_EXECINSTR, STT_FUNC
_XINDEX = 0xFFFF  # SHN_XINDEX: the number did not fit, the first section has it


class Section(NamedTuple):
    """A section: name, bytes, whether they are loaded with the program (zeros in no file are not), whether code."""

    name: bytes
    size: int
    loaded: bool
    code: bool = False


class Symbol(NamedTuple):
    """A function's symbol; aliases have one ``place``, a section and an offset in it."""

    name: str
    place: tuple[int, int]
    size: int


def is_elf(data: bytes) -> bool:
    """Whether an object is in the format that `elf_sections` and `elf_functions` read."""
    return data.startswith(b"\x7fELF")


def named_section(name: bytes, size: int) -> Section:
    """A section of another format than ELF."""
    return Section(name, size, not name.startswith(_NOT_LOADED), name.startswith(_TEXT))


def sums(sections: Iterable[Section]) -> dict[str, int]:
    """Bytes of machine code, of read-only data and of all that is loaded, as `Optimised` has them."""
    sizes = {"text_bytes": 0, "data_bytes": 0, "loaded_bytes": 0}
    for section in sections:
        sizes["text_bytes"] += section.size * section.code
        sizes["data_bytes"] += section.size * section.name.startswith(_DATA)
        sizes["loaded_bytes"] += section.size * section.loaded
    return sizes


def elf_sections(data: bytes) -> list[Section]:
    """All sections of an ELF object, as ``size -A`` has them and those that it leaves out."""
    headers, names = elf_headers(lambda offset, size: data[offset : offset + size])
    return [
        Section(_name(names, header.name), header.size, _is_loaded(header), code=bool(header.flags & _EXECUTED))
        for header in headers
    ]


def elf_functions(data: bytes) -> list[Symbol]:
    """The functions that an ELF object defines, with the sizes that ``nm -S`` prints."""
    headers = list(elf_headers(lambda offset, size: data[offset : offset + size])[0])
    is_64_bit, order = _class_and_order(data)
    form = struct.Struct(order + ("IBBHQQ" if is_64_bit else "IIIBBH"))
    symbols = []
    for table in headers:
        if table.kind != _SYMBOLS:
            continue
        names = headers[table.link].offset
        for values in form.iter_unpack(data[table.offset : table.offset + table.size]):
            name, info, _, section, value, size = values if is_64_bit else (values[0], *values[3:], *values[1:3])
            if info & 15 == _FUNCTION and section:
                symbols.append(Symbol(_name(data, names + name).decode("utf-8", "replace"), (section, value), size))
    return symbols


_Header = namedtuple("_Header", "name kind flags address offset size link info alignment entry")


def _is_loaded(header: _Header) -> bool:
    return bool(header.flags & _ALLOCATED) and header.kind != _NO_BITS


def _class_and_order(data: bytes) -> tuple[bool, str]:
    """Whether it is of 64 bits, and its byte order as `struct` has it."""
    return data[4] == 2, "<" if data[5] == 1 else ">"


def elf_headers(read: Callable[[int, int], bytes]) -> tuple[Iterator[_Header], bytes]:
    """All section headers of an ELF file, and the names of sections; ``read`` gives bytes by offset and size.

    Raises struct.error: its tables contradict each other.
    """
    is_64_bit, order = _class_and_order(read(0, 6))
    form = struct.Struct(order + ("IIQQQQIIQQ" if is_64_bit else "10I"))
    (start,) = struct.unpack(order + ("Q" if is_64_bit else "I"), read(*((40, 8) if is_64_bit else (32, 4))))
    if not start:  # as of a core dump
        return iter(()), b""
    count, names_index = struct.unpack(order + "HH", read(60 if is_64_bit else 48, 4))
    first = _Header(*form.unpack(read(start, form.size)))
    table = read(start, form.size * (count or first.size))
    name_table = _Header(*form.unpack_from(table, form.size * (first.link if names_index == _XINDEX else names_index)))
    return map(_Header._make, form.iter_unpack(table)), read(name_table.offset, name_table.size)


def _name(data: bytes, start: int) -> bytes:
    return data[start : data.index(b"\0", start)]
