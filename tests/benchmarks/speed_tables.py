"""The tables of speed, from the record `runs.json` that `bench_large_module.py` writes.

    python tests/benchmarks/speed_tables.py        # into docs/figures.md and README.md here, between their marks

No figure is copied by hand: `tests/test_speed_record.py` compares the documents with the record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RECORD = HERE / "runs.json"

# Processes by the name that the record has them under.
COLD = "mirenc embed, cold (empty cache)"
CHANGED = "mirenc embed, warm (one function renamed)"
SAME = "mirenc embed, warm (the same file)"
SYMBOLIC = "IR2Vec symbolic"
FLOW_AWARE = "IR2Vec flow-aware"
GRAPH = "mirenc read + graph (LLVM 10 text)"
PROGRAML = "llvm2graph-10 (LLVM 10 text)"
FUNCTIONS, INSTRUCTIONS = (f"mirenc embed, cold, a vector for every {level}" for level in ("function", "instruction"))
FUNCTIONS_BESIDE, INSTRUCTIONS_BESIDE = (f"IR2Vec flow-aware, every {level}" for level in ("function", "instruction"))
TINY = "mirenc embed --no-cache"
# The peer of each process on the large module, and how many times as fast as it we want to be.
PEERS = {
    COLD: (FLOW_AWARE, 1),
    FUNCTIONS: (FUNCTIONS_BESIDE, 1),
    INSTRUCTIONS: (INSTRUCTIONS_BESIDE, 1),
    CHANGED: (SYMBOLIC, 1),
    SAME: (SYMBOLIC, 1),
    GRAPH: (PROGRAML, 10),
}
TINY_SECONDS, FILES_A_SECOND, PEAK_MB = 0.4, 200, 600
_TITLES = {
    COLD: "module vector, nothing cached",
    FUNCTIONS: "a vector for every function",
    INSTRUCTIONS: "a vector for every instruction",
    CHANGED: "a changed file, statements cached",
    SAME: "the same file again",
    GRAPH: "read and build the graph only",
}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown; all columns but the first are figures."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def where(record: dict[str, Any]) -> str:
    """What was measured, on what."""
    machine, rounds = record["machine"], record["rounds"]
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return (
        f"{record['module']}, {record['counts']['instructions']:,} instructions; `{record['model']}`; "
        f"{machine['cpu']}, {machine['cores']} cores, Python {record['python']}, {versions}. Whole processes taking "
        f"turns, medians of {rounds['large']} rounds ({rounds['small']} for a small file)."
    )


def goal_table(record: dict[str, Any]) -> str:
    """What the benchmark is there to tell: each goal, what was found, reached or not."""
    rows = []

    def add(subject: str, goal: str, measured: str, reached: bool) -> None:
        rows.append([subject, goal, measured, "reached" if reached else "missed"])

    for name, (peer, goal) in PEERS.items():
        ratio = record["large"][name]["times_as_fast"]
        add(f"{name}: times as fast as {peer}", f">= {goal}", f"{ratio:.2f}", ratio >= goal)
    tiny = record["small"][TINY]["seconds"]
    add(f"{TINY}, {record['small_bytes']:,} bytes", f"<= {TINY_SECONDS} s", f"{tiny:.2f} s", tiny <= TINY_SECONDS)
    if record["many"]:
        speed = record["many"]["files_a_second"]
        files_goal = f">= {FILES_A_SECOND} files/s"
        add(f"{record['many']['files']:,} small files", files_goal, f"{speed:.0f} files/s", speed >= FILES_A_SECOND)
    peak = record["large"][COLD]["together_mb"]
    add(f"{COLD}: peak of both processes at one time", f"<= {PEAK_MB} MB", f"{peak:.0f} MB", peak <= PEAK_MB)
    return table(["goal", "wanted", "found", ""], rows)


def process_table(record: dict[str, Any]) -> str:
    """Whole processes, on the large module and on a small file."""
    rows = []
    for name, run in (record["large"] | {f"small file: {name}": run for name, run in record["small"].items()}).items():
        spread = f"{run['least']:.2f} to {run['most']:.2f}"
        rows.append([name, f"{run['seconds']:.2f}", spread, f"{run['cpu_seconds']:.2f}", f"{run['together_mb']:,.0f}"])
    return table(["whole process", "seconds", "least to most", "CPU seconds", "at one time, MB"], rows)


def stage_table(record: dict[str, Any]) -> str:
    """Stages of an embedding, inside one process; LLVM's share is inside "read", which the clock closed after it."""
    seconds = record["stages"]
    names = sorted(seconds, key=lambda name: (name.split(":")[0] != "read", name != "read"))
    total = sum(value for name, value in seconds.items() if ":" not in name)
    rows = [
        [
            f"of which {name.split(': ')[1]}" if ":" in name else name,
            f"{seconds[name]:.2f}",
            f"{100 * seconds[name] / total:.0f} %",
        ]
        for name in names
    ]
    return table(["stage of a cold embedding", "seconds", "share"], rows)


def complete_page(record: dict[str, Any]) -> str:
    """All tables."""
    return "\n\n".join([where(record), goal_table(record), process_table(record), stage_table(record)])


def short(record: dict[str, Any]) -> str:
    """Each figure beside its peer's of the same run."""

    def cell(run: dict[str, Any]) -> str:
        return f"{run['seconds']:.2f} s, {run['together_mb']:,.0f} MB"

    rows = []
    for name, (peer, _) in PEERS.items():
        run = record["large"][name]
        beside = f"{peer.split(',')[0].split(' (')[0]}: {cell(record['large'][peer])}"
        rows.append([_TITLES[name], cell(run), beside, f"{run['times_as_fast']:.2f}"])
    tiny = record["small"][TINY]
    beside = f"{SYMBOLIC}: {cell(record['small'][SYMBOLIC])}"
    rows.append(["one small file, the whole process", cell(tiny), beside, f"{tiny['times_as_fast']:.2f}"])
    lines = [where(record), table(["", "mirenc", "beside it", "times as fast"], rows)]
    if record["many"]:
        lines.append(f"Of {record['many']['files']:,} small files {record['many']['files_a_second']:.0f} a second.")
    return "\n\n".join(lines)


DOCUMENTS: dict[Path, Callable[[dict[str, Any]], str]] = {
    HERE / "README.md": complete_page,
    HERE.parents[1] / "docs" / "figures.md": short,
}
MARKS = re.compile(r"(<!-- speed -->\n).*?(\n<!-- end -->)", re.DOTALL)


def main() -> None:
    """Fill in the documents."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    for path, write in DOCUMENTS.items():
        body = write(record)
        text, count = MARKS.subn(lambda match, body=body: match[1] + body + match[2], path.read_text(encoding="utf-8"))
        if count != 1:
            raise SystemExit(f"{path}: {count} places between <!-- speed --> and <!-- end -->; one is wanted")
        path.write_text(text, encoding="utf-8")
        print(f"{path}: written")


if __name__ == "__main__":
    main()
