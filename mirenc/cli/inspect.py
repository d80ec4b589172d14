"""``mirenc inspect``: the statements, tokens, graph and loops that mirenc reads in one file."""

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from mirenc.cli import common

if TYPE_CHECKING:
    from mirenc.llvm import IRModule

_NAMES = 12  # of deleted functions, in text
_STATEMENTS = "How many statements are shown; 0 for all."


@common.reads
def inspect(
    file: common.Input,
    statements: Annotated[int, Option("--statements", "-n", help=_STATEMENTS, min=0)] = 20,
    function: common.Function = None,
    form: Annotated[common.FormChoice, Option(help=f"{common.FORM_HELP} auto: plain.")] = "plain",
    loops: Annotated[bool, Option("--loops", help="List the loops instead of the statements.")] = False,
    as_json: common.JSON = False,
    model: common.Model = None,
    *,
    options: common.Reading,
) -> None:
    """Show what mirenc reads in one file: statements, tokens (and how many are unknown or cut off), graph sizes, loops.

    mirenc inspect foo.ll
    mirenc inspect foo.ll --loops
    """
    from mirenc.encoder.weights import load_files
    from mirenc.llvm import read_ir, regions_of, statements_of
    from mirenc.llvm.analysis.regions import has_function
    from mirenc.llvm.inputs.languages import language_of
    from mirenc.llvm.ir.read import in_form
    from mirenc.model.graph import Flow, NodeKind, build_graph

    files = load_files(model)
    original = read_ir(file, options=options)
    module = in_form(original, replace(options, form=common.chosen_form(form)))
    deleted = [] if module.deleted is None else [header.name for header in module.deleted.defined_functions]
    if function is not None and not has_function(module, function) and module.deleted is not None:
        module = module.deleted if has_function(module.deleted, function) else module
    tokenizer = files.tokenizer
    normalisation = tokenizer.config.normalisation
    stmts = statements_of(module, normalisation)
    graph = build_graph(module, normalisation=normalisation)
    common.warn_left_out(module.name, graph.call_edges_left_out)
    report = tokenizer.report([stmts.texts[row] for row in stmts.row])
    numbers = list(range(len(stmts)))
    if function is not None:
        numbers = (stmts.first_instruction + regions_of(module, "module", function=function).instruction).tolist()
    shown_numbers = numbers[: statements or None]
    facts: dict[str, Any] = {
        "file": module.name,
        "source": module.name if language_of(module.name) else module.source_name,
        "content_hash": module.content_hash,
        "model": files.name,
        "normalisation": normalisation,
        "form": module.form,
        **counts_of(module),
        **({} if module.form == "plain" else {"before": counts_of(original), "deleted": deleted}),
        "loops": len(regions_of(module, "loop")),
        "statements": len(stmts),
        "distinct_statements": len(set(stmts.row.tolist())),
        "mean_tokens": round(report.mean_tokens, 2),
        "unk_rate": report.unk_rate,
        "truncation_rate": report.truncation_rate,
        "nodes": {kind.name.lower(): graph.kind_count(kind) for kind in NodeKind},
        "edges": {flow.name.lower(): graph.flow_count(flow) for flow in Flow},
        "call_edges_left_out": graph.call_edges_left_out,
        "opcodes": dict(Counter(module.forms[form].opcode for form in module.arrays.form).most_common()),
    }
    if loops:
        facts["loop_list"] = loops_of(module, function)
    else:
        texts = [stmts[number] for number in shown_numbers]
        tokens = ([tokenizer.vocab[token] for token in tokenizer.encode(text)] for text in texts)
        facts["listing"] = [{"statement": text, "tokens": pieces} for text, pieces in zip(texts, tokens, strict=True)]
    if as_json:
        typer.echo(json.dumps(facts, indent=1))
        return
    for key, value in facts.items():
        if isinstance(value, list):
            continue
        if isinstance(value, dict):
            value = ", ".join(f"{name} {count}" for name, count in value.items())
        elif key.endswith("_rate"):
            value = f"{100 * value:.2f} %"
        typer.echo(f"{key.replace('_', ' '):20} {value}")
    if deleted:
        more_text = f", and {len(deleted) - _NAMES} more (--json has all)" if len(deleted) > _NAMES else ""
        typer.echo(f"{'deleted':20} {', '.join(deleted[:_NAMES])}{more_text}")
    typer.echo("")
    if loops:
        _show_loops(facts["loop_list"])
        return
    for number, entry in zip(shown_numbers, facts["listing"], strict=True):
        typer.echo(f"{number:6}  {entry['statement'][:160]}")
        typer.echo(f"        {' '.join(entry['tokens'])[:240]}")
    if len(shown_numbers) < len(numbers):
        typer.echo(f"... {len(numbers) - len(shown_numbers)} more; -n 0 shows all")


def loops_of(module: "IRModule", function: str | None) -> list[dict[str, Any]]:
    """Loops of a module, or of the functions that match; instructions of inner loops count in the outer, too."""
    from mirenc.llvm import regions_of

    loops = regions_of(module, "loop", function=function)
    sizes = Counter(loops.region.tolist())
    names = ("function", "symbol", "header", "depth", "instructions", "file", "line")
    return [
        {name: sizes[row] if name == "instructions" else getattr(region, name) for name in names}
        for row, region in enumerate(loops.regions)
    ]


def counts_of(module: "IRModule") -> dict[str, int]:
    """Functions of a module, those with a body, their blocks and instructions."""
    return {
        "functions": len(module.headers),
        "defined": len(module.defined_functions),
        "blocks": module.block_count,
        "instructions": module.instruction_count,
    }


def _show_loops(loops: list[dict[str, Any]]) -> None:
    symbol = None
    for loop in loops:
        if loop["symbol"] != symbol:  # names of overloaded functions are equal, their symbols are not
            symbol = loop["symbol"]
            typer.echo(loop["function"])
        place = f"{loop['file']}:{loop['line']}" if loop["file"] else ""
        header = "  " * loop["depth"] + loop["header"]
        typer.echo(f"{header:32} {loop['instructions']:6} instructions  {place}".rstrip())
