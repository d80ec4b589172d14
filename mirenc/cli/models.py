"""``mirenc models``: list, show, verify, evaluate and adapt models."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from mirenc.cli import common
from mirenc.errors import ConfigError, IRParseError, MirencError, ModelError, needs

if TYPE_CHECKING:
    from mirenc.ir import ReadOptions

_LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
_SEED = 7

app = typer.Typer(help="List, show, verify, evaluate and adapt models.", no_args_is_help=True)

Name = Annotated[str | None, Argument(help="Model name or folder. [default: the packaged default]")]


@app.command("list")
def list_() -> None:
    """Models at hand, those that other packages announce included: name, dimensions, parameters, digest, your maps."""
    from mirenc.weights import DEFAULT_MODEL, list_maps, list_models, load_files

    for name in list_models(failed=common.warn):
        try:
            files = load_files(name)
        except ModelError as error:
            common.warn(error)
            continue
        config = files.config
        widths = [config.text.hidden, config.graph.width] + ([config.lexical.width] if config.lexical else [])
        mark = "  (default)" if name == DEFAULT_MODEL else ""
        typer.echo(
            f"{name:16} {'+'.join(map(str, widths))} dimensions  {files.parameter_count:,} parameters  "
            f"{files.digest[:12]}{mark}"
        )
        if maps := list_maps(name):
            typer.echo(f"{'':16} maps: {', '.join(maps)}")


@app.command()
def show(name: Name = None) -> None:
    """The model card."""
    from mirenc.weights import find_model

    card = find_model(name) / "MODEL_CARD.md"
    if not card.is_file():
        raise ModelError(f"{card.parent}: has no MODEL_CARD.md. Ask whoever made the model for one")
    typer.echo(card.read_text(encoding="utf-8"))


@app.command()
def verify(name: Name = None) -> None:
    """Compare files with SHA256SUMS, and the model's answers with its golden vectors."""
    from mirenc.golden import check_golden
    from mirenc.weights import DEFAULT_MODEL, find_model, verify_files

    checked = verify_files(name)
    folder = find_model(name)
    title = Path(name or DEFAULT_MODEL).name
    typer.echo(f"{title}: {len(checked)} files as released")
    if (folder / "golden.json").is_file():
        worst = check_golden(folder)
        typer.echo(f"{title}: golden vectors reproduced (largest difference {worst:.1e} of their length)")


@app.command()
@common.reads_ir
def evaluate(
    model: Annotated[str, Argument(metavar="MODEL", help="Model name or folder.", show_default=False)],
    ir: Annotated[
        Path,
        Option(
            "--ir",
            help="Folder with .ll or .bc files; its first folders are the projects. PROJECT/O0/x.ll beside "
            "PROJECT/O2/x.ll also gives function retrieval.",
            exists=True,
            file_okay=False,
        ),
    ],
    as_json: common.JSON = False,
    limit: Annotated[int | None, Option(help="Draw programs with at most this many files.", min=2)] = None,
    *,
    options: common.Reading,
) -> None:
    """Measure a model on a folder of IR: MLM, GAE, matching, function retrieval, each beside its baselines."""
    from mirenc.weights import find_model

    find_model(model)  # a mistyped name is told before anything is read
    files = choose_files(ir, limit)
    figures, problems = _evaluated(model, ir, files, options)
    if as_json:
        typer.echo(json.dumps(figures, indent=1, allow_nan=False))
    else:
        _show_figures(figures)
    common.Failures(len(files), problems).finish()


def choose_files(root: Path, limit: int | None) -> list[Path]:
    """IR files below a folder; of more than ``limit`` whole programs are drawn, with all their levels.

    Raises IRFileError: no IR; ConfigError: one file only.
    """
    import numpy as np

    from mirenc.ir.files import find_inputs, folder_error

    files = find_inputs(root)
    if not files:
        raise folder_error(str(root))
    if len(files) == 1:
        raise ConfigError(
            f"{root}: one IR file only, and matching needs graphs of at least two. Give a folder with more files"
        )
    if limit is None or len(files) <= limit:
        return files
    named: dict[tuple[str, ...], list[Path]] = {}
    for path in files:
        parts = path.relative_to(root).parts
        named.setdefault(tuple(part for part in parts if part not in _LEVELS), []).append(path)
    programs = [named[name] for name in sorted(named)]
    chosen: list[Path] = []
    for number in np.random.default_rng(_SEED).permutation(len(programs)):
        if chosen and len(chosen) + len(programs[number]) > limit:
            break
        chosen += programs[number]
    return sorted(chosen)


