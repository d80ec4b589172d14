"""Containers of bitcode, written byte by byte."""

import struct


def elf(*sections: tuple[str, bytes], wide: bool = True, order: str = "<") -> bytes:
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _ in sections)
    form = order + ("IIQQQQIIQQ" if wide else "10I")
    start = 64 if wide else 52
    body, headers = b"", struct.pack(form, *[0] * 10)
    for name, data in [*sections, ("", names)]:
        at = names.index(b"\0" + name.encode() + b"\0") + 1 if name else 0
        headers += struct.pack(form, at, 1, 0, 0, start + len(body), len(data), 0, 0, 0, 0)
        body += data
    head = (b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2])).ljust(40 if wide else 32, b"\0")
    head += struct.pack(order + ("Q" if wide else "I"), start + len(body))
    numbers = struct.pack(order + "HHH", struct.calcsize(form), len(sections) + 2, len(sections) + 1)
    return head.ljust(start - 6, b"\0") + numbers + body + headers


def mach_o(*sections: tuple[str, bytes], wide: bool = True, order: str = "<") -> bytes:
    count, entry = len(sections), 80 if wide else 68
    segment = 72 if wide else 56
    at = (32 if wide else 28) + segment + count * entry
    table, body = b"", b""
    for name, data in sections:
        owner, _, name = name.rpartition(",")
        table += struct.pack("16s16s", name.encode(), owner.encode())
        table += struct.pack(order + ("QQI" if wide else "III"), 0, len(data), at + len(body)).ljust(entry - 32, b"\0")
        body += data
    command = struct.pack(order + "II", 0x19 if wide else 1, segment + len(table))
    command = command.ljust(segment - 8, b"\0") + struct.pack(order + "II", count, 0) + table
    magic = 0xFEEDFACF if wide else 0xFEEDFACE
    head = struct.pack(order + "6I", magic, 7, 3, 1, 1, len(command)) + bytes(8 if wide else 4)
    return head + command + body


def universal(*slices: tuple[int, bytes], wide: bool = False) -> bytes:
    head = struct.pack(">II", 0xCAFEBABF if wide else 0xCAFEBABE, len(slices))
    at, body = len(head) + len(slices) * (32 if wide else 20), b""
    for cpu, data in slices:
        head += struct.pack(">IIQQII" if wide else ">IIIII", cpu, 3, at + len(body), len(data), 0, *[0] * wide)
        body += data
    return head + body


def coff(*sections: tuple[str, bytes], big: bool = False, program: bool = False) -> bytes:
    strings, table, body = b"", b"", b""
    optional = 16 if program else 0
    before = 64 + 4 if program else 0
    at = before + (56 if big else 20) + optional + 40 * len(sections)
    for name, data in sections:
        short = name.encode()
        if len(short) > 8:
            short, strings = b"/%d" % (4 + len(strings)), strings + short + b"\0"
        table += struct.pack("<8sIIII", short, 0, 0, len(data), at + len(body)).ljust(40, b"\0")
        body += data
    symbols, count = at + len(body), len(sections)
    if big:
        head = b"\0\0\xff\xff\2\0\x64\x86".ljust(44, b"\0") + struct.pack("<III", count, symbols, 0)
    else:
        head = struct.pack("<HHIIIHH", 0x8664, count, 0, symbols, 0, optional, 0) + bytes(optional)
    if program:
        head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0" + head
    return head + table + body + struct.pack("<I", 4 + len(strings)) + strings


def leb(number: int) -> bytes:
    return bytes([number & 127 | 128]) + leb(number >> 7) if number > 127 else bytes([number])


def wasm(*sections: tuple[str, bytes]) -> bytes:
    custom = [leb(len(name)) + name.encode() + data for name, data in sections]
    return b"\0asm\1\0\0\0\1\1\0" + b"".join(b"\0" + leb(len(data)) + data for data in custom)


def member(name: str, data: bytes, size: int | None = None) -> bytes:
    head = f"{name:16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data) if size is None else size:<10}`\n"
    return head.encode() + data + b"\n" * (len(data) % 2)


def gnu(*members: tuple[str, bytes], thin: bool = False) -> bytes:
    names, out = "", b""
    for name, data in members:
        shown = f"/{len(names)}" if len(name) > 15 or thin else f"{name}/"
        names += f"{name}/\n" if len(name) > 15 or thin else ""
        out += member(shown, b"" if thin else data, len(data))
    return (b"!<thin>\n" if thin else b"!<arch>\n") + member("/", bytes(5)) + member("//", names.encode()) + out


def bsd(*members: tuple[str, bytes]) -> bytes:
    out = b"!<arch>\n" + member("__.SYMDEF SORTED", bytes(8))
    return out + b"".join(member(f"#1/{len(name) + 4}", name.encode() + bytes(4) + data) for name, data in members)
