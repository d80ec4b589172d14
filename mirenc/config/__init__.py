"""Every configuration class and preset, in one place: typed, frozen, unknown keys refused with a suggestion."""

from __future__ import annotations

from mirenc.config.base import _Config as _Config
from mirenc.config.base import load_toml
from mirenc.config.graph import DirectedGraphConfig, GraphConfig, GraphEncoderConfig
from mirenc.config.maps import DomainConfig, MapsConfig
from mirenc.config.model import (
    PRESETS,
    LexicalConfig,
    MatchingConfig,
    ModelConfig,
    PoolingConfig,
    TaughtConfig,
    preset,
)
from mirenc.config.run import AnswersConfig, PretrainConfig, StageConfig
from mirenc.config.text import ConvolutionConfig, TextConfig, TextEncoderConfig, TokenizerConfig

__all__ = [
    "PRESETS",
    "AnswersConfig",
    "ConvolutionConfig",
    "DirectedGraphConfig",
    "DomainConfig",
    "GraphConfig",
    "GraphEncoderConfig",
    "LexicalConfig",
    "MapsConfig",
    "MatchingConfig",
    "ModelConfig",
    "PoolingConfig",
    "PretrainConfig",
    "StageConfig",
    "TaughtConfig",
    "TextConfig",
    "TextEncoderConfig",
    "TokenizerConfig",
    "load_toml",
    "preset",
]
