"""``mirenc models``: list, show, verify, fetch, publish, evaluate and adapt models."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from mirenc.base.errors import ConfigError, ModelError, needs
from mirenc.cli import common

app = typer.Typer(help="List, show, verify, fetch, publish, evaluate and adapt models.", no_args_is_help=True)

Name = Annotated[str | None, Argument(help="Model name or folder, or ORG/NAME on a hub. [default: mirenc-fast]")]
_NAME = "Model on a hub. REVISION is a commit, tag or branch."
_IR = "Folder with .ll or .bc files; each folder directly below it is one project. With PROJECT/O0/x.ll and "
_IR += "PROJECT/O2/x.ll, finding functions across these levels is measured, too."
_PAIRS = "Treat files whose paths differ only in an optimisation level (O0/x.ll and O2/x.ll, x.O0.ll and x.O2.ll) as "
_PAIRS += "the same program. The map then suppresses differences that come from the level."


@app.command("list")
def list_() -> None:
    """List the installed models: name, dimensions, parameters, digest, and whitening maps that you fitted.

    mirenc models list
    """
    from mirenc.encoder.weights import DEFAULT_MODEL, list_maps, list_models, load_files

    for name in list_models(failed=common.warn):
        try:
            files = load_files(name)
        except ModelError as error:
            common.warn(error)
            continue
        config = files.config
        widths = [config.text.hidden, config.graph.width] + ([config.lexical.width] if config.lexical else [])
        mark = "  (default)" if name == DEFAULT_MODEL else ""
        size = f"{'+'.join(map(str, widths))} dimensions  {files.parameter_count:,} parameters"
        typer.echo(f"{name:16} {size}  {files.digest[:12]}{mark}")
        if maps := list_maps(name):
            typer.echo(f"{'':16} maps: {', '.join(maps)}")


@app.command()
def show(name: Name = None) -> None:
    """Print a model's card.

    mirenc models show
    mirenc models show mirenc-tiny
    """
    from mirenc.encoder.weights import find_model

    card = find_model(name) / "MODEL_CARD.md"
    if not card.is_file():
        raise ModelError(f"{card.parent}: has no MODEL_CARD.md. Ask whoever made the model for one")
    typer.echo(card.read_text(encoding="utf-8"))


@app.command()
def verify(name: Name = None) -> None:
    """Check a model's files against its SHA256SUMS, and its vectors against those of the release.

    mirenc models verify
    mirenc models verify mirenc-tiny
    """
    from mirenc.encoder.golden import check_golden
    from mirenc.encoder.weights import DEFAULT_MODEL, find_model, verify_files

    verified_files = verify_files(name)
    folder = find_model(name)
    title = Path(name or DEFAULT_MODEL).name
    typer.echo(f"{title}: {len(verified_files)} files as released")
    if (folder / "golden.json").is_file():
        worst = check_golden(folder)
        typer.echo(f"{title}: vectors of golden.json reproduced (largest difference: {worst:.1e} times their norm)")


@app.command()
def fetch(
    name: Annotated[str, Argument(metavar="ORG/NAME[@REVISION]", help=_NAME)],
) -> None:
    """Fetch a model from a hub into huggingface_hub's cache, check it, and print the name that pins it.

    Without a revision, the newest commit is taken. From then on, ORG/NAME stands for that commit on this machine.

    mirenc models fetch org/name
    mirenc models fetch org/name@v1
    """
    from mirenc.encoder.weights import load_files
    from mirenc.encoder.weights.hub import HubModel

    if (model := HubModel.parse(name)) is None:
        raise ConfigError(f"{name!r} is no model of a hub. Type ORG/NAME, or ORG/NAME@REVISION")
    files = load_files(folder := model.fetch())
    common.say(f"{files.name}, {files.parameter_count:,} parameters, is in {folder}. The name that pins it:")
    typer.echo(model.pinned(folder))


@app.command()
def publish(
    model: Annotated[str, Argument(metavar="MODEL", help="Model name or folder.")],
    repo: Annotated[str, Argument(metavar="ORG/NAME", help="What it is to be called on the hub.")],
    dry_run: Annotated[bool, Option("--dry-run", help="Write what would be uploaded, and leave it at that.")] = False,
    output: Annotated[Path, Option("--output", "-o", help="New folder for what is uploaded.")] = Path("upload"),
    licence: Annotated[str, Option("--license", help="A licence, as the hub calls it, such as mit.")] = "",
) -> None:
    """Upload a model to a hub, with its card and metadata. What is uploaded is public; look at it with --dry-run.

    mirenc models publish mirenc-tiny org/tiny --dry-run
    mirenc models publish mirenc-tiny org/tiny --dry-run --license apache-2.0 -o tiny
    """
    from mirenc.encoder.weights.publish import upload, write_upload

    names = write_upload(model, repo, output, licence)
    common.say(f"wrote {output}: {', '.join(names)}{'' if licence else '. It states no licence (--license)'}")
    typer.echo(f"hf upload {repo} {output}" if dry_run else f"{repo}@{upload(output, repo)}")


@app.command()
@common.reads_ir
def evaluate(
    model: Annotated[str, Argument(metavar="MODEL", help="Model name or folder.")],
    ir: Annotated[Path, Option("--ir", help=_IR, exists=True, file_okay=False)],
    as_json: common.JSON = False,
    *,
    options: common.Reading,
) -> None:
    """Measure on IR how well a model does its training tasks and how well it finds functions, beside baselines.

    mirenc models evaluate mirenc-tiny --ir builds
    mirenc models evaluate mirenc-tiny --ir builds --json
    """
    with needs("train", "evaluating a model needs more packages"):
        from mirenc.pretrain.evaluation import evaluate_folder
    figures, problems = evaluate_folder(model, ir, options=options)
    if as_json:
        typer.echo(json.dumps(figures, indent=1, allow_nan=False))
    else:
        _show_figures(figures)
    common.Failures(figures["files"], problems).finish()


def _show_figures(figures: dict[str, Any]) -> None:
    from rich.table import Table

    from mirenc.pretrain.evaluation import figure_rows

    data = figures["data"]
    title = f"{figures['model']}: {data['modules']:,} modules of {len(data['projects'])} projects"
    table = Table("Figure", "Model", "Baselines", title=title, title_justify="left")
    for row in figure_rows(figures):
        table.add_row(*row)
    common.print_table(table)
    fitted_here = figures["baselines"].endswith("this folder")
    note = ", as the model has none. They know these statements, so their figures are too good" if fitted_here else ""
    size = f"{data['statements']:,} statements, {data['distinct_statements']:,} of them distinct"
    typer.echo(f"{size}. Baselines {figures['baselines']}{note}.")


@app.command()
@common.reads
def adapt(
    inputs: common.Inputs,
    name: Annotated[str, Option("--name", "-n", help="Name for the map.")],
    model: common.SearchModel = None,
    pairs: Annotated[bool, Option("--pairs", help=_PAIRS)] = False,
    level: Annotated[Literal["module", "function"], Option("--level", "-l", help="What will be searched.")] = "module",
    hide_names: common.HideNames = False,
    *,
    options: common.Reading,
) -> None:
    """Fit a whitening map, a correction of vectors for search, to your kind of code; --map NAME then uses it.

    A map removes what all code of the kind has in common, so that cosines tell programs apart. A few hundred unlabelled
    programs are enough. Files that fail are listed on stderr and left out.

    mirenc models adapt code --name mine
    mirenc models adapt code --name mine --pairs
    """
    from mirenc.encoder import load
    from mirenc.encoder.domain_map import fit_map
    from mirenc.encoder.weights import map_path, save_map, search_model

    encoder = load(model or search_model(level), options=options, hide_names=hide_names)
    map_path(encoder.name, name)  # a name that cannot be one is told before the work
    files = common.expand(inputs, options)
    failures = common.Failures(len(files))
    result = fit_map(encoder, files, pairs="levels" if pairs else None, level=level, failed=failures.add, progress=True)
    path, facts = save_map(result, name), result.facts
    pairs_text = f", {facts['pairs']} pairs" if pairs else ""
    typer.echo(f"map {name!r} of {facts['rows']} {level}s in {facts['files']} files{pairs_text}: {path}")
    failures.finish()
