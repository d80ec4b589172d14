"""``mirenc predict``: a trained head's answer about kernels nobody has measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirenc.cli import common
from mirenc.errors import MirencError, TaskError

if TYPE_CHECKING:
    from mirenc.tasks import Task
    from mirenc.tasks.predict import Prediction, TaskHead


def predict(
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK", help="device_mapping, thread_coarsening, or a .py file with a task.", show_default=False
        ),
    ],
    inputs: common.Inputs,
    context: Annotated[
        list[str] | None,
        typer.Option("--context", "-c", help="Task features, as in --context transfer=1048576,wgsize=128; may be repeated."),
    ] = None,
    head: Annotated[
        Path | None, typer.Option(help="Folder of a head (`mirenc evaluate --save-head`). [default: the shipped one]")
    ] = None,
    variant: Annotated[str, typer.Option(help="Which shipped head, such as nvidia or amd. [default: the first]")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line an input.")] = False,
    model: common.Model = None,
    timeout: common.Timeout = None,
    memory_limit: common.MemoryLimit = None,
    max_bytes: common.MaxBytes = None,
    compiler: common.Compiler = None,
    cflags: common.CFlags = "",
) -> None:
    """Choose for kernels: preference and expected cost of each choice, and whether the kernel is like the known ones.

    Files that fail are listed on stderr; the others are answered, and the exit code is 1.
    """
    options = common.read_options(timeout, memory_limit, max_bytes, compiler, cflags)
    from mirenc.encoder import load
    from mirenc.tasks import get_task
    from mirenc.tasks.predict import load_task_head

    problem = get_task(task)
    given = _pairs(",".join(context or ()))
    values = problem.parse_context(given)
    folder = _shipped(problem, variant) if head is None else head
    trained = load_task_head(folder, problem)
    encoder = load(trained.model if model is None else model, options=options)
    files = common.expand(inputs)
    failures = common.Failures(len(files))
    with common.progress("predicting", len(files)) as advance:
        for name in files:
            try:
                found = trained.predict(encoder, Path(name), values)
            except TaskError:
                raise  # the same for every file
            except MirencError as error:
                failures.add(error)
            else:
                _show(trained, name, found, as_json)
            advance()
    failures.finish()


def _shipped(task: Task, variant: str) -> Path:
    from mirenc.tasks.predict import ready_heads

    heads = ready_heads(task)
    train = f"mirenc evaluate {task.name}{f' --variant {variant}' if variant else ''} --save-head FOLDER"
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


def _show(head: TaskHead, name: str, found: Prediction, as_json: bool) -> None:
    if as_json:
        line = {
            "input": name,
            "task": head.task.name,
            "variant": head.variant,
            "choice": found.choice,
            "preference": found.preference,
            "cost_ratio": found.cost_ratio,
            "distance": found.distance,
            "far": found.far,
        }
        typer.echo(json.dumps(line))
    else:
        typer.echo(f"{name}: {head.task.knob} {found.choice}")
        for choice, share in found.preference.items():
            typer.echo(f"  {choice:>8}  {100 * share:5.1f} %   expected cost x {found.cost_ratio[choice]:.2f}")
    if found.far:
        print(
            f"mirenc: warning: {name}: unlike the kernels the head was trained on (distance {found.distance:.2f}, "
            "where 1 is far). Measure before you rely on the answer",
            file=sys.stderr,
        )
