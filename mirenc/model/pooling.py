"""From the vectors of statements or nodes to one vector a module or function: v_g = sum_i w_i v_i / sum_i w_i.

``weighting`` gives w: 1 (``count``), or 1 / sqrt(occurrences of the item's text in the group) (``sqrt``), which the
paper does not (section 3.4: "aggregated"). What it gains is measured in pretrain/README.md. A mean does not say how
many there are: with ``readout = "mean-max-sum"`` the largest value and log(1 + sum of the positive parts) stand beside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mirenc.base.arrays import Float32, Float64, Int64, Integer
from mirenc.model.graph import Flow, NodeKind
from mirenc.model.sample import IRSample
from mirenc.model.segments import distinct_keys, run_starts, segment_max, segment_sum

# Memberships whose vectors are gathered at once.
_SLICE = 1 << 13
_TEXT = ("item", "group", "count")


class Share(NamedTuple):
    """Contribution of some vectors to G' groups; sums are in double precision, so that they depend on no order."""

    group_rows: Int64  # (G',) groups that have some of them
    mean: Float64  # (G', D) weighted sum
    maximum: Float32  # (G', D) largest of each component
    total: Float64  # (G', D) sum of the positive parts


class Readout:
    """Groups' mean and, with ``sizes``, maximum and soft count, from vectors that come some at a time."""

    def __init__(self, groups: int, width: int, *, sizes: bool) -> None:
        self._sizes = sizes
        self._mean = np.zeros((groups, width))
        if sizes:
            self._maximum = np.full((groups, width), -np.inf, dtype=np.float32)
            self._total = np.zeros((groups, width))

    def share(self, x: Float32, row: Integer, group: Int64, weight: Float64, count: Integer) -> Share:
        """The share of some memberships, sorted by group, each of ``count`` equal members. (n, D), four (M,)."""
        start = run_starts(group)
        groups, bounds = group[start], np.append(start, len(group))
        values: Float64 = x.astype(np.float64)
        mean = segment_sum(weight, row, bounds, values)
        if not self._sizes:
            return Share(groups, mean, x[:0], mean[:0])
        np.maximum(values, 0, out=values)
        total = segment_sum(count.astype(np.float64), row, bounds, values)
        return Share(groups, mean, segment_max(x[row], start), total)

    def add(self, share: Share) -> None:
        self._mean[share.group_rows] += share.mean
        if self._sizes:
            self._maximum[share.group_rows] = np.maximum(self._maximum[share.group_rows], share.maximum)
            self._total[share.group_rows] += share.total

    def result(self) -> Float32:
        """(G, D) mean, or (G, 3 D) mean, maximum and log(1 + sum of the positive parts); zero without members."""
        if not self._sizes:
            return self._mean.astype(np.float32)
        groups, width = self._mean.shape
        out = np.empty((groups, 3 * width), dtype=np.float32)
        out[:, :width] = self._mean
        out[:, width : 2 * width] = np.where(np.isneginf(self._maximum), np.float32(0), self._maximum)
        out[:, 2 * width :] = np.log1p(self._total, out=self._total)
        return out


@dataclass(frozen=True, eq=False)
class Pool:
    """Which items make up which of G groups (several may have one: loops nest), and what each weighs there."""

    item: Int64  # (M,)
    group: Int64  # (M,)
    weight: Float64  # (M,) they sum to 1 in each group
    groups: int
    count: Int64  # (M,) for how many equal items each membership stands

    def readout(self, vectors: Float32, *, sizes: bool = False) -> Float32:
        """`Readout.result`, each membership once in maximum and sum. Shapes: (n, D) -> (G, D), with sizes (G, 3 D)."""
        readout = Readout(self.groups, vectors.shape[1], sizes=sizes)
        order = np.lexsort((self.item, self.group))
        for first in range(0, len(order), _SLICE):
            chunk = order[first : first + _SLICE]
            columns = self.group[chunk], self.weight[chunk], np.ones(len(chunk), dtype=np.int64)
            readout.add(readout.share(vectors[self.item[chunk]], np.arange(len(chunk)), *columns))
        return readout.result()

    def of_classes(self, row: Integer) -> Pool:
        """The pool of classes of equal items, sorted by class; ``row`` (n,) is the class of each item."""
        key = row[self.item].astype(np.int64) * self.groups + self.group
        first, class_row = distinct_keys(key)
        item, group = np.divmod(key[first], max(self.groups, 1))
        weight: Float64 = np.bincount(class_row, self.weight, len(first)).astype(np.float64, copy=False)
        return Pool(item, group, weight, self.groups, np.bincount(class_row, minlength=len(first)))


