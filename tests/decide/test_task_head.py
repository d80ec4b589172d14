"""A trained head answers for its own task and model, remembers what it knows, and refuses everything else."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_task import write_task

import mirenc
from mirenc.base.errors import HeadError, TaskError
from mirenc.decide.fit import fit_head
from mirenc.decide.prediction import Evidence, Record
from mirenc.decide.registry import get_task, list_tasks
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.decide.task_head import TaskHead, ready_heads
from mirenc.encoder import Encoder
from mirenc.encoder.weights import DEFAULT_MODEL, WhiteningMap, load_files, save_files

BOUNDS = Path(__file__).resolve().parents[1] / "fixtures" / "bounds"
SAXPY = Path(__file__).resolve().parents[2] / "examples" / "saxpy.ll"


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return mirenc.load("mirenc-tiny", cache=False)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return get_task(write_task(tmp_path_factory.mktemp("task")))


@pytest.fixture(scope="module")
def trained(task: Task, encoder: Encoder) -> TaskHead:
    return fit_head(task, task.load(), encoder)


def kernel(operation: str) -> str:
    body = "".join(f"  %v{step} = {operation} i32 %x, {40 + step}\n" for step in range(6))
    return f"define i32 @g(i32 %x) {{\n{body}  ret i32 %v5\n}}\n"


def test_an_unseen_kernel_gets_the_right_setting(trained: TaskHead, encoder: Encoder) -> None:
    preferred = {
        (operation, length): trained.predict(kernel(operation), {"length": length})[0].preferred
        for operation in ("mul", "add")
        for length in (8, 4096)
    }
    assert preferred == {
        ("mul", 4096): "wide",
        ("mul", 8): "narrow",
        ("add", 4096): "narrow",
        ("add", 8): "narrow",
    }


def test_only_a_strange_kernel_is_far(trained: TaskHead, encoder: Encoder) -> None:
    strange = Path(__file__).parents[2] / "examples" / "insertion_sort.ll"
    assert not trained.predict(trained.task.load().samples[3].ir, (8,))[0].far
    assert trained.predict(strange, (8,))[0].far


def test_a_saved_head_answers_as_before(trained: TaskHead, task: Task, encoder: Encoder, tmp_path: Path) -> None:
    read = TaskHead.load(trained.save(tmp_path / "head"), task, encoder=encoder)
    for operation in ("mul", "add"):
        (before,) = trained.predict(kernel(operation), (100,))
        (after,) = read.predict(kernel(operation), (100,))
        assert after == before
    assert (read.model, read.row, read.data_hash) == (encoder.name, "both", trained.data_hash)


def test_training_rows_are_stored_once(trained: TaskHead, tmp_path: Path) -> None:
    folder = trained.save(tmp_path / "head")
    members = [member for member in trained.head.members_.values() if hasattr(member, "support_")]
    rows = members[0].support_.astype(np.float32).nbytes
    # The kernels and, at most once, the training rows: members share them.
    assert (folder / "head.safetensors").stat().st_size < 1.2 * (rows + trained.reach.kernels.nbytes) + 400_000


def test_another_model_is_refused(trained: TaskHead, tmp_path: Path, encoder: Encoder) -> None:
    class Other:
        name = "other"
        features_digest = "f" * 64

    with pytest.raises(HeadError, match=r"trained on vectors of mirenc-tiny .* not of other .* Load mirenc-tiny, or"):
        replace(trained, encoder=Other()).predict(kernel("mul"), (8,))
    Other.name = "mirenc-tiny"
    with pytest.raises(HeadError, match=r"not of mirenc-tiny \(f{12}\)\. Train a head"):
        replace(trained, encoder=Other()).predict(kernel("mul"), (8,))


def test_a_map_of_ones_own_is_another_model_for_such_a_head(trained: TaskHead, encoder: Encoder) -> None:
    widths = {"text": encoder.text_dimension, "graph": encoder.graph_dimension}
    whitening_map = WhiteningMap(
        *(encoder.name, encoder.files.digest),
        {part: np.zeros(width, np.float32) for part, width in widths.items()},
        {part: np.eye(width, dtype=np.float32) for part, width in widths.items()},
        {},
    )
    assert trained.predict(kernel("mul"), (8,))
    with pytest.raises(HeadError, match="trained on vectors of mirenc-tiny"):
        replace(trained, encoder=encoder.with_map(whitening_map)).predict(kernel("mul"), (8,))


def test_a_shipped_head_has_a_name_and_brings_its_model() -> None:
    task = get_task("size_after")
    for name, folder in (("size_after.O0", ready_heads(task)["O0"]), ("size_after", ready_heads(task)["Oz"])):
        (answer,) = TaskHead.load(name).predict(SAXPY)
        (other,) = TaskHead.load(folder, encoder=mirenc.load(DEFAULT_MODEL, cache=False)).predict(SAXPY)
        # The cache may have vectors of another batch, which moves the last digits.
        assert (answer.value, answer.distance) == pytest.approx((other.value, other.distance), rel=1e-6)
        assert replace(answer, value=0.0, distance=0.0) == replace(other, value=0.0, distance=0.0)
    with pytest.raises(HeadError, match=r"size_after\.O9"):
        TaskHead.load("size_after.O9")


@pytest.mark.parametrize(
    ("name", "file", "variant"),
    [
        ("block_size", "clang-19.cuda.ll", "h200"),
        ("block_size", "clang-19.spir.ll", ""),
        ("block_size.h200", "clang-19.spir.ll", "h200"),
    ],
)
def test_a_head_without_a_variant_answers_by_the_code(name: str, file: str, variant: str) -> None:
    answers = TaskHead.load(name).predict(BOUNDS / file, {"n": 4096}, on_refused=lambda _: None)
    assert {answer.variant for answer in answers} == {variant}
    assert all(("H200" in answer.machine) == (variant == "h200") for answer in answers)


def test_heads_asked_in_place_of_another_are_chosen_and_checked_likewise() -> None:
    head = TaskHead.load("block_size")
    with_quick = replace(head, head_for_large=TaskHead.load(ready_heads(head.task)[""]))
    answers = with_quick.predict(BOUNDS / "clang-19.cuda.ll", {"n": 4096}, on_refused=lambda _: None)
    assert {answer.variant for answer in answers} == {"h200"}
    strange = replace(head.variant_heads["h200"], model_digest="f" * 64)
    for changed in (replace(head, variant_heads={"h200": strange}), replace(head, head_for_large=strange)):
        with pytest.raises(HeadError, match=r"trained on vectors of .* \(f{12}\)"):
            changed.predict(BOUNDS / "clang-19.spir.ll", {"n": 4096})


def test_maps_and_words_do_not_matter_to_a_head_on_features(tmp_path: Path) -> None:
    head = TaskHead.load(ready_heads(get_task("size_after"))["Oz"])
    files = load_files("mirenc-fast")
    weights = {**files.weights, "whiten_text.matrix": files.weights["whiten_text.matrix"] * np.float32(2)}
    save_files(tmp_path, name=files.name, config=files.config, tokenizer=files.tokenizer, weights=weights)
    other, same = (mirenc.load(name, cache=False) for name in (tmp_path, "mirenc-fast"))
    assert other.digest != same.digest
    answers = [replace(head, encoder=encoder).predict(SAXPY, {})[0] for encoder in (other, same)]
    assert answers[0] == answers[1]


def test_wrong_context_features_are_named(trained: TaskHead, encoder: Encoder) -> None:
    with pytest.raises(TaskError, match="has no context 'size'"):
        trained.predict(kernel("mul"), {"size": 8})
    with pytest.raises(TaskError, match="also needs 'length'"):
        trained.predict(kernel("mul"), {})
    with pytest.raises(TaskError, match="'length' is 'nan'"):
        trained.predict(kernel("mul"), {"length": float("nan")})


def test_an_invalid_context_is_refused_before_the_code_is_read(trained: TaskHead) -> None:
    # It is the same for every file, so it must not hide behind a file that cannot be read.
    with pytest.raises(TaskError, match="'length' is nan"):
        trained.predict("define i32 @f( {\n", (float("nan"),))


@pytest.mark.parametrize("pays", [True, False])
def test_without_evidence_the_answer_is_the_default(trained: TaskHead, encoder: Encoder, pays: bool) -> None:
    worth = (1.2, 1.1, 1.3) if pays else (1.2, 0.9, 1.3)
    records = (Record(0.5, 20, 0.9, 0.05, 1.4),)
    head = replace(trained, evidence=Evidence("default", worth, default=(), other=records))
    (answer,) = head.predict(kernel("mul"), (4096,))
    assert (answer.preferred, answer.default) == ("wide", "narrow")
    assert answer.choice == ("wide" if pays else "narrow")
    assert answer.record == records[0]
    assert head.predict(kernel("add"), (8,))[0].record is None  # none of answers that are the default


def test_one_setting_that_beats_the_default_everywhere_is_the_answer(task: Task, encoder: Encoder) -> None:
    data = task.load()
    samples = [replace(sample, costs=(2.0, 1.0)) for sample in data.samples]
    head = fit_head(task, TaskData(samples, data.space), encoder)
    assert head.evidence.rival == "best single setting"
    assert not head.evidence.pays
    for operation in ("mul", "add"):
        (answer,) = head.predict(kernel(operation), (8,))
        assert (answer.choice, answer.setting, answer.default) == ("wide", ("wide",), "narrow")


def test_a_setting_with_a_slower_record_is_not_recommended(trained: TaskHead, encoder: Encoder) -> None:
    # The surer half of the answers was faster than the default, the other slower: each answer by its own record.
    (risky,) = trained.predict(kernel("mul"), (4096,))
    sure = risky.preference["wide"]
    for least, choice in ((sure, "wide"), (sure + 1e-9, "narrow")):
        records = (Record(least, 20, 0.9, 0.05, 1.4), Record(0.5, 20, 0.4, 0.6, 0.77))
        head = replace(trained, evidence=Evidence("default", (1.2, 1.1, 1.3), other=records))
        (answer,) = head.predict(kernel("mul"), (4096,))
        assert (answer.preferred, answer.choice, answer.setting) == ("wide", choice, (choice,))


def test_a_head_of_another_task_is_refused(trained: TaskHead, tmp_path: Path) -> None:
    folder = trained.save(tmp_path / "head")
    with pytest.raises(HeadError, match="a head for task widths, not for thread_coarsening"):
        TaskHead.load(folder, get_task("thread_coarsening"))


def test_a_row_without_the_model_makes_no_head(task: Task, encoder: Encoder) -> None:
    with pytest.raises(TaskError, match=r"features \(row\) 'no_code'; available: text, graph, both"):
        fit_head(task, task.load(), encoder, row="no_code")


SHIPPED = [name for name in list_tasks() if ready_heads(get_task(name))]


def test_no_shipped_head_is_lost() -> None:
    measured = {"block_size", "device_mapping", "openmp", "thread_coarsening", "vectorization"}
    assert {*measured, "pass_list", "size_after"} <= set(SHIPPED)


def test_heads_that_ship_have_names() -> None:
    assert (TaskHead.load("vectorization").row, TaskHead.load("vectorization.look_ahead").row) == ("both", "look_ahead")
    with pytest.raises(HeadError):
        TaskHead.load("device_mapping.look_ahead")


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_heads_are_small_and_belong_to_the_default_model(name: str) -> None:
    task = get_task(name)
    for folder in {*ready_heads(task).values(), *ready_heads(task, look_ahead=True).values()}:
        head = TaskHead.load(folder)
        assert head.model == DEFAULT_MODEL  # the one that is always there
        assert (head.task.name, head.model_digest) == (name, mirenc.load(head.model, cache=False).features_digest)
        assert head.evidence.no_code is not None
        assert sum(file.stat().st_size for file in folder.iterdir()) <= 2_000_000
        again = pickle.loads(pickle.dumps(head))  # noqa: S301 - as joblib and multiprocessing do
        assert again.task.context.names == head.task.context.names
        assert again.head.get_params().keys() == head.head.get_params().keys()
        assert (again.evidence, again.row, again.model_digest) == (head.evidence, head.row, head.model_digest)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"context_names": None}, "damaged .'context_names': Input should be"),
        ({"reach": "far"}, "damaged .'reach': Input should be a valid number"),
        ({"reach": 0.0}, "what the head knows of its training samples is damaged"),
        ({"reach": float("1e999")}, "what the head knows of its training samples is damaged"),
        ({"evidence": {}}, "damaged .'evidence': Field required"),
        ({"evidence": None}, "damaged .'evidence': "),
        ({"knobs": "width"}, "damaged .'knobs': "),
        ({"words": None}, "damaged .'words': "),
        ({"row": "nope"}, "head.json is damaged"),
        ({"llvm": "new"}, "damaged .'llvm': String should match"),
        ({"settings": ["narrow", "broad"]}, "the head's settings are narrow, broad"),
        ({"task": "other"}, "a head for task other"),
    ],
)
def test_an_edited_head_is_refused(
    trained: TaskHead, task: Task, tmp_path: Path, change: dict[str, object], complaint: str
) -> None:
    file = trained.save(tmp_path / "head") / "head.json"
    content = json.loads(file.read_text())
    content["extra"] |= change
    file.write_text(json.dumps(content))
    with pytest.raises(HeadError, match=complaint):
        TaskHead.load(tmp_path / "head", task)


# -- what is asked, and of whom ------------------------------------------------------------------------


def test_data_of_another_target_or_space_are_refused_before_any_work(task: Task, encoder: Encoder) -> None:
    data = task.load()
    numbers = TaskData([Sample(f"s{row}", "no IR", f"g{row}", (1.0,), value=float(row)) for row in range(4)])
    with pytest.raises(TaskError, match="has target 'costs', and its samples have numbers to predict"):
        fit_head(task, numbers, encoder)
    other = TaskData(data.samples, Space(("width",), (("thin",), ("thick",))))
    with pytest.raises(TaskError, match="the settings of task 'widths' are not those of its samples"):
        fit_head(task, other, encoder)


def test_a_head_asked_about_other_knobs_says_so(trained: TaskHead, encoder: Encoder) -> None:
    class Turned(type(trained.task)):  # type: ignore[misc]
        def space_for(self, context: object) -> Space:
            return Space(("height",), (("narrow",), ("wide",)))

    with pytest.raises(TaskError, match="the head knows knobs width, not height"):
        replace(trained, task=Turned()).predict(kernel("mul"), (8.0,))


@pytest.mark.needs("clang")
def test_sources_are_compiled_alike_in_training_and_in_questions(encoder: Encoder, tmp_path: Path) -> None:
    task = get_task("thread_coarsening")
    paths = sorted((Path(__file__).parents[1] / "fixtures" / "opencl").glob("*.cl"))[:4]
    samples = [
        Sample(path.stem, path, path.stem, ("Tahiti",), (1.0, *(1.0 + 0.1 * place * row for place in range(1, 6))))
        for row, path in enumerate(paths)
    ]
    head = fit_head(task, TaskData(samples, task.space), encoder)
    for path in paths:
        assert head.predict(path, ("Tahiti",))[0].distance == pytest.approx(0.0, abs=0.05), path.name


def test_a_setting_that_never_ran_is_no_answer(task: Task, encoder: Encoder, tmp_path: Path) -> None:
    space = Space(("width",), (("narrow",), ("wide",), ("huge",)))
    samples = [replace(one, space=space, costs=(*one.costs, float("nan"))) for one in task.load().samples]
    other = type("Other", (type(task),), {"space": None, "space_for": lambda self, context: space})()
    head = fit_head(other, TaskData(samples), encoder)
    assert head.refused == (("huge",),)
    (answer,) = head.predict(kernel("mul"), (4096,))
    assert list(answer.preference) == list(answer.expected) == ["narrow", "wide"]
    assert sum(answer.preference.values()) == pytest.approx(1)
    again = TaskHead.load(head.save(tmp_path / "head"), other, encoder=encoder)
    assert again.refused == head.refused
    # One of them that runs for a single sample is one of the answers.
    ran = fit_head(other, TaskData([replace(samples[0], costs=(1.0, 2.0, 3.0)), *samples[1:]]), encoder)
    assert ran.refused == ()


def test_what_code_permits_is_all_that_is_answered(
    trained: TaskHead, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trained.task, "permitted", lambda *_: ((("wide",),), "it must be wide"))
    (answer,) = trained.predict(kernel("add"), (8,))
    assert (answer.choice, answer.default, answer.fixed, answer.limit) == ("wide", "wide", True, "it must be wide")
    assert answer.expected == answer.preference == {"wide": 1}

    def none(*_: object) -> None:
        raise TaskError("nothing runs. Go home")

    monkeypatch.setattr(trained.task, "permitted", none)
    with pytest.raises(TaskError, match="nothing runs"):
        trained.predict(kernel("add"), (8,))
    refusals: list[TaskError] = []
    assert trained.predict(kernel("add"), (8,), on_refused=refusals.append) == []
    assert [str(error) for error in refusals] == ["nothing runs. Go home"]
