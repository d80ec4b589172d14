"""``mirenc predict``: a trained head's answer about kernels nobody has measured."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirenc.cli import common, tasks
from mirenc.cli.apply import Copies, directive_of
from mirenc.cli.predict_table import is_project, print_table, project_files, read_project, table_engine
from mirenc.errors import HeadError, MirencError, TaskError

if TYPE_CHECKING:
    from mirenc.deciding import TaskHead
    from mirenc.ir import ReadOptions
    from mirenc.tasks import Prediction, Task

_SHOWN = 8  # settings whose preference is printed


def predict(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TASK INPUT...",
            help="A task (not with --task-file), then IR or sources, folders of either, compile_commands.json, or - "
            "for stdin. size_after makes one table of a folder, by -Oz itself.",
            show_default=False,
        ),
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            "--aux",
            "-c",
            help="Context features, as in --context transfer=1048576,wgsize=128; may be repeated.",
        ),
    ] = None,
    head: Annotated[
        Path | None, typer.Option(help="Folder of a head (`mirenc fit`). [default: the shipped one]")
    ] = None,
    task_file: tasks.TaskFile = None,
    variant: Annotated[str, typer.Option(help="Which shipped head, such as nvidia or amd. [default: the first]")] = "",
    function: Annotated[
        str | None,
        typer.Option("--function", "--kernel", help="Answer for this function or kernel only.", show_default=False),
    ] = None,
    level: Annotated[
        str, typer.Option("--level", "-l", help="function or module, where the task knows both. [default: function]")
    ] = "",
    restrict: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the best shapes as a restriction for Kernel Tuner, a Python expression."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line an answer.")] = False,
    apply: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write copies of the sources there, with the answers in them as pragmas."),
    ] = None,
    model: common.Model = None,
    timeout: common.Timeout = None,
    memory_limit: common.MemoryLimit = None,
    max_bytes: common.MaxBytes = None,
    compiler: common.Compiler = None,
    cflags: common.CFlags = "",
) -> None:
    """Choose for kernels: the setting to take, for which machine, and what such answers were worth on unseen kernels.

    Files that fail are listed on stderr; the others are answered, and the exit code is 1.

    size_after of a folder or a compile_commands.json predicts nothing: -Oz runs on every file, and a row is a function
    with the size that nm -S would tell of it.
    """
    names = list(inputs or ())
    name = None if task_file is not None or not names else names.pop(0)
    problem = tasks.find_task(name, task_file)
    if not names:
        raise typer.BadParameter("give the files to answer for, as in TASK kernel.cl", param_hint="INPUT")
    options = common.read_options(timeout, memory_limit, max_bytes, compiler, cflags)
    if problem.tabulated and any(map(is_project, names)):
        if head or variant or function or context:
            raise typer.BadParameter(
                "a project's table is -Oz itself, not a prediction. Leave --head, --variant, --function and --context "
                "out, or name single files",
                param_hint="INPUT",
            )
        _table(names, options, problem.check_level(level), as_json)
        return
    from mirenc.deciding import load_task_head
    from mirenc.embed import load
    from mirenc.learning.features import encoded_context

    given = _pairs(",".join(context or ()))
    for feature, value in problem.assume().items():
        if feature not in given:
            given[feature] = value
            print(f"mirenc: {feature} {value}, as this machine has; another: --context {feature}=...", file=sys.stderr)
    values = problem.ask_context(given)
    if values is not None:
        encoded_context(problem, values)  # a senseless one is wrong for every file
    trained = load_task_head(_shipped(problem, variant) if head is None else head, problem)
    if variant and trained.variant != variant:
        raise HeadError(
            f"the head in {head} is for {trained.variant or 'the one table'} of {problem.name}, not for {variant}. "
            "Leave --variant out, or name the head for it"
        )
    problem.check_level(level)
    encoder = load(trained.model if model is None else model, options=options)
    files = common.expand(names)
    copies = None if apply is None else Copies(problem, apply, [file.name for file in files])
    failures = common.Failures(len(files))
    noted = False
    with common.progress("predicting", len(files)) as advance:
        for file in files:
            try:
                found = _wanted(trained.predict(encoder, file, given, level=level), function, file.name)
                if restrict is not None:
                    _restrict(trained, file.name, found, restrict, alone=len(files) == 1)
            except MirencError as error:
                failures.add(error)
            else:
                for one in found:
                    _show(trained, file.name, one, as_json)
                noted = noted or any(directive_of(trained.task, one) for one in found)
                if copies is not None:
                    copies.write(file.name, found)
            advance()
    if noted:
        print(f"mirenc: {problem.directive_note}", file=sys.stderr)
    failures.finish()


def _table(names: Sequence[str], options: ReadOptions, level: str, as_json: bool) -> None:
    """Say where the bytes of a whole project are."""
    from mirenc.deciding.code import clang_for

    with table_engine(options.timeout, options.memory_limit) as (engine, run):
        # One LLVM from source to code, where there is a clang of it.
        options = replace(options, compiler=options.compiler or clang_for(engine.version))
        with project_files(names, options) as (files, problems):
            failures = common.Failures(len(files) + len(problems))
            for problem in problems:
                failures.add(problem)
            project = read_project(engine, run, files, options, level == "module", failures)
        if project.rows or not failures.count:
            print_table(engine.name, run, project, as_json=as_json)
    failures.finish()


def _wanted(found: list[Prediction], function: str | None, file: str) -> list[Prediction]:
    """The answers for one function: all where none is named.

    Raises
    ------
    TaskError
        No answer is for it.
    """
    if function is None:
        return found
    names = [{one.region.symbol, *_written(one.region.function)} if one.region else set() for one in found]
    kept = [one for one, own in zip(found, names, strict=True) if function in own]
    if not kept:
        known = ", ".join(dict.fromkeys(one.region.function for one in found if one.region)) or "none"
        raise TaskError(f"{file}: nothing to decide about in {function!r}; there are answers for {known}")
    return kept


def _written(name: str) -> tuple[str, str]:
    """A demangled name, and the same without its parameters."""
    return name, name.partition("(")[0]


def _restrict(head: TaskHead, file: str, found: list[Prediction], target: Path, *, alone: bool) -> None:
    """Write what a tuner is told.

    Raises
    ------
    TaskError
        More than one answer, or a task that has nothing to tell a tuner.
    """
    if len(found) != 1 or not alone:
        raise TaskError(f"{file}: --restrict is for one answer. Name one file, and one kernel with --kernel")
    details = head.task.details(found[0])
    if "restriction" not in details:
        raise TaskError(f"task {head.task.name} has no restriction for a tuner. Leave --restrict out")
    target.write_text(details["restriction"] + "\n", encoding="utf-8")


def _shipped(task: Task, variant: str) -> Path:
    from mirenc.deciding.head import ready_heads

    heads = ready_heads(task)
    train = f"mirenc fit {task.name}{f' --variant {variant}' if variant else ''} -o FOLDER"
    if variant:
        task.check_variant(variant)
    if not heads or (variant and variant not in heads):
        shipped = f"; available: {', '.join(heads)}" if variant and heads else ""
        raise TaskError(f"no head for {f'{task.name} {variant}'.strip()} is shipped{shipped}. Type: {train}")
    return heads[variant] if variant else next(iter(heads.values()))


def _pairs(text: str) -> dict[str, str]:
    """``a=1,b=2`` as a dict."""
    pairs: dict[str, str] = {}
    for item in filter(None, text.split(",")):
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(
                f"{item!r} is no NAME=VALUE; write transfer=1048576,wgsize=128", param_hint="--context"
            )
        if name.strip() in pairs:
            raise typer.BadParameter(f"{name.strip()!r} is given twice", param_hint="--context")
        pairs[name.strip()] = value.strip()
    return pairs


def _show(head: TaskHead, file: str, found: Prediction, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(_line(head, file, found)))
    else:
        for line in [*_words(head, file, found), *(f"  {remark}" for remark in head.task.remarks(found))]:
            typer.echo(line)
    if found.far:
        place = file if found.region is None else _place(file, found)
        # A head of one part of a machine is at any distance from all others.
        far = f"{found.distance:.2f}" if found.distance < 100 else "over 100"
        print(
            f"mirenc: warning: {place}: unlike what the head was trained on (distance {far}, "
            "where 1 is far). Measure before you rely on the answer",
            file=sys.stderr,
        )


def _line(head: TaskHead, file: str, found: Prediction) -> dict[str, object]:
    """One answer as JSON."""
    line: dict[str, object] = {"input": file, "task": head.task.name, "variant": head.variant, "machine": found.machine}
    if found.region is not None:
        line["region"] = asdict(found.region)
    if head.task.target == "number":
        line |= {"value": found.value, "error": found.error, "unit": head.task.unit}
    elif head.task.target == "labels":
        line |= {"labels": dict(found.labels), "error": found.error}
    else:
        line |= {
            "choice": found.choice,
            "preferred": found.preferred,
            "default": found.default,
            "directive": directive_of(head.task, found),
            "preference": found.preference,
            "cost_ratio": found.cost_ratio,
            "seconds": found.seconds,
            "gain": found.gain,
            "time_factor": found.time_factor,
            "held_out": None if found.record is None else asdict(found.record),
        }
    worth, *interval = found.evidence.worth or (None, None, None)
    no_code, *beside = found.evidence.no_code or (None, None, None)
    evidence = {
        "pays": found.evidence.pays,
        "worth": worth,
        "interval": interval,
        "rival": found.evidence.rival,
        "found": found.evidence.found,
        "no_code": no_code,
        "no_code_interval": beside,
        "whole": found.evidence.whole,
    }
    line |= head.task.details(found)
    return line | {"evidence": evidence, "distance": found.distance, "far": found.far}


def _words(head: TaskHead, file: str, found: Prediction) -> list[str]:
    """One answer for people."""
    place = f"{file}: " if found.region is None else f"{_place(file, found)}: "
    machine = f"  ({found.machine})" if found.machine else ""
    if head.task.target == "number":
        near = (
            f"a factor of {math.exp(found.error):.2f}" if head.task.logarithm else f"{found.error:.3g} {head.task.unit}"
        )
        said = f"8 of 10 answers on unseen groups were within {near.strip()}"
        return [
            f"{place}{head.task.number_words(found)}{machine}",
            f"  {said if found.evidence.pays else _no_evidence(found)}",
            *_code(head, found),
        ]
    if head.task.target == "labels":
        ranked = sorted(found.labels, key=lambda name: -found.labels[name])
        told = ", ".join(f"{name} {100 * found.labels[name]:.0f} %" for name in ranked[:_SHOWN])
        more = f" and {len(ranked) - _SHOWN} more; --json has them all" if len(ranked) > _SHOWN else ""
        lines = [f"{place}{told}{more}{machine}"]
        return [*lines, *([] if found.evidence.pays else [f"  {_no_evidence(found)}"]), *_code(head, found)]
    title = " x ".join(head.encoder.knobs) if head.encoder is not None else ""
    if not found.evidence.pays:
        said = f"no evidence for any {title} but the default, {found.default}"
        if head.task.default_words:
            said = f"{head.task.default_words}: no evidence for anything else"
        return [
            f"{place}{said}{machine}",
            f"  {_no_evidence(found)}; it prefers {_preferred(found)}",
            *_times(head, found),
        ]
    default = head.task.default_words if found.choice == found.default else ""
    said = directive_of(head.task, found) or default or f"{title} {found.choice}"
    lines = [f"{place}{said}{machine}", f"  {_record(found)}", *_code(head, found), *_times(head, found)]
    if head.task.default_words:  # a list of places, which a table at each would hide
        return lines
    ranked = sorted(found.preference, key=lambda name: -found.preference[name])
    lines += [
        f"  {name:>8}  preference {100 * found.preference[name]:5.1f} %{_time(found, name)}" for name in ranked[:_SHOWN]
    ]
    if len(ranked) > _SHOWN:
        lines.append(f"  and {len(ranked) - _SHOWN} more; --json has them all")
    return lines


def _times(head: TaskHead, found: Prediction) -> list[str]:
    """Expected times of the default, of the fixed choices people make, and of the best, on one line."""
    if found.seconds is None:
        return []
    names = list(found.seconds)
    shown = {"default": found.default}
    shown |= {words: names[index] for words, index in head.task.baselines.items() if names[index] != found.default}
    best = min(found.seconds, key=found.seconds.__getitem__)
    times = [f"{words} {_duration(found.seconds[name])}" for words, name in shown.items()]
    line = f"  expected: {', '.join(times)}, best {_duration(found.seconds[best])} ({best})"
    if found.time_factor is not None:
        line += f"; the default's was within a factor of {found.time_factor:.1f} for 8 of 10 unseen ones"
    return [line]


def _time(found: Prediction, name: str) -> str:
    return "" if found.seconds is None else f"  about {_duration(found.seconds[name])}"


def _duration(seconds: float) -> str:
    """Microseconds: a loop takes some of them, and then they need no exponent."""
    return f"{1e6 * seconds:.{0 if seconds >= 1e-4 else 1}f} us"


def _no_evidence(found: Prediction) -> str:
    """Why a head's answer is not followed."""
    if found.evidence.worth is None:
        return "all samples of this head are of one group, so nobody knows what it is worth on another"
    worth, low, high = found.evidence.worth
    if not found.preference:
        return f"no evidence: on unseen groups such answers were no better than the {found.evidence.rival}"
    return (
        f"on unseen kernels this head's answers were worth x {worth:.2f} [{low:.2f}, {high:.2f}] of "
        f"{found.evidence.rival}{_among(found)}"
    )


