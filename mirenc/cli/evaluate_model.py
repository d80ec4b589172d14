"""What ``mirenc models evaluate`` does: a folder of IR to held-out figures."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from mirenc.cli import common
from mirenc.embed import load
from mirenc.errors import ConfigError, IRParseError, needs
from mirenc.ir.files import find_inputs, folder_error
from mirenc.weights import load_files

if TYPE_CHECKING:
    from mirenc.ir import ReadOptions

_LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
_SEED = 7


def choose_files(root: Path, limit: int | None) -> list[Path]:
    """IR files below a folder; of more than ``limit`` whole programs are drawn, with all their levels.

    Raises
    ------
    IRFileError
        No IR.
    ConfigError
        One file only.
    """
    files = find_inputs(root)
    if not files:
        raise folder_error(str(root))
    if len(files) == 1:
        raise ConfigError(
            f"{root}: one IR file only, and matching needs graphs of at least two. Give a folder with more files"
        )
    if limit is None or len(files) <= limit:
        return files
    programs: dict[tuple[str, ...], list[Path]] = {}
    for path in files:
        parts = path.relative_to(root).parts
        programs.setdefault(tuple(part for part in parts if part not in _LEVELS), []).append(path)
    names = sorted(programs)
    chosen: list[Path] = []
    for number in np.random.default_rng(_SEED).permutation(len(names)):
        if chosen and len(chosen) + len(programs[names[number]]) > limit:
            break
        chosen += programs[names[number]]
    return sorted(chosen)


def evaluate_folder(
    model: str, root: Path, files: Sequence[Path], options: ReadOptions
) -> tuple[dict[str, Any], list[str]]:
    """Figures of a model on some IR files, and what was wrong with those that could not be read.

    Raises
    ------
    MissingExtraError
        No torch or scikit-learn.
    ModelError
        Unknown or damaged model.
    ConfigError
        No file could be read.
    """
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

        def retrieval() -> dict[str, Any]:
            with _progress("function retrieval", len(pairs)) as advance:
                return evaluate_retrieval(encoder, pairs, advance=advance)

        figures = evaluate_model(
            TorchRuntime(loaded.config, loaded.weights).model,
            corpus,
            modules,
            baselines=stored or Baselines.fit(corpus, modules, source="this folder"),
            retrieval=retrieval,
            progress=_progress,
        )
    head = {"model": loaded.name, "digest": loaded.digest, "files": len(files), "duplicates": report.duplicates}
    return {**head, **figures}, [message for _, message in report.failures]


def _progress(description: str, total: int) -> AbstractContextManager[Any]:
    return common.progress(description, total)


def show(figures: dict[str, Any]) -> None:
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


def run(model: str, root: Path, limit: int | None, as_json: bool, options: ReadOptions) -> None:
    """Evaluate and print; files that cannot be read are named, and the exit code is 1."""
    files = choose_files(root, limit)
    figures, messages = evaluate_folder(model, root, files, options)
    if as_json:
        typer.echo(json.dumps(figures, indent=1, allow_nan=False))
    else:
        show(figures)
    failures = common.Failures(len(files))
    for message in messages:
        failures.add(IRParseError(message))
    failures.finish()
