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
    paths = common.expand(files, options)
    if len(paths) < 2:
        raise typer.BadParameter(f"{len(paths)} file to compare; give at least two", param_hint="FILE FILE ...")
    if level != "module" and len(paths) > 2:
        raise typer.BadParameter(
            f"{len(paths)} files; at level {level} two are compared. Use `mirenc search` for one in many",
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
    paths = [Input(one.name, load_input(one, options).data) if one.value == "-" else one for one in paths]
    failures = common.Failures(len(paths) if len(paths) > 2 else 1)  # of two, none can be missing
    chosen = common.chosen_form(form)
    table = index(encoder, paths, level=level, form=chosen, failed=failures.add, progress=True)
    names = [source["file"] for source in table.sources]
    module = level == "module"
    result: dict[str, Any]
    result = (
        {"cosines": cosines.compare(table.vectors).tolist()}
        if module
        else {"matches": _matches(encoder, table, paths[0], level)}
    )
    if as_json and names:
        head = {"model": encoder.name, "model_digest": table.maker.model_digest, "level": level}
        head["form"] = table.maker.form
        typer.echo(json.dumps({**head, "files": names, **result}))
    elif not module:
        _print_matches(names, result["matches"], table)
    elif len(paths) == 2:
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
    first, second = table.vectors[:start], table.vectors[start:]
    # Of equals those of one symbol are each other's.
    symbols = table.labels["symbol"]
    ours, theirs = (dict(enumerate(symbols[part])) for part in (slice(start), slice(start, None)))
    same_symbol, same_back = matching_rows([*ours.values()], theirs), matching_rows([*theirs.values()], ours)
    there, cosines = own_first(nearest(first, second, 2), same_symbol, first, second)
    back, _ = own_first(nearest(second, first, 1), same_back, second, first)
    parts = encoder.embed_parts(file, level=level, form=cast("Form", table.maker.form))  # the cache has them
    instructions = parts.sizes[:, 2]
    right = shares_right(encoder, table.maker, cosines, len(second), instructions, [*ours.values()])
    matches = []
    for row, (best, cosine, share) in enumerate(zip(there[:, 0].tolist(), cosines[:, 0], right, strict=True)):
        names = {"name": table.names[row], "symbol": ours[row]}
        names |= {"nearest": table.names[start + best], "nearest_symbol": theirs[best]}
        figures = {"cosine": float(cosine), "right": share, "mutual": int(back[best, 0]) == row}
        matches.append({**names, **figures})
    return matches


def _print_matches(files: list[str], matches: list[dict[str, Any]], table: VectorTable) -> None:
    start, named = table.source_row.index(1), [*zip(table.names, table.labels["symbol"], strict=True)]
    ours, theirs = (overloaded(part, table.level) for part in (named[:start], named[start:]))
    rows = []
    for match in matches:
        # An arrow back where each is the other's nearest: those are the safe pairs.
        arrow = "<->" if match["mutual"] else "->"
        name = label(match["name"], match["symbol"], ours)
        nearest = label(match["nearest"], match["nearest_symbol"], theirs)
        rows.append([f"{match['cosine']:.4f}", common.percent(match["right"]), name, arrow, nearest])
    common.print_rows(rows, ">><><", ("cosine", "right", files[0], "", files[1]))
