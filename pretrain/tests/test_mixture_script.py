"""The recipe `pretrain/mixture.py`, which is no package: loaded by its path, on domains made up for it."""

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from small_programs import program

from mirenc.base.config import load_toml
from mirenc.pretrain.config import MapsConfig

RECIPE = "mixture"


def test_map_at_r_by_hand(script: ModuleType) -> None:
    # On a line of directions: each row's neighbours by angle.
    angles = np.array([0.0, 0.1, 0.25, 0.45])
    vectors = np.stack([np.cos(angles), np.sin(angles)], 1)
    # Row 0 (two more of its label, 2 and 3): nearest are 1 (wrong), 2 (right): (0 + 1/2) / 2.
    # Row 2: 1 (wrong), 3 (right): 1/4. Row 3: 2 (right), 1 (wrong): 1/2. Row 1 stands alone.
    label = np.array([0, 1, 0, 0])
    assert script.map_at_r(vectors, label) == pytest.approx((0.25 + 0.25 + 0.5) / 3)


def test_labels_are_what_pairs_join(script: ModuleType) -> None:
    labels = script.labels_of(np.array([[0, 3], [3, 4]]), 6)
    assert labels[0] == labels[3] == labels[4]
    assert len(set(labels[[0, 1, 2, 5]].tolist())) == 4


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """Three domains: two of programs at two levels, one of tasks."""
    for number in range(12):
        for level in ("O0", "O2"):
            for first, folder in ((0, "first"), (50, "second")):
                write(tmp_path / folder / level / f"{number}.ll", program(first + number, optimised=level == "O2"))
            write(
                tmp_path / "tasks" / f"t{number % 3}" / f"{number}.{level}.ll", program(number, optimised=level == "O2")
            )
    write(tmp_path / "tasks" / "t0" / "broken.ll", "nonsense\n")
    write(
        tmp_path / "domains.toml",
        f"""
        [[domain]]
        folder = {json.dumps(str(tmp_path / "first"))}
        corpus = true
        [[domain]]
        folder = {json.dumps(str(tmp_path / "second"))}
        level = "function"
        limit = 20
        [[domain]]
        folder = {json.dumps(str(tmp_path / "tasks"))}
        find = "folders"
        pairs = false
        """,
    )
    return tmp_path / "domains.toml"


def test_the_best_setting_is_a_config_that_a_run_takes(
    script: ModuleType,
    recipe: Path,
    model_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr(sys, "argv", ["mixture.py", str(recipe), str(out), "--model", str(model_folder)])
    script.main()
    figures = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert [domain["rows"] for domain in figures["domains"]] == [24, 20, 24]
    assert len(figures["settings"]) == 4 * 9  # weights by shrinkage and between
    means = [row["mean"] for row in figures["settings"]]
    assert means == sorted(means, reverse=True)
    assert all(0 < value <= 1 for row in figures["settings"] for value in row["left_out"])
    assert str(tmp_path) not in json.dumps(figures)  # no path of a machine in a record
    maps = MapsConfig.from_dict(load_toml(out.with_suffix(".toml")))
    best = figures["settings"][0]
    assert [maps.corpus, *(domain.weight for domain in maps.domains)] == best["weights"]
    assert (maps.shrinkage, maps.between) == (best["shrinkage"], best["between"])
    assert [(domain.level, domain.pairs) for domain in maps.domains] == [("function", True), ("module", False)]
    table = out.with_suffix(".md").read_text(encoding="utf-8")
    assert table in capsys.readouterr().out
    assert "| of the other domains | " + " | ".join(f"{value:.3f}" for value in best["left_out"]) + " |" in table
