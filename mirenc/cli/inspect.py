"""``mirenc inspect``: what mirenc sees in one file."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated, Any

import typer

from mirenc.cli import common


def inspect(
    file: common.Input,
    statements: Annotated[
        int, typer.Option("--statements", "-n", help="Show this many statements; 0 all.", min=0)
    ] = 20,
    function: Annotated[str | None, typer.Option("--function", "-f", help="Only this function's statements.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of text.")] = False,
    model: common.Model = None,
    timeout: common.Timeout = None,
    memory_limit: common.MemoryLimit = None,
    max_bytes: common.MaxBytes = None,
    compiler: common.Compiler = None,
    cflags: common.CFlags = "",
) -> None:
    """Show statements, tokens, [UNK] and truncation rates, nodes and edges of one file."""
    options = common.read_options(timeout, memory_limit, max_bytes, compiler, cflags)
    from mirenc.errors import ConfigError
    from mirenc.graph import Flow, NodeKind, build_graph
    from mirenc.ir import read_ir, statements_of
    from mirenc.weights import load_files

    files = load_files(model)
    module = read_ir(file, options=options)
    tokenizer = files.tokenizer
    level = tokenizer.config.normalisation
    found = statements_of(module, level)
    graph = build_graph(module, normalisation=level)
    report = tokenizer.report([found.texts[row] for row in found.row])
    numbers = range(len(found))
    if function is not None:
        try:
            header = module.function(function).header
        except KeyError as error:
            raise ConfigError(str(error.args[0])) from None
        numbers = range(found.first_instruction + header.first, found.first_instruction + header.last)
    shown = list(numbers)[: statements or None]
    facts: dict[str, Any] = {
        "file": module.name,
        "source": module.source_name,
        "content_hash": module.content_hash,
        "model": files.name,
        "normalisation": level,
        "functions": len(module.headers),
        "defined": len(module.defined_functions),
        "blocks": module.block_count,
        "instructions": module.instruction_count,
        "statements": len(found),
        "distinct_statements": len(set(found.row.tolist())),
        "mean_tokens": round(report.mean_tokens, 2),
        "unk_rate": report.unk_rate,
        "truncation_rate": report.truncation_rate,
        "nodes": {kind.name.lower(): graph.kind_count(kind) for kind in NodeKind},
        "edges": {flow.name.lower(): graph.flow_count(flow) for flow in Flow},
        "opcodes": dict(Counter(module.forms[form].opcode for form in module.arrays.form).most_common(12)),
    }
    listing = [
        {
            "statement": found[number],
            "tokens": [tokenizer.vocab[token] for token in tokenizer.encode(found[number])],
        }
        for number in shown
    ]
    if as_json:
        typer.echo(json.dumps({**facts, "listing": listing}, indent=1))
        return
    for key, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {count}" for name, count in value.items())
        elif key.endswith("_rate"):
            value = f"{100 * value:.2f} %"
        typer.echo(f"{key.replace('_', ' '):20} {value}")
    typer.echo("")
    for number, entry in zip(shown, listing, strict=True):
        typer.echo(f"{number:6}  {entry['statement'][:160]}")
        typer.echo(f"        {' '.join(entry['tokens'])[:240]}")
    if len(shown) < len(numbers):
        typer.echo(f"... {len(numbers) - len(shown)} more; -n 0 shows all")
