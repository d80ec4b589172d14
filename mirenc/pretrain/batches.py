"""What each step of a stage is about: which statements and modules it sees, and their arrays.

Drawn by a generator seeded with (seed, what, step): a resumed run, another process or a worker draws the same.
"""

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from torch.utils.data import DataLoader

from mirenc.base.arrays import Bool, Int64
from mirenc.base.errors import ConfigError
from mirenc.model.tokenizer import PAD
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.corpus.functions import SPELLINGS, Functions
from mirenc.pretrain.graphs import Graphs, join_graphs
from mirenc.pretrain.objectives import mask_tokens
from mirenc.pretrain.parallel import Processes

_NO_ROWS = np.zeros(0, dtype=np.int64)
_POOL_BATCHES = 16  # batches that are drawn at once and sorted, so that statements of similar length are together
# A batch's length is padded to a multiple of this: on a CPU every new shape of a product costs memory for good.
_LENGTH_STEP = 4


class Batch(NamedTuple):
    """One step's data; what a stage does not take is empty or None. A share is this process's."""

    items: int  # tokens or nodes of the whole batch (`StepReport`)
    statements: tuple[Int64, Int64, Bool] | None = None  # a share's ids, the same masked, what is predicted: (B', T)
    chosen: int = 0  # tokens to be predicted in the whole batch
    modules: Int64 = _NO_ROWS  # (B,) of the corpus, or forms of functions (contrast); all of the batch
    graphs: Graphs | None = None  # of a share of them
    step: int = 0
    spelling: Int64 = _NO_ROWS  # (B,) of contrast: how each module's texts are spelled
    beside: Any = None  # what the stage of a recipe takes


