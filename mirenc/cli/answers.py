"""Who takes the answers of ``mirenc predict``: the screen, a file for a tuner, copies of the sources."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mirenc.base.errors import ConfigError, TaskError
from mirenc.base.writing import delivered
from mirenc.cli import common
from mirenc.cli.review import Finding, write_findings

if TYPE_CHECKING:
    from mirenc.decide.prediction import Choice, PredictedLabels, PredictedNumber, Prediction, Worth
    from mirenc.decide.task import Task
    from mirenc.decide.task_head import TaskHead

_SHOWN = 8  # settings and labels that are printed
_SOURCES = {".c", ".cc", ".cpp", ".cxx", ".C", ".c++"}


class Answers:
    """Prints answers, as text or as JSON lines; ``directives``: whether any of them was a line of source."""

    def __init__(self, head: TaskHead, as_json: bool) -> None:
        self.head, self.task, self.as_json = head, head.task, as_json
        self.directives = False
        self.findings: list[Finding] = []
        words: dict[str, Callable[[Any], list[str]]]
        words = {"costs": self._choice, "number": self._number, "labels": self._labels}
        self._words = words[head.task.target]

    def take(self, file: str, predictions: Sequence[Any]) -> None:
        """Print the answers of a file."""
        for one in predictions:
            self.directives = self.directives or bool(self.task.directive_of(one))
            place = file
            if (region := one.region) is not None:  # its source line if the IR has it, else its name
                place = f"{region.file}:{region.line}: {region.name}" if region.file else f"{file}: {region.name}"
            first, *lines = self._words(one)
            if one.far:
                # A head of one part of a machine is at any distance from all others.
                far = f"distance {one.distance:.2f}" if one.distance < 100 else "distance over 100"
                unlike = f"unlike what the head was trained on ({far}, where 1 is far)"
                common.warn(f"{place}: {unlike}. Measure before you rely on the answer")
            if region is not None:
                said = "; ".join([first, *lines, *([unlike] if one.far else [])])
                where = region.symbol, region.file or file, region.line
                self.findings.append(Finding(self.task.name, *where, [("String", said)]))
            if self.as_json:
                typer.echo(json.dumps(self._json(file, one)))
            else:
                machine = f"  ({one.machine})" if one.machine else ""
                typer.echo(f"{place}: {first}{machine}")
                for line in (*lines, *self.task.remarks(one)):
                    typer.echo(f"  {line}")

    def write(self, path: Path) -> None:
        """All answers as remarks (.yaml) or SARIF."""
        write_findings(path, {self.task.name: self.task.title}, self.findings)

    def _json(self, file: str, one: Any) -> dict[str, object]:
        line = {"input": file, "task": self.task.name, "variant": self.head.variant, "machine": one.machine}
        if one.region is not None:
            line["region"] = asdict(one.region)
        line["context"], line["sources"] = dict(one.context), dict(one.sources)
        line |= {name: getattr(one, name) for name in _SAID[self.task.target]}
        if self.task.target == "number":
            line["unit"] = self.task.unit
        elif self.task.target == "costs":
            line["directive"] = self.task.directive_of(one)
            line["held_out"] = None if one.record is None else asdict(one.record)
        evidence = {name: getattr(one.evidence, name) for name in ("pays", "rival", "found", "constant_pays", "whole")}
        for name, interval, worth in (
            ("worth", "interval", one.evidence.worth),
            ("no_code", "no_code_interval", one.evidence.no_code),
            ("constant", "constant_interval", one.evidence.constant_worth),
        ):
            evidence[name], *evidence[interval] = worth or (None, None, None)
        return {**line, **self.task.details(one), "evidence": evidence, "distance": one.distance, "far": one.far}

    def _number(self, one: PredictedNumber) -> list[str]:
        near = f"a factor of {math.exp(one.error):.2f}" if self.task.logarithm else f"{one.error:.3g} {self.task.unit}"
        below = f"8 of 10 answers on unseen groups were within {near.strip()}"
        return [self.task.number_words(one), below if one.evidence.pays else _no_better(one), *self._code(one, *_SHARE)]

    def _labels(self, one: PredictedLabels) -> list[str]:
        ranked, more = _ranked(one.labels)
        told = ", ".join(f"{name} {100 * share:.0f} %" for name, share in ranked)
        return [" ".join([told, *more]), *(self._code(one, *_SHARE) if one.evidence.pays else [_no_better(one)])]

    def _choice(self, one: Choice) -> list[str]:
        title = " x ".join(self.head.setting_encoder.knobs) if self.head.setting_encoder is not None else ""
        words = self.task.default_words
        if one.fixed and one.limit:
            return [f"{title} {one.choice}, the only one", one.limit]
        if one.fixed:
            return [f"{words or one.default}: no setting makes other code of it"]
        return self._chosen(one, title, words, [one.limit] if one.limit else [])

    def _chosen(self, one: Choice, title: str, words: str, limit: Sequence[str]) -> list[str]:
        named = self.task.directive_of(one) or (words if one.choice == one.default else "") or f"{title} {one.choice}"
        if not one.evidence.pays:
            lines = [f"{words}: no evidence for anything else"]
            if not words:
                lines = [f"no evidence for any {title} but the default, {one.default}"]
            if one.choice != one.default:
                lines = [f"always {named}: no evidence that the code tells more"]
                lines.append(f"on unseen kernels it was worth {_factor(one.evidence.constant_worth)} of the default")
            preferred = "the default, too" if one.preferred == one.default else one.preferred
            why = _ONE_GROUP
            if one.evidence.worth is not None:
                why = f"on unseen kernels this head's answers were worth {_worth(one)}"
            return [*lines, f"{why}; it prefers {preferred}", *limit, *self._times(one)]
        lines = [named, _record(one), *limit, *self._code(one, *_FACTOR), *self._times(one)]
        if words:  # a list of places, which a table at each would hide
            return lines
        ranked, more = _ranked(one.preference)
        for name, share in ranked:
            seconds = "" if one.seconds is None else f"  about {_duration(one.seconds[name])}"
            lines.append(f"{name:>8}  preference {100 * share:5.1f} %{seconds}")
        return lines + more

    def _times(self, one: Choice) -> list[str]:
        if one.seconds is None:
            return []
        names = list(one.seconds)
        shown = {"default": one.default}
        shown |= {words: names[index] for words, index in self.task.baselines.items() if names[index] != one.default}
        best = min(one.seconds, key=one.seconds.__getitem__)
        times = [f"{words} {_duration(one.seconds[name])}" for words, name in shown.items()]
        line = f"expected: {', '.join(times)}, best {_duration(one.seconds[best])} ({best})"
        if one.time_factor is not None:
            line += f"; the default's was within a factor of {one.time_factor:.1f} for 8 of 10 unseen ones"
        return [line]

    def _code(self, one: Prediction, form: str, unit: int) -> list[str]:
        """What the code adds to the context; nothing where that is not known, or no answer is taken."""
        evidence = one.evidence
        if evidence.no_code is None or not evidence.pays:
            return []
        rival = "of a head without code" if self.task.context.names else f"of {evidence.rival}"
        matters = "the code matters" if evidence.found else "no evidence that the code matters"
        return [f"{matters}: {form.format(*(unit * value for value in evidence.no_code), rival=rival)}"]


# What an answer says in JSON, by target.
_SAID = {
    "number": ("value", "error"),
    "labels": ("labels", "error"),
    "costs": (
        "choice",
        "preferred",
        "default",
        "preference",
        "cost_ratio",
        "seconds",
        "gain",
        "time_factor",
        "fixed",
        "limit",
    ),
}
# How what the code adds is written: text, and the unit of its numbers.
_FACTOR = ("x {:.3f} [{:.3f}, {:.3f}] {rival}", 1)
_SHARE = ("{:.0f} % [{:.0f}, {:.0f}] of the squared error {rival} gone", 100)
_ONE_GROUP = "all samples of this head are of one group, so nobody knows what it is worth on another"


def _ranked(shares: Mapping[str, float]) -> tuple[list[tuple[str, float]], list[str]]:
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    rest = len(ranked) - _SHOWN
    return ranked[:_SHOWN], [f"and {rest} more; --json has them all"] if rest > 0 else []


def _no_better(one: Prediction) -> str:
    if one.evidence.worth is None:
        return _ONE_GROUP
    return f"no evidence: on unseen groups such answers were no better than the {one.evidence.rival}"


def _worth(one: Choice) -> str:
    among = "" if one.evidence.whole else ", among the settings that were measured"
    return f"{_factor(one.evidence.worth)} of {one.evidence.rival}{among}"


def _factor(worth: Worth | None) -> str:
    return "x {:.2f} [{:.2f}, {:.2f}]".format(*(worth or (1.0, 1.0, 1.0)))


def _record(one: Choice) -> str:
    record = one.record
    here = "" if one.preferred == one.default else f"expected {one.gain:.2f}x here; "
    if record is None:
        return f"{here}on unseen kernels answers were worth {_worth(one)}; how sure this one is was not measured"
    right = f"{100 * record.right:.0f} % of {record.answers} answers as sure as this were right on unseen kernels"
    if one.preferred == one.default:
        return f"expected: the default, nothing to change; {right}"
    told = f"{record.speedup:.2f}x over the default; {right}, {100 * record.slower:.0f} % slower than the default"
    if one.choice == one.default:
        return f"the default, because the head prefers {one.preferred}, and such answers were slower: {told}"
    return f"{here}such answers: {told}"


def _duration(seconds: float) -> str:
    """Microseconds: a loop takes some of them, and then they need no exponent."""
    return f"{1e6 * seconds:.{0 if seconds >= 1e-4 else 1}f} us"


def check_restriction(target: Path, files: int) -> None:
    """Raise TaskError for more than one file, and for a target that is somebody's own: a list of shapes, for one."""
    if files != 1:
        raise TaskError(f"--restrict is for one answer, and there are {files} files. Name one file")
    if target.exists() and not target.read_bytes().startswith(
        (b"block_size_x in [", b"(block_size_x, block_size_y) in [")
    ):
        found = f"{target} is there, and is no restriction for Kernel Tuner; --restrict writes a file, and reads none"
        raise TaskError(f"{found}. Name another file")


