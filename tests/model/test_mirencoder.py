"""The whole model: its size, its parts and the node features it makes of token embeddings."""

import numpy as np
import pytest
import torch

from mirenc.base.errors import ConfigError
from mirenc.model.config import PRESETS, ConvolutionConfig, ModelConfig, preset
from mirenc.model.heads import matching_logits
from mirenc.model.kinds import Linear, Norm
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.tokenizer import CLS, PAD, SEP, UNK
from mirenc.model.torch_layers import Head


def linear(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def expected_parameters(config: ModelConfig) -> int:
    """Number of parameters, from the architecture's formula."""
    h, wide, norm = config.text.hidden, config.text.feed_forward, 2 * config.text.hidden
    if isinstance(config.text, ConvolutionConfig):
        f, c = config.text.embedding, config.text.channels
        inner = config.text.expansion * c
        block = linear(config.text.width, c) + 2 * c + linear(c, inner) + linear(inner, c)
        text = linear(f, c) + 4 * c + config.text.layers * block + linear(2 * c, wide) + linear(wide, h)
    else:
        f = c = h
        block = 2 * norm + linear(h, 3 * h) + linear(h, h) + linear(h, wide) + linear(wide, h)
        text = config.tokenizer.max_length * h + 2 * norm + config.text.layers * block
    text += config.tokenizer.vocab_size * f
    mlm = linear(c, f) + 2 * f + config.tokenizer.vocab_size  # the output matrix is the token embedding
    middle, out = config.graph.hidden, config.graph.out
    graph = 3 * f + 2 * f + linear(f, middle) + linear(middle, out)
    m = config.matching.hidden
    return text + mlm + graph + norm + 2 * out + linear(h + out, m) + linear(m, m) + linear(m, 1)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_builds_with_the_parameters_of_the_formula(name: str) -> None:
    config = preset(name)
    with torch.device("meta"):
        model = MIREncoder(config)
    assert model.parameter_count() == expected_parameters(config)


def test_the_base_model_has_the_papers_22_million_parameters() -> None:
    with torch.device("meta"):
        count = MIREncoder(preset("base")).parameter_count()
    assert 0.95 * 22e6 <= count <= 1.05 * 22e6


def test_unknown_preset() -> None:
    with pytest.raises(ConfigError, match="unknown preset 'huge'; available: tiny, small, base, fast"):
        preset("huge")


def test_the_fast_preset_has_a_body_of_less_than_a_million_parameters() -> None:
    with torch.device("meta"):
        text = MIREncoder(preset("fast")).text
    assert sum(parameter.numel() for parameter in text.parameters()) - text.token.weight.numel() < 1e6


def test_saved_names_are_the_parts(model_config: ModelConfig) -> None:
    names = MIREncoder(model_config).state_dict().keys()
    assert {name.split(".")[0] for name in names} == {"text", "mlm", "graph", "matching"}
    # The tied output matrix is stored once.
    assert [name for name in names if name.endswith("token.weight")] == ["text.token.weight"]


@pytest.mark.parametrize("kind", ["model_config", "convolution_config"])
def test_node_features_are_the_mean_of_a_text_s_own_tokens(kind: str, request: pytest.FixtureRequest) -> None:
    model = MIREncoder(request.getfixturevalue(kind))
    embedding = model.text.token.weight.detach().numpy()
    ids = torch.tensor([[CLS, 7, 9, 7, SEP, PAD], [CLS, UNK, SEP, PAD, PAD, PAD], [CLS, SEP, PAD, PAD, PAD, PAD]])
    features = model.text_features(ids).detach().numpy()
    expected = [(2 * embedding[7] + embedding[9]) / 3, embedding[UNK], np.zeros_like(embedding[0])]
    np.testing.assert_allclose(features, expected, atol=1e-6)


def test_matching_head_worked_by_hand() -> None:
    norms, linears = {"norm_text": Norm(2), "norm_graph": Norm(2)}, {"linear1": Linear(4, 2), "linear2": Linear(2, 2)}
    head = Head({**norms, **linears, "linear3": Linear(2, 1)}, matching_logits)
    with torch.no_grad():
        head.linear1.weight.copy_(torch.tensor([[1.0, 0, 0, 0], [0, 0, 1.0, 0]]))
        head.linear1.bias.copy_(torch.tensor([0.5, -0.5]))
        head.linear2.weight.copy_(torch.tensor([[1.0, 1.0], [1.0, -1.0]]))
        head.linear2.bias.zero_()
        head.linear3.weight.copy_(torch.tensor([[2.0, 3.0]]))
        head.linear3.bias.fill_(0.25)
    # Two numbers normalise to +1 and -1. First row: [1, -1] and [1, -1], so 1.5 and 0.5, then 2 and 1, then 7.25.
    # Second: [-1, 1] and [1, -1], so relu(-0.5) and 0.5, then 0.5 and relu(-0.5), then 1.25.
    text = torch.tensor([[40.0, 20.0], [-7.0, 13.0]])
    graph = torch.tensor([[900.0, 300.0], [55.0, 5.0]])
    np.testing.assert_allclose(head(text, graph).detach(), [7.25, 1.25], atol=1e-4)
