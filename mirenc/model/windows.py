"""The convolutional text encoder (`mirenc.model.encoders.convolution`) in numpy: equal windows are computed once.

After a layer the state of a token depends on the few tokens around it, and statements of code are alike. So tokens that
are equal so far are one class, as nodes are in `mirenc.model.refinement`: a layer computes one state for each class,
and its classes are the distinct windows of classes before it. Of SQLite's tokens a quarter is left after one layer, and
half after two.
"""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from mirenc.base.arrays import Float32, Int32, Int64, UInt16, UInt64
from mirenc.model.encoders.convolution import ConvolutionConfig
from mirenc.model.numpy_layers import NumpyLayers
from mirenc.model.segments import distinct_keys, hash64, run_starts
from mirenc.model.threads import map_slices

# Tokens whose classes are looked for together: the more, the more are equal; the states of all are held at once.
_GROUP_TOKENS = 1 << 16


def encode_windows(
    config: ConvolutionConfig, layers: NumpyLayers, threads: int, ids: UInt16, length: Int32
) -> Iterator[tuple[Int64, Float32]]:
    """Yield statement vectors, a group of texts at a time. Shapes: ids (U, L), length (U,) -> rows (n,), (n, H)."""
    order = np.argsort(length, kind="stable")
    group = np.cumsum(length[order], dtype=np.int64) // _GROUP_TOKENS
    for rows in np.split(order, run_starts(group)[1:]):
        lengths = length[rows]
        yield rows, _encode_group(config, layers, threads, ids[rows, : lengths[-1]], lengths)


def _encode_group(config: ConvolutionConfig, layers: NumpyLayers, threads: int, ids: UInt16, length: Int32) -> Float32:
    """Statement vectors of texts, the shorter ones first. Shapes: (U, L), (U,) -> (U, H)."""
    is_token = np.arange(ids.shape[1]) < length[:, None]
    # Class 0 is that of what lies outside of a text: its state is zero.
    half, classes = config.width // 2, np.zeros((len(ids), ids.shape[1] + config.width - 1), dtype=np.int64)
    text_classes = classes[:, half : half + ids.shape[1]]
    token_ids, place = np.unique(ids[is_token], return_inverse=True)
    text_classes[is_token] = place + 1
    state = config.first_states(layers, token_ids)  # (C, channels)
    all_windows = np.lib.stride_tricks.sliding_window_view(classes, config.width, axis=1)
    for block in config.blocks:
        windows = all_windows[is_token]  # (T, width)
        first, place = distinct_keys(_hashes(windows))
        windows = windows[first]
        state = np.concatenate([np.zeros_like(state[:1]), state])
        state = map_slices(_layer(config, layers, block, state, windows), len(windows), state.shape[1], threads)
        text_classes[is_token] = place + 1
    state = layers.norm("norm_out", state)
    out = np.empty((len(ids), config.hidden), dtype=np.float32)
    for start, end in itertools.pairwise([*run_starts(length).tolist(), len(length)]):
        token_states = state[text_classes[start:end, : length[start]] - 1]  # (n, length, channels)
        out[start:end] = config.pool(layers, token_states, None)
    return out


def _hashes(windows: Int64) -> UInt64:
    """A 64-bit hash of each window: the chance that two that differ share one is N^2 / 2^65. (T, width) -> (T,)."""
    value = np.zeros(len(windows), dtype=np.uint64)
    for column in windows.T:
        value = hash64(value + column.astype(np.uint64))
    return value


def _layer(
    config: ConvolutionConfig, layers: NumpyLayers, block: str, state: Float32, windows: Int64
) -> Callable[[slice], Float32]:
    """A function that computes the next states of a slice of windows, from those (1 + C, channels) of their classes."""

    def next_states(part: slice) -> Float32:
        columns = windows[part].T
        convolved = layers.window_sum(f"{block}.depthwise", state, columns)
        return config.next_states(layers, block, state[columns[len(columns) // 2]], convolved)

    return next_states