def write_restriction(task: Task, target: Path, file: str, answers: Sequence[Any]) -> None:
    """Write what a tuner is told; TaskError for more than one answer, or a task that has nothing to tell a tuner."""
    if len(answers) != 1:
        raise TaskError(f"{file}: --restrict is for one answer. Name one file, and one kernel with --kernel")
    details = task.details(answers[0])
    if "restriction" not in details:
        raise TaskError(f"task {task.name} has no restriction for a tuner. Leave --restrict out")
    with delivered(target) as part:
        part.write_text(details["restriction"] + "\n", encoding="utf-8")


class Copies:
    """Writes copies of sources, with the answers in them as pragmas; what cannot be is refused before any work."""

    def __init__(self, task: Task, folder: Path, files: Sequence[str]) -> None:
        self.task, self.folder = task, folder
        if task.space is None or not any(map(task.directive, task.space.settings)):
            raise TaskError(f"answers of {task.name} are no lines of a source. Leave --apply out")
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder} is a file. Name a folder with --apply")
        names: set[str] = set()
        for file in files:
            path = Path(file)
            if path.suffix not in _SOURCES:
                raise ConfigError(f"{file} is no C or C++ source, which --apply writes into. Leave one of them out")
            if path.name in names:
                raise ConfigError(f"two sources are called {path.name}. Give each a folder of its own with --apply")
            if (folder / path.name).exists():
                raise ConfigError(f"{folder / path.name} is there already. Name an empty folder with --apply")
            names.add(path.name)

    def take(self, file: str, predictions: Sequence[Any]) -> None:
        """Write one copy; loops that are left alone are said on stderr."""
        from mirenc.llvm.inputs.pragmas import with_pragmas

        wanted: dict[int, str] = {}
        differ: set[int] = set()
        doubts: dict[str, str] = {}
        for one in predictions:
            if one.fixed:
                continue
            region, line = one.region, self.task.directive_of(one)
            if region is None or not region.line:
                doubts[file if region is None else region.name] = "its line is not known"
            elif region.file != file:
                if line:
                    doubts[f"{region.file}:{region.line}"] = "it is in another file"
            elif wanted.setdefault(region.line, line) != line:
                differ.add(region.line)
                wanted[region.line] = wanted[region.line] or line
        text = Path(file).read_bytes().decode("latin-1")  # bytes as they are, whatever their encoding
        wanted = {number: line for number, line in wanted.items() if line}
        # A pragma that is there already may be why a loop has copies: the place is looked at first.
        refused = dict.fromkeys(differ, "its copies (templates, inlining) want different settings")
        refused |= with_pragmas(text, wanted)[1]
        changed, _ = with_pragmas(text, {number: line for number, line in wanted.items() if number not in refused})
        doubts |= {f"{file}:{number}": refused[number] for number in sorted(refused)}
        self.folder.mkdir(parents=True, exist_ok=True)
        with delivered(self.folder / Path(file).name) as part:
            part.write_bytes(changed.encode("latin-1"))
        for place, reason in doubts.items():
            common.say(f"{place}: left alone, {reason}")