class Sampler:
    """Draws a run's batches from the training modules (M,) of its corpus; a `ConfigError` where they are too few.

    Of ``functions``, those of projects ``held_out`` are never drawn.

    With ``started_from``, the digest of the model that a run goes on from, it draws other statements than the first.
    """

    def __init__(
        self,
        corpus: Corpus,
        modules: Int64,
        config: PretrainConfig,
        processes: Processes,
        *,
        functions: Functions | None = None,
        held_out: Collection[str] = (),
        started_from: str = "",
    ) -> None:
        self.corpus, self.config, self.processes = corpus, config, processes
        self._programs = corpus.programs
        self._seeds = [config.seed] + ([int(started_from[:12], 16)] if started_from else [])
        counts = corpus.text_counts(modules)
        self._statement_rows: Int64 = np.flatnonzero(counts)
        weights = counts[self._statement_rows] ** config.frequency_temper
        self._cumulative_weights = np.cumsum(weights) / weights.sum()
        nodes = corpus.node_count[modules]
        self.graphs: Int64 = modules[(nodes > 0) & (nodes <= config.max_nodes)]
        shuffled = np.random.default_rng([config.seed, 300]).permutation(self.graphs)
        self.matching_graphs: Int64 = np.sort(shuffled[: config.matching_modules])
        self.functions = functions
        if functions is not None:
            programs = functions.programs
            self._projects = [programs[project] for project in sorted(programs.keys() - set(held_out))]
            if not self._projects:
                cause = f"contrast.functions: {config.contrast.functions}: no program of a training project exists in"
                advice = "Add files of another level, or collect the functions in two forms: mirenc corpus functions"
                raise ConfigError(f"{cause} two forms. {advice} --in-form plain --in-form O2")
        for stage in config.stages.keys() - {"mlm", "contrast"}:
            self._distinct_programs(self.graphs if stage == "gae" else self.matching_graphs, 2)

    def rng(self, purpose: int, step: int) -> np.random.Generator:
        """The generator of a step."""
        return np.random.default_rng([*self._seeds, purpose, step])

    def batches(self, stage: str, steps: range) -> Iterator[Batch]:
        """The batches of some steps in order, ``config.workers`` processes ahead of whoever takes them."""
        draw = partial(self.batch, stage)
        if not self.config.workers:
            return map(draw, steps)
        return iter(DataLoader(steps, batch_size=None, num_workers=self.config.workers, collate_fn=draw))  # type: ignore[arg-type]

    def batch(self, stage: str, step: int) -> Batch:
        """The batch of one step."""
        if stage == "mlm":
            return self._mlm_batch(step)
        if stage == "contrast":
            forms, spelling = self.contrast(step)
            assert self.functions is not None
            return Batch(int(self.functions.sizes["node"][forms].sum()), modules=forms, spelling=spelling, step=step)
        modules = self.modules(stage, step)
        rng = self.rng(1 if stage == "gae" else 2, step)
        graphs = join_graphs(self.corpus, modules, rng, share=self.processes.share(len(modules)))
        return Batch(int(self.corpus.node_count[modules].sum()), modules=modules, graphs=graphs)

    def _mlm_batch(self, step: int) -> Batch:
        """A slice of a pool of statements sorted by length, padded and masked."""
        size, rng, tokenizer = self.config.mlm.batch, self.rng(100, step // _POOL_BATCHES), self.corpus.tokenizer
        pool = self._statement_rows[np.searchsorted(self._cumulative_weights, rng.random(size * _POOL_BATCHES))]
        pool = pool[np.argsort(self.corpus.text_length[pool], kind="stable")]
        rows = pool.reshape(_POOL_BATCHES, size)[rng.permutation(_POOL_BATCHES)[step % _POOL_BATCHES]]
        width = -(-int(self.corpus.text_length[rows].max()) // _LENGTH_STEP) * _LENGTH_STEP
        ids = self.corpus.padded_ids(rows, min(width, tokenizer.config.max_length))  # (B, T)
        rng, share = self.rng(0, step), self.processes.share(size)
        masked, chosen = mask_tokens(ids, rng, vocab_size=tokenizer.vocab_size, share=self.config.mask_share)
        return Batch(int((ids != PAD).sum()), (ids[share], masked[share], chosen[share]), int(chosen.sum()))

    def modules(self, stage: str, step: int) -> Int64:
        """(B,) modules of a step, no two of one program; of nearly equal size in a hard step of matching."""
        if stage == "gae":
            return self._distinct_programs(self.rng(201, step).permutation(self.graphs), self.config.gae.batch)
        rng = self.rng(202, step)
        if rng.random() >= self.config.hard_negatives:
            return self._distinct_programs(rng.permutation(self.matching_graphs), self.config.igm.batch)
        by_size = self.matching_graphs[np.argsort(self.corpus.node_count[self.matching_graphs], kind="stable")]
        return self._distinct_programs(np.roll(by_size, -int(rng.integers(len(by_size)))), self.config.igm.batch)

    def contrast(self, step: int) -> tuple[Int64, Int64]:
        """Forms of a step, first one of each program and then the other, and their spelling. Two (2 P,)."""
        config, rng = self.config.contrast, self.rng(205, step)
        share = np.sqrt([len(programs) for programs in self._projects])
        pairs = []
        count = min(config.projects, len(self._projects))
        for project in rng.choice(len(self._projects), count, replace=False, p=share / share.sum()):
            programs = self._projects[project]
            for program in rng.choice(len(programs), min(config.batch, len(programs)), replace=False):
                pairs.append(rng.choice(programs[program], 2, replace=False))
        spelling = np.where(
            rng.random(len(pairs)) < config.unnamed, *(SPELLINGS.index(s) for s in ("unnamed", "plain"))
        )
        return np.array(pairs, dtype=np.int64).T.ravel(), np.tile(spelling, 2)

    def _distinct_programs(self, candidates: Int64, batch: int) -> Int64:
        chosen: dict[tuple[str, str], int] = {}
        for module in candidates.tolist():
            chosen.setdefault(self._programs[module], module)
            if len(chosen) == batch:
                break
        if len(chosen) < 2:
            cause = f"{len(chosen)} training module(s) with at most {self.config.max_nodes} nodes"
            raise ConfigError(f"{cause}; two different source files are needed. Raise max_nodes or enlarge the corpus")
        return np.array(list(chosen.values()))
