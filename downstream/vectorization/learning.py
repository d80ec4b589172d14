"""What heads that look ahead learn from more structures: ``python downstream/vectorization/learning.py``.

On ``table/`` and ``branches/`` together, by folds of whole structures. All heads are one candidate, without the search,
and the margin of a fold is chosen on held-out answers for the other folds: the figures are to be compared with each
other, not with those of a table. The head of each fold learns from a share of its training structures, drawn once.
Written to ``learning.json``, after each line.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "look_ahead"))
from rules import MOST_SLOW, with_default

from mirenc.base.arrays import Float64, Int64
from mirenc.decide.estimators.candidates import candidates
from mirenc.decide.estimators.chooser import SHARPNESS, Settings, preferences
from mirenc.decide.estimators.ensemble import best_margin
from mirenc.decide.evaluation.evaluate_task import Evaluation
from mirenc.decide.evaluation.figures import figures_of
from mirenc.decide.evaluation.jobs import Job, plan_jobs
from mirenc.decide.features.feature_matrix import Features
from mirenc.decide.features.look_ahead_features import SETTING_NAMES, TRIP_COLUMNS
from mirenc.decide.load_samples import load_data
from mirenc.decide.registry import get_task
from mirenc.decide.target import target_of
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.encoder import load

HERE = Path(__file__).parent
PROTOCOL, SEED, MEMBER = "structure", 0, "pairs"
SHARES = (0.25, 0.5, 0.75, 1.0)
_SLOWER = (0.03, 0.04, 0.05, 0.06, 0.07)  # shares of samples that margins may let be slower
_HEAD = (
    *("told", "structures learned from", "columns and target", "speedup", "share of oracle's gain, %"),
    *("slower by 2 %, %", "mean share for 3 to 7 % slower, %", "share without a margin, %", "then slower by 2 %, %"),
)
_ALL = "all, gain over the default"


def main() -> None:
    """Fit, ask, and write."""
    task, encoder = get_task("vectorization"), load("mirenc-fast")
    data = load_data(task, HERE)
    features = Evaluation.prepare(task, data, encoder=encoder, rows=["look_ahead_told", "look_ahead"]).features
    told, untold = plan_jobs(target_of(data, task.select), data, features, [task.protocol(PROTOCOL)], [SEED])
    lines = [[*_HEAD]]
    variants: list[tuple[str, Job, float, str, dict[str, Any]]] = [
        *(("both", told, share, _ALL, {}) for share in SHARES),
        ("both", told, 1.0, "all, gain over the mean setting", {"default": None}),
        ("both", replace(told, features=without_branches(told.features)), 1.0, "none about branches and parts", {}),
        ("nothing", untold, 1.0, _ALL, {}),
    ]
    for words, job, share, what, options in variants:
        logs, structures = held_out(job, share, options)
        lines.append([words, f"{structures:.0f}", what, *figures(task, data, job, with_default(data, logs))])
        print(*lines[-1], sep=" | ", flush=True)
        (HERE / "learning.json").write_text(json.dumps({"lines": lines}, indent=1) + "\n", encoding="utf-8")


def without_branches(features: Features) -> Features:
    """Features without the columns that follow from branches and parts: zeros, at which no tree cuts."""
    names = list(SETTING_NAMES)
    first = names.index("log cost with branches over the default's for 2 iterations")
    trips, parts = (
        names.index("log rough cost over the default's"),
        names.index("log cost with branches over the default's"),
    )
    gone = np.array([*range(first, trips), *range(parts, len(names))]) - len(names)

    def zeroed(settings: Settings) -> Settings:
        numbers = settings.features.copy()
        numbers[:, gone] = 0.0
        return replace(settings, features=numbers)

    assert features.settings is not None
    assert trips == len(names) - TRIP_COLUMNS
    return replace(
        features,
        settings=zeroed(features.settings),
        question_settings=tuple(map(zeroed, features.question_settings or ())),
    )


def held_out(job: Job, share: float, options: dict[str, Any]) -> tuple[Float64, float]:
    """Log costs by heads that did not see a sample's fold, NaN where they say none, (n, K); structures of one head."""
    target, features, counts = job.target, job.features, []
    assert features.settings is not None
    logs = np.full(target.values.shape, np.nan)
    for fold, (training, test) in enumerate(job.folds):
        structures = np.unique(job.unit[training])
        drawn = np.random.default_rng(fold).permutation(structures)[: round(share * len(structures))]
        counts.append(len(drawn))
        rows = training[np.isin(job.unit[training], drawn)]
        member = dict(candidates(target.shape(features, rows), job.seed, target.select))[MEMBER].set_params(**options)
        head = member.fit(features.matrix[rows], target.values[rows], features.settings.take(rows))
        views = [one.take(test) for one in features.question_settings or (features.settings,)]
        preference = np.mean([head.predict_proba(features.matrix[test], one) for one in views], axis=0)
        logs[test] = -np.log(np.where(preference > 0, preference, np.nan)) / SHARPNESS
    return logs, float(np.mean(counts))


def figures(task: Task, data: TaskData, job: Job, logs: Float64) -> list[str]:
    """What `_HEAD` says at its end, of log costs (n, K), with margins that the other folds choose."""
    preference = preferences(np.where(np.isnan(logs), np.inf, logs))
    tested: Int64 = np.concatenate([test for _, test in job.folds])
    (default,) = np.unique(data.default)
    found = []
    for most_slow in (MOST_SLOW, *_SLOWER, 1.0):
        choice = data.default.copy()
        for training, test in job.folds:
            margin = 0.0
            if most_slow < 1:
                margin, _ = best_margin(preference[training], data.known[training], default, most_slow)
            raised = logs[test].copy()
            raised[:, default] -= margin
            choice[test] = np.nanargmin(raised, axis=1)
        found.append(figures_of(task, "", data).of_run(data.resolve(choice), tested))
    shares = [100 * one["oracle_gain_share"] for one in found]
    slower = [100 * one["slowdowns_2"] for one in found]
    numbers = (shares[0], slower[0], float(np.mean(shares[1:-1])), shares[-1], slower[-1])
    return [f"{found[0]['speedup_geometric']:.3f}", *(f"{number:.1f}" for number in numbers)]


if __name__ == "__main__":
    main()
