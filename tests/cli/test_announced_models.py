"""Models of other packages on the command line: what is said of those that are there, broken, or not installed."""

from __future__ import annotations

import importlib.metadata
import shutil
from importlib.metadata import EntryPoints
from pathlib import Path

import numpy as np
import pytest
from announced import announce
from command_line import Run

TYPE = "'mirenc-base' is a package of its own, which is not installed. In a checkout of mirenc, type: pip install ./"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_folder: Path) -> Path:
    """A folder of installed packages, in which `some_models` announces the tiny model."""
    shutil.copytree(model_folder, tmp_path / "site" / "some_models")
    monkeypatch.syspath_prepend(tmp_path / "site")
    announce(tmp_path / "site", "random", "some_models")
    return tmp_path / "site"


def test_an_announced_model_is_used_by_its_name(run: Run, site: Path, ir: Path, tmp_path: Path) -> None:
    listed = [line.split()[0] for line in run("models", "list").ok().out.splitlines()]
    assert {"mirenc-fast", "mirenc-tiny", "random"} <= set(listed)
    assert run("models", "show", "random").ok().out == "# random\n\n"
    first, second = run("models", "verify", "random").ok().out.splitlines()
    assert first == "random: 5 files as released"  # not the package's name
    assert second.startswith("random: vectors of golden.json reproduced")
    index = tmp_path / "x.npz"
    run("embed", "--model", "random", "-o", index, ir).ok()
    run("search", ir, index).ok()  # the vectors know their model, and it is found


def test_broken_announcements_do_not_keep_others_from_being_listed(run: Run, site: Path) -> None:
    shutil.copytree(site / "some_models", site / "damaged")
    config = site / "damaged" / "config.json"
    config.write_text(config.read_text(encoding="utf-8").replace('"random"', '"damaged"'), encoding="utf-8")
    announce(site, "gone", "nowhere")
    announce(site, "damaged", "damaged")
    result = run("models", "list")
    assert result.code == 0
    assert {"mirenc-fast", "random"} <= {line.split()[0] for line in result.out.splitlines()}
    gone, damaged = result.err.splitlines()
    assert gone.startswith(
        "mirenc: warning: some-models announces a model 'gone' in 'nowhere', which is no model folder"
    )
    assert damaged.startswith(f"mirenc: warning: {site}/damaged: config.json is not the file that was released")
    run("models", "verify", "gone").failed("no model folder")
    run("models", "verify", "damaged").failed("config.json is not the file that was released")


def test_what_to_type_for_a_model_that_is_not_installed(
    run: Run, ir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: EntryPoints())
    run("models", "show", "mirenc-base").failed(TYPE)
    run("models", "verify", "mirenc-base").failed(TYPE)
    run("embed", "--model", "mirenc-base", ir).failed(TYPE)
    index = tmp_path / "x.npz"
    run("embed", "--model", "mirenc-tiny", "-o", index, ir).ok()
    with np.load(index) as stored:
        arrays = dict(stored)
    renamed = {
        name: np.array(str(value).replace("mirenc-tiny", "mirenc-base")) if value.ndim == 0 else value
        for name, value in arrays.items()
    }
    np.savez(index, **renamed)
    run("search", ir, index).failed(TYPE)
