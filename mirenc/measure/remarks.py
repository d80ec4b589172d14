"""`effective_hints`: what LLVM's vectorizer says that it made of each loop."""

from __future__ import annotations

import re

from mirenc.measure.hints import PLAIN, Hint

__all__ = ["REMARK_FLAGS", "effective_hints"]

REMARK_FLAGS = ("-fsave-optimization-record=yaml", "-foptimization-record-passes=loop-vectorize")
_FIELDS = re.compile(r"^DebugLoc: +\{.*\bLine: (?P<line>\d+).*\n^Function: +'?(?P<function>[^'\n]+)'?$", re.MULTILINE)
_WIDTH = re.compile(r"- VectorizationFactor: '?(\d+)'?")
_COUNT = re.compile(r"- InterleaveCount: '?(\d+)'?")


def effective_hints(record: str, line: int) -> dict[str, Hint]:
    """Vector width and interleave count of the loop of a line, by function; a loop left as it was is not in it.

    Parameters
    ----------
    record : str
        What clang writes with `REMARK_FLAGS`.
    line : int
        Source line of the loop. Of several copies that LLVM made of it, the widest counts.
    """
    found: dict[str, Hint] = {}
    for remark in record.split("\n--- "):
        place = _FIELDS.search(remark)
        if not remark.removeprefix("--- ").startswith("!Passed") or place is None or int(place["line"]) != line:
            continue
        width, count = _WIDTH.search(remark), _COUNT.search(remark)
        hint = Hint(int(width[1]) if width else 1, int(count[1]) if count else 1)
        known = found.get(place["function"], PLAIN)
        found[place["function"]] = max(known, hint, key=lambda one: (one.width * one.count, one.width))
    return found
