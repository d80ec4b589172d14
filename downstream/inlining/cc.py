"""clang -Oz with other pass lists and other inlining, as a compiler for a program's own build.

    make CC='python downstream/inlining/cc.py sizes.jsonl'

Every source is compiled by clang-19 -Oz with the build's flags, and then as ``mirenc suggest -k 7 --try --inline
--budget 20`` does; the smaller object is kept. Each source adds a line to the file, with loaded bytes: of -Oz, by the
best list, and by inlining under it. What is no compilation of one source is left to clang.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mirenc.deciding import TaskHead, fixed_lists, read_code, ready_heads, try_lists
from mirenc.errors import MirencError
from mirenc.inlining import try_inlining
from mirenc.ir import ReadOptions
from mirenc.passes.installed import SharedEngine
from mirenc.passes.levels import level
from mirenc.passes.object_file import elf_sections, sums
from mirenc.tasks import get_task

CLANG = "clang-19"
LISTS, BUDGET = 7, 20
SUFFIXES = (".c", ".cc", ".cpp", ".cxx")


def main() -> int:
    """Compile, and make it smaller."""
    record, *words = sys.argv[1:]
    levels = [word for word in words if word.startswith("-O") and word != "-ObjC"]
    kept = [word for word in words if word not in levels]
    done = subprocess.run([CLANG, *kept, "-Oz"], check=False).returncode
    sources = [word for word in words if word.endswith(SUFFIXES)]
    if done or "-c" not in words or len(sources) != 1:
        return done
    source = sources[0]
    output = words[words.index("-o") + 1] if "-o" in words else Path(source).stem + ".o"
    gone = {"-c", "-o", output, source}
    gone |= {value for word, value in itertools.pairwise(kept) if word in ("-MF", "-MT", "-MQ")}
    flags = [word for word in kept if word not in gone and not word.startswith(("-M", "-g"))]
    before = sums(elf_sections(Path(output).read_bytes()))["loaded_bytes"]
    start = time.perf_counter()
    line = {"file": source, "oz_objects": before, "lists": before, "inlining": before}
    try:
        task = get_task("pass_list")
        lists = fixed_lists(TaskHead.load(ready_heads(task)[""], task), LISTS)
        code = read_code(source, options=ReadOptions(compiler=CLANG, cflags=tuple(flags)))
        with SharedEngine(19) as engine:
            found = try_lists(engine, code.ir, [one.pipeline for one in lists], level("Oz"))
            inlining = try_inlining(engine, code.ir, found.winner.pipeline, BUDGET - 1 - len(lists))
            made = engine.compile(inlining.after.ir, "")
        line |= {"lists": found.winner.loaded_bytes, "inlining": inlining.after.loaded_bytes}
        after = sums(elf_sections(made))["loaded_bytes"]
        if after < before:
            with tempfile.NamedTemporaryFile(dir=Path(output).parent, delete=False) as part:
                part.write(made)
            os.replace(part.name, output)
        line |= {"kept": min(after, before), "seconds": round(time.perf_counter() - start, 2)}
    except MirencError as error:
        line |= {"kept": before, "problem": str(error)[:200]}
    with open(record, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
