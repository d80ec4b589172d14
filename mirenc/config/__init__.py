"""Every configuration class and preset, in one place: typed, frozen, unknown keys refused with a suggestion."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mirenc.config.base import _Config as _Config
from mirenc.config.base import load_toml
from mirenc.config.graph import DirectedGraphConfig, GraphConfig, GraphEncoderConfig
from mirenc.config.model import (
    PRESETS,
    LexicalConfig,
    MatchingConfig,
    ModelConfig,
    PoolingConfig,
    TaughtConfig,
    preset,
)
from mirenc.config.text import ConvolutionConfig, TextConfig, TextEncoderConfig, TokenizerConfig

if TYPE_CHECKING:
    from mirenc.config.maps import DomainConfig, MapsConfig
    from mirenc.config.run import AnswersConfig, PretrainConfig, StageConfig

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

# Only pre-training has these, and building classes takes its time.
_LATER = {
    "AnswersConfig": "run",
    "DomainConfig": "maps",
    "MapsConfig": "maps",
    "PretrainConfig": "run",
    "StageConfig": "run",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value
