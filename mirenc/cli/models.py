"""``mirenc models``: list, show, verify and evaluate models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mirenc.cli import common

app = typer.Typer(help="List, show, verify and evaluate models.", no_args_is_help=True)

Name = Annotated[str | None, typer.Argument(help="Model name or folder. [default: the packaged default]")]


@app.command("list")
def list_() -> None:
    """Packaged models: name, dimensions, parameters, digest."""
    from mirenc.weights import DEFAULT_MODEL, list_models, load_files

    for name in list_models():
        files = load_files(name)
        text, graph = files.config.text.hidden, files.config.graph.width
        mark = "  (default)" if name == DEFAULT_MODEL else ""
        typer.echo(
            f"{name:16} {text}+{graph} dimensions  {files.parameter_count:,} parameters  {files.digest[:12]}{mark}"
        )


@app.command()
def show(name: Name = None) -> None:
    """The model card."""
    from mirenc.errors import ModelError
    from mirenc.weights import find_model

    card = find_model(name) / "MODEL_CARD.md"
    if not card.is_file():
        raise ModelError(f"{card.parent}: has no MODEL_CARD.md. Ask whoever made the model for one")
    typer.echo(card.read_text(encoding="utf-8"))


@app.command()
def verify(name: Name = None) -> None:
    """Compare files with SHA256SUMS, and the model's answers with its golden vectors."""
    from mirenc.golden import check_golden
    from mirenc.weights import find_model, verify_files

    checked = verify_files(name)
    folder = find_model(name)
    typer.echo(f"{folder.name}: {len(checked)} files as released")
    if (folder / "golden.json").is_file():
        worst = check_golden(folder)
        typer.echo(f"{folder.name}: golden vectors reproduced (largest difference {worst:.1e})")


@app.command()
def evaluate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model name or folder.", show_default=False)],
    ir: Annotated[
        Path,
        typer.Option(
            "--ir",
            help="Folder with .ll or .bc files; its first folders are the projects. PROJECT/O0/x.ll beside "
            "PROJECT/O2/x.ll also gives function retrieval.",
            exists=True,
            file_okay=False,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="All figures as JSON instead of a table.")] = False,
    limit: Annotated[int | None, typer.Option(help="Draw programs with at most this many files.", min=2)] = None,
    timeout: common.Timeout = None,
    memory_limit: common.MemoryLimit = None,
    max_bytes: common.MaxBytes = None,
) -> None:
    """Measure a model on a folder of IR: MLM, GAE, matching, function retrieval, each beside its baselines."""
    from mirenc.cli import evaluate_model
    from mirenc.weights import find_model

    find_model(model)  # a mistyped name is told before anything is read
    options = common.read_options(timeout, memory_limit, max_bytes)
    evaluate_model.run(model, ir, limit, as_json, options)
