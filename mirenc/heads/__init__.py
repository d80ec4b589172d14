"""Heads: scikit-learn estimators that turn embedding and context into a choice or a number, and the embedder."""

from mirenc.heads.choosing import Settings as Settings
from mirenc.heads.cost import CostHead as CostHead
from mirenc.heads.embedder import IREmbedder as IREmbedder
from mirenc.heads.ensemble import (
    CautiousEnsembleHead as CautiousEnsembleHead,
    EnsembleHead as EnsembleHead,
    HedgingEnsembleHead as HedgingEnsembleHead,
    LabelsEnsembleHead as LabelsEnsembleHead,
    NumberEnsembleHead as NumberEnsembleHead,
)
from mirenc.heads.files import load_head as load_head, save_head as save_head
from mirenc.heads.linear import (
    LandmarkLabels as LandmarkLabels,
    LandmarkRegressor as LandmarkRegressor,
    RidgeHead as RidgeHead,
    RidgeLabels as RidgeLabels,
    RidgeRegressor as RidgeRegressor,
)
from mirenc.heads.mlp import LabelHead as LabelHead, MLPHead as MLPHead
from mirenc.heads.pairs import PairHead as PairHead
from mirenc.heads.trees import (
    BoostedChances as BoostedChances,
    BoostedRegressor as BoostedRegressor,
    RatioTreesHead as RatioTreesHead,
    TreesHead as TreesHead,
    TreesLabels as TreesLabels,
)
