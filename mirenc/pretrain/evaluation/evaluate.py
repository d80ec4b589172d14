"""All figures of a model on some modules of a corpus, or on a folder of IR."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Bool, Int64, Integer
from mirenc.base.errors import ConfigError, IRParseError, MirencError, NoFunctionBodyError
from mirenc.base.progress import progress
from mirenc.encoder import load
from mirenc.encoder.weights import load_files
from mirenc.llvm import ReadOptions
from mirenc.llvm.inputs.file_kind import find_inputs, folder_error
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.tokenizer import SPECIAL_TOKENS, UNK
from mirenc.model.torch_runtime import TorchRuntime
from mirenc.pretrain.corpus import Corpus, build_corpus
from mirenc.pretrain.encoding import check_order
from mirenc.pretrain.evaluation.baselines import MAX_NODES, Baselines
from mirenc.pretrain.evaluation.figures import Figures, NoFigureError, finite
from mirenc.pretrain.evaluation.graphs import evaluate_matching, flow_figures, gae_scores
from mirenc.pretrain.evaluation.mlm import choose_distinct, choose_occurring, evaluate_mlm
from mirenc.pretrain.evaluation.retrieval import evaluate_retrieval, find_level_pairs

_STATEMENTS = 8_000  # for each MLM figure at most; drawn by a fixed seed
_CHOICES = {"distinct": choose_distinct, "occurring": choose_occurring}


def evaluate_model(
    model: MIREncoder,
    corpus: Corpus,
    modules: Integer,
    *,
    baselines: Baselines,
    known_texts: Bool | None = None,
    retrieval: Callable[[], Figures] | None = None,
) -> Figures:
    """Measure a model on some modules (M,) of a corpus made with its tokenizer; a bar on stderr shows how far it is.

    ``known_texts`` (U,) are those of the corpus's texts that training had, for the figure over statements that it never
    saw. ``retrieval`` measures function retrieval, which needs the IR itself, or raises `NoFigureError`.

    A figure that cannot be measured is None, and ``missing`` says why. Every number is finite. Raises ConfigError: the
    model sees the order of operands, and the corpus has none.
    """
    check_order(model.config, corpus)
    model.eval()
    chosen = np.asarray(modules, dtype=np.int64)
    counts = corpus.text_counts(chosen.tolist())
    missing: dict[str, str] = {}

    def figure(name: str, measure: Callable[..., Figures], *arguments: Any) -> Figures | None:
        try:
            return measure(*arguments)
        except NoFigureError as reason:
            missing[name] = str(reason)
            return None

    statements = {name: choose(counts, _STATEMENTS) for name, choose in _CHOICES.items()}
    if known_texts is None:
        missing["mlm.unseen"] = "the statements of the training modules are not known here"
    else:
        statements["unseen"] = choose_distinct(np.where(known_texts, 0, counts), _STATEMENTS)
    if retrieval is None:
        missing["retrieval"] = "the IR of the modules was not given"
    mlm = {key: figure(f"mlm.{key}", evaluate_mlm, model, corpus, rows, baselines) for key, rows in statements.items()}
    gae = {flow.name.lower(): rows for flow, rows in gae_scores(model, corpus, chosen).items()}
    figures = {
        "data": _data_figures(corpus, chosen, counts),
        "baselines": f"fitted on {'the ' if baselines.source.startswith('training') else ''}{baselines.source}",
        "mlm": {**mlm, "unseen": mlm.get("unseen")},
        "gae": {name: figure(f"gae.{name}", flow_figures, rows) for name, rows in gae.items()},
        "matching": figure("matching", evaluate_matching, model, corpus, chosen, baselines),
        "retrieval": figure("retrieval", retrieval) if retrieval is not None else None,
        "missing": missing,
    }
    return finite(figures)


def _data_figures(corpus: Corpus, modules: Int64, counts: Int64) -> Figures:
    """Figures of the data and of how the tokenizer fits them; shares are over statements as they occur."""
    rows = np.flatnonzero(counts)
    lengths = corpus.text_length[rows]
    weight = np.repeat(counts[rows], lengths)
    ids = corpus.text_ids[corpus.token_places(rows)]
    is_text = (ids >= len(SPECIAL_TOKENS)) | (ids == UNK)
    tokens, total = int(weight[is_text].sum()), int(counts.sum())
    # A statement that just fits counts as cut, too: the corpus does not keep what was cut.
    is_full = lengths >= corpus.tokenizer.config.max_length
    nodes = corpus.node_count[modules]  # 0: the corpus leaves the graph out
    nodes = nodes[(nodes > 0) & (nodes <= MAX_NODES)]
    return {
        "modules": len(modules),
        "graphs": len(nodes),
        "largest_graph": int(nodes.max(initial=0)),
        "projects": sorted(corpus.projects_of(modules)),
        "statements": total,
        "distinct_statements": len(rows),
        "unk_share": int(weight[ids == UNK].sum()) / tokens if tokens else None,
        "truncated_share": int(counts[rows][is_full].sum()) / total if total else None,
    }


def evaluate_folder(
    model: str | os.PathLike[str], root: Path, *, options: ReadOptions | None = None
) -> tuple[Figures, list[MirencError]]:
    """Figures of a model on a folder of IR, and why files were left out: unread, or without a function body.

    They are `evaluate_model`'s, with ``model``, ``digest``, and how many ``files`` and ``duplicates`` there are. The
    baselines are the model's own, or fitted on the folder where it has none. Raises IRFileError: no IR; ConfigError:
    one file only; and as `load_files` and `build_corpus`.
    """
    loaded = load_files(model)
    model_baselines = Baselines.load(loaded.folder, loaded.tokenizer.vocab_size)
    files = find_inputs(root)
    if not files:
        raise folder_error(str(root))
    if len(files) == 1:
        problem = f"{root}: one IR file only, and matching needs graphs of at least two"
        raise ConfigError(f"{problem}. Give a folder with more files")
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
            baselines=model_baselines or Baselines.fit(corpus, modules, source="this folder"),
            retrieval=lambda: evaluate_retrieval(encoder, pairs),
        )
    header = {"model": loaded.name, "digest": loaded.digest, "files": len(files), "duplicates": report.duplicates}
    left_out = [NoFunctionBodyError(path) for path in report.empty]
    return {**header, **figures}, [*left_out, *(IRParseError(message) for _, message in report.failures)]
