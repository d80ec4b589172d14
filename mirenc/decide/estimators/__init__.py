"""Estimators after scikit-learn: features in, a choice, a number or labels out. Importing them registers each kind."""

from mirenc.decide.estimators.chooser import Settings as Settings
from mirenc.decide.estimators.cost_head import CostHead as CostHead
from mirenc.decide.estimators.ensemble import (
    CautiousEnsembleHead as CautiousEnsembleHead,
    EnsembleHead as EnsembleHead,
    HedgingEnsembleHead as HedgingEnsembleHead,
    LabelsEnsembleHead as LabelsEnsembleHead,
    NumberEnsembleHead as NumberEnsembleHead,
)
from mirenc.decide.estimators.linear import (
    LandmarkLabels as LandmarkLabels,
    LandmarkRegressor as LandmarkRegressor,
    RidgeHead as RidgeHead,
    RidgeLabels as RidgeLabels,
    RidgeRegressor as RidgeRegressor,
)
from mirenc.decide.estimators.mlp import LabelHead as LabelHead, MLPHead as MLPHead
from mirenc.decide.estimators.pair_head import PairHead as PairHead
from mirenc.decide.estimators.saved_heads import load_head as load_head, save_head as save_head
from mirenc.decide.estimators.trees import (
    BoostedChances as BoostedChances,
    BoostedRegressor as BoostedRegressor,
    RatioTreesHead as RatioTreesHead,
    TreesHead as TreesHead,
    TreesLabels as TreesLabels,
)
