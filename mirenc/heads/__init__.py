"""Heads: scikit-learn estimators that turn embedding and context into a choice or a number, and the embedder."""

from mirenc.heads.choosing import Settings
from mirenc.heads.cost import CostHead
from mirenc.heads.embedder import IREmbedder
from mirenc.heads.ensemble import (
    CautiousEnsembleHead,
    EnsembleHead,
    HedgingEnsembleHead,
    LabelsEnsembleHead,
    NumberEnsembleHead,
)
from mirenc.heads.files import load_head, save_head
from mirenc.heads.linear import LandmarkLabels, LandmarkRegressor, RidgeHead, RidgeLabels, RidgeRegressor
from mirenc.heads.mlp import LabelHead, MLPHead
from mirenc.heads.pairs import PairHead
from mirenc.heads.trees import BoostedRegressor, RatioTreesHead, TreesHead, TreesLabels

__all__ = [
    "BoostedRegressor",
    "CautiousEnsembleHead",
    "CostHead",
    "EnsembleHead",
    "HedgingEnsembleHead",
    "IREmbedder",
    "LabelHead",
    "LabelsEnsembleHead",
    "LandmarkLabels",
    "LandmarkRegressor",
    "MLPHead",
    "NumberEnsembleHead",
    "PairHead",
    "RatioTreesHead",
    "RidgeHead",
    "RidgeLabels",
    "RidgeRegressor",
    "Settings",
    "TreesHead",
    "TreesLabels",
    "load_head",
    "save_head",
]
