"""The directed graph encoder (`mirenc.model.encoders.directed`) in numpy: equal nodes are computed once.

Code repeats itself, so a layer is computed once for each class of nodes that are equal so far, and classes are refined
from layer to layer by a node's neighbours (Weisfeiler and Leman's colour refinement with 64-bit hashes as colours: two
nodes that differ are taken for equal with a chance of N^2 / 2^65, a hundred-millionth for SQLite). In a slice of nodes
a relation's matrix multiplies the state of each class of neighbours once. Threads compute and pool slices.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mirenc.base.arrays import Float32, Int32, Int64, Integer, UInt8, UInt32, spread
from mirenc.model.encoders.directed import ARGUMENTS, LAST_POSITION, RELATION_OF, RELATIONS, DirectedGraphConfig
from mirenc.model.graph import Flow
from mirenc.model.numpy_layers import NumpyLayers
from mirenc.model.pooling import Pool, Readout, Share, node_keys
from mirenc.model.sample import IRSample
from mirenc.model.segments import distinct_keys, hash64, run_starts, segment_sum
from mirenc.model.threads import SLICE, map_in_order, map_slices, trim_memory

# From as many nodes on, memory is given back between two steps.
_LARGE_GRAPH = 1 << 15
# The relation of a node to itself, after all others.
_SELF_RELATION = RELATIONS
_RELATION_BITS = _SELF_RELATION.bit_length()


class _Classes(NamedTuple):
    """Nodes that are equal: the class of each node (N,), and one node of each class (C,), ascending."""

    node_class: Int32
    member: Int64


def _classes(key: Integer) -> _Classes:
    first, class_row = distinct_keys(key)
    # In the order of their members: edges join neighbours, whose states then lie side by side.
    is_member = np.zeros(len(key), dtype=bool)
    is_member[first] = True
    number = np.cumsum(is_member, dtype=np.int32) - np.int32(1)
    return _Classes(number[first[class_row]], np.flatnonzero(is_member))


class _Neighbours:
    """Edges to each node, from itself and its neighbours under each relation. P pairs of node and relation, K edges."""

    first: Int64  # (N + 1,) first pair of each node
    relation: UInt8  # (P,)
    start: Int32  # (P + 1,) first edge of each pair
    source: Int32  # (K,)
    share: Float32  # (K,) an edge's part of its pair's mean: more than others', if there are parallel ones
    levels: list[_Classes]  # of nodes that are equal before the first layer, after it, ...

    def __init__(self, sample: IRSample, positions: bool, classes: _Classes, layers: int) -> None:
        nodes = len(sample.node_row)
        position = np.minimum(sample.edge_position, LAST_POSITION) if positions else 0
        forward, node = RELATION_OF[sample.edge_flow, position], np.arange(nodes)
        # Target, relation and source as one number each, so that one sort brings equal edges together.
        bits = nodes.bit_length()
        key = np.concatenate([*sample.edge_index[::-1], node]) << _RELATION_BITS
        key |= np.concatenate([forward, forward + RELATIONS // 2, np.full(nodes, _SELF_RELATION)])
        key <<= bits
        key |= np.concatenate([*sample.edge_index, node])
        key.sort(kind="stable")  # edges come in long runs that are in order
        edge = run_starts(key)
        count = np.diff(edge, append=len(key)).astype(np.uint32)
        key = key[edge]
        self.source = (key & ((1 << bits) - 1)).astype(np.int32)
        key >>= bits
        self.start = np.append(run_starts(key), len(key)).astype(np.int32)
        total = np.add.reduceat(count, self.start[:-1]).astype(np.float32)
        self.share = (count / np.repeat(total, np.diff(self.start))).astype(np.float32)
        pair = key[self.start[:-1]]
        self.relation = (pair & ((1 << _RELATION_BITS) - 1)).astype(np.uint8)
        self.first = np.append(0, np.cumsum(np.bincount(pair >> _RELATION_BITS, minlength=nodes)))
        del key, edge, pair, total, forward, position
        self.levels = [classes]
        for _ in range(layers):
            self.levels.append(self._refine(self.levels[-1], count))

    def _refine(self, classes: _Classes, count: UInt32) -> _Classes:
        """Classes of nodes that were equal and have equal neighbours; parallel edges are one of a higher count (K,)."""
        hashes = hash64(classes.node_class.astype(np.uint64))[self.source]
        hashes += np.repeat(self.relation, np.diff(self.start))
        hashes = hash64(hashes)
        hashes *= count
        # Every node has at least the edge from itself.
        return _classes(np.add.reduceat(hashes, self.start[self.first[:-1]]))

    def messages(self, nodes: Int64, u: Float32, place: Int32, matrices: Float32) -> Float32:
        """Sum over the relations of the mean over the neighbours under it, times its matrix; the last is a node's own.

        Shapes: nodes (n,), states (C, d), the row of every node in them (N,), (RELATIONS + 1, d, d) -> (n, d) float32
        """
        pairs, start = spread(self.first[nodes], self.first[nodes + 1])
        # Nearly all pairs have one neighbour: those of one relation and equal neighbours are one to its matrix.
        edge = self.start[pairs]
        row = place[self.source[edge]]
        multiple = np.flatnonzero(self.start[pairs + 1] - edge > 1)
        row[multiple] = len(u) + multiple
        first, column = distinct_keys(self.relation[pairs] * np.int64(len(u) + len(pairs)) + row)
        inputs = u.take(row[first], axis=0, mode="clip")
        edges, bounds = spread(self.start[pairs[multiple]], self.start[pairs[multiple] + 1])
        inputs[column[multiple]] = segment_sum(self.share[edges], place[self.source[edges]], bounds, u)
        products = np.empty_like(inputs)
        ends = np.searchsorted(self.relation[pairs[first]], np.arange(len(matrices) + 1)).tolist()
        for matrix, low, high in zip(matrices, ends[:-1], ends[1:], strict=True):
            np.matmul(inputs[low:high], matrix, out=products[low:high])
        return segment_sum(np.ones(len(pairs), dtype=np.float32), column, start, products)


def _release_memory(count: int) -> None:
    """Give back to the system what the last step freed, if there are many nodes."""
    if count >= _LARGE_GRAPH:
        trim_memory()


class RefinedPooling:
    """Vectors of groups of nodes; the result does not depend on the number of threads."""

    def __init__(self, config: DirectedGraphConfig, layers: NumpyLayers, threads: int = 1) -> None:
        self.config, self.threads, self._layers = config, threads, layers
        self._matrices: list[Float32] = []
        for name in (f"layers.{layer}" for layer in range(config.layers)):
            matrices = np.tensordot(layers.weight(f"{name}.mix"), layers.weight(f"{name}.basis"), 1)
            self._matrices.append(np.concatenate([matrices, layers.matrix(f"{name}.own")[None]]).astype(np.float32))
        # Mean of the flows' projections, which is one projection.
        self._leave = layers.matrix("leave").reshape(config.hidden, len(Flow), config.out).mean(1)
        self._leave_bias = layers.weight("leave.bias").reshape(len(Flow), config.out).mean(0)

    def __call__(self, sample: IRSample, pool: Pool, features: Float32, statements: Float32 | None) -> Float32:
        """(G, D) of groups of nodes, from features of texts (U, F) and statement vectors of instructions (U, H)."""
        _release_memory(len(sample.node_row))
        classes, vectors = self.nodes(sample, features, statements)
        members = pool.of_classes(classes.node_class)
        readout = Readout(pool.groups, self.config.out, sizes=self.config.readout == "mean-max-sum")
        count = len(classes.member)

        def share(first: int) -> Share:
            span = slice(*np.searchsorted(members.item, [first, min(first + SLICE, count)]).tolist())
            order = span.start + np.argsort(members.group[span], kind="stable")
            rows = vectors(slice(first, first + SLICE)) if len(order) else np.zeros((0, self.config.out), np.float32)
            columns = members.group[order], members.weight[order], members.count[order]
            return readout.share(rows, members.item[order] - first, *columns)

        for part in map_in_order(share, range(0, count, SLICE), self.threads):
            readout.add(part)
        return readout.result()

    def nodes(
        self, sample: IRSample, features: Float32, statements: Float32 | None
    ) -> tuple[_Classes, Callable[[slice], Float32]]:
        """Classes of equal nodes, and a function that computes the vectors of a slice of classes. (SLICE, d)."""
        argument = np.minimum(sample.node_argument, ARGUMENTS - 1) if self.config.positions else np.int64(0)
        classes = _classes(node_keys(sample.node_row, sample.node_kind) * ARGUMENTS + argument)
        neighbours = _Neighbours(sample, self.config.positions, classes, self.config.layers)
        row = sample.node_row[classes.member]
        state = self.config.first_states(
            *(self._layers, features[row], sample.node_kind[classes.member]),
            np.broadcast_to(argument, sample.node_row.shape)[classes.member],
            None if statements is None else lambda rows: statements[row[rows]],
        )
        slice_of = self._layer(0, state, neighbours)
        for layer in range(1, self.config.layers):
            count = len(neighbours.levels[layer].member)
            _release_memory(count)
            state = map_slices(slice_of, count, self.config.hidden, self.threads)
            _release_memory(count)  # the threads' memory, too
            slice_of = self._layer(layer, state, neighbours)

        def vectors(part: slice) -> Float32:
            out: Float32 = self._layers.norm("norm_out", slice_of(part)) @ self._leave
            out += self._leave_bias
            return out

        return neighbours.levels[-1], vectors

    def _layer(self, layer: int, state: Float32, neighbours: _Neighbours) -> Callable[[slice], Float32]:
        """A function that computes the states (SLICE, d) of a slice of classes from those before the layer (C, d)."""
        place, nodes = neighbours.levels[layer].node_class, neighbours.levels[layer + 1].member
        name = f"layers.{layer}"
        norm, bias = self._layers.norm, self._layers.weight(f"{name}.own.bias")
        u = map_slices(lambda part: norm(f"{name}.norm", state[part]), len(state), state.shape[1], self.threads)

        def next_states(part: slice) -> Float32:
            members = nodes[part]
            message = neighbours.messages(members, u, place, self._matrices[layer])
            message += bias
            return self.config.next_states(self._layers, name, state[place[members]], message)

        return next_states
