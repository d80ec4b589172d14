"""What reactions to probing lists say of others: by hand, on made-up sizes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

import readme_tables
import spectrum

PASSES = Path(spectrum.__file__).parent


def test_lists_that_predict_are_not_copies_of_each_other() -> None:
    draw = np.random.default_rng(0).normal(size=(3, 400)) / 10
    # Columns 0 and 3 say the same; so do 1 and 2, in other amounts, of a second thing; 4 is a third, and small.
    logs = np.stack([2 * draw[0], 1.5 * draw[1], 0.5 * draw[1], 2 * draw[0], 0.1 * draw[2]], axis=1)
    assert set(spectrum.predicting_lists(logs, 3).tolist()) in ({0, 1, 4}, {0, 2, 4}, {3, 1, 4}, {3, 2, 4})
    assert spectrum.predicting_lists(logs, 1)[0] in (0, 3)


def test_what_is_won_is_the_best_so_far_and_never_less_than_nothing() -> None:
    logs = np.log([[1.0, 2.0, 0.5], [1.0, 0.8, 0.9]])
    gains = spectrum.best_gains(logs, np.array([[1, 2], [2, 1]]))
    np.testing.assert_allclose(np.exp(gains), [[1, 2], [1 / 0.9, 1 / 0.8]])


def test_reactions_tell_which_list_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where list 1 saves, list 2 saves more; where list 1 costs, list 3 does: nothing else says which."""
    monkeypatch.setattr(spectrum, "PROBES", 1)
    monkeypatch.setattr(spectrum, "EXTRA", (0, 1))
    monkeypatch.setattr(spectrum, "NEIGHBOURS", 20)
    first = np.arange(600) % 3 > 0  # the list that is fixed next is list 2
    logs = np.zeros((600, 4))
    logs[:, 1] = np.where(first, -0.3, 0.1)
    logs[:, 2] = np.where(first, -0.4, 0.2)
    logs[:, 3] = np.where(first, 0.0, -0.05)
    group = np.repeat(["a", "b", "c"], 100)
    context = np.random.default_rng(0).normal(size=(600, 2))
    monkeypatch.setattr(spectrum, "probe_sets", lambda logs, lists: {"cover": np.array([1])})
    rows = spectrum.choosing(logs, context, np.arange(300), np.arange(300, 600), group)["rows"]
    oracle = 100 * -np.expm1(-(0.4 * 2 / 3 + 0.05 / 3))
    assert rows["all"]["saved"][-1][0] == pytest.approx(oracle)
    for head in ("ridge", "trees", "neighbours"):
        assert rows[f"cover, reactions, {head}"]["saved"][-1][0] == pytest.approx(oracle), head
        assert rows[f"cover, size, {head}"]["saved"][-1][0] < oracle - 0.5, head
    assert rows["fixed"]["fixed_lists"] == [1, 2]


def test_the_readme_has_the_record() -> None:
    record = json.loads((PASSES / "spectrum.json").read_text(encoding="utf-8"))
    text = (PASSES / "README.md").read_text(encoding="utf-8")
    assert f"<!-- passes spectrum -->\n{readme_tables.behaviour_spectrum(record)}\n<!-- end -->" in text
