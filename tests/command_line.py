"""What a command of the command line gave, and the demands that many tests make of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

SOURCE = """
declare i32 @twice(i32)
define i32 @first(i32 %x) {
  %y = call i32 @twice(i32 %x)
  %c = icmp slt i32 %y, 10
  br i1 %c, label %small, label %large
small:
  ret i32 %y
large:
  ret i32 0
}
define void @second() {
  ret void
}
"""


def archive(*members: tuple[str, bytes], thin: bool = False) -> bytes:
    """A static library of objects; a thin one has the names of files instead."""
    data = b"!<thin>\n" if thin else b"!<arch>\n"
    for name, contents in members:
        data += f"{name + '/':16}{0:<12}{0:<6}{0:<6}{644:<8}{len(contents):<10}`\n".encode()
        data += b"" if thin else contents + b"\n" * (len(contents) % 2)
    return data


@dataclass(frozen=True)
class Result:
    """What one command gave: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def error_lines(self) -> list[str]:
        """Lines of stderr but for `details`."""
        return [line for line in self.err.splitlines() if not line.startswith("    ")]

    @property
    def details(self) -> list[str]:
        """What LLVM or a compiler showed of the place, without the indentation."""
        return [line[4:] for line in self.err.splitlines() if line.startswith("    ")]

    def ok(self) -> Result:
        """Exit code 0 and a silent stderr."""
        assert (self.code, self.err) == (0, "")
        return self

    def failed(self, *phrases: str) -> str:
        """Exit code 1 and one line ``mirenc: error: <found>. <what to do>`` with the phrases; returns it."""
        assert self.code == 1, self.err
        assert len(self.error_lines) == 1, self.err
        line = self.error_lines[0]
        assert re.fullmatch(r"mirenc: error: \S.*[.;] \w.*", line)
        for phrase in phrases:
            assert phrase in line
        return line

    def refused(self, *phrases: str) -> None:
        """Exit code 2 and a usage message with the phrases."""
        assert self.code == 2, self.err
        assert self.err.startswith("Usage: ")
        assert "Traceback" not in self.err
        for phrase in phrases:
            assert phrase in self.err


Run = Callable[..., Result]
