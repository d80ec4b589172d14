"""Write the tables of `downstream/<task>/README.md` from the records beside it: no figure is copied by hand.

    python downstream/tables.py        # after `mirenc evaluate ... -o downstream/<task>`

Each `<variant>.<protocol>.json` is a table; what stands between the two marks of its name is replaced. So is that of
any other record with ``lines`` of a table, between marks with the file's name; the mark of `<folder>/structure.json` is
`<folder>.structure`. So are the lists of tasks: that of `downstream/README.md` from the folders
(`<!-- in short: ... -->` below a README's title), that of
`docs/guides/measure.md` from the docstrings of what measures them. `ceilings.json` is a table of two READMEs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import ceilings

from mirenc.decide.evaluation.report import row_title
from mirenc.decide.registry import get_task, list_tasks
from mirenc.decide.tables.measured import MeasuredTask
from mirenc.decide.target import STATIC_TITLES
from mirenc.tools.measure.method import get_method

HERE = Path(__file__).parent
FEW_SETTINGS = 12  # settings, of which people want to know how often the best one was named


def percent(figures: dict[str, Any], key: str) -> str:
    """Mean, spread over seeds, interval over groups."""
    low, high = figures[f"{key}_interval"]
    return f"{100 * figures[key]:.1f} ± {100 * figures[f'{key}_sd']:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def gains(row: str, figures: dict[str, Any]) -> tuple[str, str]:
    """Difference to the no-code row: accuracy in points, and geometric speedup as a factor."""
    if row in (*STATIC_TITLES, "no_code") or "accuracy_gain" not in figures:
        return "", ""
    low, high = figures["accuracy_gain_interval"]
    points = f"{100 * figures['accuracy_gain']:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
    low, high = figures["speedup_gain_interval"]
    return points, f"{figures['speedup_gain']:.3f} [{low:.3f}, {high:.3f}]"


def over_compiler(row: str, figures: dict[str, Any]) -> str:
    """Geometric speedup of a row that sees code over the row that knows the compiler's own choice and nothing else."""
    if row in (*STATIC_TITLES, "no_code"):
        return ""
    low, high = figures["speedup_gain_over_compiler_interval"]
    return f"{figures['speedup_gain_over_compiler']:.3f} [{low:.3f}, {high:.3f}]"


def headroom(figures: dict[str, Any]) -> str:
    """Geometric mean over the samples that the oracle speeds up by more than 5 %, and their share."""
    speedup = figures.get("headroom_geometric")
    return "" if speedup is None else f"{speedup:.3f} ({100 * figures['headroom']:.0f} %)"


