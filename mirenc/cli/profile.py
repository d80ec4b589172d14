"""``mirenc profile``: how often code runs, predicted or counted, by branch and loop, or as ``!prof`` in its IR."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from mirenc.base.errors import IRFileError, TaskError
from mirenc.base.writing import delivered
from mirenc.cli import common
from mirenc.cli.review import Finding, write_findings

if TYPE_CHECKING:
    from mirenc.llvm import IRModule
    from mirenc.llvm.inputs.file_kind import InputBytes
    from mirenc.llvm.inputs.input import Input
    from mirenc.tools.profile import Counters, LineSamples, Prediction

TITLES = {
    "branch_probability": "where a branch goes",
    "trip_count": "how often a loop's head runs each time the loop is entered",
}
_INPUTS = "IR or sources, folders of either, compile_commands.json, or - for stdin."
_COUNTS = "Counts of a program built with -fprofile-generate, in text form (`llvm-profdata merge -text`), or samples "
_COUNTS += "by source line (`llvm-profdata merge --sample -text`)."
_OUTPUT = "Write the IR of one file with !prof (.ll), or the answers as LLVM's remarks (.opt.yaml) or SARIF (.sarif). "
_OUTPUT += "Can be repeated."


_Answers = Iterator[tuple[dict[str, Any], str]]  # each as a row of --json without its input, and in words


@common.reads
def profile(
    inputs: Annotated[list[str] | None, Argument(metavar="INPUT...", help=_INPUTS)] = None,
    counts: Annotated[Path | None, Option(metavar="PROFILE", help=_COUNTS)] = None,
    output: Annotated[list[Path] | None, Option("--output", "-o", metavar="FILE", help=_OUTPUT)] = None,
    function: Annotated[str | None, Option(help="Answer for this function only.")] = None,
    head: Annotated[Path | None, Option(help="Folder of a profile head. [default: the shipped one]")] = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON, one line for each answer.")] = False,
    *,
    options: common.Reading,
) -> None:
    """Predict which way branches go and how often loops run, or read it from the counts of a run (--counts).

    Counts that are sampled, incomplete or from another version of the code are completed and corrected. Functions
    without counts are predicted. Weights that branches already have (!prof) are kept. Branches that repeat or leave a
    loop get no predicted weights, because such weights made code slower.

    mirenc profile foo.ll
    mirenc profile foo.ll -o foo.prof.ll
    """
    from mirenc.llvm.analysis.regions import is_called
    from mirenc.llvm.ir.read import load_input, module_of
    from mirenc.tools.profile import StaticProfile, read_profile
    from mirenc.tools.profile.static_profile import FRONT_END

    for path in output or ():
        if path.suffix not in (".yaml", ".sarif", ".ll"):
            raise typer.BadParameter(f"{path}: unknown suffix; available: .ll, .yaml, .sarif", param_hint="--output")
        common.check_output(path)
    if not inputs:
        raise typer.BadParameter("give the files to answer for, as in kernel.ll", param_hint="INPUT")
    options = replace(options, dialect=FRONT_END)
    files = common.expand(inputs, options)
    ir_outputs = [path for path in output or () if path.suffix == ".ll"]
    if ir_outputs and len(files) != 1:
        raise TaskError(f"-o {ir_outputs[0]} writes the IR of one file, but {len(files)} are given. Give one INPUT")
    static_profile = StaticProfile.load() if head is None else StaticProfile.load(head)
    run = None if counts is None else read_profile(counts)
    findings: list[Finding] = []

    def answer(file: Input) -> None:
        source = load_input(file, options)
        if (ir_outputs or run is not None) and source.kind != "text":
            problem = "weights can be written only into" if ir_outputs else "counts need"
            advice = f"Type: llvm-dis {file.name}, and give the file that it writes"
            raise IRFileError(f"{file.name}: {problem} IR in text form. {advice}")
        module = module_of(source, options)
        prediction = static_profile.predict(module)
        text, summary = _with_profile(source, module, prediction, run) if ir_outputs or run is not None else ("", "")
        if run is not None and not ir_outputs:
            common.say(f"{file.name}: {summary}")
        if run is not None:
            module = module_of(replace(source, data=text.encode("utf-8", "surrogateescape")), options)
        prediction = prediction.counted(module)
        names = ((f.header.name.strip('"'), f.name) for f in module.defined_functions)
        if function is not None and len(files) == 1 and not any(is_called(function, *each) for each in names):
            raise TaskError(f"{file.name}: no function {function!r} with a body. Give another --function")
        for row, words in (*_branch_answers(module, prediction), *_loop_answers(module, prediction)):
            if function is not None and not is_called(function, row["symbol"], row["function"]):
                continue
            place = row["file"] or file.name
            findings.append(Finding(row["task"], row["symbol"], place, row["line"], [("String", words)]))
            if as_json:
                typer.echo(json.dumps({"input": file.name, **row}))
            elif not ir_outputs:
                place += f":{row['line']}" if row["file"] else ""
                typer.echo(f"{place}: {row['function']}:{row['block']}: {words}")
        for path in ir_outputs:
            with delivered(path) as part:
                part.write_bytes(text.encode("utf-8", "surrogateescape"))
            common.say(f"{path}: {summary}")

    failures = common.Failures(len(files))
    try:
        for _ in failures.results("profiling", files, answer):
            pass
        failures.finish()
    finally:  # what was found before a file failed is written all the same
        for path in output or ():
            if path not in ir_outputs:
                write_findings(path, TITLES, findings)
        for task in dict.fromkeys(finding.name for finding in findings):
            if run is None and task in static_profile.worth:
                common.say(f"{task}: {static_profile.worth[task]}")


def _with_profile(
    source: InputBytes, module: IRModule, prediction: Prediction, run: Counters | LineSamples | None
) -> tuple[str, str]:
    """The IR's text with ``!prof``, and in words where it got it."""
    from mirenc.tools.profile import LineSamples, counted_weights, predicted_weights, with_profile
    from mirenc.tools.profile.loops import of_loops

    original, is_loop = source.data.decode("utf-8", "surrogateescape"), of_loops(module, prediction.block)
    weights = dict(predicted_weights(prediction.block[~is_loop], prediction.first_probability[~is_loop]))
    entries, summary = {}, ""
    if run is not None:
        shares = prediction.shares(module)
        counts = run.counts(module, shares) if isinstance(run, LineSamples) else run.counts(module, source.data, shares)
        is_known = counts.flow.known
        weights = {block: block_weights for block, block_weights in weights.items() if not is_known[block]}
        weights |= counted_weights(module, counts.flow)
        functions = [function for function in module.defined_functions if is_known[function.header.first_block]]
        entries = {function.index: round(counts.flow.blocks[function.header.first_block]) for function in functions}
        stale_text = f" ({counts.stale} in the profile with other code)" if counts.stale else ""
        summary = f"{counts.matched} of {len(module.defined_functions)} functions have counts{stale_text}: "
        summary += f"{counts.counted} blocks counted, {counts.inferred} inferred; "
    text, count = with_profile(original, module, weights, entries)
    unweighted = sum(int(block) not in weights for block in prediction.block[is_loop])
    ending = f", {unweighted} that repeat or leave a loop get none" if run is None or unweighted else ""
    return text, f"{summary}{count} branches have weights now, {len(weights) - count} had some{ending}"


