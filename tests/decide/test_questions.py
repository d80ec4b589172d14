"""What a question need not say, and what an answer says beside the choice: machine, space, seconds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirenc.base.errors import HeadError, TaskError
from mirenc.decide.context import Context, Feature
from mirenc.decide.fit import fit_head
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.decide.task_head import TaskHead
from mirenc.encoder import Encoder

SPACE = Space(("width",), ((1,), (2,), (4,)), missing="never")
MACHINE = "a laptop, 4 cores; clang 19.1.7 -O3"


class Widths(Task):
    """Long bodies want the wide setting; each instruction takes a microsecond, for each element."""

    name, title, source = "widths", "made-up widths", "this test"
    context = Context(
        Feature("length", known_from="ir"),
        Feature("elements", "how many"),
        encode=np.log2,
        from_ir=lambda module, region: {"length": module.text.count(" add ")},
    )
    protocols = (Protocol("kernel", "by kernel", lambda data: data.group, folds=3),)
    select = "speedup"
    seconds = True

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        samples = []
        for length in range(2, 22):
            for elements in (1.0, 1000.0):
                wide = 0.5 if length > 11 else 2.0
                time = 1e-6 * length * elements
                costs = (time, time * wide, time * 4)
                context = (float(length), elements)
                samples.append(Sample(f"k{length}", kernel(length), f"k{length}", context, costs))
        return TaskData(samples, SPACE, "8" * 64, MACHINE)


def kernel(length: int) -> str:
    body = "".join(f"  %v{step} = add i32 %x, {step + 2}\n" for step in range(length))
    return f"define i32 @f(i32 %x) {{\n{body}  ret i32 %v{length - 1}\n}}\n"


@pytest.fixture(scope="module")
def trained(tiny: Encoder) -> TaskHead:
    task = Widths()
    return fit_head(task, task.load(), tiny)


def test_context_is_read_from_the_code_where_it_is_left_out(trained: TaskHead, tiny: Encoder) -> None:
    (from_code,) = trained.predict(kernel(18), {"elements": 1000})
    (from_context,) = trained.predict(kernel(18), {"elements": 1000, "length": 18})
    assert from_code.preference == from_context.preference
    assert from_code.preferred == "2"


def test_a_given_context_feature_overrides_the_code(trained: TaskHead, tiny: Encoder) -> None:
    (from_code,) = trained.predict(kernel(18), {"elements": 1000})
    (from_context,) = trained.predict(kernel(18), {"elements": 1000, "length": 3})
    assert from_context.preference != from_code.preference


def test_context_that_the_code_does_not_tell_must_be_given(trained: TaskHead, tiny: Encoder) -> None:
    with pytest.raises(TaskError, match=r"also needs 'elements'. Give --context elements=\.\.\.; elements: how many"):
        trained.predict("no IR at all", {})
    with pytest.raises(TaskError, match=r"has no context 'size'\. It takes: length, elements"):
        trained.predict("no IR at all", {"size": 3})


def test_context_that_the_code_fails_to_tell_is_reported_missing(
    trained: TaskHead, tiny: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trained.task.context, "from_ir", lambda module, region: {})
    with pytest.raises(TaskError, match="also needs 'length'"):
        trained.predict(kernel(18), {"elements": 1000})


def test_an_answer_says_the_machine_of_the_data(trained: TaskHead, tiny: Encoder) -> None:
    assert trained.machine == MACHINE
    (answer,) = trained.predict(kernel(18), {"elements": 1000})
    assert answer.machine == MACHINE


def test_an_answer_has_seconds_for_each_setting(trained: TaskHead, tiny: Encoder) -> None:
    seconds = {}
    for elements in (1, 1000):
        (answer,) = trained.predict(kernel(18), {"elements": elements})
        assert answer.seconds is not None
        assert set(answer.seconds) == set(SPACE.names)
        ratio = answer.cost_ratio
        for name, time in answer.seconds.items():
            assert time / answer.seconds["1"] == pytest.approx(ratio[name] / ratio["1"])
        seconds[elements] = answer.seconds["1"]
    assert seconds[1] == pytest.approx(18e-6, rel=0.5)
    assert seconds[1000] == pytest.approx(18e-3, rel=0.5)
    # Held-out kernels: the times follow the number of elements and the code, and are not known exactly.
    assert 1 < answer.time_factor < 2


def test_a_saved_head_keeps_machine_space_and_seconds(trained: TaskHead, tiny: Encoder, tmp_path: Path) -> None:
    read = TaskHead.load(trained.save(tmp_path), Widths(), encoder=tiny)
    assert (read.machine, read.space) == (MACHINE, SPACE)
    (before,) = trained.predict(kernel(7), {"elements": 10})
    (after,) = read.predict(kernel(7), {"elements": 10})
    assert after == before


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"space": {"knobs": ["width"], "settings": [[1], [2]], "default": 7, "missing": "never"}}, "default is 7"),
        ({"space": {"knobs": ["width"]}}, "damaged .'space': "),
        ({"time_factor": "2"}, "damaged .'time_factor': Input should be a valid number"),
        (
            {"space": {"knobs": ["width"], "settings": [[1], [2]], "default": 0, "missing": "never"}},
            "among 3 settings, but the task has 2",
        ),
        ({"timer": {"kind": "ridge"}}, "describes no head"),
        ({"timer": []}, "describes no head"),
    ],
)
def test_a_damaged_space_or_timer_is_refused(
    trained: TaskHead, tmp_path: Path, change: dict[str, Any], word: str
) -> None:
    folder = trained.save(tmp_path)
    description = json.loads((folder / "head.json").read_text())
    description["extra"] |= change
    (folder / "head.json").write_text(json.dumps(description))
    with pytest.raises(HeadError, match=word):
        TaskHead.load(folder, Widths())


def test_a_task_that_wants_no_seconds_trains_nothing_for_them(tiny: Encoder) -> None:
    class Untimed(Widths):
        seconds = False

    task = Untimed()
    head = fit_head(task, task.load().subset(range(12)), tiny)
    assert head.timer is None
    (answer,) = head.predict(kernel(7), {"elements": 10})
    assert answer.seconds is None
