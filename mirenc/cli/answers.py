"""Outputs of ``mirenc predict``: the screen, remarks and SARIF, a restriction for a tuner, copies of the sources."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mirenc.base.errors import ConfigError, TaskError
from mirenc.base.shown import printable, shorten
from mirenc.base.writing import delivered
from mirenc.cli import common
from mirenc.cli.review import Finding, write_findings

if TYPE_CHECKING:
    from mirenc.decide.prediction import Choice, PredictedLabels, PredictedNumber, Prediction, Worth
    from mirenc.decide.task import Task
    from mirenc.decide.task_head import TaskHead

_MAX_SHOWN = 8  # settings and labels that are printed
_NAME_WIDTH = 80  # cells of a region's name that are printed
_MAX_SLOWER = 0.1  # share of answers slower than the default up to which one is followed without measuring
_SOURCES = {".c", ".cc", ".cpp", ".cxx", ".C", ".c++"}


class Answers:
    """Prints answers, as text or as JSON lines; ``directives``: whether any of them was a line of source."""

    def __init__(self, head: TaskHead, as_json: bool) -> None:
        self.head, self.task, self.as_json = head, head.task, as_json
        self.directives = False
        self.findings: list[Finding] = []
        by_target: dict[str, Callable[[Any], list[str]]]
        by_target = {"costs": self._choice_lines, "number": self._number_lines, "labels": self._label_lines}
        self._describe = by_target[head.task.target]

    def take(self, file: str, predictions: Sequence[Any]) -> None:
        """Print the answers of a file."""
        for answer in predictions:
            self.directives = self.directives or bool(self.task.directive_of(answer))
            place = file
            if (region := answer.region) is not None:  # its source line if the IR has it, else its name
                name = shorten(region.name, _NAME_WIDTH)
                place = f"{region.file}:{region.line}: {name}" if region.file else f"{file}: {name}"
            first, *lines = self._describe(answer)
            if answer.far:
                warning = self._far_warning(answer)
                common.warn(f"{place}: {warning}. Measure before you rely on the answer")
            if region is not None:
                finding = "; ".join([first, *lines, *([warning] if answer.far else [])])
                location = region.symbol, region.file or file, region.line
                self.findings.append(Finding(self.task.name, *location, [("String", finding)]))
            if self.as_json:
                typer.echo(json.dumps(self._json(file, answer)))
            else:
                machine = f"  ({answer.machine})" if answer.machine else ""
                typer.echo(f"{printable(place)}: {first}{machine}")
                for line in (*lines, *self.task.remarks(answer)):
                    typer.echo(f"  {line}")

    def _far_warning(self, answer: Prediction) -> str:
        """Warn that the code is far from the head's samples, and say why, where that is known."""
        from mirenc.llvm.analysis.detect_level import LEVEL_WORDS

        # A head of one part of a machine is at any distance from all others.
        distance_text = f"distance {answer.distance:.2f}" if answer.distance < 100 else "distance over 100"
        subject = "the code or its context" if answer.context else "the code"
        warning = f"{subject} is unlike what the head was trained on ({distance_text}; above 1 is far)"
        level = answer.region.built if answer.region is not None else ""
        if self.task.dialect is not None and self.task.dialect.before_passes and level in ("O1", "O2"):
            warning += f": it was optimised {LEVEL_WORDS[level]}, and the head knows {self.task.dialect.title}"
        return warning

    def write(self, path: Path) -> None:
        """All answers as remarks (.yaml) or SARIF."""
        write_findings(path, {self.task.name: self.task.title}, self.findings)

    def _json(self, file: str, answer: Any) -> dict[str, object]:
        line = {"input": file, "task": self.task.name, "variant": answer.variant, "machine": answer.machine}
        if answer.region is not None:
            line["region"] = asdict(answer.region)
        line["context"], line["sources"] = dict(answer.context), dict(answer.sources)
        line |= {name: getattr(answer, name) for name in _JSON_FIELDS[self.task.target]}
        if self.task.target == "number":
            line["unit"] = self.task.unit
        elif self.task.target == "costs":
            line["directive"] = self.task.directive_of(answer)
            line["held_out"] = None if answer.record is None else asdict(answer.record)
        evidence = {
            name: getattr(answer.evidence, name) for name in ("pays", "rival", "code_matters", "constant_pays", "whole")
        }
        for name, interval, estimate in (
            ("worth", "interval", answer.evidence.worth),
            ("no_code", "no_code_interval", answer.evidence.no_code),
            ("constant", "constant_interval", answer.evidence.constant_worth),
        ):
            evidence[name], *evidence[interval] = estimate or (None, None, None)
        return {
            **line,
            **self.task.details(answer),
            "evidence": evidence,
            "distance": answer.distance,
            "far": answer.far,
        }

    def _number_lines(self, answer: PredictedNumber) -> list[str]:
        error_text = (
            f"a factor of {math.exp(answer.error):.2f}"
            if self.task.logarithm
            else f"{answer.error:.3g} {self.task.unit}"
        )
        advice = _advice(answer, "rely on it", f"8 of 10 answers on unseen groups were within {error_text.strip()}")
        return [self.task.number_words(answer), advice, *self._code_lines(answer, *_SHARE)]

    def _label_lines(self, answer: PredictedLabels) -> list[str]:
        top_labels, more_lines = _top_shares(answer.labels)
        shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in top_labels)
        reason = "on unseen groups such answers had less error than giving each label its share in all samples"
        advice = _advice(answer, "rely on it", reason)
        return [" ".join([shares, *more_lines]), advice, *self._code_lines(answer, *_SHARE)]

    def _choice_lines(self, answer: Choice) -> list[str]:
        title = " x ".join(self.head.setting_encoder.knobs) if self.head.setting_encoder is not None else ""
        default_words = self.task.default_words
        if answer.fixed and answer.limit:
            return [f"{title} {answer.choice}, the only one", answer.limit]
        if answer.fixed:
            return [f"{default_words or answer.default}: every setting compiles to the same code"]
        return self._free_choice_lines(answer, title, default_words, [answer.limit] if answer.limit else [])

    def _free_choice_lines(self, answer: Choice, title: str, default_words: str, limits: Sequence[str]) -> list[str]:
        setting = (
            self.task.directive_of(answer)
            or (default_words if answer.choice == answer.default else "")
            or f"{title} {answer.choice}"
        )
        if not answer.evidence.pays:
            lines = [f"{default_words}: no evidence for anything else"]
            if not default_words:
                lines = [f"no evidence for any {title} but the default, {answer.default}"]
            if answer.choice != answer.default:
                speedup = f"on unseen kernels it was {_factor_text(answer.evidence.constant_worth)} the default"
                lines = [f"always {setting}: no evidence that choosing by the code is better", f"follow it: {speedup}"]
            preferred = "the default, too" if answer.preferred == answer.default else answer.preferred
            reason = _ONE_GROUP
            if answer.evidence.worth is not None:
                reason = f"on unseen kernels this head's answers were {_speedup(answer)}"
            lines += [f"{'keep the default: ' * (len(lines) == 1)}{reason}; it prefers {preferred}"]
            return [*lines, *limits, *self._time_lines(answer)]
        lines = [setting, _record_text(answer), *limits, *self._code_lines(answer, *_FACTOR), *self._time_lines(answer)]
        if default_words:  # a list of places, which a table at each would hide
            return lines
        top_settings, more_lines = _top_shares(answer.preference)
        for name, share in top_settings:
            seconds = "" if answer.seconds is None else f"  about {_duration(answer.seconds[name])}"
            lines.append(f"{name:>8}  preference {100 * share:5.1f} %{seconds}")
        return lines + more_lines

    def _time_lines(self, answer: Choice) -> list[str]:
        if answer.seconds is None:
            return []
        names = list(answer.seconds)
        baselines = {"default": answer.default}
        baselines |= {title: names[row] for title, row in self.task.baselines.items() if names[row] != answer.default}
        best = min(answer.seconds, key=answer.seconds.__getitem__)
        times = [f"{title} {_duration(answer.seconds[name])}" for title, name in baselines.items()]
        line = f"expected: {', '.join(times)}, best {_duration(answer.seconds[best])} ({best})"
        if answer.time_factor is not None:
            error_text = f"a factor of {answer.time_factor:.1f} of the measured one for 8 of 10 unseen kernels"
            line += f"; the expected time of the default was within {error_text}"
        return [line]

    def _code_lines(self, answer: Prediction, template: str, unit: int) -> list[str]:
        """Say what the code adds to the context; no line where that is unknown, or the answer is not to be followed."""
        evidence = answer.evidence
        if evidence.no_code is None or not evidence.pays:
            return []
        rival = "a head that sees no code" if self.task.context.names else f"the {evidence.rival}"
        finding = "the code matters" if evidence.code_matters else "no evidence that the code matters"
        return [f"{finding}: {template.format(*(unit * value for value in evidence.no_code), rival=rival)}"]


