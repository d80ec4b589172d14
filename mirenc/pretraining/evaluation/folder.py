"""All figures of a model on a folder of IR."""

import os
import tempfile
from pathlib import Path

import numpy as np

from mirenc.embed import load
from mirenc.errors import ConfigError, IRParseError
from mirenc.ir import ReadOptions
from mirenc.ir.files import find_inputs, folder_error
from mirenc.ir.level_paths import program_of
from mirenc.model.torch_runtime import TorchRuntime
from mirenc.pretraining.corpus import build_corpus
from mirenc.pretraining.evaluation.baselines import Baselines
from mirenc.pretraining.evaluation.evaluate import evaluate_model
from mirenc.pretraining.evaluation.figures import Figures
from mirenc.pretraining.evaluation.retrieval import evaluate_retrieval, find_level_pairs
from mirenc.progress import progress
from mirenc.weights import load_files

_SEED = 7


def evaluate_folder(
    model: str | os.PathLike[str], root: Path, *, limit: int | None = None, options: ReadOptions | None = None
) -> tuple[Figures, list[IRParseError]]:
    """Figures of a model on a folder of IR, and what is wrong with the files that could not be read.

    They are `evaluate_model`'s, with ``model``, ``digest``, and how many ``files`` and ``duplicates`` there are. The
    baselines are the model's own, or fitted on the folder where it has none. Raises as `load_files`, `choose_files` and
    `build_corpus`.
    """
    loaded = load_files(model)
    stored = Baselines.load(loaded.folder, loaded.tokenizer.vocab_size)
    files = choose_files(root, limit)
    with tempfile.TemporaryDirectory(prefix="mirenc-evaluate-") as folder:
        with progress("reading", len(files)) as advance:
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


def choose_files(root: Path, limit: int | None = None) -> list[Path]:
    """IR files below a folder; of more than ``limit`` whole programs are drawn, with all their levels.

    Raises IRFileError: no IR; ConfigError: one file only.
    """
    files = find_inputs(root)
    if not files:
        raise folder_error(str(root))
    if len(files) == 1:
        found = f"{root}: one IR file only, and matching needs graphs of at least two"
        raise ConfigError(f"{found}. Give a folder with more files")
    if limit is None or len(files) <= limit:
        return files
    named: dict[tuple[str, ...], list[Path]] = {}
    for path in files:
        named.setdefault(program_of(path.relative_to(root)), []).append(path)
    programs, chosen = sorted(named), list[Path]()
    for number in np.random.default_rng(_SEED).permutation(len(programs)):
        if chosen and len(chosen) + len(named[programs[number]]) > limit:
            break
        chosen += named[programs[number]]
    return sorted(chosen)
