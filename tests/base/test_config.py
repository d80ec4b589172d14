"""Configurations: the kind of graph encoder is chosen by name, and what is wrong is named."""

from pathlib import Path

import pytest

from mirenc.base.config import load_toml
from mirenc.base.errors import ConfigError
from mirenc.encoder.weights import load_files
from mirenc.model.config import DirectedGraphConfig, GraphEncoderConfig, ModelConfig
from mirenc.pretrain.config import PretrainConfig

RECIPE = Path(__file__).parents[2] / "pretrain" / "directed.toml"


def test_a_configuration_without_a_kind_is_the_papers() -> None:
    """As every model that was saved before there were two kinds."""
    old = ModelConfig.from_dict({"graph": {"hidden": 24, "out": 16}})
    assert old.graph == GraphEncoderConfig(hidden=24, out=16)
    assert old.graph.width == 16
    assert isinstance(load_files("mirenc-tiny").config.graph, GraphEncoderConfig)


def test_a_kind_is_chosen_by_name_and_comes_back_as_it_was_saved() -> None:
    chosen = ModelConfig.from_dict({"graph": {"kind": "directed", "out": 40, "readout": "mean-max-sum"}})
    assert chosen.graph == DirectedGraphConfig(out=40, readout="mean-max-sum")
    assert chosen.graph.width == 120
    for config in (chosen, ModelConfig()):
        assert ModelConfig.from_dict(config.model_dump()) == config


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({"kind": "directed", "layrs": 3}, "unknown key 'graph.layrs'; did you mean 'layers'?"),
        ({"layers": 3}, "unknown key 'graph.layers'; known keys: hidden, out, readout, kind"),
        ({"kind": "directed", "layers": 0}, "graph.layers: Input should be greater than or equal to 1"),
        ({"kind": "tree"}, "graph: kind must be 'gcn' or .*'directed'"),
        (7, "graph: kind must be 'gcn' or .*'directed'.* \\(found 7\\)"),
        ({"readout": "median"}, "graph.readout: Input should be 'mean' or 'mean-max-sum'"),
    ],
)
@pytest.mark.parametrize("owner", [ModelConfig, PretrainConfig])
def test_what_is_wrong_with_a_graph_encoder_is_named(
    owner: type[ModelConfig | PretrainConfig], graph: object, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        owner.from_dict({"graph": graph})


def test_the_recipe_of_the_directed_encoder() -> None:
    config = PretrainConfig.from_dict(load_toml(RECIPE))
    assert config.graph == DirectedGraphConfig(readout="mean-max-sum")
