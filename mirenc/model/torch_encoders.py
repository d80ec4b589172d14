"""What encoders have in common in torch: text encoders, and graph encoders with the auto-encoder's decoder."""

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirenc.model.config import TextConfig
from mirenc.model.data import IRData
from mirenc.model.tokenizer import PAD, TokenizerConfig

# Tokens that are encoded at once: on a CPU as many as its cache takes.
_SLICE_TOKENS, _SLICE_TOKENS_GPU = 4096, 16384


def gelu(x: Tensor) -> Tensor:
    """GELU by the tanh formula, which numpy computes as fast as torch does."""
    return F.gelu(x, approximate="tanh")


class TextEncoder(nn.Module, ABC):
    """Statements to vectors: the states of the tokens, and one vector of them.

    ``blocks`` are the layers between embedding and pooling; their matrices are trained by Muon.
    """

    blocks: nn.ModuleList

    def __init__(self, config: TextConfig, tokenizer: TokenizerConfig) -> None:
        super().__init__()
        self.token = nn.Embedding(tokenizer.vocab_size, config.token_width)
        self.hidden = config.hidden

    @abstractmethod
    def forward(self, ids: Tensor) -> Tensor:
        """Token states. Shapes: ids (B, T) int64 -> (B, T, S)."""

    @abstractmethod
    def pool(self, tokens: Tensor, ids: Tensor) -> Tensor:
        """Statement vectors from token states. Shapes: (B, T, S), (B, T) -> (B, H)."""

    def encode(self, ids: Tensor) -> Tensor:
        """Statement vectors. Shapes: ids (B, T) int64 -> (B, H)."""
        return self.pool(self(ids), ids)

    def encode_all(self, ids: Tensor, advance: Callable[[int], None] | None = None) -> Tensor:
        """Statement vectors, similar lengths together; ``advance`` is told how many are done. (U, T) -> (U, H)."""
        length = (ids != PAD).sum(1)
        order = torch.argsort(length, stable=True)
        # Up to a multiple of 4: on a CPU every new shape of a product costs memory for good.
        width = (-(-length[order] // 4) * 4).clamp(max=ids.shape[1]).tolist()
        tokens = _SLICE_TOKENS if ids.device.type == "cpu" else _SLICE_TOKENS_GPU
        parts, last = [ids.new_zeros(0, self.hidden, dtype=self.token.weight.dtype)], len(ids)
        while last:
            first = max(0, last - max(1, tokens // width[last - 1]))
            parts.append(self.encode(ids[order[first:last], : width[last - 1]]))
            if advance is not None:
                advance(last - first)
            last = first
        return torch.cat(parts[::-1])[torch.argsort(order)]


def initialise(module: nn.Module) -> None:
    """BERT's: normal with standard deviation 0.02, zero biases."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


class GraphEncoder(nn.Module, ABC):
    """Nodes to vectors."""

    @abstractmethod
    def forward(self, data: IRData, features: Tensor, statements: Tensor | None = None) -> list[Tensor]:
        """Node vectors by flow, from features of the nodes' texts and, where the model takes them, their statements'.

        Shapes: (N, F), (N, H), of which rows that are no instructions are not read -> 3 x (N, d)
        """

    @staticmethod
    def combine(per_flow: list[Tensor]) -> Tensor:
        """One vector a node. Shapes: 3 x (N, d) -> (N, d)."""
        return torch.stack(per_flow).mean(0)


def edge_scores(z: Tensor, pairs: Tensor) -> Tensor:
    """Inner-product decoder: logits z_i . z_j of an edge between each pair. Shapes: (N, d), (2, P) -> (P,)."""
    return (z[pairs[0]] * z[pairs[1]]).sum(-1)
