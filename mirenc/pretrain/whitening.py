"""What a trained model gets fitted after its run: the whitening maps, and the table of the lexical view.

A map is good for the kind of code it was fitted on: by default training modules, and what `MapsConfig` names.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from mirenc.base.arrays import Float32, Int64
from mirenc.base.errors import ConfigError
from mirenc.encoder import Encoder
from mirenc.encoder.domain_map import domain_vectors
from mirenc.encoder.weights import ModelFiles, ir_projects
from mirenc.llvm import ReadOptions
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.model.lexical import fit_idf
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.whitening import mixed_whitening, moments_of
from mirenc.pretrain import encoding
from mirenc.pretrain.config import DomainConfig, MapsConfig
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.trainer import Trainer

TRAINING_MODULES = "training modules"
# More pairs of levels are better, to the last one tried; more modules without a pair are not (pretrain/README.md).
_PAIRS, _MODULES = 2000, 1000
# Statements. Shorter modules, wrappers mostly, vary in other directions than programs do; longer ones take too long.
_MIN_STATEMENTS, _MAX_STATEMENTS = 100, 4000
# What a domain gives: of each part vectors (M, D) and which of them are one program (P, 2); their projects.
_Rows = tuple[dict[str, tuple[Float32, Int64]], set[str]]


def choose_modules(corpus: Corpus, modules: Int64, rng: np.random.Generator) -> tuple[Int64, Int64]:
    """Some modules (M,) to fit a map on: programs at two levels first, others where there are too few.

    Short and very long ones are left out, unless fewer than half a map's modules would be left. Returned are the
    modules (K,), and the rows of them that are one program (P, 2).
    """
    size, programs = corpus.statement_total[modules], corpus.programs
    candidates = modules[(size >= _MIN_STATEMENTS) & (size <= _MAX_STATEMENTS)]
    order = rng.permutation(candidates if len(candidates) >= _MODULES // 2 else modules).tolist()
    by_program: dict[tuple[str, str], list[int]] = {}
    for module in order:
        by_program.setdefault(programs[module], []).append(module)
    paired = [module for levels in by_program.values() if len(levels) > 1 for module in levels[:2]][: 2 * _PAIRS]
    unpaired = list(dict.fromkeys(paired + order))[len(paired) :]
    chosen = paired + unpaired[: max(_MODULES - len(paired), 0)]
    return np.array(chosen, dtype=np.int64), np.arange(len(paired), dtype=np.int64).reshape(-1, 2)


def fit_maps(trainer: Trainer, maps: MapsConfig | None = None) -> list[dict[str, Any]]:
    """Fit the maps of text and graph after a run, on training modules alone where ``maps`` are left out.

    For the graph, those whose graph the corpus has. Returned is what each domain had, for the record:
    ``name``, ``weight``, ``rows``, ``pairs`` and ``projects``. Raises ConfigError: a domain's corpus has another
    tokenizer, or there is nothing in a domain but what the run holds out.
    """
    maps = maps or MapsConfig()
    domains: list[tuple[str, float, _Rows]] = []
    if maps.corpus:
        domains.append((TRAINING_MODULES, maps.corpus, _corpus_rows(trainer, trainer.corpus, trainer.train_modules)))
    domains += [(Path(kind.folder).resolve().name, kind.weight, _domain_rows(trainer, kind)) for kind in maps.domains]
    for part in ("text", "graph"):
        # Of a text-only model of a corpus without graphs, the graph's map stays the identity.
        moments = [(moments_of(*parts[part]), weight) for _, weight, (parts, _) in domains if len(parts[part][0])]
        if moments:
            layer = getattr(trainer.model, f"whiten_{part}")
            whitening = mixed_whitening(moments, shrinkage=maps.shrinkage, between=maps.between)
            for buffer, value in zip((layer.mean, layer.matrix), whitening, strict=True):
                buffer.copy_(torch.from_numpy(value))
    records = []
    for name, weight, (parts, projects) in domains:
        sizes = {"rows": len(parts["text"][0]), "pairs": len(parts["text"][1])}
        records.append({"name": name, "weight": weight, **sizes, "projects": sorted(projects)})
    return records


def _corpus_rows(trainer: Trainer, corpus: Corpus, modules: Int64, *, paired: bool = True) -> _Rows:
    """Vectors of some of a corpus's modules, for the graph of those whose graph is not too large."""
    model, config, nodes = trainer.model, trainer.config, corpus.node_count[modules]
    weighting = trainer.model_config.pooling.weighting
    graph_modules = modules[(nodes > 0) & (nodes <= config.max_nodes)]
    parts: dict[str, tuple[Float32, Int64]] = {}
    projects: set[str] = set()
    for number, (part, allowed) in enumerate((("text", modules), ("graph", graph_modules))):
        chosen, pairs = choose_modules(corpus, allowed, np.random.default_rng([config.seed, 500 + number]))
        encode = encoding.text_vectors if part == "text" else encoding.graph_vectors
        vectors = encode(model, corpus, chosen, weighting=weighting) if len(chosen) else torch.zeros(0, 0)
        parts[part] = vectors.numpy(), pairs if paired else pairs[:0]
        projects.update(corpus.projects_of(chosen))
    return parts, projects


