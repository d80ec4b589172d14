"""``mirenc compare``: how alike files are, or which functions of two files correspond."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer import Argument

from mirenc.base.errors import ConfigError
from mirenc.cli import common
from mirenc.cli.search_results import label, overloaded

if TYPE_CHECKING:
    from mirenc.encoder import Encoder
    from mirenc.llvm.inputs.input import Input
    from mirenc.llvm.passes.optimise import Form
    from mirenc.search import VectorTable

_FILES = "IR or source files, folders of either, or compile_commands.json."


@common.reads
def compare(
    files: Annotated[list[str], Argument(metavar="FILE FILE ...", help=_FILES)],
    level: common.Level = "module",
    as_json: common.JSON = False,
    model: common.SearchModel = None,
    whitening_map: common.Map = None,
    hide_names: common.HideNames = False,
    form: common.FormName = "auto",
    *,
    options: common.Reading,
) -> None:
    """Print how alike files are (the cosine of each pair), or which functions of two files correspond.

    With --level function or finer, each function of the first file is shown beside the most similar function of the
    second. The percentage beside a match says how often such matches were right in projects that the model was not
    trained on.

    mirenc compare foo.ll bar.ll
    mirenc compare foo.ll bar.ll --level function
    """
    inputs = common.expand(files, options)
    if len(inputs) < 2:
        raise typer.BadParameter(f"{len(inputs)} file to compare; give at least two", param_hint="FILE FILE ...")
    if level != "module" and len(inputs) > 2:
        raise typer.BadParameter(
            f"{len(inputs)} files; at level {level} two are compared. Use `mirenc search` for one in many",
            param_hint="FILE FILE ...",
        )
    from mirenc.base import cosines
    from mirenc.encoder import load
    from mirenc.encoder.weights import search_model
    from mirenc.llvm.inputs.input import Input
    from mirenc.llvm.ir.read import load_input
    from mirenc.search import index

    encoder = load(model or search_model(level), options=options, whitening_map=whitening_map, hide_names=hide_names)
    # Standard input can be read once, and the first file is asked twice.
    inputs = [Input(item.name, load_input(item, options).data) if item.value == "-" else item for item in inputs]
    failures = common.Failures(len(inputs) if len(inputs) > 2 else 1)  # of two, none can be missing
    chosen_form = common.chosen_form(form)
    table = index(encoder, inputs, level=level, form=chosen_form, failed=failures.add, progress=True)
    names = [source["file"] for source in table.sources]
    whole_files = level == "module"
    result: dict[str, Any]
    result = (
        {"cosines": cosines.compare(table.vectors).tolist()}
        if whole_files
        else {"matches": _matches(encoder, table, inputs[0], level)}
    )
    if as_json and names:
        header = {"model": encoder.name, "model_digest": table.maker.model_digest, "level": level}
        header["form"] = table.maker.form
        typer.echo(json.dumps({**header, "files": names, **result}))
    elif not whole_files:
        _print_matches(names, result["matches"], table)
    elif len(inputs) == 2:
        typer.echo(f"{result['cosines'][0][1]:.4f}")
    elif names:  # one row a file, numbered as the columns are
        numbered = enumerate(zip(names, result["cosines"], strict=True), start=1)
        rows = [[str(number), *(f"{value:.4f}" for value in row), file] for number, (file, row) in numbered]
        common.print_rows(rows, f">{'>' * len(names)}<", ["", *map(str, range(1, len(names) + 1)), ""])
    failures.finish()


def _matches(encoder: Encoder, table: VectorTable, file: Input, level: common.LevelName) -> list[dict[str, Any]]:
    """Nearest row of the second file for each of the first, and whether it is the nearest the other way round, too."""
    from mirenc.base.cosines import nearest
    from mirenc.search.confidence import shares_right
    from mirenc.search.self_match import matching_rows, own_first

    for source, facts in enumerate(table.sources):
        if source not in table.source_row:
            raise ConfigError(f"{facts['file']} has no {table.level}. Compare at another level (--level)")
    start = table.source_row.index(1)
    vectors_a, vectors_b = table.vectors[:start], table.vectors[start:]
    # Of equals those of one symbol are each other's.
    symbols = table.labels["symbol"]
    symbols_a, symbols_b = (dict(enumerate(symbols[part])) for part in (slice(start), slice(start, None)))
    rows_b, rows_a = matching_rows([*symbols_a.values()], symbols_b), matching_rows([*symbols_b.values()], symbols_a)
    nearest_b, cosines = own_first(nearest(vectors_a, vectors_b, 2), rows_b, vectors_a, vectors_b)
    nearest_a, _ = own_first(nearest(vectors_b, vectors_a, 1), rows_a, vectors_b, vectors_a)
    parts = encoder.embed_parts(file, level=level, form=cast("Form", table.maker.form))  # the cache has them
    instructions = parts.sizes[:, 2]
    shares = shares_right(encoder, table.maker, cosines, len(vectors_b), instructions, [*symbols_a.values()])
    matches = []
    for row, (best, cosine, share) in enumerate(zip(nearest_b[:, 0].tolist(), cosines[:, 0], shares, strict=True)):
        names = {"name": table.names[row], "symbol": symbols_a[row]}
        names |= {"nearest": table.names[start + best], "nearest_symbol": symbols_b[best]}
        figures = {"cosine": float(cosine), "right": share, "mutual": int(nearest_a[best, 0]) == row}
        matches.append({**names, **figures})
    return matches


def _print_matches(files: list[str], matches: list[dict[str, Any]], table: VectorTable) -> None:
    start, names = table.source_row.index(1), [*zip(table.names, table.labels["symbol"], strict=True)]
    first_overloaded, second_overloaded = (overloaded(part, table.level) for part in (names[:start], names[start:]))
    rows = []
    for match in matches:
        # An arrow back where each is the other's nearest: those are the safe pairs.
        arrow = "<->" if match["mutual"] else "->"
        name = label(match["name"], match["symbol"], first_overloaded)
        nearest = label(match["nearest"], match["nearest_symbol"], second_overloaded)
        rows.append([f"{match['cosine']:.4f}", common.percent(match["right"]), name, arrow, nearest])
    common.print_rows(rows, ">><><", ("cosine", "right", files[0], "", files[1]))
