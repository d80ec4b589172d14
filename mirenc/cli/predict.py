"""``mirenc predict``: answers of a trained head about code that nobody has measured."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from mirenc.base.errors import HeadError, TaskError
from mirenc.cli import common
from mirenc.cli.answers import Answers, Copies, check_restriction, write_restriction
from mirenc.cli.own_labels import answer_with, is_head, refuse

if TYPE_CHECKING:
    from mirenc.decide.task import Task
    from mirenc.decide.task_head import TaskHead
    from mirenc.llvm import Region
    from mirenc.llvm.inputs.input import Input

_INPUTS = "First a task's name (`mirenc tasks`) or the folder of a head that `mirenc fit LABELS` wrote; give neither "
_INPUTS += "if you use --task-file. Then IR or source files, folders of either, compile_commands.json, or - for stdin."

_VARIANT = "Shipped head, such as amd (`mirenc tasks`). [default: the first; in task block_size, h200 for CUDA]"
_LEVEL = "Answer for each function or for the module, in tasks that can do either. [default: function]"
_OUTPUT = "Write the answers to a file, too: LLVM's remarks (.opt.yaml) or SARIF (.sarif). Can be repeated."
_CONTEXT = "What the task needs besides the code, such as transfer=1048576,wgsize=128; `mirenc tasks` lists it. Can be "
_CONTEXT += "repeated."
_FUNCTION = "Answer for this function or kernel only."
_RESTRICT = "Only for task block_size: write the best shapes as a Kernel Tuner restriction."
_LOOK_AHEAD = "Only for task vectorization: compile each loop with every setting, and pass features of the results to "
_LOOK_AHEAD += "the head. [default: on for loops that LLVM can vectorise, in functions of up to 1000 instructions]"
_APPLY = "Write copies of the sources, with the answers in them as pragmas."


@common.reads
def predict(
    inputs: Annotated[list[str] | None, Argument(metavar="TASK|HEAD INPUT...", help=_INPUTS)] = None,
    context: Annotated[list[str] | None, Option("--context", "-c", help=_CONTEXT)] = None,
    head: Annotated[Path | None, Option(help="Folder of a head for TASK (`mirenc fit`). [default: shipped]")] = None,
    task_file: common.TaskFile = None,
    variant: Annotated[str, Option(help=_VARIANT)] = "",
    function: Annotated[str | None, Option("--function", "--kernel", help=_FUNCTION)] = None,
    level: Annotated[str, Option("--level", "-l", help=_LEVEL)] = "",
    restrict: Annotated[Path | None, Option(metavar="FILE", help=_RESTRICT)] = None,
    look_ahead: Annotated[bool | None, Option(help=_LOOK_AHEAD)] = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON, one line for each answer.")] = False,
    apply: Annotated[Path | None, Option(metavar="FOLDER", help=_APPLY)] = None,
    output: Annotated[list[Path] | None, Option("--output", "-o", metavar="FILE", help=_OUTPUT)] = None,
    model: common.Model = None,
    *,
    options: common.Reading,
) -> None:
    """Ask a trained model (head) for a decision about your code, such as a vector width or a predicted size.

    An answer says for which machine it is, and how often such answers were right on code that the head was not
    trained on. Files that fail are listed on stderr; the others are answered, and the exit code is 1.

    mirenc predict vectorization foo.ll
    mirenc predict device_mapping kernel.cl -c transfer=1048576,wgsize=128
    """
    for path in output or ():
        if path.suffix not in (".yaml", ".sarif"):
            raise typer.BadParameter(f"{path}: unknown suffix; available: .yaml, .sarif", param_hint="--output")
        common.check_output(path)
    names = list(inputs or ())
    if task_file is None and names and is_head(names[0]):
        from mirenc.decide.custom_head import CustomHead

        if not names[1:]:
            raise typer.BadParameter("give the files to answer for, as in HEAD foo.c", param_hint="INPUT")
        values = {"--context": context, "--head": head, "--variant": variant, "--level": level, "--output": output}
        flag = None if look_ahead is None else "given"
        folder = Path(names[0])
        labels_head = CustomHead.load(folder.parent if folder.name == "head.json" else folder)
        refuse(values | {"--restrict": restrict, "--look-ahead": flag, "--apply": apply}, "it is for heads of tasks")
        answer_with(labels_head, names[1:], function=function, as_json=as_json, model=model, options=options)
        return
    task = common.find_task(None if task_file is not None or not names else names.pop(0), task_file)
    if not names:
        raise typer.BadParameter("give the files to answer for, as in TASK kernel.cl", param_hint="INPUT")
    if task.name == "size_after" and any(map(common.is_project, names)):
        common.say(f"these are a head's predictions; for exact sizes type: mirenc sizes {shlex.join(names)}")
    from mirenc.decide.loop_task import LoopTask
    from mirenc.encoder import load
    from mirenc.llvm.analysis.regions import is_called

    features = _context_features(task, ",".join(context or ()))
    task_head = _load_head(task, head, variant, look_ahead)
    task.check_level(level)
    if look_ahead is None and isinstance(task, LoopTask) and head is None:
        task_head = replace(task_head, head_for_large=_load_head(task, None, variant, False))
    task_head = replace(task_head, encoder=load(task_head.model if model is None else model, options=options))
    files = common.expand(names, options)
    if restrict is not None:
        check_restriction(restrict, len(files))
    answers = Answers(task_head, as_json)
    copies = None if apply is None else Copies(task, apply, [file.name for file in files])

    def answer(file: Input) -> None:
        functions: dict[str, None] = {}  # in the file's order

        def has_name(region: Region) -> bool:
            functions[region.function] = None
            return function is not None and is_called(function, region.symbol, region.function)

        errors: list[TaskError] = []
        predicate = has_name if function else None
        predictions = task_head.predict(file, features, level=level, region_filter=predicate, on_refused=errors.append)
        if not predictions and not errors:
            available = ", ".join(functions) or "none"
            raise TaskError(f"{file.name}: nothing to decide about in {function!r}; there are answers for {available}")
        if restrict is not None and not errors:
            write_restriction(task, restrict, file.name, predictions)
        answers.take(file.name, predictions)
        if copies is not None:
            copies.take(file.name, predictions)
        if errors:  # once the others are answered
            raise TaskError(f"{file.name}: {'; '.join(dict.fromkeys(map(str, errors)))}")

    failures = common.Failures(len(files))
    try:
        for _ in failures.results("predicting", files, answer):
            pass
        failures.finish()
    finally:  # a file fails where one of its kernels is refused; the answers for its other kernels are written
        for path in output or ():
            answers.write(path)
        if answers.directives and task.directive_note:
            common.say(task.directive_note)


def _context_features(task: Task, text: str) -> dict[str, str]:
    """``a=1,b=2`` as a dict, filled up with the features that this machine tells. Raises TaskError: a bad value."""
    features: dict[str, str] = {}
    for item in filter(None, text.split(",")):
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            advice = "write transfer=1048576,wgsize=128"
            raise typer.BadParameter(f"{item!r} is not NAME=VALUE; {advice}", param_hint="--context")
        if name.strip() in features:
            raise typer.BadParameter(f"{name.strip()!r} is given twice", param_hint="--context")
        features[name.strip()] = value.strip()
    for feature, value in task.context.from_machine().items():
        if feature not in features:
            features[feature] = value
            common.say(f"{feature} {value}, taken from this machine; for another: --context {feature}=...")
    if (context := task.context.parse_question(features)) is not None:
        task.context.encode(context)
    return features


def _load_head(task: Task, folder: Path | None, variant: str, look_ahead: bool | None) -> TaskHead:
    from mirenc.decide.loop_task import LoopTask
    from mirenc.decide.registry import list_tasks, ready_heads
    from mirenc.decide.task_head import TaskHead

    if folder is not None:
        loaded = TaskHead.load(folder, task)
        if variant and loaded.variant != variant:
            raise HeadError(
                f"the head {folder} is for {task.name} ({loaded.variant or 'without a variant'}), not for {variant}. "
                f"Leave --variant out, or give --head the folder of a head for {variant}"
            )
        if look_ahead is not None:
            raise HeadError("--look-ahead and --no-look-ahead are for shipped heads. Leave out this option, or --head")
        return loaded
    if look_ahead and not isinstance(task, LoopTask):
        raise TaskError(f"task {task.name} does not look ahead. Leave --look-ahead out")
    looks_ahead = isinstance(task, LoopTask) if look_ahead is None else look_ahead
    heads = ready_heads(task, look_ahead=looks_ahead)
    if variant:
        task.check_variant(variant)
    if not heads or (variant and variant not in heads):
        name = task.name if task.name in list_tasks() else "--task-file FILE.py"
        command = f"mirenc fit {name}{f' --variant {variant}' if variant else ''} -o FOLDER"
        available = f"; available: {', '.join(filter(None, heads))}" if variant and heads else ""
        raise TaskError(f"no head for {f'{task.name} {variant}'.strip()} is shipped{available}. Type: {command}")
    return TaskHead.load(".".join(filter(None, (task.name, "look_ahead" if looks_ahead else variant))), task)
