"""The lists that are tried: those of a head in its order, and what people try by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mirenc.base.errors import HeadError, TaskError
from mirenc.decide.registry import get_task
from mirenc.decide.tables.compiled import read_compiled
from mirenc.decide.task_head import TaskHead, ready_heads
from mirenc.decide.tasks.pass_tasks import covering_lists
from mirenc.llvm.passes.find_llvm import find_engine
from mirenc.llvm.passes.pass_lists import expanded, level, parse, steps
from mirenc.tools.suggest import IDEAS, fixed_lists

TABLE = Path(__file__).parents[2] / "downstream" / "passes" / "table"


@pytest.fixture(scope="module")
def head() -> TaskHead:
    return TaskHead.load(ready_heads(get_task("pass_list"))[""])


def test_the_shipped_lists_are_those_that_did_best_together_in_training(head: TaskHead) -> None:
    table = read_compiled(TABLE)
    training = [not piece.held_out for piece in table.pieces]
    sizes = np.maximum(table.sizes.code_bytes[np.array(training)], 1.0)
    order = covering_lists(sizes[np.isfinite(sizes[:, 0])], 11)
    lists = fixed_lists(head, 10)
    assert order[0] == 0
    assert [one.pipeline for one in lists[:10]] == [table.lists[place].pipeline for place in order[1:]]
    assert [one.origin for one in lists[:2]] == ["found in training, 1", "found in training, 2"]
    assert lists[10:] == IDEAS


def test_what_people_try_is_among_them() -> None:
    oz = [step.text for step in steps(parse(expanded("Oz")))]
    hoist, sink, hoist_and_sink, alone = ([step.text for step in steps(parse(one.pipeline))] for one in IDEAS[2:])
    assert [one.pipeline for one in IDEAS[:2]] == [level("Os"), f"{level('Oz')},{level('Oz')}"]
    at = oz.index("early-cse<memssa>") + 1
    assert hoist == [*oz[:at], "gvn-hoist", *oz[at:]]
    assert (sink[at], sink[at + 2 :]) == ("gvn-sink", oz[at:])
    assert hoist_and_sink == [*sink[:at], "gvn-hoist", *sink[at:]]
    assert "inline" in oz
    assert alone == [one for one in oz if one != "inline"]


@pytest.mark.needs("libLLVM 19")
def test_llvm_19_knows_all_of_them(head: TaskHead) -> None:
    with find_engine([one.pipeline for one in fixed_lists(head, 50)], prefer="19") as engine:
        assert engine.version.startswith("19.")


def test_what_has_no_lists_is_refused(head: TaskHead) -> None:
    with pytest.raises(TaskError, match="0 pass lists are wanted"):
        fixed_lists(head, 0)
    with pytest.raises(HeadError, match="a head for size_after has no pass lists"):
        fixed_lists(TaskHead.load(ready_heads(get_task("size_after"))["Oz"]), 1)


def test_the_records_say_that_the_code_adds_nothing() -> None:
    """Why nothing is predicted: if choosing by the code saved more, this would fail."""
    record = json.loads((TABLE.parent / "suggest.json").read_text(encoding="utf-8"))["figures"]["all"]
    chosen, fixed = (record[row]["saved"]["10"] for row in ("both", "cover"))
    assert round(chosen[0], 2) == round(fixed[0], 2) == 3.06
    assert fixed[0] > record["random"]["saved"]["10"][0] + 0.5
