"""Write the tables of `downstream/passes/README.md` from the records beside it: no figure is copied by hand.

    python downstream/passes/readme_tables.py [--table downstream/passes/table]

What stands between ``<!-- passes NAME -->`` and ``<!-- end -->`` is replaced. Names: ``labels`` (of the table itself),
``asked`` (does code that was pre-trained on beat all that was not?), ``held_out`` and ``project`` (each task under that
protocol, from <task>.<variant>.<protocol>.json of `downstream/pass_tasks.py`), ``lists`` (untried_lists.json),
``spectrum`` (spectrum.json), ``projects`` (projects.json) and ``nm`` (nm.json). A mark whose record is not there keeps
what it has.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.decide.evaluation.report import row_title
from mirenc.decide.tables.compiled import CompiledTable, read_compiled

HERE = Path(__file__).parent
TASKS = ("size_after", "oz_benefit", "pass_fires", "pass_list")
# The kind of a compiler's answers (`AnswersConfig` of pretrain/teaching.py) that a task asks for.
KINDS = {"size_after": "sizes", "oz_benefit": "sizes", "pass_fires": "fires", "pass_list": "lists"}
UNTAUGHT = "A model that was taught no answers of a task's kind"
UNITS = {"auc": "AUC", "mae": "mean error", "speedup": "% smaller"}
Record = dict[str, Any]


def table_of(header: list[str], lines: list[list[str]]) -> str:
    """A table in Markdown, its first column on the left."""
    rows = [header, ["---", *["---:"] * (len(header) - 1)], *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def figure(value: float, interval: list[float], form: str, scale: float = 1.0) -> str:
    """A figure and its interval."""
    low, high = interval
    return f"{scale * value:{form}} [{scale * low:{form}}, {scale * high:{form}}]"


def gain_text(gain: list[float], unit: str, digits: int) -> str:
    """What a row wins over another, and its interval; positive is better. Logarithms of sizes become per cent."""
    if unit == "speedup":
        value, *interval = (0.0 - 100 * math.expm1(-log) for log in gain)
        return figure(value, interval, "+.2f")
    return figure(gain[0], gain[1:], f"+.{digits}f")


# -- the labels themselves -----------------------------------------------------------------------------
def labels_of(table: CompiledTable) -> str:
    """Bytes over those of -Oz, and how many pieces have something to gain."""
    oz = np.maximum(table.sizes.code_bytes[:, :1], 1.0)
    ratios = np.maximum(table.sizes.code_bytes, 1.0) / oz  # NaN where a list failed
    ratios = np.where(np.isnan(ratios) & np.isfinite(oz), 1.0, ratios)
    levels = np.array([piece.level for piece in table.pieces])
    kinds = np.array([entry.kind for entry in table.lists])
    has_oz = np.isfinite(oz[:, 0])
    lines: list[tuple[str, np.ndarray]] = []
    for name, title in (("O0", "-O0"), ("O2", "-O2"), ("O3", "-O3"), ("Oz_plain", "-Oz without minsize and optsize")):
        if name in table.levels:
            lines.append((title, np.maximum(table.levels[name].code_bytes, 1.0) / oz[:, 0]))
    best = np.nanmin(np.where(has_oz[:, None], ratios, 1.0), axis=1)
    lines.append((f"best of the {ratios.shape[1]} lists", best))
    for kind in dict.fromkeys(kinds.tolist()):
        ratios_of_kind = np.minimum(ratios[:, kinds == kind], 1.0)
        if ratios_of_kind.shape[1] > 1:
            lines.append(
                (
                    f"best of the {ratios_of_kind.shape[1]} lists of kind {kind}, -Oz beside them",
                    np.min(ratios_of_kind, axis=1),
                )
            )
    best_list = int(np.log(ratios[has_oz]).mean(axis=0).argmin())
    lines.append(("the one list that is best for all", ratios[:, best_list]))
    rows = []
    for title, values in lines:
        cells = []
        for level in ("function", "module"):
            mask = (levels == level) & has_oz & np.isfinite(values)
            cells.append(f"{np.exp(np.log(values[mask]).mean()):.3f}" if mask.any() else "")
        rows.append([title, *cells])
    projects = {piece.project for piece in table.pieces}
    unseen = {piece.project for piece in table.pieces if piece.held_out}
    gain = [
        f"{100 * np.mean(best[(levels == level) & has_oz] < 1):.0f} % of the {level}s"
        for level in ("function", "module")
        if ((levels == level) & has_oz).any()
    ]
    intro = (
        f"{(levels == 'function').sum():,} functions and {(levels == 'module').sum():,} modules of {len(projects)} "
        f"projects, {len(unseen)} of them to be tested on only; {ratios.shape[1]} lists; {table.title}."
    )
    failures = int((table.sizes.status != 0).sum())
    foot = f"A list beats -Oz on {' and on '.join(gain)}. Of {table.sizes.status.size:,} cells {failures:,} failed."
    return "\n\n".join(
        [intro, table_of(["Bytes over those of -Oz, geometric mean", "functions", "modules"], rows), foot]
    )


# -- the tasks -----------------------------------------------------------------------------------------
def records_of(protocol: str) -> list[Record]:
    """The figures of a protocol, in the order of the tasks."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob(f"*.{protocol}.json"))]
    return sorted(records, key=lambda record: TASKS.index(record["task"]))