# What an answer says in JSON, by target.
_JSON_FIELDS = {
    "number": ("value", "error"),
    "labels": ("labels", "error"),
    "costs": tuple("choice preferred default preference cost_ratio seconds gain time_factor fixed limit".split()),
}
# How what the code adds is written: text, and the unit of its numbers.
_FACTOR = ("answers were {:.3f} [{:.3f}, {:.3f}] times as fast as those of {rival}", 1)
_SHARE = ("{:.0f} % [{:.0f}, {:.0f}] less squared error than {rival}", 100)
_ONE_GROUP = "all samples of this head are of one group, so nobody knows what it is worth on another"


def _top_shares(shares: Mapping[str, float]) -> tuple[list[tuple[str, float]], list[str]]:
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    hidden_count = len(ranked) - _MAX_SHOWN
    return ranked[:_MAX_SHOWN], [f"and {hidden_count} more; --json has them all"] if hidden_count > 0 else []


def _advice(answer: Prediction, advice: str, reason: str) -> str:
    """Whether to follow an answer, and why; ``advice`` and ``reason`` where no evidence is against it."""
    if answer.evidence.worth is None:
        return f"measure first: {_ONE_GROUP}"
    if not answer.evidence.pays:
        return f"do not rely on it: on unseen groups such answers were no better than the {answer.evidence.rival}"
    return f"{'measure first: the code is unlike what the head knows; ' if answer.far else f'{advice}: '}{reason}"


