"""``mirenc models``: list, show and verify models."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="List, show and verify models.", no_args_is_help=True)

Name = Annotated[str | None, typer.Argument(help="Model name or folder. [default: the packaged default]")]


@app.command("list")
def list_() -> None:
    """Packaged models: name, dimensions, parameters, digest."""
    from mirenc.weights import DEFAULT_MODEL, list_models, load_files

    for name in list_models():
        files = load_files(name)
        text, graph = files.config.text.hidden, files.config.graph.out
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