def _branch_answers(module: IRModule, prediction: Prediction) -> _Answers:
    from mirenc.llvm.analysis.regions import block_name
    from mirenc.llvm.ir.source_places import Places

    places, arrays = Places(module), module.arrays
    functions = {
        block: f for f in module.defined_functions for block in range(f.header.first_block, f.header.last_block)
    }
    for block, first in zip(prediction.block.tolist(), prediction.first_probability.tolist(), strict=True):
        function, row = functions[block], int(arrays.block_start[block + 1]) - 1
        successors = arrays.successor[slice(*arrays.successor_start[block : block + 2])].tolist()
        shares = {block_name(module, way): share for way, share in zip(successors, (first, 1 - first), strict=True)}
        lines = [places.of_block(way)[1] for way in successors]
        text = ", ".join(
            f"{name}{f' (line {line})' if line else ''}: {100 * share:.3g} %"
            for (name, share), line in zip(shares.items(), lines, strict=True)
        )
        file, line = places.of_instruction(row)
        place: dict[str, Any] = {"file": file, "function": function.display_name, "symbol": function.name}
        place |= {"block": block_name(module, block), "line": line}
        yield {"task": "branch_probability", **place, "ways": shares}, text


def _loop_answers(module: IRModule, prediction: Prediction) -> _Answers:
    from mirenc.llvm import regions_of
    from mirenc.llvm.analysis.trip_counts import estimated_trip_counts
    from mirenc.tools.profile import TRIP_CLASSES
    from mirenc.tools.profile.loops import mean_executions

    estimates, means = estimated_trip_counts(module), mean_executions(module).tolist()
    for row, loop in enumerate(regions_of(module, "loop").regions):
        constant = int(prediction.constant_count[row])
        shares = dict(zip(TRIP_CLASSES, prediction.class_probabilities[row].tolist(), strict=True))
        sorted_shares = sorted(shares.items(), key=lambda item: -item[1])
        likely = ", ".join(f"{name}: {100 * share:.0f} %" for name, share in sorted_shares if share >= 0.05)
        trip_count: float
        trip_count, source = (constant, "constants") if constant else estimates[row]
        if not trip_count and means[row]:
            trip_count, source = float(f"{means[row]:.4g}"), "counts, on average"
        text = f"runs {f'{trip_count:g} times, by its {source}' if trip_count else likely}"
        place = {"file": loop.file, "function": loop.function, "symbol": loop.symbol}
        facts = {"chances": shares, "constant": constant, "known": trip_count, "source": source}
        yield {"task": "trip_count", **place, "block": loop.header, "line": loop.line, **facts}, text
