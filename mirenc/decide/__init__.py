"""Decisions that are learned from labels: tasks, features, estimators, heads that answer, and their evaluation.

Names are imported when first used, as in `mirenc`.
"""

from mirenc.base.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirenc.decide.context import Context as Context, Feature as Feature
    from mirenc.decide.custom_head import CustomAnswer as CustomAnswer, CustomHead as CustomHead
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
    from mirenc.decide.estimators.logistic import LogisticHead as LogisticHead
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
    from mirenc.decide.evaluation.evaluate_task import Evaluation as Evaluation, evaluate as evaluate
    from mirenc.decide.evaluation.report import TaskReport as TaskReport, load_report as load_report
    from mirenc.decide.features.ir_embedder import IREmbedder as IREmbedder
    from mirenc.decide.fit import fit_head as fit_head
    from mirenc.decide.load_samples import load_data as load_data, with_ir as with_ir
    from mirenc.decide.own_labels import LabelReport as LabelReport, fit_labels as fit_labels
    from mirenc.decide.prediction import Evidence as Evidence, Prediction as Prediction
    from mirenc.decide.protocols import Protocol as Protocol
    from mirenc.decide.registry import (
        describe_tasks as describe_tasks,
        get_task as get_task,
        list_tasks as list_tasks,
        load_task_file as load_task_file,
        ready_heads as ready_heads,
    )
    from mirenc.decide.sample import Sample as Sample
    from mirenc.decide.settings import Space as Space
    from mirenc.decide.task import Task as Task
    from mirenc.decide.task_data import TaskData as TaskData
    from mirenc.decide.task_head import TaskHead as TaskHead

_NAMES = {
    "context": "Context Feature",
    "custom_head": "CustomAnswer CustomHead",
    "estimators.chooser": "Settings",
    "estimators.cost_head": "CostHead",
    "estimators.ensemble": "CautiousEnsembleHead EnsembleHead HedgingEnsembleHead LabelsEnsembleHead "
    "NumberEnsembleHead",
    "estimators.linear": "LandmarkLabels LandmarkRegressor RidgeHead RidgeLabels RidgeRegressor",
    "estimators.logistic": "LogisticHead",
    "estimators.mlp": "LabelHead MLPHead",
    "estimators.pair_head": "PairHead",
    "estimators.saved_heads": "load_head save_head",
    "estimators.trees": "BoostedChances BoostedRegressor RatioTreesHead TreesHead TreesLabels",
    "evaluation.evaluate_task": "Evaluation evaluate",
    "evaluation.report": "TaskReport load_report",
    "features.ir_embedder": "IREmbedder",
    "fit": "fit_head",
    "own_labels": "LabelReport fit_labels",
    "load_samples": "load_data with_ir",
    "prediction": "Evidence Prediction",
    "protocols": "Protocol",
    "registry": "describe_tasks get_task list_tasks load_task_file ready_heads",
    "sample": "Sample",
    "settings": "Space",
    "task": "Task",
    "task_data": "TaskData",
    "task_head": "TaskHead",
}
__getattr__, _HOME = lazy_names(__name__, {f"{__name__}.{module}": names for module, names in _NAMES.items()})
__all__ = [*_HOME]


def __dir__() -> list[str]:
    return sorted(_HOME)
