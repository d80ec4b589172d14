"""Lines on stderr, and what a compiler printed about an error."""

import re
import sys

from mirenc.base.errors import MirencError
from mirenc.base.shown import printable

IN_A_BATCH = 2  # lines: the one that is wrong, and its caret
_ALONE = 12
_WIDTH = 160
_HEADLINE = re.compile(r"(?:^|: )(?:fatal )?error: ")
_CARET = re.compile(r"[ |~^]*\^[ ~^]*")


def say(line: str) -> None:
    """Print a line of the log to stderr, or several."""
    print("mirenc:", "\n".join(map(printable, line.split("\n"))), file=sys.stderr)


def say_written(path: object) -> None:
    """Name the file that was written, if there is one, to somebody at a terminal."""
    if path is not None and sys.stderr.isatty():
        say(f"wrote {path}")


def warn(line: object) -> None:
    """Print a warning to stderr."""
    say(f"warning: {line}")


def warn_left_out(name: str, call_edges: int) -> None:
    """Warn that a file's graph lacks call edges, where it does (`ProgramGraph.call_edges_left_out`)."""
    if call_edges:
        warn(f"{name}: {call_edges:,} edges from exits of functions back to their calls are left out of its graph")


def shown(error: MirencError, most: int = _ALONE) -> str:
    """The compiler's lines about an error, without its headline, cut so that a caret stays below its place."""
    words: str = getattr(error, "diagnostic", "")
    # A stranger wrote these lines: nothing in them may control the terminal.
    lines = ["".join(c if c.isprintable() else "?" for c in line.expandtabs(8)) for line in words.splitlines()]
    headline = next((number for number, line in enumerate(lines) if _HEADLINE.search(line)), 0)
    rest = lines[headline + 1 :]
    out = []
    for number, line in enumerate(rest[:most]):
        caret = line if _CARET.fullmatch(line) else "".join(rest[number + 1 : number + 2])
        start = max(0, caret.index("^") - _WIDTH // 2) if _CARET.fullmatch(caret) else 0
        out.append(line[start : start + _WIDTH].rstrip())
    if len(rest) > most > IN_A_BATCH:
        out.append(f"... {len(rest) - most} more lines")
    return "".join(f"    {line}\n" for line in out)
