"""The registry and what every task in it must say, and tasks that come from a file of the user's."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_task import TASK_FILE, write_task

from mirenc.base.errors import TaskError
from mirenc.decide.protocols import Protocol
from mirenc.decide.registry import get_task, list_tasks, load_task_file
from mirenc.decide.tables.measured import MeasuredTask
from mirenc.decide.task import Task
from mirenc.decide.tasks.pass_tasks import CompiledTask

# A measured task has tables of its users; the rules of a table are checked in tests/measure, and of a table of passes
# in test_compiled_tasks.py.
PUBLISHED = [name for name in list_tasks() if not isinstance(get_task(name), (MeasuredTask, CompiledTask))]
TABLES = [(name, variant) for name in PUBLISHED for variant in get_task(name).variants]


# -- every task ----------------------------------------------------------------------------------------
def test_the_list_is_sorted_and_can_be_had() -> None:
    assert list_tasks() == sorted(list_tasks())
    assert (
        {get_task(name).name for name in list_tasks()} == set(list_tasks()) >= {"device_mapping", "thread_coarsening"}
    )


@pytest.mark.parametrize("name", list_tasks())
def test_a_task_says_what_it_is(name: str) -> None:
    task = get_task(name)
    assert task.name == name
    assert all((task.title, task.source, task.__doc__))
    assert task.target in ("costs", "number", "labels")
    assert task.target == "costs" or task.space is None
    assert task.level in ("module", "function", "loop")
    assert task.select in ("accuracy", "speedup")
    assert len(set(task.variants)) == len(task.variants) >= 1
    for names in (task.context_names, task.hand_names):
        assert len(set(names)) == len(names)
    assert set(task.context_help) <= set(task.context_names)
    assert task.check_level("") == task.level
    assert set(task.events) <= set(task.variants)
    if task.space is not None or task.target != "costs":  # else the data bring the space
        assert set(task.baselines.values()) <= set(range(0 if task.space is None else len(task.space)))
    names = [protocol.name for protocol in task.protocols]
    assert len(set(names)) == len(names) >= 1
    assert all(protocol.title for protocol in task.protocols)


@pytest.mark.parametrize("name", list_tasks())
def test_a_task_knows_its_protocols_and_variants(name: str) -> None:
    task = get_task(name)
    assert [task.protocol(protocol.name) for protocol in task.protocols] == list(task.protocols)
    names = ", ".join(protocol.name for protocol in task.protocols)
    with pytest.raises(TaskError, match=rf"no protocol 'zzz'; available: {re.escape(names)}"):
        task.protocol("zzz")
    assert [task.check_variant(variant) for variant in task.variants] == list(task.variants)
    assert task.check_variant("") == task.variants[0]
    with pytest.raises(TaskError, match="no variant 'zzz'"):
        task.check_variant("zzz")


@pytest.mark.parametrize("name", list_tasks())
def test_context_features_are_asked_for_by_name(name: str) -> None:
    task = get_task(name)
    with pytest.raises(TaskError, match="unknown context feature 'colour'"):
        task.parse_context({"colour": "1"})
    if task.context_names:
        with pytest.raises(TaskError, match=f"also needs '{task.context_names[0]}'"):
            task.parse_context({})
    else:
        assert task.parse_context({}) == ()


@pytest.mark.parametrize(("name", "variant"), TABLES)
def test_the_data_make_a_whole_table(name: str, variant: str, published_data: Any) -> None:
    task, data = get_task(name), published_data(name, variant)
    assert data.target == task.target
    assert len(data.content_hash) == 64
    names = [(sample.name, sample.part) for sample in data.samples]
    assert len(set(names)) == len(names)  # an error message must name one sample
    assert all(sample.group for sample in data.samples)
    context = np.array([task.encode_context(sample.context) for sample in data.samples])
    assert context.ndim == 2
    assert np.isfinite(context).all()
    assert not task.context_names or (context.std(axis=0) > 0).all()
    if task.hand_names:
        hand = np.array([task.hand_features(sample) for sample in data.samples])
        assert hand.shape == (len(data), len(task.hand_names))
        assert np.isfinite(hand).all()
    if data.target == "costs":
        rows = np.arange(len(data))
        assert task.space is None or data.encoder.knobs == task.space.knobs
        np.testing.assert_array_equal(data.known[rows, data.labels], np.nanmin(data.costs, axis=1))
        np.testing.assert_array_equal(data.resolve(data.labels), data.labels)
    assert {"module" if sample.region is None else sample.region.level for sample in data.samples} == {task.level}


@pytest.mark.parametrize(("name", "variant"), TABLES)
def test_every_protocol_tests_each_sample_once_and_splits_no_unit(name: str, variant: str, published_data: Any) -> None:
    task, data = get_task(name), published_data(name, variant)
    for protocol in task.protocols:
        unit = protocol.unit(data)
        numbers = []
        for seed in (0, 1):
            number = np.full(len(data), -1)
            for index, (training, test) in enumerate(protocol.split(data, seed)):
                assert (number[test] == -1).all()
                assert not set(training) & set(test)
                assert len(training) + len(test) == len(data) or protocol.share < 1
                assert not set(unit[training]) & set(unit[test])
                number[test] = index
            assert (number >= 0).all()
            numbers.append(number)
        one_by_one = protocol.folds is None or protocol.folds >= len(np.unique(unit))
        assert (numbers[0] != numbers[1]).any() == (not one_by_one)


@pytest.mark.parametrize(("name", "variant"), TABLES)
def test_some_protocol_keeps_every_group_together(name: str, variant: str, published_data: Any) -> None:
    # A report of folds that leak alone would say nothing about code that was not measured.
    task, data = get_task(name), published_data(name, variant)
    whole = []
    for protocol in task.protocols:
        folds = list(protocol.split(data, 0))
        whole.append(not any(set(data.group[training]) & set(data.group[test]) for training, test in folds))
    assert any(whole)


# -- context features, as a stranger types them --------------------------------------------------------
SENSIBLE = {"vector_bits": "256", "n": "64", "transfer": "1", "wgsize": "64", "gpu": "A100", "size": "small"}


@pytest.mark.parametrize("text", ["", " ", "abc", "nan", "inf", "-1", "1e999", "-0.5", "\u00b2", "9" * 5000])
@pytest.mark.parametrize(
    ("name", "feature"), [(name, feature) for name in list_tasks() for feature in get_task(name).context_names]
)
def test_a_senseless_context_feature_is_refused_before_any_code_is_read(name: str, feature: str, text: str) -> None:
    task = get_task(name)
    given = {other: SENSIBLE[other] for other in task.context_names if other in SENSIBLE and other != feature}

    def asked() -> None:
        context = task.ask_context({**given, feature: text})
        assert context is not None, "what the code has yet to tell hides nothing that was given"
        task.checked_context(context)

    with pytest.raises(TaskError):
        asked()


# -- names ---------------------------------------------------------------------------------------------
def test_a_name_that_is_nearly_right_is_guessed() -> None:
    with pytest.raises(TaskError, match=r"unknown task 'device_maping'; available: .*Did you mean 'device_mapping'\?"):
        get_task("device_maping")
    with pytest.raises(TaskError, match="unknown task 'zzz'") as caught:
        get_task("zzz")
    assert "Did you mean" not in str(caught.value)


# -- numbers as context features -----------------------------------------------------------------------
def test_context_features_are_put_in_order(toy: Task) -> None:
    class Two(type(toy)):  # type: ignore[misc]
        context_names = ("first", "second")

    assert Two().parse_context({"second": "2e3", "first": "-1"}) == (-1.0, 2000.0)
    assert Two().encode_context((1, 2)).tolist() == [1.0, 2.0]
    with pytest.raises(TaskError, match=r"also needs 'first', 'second'. Give --context first=...,second=..."):
        Two().parse_context({})


@pytest.mark.parametrize("text", ["", "many", "nan", "inf", "1,5"])
def test_a_context_feature_is_a_finite_number(toy: Task, text: str) -> None:
    with pytest.raises(TaskError, match=f"'length' is {text!r}; it must be a finite number"):
        toy.parse_context({"length": text})


# -- a task of your own --------------------------------------------------------------------------------
def task_file(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_a_task(tmp_path: Path) -> None:
    task = get_task(write_task(tmp_path))
    assert task.name == "widths"
    assert isinstance(task.protocols[0], Protocol)
    assert len(task.load()) == 24
    assert task.name not in list_tasks()


def test_a_name_never_executes_a_file(tmp_path: Path) -> None:
    path = task_file(tmp_path, "raise AssertionError('executed')\n")
    with pytest.raises(TaskError, match=r"unknown task '.*mine\.py'; available: .*mirenc\.decide\.load_task_file"):
        get_task(str(path))


def test_a_file_may_import_tasks_and_build_on_one(tmp_path: Path) -> None:
    text = """