def name_of(record: Record) -> str:
    """Task and variant."""
    return " ".join(filter(None, (record["task"], record["variant"])))


def judged_by(record: Record) -> str:
    """What rows are compared by."""
    figures = next(iter(record["figures"].values()))
    return "auc" if record["labels"] else "speedup" if "speedup_geometric" in figures else "mae"


def cells_of(figures: dict[str, Any], unit: str) -> dict[str, str]:
    """The figures of a row that people read."""
    if unit == "auc":
        cells = {"AUC": figure(figures["auc"], figures["auc_interval"], ".3f")}
        return cells | {"average precision": f"{figures['average_precision']:.3f}", "Brier": f"{figures['brier']:.4f}"}
    if unit == "speedup":
        ratio = [100 * (1 - 1 / bound) for bound in figures["speedup_interval"]]
        saved = 100 * (1 - 1 / figures["speedup_geometric"])
        cells = {"% smaller than -Oz": figure(saved, ratio, ".2f")}
        cells["larger by 2 %, % of pieces"] = f"{100 * figures['slowdowns_2']:.1f}"
        if "best_of_three" in figures:
            best_ratio = figures["best_of_three"]["speedup_geometric"]
            cells["best of 3 tried, % smaller"] = f"{100 * (1 - 1 / best_ratio):.2f}"
        return cells
    cells = {"R2": f"{figures['r2']:.3f}", "mean error": figure(figures["mae"], figures["mae_interval"], ".3f")}
    if "mape" in figures:
        cells["MAPE, %"] = figure(figures["mape"], figures["mape_interval"], ".1f", 100)
    if "auc" in figures:
        cells["AUC of the event"] = f"{figures['auc']:.3f}"
    return cells


def task_table(record: Record) -> str:
    """One task and variant under one protocol."""
    unit = judged_by(record)
    lines, header = [], [""]
    for row, figures in record["figures"].items():
        cells = cells_of(figures, unit)
        gains = record["beside"].get(row, {}).get("no_code")
        gain = "" if gains is None or row in ("default", "mean", "rates") else gain_text(gains, unit, 3)
        header = ["", *cells, f"won over no code, {UNITS[unit]}"]
        lines.append([row_title(row), *cells.values(), gain])
    if unit == "speedup":
        oracle = next(iter(record["figures"].values()))["oracle_geometric"]
        lines.append(["oracle", f"{100 * (1 - 1 / oracle):.2f}", *[""] * (len(header) - 2)])
    extent = f"{record['tested']:,} pieces of {record['tested_groups']} projects tested"
    seeds = len(record["seeds"])
    foot = f"{extent}; {seeds} seed{'s' * (seeds > 1)}; intervals (95 %) over projects."
    notes = sorted({entry["note"] for entry in record["rows"].values() if entry["note"]})
    return "\n\n".join(
        [f"**{name_of(record)}**", table_of(header, lines), " ".join([foot, *(f"{note}." for note in notes)])]
    )


def pretrained(record: Record) -> list[str]:
    """Rows of both encoders, one a model."""
    return [row for row in record["figures"] if row.partition(":")[0] == "both"]


def untaught_kind(row: str) -> str:
    """The kind that the model of a row of `pretrain/teaching_study.py` was not taught; "" for other models."""
    match = re.search(r":without_(\w+)-\d+$", row)
    return match[1] if match else ""


