"""Sections and functions of object files, against objects made by hand."""

import struct

import pytest

from mirenc.llvm.passes.object_file import Section, Symbol, elf_functions, elf_sections, is_elf, named_section, sums

ALLOCATED, WRITTEN, EXECUTED = 2, 1, 4
NAMES = b"\0.text\0.init.text\0.rodata\0.eh_frame\0.data\0.bss\0.comment\0.symtab\0twice\0again\0table\0"
NONE, FUNCTION, OBJECT = 0, 2, 1


def hand_made(*, wide: bool = True, order: str = "<", many: bool = False) -> bytes:
    """An object of eight sections; its symbols are a function, an alias, a constant, and a function that it calls."""

    def name(word: str) -> int:
        return NAMES.index(b"\0" + word.encode() + b"\0") + 1

    contents = [
        (".text", 1, ALLOCATED | EXECUTED, bytes(50)),
        (".init.text", 1, ALLOCATED | EXECUTED, bytes(5)),
        (".rodata", 1, ALLOCATED, bytes(20)),
        (".eh_frame", 1, ALLOCATED, bytes(48)),
        (".data", 1, ALLOCATED | WRITTEN, bytes(8)),
        (".bss", 8, ALLOCATED | WRITTEN, 4096),
        (".comment", 1, 0, bytes(30)),
    ]
    symbols = [("", NONE, 0, 0, 0), ("twice", FUNCTION, 1, 10, 40), ("again", FUNCTION, 1, 10, 40)]
    symbols += [("table", OBJECT, 3, 0, 20), ("comment", FUNCTION, 0, 0, 0)]
    packed = b""
    for word, kind, section, value, size in symbols:
        at = NAMES.index(word.encode())
        if wide:
            packed += struct.pack(order + "IBBHQQ", at, kind, 0, section, value, size)
        else:
            packed += struct.pack(order + "IIIBBH", at, value, size, kind, 0, section)
    form = struct.Struct(order + ("IIQQQQIIQQ" if wide else "10I"))
    body = bytearray(b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2]) + bytes(58 if wide else 46))
    count = len(contents) + 3
    headers = [(0, 0, 0, 0, 0, count if many else 0, count - 1 if many else 0, 0, 0, 0)]
    for word, kind, flags, content in [*contents, (".symtab", 2, 0, packed), ("", 3, 0, NAMES)]:
        size = content if isinstance(content, int) else len(content)
        headers.append((name(word) if word else 0, kind, flags, 0, len(body), size, count - 1, 0, 0, 0))
        body += b"" if isinstance(content, int) else content
    struct.pack_into(order + ("Q" if wide else "I"), body, 40 if wide else 32, len(body))
    numbers = (0, 0xFFFF) if many else (count, count - 1)
    struct.pack_into(order + "HHH", body, 58 if wide else 46, form.size, *numbers)
    return bytes(body) + b"".join(form.pack(*values) for values in headers)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("many", [False, True])
def test_section_flags_say_what_is_loaded(wide: bool, order: str, many: bool) -> None:
    object_bytes = hand_made(wide=wide, order=order, many=many)
    assert is_elf(object_bytes)
    sections = elf_sections(object_bytes)
    assert sections[1:8] == [
        Section(b".text", 50, True, code=True),
        Section(b".init.text", 5, True, code=True),  # as the kernel's __init
        Section(b".rodata", 20, True),
        Section(b".eh_frame", 48, True),
        Section(b".data", 8, True),
        Section(b".bss", 4096, False),
        Section(b".comment", 30, False),
    ]
    assert sums(sections) == {"text_bytes": 50 + 5, "data_bytes": 20, "loaded_bytes": 50 + 5 + 20 + 48 + 8}


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("order", ["<", ">"])
def test_functions_have_their_sizes_and_places(wide: bool, order: str) -> None:
    symbols = elf_functions(hand_made(wide=wide, order=order))
    assert symbols == [Symbol("twice", (1, 10), 40), Symbol("again", (1, 10), 40)]


def test_section_names_say_what_is_loaded_in_other_formats() -> None:
    named = {b"__text": 4, b"__eh_frame": 8, b"__bss": 100, b"__debug_info": 9, b".rdata": 2, b".drectve": 50}
    assert not is_elf(b"\xcf\xfa\xed\xfe")
    assert sums(named_section(*one) for one in named.items()) == {"text_bytes": 4, "data_bytes": 2, "loaded_bytes": 14}
