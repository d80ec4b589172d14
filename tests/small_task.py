"""A task small enough for a test: made-up costs that depend on an opcode and on one context feature.

Why: the published tables are not everywhere, and take minutes. Here the right answer is known: a kernel that multiplies
prefers the wide choice, unless it is short.
"""

from __future__ import annotations

from pathlib import Path

TASK_FILE = """
import numpy as np

from mirenc.decide import Context, Protocol, Sample, Space, Task


class Widths(Task):
    name = "widths"
    title = "made-up widths"
    source = "a test"
    space = Space(("width",), (("narrow",), ("wide",)))
    context = Context("length", encode=np.log1p)
    protocols = (
        Protocol("rows", "by rows", lambda data: np.arange(len(data)), folds=3),
        Protocol("kernel", "by kernel", lambda data: data.group, folds=3),
    )
    baselines = {"narrow": 0}

    def samples(self, folder, variant):
        for number in range(12):
            operation = "mul" if number % 2 else "add"
            body = "".join(f"  %v{step} = {operation} i32 %x, {number + step}\\n" for step in range(number + 1))
            ir = f"define i32 @f(i32 %x) {{\\n{body}  ret i32 %v{number}\\n}}\\n"
            for length in (8, 4096):
                wide = 0.5 if number % 2 and length > 100 else 2.0
                yield Sample(f"k{number}/{length}", ir, f"k{number}", (length,), (1.0, wide))
"""


def write_task(folder: Path) -> Path:
    """The task as a file of its own, as a user would have it."""
    path = folder / "widths.py"
    path.write_text(TASK_FILE, encoding="utf-8")
    return path