from mirenc.decide.tasks.device_mapping import DeviceMapping
from mirenc.decide.tasks.thread_coarsening import ThreadCoarsening

class Mine(DeviceMapping):
    name = "mine"
"""
    assert load_task_file(task_file(tmp_path, text)).name == "mine"


def test_a_file_may_hold_dataclasses(tmp_path: Path) -> None:
    # With annotations as text, dataclasses look the module up by its name.
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    row = "@dataclass\nclass Row:\n    cost: float\n"
    assert load_task_file(task_file(tmp_path, head + row + TASK_FILE)).name == "widths"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("x = 1\n", r"defines 0 tasks \(none\)"),
        ("from mirenc.decide.tasks.device_mapping import DeviceMapping\n", r"defines 0 tasks \(none\)"),
        (TASK_FILE + "\n\nclass Other(Widths):\n    pass\n", r"defines 2 tasks \(Other, Widths\)"),
        ("raise KeyError('length')\n", "fails: KeyError: 'length'"),
        ("import a_module_that_is_not_there\n", "fails: ModuleNotFoundError"),
        ("def f(:\n", "fails: SyntaxError"),
        ("from mirenc.decide import Task\n\nclass Half(Task):\n    name = 'half'\n", "abstract method '?load"),
        (
            "from mirenc.decide import Task\n\nclass Half(Task):\n    name = 'half'\n    def load(self, *a): pass\n",
            "Half lacks title, source, protocols",
        ),
    ],
    ids="nothing imported two raises import syntax abstract lacking".split(),
)
def test_a_file_that_is_no_task_says_why(text: str, word: str, tmp_path: Path) -> None:
    path = task_file(tmp_path, text)
    with pytest.raises(TaskError, match=word) as caught:
        get_task(path)
    assert str(path) in str(caught.value)


def test_a_file_that_failed_leaves_no_module_behind(tmp_path: Path) -> None:
    with pytest.raises(TaskError):
        load_task_file(task_file(tmp_path, "raise RuntimeError\n").rename(tmp_path / "broken_task.py"))
    assert "mirenc_task_broken_task" not in sys.modules


def test_a_file_that_is_no_python_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ll").write_text(TASK_FILE)
    for path in (tmp_path / "a.ll", tmp_path):
        with pytest.raises(TaskError, match="is no Python file"):
            load_task_file(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"nothing\.py does not exist"):
        get_task(tmp_path / "nothing.py")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('select = "speed"', "available: accuracy, speedup"),
        ('baselines = {"x": 9}', "'x' is setting 9; indices go from 0 to 1"),
        ("baselines = {'x': 0}\n    space = None", "'x' is setting 0"),
        ("variants = ()", "variants is ()"),
        ('context_names = "size"', "must be a tuple of names"),
        ('hand_names = "size"', "must be a tuple of names"),
        ('ir_context = ("trips",)', "ir_context names 'trips', which context_names does not"),
        ("protocols = []", "protocols is []"),
        ('space = Space(("width",), (("narrow",), ("wide",)), default=2)', "default is 2; indices go from 0 to 1"),
        ('space = ("narrow", "wide")', "space is ('narrow', 'wide'); it must be a mirenc.decide.Space"),
        ('target = "cost"', "target is 'cost'; available: costs, number"),
        ('level = "block"', "level is 'block'; available: module, function, loop"),
    ],
)
def test_a_task_whose_names_do_not_fit_is_refused(tmp_path: Path, line: str, complaint: str) -> None:
    last = '    baselines = {"narrow": 0}\n'
    assert last in TASK_FILE
    with pytest.raises(TaskError, match=re.escape(complaint)):
        load_task_file(task_file(tmp_path, TASK_FILE.replace(last, f"{last}    {line}\n")))


def test_a_task_file_may_not_end_the_process(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="SystemExit"):
        load_task_file(task_file(tmp_path, "import sys\nsys.exit(3)\n"))