def _domain_rows(trainer: Trainer, domain: DomainConfig) -> _Rows:
    """Vectors of a folder, without projects that the run or its answers hold out, on which figures are measured."""
    if (Path(domain.folder) / "corpus.json").is_file():
        corpus = Corpus.load(domain.folder)
        if corpus.tokenizer.to_json() != trainer.corpus.tokenizer.to_json():
            problem = f"domain {domain.folder}: its corpus was built with another tokenizer than the run's corpus"
            raise ConfigError(f"{problem}. Build it with: mirenc corpus build ... --tokenizer MODEL")
        allowed = np.flatnonzero([project not in trainer.kept_out for project in corpus.projects])
        if not len(allowed):
            problem = f"domain {domain.folder}: the run holds out all of its projects"
            raise ConfigError(f"{problem}. Give another corpus")
        return _corpus_rows(trainer, corpus, allowed, paired=domain.pairs)
    state = {name: value.float().cpu().numpy() for name, value in trainer.model.state_dict().items()}
    files = ModelFiles("run", trainer.model_config, trainer.corpus.tokenizer, state, "", trainer.folder)
    runtime = NumpyRuntime(files.config, state, threads=trainer.config.threads)
    encoder = Encoder(files, runtime, options=ReadOptions(form="plain"))  # as a corpus is
    paths = find_inputs(domain.folder)
    project_of = dict(zip(paths, ir_projects(paths, domain.folder), strict=True))
    inputs = [file for file in paths if project_of[file] not in trainer.kept_out]
    # What cannot be read is left out, as where a corpus is built.
    vectors, pairs, _ = domain_vectors(
        encoder, inputs, "levels" if domain.pairs else None, level=domain.level, failed=lambda error: None
    )
    if not len(vectors["text"]):
        problem = f"domain {domain.folder}: no {domain.level} in it is usable (can be read, and is not held out)"
        raise ConfigError(f"{problem}. Give a folder of IR or a corpus")
    return {part: (values, pairs) for part, values in vectors.items()}, {project_of[file] for file in inputs}


def fit_lexicon(trainer: Trainer) -> None:
    """Fit the table of the lexical view: how rare a term is in the training modules, as their tokens give them back."""
    corpus, config = trainer.corpus, trainer.model_config.lexical
    assert config is not None
    counts = corpus.text_counts(trainer.train_modules.tolist())
    rows = np.flatnonzero(counts)
    ends = zip(corpus.text_start[rows].tolist(), corpus.text_start[rows + 1].tolist(), strict=True)
    texts = (corpus.tokenizer.decode(corpus.text_ids[start:end].tolist()) for start, end in ends)
    trainer.model.get_buffer("lexical_idf").copy_(torch.from_numpy(fit_idf(texts, counts[rows], config)))