def pretrained_wins() -> str:
    """Whether code that a model was pre-trained on beats every row that none was, on unseen projects.

    A model that was not taught a kind of answers is asked about the tasks of that kind alone, and all such models count
    as one.
    """
    lines, beaten, behind = [], {}, []
    for record in records_of("held_out"):
        unit = judged_by(record)
        for row in pretrained(record):
            kind = untaught_kind(row)
            if kind and kind != KINDS[record["task"]]:
                continue
            gains = record["beside"][row]
            rival = min(gains, key=lambda peer: gains[peer][0])
            gain = gains[rival]
            wins = all(bounds[1] > 0 for bounds in gains.values())
            name = UNTAUGHT if kind else row_title(row)
            beaten.setdefault(name, {}).setdefault(record["task"], []).append(wins)
            won_text = f"{gain_text(gain, unit, 4)} {UNITS[unit]}"
            lines.append([name_of(record), row_title(row), row_title(rival), won_text, "yes" if wins else "no"])
            if not wins:
                unbeaten = ", ".join(row_title(peer) for peer, bounds in gains.items() if bounds[1] <= 0)
                behind.append(f"- {name_of(record)}, {row_title(row)}: not significantly better than: {unbeaten}.")
    header = ["task", "row", "best row without pre-training", "won over it", "beats every such row"]
    counts = [
        f"{name} beats every row without pre-training, by more than the interval, on every variant of "
        f"{sum(all(outcomes) for outcomes in tasks.values())} of {len(tasks)} tasks."
        for name, tasks in beaten.items()
    ]
    did_not = ["What did not work:", "\n".join(behind)] if behind else []
    return "\n\n".join([table_of(header, lines), "\n".join(counts), *did_not])


# -- the other records ---------------------------------------------------------------------------------
def lists_nobody_tried(record: Record) -> str:
    """One head for all lists."""
    header = ["", "R2", "mean error", "rank correlation", "saved by 1", "by 3", "by 10"]
    lines = []
    for row, run in record["figures"].items():
        saved = [figure(run[key], run[f"{key}_interval"], ".2f", 100) for key in ("saved_1", "saved_3", "saved_10")]
        title = {"random": "lists at random", "best": "the best of all"}.get(row, row_title(row))
        figures = [f"{run[key]:.3f}" for key in ("r2", "mae", "rank_correlation")]
        lines.append([title, *(["", "", ""] if row in ("random", "best") else figures), *saved])
    foot = (
        f"{record['held_out']:,} pieces of {record['projects_held_out']} unseen projects under {record['lists'] - 1} "
        f"lists, each in one of {record['folds']} folds that the head was not shown; per cent saved over -Oz."
    )
    return f"{table_of(header, lines)}\n\n{foot}"


def behaviour_spectrum(record: Record) -> str:
    """What reactions to eight lists say of others, and of the benefit of -Oz."""
    rows, steps = record["pass_list"]["rows"], (0, 2, 4)  # places of counts after the probes
    cols = ["probes, next lists by", "8 lists", "10", "16", "16, over 16 fixed", "as many fixed lists as 16 are worth"]
    lines = []
    for row, run in rows.items():
        picked = " (picked)" if row == record["picked"] else ""
        if row == "all":
            lines.append(["all 99 lists", "", "", figure(run["saved"][0][0], run["saved"][0][1:], ".2f"), "", ""])
            continue
        saved = [figure(run["saved"][place][0], run["saved"][place][1:], ".2f") for place in steps]
        lead, *interval = run["over_fixed"][-1]
        gain = "" if row == "fixed" else figure(lead, interval, "+.2f")
        title = "fixed lists" if row == "fixed" else f"{row}{picked}"
        lines.append([title, *saved, gain, str(run["fixed_lists"][-1])])
    extent = f"{record['held_out']['pieces']:,} pieces of {record['held_out']['projects']} unseen projects"
    foot = f"{extent}; % saved over -Oz by the best of so many lists tried."
    benefits: dict[str, list[str]] = {row: [] for row in ("no_code", "histogram", "autophase", "ir2vec", "both")}
    variants = [name for name in record["oz_benefit"] if name != "probes"]
    for variant in variants:
        figures = json.loads((HERE / f"oz_benefit.{variant}.held_out.json").read_text(encoding="utf-8"))["figures"]
        for row, cells in benefits.items():
            cells.append(figure(figures[row]["mae"], figures[row]["mae_interval"], ".3f"))
    errors = [[row_title(row), *cells] for row, cells in benefits.items()]
    for name in ("cover", "predict"):
        values = [record["oz_benefit"][variant][name] for variant in variants]
        errors.append(
            [f"sizes under 8 lists, {name}", *(figure(value["mae"], value["mae_interval"], ".3f") for value in values)]
        )
    return "\n\n".join([table_of(cols, lines), foot, table_of(["mean error of oz_benefit", *variants], errors)])


