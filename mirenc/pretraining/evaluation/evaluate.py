"""All figures of a model on some modules of a corpus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mirenc.arrays import Bool, Int64, Integer
from mirenc.model.mirencoder import MIREncoder
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.encoding import check_order
from mirenc.pretraining.evaluation.baselines import MAX_NODES, Baselines
from mirenc.pretraining.evaluation.figures import Figures, NoFigureError, Progress, finite, no_progress
from mirenc.pretraining.evaluation.graphs import evaluate_matching, flow_figures, gae_modules, gae_scores
from mirenc.pretraining.evaluation.mlm import choose_distinct, choose_occurring, evaluate_mlm
from mirenc.tokenizer import SPECIAL_TOKENS, UNK

# At most so many statements for each MLM figure, modules for GAE, modules for matching; drawn by a fixed seed.
_STATEMENTS, _GRAPHS, _PAIRS = 8_000, 300, 600


def evaluate_model(
    model: MIREncoder,
    corpus: Corpus,
    modules: Integer,
    *,
    baselines: Baselines,
    known_texts: Bool | None = None,
    retrieval: Callable[[], Figures] | None = None,
    threads: int = 1,
    progress: Progress = no_progress,
) -> Figures:
    """Measure a model.

    Parameters
    ----------
    model : MIREncoder
    corpus : Corpus
        Made with the model's tokenizer.
    modules : (M,) int
        Modules to measure on.
    baselines : Baselines
    known_texts : (U,) bool, optional
        Which of the corpus's texts training had: gives the figure over statements that it never saw.
    retrieval : callable, optional
        Measures function retrieval, which needs the IR itself; may raise `NoFigureError`.
    threads : int
        For statement vectors on a CPU.
    progress : Progress

    Returns
    -------
    dict
        A figure that cannot be measured is None, and ``missing`` says why. Every number is finite.

    Raises
    ------
    ConfigError
        The model sees the order of operands, and the corpus has none.
    """
    check_order(model.config, corpus)
    model.eval()
    chosen = np.asarray(modules, dtype=np.int64)
    counts = corpus.text_counts(chosen.tolist())
    missing: dict[str, str] = {}

    def figure(name: str, measure: Callable[[], Figures]) -> Figures | None:
        try:
            return measure()
        except NoFigureError as reason:
            missing[name] = str(reason)
            return None

    def statements(name: str) -> Int64:
        if name == "occurring":
            return choose_occurring(counts, _STATEMENTS)
        if name == "distinct":
            return choose_distinct(counts, _STATEMENTS)
        if known_texts is None:
            raise NoFigureError("the statements of the training modules are not known here")
        return choose_distinct(np.where(known_texts, 0, counts), _STATEMENTS)

    def mlm(name: str) -> Figures:
        rows = statements(name)
        with progress(f"mlm, {name}", len(rows)) as advance:
            return evaluate_mlm(model, corpus, rows, baselines, advance=advance)

    def matching() -> Figures:
        with progress("matching", 1) as advance:
            figures = evaluate_matching(model, corpus, chosen, baselines, limit=_PAIRS, threads=threads)
            advance(1)
            return figures

    figures: Figures = {
        "data": _data(corpus, chosen, counts),
        "baselines": f"fitted on {'the ' if baselines.source.startswith('training') else ''}{baselines.source}",
        "mlm": {name: figure(f"mlm.{name}", partial(mlm, name)) for name in ("distinct", "occurring", "unseen")},
    }
    drawn = gae_modules(corpus, chosen, _GRAPHS)
    with progress("gae", len(drawn)) as advance:
        scores = gae_scores(model, corpus, drawn, advance=advance)
    by_flow = {flow.name.lower(): rows for flow, rows in scores.items()}
    figures["gae"] = {name: figure(f"gae.{name}", partial(flow_figures, rows)) for name, rows in by_flow.items()}
    figures["matching"] = figure("matching", matching)
    figures["retrieval"] = figure("retrieval", retrieval or _no_ir)
    result: Figures = finite({**figures, "missing": missing})
    return result


def _no_ir() -> Figures:
    raise NoFigureError("the IR of the modules is not at hand")


def _data(corpus: Corpus, modules: Int64, counts: Int64) -> Figures:
    """What was measured on, and how the tokenizer fits it; shares are over statements as they occur."""
    rows = np.flatnonzero(counts)
    lengths = corpus.text_length[rows]
    weight = np.repeat(counts[rows], lengths)
    ids = corpus.text_ids[corpus.token_places(rows)]
    inside = (ids >= len(SPECIAL_TOKENS)) | (ids == UNK)
    tokens, total = int(weight[inside].sum()), int(counts.sum())
    # A statement that just fits counts as cut, too: the corpus does not keep what was cut.
    full = lengths >= corpus.tokenizer.config.max_length
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
        "truncated_share": int(counts[rows][full].sum()) / total if total else None,
    }