def speed_lines(record: dict[str, Any], rows: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Columns of a task of many settings, where what counts is time and not who names the very best one."""
    first = next(iter(rows.values()))
    parts = list(first["parts"])
    header = ["", "speedup over default, geom. (arith.)", "where > 1.05x is there", "gap to best, %"]
    header += ["share of oracle's gain, %"]
    header += ["over 0.9 of oracle, samples", "slower by 2 %, samples", "best of 3 measured", "against no code, factor"]
    asks_compiler = "compiler" in rows
    if asks_compiler:
        header += ["against the compiler's choice, factor"]
    lines = [header + parts, ["---"] + ["---:"] * (len(header) + len(parts) - 1)]
    # Of a task without such samples, all are tested.
    folds = [run["fold"] for protocol in record["protocols"].values() for run in protocol["seeds"].values()]
    count = sum(number >= 0 for number in folds[0])
    for row, figures in rows.items():
        low, high = figures["speedup_interval"]
        speedup = f"{figures['speedup_geometric']:.3f} [{low:.3f}, {high:.3f}] ({figures['speedup_arithmetic']:.2f})"
        best_of_three = f"{figures['best_of_three']['speedup_geometric']:.3f}" if "best_of_three" in figures else ""
        line = [row_title(row), speedup, headroom(figures), f"{100 * figures['error_rate']:.1f}"]
        line += [f"{100 * figures['oracle_gain_share']:.0f}", f"{count * figures['near_oracle']:.1f} of {count}"]
        line += [f"{count * figures['slowdowns_2']:.1f} of {count}", best_of_three, gains(row, figures)[1]]
        if asks_compiler:
            line.append("" if row == "compiler" else over_compiler(row, figures))
        lines.append(line + [f"{figures['parts'][part]['speedup_geometric']:.3f}" for part in parts])
    oracle = ["oracle", f"{first['oracle_geometric']:.3f} ({first['oracle_arithmetic']:.2f})", "", "0", "100"]
    oracle += [f"{count} of {count}", f"0 of {count}", *[""] * (2 + asks_compiler)]
    lines.append(oracle + [f"{first['parts'][part]['oracle_geometric']:.3f}" for part in parts])
    return lines


def choice_lines(rows: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Columns of a task of few settings."""
    overs = list(next(iter(rows.values()))["speedup_over"])
    parts = list(next(iter(rows.values()))["parts"])
    header = ["", "accuracy, %", "macro F1", *(f"speedup over {name}, geom. (arith.)" for name in overs)]
    header += ["oracle share, %", "slowdowns, %", "accuracy against no code, points", "speedup against no code, factor"]
    header += parts
    lines = [header, ["---"] + ["---:"] * (len(header) - 1)]
    for row, figures in rows.items():
        line = [row_title(row), percent(figures, "accuracy"), f"{figures['macro_f1']:.2f}"]
        line += [f"{over['geometric']:.3f} ({over['arithmetic']:.2f})" for over in figures["speedup_over"].values()]
        line += [f"{100 * figures['oracle_share']:.1f}", f"{100 * figures['slowdowns']:.1f}", *gains(row, figures)]
        for part in parts:
            part_figures = figures["parts"][part]
            line.append(f"{part_figures['speedup_geometric']:.3f} ({part_figures['speedup_arithmetic']:.2f})")
        lines.append(line)
    first = next(iter(rows.values()))["speedup_over"]
    oracle = ["oracle", "100", "1.00"]
    oracle += [f"{over['oracle_geometric']:.3f} ({over['oracle_arithmetic']:.2f})" for over in first.values()]
    oracle += ["100", "0", "", ""]
    for part in parts:
        part_figures = next(iter(rows.values()))["parts"][part]
        oracle.append(f"{part_figures['oracle_geometric']:.3f} ({part_figures['oracle_arithmetic']:.2f})")
    lines.append(oracle)
    return lines


def table(record: dict[str, Any], protocol: str) -> str:
    """One protocol as Markdown."""
    rows = record["figures"][protocol]
    is_choice = 0 < len(record["settings"]) <= FEW_SETTINGS
    lines = choice_lines(rows) if is_choice else speed_lines(record, rows)
    notes = " ".join(dict.fromkeys(row["note"] + "." for row in record["rows"].values() if row["note"]))
    title = record["protocols"][protocol]["title"]
    name = " ".join(filter(None, (record["variant"], title)))
    groups = "kernels" if is_choice else "groups"
    model = f"Vectors of {record['model']['name']}. " if "both" in rows else ""
    counts = f"{record['samples']} samples, {record['groups']} {groups}, {len(record['seeds'])} seeds."
    foot = f"{counts} {model}{notes}".strip()
    return f"**{name}**\n\n{markdown(lines)}\n\n{foot}"


def markdown(lines: Iterable[Sequence[str]]) -> str:
    """Lines of cells as a table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def update(folder: Path) -> int:
    """Replace the marked tables of one README; returns how many."""
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8")
    count = 0
    for path in sorted([*folder.glob("*.json"), *folder.glob("*/structure.json")]):
        record = json.loads(path.read_text(encoding="utf-8"))
        bodies = {}
        subfolder = "" if path.parent == folder else path.parent.name
        if "lines" in record:
            header, *lines = record["lines"]
            bodies[path.stem] = markdown([header, ["---", *["---:"] * (len(header) - 1)], *lines])
        for protocol in record.get("protocols", ()):
            bodies[".".join(filter(None, (subfolder, record["variant"], protocol)))] = table(record, protocol)
        for mark, body in bodies.items():
            text = between(text, mark, body, readme)
        count += len(bodies)
    readme.write_text(text, encoding="utf-8")
    return count


def between(text: str, mark: str, body: str, document: Path) -> str:
    """The text of a document with another body between the marks of a table."""
    match = re.search(rf"(<!-- table {re.escape(mark)} -->).*?(<!-- end -->)", text, re.DOTALL)
    if match is None:
        raise SystemExit(f"{document}: no marks for table {mark}. Add: <!-- table {mark} --> and <!-- end -->")
    return f"{text[: match.end(1)]}\n{body}\n{text[match.start(2) :]}"


def tasks_table() -> str:
    """Each folder of a task with its title, and what its README says in short."""
    lines = ["| Task | Tables |", "|---|---|"]
    for readme in sorted(HERE.glob("*/README.md")):
        match = re.match(r"# (.*)\s+<!-- in short: (.*) -->", readme.read_text(encoding="utf-8"))
        if match is None:
            raise SystemExit(f"{readme}: no title and short line. Begin with: # TITLE, then <!-- in short: WHAT -->")
        lines.append(f"| [{match[1]}]({readme.parent.name}/README.md) | {match[2]} |")
    return "\n".join(lines)


def measured_table() -> str:
    """Each task that can be measured, and what its method says that it measures."""
    lines = ["| Task | What is measured |", "|---|---|"]
    for name in list_tasks():
        if isinstance(get_task(name), MeasuredTask):
            lines.append(f"| `{name}` | {(type(get_method(name)).__doc__ or '').partition(chr(10))[0]} |")
    return "\n".join(lines)


if __name__ == "__main__":
    for home in sorted(path.parent for path in HERE.glob("*/README.md")):
        print(f"{home.name}: {update(home)} tables")
    for document, mark, body in (
        (HERE / "README.md", "tasks", tasks_table()),
        (HERE.parent / "docs" / "guides" / "measure.md", "measured", measured_table()),
        *(
            (HERE / task.partition(".")[0] / "README.md", ceilings.mark(task), ceilings.table(record))
            for task, record in json.loads(ceilings.RECORD.read_text(encoding="utf-8")).items()
        ),
    ):
        document.write_text(between(document.read_text(encoding="utf-8"), mark, body, document), encoding="utf-8")
