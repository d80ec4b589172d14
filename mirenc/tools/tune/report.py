"""What a tuning found, as Markdown with a picture, as JSON, and as a patch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mirenc.base.errors import needs
from mirenc.base.writing import delivered
from mirenc.tools.run.turns import Gain

with needs("tasks", "a picture needs matplotlib"):  # said before anything is timed
    from matplotlib import rc_context
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from mirenc.tools.tune.tuning_run import Outcome, Tuning

PATCH, TEXT, DATA, PICTURE = "tuned.patch", "report.md", "report.json", "gains.svg"
_HEADER = ("place", "function", "work", "trip count", "tried", "speedup", "again", "kept")


def write_report(run: Tuning) -> None:
    """Write the report, its data, the patch and the picture into the run's folder."""
    has_picture = _draw(run.outcomes, run.folder / PICTURE)
    run.case.write_compiler(run.kept_settings, run.folder)  # of nothing: a plain clang, in place of an older one
    patch, lines, rows = run.patch(), _lines(run), [_cells(run, outcome) for outcome in run.outcomes]
    table = [" | ".join(("", *cells, "")).strip() for cells in (_HEADER, ["---"] * len(_HEADER), *rows)]
    text = ["# Tuned by mirenc", *lines, "\n".join(table), *([f"![gains]({PICTURE})"] if has_picture else [])]
    data = {"order": asdict(run.order), "seconds": run.seconds, "builds": run.user.count, "whole": run.total_gain}
    data |= {
        "late": run.out_of_time,
        "loops": [asdict(outcome) for outcome in run.outcomes],
        "unread": run.unread_sources,
    }
    files = {TEXT: "\n\n".join(text) + "\n", PATCH: patch, DATA: json.dumps(data, indent=1, default=str) + "\n"}
    for name, content in files.items():
        with delivered(run.folder / name) as part:
            part.write_bytes(content.encode("latin-1" if name == PATCH else "utf-8", "backslashreplace"))


def summary(run: Tuning) -> str:
    """The result of a tuning in a sentence."""
    tried_count = sum(not outcome.alone for outcome in run.outcomes)
    tally = f"{tried_count} of {tried_count + len(run.left)} {run.case.places_are} tried"
    if run.alone:
        share = sum(outcome.share for outcome in run.alone)
        tally += f", {len(run.alone)} left alone ({100 * share:.0f} % of {run.case.work_is})"
    note = ". The time was up; the same command goes on" if run.out_of_time else ""
    if run.total_gain is None or not run.kept_settings:
        return f"{tally}: nothing is faster by more than the noise, and nothing is changed{note}"
    count = sum(bool(outcome.kept) for outcome in run.outcomes)
    gain, wall, noise = run.total_gain
    return (
        f"{tally}, {count} changed: the program is {gain} times as fast ({wall} by the clock; noise {noise:.3f}){note}"
    )


def _lines(run: Tuning) -> list[str]:
    order = run.order
    commands = f"Build: {order.build}. Run: {order.run}, {run.seconds:.2f} s"
    clock = "processor" if run.clock == "cpu" else "wall clock"
    method = (
        f"{run.user.count} builds; {order.rounds} rounds of a comparison, in turns; 95 % intervals, of {clock} time"
    )
    rule = "Kept is what is faster by more than interval and noise, twice, with the same output"
    advice = [f"To use the result, type: {run.case.take_over(run.folder, PATCH)}"] if run.kept_settings else []
    return [f"{summary(run)}.", f"{commands}; {method}. {rule}.", *run.unread_sources, *advice]


def _cells(run: Tuning, outcome: Outcome) -> list[str]:
    path = Path(outcome.file)
    if path.is_relative_to(run.place):
        path = path.relative_to(run.place)
    gains = [f"{setting.gain}" if setting.gain else setting.problem for setting in outcome.tried]
    return [
        _place_title(f"{path}", outcome),
        outcome.function,
        f"{100 * outcome.share:.0f} %",
        f"{outcome.trip_count:.1f}" if outcome.trip_count else "not known",
        "; ".join(_short_directive(setting.directive) for setting in outcome.tried),
        "; ".join(gains),
        str(outcome.again or ""),
        _short_directive(outcome.kept) or outcome.alone or "as it was",
    ]


def _place_title(file: str, outcome: Outcome) -> str:
    """A place as the report names it; a folder stands for the whole program."""
    return f"{file}:{outcome.line}" if outcome.line else "the program" if Path(outcome.file).is_dir() else file


def _short_directive(directive: str) -> str:
    return directive.removeprefix("#pragma clang loop ")


def _draw(outcomes: Sequence[Outcome], path: Path) -> bool:
    """Draw every setting's gain with its interval; return whether anything was timed."""
    rows: list[tuple[str, Gain, bool]] = [
        (
            f"{_place_title(Path(outcome.file).name, outcome)}  {_short_directive(setting.directive)}",
            setting.gain,
            setting.directive == outcome.kept,
        )
        for outcome in outcomes
        for setting in outcome.tried
        if setting.gain
    ][::-1]
    if not rows:
        return False
    figure = Figure(figsize=(9, 1.2 + 0.28 * len(rows)), layout="constrained")
    axis = figure.subplots()
    for y, (_, gain, is_kept) in enumerate(rows):
        colour = "#4477aa" if is_kept else "#bbbbbb"
        axis.plot([gain.low, gain.high], [y, y], color=colour, linewidth=3, solid_capstyle="round")
        axis.plot(gain.factor, y, "o", color=colour, markeredgecolor="black")
    axis.axvline(1.0, color="black", linewidth=0.8)
    axis.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axis.set_xlabel("speedup of the whole program, 95 % interval; blue: kept")
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(path)
    return True
