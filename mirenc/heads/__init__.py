"""Heads: scikit-learn estimators that turn embedding and task features into a choice, and the embedder before them."""

from __future__ import annotations

from mirenc.heads.cost import CostHead
from mirenc.heads.embedder import IREmbedder
from mirenc.heads.ensemble import EnsembleHead
from mirenc.heads.label import LabelHead
from mirenc.heads.mlp import MLPHead
from mirenc.heads.state import load_head, save_head
from mirenc.heads.trees import TreesHead

__all__ = [
    "CostHead",
    "EnsembleHead",
    "IREmbedder",
    "LabelHead",
    "MLPHead",
    "TreesHead",
    "load_head",
    "save_head",
]
