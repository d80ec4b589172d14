"""`evaluate`: nothing of a test row reaches its choice, and what is kept is what was decided."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirenc import __version__
from mirenc.base.errors import TaskError
from mirenc.decide import CostHead, EnsembleHead, Settings, target as target_module
from mirenc.decide.context import Context
from mirenc.decide.estimators import candidates as candidates_module
from mirenc.decide.evaluation import evaluate_task as evaluation, jobs as jobs_module
from mirenc.decide.evaluation.evaluate_task import evaluate
from mirenc.decide.evaluation.jobs import Job, _run, plan_jobs, run_jobs
from mirenc.decide.evaluation.report import TaskReport, load_report
from mirenc.decide.features.feature_matrix import Features, build_features
from mirenc.decide.protocols import Protocol
from mirenc.decide.target import CostTarget, target_of
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder

ROWS = ["no_code", "histogram"]


@pytest.fixture(scope="module")
def jobs(toy: Task, toy_data: TaskData, tiny: Encoder) -> dict[tuple[str, str], Job]:
    """By protocol and row, of one seed."""
    features = build_features(toy, toy_data, ROWS, tiny)
    plan = plan_jobs(target_of(toy_data, toy.select), toy_data, features, list(toy.protocols), (0,))
    return {(job.protocol, job.features.row): job for job in plan}


def changed(job: Job, **changes: Any) -> Job:
    """The job with other parts, whichever of its objects they are of."""
    names = {part: {name for name in changes if name in vars(getattr(job, part))} for part in ("target", "features")}
    parts = {
        part: replace(getattr(job, part), **{name: changes[name] for name in changed_names})
        for part, changed_names in names.items()
    }
    others = {
        name: value
        for name, value in changes.items()
        if not any(name in changed_names for changed_names in names.values())
    }
    return replace(job, **parts, **others)


@pytest.fixture
def searching(monkeypatch: pytest.MonkeyPatch) -> Job:
    """One fold of 28 groups, which is made enough for all candidates; the best choice follows the last column."""
    every_candidate = candidates_module.candidates

    def small(*arguments: Any) -> list[tuple[str, Any]]:
        """The candidates with few trees and epochs: these tests are about which rows they see."""
        size = {"trees": 3, "classifier__epochs": 2}
        candidates = every_candidate(*arguments)
        for _, member in candidates:
            member.set_params(**{name: size[name] for name in member.get_params() if name in size})
        return candidates

    monkeypatch.setattr(candidates_module, "candidates", small)
    monkeypatch.setattr(candidates_module, "_ENOUGH_GROUPS", 20)
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(28, 4))
    lean = np.where(matrix[:, 3] > 0, 0.5, -0.5)
    costs = np.exp(np.stack([lean, -lean], axis=1) + 0.3 * rng.normal(size=(28, 2)))
    group = np.array([f"g{number}" for number in range(28)])
    fold = (np.arange(24), np.arange(24, 28))
    settings = Settings(np.eye(2), np.tile([0, 1], (28, 1)))
    target = CostTarget(costs, costs.argmin(axis=1), group, group, "accuracy", settings, np.zeros(28, dtype=np.int64))
    return Job("kernel", 0, Features("both", matrix, 1), target, group, [fold])


# -- leaks ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", ["rows", "kernel", "suite"])
def test_what_test_rows_cost_does_not_reach_their_choices(protocol: str, jobs: dict[Any, Job]) -> None:
    job = jobs[protocol, "histogram"]
    first = _run(job).predictions
    for fold in job.folds:
        _, test = fold
        costs, labels = job.target.values.copy(), job.target.strata.copy()
        costs[test] = np.random.default_rng(0).uniform(0.1, 9.0, size=(len(test), 3))
        labels[test] = costs[test].argmin(axis=1)
        spoiled = _run(changed(job, values=costs, strata=labels, folds=[fold])).predictions
        np.testing.assert_array_equal(spoiled[test], first[test])


def test_costs_of_training_rows_change_the_choices(jobs: dict[Any, Job]) -> None:
    # Or the test above would hold for heads that learn nothing.
    job = jobs["kernel", "histogram"]
    labels = job.target.strata
    swapped = changed(job, values=job.target.values[:, [1, 0, 2]], strata=np.where(labels < 2, 1 - labels, 2))
    assert np.mean(_run(swapped).predictions != _run(job).predictions) > 0.8


def test_what_test_rows_cost_does_not_reach_the_search(searching: Job) -> None:
    first, heads, _ = _run(searching)
    test = searching.folds[0][1]
    costs, labels = searching.target.values.copy(), searching.target.strata.copy()
    costs[test], labels[test] = costs[test][:, ::-1], 1 - labels[test]
    spoiled, again, _ = _run(changed(searching, values=costs, strata=labels))
    np.testing.assert_array_equal(spoiled, first)
    assert again == heads
    assert sum(heads[0].values()) == pytest.approx(1, abs=1e-3)


def test_a_test_rows_features_do_not_reach_other_choices(searching: Job) -> None:
    first = _run(searching).predictions
    test = searching.folds[0][1]
    matrix = searching.features.matrix.copy()
    matrix[test[1:]] = 1e3
    assert _run(changed(searching, matrix=matrix)).predictions[test[0]] == first[test[0]]


@pytest.mark.parametrize("protocol", ["kernel", "suite"])
def test_the_search_keeps_together_what_the_protocol_does(
    protocol: str, jobs: dict[Any, Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[np.ndarray] = []

    class Watched(EnsembleHead):
        def fit(self, X: Any, y: Any, settings: Any = None, *, part: Any = None) -> Watched:
            seen.append(part)
            return super().fit(X, y, settings, part=part)

    def watched(*arguments: Any) -> EnsembleHead:
        return Watched([("cost", CostHead(1, length_scale=1.0))])

    monkeypatch.setattr(target_module, "candidate_search", watched)
    job = jobs[protocol, "histogram"]
    _run(job)
    assert len(seen) == len(job.folds)
    for part, (training, _) in zip(seen, job.folds, strict=True):
        unit = job.unit[training]
        if len(set(unit)) > 1:
            assert all(len(set(part[unit == one])) == 1 for one in unit)
        assert len(set(part)) > 1


def test_each_fold_answers_for_its_own_rows_alone(searching: Job) -> None:
    # Rows of no fold stay as they were; every protocol tests each row once.
    predictions, heads, _ = _run(searching)
    training, test = searching.folds[0]
    other = changed(searching, folds=[(test, training)])
    two_folds = changed(searching, folds=[(training, test), (test, training)])
    assert set(predictions[test]) <= {0, 1}
    assert len(heads) == 1
    result = _run(two_folds)
    np.testing.assert_array_equal(result.predictions[test], predictions[test])
    np.testing.assert_array_equal(result.predictions[training], _run(other).predictions[training])
    assert len(result.heads) == 2


def test_few_groups_are_not_searched_however_many_rows_they_have(searching: Job) -> None:
    few = np.array([f"g{number % 12}" for number in range(28)])
    assert _run(changed(searching, group=few, kernel=few)).heads == [{"cost": 1.0}]
    # What counts is how many pieces of code there are, and not of how many projects they come.
    assert _run(changed(searching, group=few)).heads == _run(searching).heads


def test_what_nobody_may_ask_for_is_not_chosen_even_if_all_trees_vote_for_it(searching: Job) -> None:
    class Voting:
        def predict_proba(self, X: Any, settings: Settings) -> np.ndarray:
            return np.tile([0.0, 1.0, 0.0], (len(X), 1))

    target = np.array([[np.nan, np.nan, 2.0], [3.0, np.nan, 2.0], [1.0, 2.0, 3.0]])
    settings = Settings(np.eye(3), np.where(np.isfinite(target), [[0, 1, 2]], -1))
    costs = CostTarget(target, *[np.arange(3)] * 3, "speedup", settings, np.full(3, 2))
    scores = costs.predict(Voting(), Features("both", np.zeros((3, 1)), 0), np.arange(3))
    assert scores.argmax(axis=1).tolist() == [2, 0, 1]
    assert (scores[np.isnan(target)] == 0).all()
    np.testing.assert_allclose(scores[2], [0, 1, 0], atol=1e-300)


# -- plan ----------------------------------------------------------------------------------------------
def test_all_rows_are_cut_alike(toy: Task, toy_data: TaskData, tiny: Encoder) -> None:
    features = build_features(toy, toy_data, ROWS, tiny)
    plan = plan_jobs(target_of(toy_data, toy.select), toy_data, features, list(toy.protocols), (3, 4))
    assert [job.key for job in plan] == [
        (protocol, seed, row) for protocol in ("rows", "kernel", "suite") for seed in (3, 4) for row in ROWS
    ]
    for first, second in zip(plan[::2], plan[1::2], strict=True):
        for one, other in zip(first.folds, second.folds, strict=True):
            np.testing.assert_array_equal(one[1], other[1])
    assert [job.unit.tolist() for job in plan[4:5]] == [toy_data.group.tolist()]


def test_progress_is_told_job_by_job(jobs: dict[Any, Job]) -> None:
    reported: list[tuple[int, int, str]] = []
    work = [jobs["suite", row] for row in ROWS]
    results = list(run_jobs(work, 1, lambda done, *, total, note: reported.append((done, total, note))))
    assert reported == [(1, 2, "suite, seed 0, no_code"), (1, 2, "suite, seed 0, histogram")]
    for job, result in zip(work, results, strict=True):
        np.testing.assert_array_equal(result.predictions, _run(job).predictions)
        assert len(result.heads) == 2


# -- the whole -----------------------------------------------------------------------------------------
def test_code_is_needed_for_kernels_never_seen_and_not_for_rows(toy_report: TaskReport) -> None:
    accuracy = {
        (protocol, row): toy_report.figures(protocol, row)["accuracy"]
        for protocol in toy_report.protocols
        for row in toy_report.rows(protocol)
    }
    assert accuracy["kernel", "histogram"] > 0.9
    assert accuracy["rows", "histogram"] > 0.9
    assert accuracy["kernel", "no_code"] < 0.7
    assert accuracy["kernel", "default"] == 0.5
    assert toy_report.figures("kernel", "histogram")["oracle_share"] > 0.95


def test_the_record_says_what_was_done(toy_report: TaskReport, toy: Task, toy_data: TaskData, tiny: Encoder) -> None:
    record = toy_report.record
    facts = {key: record[key] for key in record if key != "protocols"}
    assert facts == {
        "format_version": 2,
        "mirenc_version": __version__,
        "task": "toy",
        "variant": "",
        "settings": ["plain", "unrolled", "vector"],
        "samples": 40,
        "groups": 10,
        "data_hash": toy_data.content_hash,
        "model": {"name": "mirenc-tiny", "digest": tiny.files.digest},
        "seeds": [0, 1],
        "rows": {"no_code": {"note": "", "columns": 1}, "histogram": {"note": "", "columns": 67}},
    }
    for protocol in toy.protocols:
        for seed in (0, 1):
            run = record["protocols"][protocol.name]["seeds"][str(seed)]
            for number, (_, test) in enumerate(protocol.split(toy_data, seed)):
                assert [run["fold"][row] for row in test] == [number] * len(test)
            assert list(run["rows"]) == ["default", "best_single", "majority", *ROWS]
            assert len(run["rows"]["histogram"]["heads"]) == max(run["fold"]) + 1


def test_the_choices_kept_are_those_that_were_made(toy_report: TaskReport, jobs: dict[Any, Job]) -> None:
    for (protocol, row), job in jobs.items():
        np.testing.assert_array_equal(toy_report.predictions(protocol, row)[0], _run(job).predictions)


def test_a_resumed_evaluation_gives_the_same_record(
    toy: Task,
    toy_data: TaskData,
    tiny: Encoder,
    toy_report: TaskReport,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    partial: list[TaskReport] = []

    class StoppedError(Exception):
        pass

    def stop(report: TaskReport) -> None:
        partial.append(load_report(report.save(tmp_path / "part.json"), toy, toy_data))
        if len(partial) == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        evaluate(toy, toy_data, encoder=tiny, rows=ROWS, seeds=(0, 1), on_report=stop)
    assert [report.record["seeds"] for report in partial] == [[0], [0, 1], [0, 1]]
    assert {name: list(runs["seeds"]) for name, runs in partial[-1].record["protocols"].items()} == {
        "rows": ["0", "1"],
        "kernel": ["0"],
    }
    ran = []
    run_one = jobs_module._run
    monkeypatch.setattr(jobs_module, "_run", lambda job: ran.append(job.key) or run_one(job))
    resumed = evaluate(toy, toy_data, encoder=tiny, rows=ROWS, seeds=(0, 1), previous_reports=partial[-1:])
    assert resumed.record == toy_report.record
    assert ran == [
        (protocol, seed, row) for protocol, seed in (("kernel", 1), ("suite", 0), ("suite", 1)) for row in ROWS
    ]


def test_a_result_is_reused_only_for_equal_inputs(searching: Job) -> None:
    fold = [(searching.folds[0][0][:-1], searching.folds[0][1])]
    settings = searching.target.settings
    assert settings is not None
    others = [
        changed(searching, matrix=searching.features.matrix + 1e-9),
        changed(searching, values=searching.target.values * [2.0, 1.0]),
        changed(searching, strata=np.roll(searching.target.strata, 1)),
        changed(searching, settings=Settings(np.eye(2) * 2, settings.row)),
        changed(searching, settings=Settings(np.eye(2), settings.row[:, ::-1])),
        changed(searching, group=np.roll(searching.target.group, 1)),
        changed(searching, unit=np.roll(searching.target.group, 1)),
        changed(searching, folds=fold),
        changed(searching, seed=searching.seed + 1),
        changed(searching, select="speedup"),
        changed(searching, candidate="mlp"),
        changed(searching, context_columns=0),
    ]
    digests = {job.digest() for job in (searching, replace(searching), *others)}
    assert len(digests) == 1 + len(others)
    assert searching.digest() == changed(searching, row="another name", note="", protocol="too").digest()


def test_with_another_model_the_baselines_are_reused(
    toy: Task, toy_data: TaskData, tiny: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluate(toy, toy_data, encoder=tiny, protocols=["suite"], rows=["histogram", "text"], seeds=(0,))
    features = evaluation.build_features

    def other(*arguments: Any, **options: Any) -> Any:
        """As if the model gave other vectors."""
        return [
            replace(row, matrix=row.matrix + (row.row == "text") * np.arange(row.matrix.shape[1]))
            for row in features(*arguments, **options)
        ]

    ran = []
    run_one = jobs_module._run
    monkeypatch.setattr(evaluation, "build_features", other)
    monkeypatch.setattr(jobs_module, "_run", lambda job: ran.append(job.features.row) or run_one(job))
    evaluate(
        toy,
        toy_data,
        encoder=tiny,
        protocols=["suite"],
        rows=["histogram", "text"],
        seeds=(0,),
        previous_reports=[first],
    )
    assert ran == ["text"]


def test_a_task_without_context_features_runs_with_what_there_is(toy: Task, toy_data: TaskData, tiny: Encoder) -> None:
    class Bare(type(toy)):  # type: ignore[misc]
        context = Context()
        hand_feature_names = ()
        protocols = (Protocol("kernel", "by kernel", lambda data: data.group, folds=2),)

        def load(self, data_dir: object = None, variant: str = "") -> TaskData:
            return TaskData([replace(sample, context=()) for sample in toy_data.samples[::4]], self.space)

    report = evaluate(Bare(), encoder=tiny, rows=["text", "histogram"], seeds=(0,))
    assert "accuracy_gain" not in report.figures("kernel", "text")
    assert len(list(report.lines("kernel"))) == 5


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"seeds": ()}, "no seeds"),
        ({"variant": "amd"}, "no variant 'amd'"),
        ({"protocols": ["random"]}, "no protocol 'random'; available: rows, kernel, suite"),
        ({"rows": ["code"]}, "unknown row 'code'"),
    ],
)
def test_unknown_names_are_refused_before_any_work(
    arguments: dict[str, Any], word: str, toy: Task, tiny: Encoder
) -> None:
    with pytest.raises(TaskError, match=word):
        evaluate(toy, encoder=tiny, **arguments)