def _code(head: TaskHead, found: Prediction) -> list[str]:
    """What the code adds to the context, on a line; none where that is not known, or no answer is taken."""
    if found.evidence.no_code is None or not found.evidence.pays:
        return []
    rival = "of a head without code" if head.task.context_names else f"of {found.evidence.rival}"
    worth, low, high = found.evidence.no_code
    told = f"x {worth:.3f} [{low:.3f}, {high:.3f}] {rival}"
    if not found.preference:
        worth, low, high = (100 * value for value in found.evidence.no_code)
        told = f"{worth:.0f} % [{low:.0f}, {high:.0f}] of the squared error {rival} gone"
    return [f"  {'the code matters' if found.evidence.found else 'no evidence that the code matters'}: {told}"]


def _preferred(found: Prediction) -> str:
    return "the default, too" if found.preferred == found.default else found.preferred


def _among(found: Prediction) -> str:
    return "" if found.evidence.whole else ", among the settings that were measured"


def _record(found: Prediction) -> str:
    """What held-out answers like this one were worth, in words."""
    record = found.record
    here = "" if found.preferred == found.default else f"expected {found.gain:.2f}x here; "
    if record is None:
        worth, low, high = found.evidence.worth or (1.0, 1.0, 1.0)
        return (
            f"{here}on unseen kernels answers were worth x {worth:.2f} [{low:.2f}, {high:.2f}] of "
            f"{found.evidence.rival}{_among(found)}; how sure this one is was not measured"
        )
    right = f"{100 * record.right:.0f} % of {record.answers} answers as sure as this were right on unseen kernels"
    if found.preferred == found.default:
        return f"expected: the default, nothing to change; {right}"
    told = f"{record.speedup:.2f}x over the default; {right}, {100 * record.slower:.0f} % slower than the default"
    if found.choice == found.default:
        return f"the default, because the head prefers {found.preferred}, and such answers were slower: {told}"
    return f"{here}such answers: {told}"


def _place(file: str, found: Prediction) -> str:
    """Where a region is: its source line if the IR has it, else its name."""
    assert found.region is not None
    if found.region.file:
        return f"{found.region.file}:{found.region.line}: {found.region.name}"
    return f"{file}: {found.region.name}"