def make_pool(
    item: Integer,
    group: Integer,
    groups: int,
    weighting: str,
    *,
    key: Integer | None = None,
    count: Integer | None = None,
) -> Pool:
    """The pool of some memberships, one for each (item, group), that stand for ``count`` (M,) equal items each.

    Items of one group with one ``key`` (M,) are equal; without keys an item equals itself alone.
    """
    owner: Int64 = group.astype(np.int64)
    counts: Int64 = np.ones(len(item), np.int64) if count is None else count.astype(np.int64)
    weight = counts.astype(np.float64)
    if weighting == "sqrt":
        key = item if key is None else key
        _, class_row = distinct_keys(owner * (int(key.max(initial=0)) + 1) + key)
        weight /= np.sqrt(np.bincount(class_row, weight)[class_row])
    weight /= np.bincount(owner, weight, groups)[owner]
    return Pool(item.astype(np.int64), owner, weight, groups, counts)


@dataclass(frozen=True, eq=False)
class Pools:
    """Pools of a module's texts and nodes, from which the rows of one level are made."""

    text: Pool  # of texts that are statements
    graph: Pool  # of nodes
    # Of texts that define what a group takes; None: its own statements do, or not asked.
    definitions: Pool | None = None

    def with_definitions(self, weighting: str) -> Pools:
        """The pools with the definitions among the texts, as a model that is ``paired`` has them."""
        if self.definitions is None:
            return self
        columns = [np.concatenate([getattr(pool, name) for pool in (self.text, self.definitions)]) for name in _TEXT]
        text = make_pool(columns[0], columns[1], self.text.groups, weighting, count=columns[2])
        return replace(self, text=text, definitions=None)

    def counts(self, node_kind: Integer) -> Float32:
        """Size of each group: its nodes of each kind, and its distinct statements. Shapes: (N,) -> (G, COUNTS)."""
        kinds = len(NodeKind)
        nodes = self.graph.group * kinds + node_kind[self.graph.item]
        kind_counts = np.bincount(nodes, minlength=self.graph.groups * kinds).reshape(-1, kinds)
        statement_counts = np.bincount(self.text.group, minlength=self.text.groups)
        return np.concatenate([kind_counts, statement_counts[:, None]], axis=1).astype(np.float32)


def node_keys(node_row: Integer, node_kind: Integer) -> Int64:
    """(N,) numbers, equal for nodes of equal text and kind."""
    return node_row.astype(np.int64) * len(NodeKind) + node_kind


def module_pools(sample: IRSample, weighting: str) -> Pools:
    """One group of all statements and all nodes; ``weighting`` is `mirenc.model.config.PoolingConfig`'s."""
    key = node_keys(sample.node_row, sample.node_kind)
    return Pools(
        text_pool(sample.statement_row, np.zeros(len(sample.statement_row), dtype=np.int64), 1, weighting),
        make_pool(np.arange(len(key)), np.zeros(len(key), dtype=np.int64), 1, weighting, key=key),
    )


def region_pools(
    sample: IRSample, instruction: Integer, group: Integer, groups: int, weighting: str, *, reads: bool = True
) -> Pools:
    """Groups of instructions: statements, nodes and, with ``reads``, what is read: variables, definitions of globals.

    ``instruction``, ``group`` (P,) say which instruction of the module belongs to which group; to several, or to none.
    """
    import scipy.sparse as sp  # here, because a module alone does without, and its import takes long

    count = len(sample.instruction_node)
    membership = sp.csr_matrix((np.ones(len(group)), (group, instruction)), shape=(groups, count))

    def members(reader: Integer, item: Integer, items: int) -> tuple[Int64, Int64]:
        """Items that the readers in each group read: item and group of each distinct pair."""
        pairs = (membership @ sp.csr_matrix((np.ones(len(reader)), (reader, item)), shape=(count, items))).tocoo()
        return pairs.col, pairs.row

    node, reader = sample.instruction_node, np.arange(count)
    definitions = None
    if reads:
        number = np.full(len(sample.node_row), -1)
        number[node] = reader
        source, target = sample.edge_index[:, sample.edge_flow == Flow.DATA]
        use = sample.node_kind[source] == NodeKind.VARIABLE
        node, reader = np.concatenate([node, source[use]]), np.concatenate([reader, number[target[use]]])
        # A constant whose text is a definition stands for a global.
        is_definition = np.array([text.startswith("@") for text in sample.texts], dtype=bool)[sample.node_row[source]]
        defines = is_definition & (sample.node_kind[source] == NodeKind.CONSTANT)
        pairs = members(number[target[defines]], sample.node_row[source[defines]], len(sample.texts))
        definitions = make_pool(*pairs, groups, "count")
    item, owner = members(reader, node, len(sample.node_row))
    row = sample.statement_row[len(sample.statement_row) - count :][instruction]
    key = node_keys(sample.node_row, sample.node_kind)[item]
    text = text_pool(row, group, groups, weighting)
    return Pools(text, make_pool(item, owner, groups, weighting, key=key), definitions)


def text_pool(row: Integer, group: Integer, groups: int, weighting: str) -> Pool:
    """Statements as their texts: one that occurs n times in a group is one membership of count n."""
    width = int(row.max(initial=0)) + 1
    pairs, count = np.unique(group.astype(np.int64) * width + row, return_counts=True)
    return make_pool(pairs % width, pairs // width, groups, weighting, count=count)
