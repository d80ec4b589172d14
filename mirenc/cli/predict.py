"""``mirenc predict``: a trained head's answer about kernels nobody has measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from mirenc.base.errors import HeadError, TaskError
from mirenc.cli import common, predict_table
from mirenc.cli.answers import Answers, Copies, check_restriction, write_restriction

if TYPE_CHECKING:
    from mirenc.decide.task import Task
    from mirenc.decide.task_head import TaskHead
    from mirenc.llvm import Region
    from mirenc.llvm.inputs.input import Input

_CONTEXT = "Context features, as in --context transfer=1048576,wgsize=128; may be repeated."


@common.reads
def predict(
    inputs: Annotated[
        list[str] | None,
        Argument(
            metavar="TASK INPUT...",
            help="A task (not with --task-file), then IR or sources, folders of either, compile_commands.json, or - "
            "for stdin. size_after makes one table of a folder, by -Oz itself.",
        ),
    ] = None,
    context: Annotated[list[str] | None, Option("--context", "--aux", "-c", help=_CONTEXT)] = None,
    head: Annotated[Path | None, Option(help="Folder of a head (`mirenc fit`). [default: the shipped one]")] = None,
    task_file: common.TaskFile = None,
    variant: Annotated[str, Option(help="Which shipped head, such as nvidia or amd. [default: the first]")] = "",
    function: Annotated[
        str | None, Option("--function", "--kernel", help="Answer for this function or kernel only.")
    ] = None,
    level: Annotated[
        str, Option("--level", "-l", help="function or module, where the task knows both. [default: function]")
    ] = "",
    restrict: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Write the best shapes there, as a restriction for Kernel Tuner (Python); nothing is read.",
        ),
    ] = None,
    look_ahead: Annotated[
        bool | None,
        Option(
            help="Compile each setting and look at its code. [default: of loops that LLVM may vectorise, in functions "
            "of at most 1000 instructions]"
        ),
    ] = None,
    as_json: Annotated[bool, Option("--json", help="One JSON line an answer.")] = False,
    apply: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="Write copies of the sources there, with the answers in them as pragmas."),
    ] = None,
    output: Annotated[
        list[Path] | None,
        Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the answers, too, as LLVM's remarks (.opt.yaml) or SARIF (.sarif). Can be repeated.",
        ),
    ] = None,
    model: common.Model = None,
    *,
    options: common.Reading,
) -> None:
    """Choose for kernels: the setting to take, for which machine, and what such answers were worth on unseen kernels.

    Files that fail are listed on stderr; the others are answered, and the exit code is 1.

    size_after of a folder or a compile_commands.json predicts nothing: -Oz runs on every file, and a row is a function
    with the size that nm -S would tell of it.
    """
    names = list(inputs or ())
    for path in output or ():
        if path.suffix not in (".yaml", ".sarif"):
            raise typer.BadParameter(f"{path}: unknown suffix; available: .yaml, .sarif", param_hint="--output")
        common.check_output(path)
    task = common.find_task(None if task_file is not None or not names else names.pop(0), task_file)
    _check_inputs(names)
    if task.name == predict_table.TASK and any(map(common.is_project, names)):
        if head or variant or function or context or output:
            raise typer.BadParameter(
                "a project's table is -Oz itself, not a prediction. Leave --head, --variant, --function, --context and "
                "--output out, or name single files",
                param_hint="INPUT",
            )
        predict_table.print_projects(names, options, task.check_level(level), as_json)
        return
    from mirenc.encoder import load
    from mirenc.llvm.analysis.regions import is_called

    given = _context(task, ",".join(context or ()))
    trained = _head(task, head, variant, look_ahead)
    task.check_level(level)
    if look_ahead is None and task.looks_ahead and head is None:
        trained = replace(trained, quick=_head(task, None, variant, False))
    trained = replace(trained, encoder=load(trained.model if model is None else model, options=options))
    files = common.expand(names, options)
    if restrict is not None:
        check_restriction(restrict, len(files))
    answers = Answers(trained, as_json)
    copies = None if apply is None else Copies(task, apply, [file.name for file in files])

    def answer(file: Input) -> None:
        known: dict[str, None] = {}

        def wanted(region: Region) -> bool:
            known[region.function] = None
            return function is not None and is_called(function, region.symbol, region.function)

        refused: list[TaskError] = []
        asked = wanted if function else None
        predictions = trained.predict(file, given, level=level, wanted=asked, refused=refused.append)
        if not predictions and not refused:
            there = ", ".join(known) or "none"
            raise TaskError(f"{file.name}: nothing to decide about in {function!r}; there are answers for {there}")
        if restrict is not None and not refused:
            write_restriction(task, restrict, file.name, predictions)
        answers.take(file.name, predictions)
        if copies is not None:
            copies.take(file.name, predictions)
        if refused:  # after all the others are answered
            raise TaskError(f"{file.name}: {'; '.join(dict.fromkeys(map(str, refused)))}")

    failures = common.Failures(len(files))
    try:
        for _ in failures.results("predicting", files, answer):
            pass
        failures.finish()
    finally:  # of a file that fails as one of its kernels is refused, the others are answered
        for path in output or ():
            answers.write(path)
        if answers.directives and task.directive_note:
            common.say(task.directive_note)


def _check_inputs(names: Sequence[str]) -> None:
    if not names:
        raise typer.BadParameter("give the files to answer for, as in TASK kernel.cl", param_hint="INPUT")


def _context(task: Task, text: str) -> dict[str, str]:
    """``a=1,b=2`` as a dict, with what this machine says of the rest; a senseless value is wrong for every file."""
    given: dict[str, str] = {}
    for item in filter(None, text.split(",")):
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            advice = "write transfer=1048576,wgsize=128"
            raise typer.BadParameter(f"{item!r} is no NAME=VALUE; {advice}", param_hint="--context")
        if name.strip() in given:
            raise typer.BadParameter(f"{name.strip()!r} is given twice", param_hint="--context")
        given[name.strip()] = value.strip()
    for feature, value in task.machine_context().items():
        if feature not in given:
            given[feature] = value
            common.say(f"{feature} {value}, as this machine has; another: --context {feature}=...")
    if (context := task.ask_context(given)) is not None:
        task.checked_context(context)
    return given


def _head(task: Task, folder: Path | None, variant: str, look_ahead: bool | None) -> TaskHead:
    from mirenc.decide.task_head import TaskHead, ready_heads

    if folder is not None:
        trained = TaskHead.load(folder, task)
        if variant and trained.variant != variant:
            raise HeadError(
                f"the head in {folder} is for {trained.variant or 'the one table'} of {task.name}, not for {variant}. "
                "Leave --variant out, or name the head for it"
            )
        if look_ahead is not None:
            raise HeadError("--[no-]look-ahead is for shipped heads. Leave it or --head out")
        return trained
    if look_ahead and not task.looks_ahead:
        raise TaskError(f"task {task.name} does not look ahead. Leave --look-ahead out")
    heads = ready_heads(task, look_ahead=task.looks_ahead if look_ahead is None else look_ahead)
    if variant:
        task.check_variant(variant)
    if not heads or (variant and variant not in heads):
        train = f"mirenc fit {task.name}{f' --variant {variant}' if variant else ''} -o FOLDER"
        shipped = f"; available: {', '.join(heads)}" if variant and heads else ""
        raise TaskError(f"no head for {f'{task.name} {variant}'.strip()} is shipped{shipped}. Type: {train}")
    return TaskHead.load(heads[variant] if variant else next(iter(heads.values())), task)
