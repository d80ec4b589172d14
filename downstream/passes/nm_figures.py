"""The table of `mirenc sizes PROJECT` beside what `nm -S` says of the project's own objects.

    python downstream/passes/nm_figures.py less=BUILD/compile_commands.json --compiler clang-19 \
        -o downstream/passes/nm.json

Every command of a compile_commands.json is run as the build ran it, but by ``--compiler`` and at -Oz; a file that does
not compile so is left out, and told. A row and a line of ``nm -S`` belong together by file and symbol. Functions count;
aliases, lines of one address, once.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_LINE = re.compile(r"^([0-9a-f]+) ([0-9a-f]+) [TtWw] (\S+)$", re.MULTILINE)


def by_nm(commands: list[dict[str, Any]], compiler: str, scratch: Path) -> tuple[dict[tuple[str, str], int], list[str]]:
    """File and symbol -> bytes, and the files that do not compile."""
    sizes: dict[tuple[str, str], int] = {}
    failures = []
    for entry in commands:
        words = [word for word in entry["arguments"][1:] if not re.fullmatch(r"-O\w?|-c", word)]
        if "-o" in words:
            del words[words.index("-o") : words.index("-o") + 2]
        out = scratch / "code.o"
        if subprocess.run([compiler, *words, "-Oz", "-c", "-o", out], cwd=entry["directory"]).returncode:
            failures.append(Path(entry["file"]).name)
            continue
        output = subprocess.run(["nm", "-S", out], check=True, capture_output=True, text=True).stdout
        places: dict[str, str] = {}
        for place, size, symbol in _LINE.findall(output):
            if places.setdefault(place, symbol) == symbol:
                sizes[Path(entry["directory"], entry["file"]).name, symbol] = int(size, 16)
    return sizes, failures


def main() -> None:
    """Compare, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="+", metavar="NAME=COMPILE_COMMANDS")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    record: dict[str, Any] = {"compiler": arguments.compiler, "projects": {}}
    for project in arguments.projects:
        name, _, place = project.partition("=")
        words = ["sizes", place, "--compiler", arguments.compiler, "--json"]
        process = subprocess.run([sys.executable, "-m", "mirenc", *words], check=True, capture_output=True, text=True)
        table = json.loads(process.stdout)
        record["engine"] = table["engine"]
        claimed = {(Path(row["file"]).name, row["symbol"]): row["bytes"] for row in table["rows"]}
        with tempfile.TemporaryDirectory() as folder:
            commands = json.loads(Path(place).read_text(encoding="utf-8"))
            measured, failures = by_nm(commands, arguments.compiler, Path(folder))
        claimed = {key: size for key, size in claimed.items() if key[0] not in failures}
        common = claimed.keys() & measured.keys()
        pairs = {f"{file}:{symbol}": [claimed[file, symbol], measured[file, symbol]] for file, symbol in sorted(common)}
        pairs = {key: sizes for key, sizes in pairs.items() if sizes[0] != sizes[1]}
        record["projects"][name] = {
            "rows": len(claimed),
            "nm": len(measured),
            "same": len(common) - len(pairs),
            "alone": len(claimed.keys() ^ measured.keys()),
            "largest_difference": max((abs(claim - its) for claim, its in pairs.values()), default=0),
            "other": pairs,
            "files_left_out": failures,
        }
        print(name, record["projects"][name])
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
