"""The registry: what every task in it must say, and tasks that come from a file of the user's."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_task import TASK_FILE, write_task

from mirenc.base.errors import TaskError
from mirenc.decide.datasets.dataset_registry import DATASETS
from mirenc.decide.protocols import Protocol
from mirenc.decide.registry import describe_tasks, get_task, list_tasks, load_task_file
from mirenc.decide.tables.measured import MeasuredTask
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
    for names in (task.context.names, task.hand_feature_names):
        assert len(set(names)) == len(names)
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


@pytest.mark.parametrize(("name", "available"), [("block_size", "h200"), ("openmp", "none, for it has one table only")])
def test_an_unknown_variant_is_told_those_that_have_names(name: str, available: str) -> None:
    with pytest.raises(TaskError, match=f"no variant 'zzz'; available: {available}"):
        get_task(name).check_variant("zzz")


@pytest.mark.parametrize(("name", "variant"), TABLES)
def test_the_data_make_a_whole_table(name: str, variant: str, published_data: Any) -> None:
    task, data = get_task(name), published_data(name, variant)
    assert data.target == task.target
    assert len(data.content_hash) == 64
    names = [(sample.name, sample.part) for sample in data.samples]
    assert len(set(names)) == len(names)  # an error message must name one sample
    assert all(sample.group for sample in data.samples)
    context = np.array([task.context.encode(sample.context) for sample in data.samples])
    assert context.ndim == 2
    assert np.isfinite(context).all()
    assert not task.context.names or (context.std(axis=0) > 0).all()
    if task.hand_feature_names:
        hand = np.array([sample.hand_features for sample in data.samples])
        assert hand.shape == (len(data), len(task.hand_feature_names))
        assert np.isfinite(hand).all()
    if data.target == "costs":
        rows = np.arange(len(data))
        assert task.space is None or data.encoder.knobs == task.space.knobs
        np.testing.assert_array_equal(data.known[rows, data.labels], np.nanmin(data.costs, axis=1))
        np.testing.assert_array_equal(data.resolve(data.labels), data.labels)
    assert {"module" if sample.region is None else sample.region.level for sample in data.samples} == {task.level}


@pytest.mark.parametrize(("name", "variant"), TABLES)
def test_protocols_test_each_sample_once_and_split_no_unit(name: str, variant: str, published_data: Any) -> None:
    task, data = get_task(name), published_data(name, variant)
    keeps_groups = []
    for protocol in task.protocols:
        unit, numbers = protocol.unit(data), []
        for seed in (0, 1):
            number = np.full(len(data), -1)
            for index, (training, test) in enumerate(protocol.split(data, seed)):
                assert (number[test] == -1).all()
                assert len(training) + len(test) == len(data) or protocol.share < 1
                assert not set(unit[training]) & set(unit[test])
                number[test] = index
            assert (number >= 0).all()
            numbers.append(number)
        one_by_one = protocol.folds is None or protocol.folds >= len(np.unique(unit))
        assert (numbers[0] != numbers[1]).any() == (not one_by_one)
        folds = list(protocol.split(data, 0))
        keeps_groups.append(not any(set(data.group[training]) & set(data.group[test]) for training, test in folds))
    # A report of folds that leak alone would say nothing about code that was not measured.
    assert any(keeps_groups)


@pytest.mark.parametrize("name", ["device_mapping", "thread_coarsening"])
def test_the_published_protocol_comes_first_and_says_that_it_leaks(name: str) -> None:
    task = get_task(name)
    assert task.protocols[0].name == "paper"
    assert "leaks" in task.protocols[0].title
    assert task.dataset in DATASETS  # what `mirenc datasets fetch` gets
    assert task.dialect is not None
    assert all(task.machine(variant, ("GTX480",)) for variant in task.variants)


# -- names ---------------------------------------------------------------------------------------------
def test_a_name_that_is_nearly_right_is_guessed() -> None:
    with pytest.raises(TaskError, match=r"unknown task 'device_maping'; available: .*Did you mean 'device_mapping'\?"):
        get_task("device_maping")
    with pytest.raises(TaskError, match="unknown task 'zzz'") as caught:
        get_task("zzz")
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize(("asked", "meant"), [("code_size", "'size_after'"), ("gpu", "'device_mapping'")])
def test_a_name_that_says_what_is_wanted_gets_the_task_that_does_it(asked: str, meant: str) -> None:
    with pytest.raises(TaskError, match=rf"Did you mean {meant}\?"):
        get_task(asked)


# -- what there is ---------------------------------------------------------------------------------------
def test_tasks_are_described_with_their_context_and_ready_heads() -> None:
    rows = {row.name: row for row in describe_tasks()}
    assert list(rows) == list_tasks()
    assert {row.labels_from for row in rows.values()} == {"published", "measured", "compiled"}
    row = rows["device_mapping"]
    assert (row.title, row.labels_from) == ("CPU/GPU device mapping", "published")
    assert [(feature.name, feature.optional) for feature in row.context] == [("transfer", False), ("wgsize", False)]
    assert (row.variants, row.ready) == (("nvidia", "amd", "nvidia-680", "amd-680"), ("nvidia", "amd"))
    assert [feature.name for feature in rows["block_size"].context if feature.optional] == ["dimensions", "cuda"]
    assert rows["numa_prefetch"].ready == ()


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


def test_a_file_may_build_on_a_shipped_task_and_hold_dataclasses(tmp_path: Path) -> None:
    text = """from __future__ import annotations
from dataclasses import dataclass
from mirenc.decide.tasks.device_mapping import DeviceMapping
from mirenc.decide.tasks.thread_coarsening import ThreadCoarsening

@dataclass
class Row:
    cost: float  # text, which dataclasses look up in the module by its name

class Mine(DeviceMapping):
    name = "mine"
"""
    assert load_task_file(task_file(tmp_path, text)).name == "mine"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("x = 1\n", r"defines 0 tasks \(none\)"),
        ("from mirenc.decide.tasks.device_mapping import DeviceMapping\n", r"defines 0 tasks \(none\)"),
        (TASK_FILE + "\n\nclass Other(Widths):\n    pass\n", r"defines 2 tasks \(Other, Widths\)"),
        ("raise KeyError('length')\n", "fails: KeyError: 'length'"),
        ("import a_module_that_is_not_there\n", "fails: ModuleNotFoundError"),
        ("def f(:\n", "fails: SyntaxError"),
        ("from mirenc.decide import Task\n\nclass Half(Task):\n    name = 'half'\n", "Half lacks title, samples"),
        (
            "from mirenc.decide import Task\n\nclass Half(Task):\n    title = 'half'\n    def load(self, *a): pass\n",
            "Half lacks name",
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
    with pytest.raises(TaskError, match="SystemExit"):
        load_task_file(task_file(tmp_path, "import sys\nsys.exit(3)\n"))
    assert "mirenc_task_mine" not in sys.modules


def test_a_path_that_is_no_python_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ll").write_text(TASK_FILE)
    for path in (tmp_path / "a.ll", tmp_path):
        with pytest.raises(TaskError, match="is not a Python file"):
            load_task_file(path)
    with pytest.raises(TaskError, match=r"nothing\.py does not exist"):
        get_task(tmp_path / "nothing.py")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('select = "speed"', "available: accuracy, speedup"),
        ('baselines = {"x": 9}', "'x' is setting 9; indices go from 0 to 1"),
        ("baselines = {'x': 0}\n    space = None", "'x' is setting 0"),
        ("variants = ()", "variants is ()"),
        ('context = ("size",)', "must be a mirenc.decide.Context"),
        ('hand_feature_names = "size"', "must be a tuple of names"),
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
