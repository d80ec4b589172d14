"""The text encoder: a statement's vector is its own, whatever it is encoded with."""

import numpy as np
import pytest
import torch
from random_model import random_weights

from mirenc.model.config import ConvolutionConfig, ModelConfig, declared_layers
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.tokenizer import CLS, PAD, SEP, TokenizerConfig
from mirenc.model.torch_layers import TextEncoder


@pytest.fixture(scope="module")
def transformer(model_config: ModelConfig, model_weights: dict[str, np.ndarray]) -> MIREncoder:
    return loaded(model_config, model_weights)


@pytest.fixture(scope="module")
def convolution(convolution_config: ModelConfig) -> MIREncoder:
    return loaded(convolution_config, random_weights(convolution_config))


@pytest.fixture(scope="module", params=["transformer", "convolution"])
def model(request: pytest.FixtureRequest) -> MIREncoder:
    built: MIREncoder = request.getfixturevalue(request.param)
    return built


def loaded(config: ModelConfig, weights: dict[str, np.ndarray]) -> MIREncoder:
    model = MIREncoder(config)
    model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    return model.eval()


def statement(*pieces: int, length: int = 0) -> list[int]:
    ids = [CLS, *pieces, SEP]
    return ids + [PAD] * (length - len(ids))


@torch.inference_mode()
def test_order_and_repetition_of_tokens_matter(model: MIREncoder) -> None:
    ids = torch.tensor([statement(7, 8, 9), statement(9, 8, 7), statement(7, 8, 8)])
    vectors = model.text.encode(ids)
    assert (vectors[0] - vectors[1]).abs().max() > 0.01
    assert (vectors[0] - vectors[2]).abs().max() > 0.01


@torch.inference_mode()
def test_pooling_is_the_mean_over_tokens_without_padding(transformer: MIREncoder) -> None:
    tokens = torch.tensor([[[1.0, 10.0], [3.0, 20.0], [100.0, 100.0]], [[1.0, 1.0], [2.0, 5.0], [3.0, 0.0]]])
    ids = torch.tensor([[CLS, SEP, PAD], [CLS, 7, SEP]])
    assert transformer.text.pool(tokens, ids).tolist() == [[2.0, 15.0], [2.0, 2.0]]


@torch.inference_mode()
def test_cls_pooling_takes_the_first_token(model_config: ModelConfig) -> None:
    config = model_config.model_copy(update={"text": model_config.text.model_copy(update={"pooling": "cls"})})
    model = loaded(config, random_weights(config))
    ids = torch.tensor([statement(7, 8, 9)])
    assert model.text.encode(ids).equal(model.text(ids)[:, 0])


@torch.inference_mode()
def test_convolutions_pool_mean_and_maximum_without_padding() -> None:
    """Weights by hand: V1 passes on the mean less the maximum, V2 weighs it."""
    text = ConvolutionConfig(embedding=8, channels=8, feed_forward=8, hidden=8)
    config = ModelConfig(tokenizer=TokenizerConfig(vocab_size=256), text=text)
    encoder = TextEncoder(text, declared_layers(config)["text"])
    for layer in (encoder.pool1, encoder.pool2):
        layer.weight.zero_()
        layer.bias.zero_()
    encoder.pool1.weight[0, 0], encoder.pool1.weight[0, 8] = 1.0, -1.0
    encoder.pool2.weight[3, 0] = 2.0
    states = torch.zeros(2, 3, 8)
    states[0, :, 0] = torch.tensor([-4.0, -2.0, 50.0])  # mean -3, maximum -2: the padding is neither
    states[1, :, 0] = torch.tensor([1.0, 2.0, 6.0])  # mean 3, maximum 6
    ids = torch.tensor([[CLS, SEP, PAD], [CLS, 7, SEP]])
    expected = torch.zeros(2, 8)
    expected[:, 3] = 2.0 * encoder.gelu(torch.tensor([-1.0, -3.0]))
    np.testing.assert_allclose(encoder.pool(states, ids), expected, atol=1e-6)
    assert expected[0, 3] < -0.3


@torch.inference_mode()
def test_a_token_s_state_depends_on_those_that_the_convolutions_reach(convolution: MIREncoder) -> None:
    """Three layers of width 5 reach six tokens to either side, and no further."""
    pieces = list(range(10, 40))
    before = convolution.text(torch.tensor([statement(*pieces)]))[0]
    pieces[14] = 99  # the token at place 15: [CLS] comes first
    after = convolution.text(torch.tensor([statement(*pieces)]))[0]
    moved = (after - before).abs().amax(-1) > 1e-6
    assert moved.nonzero().flatten().tolist() == list(range(15 - 6, 15 + 7))


@torch.inference_mode()
def test_mlm_scores_come_from_the_token_embedding(model: MIREncoder) -> None:
    states = model.text(torch.tensor([statement(7, 8, 9)]))[0, 1:4]
    scores = model.mlm(states, model.text.token.weight)
    assert scores.shape == (3, 512)
    # A larger embedding row moves the score of its piece and of no other.
    larger = model.text.token.weight.clone()
    larger[7] *= 3
    moved = (model.mlm(states, larger) - scores).abs().max(dim=0).values
    assert moved[7] > 0.01
    assert moved[torch.arange(512) != 7].max() == 0
