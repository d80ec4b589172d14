"""`prepare`: a module made ready for a model, and its embedding but for the vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mirenc.embed.embedding import Embedding
from mirenc.ir import IRModule, regions_of
from mirenc.model.lexical import Lexicon
from mirenc.model.pooling import Pools, module_pools, region_pools
from mirenc.model.runtime import Pooled
from mirenc.model.sample import IRSample, make_sample
from mirenc.tokenizer import IRTokenizer

__all__ = ["Prepared", "prepare"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """One module ready for a model, and its embedding but for the vectors.

    Attributes
    ----------
    sample : IRSample
    pools : Pools
        How the rows come from texts and nodes.
    blank : Embedding
        Without columns.
    key : bytes
        Where the cache keeps the embedding; empty where it does not.
    """

    sample: IRSample
    pools: Pools
    blank: Embedding
    key: bytes = b""

    def filled(self, pooled: Pooled, lexicon: Lexicon | None) -> Embedding:
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
) -> Prepared:
    """Make a module's sample, and say which rows it has.

    Parameters
    ----------
    module : IRModule
    tokenizer : IRTokenizer
    levels : tuple of str
        Of `mirenc.ir.LEVELS`. Rows of several stand one below the other.
    weighting : str
        `mirenc.model.config.PoolingConfig`.
    function : str, optional
        Regular expression: rows of such functions only (`mirenc.ir.regions_of`).

    Raises
    ------
    ConfigError
        No regular expression, or no function has such a name.
    """
    listed = [regions_of(module, level, function=function) for level in levels]
    regions = [region for each in listed for region in each.regions]
    sample = make_sample(module, tokenizer)
    if levels == ("module",) and function is None:
        pools = module_pools(sample, weighting)
        instructions = np.array([module.instruction_count])
    else:
        starts = np.cumsum([0, *(len(each) for each in listed)])
        row = np.concatenate([each.region + start for each, start in zip(listed, starts, strict=False)])  # (P,)
        instructions = np.bincount(row, minlength=len(regions))
        inside = np.concatenate([each.instruction for each in listed])
        pools = region_pools(sample, inside, row, len(regions), weighting, reads="instruction" not in levels)
    counts = {
        "functions": len(module.headers),
        "defined": sum(not header.is_declaration for header in module.headers),
        "blocks": module.block_count,
        "instructions": module.instruction_count,
        "statements": len(sample.statement_row),
        "distinct_statements": int(np.count_nonzero(np.bincount(sample.statement_row))),
        "nodes": len(sample.node_row),
        "edges": len(sample.edge_flow),
    }
    none = np.zeros((len(regions), 0), dtype=np.float32)
    sizes = _sizes(sample, pools, instructions)
    blank = Embedding("+".join(levels), none, none, none, none, sizes, regions, counts, module.content_hash)
    return Prepared(sample, pools, blank)


def _sizes(sample: IRSample, pools: Pools, instructions: NDArray[np.int64]) -> NDArray[np.int64]:
    """`Embedding.sizes` of each group; (G,) instructions are given. (G, 6) int64."""
    text = pools.text
    statements = np.bincount(text.group, weights=text.count, minlength=text.groups)
    counts = pools.counts(sample.node_kind)
    return np.column_stack([statements, counts[:, -1], instructions, counts[:, :-1]]).astype(np.int64)
