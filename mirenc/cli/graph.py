"""``mirenc graph``: the program graph of one file."""

import sys
from typing import Annotated, Literal

from typer import Option

from mirenc.cli import common

_OUTPUT = "File for the graph: .dot, .json or .npz. [default: JSON on stdout]"
_NORMALISATION = "locals: write % for every name of a local value, and leave out attributes. none: keep both."


@common.reads
def graph(
    file: common.Input,
    output: Annotated[str | None, Option("--output", "-o", help=_OUTPUT)] = None,
    normalisation: Annotated[Literal["none", "locals"], Option(help=_NORMALISATION)] = "locals",
    *,
    options: common.Reading,
) -> None:
    """Write the program graph (ProGraML's schema) of one file.

    mirenc graph foo.ll -o foo.dot
    mirenc graph foo.ll > foo.json
    """
    from mirenc.llvm import read_ir
    from mirenc.model.graph import build_graph
    from mirenc.model.graph.export import check_path, save_graph, to_json

    if output == "-":
        output = None
    if output is not None:
        check_path(output)
    program_graph = build_graph(read_ir(file, options=options), normalisation=normalisation)
    common.warn_left_out(file, program_graph.call_edges_left_out)
    if output is None:
        sys.stdout.write(to_json(program_graph) + "\n")
    else:
        save_graph(program_graph, output)
        print(f"{output}: {program_graph!r}", file=sys.stderr)
