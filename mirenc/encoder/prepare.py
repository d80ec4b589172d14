"""`prepare`: from a module to what the model computes on: texts as token ids, a graph, and which rows get a vector."""

from dataclasses import dataclass, replace

import numpy as np

from mirenc.encoder.embedding import Embedding
from mirenc.llvm import IRModule, regions_of
from mirenc.llvm.analysis.regions import has_function
from mirenc.llvm.ir.plain_statement import Spelling
from mirenc.model.graph import build_graph
from mirenc.model.lexical import Lexicon
from mirenc.model.pooling import Pools, module_pools, region_pools
from mirenc.model.runtime import Pooled
from mirenc.model.sample import IRSample, make_sample
from mirenc.model.tokenizer import IRTokenizer


@dataclass(frozen=True, eq=False)
class Prepared:
    """One module ready for a model: its sample, its rows as pools, and ``blank``, its embedding without vectors.

    ``key`` is that of its embedding in the cache (empty: it is not kept). ``deleted`` are the functions that its form's
    passes deleted (`mirenc.llvm.passes.optimise`); their rows come last.
    """

    sample: IRSample
    pools: Pools
    blank: Embedding
    key: bytes = b""
    deleted: "Prepared | None" = None

    @property
    def parts(self) -> list["Prepared"]:
        """What is encoded: the module, and the functions deleted from it."""
        return [self] if self.deleted is None else [self, self.deleted]

    def embedding(self, pooled: Pooled, lexicon: Lexicon | None) -> Embedding:
        """The embedding with its vectors, not whitened."""
        vectors = pooled._asdict()
        if lexicon is not None:
            vectors["lexical"] = lexicon.vectors(self.sample.texts, self.pools, module=self.blank.level == "module")
        return replace(self.blank, **vectors)


def prepare(
    module: IRModule,
    tokenizer: IRTokenizer,
    levels: tuple[str, ...],
    weighting: str,
    *,
    function: str | None = None,
    spelling: Spelling = "written",
) -> Prepared:
    """A module's sample and its rows: one, or one for each region of each level, in their order.

    ``weighting`` says how often a text counts (`mirenc.model.config.PoolingConfig`), ``spelling`` how texts are
    written. With a ``function``, a regular expression, only functions of such a name have rows. Raises ConfigError as
    `regions_of`.
    """
    parts = [module] if module.deleted is None else [module, module.deleted]
    if function is not None:
        parts = [part for part in parts if has_function(part, function)] or parts[:1]
    deleted = None
    if len(parts) > 1 and levels != ("module",):
        deleted = prepare(parts[1], tokenizer, levels, weighting, function=function, spelling=spelling)
    module = parts[0]
    groups = [regions_of(module, level, function=function) for level in levels]
    regions = [region for group in groups for region in group.regions]
    graph = build_graph(module, normalisation=tokenizer.config.normalisation)
    sample = make_sample(module, tokenizer, graph=graph, spelling=spelling)
    if levels == ("module",) and function is None:
        pools = module_pools(sample, weighting)
        instructions = np.array([module.instruction_count])
    else:
        starts = np.cumsum([0, *(len(group) for group in groups)])
        row = np.concatenate([group.region + start for group, start in zip(groups, starts, strict=False)])  # (P,)
        instructions = np.bincount(row, minlength=len(regions))
        members = np.concatenate([group.instruction for group in groups])
        pools = region_pools(sample, members, row, len(regions), weighting, reads="instruction" not in levels)
    counts = {
        "functions": len(module.headers),
        "defined": sum(not header.is_declaration for header in module.headers),
        "blocks": module.block_count,
        "instructions": module.instruction_count,
        "statements": len(sample.statement_row),
        "distinct_statements": int(np.count_nonzero(np.bincount(sample.statement_row))),
        "nodes": len(sample.node_row),
        "edges": len(sample.edge_flow),
        "call_edges_left_out": graph.call_edges_left_out,
    }
    no_columns = np.zeros((len(regions), 0), dtype=np.float32)
    statements = np.bincount(pools.text.group, weights=pools.text.count, minlength=pools.text.groups)
    nodes = pools.counts(sample.node_kind)
    sizes = np.column_stack([statements, nodes[:, -1], instructions, nodes[:, :-1]]).astype(np.int64)  # (G, 6)
    columns = no_columns, no_columns, no_columns, no_columns, sizes
    blank = Embedding("+".join(levels), *columns, regions, counts, module.content_hash, form=module.form)
    return Prepared(sample, pools, blank, deleted=deleted)