def _evaluated(
    model: str, root: Path, files: Sequence[Path], options: ReadOptions
) -> tuple[dict[str, Any], list[MirencError]]:
    """Figures of a model on some IR files, and what was wrong with those that could not be read."""
    import numpy as np

    from mirenc.embed import load
    from mirenc.weights import load_files

    with needs("train", "evaluating a model needs more packages"):
        from mirenc.model.torch_runtime import TorchRuntime
        from mirenc.pretraining.corpus import build_corpus
        from mirenc.pretraining.evaluation import Baselines, evaluate_model
        from mirenc.pretraining.evaluation.retrieval import evaluate_retrieval, find_level_pairs
    loaded = load_files(model)
    stored = Baselines.load(loaded.folder, loaded.tokenizer.vocab_size)
    with tempfile.TemporaryDirectory(prefix="mirenc-evaluate-") as folder:
        with common.progress("reading", len(files)) as advance:
            corpus, report = build_corpus(
                files, root, Path(folder) / "corpus", tokenizer=loaded.tokenizer, options=options, advance=advance
            )
        modules = np.arange(len(corpus))
        pairs = find_level_pairs(root, files)
        # Statements recur from file to file: a cache for the time of this run.
        encoder = load(model, cache=Path(folder) / "cache", options=options)
        figures = evaluate_model(
            TorchRuntime(loaded.config, loaded.weights).model,
            corpus,
            modules,
            baselines=stored or Baselines.fit(corpus, modules, source="this folder"),
            retrieval=lambda: evaluate_retrieval(encoder, pairs),
        )
    head = {"model": loaded.name, "digest": loaded.digest, "files": len(files), "duplicates": report.duplicates}
    return {**head, **figures}, [IRParseError(message) for _, message in report.failures]


def _show_figures(figures: dict[str, Any]) -> None:
    """The figures as a table on stdout."""
    from rich.table import Table

    from mirenc.pretraining.evaluation import figure_rows

    data = figures["data"]
    title = f"{figures['model']}: {data['modules']:,} modules of {len(data['projects'])} projects"
    table = Table("Figure", "Model", "Baselines", title=title, title_justify="left")
    for row in figure_rows(figures):
        table.add_row(*row)
    common.print_table(table)
    own = figures["baselines"].endswith("this folder")
    note = ": the model has none of its own, and these know the folder's statements" if own else ""
    typer.echo(
        f"{data['statements']:,} statements, {data['distinct_statements']:,} of them distinct. "
        f"Baselines {figures['baselines']}{note}."
    )


@app.command()
@common.reads
def adapt(
    inputs: common.Inputs,
    name: Annotated[str, Option("--name", "-n", help="What the map is called.", show_default=False)],
    model: common.Model = None,
    pairs: Annotated[
        bool,
        Option(
            "--pairs",
            help="Files whose paths differ in an optimisation level alone (O0/x.ll and O2/x.ll, x.O0.ll and x.O2.ll) "
            "are one program: what the level changes counts least.",
        ),
    ] = False,
    level: Annotated[Literal["module", "function"], Option("--level", "-l", help="What will be searched.")] = "module",
    hide_names: common.HideNames = False,
    *,
    options: common.Reading,
) -> None:
    """Fit a whitening map on unlabelled IR of your own, for --map NAME.

    Some hundreds of programs of the kind that you search: cosines then tell what they do not all share. Files that fail
    are listed on stderr and left out.
    """
    from mirenc.embed import fit_map, load
    from mirenc.weights import map_path, save_map

    encoder = load(model, options=options, hide_names=hide_names)
    map_path(encoder.name, name)  # a name that cannot be one is told before the work
    files = common.expand(inputs)
    failures = common.Failures(len(files))
    fitted = fit_map(encoder, files, pairs="levels" if pairs else None, level=level, failed=failures.add, progress=True)
    path, facts = save_map(fitted, name), fitted.facts
    paired = f", {facts['pairs']} pairs" if pairs else ""
    typer.echo(f"map {name!r} of {facts['rows']} {level}s in {facts['files']} files{paired}: {path}")
    failures.finish()