def _speedup(answer: Choice) -> str:
    scope = "" if answer.evidence.whole else ", among the settings that were measured"
    return f"{_factor_text(answer.evidence.worth)} the {answer.evidence.rival}{scope}"


def _factor_text(worth: Worth | None) -> str:
    return "{:.2f} [{:.2f}, {:.2f}] times as fast as".format(*(worth or (1.0, 1.0, 1.0)))


def _record_text(answer: Choice) -> str:
    record = answer.record
    gain = "" if answer.preferred == answer.default else f"expected {answer.gain:.2f} times as fast; "
    if record is None:
        text = f"{gain}on unseen kernels answers were {_speedup(answer)}; the certainty of this one was not measured"
        return _advice(answer, "follow it", text)
    peers = f"{record.answers} answers about as sure on unseen kernels"
    right = f"{100 * record.right:.0f} % chose the best setting"
    if answer.preferred == answer.default:
        return _advice(answer, f"keep the default, {answer.default}", f"of {peers}, {right}")
    text = f"{peers} were {record.speedup:.2f} times as fast as the default; {right}, {100 * record.slower:.0f} % were "
    text += "slower than the default"
    if answer.choice == answer.default:
        return f"keep the default, {answer.default}: the head prefers {answer.preferred}, but {text}"
    return _advice(answer, "follow it" if record.slower <= _MAX_SLOWER else "measure first", f"{gain}{text}")


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
        problem = f"{target} exists and is not a restriction that mirenc wrote, so it is not overwritten"
        raise TaskError(f"{problem}. Name another file with --restrict")


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
            raise TaskError(f"answers of {task.name} cannot be written into a source as pragmas. Leave --apply out")
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder} is a file. Name a folder with --apply")
        names: set[str] = set()
        for file in files:
            path = Path(file)
            if path.suffix not in _SOURCES:
                problem = f"--apply writes into C and C++ sources, and {file} is neither"
                raise ConfigError(f"{problem}. Leave out {file}, or leave out --apply")
            if path.name in names:
                raise ConfigError(f"two sources are called {path.name}. Give each a folder of its own with --apply")
            if (folder / path.name).exists():
                raise ConfigError(f"{folder / path.name} is there already. Name an empty folder with --apply")
            names.add(path.name)
        common.check_folders(folder)

    def take(self, file: str, predictions: Sequence[Any]) -> None:
        """Write one copy; loops that are left alone are said on stderr."""
        from mirenc.llvm.inputs.pragmas import with_pragmas

        directives: dict[int, str] = {}
        conflicting_lines: set[int] = set()
        skipped_places: dict[str, str] = {}
        for answer in predictions:
            if answer.fixed:
                continue
            region, line = answer.region, self.task.directive_of(answer)
            if region is None or not region.line:
                skipped_places[file if region is None else region.name] = "its line is not known"
            elif region.file != file:
                if line:
                    skipped_places[f"{region.file}:{region.line}"] = "it is in another file"
            elif directives.setdefault(region.line, line) != line:
                conflicting_lines.add(region.line)
                directives[region.line] = directives[region.line] or line
        text = Path(file).read_bytes().decode("latin-1")  # bytes as they are, whatever their encoding
        directives = {number: line for number, line in directives.items() if line}
        # A pragma that is there already may be why a loop has copies: the place is looked at first.
        reasons = dict.fromkeys(conflicting_lines, "its copies (templates, inlining) want different settings")
        reasons |= with_pragmas(text, directives)[1]
        output, _ = with_pragmas(text, {number: line for number, line in directives.items() if number not in reasons})
        skipped_places |= {f"{file}:{number}": reasons[number] for number in sorted(reasons)}
        with delivered(self.folder / Path(file).name) as part:
            part.write_bytes(output.encode("latin-1"))
        for place, reason in skipped_places.items():
            common.say(f"{place}: left alone, {reason}")
