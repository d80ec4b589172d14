"""``mirenc embed``: vectors of IR files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import BadParameter, Option

from mirenc.cli import common
from mirenc.cli.tables import terminal_width

if TYPE_CHECKING:
    from mirenc.encoder import Embedding

_OUTPUT = "File for the vectors: .npz, .npy, .jsonl, .csv or .parquet. [default: JSON lines, or a table on a terminal]"
_MAX_ROWS = 20  # rows of the table
_HEADER = ("file", "name", "stmts", "insts", "funcs", "length", "first numbers")
_PURPOSE = "Vectors for comparing and searching, or features for training."
_PART = "both: the whole vector. text, graph: only the part that comes from this encoder."
_BACKEND = "What runs the model. [default: numpy on the CPU, torch elsewhere]"
_COLUMN = "Read IR from this column. Every INPUT must then be a Parquet file."
_NAMES = "Needs --column: column that holds each row's name. [default: row numbers]"
_JOBS = "How many processes. [default: all cores if it takes over 0.5 s, else one]"
_RAY = "Embed Parquet on this Ray cluster: auto, local or HOST:PORT."


@common.reads
def embed(
    inputs: common.Inputs,
    output: Annotated[str | None, Option("--output", "-o", metavar="FILE", help=_OUTPUT)] = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON on a terminal, too.")] = False,
    level: common.Level = "module",
    function: common.Function = None,
    purpose: Annotated[Literal["search", "features"], Option(help=_PURPOSE)] = "search",
    part: Annotated[Literal["both", "text", "graph"], Option(help=_PART)] = "both",
    form: Annotated[
        common.FormChoice, Option(help=f"{common.FORM_AUTO_HELP} With --purpose features, auto is plain.")
    ] = "auto",
    whiten: Annotated[bool, Option(help="Subtract what the vectors of all code have in common.")] = True,
    hide_names: common.HideNames = False,
    model: common.SearchModel = None,
    whitening_map: common.Map = None,
    backend: Annotated[Literal["numpy", "torch"] | None, Option(help=_BACKEND)] = None,
    device: Annotated[str, Option(help="Where the model runs: cpu, cuda, cuda:1 ...")] = "cpu",
    cache: Annotated[bool, Option(help="Keep vectors in the user's cache folder.")] = True,
    column: Annotated[str | None, Option(metavar="NAME", help=_COLUMN)] = None,
    names: Annotated[str | None, Option(metavar="NAME", help=_NAMES)] = None,
    jobs: Annotated[int | None, Option("--jobs", "-j", min=1, help=_JOBS)] = None,
    ray: Annotated[str | None, Option(metavar="ADDRESS", help=_RAY)] = None,
    *,
    options: common.Reading,
) -> None:
    """Embed IR files and sources.

    Files that fail are listed on stderr; the others are delivered, and the exit code is 1. Files without a function
    body are left out; one line on stderr says how many.

    mirenc embed foo.ll
    mirenc embed src --level function -o functions.npz
    """
    from mirenc.encoder import load
    from mirenc.encoder.weights import DEFAULT_MODEL, search_model
    from mirenc.search import Maker, VectorWriter, check_vectors_output

    check_vectors_output(output)
    if column is None and (names, ray) != (None, None):
        raise BadParameter("give Parquet files, and the column with their IR", param_hint="--column")
    if ray is not None and Path(output or "").suffix != ".parquet":
        raise BadParameter("what a cluster makes is written as Parquet; give -o FILE.parquet", param_hint="--ray")
    if ray is not None and jobs is not None:
        raise BadParameter("a cluster has as many processes as it has cores; leave --jobs out", param_hint="--jobs")
    name = model or search_model(level, purpose)
    load_args: dict[str, Any] = {
        "name_or_dir": name,
        "device": device,
        "backend": backend,
        "cache": cache,
        "options": options,
        "hide_names": hide_names,
        "whitening_map": whitening_map,
    }
    encoder, form_name = load(**load_args), common.chosen_form(form)
    if model is None and name != DEFAULT_MODEL:
        common.say(f"using {name}, which is made for finding functions. For features, give --model {DEFAULT_MODEL}")
    if column is None:
        files: Any = common.expand(inputs, options)
        failures = common.Failures(len(files))
    else:
        from mirenc.llvm.sources.parquet import find_parquet, row_groups, row_inputs
        from mirenc.search.batches import embed_on_ray

        # A cluster's workers have working folders of their own.
        sources = [Path(path) if ray is None else Path(path).absolute() for path in inputs]
        groups = row_groups(path for source in sources for path in find_parquet(source))
        files = (row for group in groups for row in row_inputs(group, column, names))
        failures = common.Failures(sum(count for _, _, count in groups))
    show_table = output is None and not as_json and terminal_width() is not None
    rows: list[tuple[str, ...]] = []
    count = 0
    embed_options: Any = {"level": level, "purpose": purpose, "form": form_name, "function": function, "whiten": whiten}
    with VectorWriter(output, Maker.of(encoder, level, part, purpose, whiten, form_name)) as writer:
        if ray is not None and column is not None:
            for rows, errors in embed_on_ray(ray, groups, column, names, part=part, loading=load_args, **embed_options):
                for error in errors:
                    failures.add(error)
                writer.add_rows(rows)
        else:
            embed_options |= {"jobs": jobs, "progress": True}
            with closing(encoder.embed_stream(files, **embed_options)) as outcomes:
                for outcome in outcomes:
                    if (embedding := outcome.embedded(failures.add)) is not None:
                        common.warn_left_out(outcome.name, embedding.counts["call_edges_left_out"])
                        if not show_table:
                            writer.add(outcome.name, embedding)
                        elif len(rows) < _MAX_ROWS:
                            rows += _rows(outcome.name, embedding, part)
                        count += len(embedding.regions)
    if show_table and count:
        common.print_rows(rows[:_MAX_ROWS], "<<>>>>>", _HEADER)
        more_text = f"and {count - _MAX_ROWS} more. " if count > _MAX_ROWS else ""
        advice = "To save them, add -o vectors.npz; to print them, add --json"
        typer.echo(f"{more_text}The vectors are those of {encoder.name}. {advice}")
    common.say_written(output)
    failures.finish()


def _rows(file: str, embedding: Embedding, part: str) -> Iterator[tuple[str, ...]]:
    """A row of the table for each vector of a file."""
    module = embedding.level == "module"
    for region, sizes, vector in zip(embedding.regions, embedding.sizes, embedding.part(part), strict=True):
        name, functions = ("", f"{embedding.counts['defined']:,}") if module else (region.name, "")
        numbers = " ".join(f"{value:.2f}" for value in vector[:2])
        yield file, name, f"{sizes[0]:,}", f"{sizes[2]:,}", functions, f"{len(vector):,}", f"{numbers} ..."
