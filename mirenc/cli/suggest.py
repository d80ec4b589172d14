"""``mirenc suggest``: pass lists that may make one's own code smaller than -Oz does, and a trial of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mirenc.cli import common
from mirenc.errors import ConfigError

if TYPE_CHECKING:
    from mirenc.suggesting import Code, Outcome, Suggestion
    from mirenc.tasks import TaskHead

_SUFFIXES = (".bc", ".ll")


def suggest(
    file: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="IR before any pass, C or C++; - is IR on stdin.", show_default=False),
    ],
    count: Annotated[int, typer.Option("--lists", "-k", help="How many pass lists.", min=1)] = 10,
    function: Annotated[
        str | None, typer.Option(help="Suggest for this function, compiled by itself.", show_default=False)
    ] = None,
    head: Annotated[
        Path | None,
        typer.Option(help="Folder of a head (`mirenc fit pass_list`). [default: the shipped one]", show_default=False),
    ] = None,
    attempt: Annotated[bool, typer.Option("--try", help="Run the lists and -Oz, and keep the smallest.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="With --try: the smallest module. .bc as the LLVM that made it wrote it, .ll as text of the LLVM in "
            "llvmlite.",
            show_default=False,
        ),
    ] = None,
    as_json: common.JSON = False,
    model: common.Model = None,
    timeout: common.Timeout = None,
    memory_limit: common.MemoryLimit = None,
    max_bytes: common.MaxBytes = None,
    compiler: common.Compiler = None,
    cflags: common.CFlags = "",
) -> None:
    """Pass lists that may beat -Oz on this code, in the order in which to try them, and whether that is worth it.

    Each list is the one that is expected to win most beside -Oz and the lists before it.

    Sources are compiled with -Oz -Xclang -disable-llvm-passes. With --try the result is never larger than that of
    -Oz, which always runs too.
    """
    if output is not None:
        _check_output(output, attempt)
    options = common.read_options(timeout, memory_limit, max_bytes, compiler, cflags)
    trained = _head(head)
    from mirenc.encoder import load
    from mirenc.suggesting import read_code, try_lists
    from mirenc.suggesting import suggest as suggest_lists

    encoder = load(trained.model if model is None else model, options=options)
    if not attempt:
        code = read_code(file, function=function, options=options, version=trained.llvm or None)
        _warn(code)
        _say(code, suggest_lists(trained, encoder, code, count), None, as_json)
        return
    from mirenc.passes.find import find_engine
    from mirenc.passes.process import DEFAULT_MEMORY_LIMIT, DEFAULT_TIMEOUT

    assert trained.space is not None
    lists = [str(pipeline) for (pipeline,) in trained.space.settings]
    memory = options.memory_limit or DEFAULT_MEMORY_LIMIT
    with find_engine(lists, prefer=trained.llvm, timeout=timeout or DEFAULT_TIMEOUT, memory_limit=memory) as engine:
        code = read_code(file, function=function, options=options, version=engine.version)
        _warn(code)
        found = suggest_lists(trained, encoder, code, count)
        _compare(found.llvm, engine.version)
        outcome = try_lists(engine, code.ir, [one.pipeline for one in found.lists], found.default)
    if output is not None:
        _write(outcome.ir, output)
    _say(code, found, outcome, as_json)


def _check_output(output: Path, attempt: bool) -> None:
    if not attempt:
        raise typer.BadParameter("only a trial has a module to write; add --try", param_hint="--output")
    if output.suffix not in _SUFFIXES:
        raise ConfigError(f"output {str(output)!r}: unknown suffix; available: {', '.join(_SUFFIXES)}")
    common.check_output(output)


def _head(folder: Path | None) -> TaskHead:
    """The head that was named, or the shipped one."""
    from mirenc.suggesting.lists import TASK
    from mirenc.tasks import get_task, load_task_head
    from mirenc.tasks.predict import ready_heads

    task = get_task(TASK)
    return load_task_head(ready_heads(task)[""] if folder is None else folder, task)


def _warn(code: Code) -> None:
    for remark in code.remarks:
        print(f"mirenc: warning: {code.name}: {remark}", file=sys.stderr)


def _compare(measured: str, runs: str) -> None:
    """Warn where lists run in another LLVM than the one whose sizes the head learned."""
    from mirenc.passes.find import major_of

    if measured and major_of(measured) != major_of(runs):
        print(
            f"mirenc: warning: promises are of LLVM {measured}, lists run in LLVM {runs}. Type: apt-get install "
            f"libllvm{major_of(measured)}",
            file=sys.stderr,
        )


def _write(bitcode: bytes, output: Path) -> None:
    from mirenc.ir.llvm import default_worker
    from mirenc.writing import Target

    data = bitcode
    if output.suffix == ".ll":
        data = default_worker().canonicalise(bitcode, bitcode=True).encode("utf-8", "surrogateescape")
    target = Target(output)
    target.part.write_bytes(data)
    target.deliver()


def _say(code: Code, found: Suggestion, outcome: Outcome | None, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(_line(code, found, outcome)))
    else:
        for line in [*_expectation(code, found), *(_commands(code, found) if outcome is None else ())]:
            typer.echo(line)
        if outcome is not None:
            for line in _result(code, found, outcome):
                typer.echo(line)
    if found.distance > 1:
        print(
            f"mirenc: warning: {code.name}: unlike what the head was trained on (distance {found.distance:.2f}, where "
            "1 is far)" + ("" if outcome else ". Try the lists before you rely on them: --try"),
            file=sys.stderr,
        )


def _line(code: Code, found: Suggestion, outcome: Outcome | None) -> dict[str, Any]:
    """Everything as JSON."""
    tried = outcome.tried if outcome is not None else (None,) * len(found.lists)
    lists = [
        {
            "pipeline": one.pipeline,
            "expected": one.expected,
            "held_out": one.usual,
            "command": code.command(one.pipeline),
            **({} if result is None else {"code_bytes": result.code_bytes, "problem": result.problem or None}),
        }
        for one, result in zip(found.lists, tried, strict=True)
    ]
    line: dict[str, Any] = {
        "input": code.name,
        "function": code.symbol or None,
        "nothing_to_gain": found.is_idle,
        "expected_gain": found.gain,
        "held_out_answers": None if found.trial is None else found.trial.answers,
        "held_out_below_half_a_percent": found.idle_share,
        "llvm": found.llvm or None,
        "distance": found.distance,
        "remarks": list(code.remarks),
        "prepare": code.preparation() or None,
        "lists": lists,
    }
    if outcome is None:
        return line
    winner = outcome.winner
    return line | {
        "engine": outcome.engine,
        "before": outcome.before,
        "oz": outcome.oz.code_bytes,
        "best": winner.code_bytes,
        "saved": outcome.saved,
        "best_list": outcome.best + 1,
        "best_command": code.command(winner.pipeline),
    }


def _expectation(code: Code, found: Suggestion) -> list[str]:
    """What is to be expected of trying the lists, in words."""
    place = f"{code.name}: {code.symbol}: " if code.symbol else f"{code.name}: "
    lists = f"{len(found.lists)} list{'s' if len(found.lists) > 1 else ''}"
    if found.trial is None:
        return [f"{place}{lists}; what trying them is worth was not measured: the head has too few held-out answers"]
    saved = 100 * (1 - 1 / found.trial.gain(len(found.lists)))
    below = 100 * found.trial.idle_share(len(found.lists))
    if found.is_idle:
        return [
            f"{place}nothing to gain here: trying {lists} is expected to save {saved:.2f} % over -Oz",
            f"  right for {below:.0f} % of {found.trial.answers} held-out answers like this (less than 0.5 % was won)",
        ]
    return [
        f"{place}trying {lists} is expected to save {saved:.1f} % over -Oz",
        f"  as on {found.trial.answers} held-out answers like this; on {below:.0f} % of them less than 0.5 % was won",
    ]


def _commands(code: Code, found: Suggestion) -> list[str]:
    """The lists, each with its command."""
    lines = [f"  first: {code.preparation()}"] if code.compiled_by else []
    for rank, one in enumerate(found.lists, 1):
        usual = "" if one.usual is None else f"; lists of this rank on held-out code like this: x {one.usual:.3f}"
        lines += [f"{rank:3}. size x {one.expected:.3f} expected{usual}", f"     {code.command(one.pipeline)}"]
    return lines


def _result(code: Code, found: Suggestion, outcome: Outcome) -> list[str]:
    """What trying them gave."""
    lines = [f"  {outcome.before:9,} bytes before any pass", f"  {outcome.oz.code_bytes:9,} bytes by -Oz"]
    for rank, (one, result) in enumerate(zip(found.lists, outcome.tried, strict=True), 1):
        size = f"{result.code_bytes:9,} bytes" if result.code_bytes is not None else f"   failed ({result.problem})"
        lines.append(f"  {size} by list {rank} (x {one.expected:.3f} expected)")
    assert outcome.oz.code_bytes is not None
    share = 100 * outcome.saved / max(outcome.oz.code_bytes, 1)
    what = f"list {outcome.best + 1}" if outcome.best >= 0 else "-Oz itself"
    lines.append(f"best: {what}, {outcome.saved:,} bytes less than -Oz ({share:.1f} %), by {outcome.engine}, verified")
    if outcome.best >= 0:
        lines += [f"  first: {code.preparation()}"] if code.compiled_by else []
        lines.append(f"  {code.command(outcome.winner.pipeline)}")
    return lines
