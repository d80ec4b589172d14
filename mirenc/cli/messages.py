"""Lines on stderr, and what a compiler printed about an error."""

import re
import sys

from mirenc.base.errors import MirencError
from mirenc.base.shown import printable

IN_A_BATCH = 2  # lines: the one that is wrong, and its caret
_MAX_LINES = 12
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


def diagnostic_text(error: MirencError, max_lines: int = _MAX_LINES) -> str:
    """The compiler's lines about an error, without its headline, cut so that a caret stays below its place."""
    diagnostic: str = getattr(error, "diagnostic", "")
    # A stranger wrote these lines: nothing in them may control the terminal.
    lines = ["".join(c if c.isprintable() else "?" for c in line.expandtabs(8)) for line in diagnostic.splitlines()]
    headline = next((number for number, line in enumerate(lines) if _HEADLINE.search(line)), 0)
    remaining = lines[headline + 1 :]
    output_lines = []
    for number, line in enumerate(remaining[:max_lines]):
        caret = line if _CARET.fullmatch(line) else "".join(remaining[number + 1 : number + 2])
        start = max(0, caret.index("^") - _WIDTH // 2) if _CARET.fullmatch(caret) else 0
        output_lines.append(line[start : start + _WIDTH].rstrip())
    if len(remaining) > max_lines > IN_A_BATCH:
        output_lines.append(f"... {len(remaining) - max_lines} more lines")
    return "".join(f"    {line}\n" for line in output_lines)