def whole_projects(record: Record) -> str:
    """Suggest over whole projects, and whether what is claimed is what is written."""
    lists = record["lists"] + record["ideas"]
    cols = ["", "modules", "bytes before", "-Oz", f"best of {lists} lists", "saved, %", "smaller", "exactly as claimed"]
    lines = [
        [
            name,
            *(f"{project[key]:,}" for key in ("modules", "before", "oz", "best")),
            f"{project['saved']:.2f}",
            *(str(project[key]) for key in ("smaller", "exact")),
        ]
        for name, project in record["projects"].items()
    ]
    origins: Counter[str] = Counter()
    for project in record["projects"].values():
        for origin, count in project["won_by"].items():
            origins["a list of training" if origin.startswith("found in training") else origin] += count
    wins = ", ".join(f"{origin} {count}" for origin, count in origins.most_common())
    return (
        f"{table_of(cols, lines)}\n\nLoaded bytes by {record['engine']}; the smallest of a module was made by: {wins}."
    )


def nm_table(record: Record) -> str:
    """A project's table beside what `nm -S` says of its objects."""
    header = ["", "rows", "of `nm -S`", "the same", "in one of them alone", "largest difference, bytes"]
    lines = [
        [name, *(str(project[key]) for key in ("rows", "nm", "same", "alone", "largest_difference"))]
        for name, project in record["projects"].items()
    ]
    return f"{table_of(header, lines)}\n\n{record['engine']}; objects by {record['compiler']} -Oz."


def check_origin() -> None:
    """Refuse records of several tables, or of several models of one name: their figures cannot stand side by side."""
    tables: dict[str, str] = {}
    models: dict[tuple[str, str], str] = {}
    for path in sorted(HERE.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if "table" in record:
            tables.setdefault(record["table"], path.name)
        if model := record.get("model"):
            for name, digest in {model["name"]: model["digest"], **model.get("others", {})}.items():
                models.setdefault((name, digest), path.name)
    names = [name for name, _ in models]
    twice = {f"{name} {digest[:12]}": file for (name, digest), file in models.items() if names.count(name) > 1}
    for kind, owners in (("tables", tables if len(tables) > 1 else {}), ("models", twice)):
        if owners:
            files = ", ".join(f"{key[:40]} ({file})" for key, file in owners.items())
            raise SystemExit(f"{HERE}: records are of several {kind}: {files}. Make them anew from one")


def main() -> None:
    """Replace what stands between the marks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, default=HERE / "table")
    arguments = parser.parse_args()
    check_origin()
    tables: dict[str, str] = {}
    if (arguments.table / "machine.json").is_file():
        tables["labels"] = labels_of(read_compiled(arguments.table))
    for protocol in ("held_out", "project"):
        if records := records_of(protocol):
            tables[protocol] = "\n\n".join(map(task_table, records))
    if records_of("held_out"):
        tables["asked"] = pretrained_wins()
    for name, file, write in (
        ("lists", "untried_lists.json", lists_nobody_tried),
        ("spectrum", "spectrum.json", behaviour_spectrum),
        ("projects", "projects.json", whole_projects),
        ("nm", "nm.json", nm_table),
    ):
        if (HERE / file).is_file():
            tables[name] = write(json.loads((HERE / file).read_text(encoding="utf-8")))
    readme = HERE / "README.md"
    text = readme.read_text(encoding="utf-8")
    for name, body in tables.items():
        pattern = re.compile(rf"(<!-- passes {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"{readme}: no marks for {name}. Add: <!-- passes {name} --> and <!-- end -->")
        text = pattern.sub(lambda match, body=body: f"{match[1]}{body}\n{match[2]}", text)
    readme.write_text(text, encoding="utf-8")
    print(f"{readme.name}: {', '.join(tables) or 'nothing'}")


if __name__ == "__main__":
    main()
