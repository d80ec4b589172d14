"""``mirenc suggest``: pass lists that may make one's own code smaller than -Oz does, and a trial of them."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from mirenc.base.errors import ConfigError, ForeignIRError, ToolchainError
from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.llvm.passes.size_after_passes import Engine
    from mirenc.tools.inline import Inlining
    from mirenc.tools.suggest import Code, FixedList, Outcome

_SUFFIXES = (".bc", ".ll", ".o")
_OUTPUT = "With --try: write the smallest module as bitcode (.bc), text (.ll) or an object file (.o)."
_COUNT = "How many learned pass lists to take; six lists made by hand always follow."
_BUDGET = "With --inline: total number of compilations. [default: 20 more than -Oz and the lists need]"
_INLINING = 20  # compilations for inlining, beside those for lists
_HEAD = "Folder of a head (`mirenc fit pass_list`). [default: the shipped one]"
_INLINE = "With --try: then try other inlining decisions with the best list."


@common.reads
def suggest(
    file: Annotated[str, Argument(metavar="INPUT", help="C, C++, or IR on which no pass has run; - is IR on stdin.")],
    count: Annotated[int, Option("--lists", "-k", help=_COUNT, min=1)] = 10,
    function: Annotated[str | None, Option(help="Extract this function and compile it alone.")] = None,
    head: Annotated[Path | None, Option(help=_HEAD)] = None,
    attempt: Annotated[bool, Option("--try", help="Run the lists and -Oz, and keep the smallest.")] = False,
    inline: Annotated[bool, Option("--inline", help=_INLINE)] = False,
    budget: Annotated[int | None, Option(help=_BUDGET, min=1)] = None,
    output: Annotated[Path | None, Option("--output", "-o", help=_OUTPUT)] = None,
    as_json: common.JSON = False,
    *,
    options: common.Reading,
) -> None:
    """List pass lists that may make code smaller than -Oz does, in the order in which to try them; --try runs them.

    The lists are the same for all code, because choosing them for each piece of code saved no more. The first lists
    were found by compiling many functions. Each of them makes some code smaller than -Oz and all lists before it do.
    Then come six lists that people try by hand: -Os, -Oz twice, -Oz with gvn-hoist, with gvn-sink, with both,
    and -Oz without inlining.

    Sources are compiled with -Oz -Xclang -disable-llvm-passes. --try compares the sizes of the object files, that is,
    all bytes that are loaded (code, data, unwind tables). It tries -Oz, too, so the result is never larger than that.

    --inline tries to change which calls LLVM inlines, and keeps the changes that make the object smaller. Calls that
    LLVM cannot inline stay calls.

    LLVM's verifier checks that each result is well-formed IR. Run your own tests to see that the program still behaves
    as before.

    mirenc suggest foo.c
    mirenc suggest foo.c --try -o foo.o
    """
    if (inline or budget is not None) and not (attempt and inline):
        raise typer.BadParameter("--inline needs --try" if inline else "--budget needs --try --inline")
    if output is not None:
        if not attempt:
            raise typer.BadParameter("-o needs --try")
        if output.suffix not in _SUFFIXES:
            raise ConfigError(f"output {str(output)!r}: unknown suffix; available: {', '.join(_SUFFIXES)}. Name a file")
        common.check_output(output)
    from mirenc.decide.registry import get_task
    from mirenc.decide.task_head import TaskHead, ready_heads
    from mirenc.llvm.passes.find_llvm import SharedEngine, find_engine, major_of
    from mirenc.llvm.passes.pass_lists import level
    from mirenc.llvm.passes.size_after_passes import CHECKED
    from mirenc.tools.inline import try_inlining
    from mirenc.tools.suggest import TASK, fixed_lists, read_code, try_lists

    task = get_task(TASK)
    task_head = TaskHead.load(ready_heads(task)[""] if head is None else head, task)
    lists = fixed_lists(task_head, count)
    pipelines = [row.pipeline for row in lists]
    with contextlib.ExitStack() as stack:
        engine, outcome, inlining, version = None, None, None, task_head.llvm
        if attempt:
            limits: dict[str, Any] = {"timeout": options.timeout, "memory_limit": options.memory_limit}
            try:
                engine = find_engine(pipelines, prefer=task_head.llvm, **limits)
            except ToolchainError as error:
                command = f"mirenc suggest {shlex.quote(file)}"
                raise ToolchainError(f"{error}. To print the lists without running them, type: {command}") from None
            version = stack.enter_context(engine).version
        code = read_code(file, function=function, options=options, version=version or None)
        for remark in code.remarks:
            common.warn(f"{code.name}: {remark}")
        if engine is not None:
            if task_head.llvm and major_of(task_head.llvm) != major_of(version):
                common.warn(
                    f"the lists were found with LLVM {task_head.llvm} and run in LLVM {version}. "
                    f"Type: apt-get install libllvm{major_of(task_head.llvm)}"
                )
            with common.progress("compiling", None):
                outcome = try_lists(engine, code.ir, pipelines, level("Oz"))
            if inline:
                assert isinstance(engine, SharedEngine)  # no other knows -Oz
                builds = _INLINING if budget is None else max(0, budget - 1 - len(lists))
                try:
                    with common.progress("inlining", None):
                        inlining = try_inlining(engine, code.ir, outcome.winner.pipeline, builds)
                except ForeignIRError as error:  # the lists stand
                    common.warn(f"{code.name}: no other inlining was tried: {error}")
            if output is not None:
                _write(engine, outcome.ir if inlining is None else inlining.after.ir, output)
    if as_json:
        typer.echo(json.dumps(_json(code, lists, outcome, inlining)))
        return
    place = f"{code.name}: {code.symbol}" if code.symbol else code.name
    typer.echo(f"{place}: {len(lists)} pass lists, the same for all code: found by training, or often tried by people")
    first_lines = [f"  first: {code.preparation()}"] if code.compiled_by else []
    if outcome is not None:
        lines = [*_result_lines(code, lists, outcome, first_lines), *_decisions(inlining), f"{CHECKED}: run its tests"]
    else:
        entries = ((f"{number:3}. {row.origin}", row) for number, row in enumerate(lists, 1))
        lines = first_lines + [line for title, row in entries for line in (title, f"     {code.command(row.pipeline)}")]
    for line in lines:
        typer.echo(line)


def _write(engine: Engine, bitcode: bytes, output: Path) -> None:
    from mirenc.base.writing import delivered

    if output.suffix == ".ll":
        bitcode = engine.text(bitcode).encode()
    elif output.suffix == ".o":
        bitcode = engine.compile(bitcode, "")
    with delivered(output) as part:
        part.write_bytes(bitcode)


def _json(code: Code, lists: Sequence[FixedList], outcome: Outcome | None, inlining: Inlining | None) -> dict[str, Any]:
    from mirenc.llvm.passes.size_after_passes import CHECKED

    rows = [{"pipeline": row.pipeline, "origin": row.origin, "command": code.command(row.pipeline)} for row in lists]
    line: dict[str, Any] = {
        "input": code.name,
        "function": code.symbol or None,
        "remarks": list(code.remarks),
        "prepare": code.preparation() or None,
        "lists": rows,
    }
    if outcome is None:
        return line
    for row, result in zip(line["lists"], outcome.tried, strict=True):
        row |= {"bytes": result.loaded_bytes, "problem": result.problem or None}
    if inlining is not None:
        line["inlined"] = [{**call._asdict(), "inline": inline} for call, inline in inlining.decisions]
        line |= {"inlined_best": inlining.after.loaded_bytes, "inlining_compilations": len(inlining.history) - 1}
    return line | {
        "engine": outcome.engine,
        "before": outcome.before,
        "oz": outcome.oz.loaded_bytes,
        "best": outcome.winner.loaded_bytes,
        "saved": outcome.saved,
        "best_list": outcome.best + 1,
        "best_command": code.command(outcome.winner.pipeline),
        "checked": CHECKED,
    }


def _result_lines(code: Code, lists: Sequence[FixedList], outcome: Outcome, first_lines: list[str]) -> list[str]:
    lines = [f"  {outcome.before:9,} loaded bytes (code, data, tables for unwinding) before any pass"]
    lines.append(f"  {outcome.oz.loaded_bytes:9,} by -Oz")
    for number, (candidate, result) in enumerate(zip(lists, outcome.tried, strict=True), 1):
        size = f"{result.loaded_bytes:9,}" if result.loaded_bytes is not None else f"   failed ({result.problem})"
        lines.append(f"  {size} by list {number} ({candidate.origin})")
    assert outcome.oz.loaded_bytes is not None
    share = 100 * outcome.saved / max(outcome.oz.loaded_bytes, 1)
    if outcome.best < 0:
        return [*lines, f"Nothing was smaller than -Oz ({outcome.oz.loaded_bytes:,} bytes), by {outcome.engine}"]
    line = f"best: list {outcome.best + 1}, {outcome.saved:,} bytes less than -Oz ({share:.1f} %), by {outcome.engine}"
    return [*lines, line, *first_lines, f"  {code.command(outcome.winner.pipeline)}"]


def _decisions(inlining: Inlining | None) -> list[str]:
    if inlining is None:
        return []
    old, new, builds = inlining.before.loaded_bytes, inlining.after.loaded_bytes, len(inlining.history) - 1
    if not inlining.decisions:
        return [f"inlining: {builds} compilations with other decisions found nothing smaller"]
    share = 100 * inlining.saved / old
    lines = [f"inlining: {new:,} bytes, {inlining.saved:,} less ({share:.1f} %), in {builds} compilations"]
    for call, inline in inlining.decisions:
        lines.append(f"  {'inline' if inline else 'keep'} call {call.number + 1} of {call.callee} in {call.caller}")
    return lines
