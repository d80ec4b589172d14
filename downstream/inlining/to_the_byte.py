"""Whether a clang that asks makes -Oz's object to the byte, where LLVM's rule answers, and replays its decisions.

    python downstream/inlining/to_the_byte.py WORK --files 150

WORK as for saved.py. It prints how many files' objects are equal, names the others, and says what asking adds to the
time of a compilation.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from asking import CallSite, compile_asking, llvm_rule

CLANG = ["clang-19", "-Oz", "-w", "-c"]


def main() -> None:
    """Compile each file three times: not asked, by the rule, and by the rule's decisions."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--files", type=int, default=150)
    arguments = parser.parse_args()
    paths = sorted(arguments.work.rglob("*.ll"))
    equal_files = sites = 0
    plainly = asking = 0.0
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "made.o")
        for path in random.Random(0).sample(paths, min(arguments.files, len(paths))):
            words = [*CLANG, str(path), "-o", str(output)]
            start = time.perf_counter()
            subprocess.run(words, check=True)
            middle = time.perf_counter()
            default_object = output.read_bytes()
            decided = compile_asking(words, llvm_rule)
            plainly += middle - start
            asking += time.perf_counter() - middle
            rule_object = output.read_bytes()
            decisions = iter([inline for _, inline in decided])

            def replay(_: CallSite, left: Iterator[bool] = decisions) -> bool:
                return next(left)

            compile_asking(words, replay)
            sites += len(decided)
            if default_object == rule_object == output.read_bytes():
                equal_files += 1
            else:
                print(f"differs: {path}")
    print(f"{equal_files} of {arguments.files} files are equal to the byte, with {sites:,} questions")
    print(f"a compilation that asks takes {asking / plainly:.2f} of the time")


if __name__ == "__main__":
    main()
